#define _GNU_SOURCE
#include "CRaceHunt.h"
#include "look_up.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local void *current_worker;

void *race_hunt_worker(void) { return current_worker; }
void race_hunt_set_worker(void *worker) { current_worker = worker; }

static _Thread_local jmp_buf *way_out;

void race_hunt_enter(void (*body)(void *), void *context) {
  jmp_buf here;
  way_out = &here;
  if (_setjmp(here) == 0) body(context);
  current_worker = NULL;
}

void race_hunt_leave(void) { _longjmp(*way_out, 1); }

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if __has_feature(thread_sanitizer)
// Never 0: the functions in Swift then come to where the sanitizer is told.
int race_hunt_explorations = 1;

void __tsan_acquire(void *address);
void __tsan_release(void *address);

int race_hunt_is_sanitized(void) { return 1; }
void race_hunt_acquired(const void *lock) { __tsan_acquire((void *)(uintptr_t)lock); }
void race_hunt_releases(const void *lock) { __tsan_release((void *)(uintptr_t)lock); }
#else
int race_hunt_explorations;

int race_hunt_is_sanitized(void) { return 0; }
void race_hunt_acquired(const void *lock) { (void)lock; }
void race_hunt_releases(const void *lock) { (void)lock; }
#endif

int race_hunt_count_explorations(int change) {
  return __atomic_fetch_add(&race_hunt_explorations, change, __ATOMIC_SEQ_CST);
}

// Swift's runtime calls a hook, if there is one, with the job and its own implementation.
#define SWIFT __attribute__((swiftcall))
typedef void SWIFT (*enqueue_original)(void *job);
typedef void SWIFT (*enqueue_hook)(void *job, enqueue_original original);
typedef void SWIFT (*delay_original)(unsigned long long delay, void *job);
typedef void SWIFT (*delay_hook)(unsigned long long delay, void *job, delay_original original);
typedef void SWIFT (*deadline_original)(
    long long seconds, long long nanoseconds, long long tolerance_seconds,
    long long tolerance_nanoseconds, int clock, void *job);
typedef void SWIFT (*deadline_hook)(
    long long seconds, long long nanoseconds, long long tolerance_seconds,
    long long tolerance_nanoseconds, int clock, void *job, deadline_original original);

// Atomic, and stored before the hooks are: other threads may enqueue jobs meanwhile.
static _Atomic(race_hunt_sink) current_sink;
static _Atomic(enqueue_hook) global_before, main_before;
static _Atomic(delay_hook) delay_before;
static _Atomic(deadline_hook) deadline_before;

int race_hunt_takes(void *job, int kind, uint64_t delay) {
  if (!race_hunt_is_exploring()) return 0;
  return atomic_load_explicit(&current_sink, memory_order_acquire)(job, kind, delay);
}

static void SWIFT global_hook(void *job, enqueue_original original) {
  if (race_hunt_takes(job, RACE_HUNT_GLOBAL, 0)) return;
  enqueue_hook before = atomic_load_explicit(&global_before, memory_order_acquire);
  if (before) before(job, original);
  else original(job);
}

static void SWIFT main_hook(void *job, enqueue_original original) {
  if (race_hunt_takes(job, RACE_HUNT_MAIN, 0)) return;
  enqueue_hook before = atomic_load_explicit(&main_before, memory_order_acquire);
  if (before) before(job, original);
  else original(job);
}

static void SWIFT on_delay(unsigned long long delay, void *job, delay_original original) {
  if (race_hunt_takes(job, RACE_HUNT_DELAYED, delay)) return;
  delay_hook before = atomic_load_explicit(&delay_before, memory_order_acquire);
  if (before) before(delay, job, original);
  else original(delay, job);
}

static void SWIFT on_deadline(
    long long seconds, long long nanoseconds, long long tolerance_seconds,
    long long tolerance_nanoseconds, int clock, void *job, deadline_original original) {
  struct timespec now;
  // The runtime's numbers: 1 goes on while the machine is suspended, 2 does not.
  race_hunt_clock(clock == 1 ? CLOCK_BOOTTIME : clock == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &now);
  // A hundred years are for ever, too.
  long long longest = 3155760000LL, left = 0;
  if (seconds > longest + (long long)now.tv_sec) left = longest * 1000000000LL;
  else if (seconds >= (long long)now.tv_sec)
    left = (seconds - (long long)now.tv_sec) * 1000000000LL + nanoseconds - (long long)now.tv_nsec;
  if (race_hunt_takes(job, RACE_HUNT_DELAYED, left > 0 ? (uint64_t)left : 0)) return;
  deadline_hook before = atomic_load_explicit(&deadline_before, memory_order_acquire);
  if (before)
    before(seconds, nanoseconds, tolerance_seconds, tolerance_nanoseconds, clock, job, original);
  else original(seconds, nanoseconds, tolerance_seconds, tolerance_nanoseconds, clock, job);
}

// The variables are the runtime's, and plain there.
#define INSTALL(name, before, function)                                \
  do {                                                                 \
    void **hook = dlsym(RTLD_DEFAULT, name);                           \
    if (hook == NULL) break;                                           \
    atomic_store_explicit(&before, (__typeof__(&function))*hook, memory_order_release); \
    __atomic_store_n(hook, (void *)function, __ATOMIC_RELEASE);        \
    installed++;                                                       \
  } while (0)

// What the main actor is for workers.
static race_hunt_executor main_executor;
typedef race_hunt_executor SWIFT (*get_main_original)(void);
typedef race_hunt_executor SWIFT (*get_main_hook)(get_main_original original);
typedef bool SWIFT (*is_main_original)(race_hunt_executor executor);
typedef bool SWIFT (*is_main_hook)(race_hunt_executor executor, is_main_original original);
static _Atomic(get_main_hook) get_main_before;
static _Atomic(is_main_hook) is_main_before;

static race_hunt_executor SWIFT on_get_main(get_main_original original) {
  if (race_hunt_is_exploring() && current_worker != NULL) return main_executor;
  get_main_hook before = atomic_load_explicit(&get_main_before, memory_order_acquire);
  return before ? before(original) : original();
}

static bool SWIFT on_is_main(race_hunt_executor executor, is_main_original original) {
  if (executor.identity == main_executor.identity) return true;
  is_main_hook before = atomic_load_explicit(&is_main_before, memory_order_acquire);
  return before ? before(executor, original) : original(executor);
}

/// The executor to which hops off an actor go.
static race_hunt_executor hop_executor;

int race_hunt_install(race_hunt_sink sink, race_hunt_executor main, race_hunt_executor hop) {
  int installed = 0;
  main_executor = main;
  hop_executor = hop;
  atomic_store_explicit(&current_sink, sink, memory_order_release);
  INSTALL("swift_task_enqueueGlobal_hook", global_before, global_hook);
  INSTALL("swift_task_enqueueMainExecutor_hook", main_before, main_hook);
  INSTALL("swift_task_enqueueGlobalWithDelay_hook", delay_before, on_delay);
  INSTALL("swift_task_enqueueGlobalWithDeadline_hook", deadline_before, on_deadline);
  INSTALL("swift_task_getMainExecutor_hook", get_main_before, on_get_main);
  INSTALL("swift_task_isMainExecutor_hook", is_main_before, on_is_main);
  return installed;
}

// MARK: - Hops of tasks without preferred executor

typedef race_hunt_executor SWIFT (*current_executor)(void);

#define SWIFT_ASYNC __attribute__((swiftasynccall))
#define CONTEXT __attribute__((swift_async_context))
typedef void SWIFT_ASYNC (*task_switch)(
    CONTEXT void *context, void *resume, void *identity, uintptr_t implementation);

static void *_Atomic found_switch, *_Atomic found_current, *_Atomic found_preferred;

void *race_hunt_look_up(void *_Atomic *found, void *where, const char *name) {
  void *function = atomic_load_explicit(found, memory_order_relaxed);
  if (function == NULL) {
    function = dlsym(where, name);
    // Several threads may look it up; they find the same.
    atomic_store_explicit(found, function, memory_order_relaxed);
  }
  return function;
}

/// Where a hop goes: off an actor, in a task without preferred executor, the runtime would go on in
/// the same job, and nobody could come between.
static int leaves_actor(void *identity) {
  if (identity != NULL || current_worker == NULL || hop_executor.identity == NULL) return 0;
  current_executor current = (current_executor)race_hunt_look_up(
      &found_current, RTLD_DEFAULT, "swift_task_getCurrentExecutor");
  current_executor preferred = (current_executor)race_hunt_look_up(
      &found_preferred, RTLD_DEFAULT, "swift_task_getPreferredTaskExecutor");
  return current && preferred && current().identity != NULL && preferred().identity == NULL;
}

static _Atomic(race_hunt_hop_sink) current_hop_sink;

void race_hunt_install_hops(race_hunt_hop_sink sink) {
  atomic_store_explicit(&current_hop_sink, sink, memory_order_release);
}

/// Before a hop to an actor on which the task is not yet.
static void before_hop(void *identity) {
  race_hunt_hop_sink sink = atomic_load_explicit(&current_hop_sink, memory_order_acquire);
  if (identity == NULL || current_worker == NULL || sink == NULL) return;
  current_executor current = (current_executor)race_hunt_look_up(
      &found_current, RTLD_DEFAULT, "swift_task_getCurrentExecutor");
  if (current && current().identity != identity) sink();
}

// In front of the runtime's own, which has no hook here: code that is linked with this module comes
// here. Weak: in a program that is linked with the static runtime that one goes first, and hops
// are no points there.
__attribute__((weak)) void SWIFT_ASYNC swift_task_switch(
    CONTEXT void *context, void *resume, void *identity, uintptr_t implementation) {
  task_switch original = (task_switch)race_hunt_look_up(&found_switch, RTLD_NEXT, "swift_task_switch");
  if (race_hunt_is_exploring() && leaves_actor(identity)) {
    identity = hop_executor.identity;
    implementation = hop_executor.implementation;
  } else if (race_hunt_is_exploring()) {
    before_hop(identity);
  }
  __attribute__((musttail)) return original(context, resume, identity, implementation);
}

// MARK: - Globals that are made when they are first used

static _Atomic(race_hunt_once_sink) current_once_sink;
static void *_Atomic found_once;
typedef void (*once)(void *predicate, void (*function)(void *), void *context);

/// As the runtime has it: whether it was done, -1 then, and a lock, 0 while nobody has it.
struct once_state {
  int32_t is_done;
  uint32_t lock;
};
static bool knows_once_state;

static void do_nothing(void *context) { (void)context; }

void race_hunt_install_once(race_hunt_once_sink sink) {
  // A runtime that has it in another way shows that here.
  struct once_state state[2] = {{0, 0}, {0, 0}};
  once original = (once)race_hunt_look_up(&found_once, RTLD_NEXT, "swift_once");
  if (original == NULL) return;
  original(&state[0], do_nothing, NULL);
  knows_once_state = state[0].is_done == -1 && state[0].lock == 0 && state[1].is_done == 0 &&
                     state[1].lock == 0;
  atomic_store_explicit(&current_once_sink, sink, memory_order_release);
}

void race_hunt_forget_once(void *predicate) {
  struct once_state *state = predicate;
  if (!knows_once_state || __atomic_load_n(&state->is_done, __ATOMIC_ACQUIRE) == -1) return;
  __atomic_store_n(&state->lock, 0, __ATOMIC_RELEASE);
}

// In front of the runtime's own, which holds a lock of the machine while it makes a global. Weak:
// in a program that is linked with the static runtime that one goes first.
__attribute__((weak)) void swift_once(
    void *predicate, void (*function)(void *), void *context) {
  once original = (once)race_hunt_look_up(&found_once, RTLD_NEXT, "swift_once");
  race_hunt_once_sink sink = NULL;
  if (race_hunt_is_exploring() && current_worker != NULL &&
      !(knows_once_state &&
        __atomic_load_n(&((struct once_state *)predicate)->is_done, __ATOMIC_ACQUIRE) == -1))
    sink = atomic_load_explicit(&current_once_sink, memory_order_acquire);
  if (sink) sink(predicate, RACE_HUNT_BEGINS);
  original(predicate, function, context);
  if (sink) sink(predicate, RACE_HUNT_ENDS);
}

// MARK: - Dispatch

static _Atomic(race_hunt_timer_sink) current_timer_sink;
static _Atomic(race_hunt_notice) current_notice;

void race_hunt_install_dispatch(race_hunt_timer_sink timers, race_hunt_notice notice) {
  atomic_store_explicit(&current_notice, notice, memory_order_release);
  atomic_store_explicit(&current_timer_sink, timers, memory_order_release);
}

/// Nanoseconds until one of Dispatch's times.
static uint64_t left_until(uint64_t when) {
  if (when == UINT64_MAX) return when;
  // The two highest bits are the clock: none, the one that stands still while the machine sleeps;
  // one, the one that goes on; both, the calendar's, counted downward.
  const uint64_t both = UINT64_C(3) << 62;
  struct timespec now;
  int is_calendar = (when & both) == both;
  race_hunt_clock(
      is_calendar ? CLOCK_REALTIME : when >> 63 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &now);
  uint64_t nanoseconds = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  uint64_t time = is_calendar ? 0 - when : when & ~both;
  return time > nanoseconds ? time - nanoseconds : 0;
}

// In front of Dispatch's own: the runtime sleeps by it, without a hook.
__attribute__((weak)) void dispatch_after_f(
    uint64_t when, void *queue, void *context, void (*function)(void *)) {
  static void *_Atomic found;
  if (race_hunt_is_exploring() && current_worker != NULL) {
    race_hunt_timer_sink sink = atomic_load_explicit(&current_timer_sink, memory_order_acquire);
    if (sink && sink(function, context, left_until(when))) return;
  }
  ((void (*)(uint64_t, void *, void *, void (*)(void *)))race_hunt_look_up(
      &found, RTLD_NEXT, "dispatch_after_f"))(when, queue, context, function);
}

// What goes on elsewhere, where no schedule reaches, is noticed and done. The arguments are words.
#define NOTICED(name)                                                                         \
  __attribute__((weak)) uintptr_t name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {  \
    static void *_Atomic found;                                                               \
    if (race_hunt_is_exploring() && current_worker != NULL) {                                 \
      race_hunt_notice notice = atomic_load_explicit(&current_notice, memory_order_acquire);  \
      if (notice) notice(#name);                                                              \
    }                                                                                         \
    return ((uintptr_t(*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t))race_hunt_look_up(                \
        &found, RTLD_NEXT, #name))(a, b, c, d);                                               \
  }
NOTICED(dispatch_async)
NOTICED(dispatch_async_f)
NOTICED(dispatch_after)
NOTICED(dispatch_group_async)
NOTICED(dispatch_source_create)

typedef uint64_t __attribute__((swiftcall)) (*task_number)(void *job);
typedef void __attribute__((swiftcall)) (*run_job)(void *job, void *identity, uintptr_t implementation);

uint64_t race_hunt_task_number(void *job) {
  // Several threads may look it up; they find the same.
  static _Atomic(task_number) found;
  task_number number = atomic_load_explicit(&found, memory_order_relaxed);
  if (number == NULL) {
    number = (task_number)dlsym(RTLD_DEFAULT, "swift_task_getJobTaskId");
    atomic_store_explicit(&found, number, memory_order_relaxed);
  }
  return number ? number(job) : 0;
}

int race_hunt_is_yield(const void *job) {
  // Behind the object's two words and two of the scheduler's comes the kind; 195 is a continuation
  // without a result, which only Task.yield makes.
  return ((const uint8_t *)job)[4 * sizeof(void *)] == 195;
}

static void run_on(void *job, race_hunt_executor where) {
  static void *_Atomic found;
  ((run_job)race_hunt_look_up(&found, RTLD_DEFAULT, "swift_job_run"))(
      job, where.identity, where.implementation);
}

void race_hunt_run(void *job) { run_on(job, (race_hunt_executor){NULL, 0}); }

void race_hunt_run_on_main(void *job) { run_on(job, main_executor); }

void race_hunt_pin(uint32_t number) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int count = CPU_COUNT(&allowed);
  if (count < 1) return;
  int wanted = (int)(number % (uint32_t)count);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &allowed) || wanted-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

void race_hunt_wait(const uint32_t *word, uint32_t seen, uint64_t nanoseconds) {
  struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
  // Whatever it returns, the caller looks again.
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
}

void race_hunt_wake(const uint32_t *word) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void race_hunt_wait_while(const uint32_t *word, uint32_t seen) {
  // Whatever it returns, the caller looks again.
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void race_hunt_wake_many(const uint32_t *word, int count) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

__attribute__((noinline)) void race_hunt_stopped(void) { __asm__ volatile(""); }

/// A place in the code, and where the function that holds it goes on.
struct call {
  _Atomic uintptr_t place;
  uintptr_t outer;
};

enum { CALLS = 1 << 14 };
static struct call calls[CALLS];

/// The number of two places: where both stand in `calls`; the first one where that is full.
static uintptr_t number_of_call(uintptr_t place, uintptr_t outer) {
  const uintptr_t being_written = 1;
  size_t hash = (place ^ (outer << 7)) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
  for (size_t tried = 0; tried < 64; tried++) {
    struct call *call = &calls[(hash + tried) % CALLS];
    uintptr_t known = atomic_load_explicit(&call->place, memory_order_acquire);
    if (known == 0 && atomic_compare_exchange_strong_explicit(
                          &call->place, &known, being_written, memory_order_acquire,
                          memory_order_acquire)) {
      call->outer = outer;
      atomic_store_explicit(&call->place, place, memory_order_release);
      return (uintptr_t)call;
    }
    // Another thread writes it, in a few instructions: one place has one number.
    while (known == being_written)
      known = atomic_load_explicit(&call->place, memory_order_acquire);
    if (known == place && call->outer == outer) return (uintptr_t)call;
  }
  return place;
}

uintptr_t race_hunt_place(uintptr_t number, uintptr_t *outer) {
  *outer = 0;
  if (number < (uintptr_t)calls || number >= (uintptr_t)(calls + CALLS)) return number;
  const struct call *call = (const struct call *)number;
  *outer = call->outer;
  return atomic_load_explicit(&call->place, memory_order_acquire);
}

// Swift code has frame pointers: a frame begins with that of the caller and the place where the
// caller goes on.
__attribute__((noinline)) uintptr_t race_hunt_caller(void) {
  const uintptr_t *own = __builtin_frame_address(0);
  const uintptr_t *frame = (const uintptr_t *)own[0];
  const uintptr_t *outer = (const uintptr_t *)frame[0];
  // Optimized functions that are alike have one body, and each is a call of it: then the caller is
  // one of RaceHunt's, and the next one that of the program. Not where that is no frame of this
  // stack.
  bool is_frame = outer > frame && outer < frame + (1 << 17) && (uintptr_t)outer % 8 == 0;
  return is_frame ? number_of_call(frame[1], outer[1]) : frame[1];
}

int race_hunt_is_static(const void *address) {
  Dl_info information;
  return dladdr(address, &information) != 0;
}

typedef char *(*demangle)(const char *, size_t, char *, size_t *, uint32_t);

void race_hunt_symbol(uintptr_t address, char *text, size_t capacity) {
  Dl_info information;
  uintptr_t outer;
  address = race_hunt_place(address, &outer);
  text[0] = 0;
  if (dladdr((void *)address, &information) == 0) return;
  if (information.dli_sname != NULL) {
    demangle function = (demangle)dlsym(RTLD_DEFAULT, "swift_demangle");
    char *name = function
        ? function(information.dli_sname, strlen(information.dli_sname), NULL, NULL, 0) : NULL;
    snprintf(text, capacity, "%s", name ? name : information.dli_sname);
    free(name);
    return;
  }
  const char *file = information.dli_fname ? strrchr(information.dli_fname, '/') : NULL;
  snprintf(text, capacity, "%s+0x%zx", file ? file + 1 : "?",
           (size_t)(address - (uintptr_t)information.dli_fbase));
}

#if defined(__x86_64__)
__attribute__((target("cx16")))
#endif
race_hunt_bits race_hunt_exchange_pair(
    void *word, race_hunt_bits expected, race_hunt_bits desired) {
  __uint128_t old = (__uint128_t)expected.high << 64 | expected.low;
  __uint128_t new = (__uint128_t)desired.high << 64 | desired.low;
  __uint128_t was = __sync_val_compare_and_swap((__uint128_t *)word, old, new);
  return (race_hunt_bits){(uint64_t)was, (uint64_t)(was >> 64)};
}

void race_hunt_forget_owners(void *object) {
  static void *_Atomic found_count, *_Atomic found_release;
  typedef size_t (*retain_count)(void *);
  typedef void (*release)(void *);
  retain_count count = (retain_count)race_hunt_look_up(&found_count, RTLD_DEFAULT, "swift_retainCount");
  release give_up = (release)race_hunt_look_up(&found_release, RTLD_DEFAULT, "swift_release");
  if (object == NULL || count == NULL || give_up == NULL) return;
  while (count(object) > 1) give_up(object);
}
