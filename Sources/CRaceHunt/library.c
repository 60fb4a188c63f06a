// What Swift's concurrency library asks of other libraries without a hook, and Foundation's dates
// of the clocks: taken where they have written down the addresses of these functions. All other
// callers keep the functions they had.
#define _GNU_SOURCE
#include "CRaceHunt.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#endif

static _Atomic(race_hunt_lock_sink) lock_sink;

// MARK: - Locks

/// A worker must not wait for a lock that another one has, which waits for the baton: others go on
/// meanwhile. The library calls a program's cancellation handlers with a lock held.
static int on_lock(pthread_mutex_t *mutex) {
  if (!race_hunt_is_exploring() || race_hunt_worker() == NULL) return pthread_mutex_lock(mutex);
  race_hunt_lock_sink sink = atomic_load_explicit(&lock_sink, memory_order_acquire);
  int result = pthread_mutex_trylock(mutex);
  while (result == EBUSY)
    result = sink(mutex, RACE_HUNT_WAITS) ? pthread_mutex_trylock(mutex) : pthread_mutex_lock(mutex);
  if (result == 0) sink(mutex, RACE_HUNT_HAS);
  return result;
}

static int on_unlock(pthread_mutex_t *mutex) {
  int result = pthread_mutex_unlock(mutex);
  if (result == 0 && race_hunt_is_exploring() && race_hunt_worker() != NULL)
    atomic_load_explicit(&lock_sink, memory_order_acquire)(mutex, RACE_HUNT_GIVES_BACK);
  return result;
}

// MARK: - Time

static _Atomic(race_hunt_time_sink) time_sink;
/// What the clocks showed when this was installed.
static struct timespec origins[CLOCK_BOOTTIME + 1];

int race_hunt_clock(clockid_t clock, struct timespec *time) {
  race_hunt_time_sink sink = atomic_load_explicit(&time_sink, memory_order_acquire);
  uint64_t now = 0;
  int is_virtual = sink && race_hunt_is_exploring() && race_hunt_worker() != NULL && clock >= 0 &&
                   clock <= CLOCK_BOOTTIME && sink(&now);
  if (!is_virtual) return clock_gettime(clock, time);
  now += (uint64_t)origins[clock].tv_nsec;
  time->tv_sec = origins[clock].tv_sec + (time_t)(now / 1000000000);
  time->tv_nsec = (long)(now % 1000000000);
  return 0;
}

int race_hunt_time_of_day(struct timeval *time, void *zone) {
  if (time == NULL || zone != NULL) return gettimeofday(time, zone);
  struct timespec now;
  if (race_hunt_clock(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t race_hunt_time(time_t *seconds) {
  struct timespec now;
  if (race_hunt_clock(CLOCK_REALTIME, &now) != 0) return -1;
  if (seconds != NULL) *seconds = now.tv_sec;
  return now.tv_sec;
}

// MARK: - Jobs

extern char _dispatch_main_q __attribute__((weak));
typedef void (*async)(void *queue, void *context, void (*function)(void *));
static async dispatch_now;

/// `Task.yield` goes to Dispatch at once. What the library gives it is always a job.
static void on_async(void *queue, void *job, void (*function)(void *)) {
  int kind = queue == (void *)&_dispatch_main_q ? RACE_HUNT_MAIN : RACE_HUNT_GLOBAL;
  if (!race_hunt_takes(job, kind, 0)) dispatch_now(queue, job, function);
}

// MARK: - Sleep with a tolerance

extern void dispatch_after_f(uint64_t when, void *queue, void *context, void (*function)(void *));

/// What a worker is given for a source of Dispatch: the library makes one for each task that sleeps
/// and says how exactly, and uses it for nothing but one time.
struct timer {
  uint64_t when;
  void *queue;
  void *context;
};

static void *(*source_create)(const void *type, uintptr_t handle, uintptr_t mask, void *queue);
static void (*source_set_timer)(void *source, uint64_t when, uint64_t interval, uint64_t leeway);
static void (*source_set_handler)(void *source, void (*function)(void *));
static void (*set_context)(void *object, void *context);
static void (*activate)(void *object);
static void (*release)(void *object);

/// Objects of Dispatch have even addresses, so that an odd one is a timer's.
static struct timer *timer_of(void *source) {
  return (uintptr_t)source & 1 ? (struct timer *)((uintptr_t)source - 1) : NULL;
}

static void *on_source_create(const void *type, uintptr_t handle, uintptr_t mask, void *queue) {
  struct timer *timer = NULL;
  if (race_hunt_is_exploring() && race_hunt_worker() != NULL) timer = calloc(1, sizeof *timer);
  if (timer == NULL) return source_create(type, handle, mask, queue);
  timer->queue = queue;
  return (void *)((uintptr_t)timer + 1);
}

static void on_set_timer(void *source, uint64_t when, uint64_t interval, uint64_t leeway) {
  struct timer *timer = timer_of(source);
  if (timer == NULL) return source_set_timer(source, when, interval, leeway);
  timer->when = when;
}

static void on_set_context(void *object, void *context) {
  struct timer *timer = timer_of(object);
  if (timer == NULL) return set_context(object, context);
  timer->context = context;
}

/// The last thing that is said before the library activates it.
static void on_set_handler(void *source, void (*function)(void *)) {
  struct timer *timer = timer_of(source);
  if (timer == NULL) return source_set_handler(source, function);
  // As for a task that sleeps without a tolerance. The function releases the source.
  dispatch_after_f(timer->when, timer->queue, timer->context, function);
}

static void on_activate(void *object) {
  if (timer_of(object) == NULL) activate(object);
}

static void on_release(void *object) {
  struct timer *timer = timer_of(object);
  if (timer == NULL) return release(object);
  free(timer);
}

/// Whether Dispatch has all that is used for sources.
static bool finds_sources(void) {
  // The first one stands in front of Dispatch's own here.
  source_create = (__typeof__(source_create))dlsym(RTLD_NEXT, "dispatch_source_create");
  source_set_timer = (__typeof__(source_set_timer))dlsym(RTLD_DEFAULT, "dispatch_source_set_timer");
  source_set_handler = (__typeof__(source_set_handler))dlsym(
      RTLD_DEFAULT, "dispatch_source_set_event_handler_f");
  set_context = (__typeof__(set_context))dlsym(RTLD_DEFAULT, "dispatch_set_context");
  activate = (__typeof__(activate))dlsym(RTLD_DEFAULT, "dispatch_activate");
  release = (__typeof__(release))dlsym(RTLD_DEFAULT, "dispatch_release");
  return source_create && source_set_timer && source_set_handler && set_context && activate &&
         release;
}

// MARK: - Where the addresses are

struct replacement {
  const char *name;
  void *function;
  int found;
};

struct search {
  const void *base;
  struct replacement *replacements;
  size_t count;
};

static void replace(const struct search *search, const char *name, void **slot) {
  for (size_t i = 0; i < search->count; i++) {
    struct replacement *replacement = &search->replacements[i];
    if (strcmp(name, replacement->name) != 0) continue;
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(size - 1));
    // The table is read-only in libraries that were bound when they were loaded.
    if (mprotect(page, size, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(slot, replacement->function, __ATOMIC_RELEASE);
    replacement->found = 1;
  }
}

static int look_through(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  const struct search *search = context;
  const ElfW(Dyn) *dynamic = NULL;
  bool is_it = false;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)begin;
    if (part->p_type == PT_LOAD && (uintptr_t)search->base - begin < part->p_memsz) is_it = true;
  }
  if (!is_it || dynamic == NULL) return 0;
  const ElfW(Rela) *calls = NULL;
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  size_t bytes = 0;
  for (; dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag == DT_JMPREL) calls = (const ElfW(Rela) *)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_PLTRELSZ) bytes = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_STRTAB) names = (const char *)dynamic->d_un.d_ptr;
  }
#ifdef JUMP_SLOT
  if (calls == NULL || symbols == NULL || names == NULL) return 1;
  for (size_t i = 0; i < bytes / sizeof *calls; i++) {
    if (ELF64_R_TYPE(calls[i].r_info) != JUMP_SLOT) continue;
    replace(
        search, names + symbols[ELF64_R_SYM(calls[i].r_info)].st_name,
        (void **)(object->dlpi_addr + calls[i].r_offset));
  }
#endif
  return 1;
}

// MARK: - Run loops

static _Atomic(race_hunt_notice) run_loop_notice;

/// They wait here, for the machine's time and whatever else comes.
static int on_run_loop_wait(
    struct pollfd *descriptors, nfds_t count, const struct timespec *time, const sigset_t *mask) {
  if (race_hunt_is_exploring() && race_hunt_worker() != NULL) {
    race_hunt_notice notice = atomic_load_explicit(&run_loop_notice, memory_order_acquire);
    if (notice) notice("ppoll");
  }
  return ppoll(descriptors, count, time, mask);
}

void race_hunt_install_run_loops(race_hunt_notice notice) {
  atomic_store_explicit(&run_loop_notice, notice, memory_order_release);
  struct replacement replacements[] = {{"ppoll", (void *)on_run_loop_wait, 0}};
  struct search search = {dlsym(RTLD_DEFAULT, "CFRunLoopGetCurrent"), replacements, 1};
  if (search.base != NULL) dl_iterate_phdr(look_through, &search);
}

// MARK: - Random numbers

static _Atomic(race_hunt_random_sink) random_sink;

/// The standard library asks the kernel so for the numbers of its generator: workers get those of
/// their schedule. (Foundation has random numbers of its own for `UUID()`.)
static long on_system_call(long number, ...) {
  va_list list;
  va_start(list, number);
  long words[6];
  for (int i = 0; i < 6; i++) words[i] = va_arg(list, long);
  va_end(list);
  race_hunt_random_sink sink = atomic_load_explicit(&random_sink, memory_order_acquire);
  if (number == SYS_getrandom && sink && race_hunt_is_exploring() && race_hunt_worker() != NULL) {
    size_t count = (size_t)words[1];
    size_t filled = 0;
    uint64_t word;
    while (filled < count && sink(&word)) {
      size_t part = count - filled < sizeof word ? count - filled : sizeof word;
      memcpy((char *)words[0] + filled, &word, part);
      filled += part;
    }
    if (filled == count) return (long)count;
  }
  return syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int race_hunt_install_random(race_hunt_random_sink sink) {
  atomic_store_explicit(&random_sink, sink, memory_order_release);
  struct replacement replacements[] = {{"syscall", (void *)on_system_call, 0}};
  struct search search = {dlsym(RTLD_DEFAULT, "swift_stdlib_random"), replacements, 1};
  if (search.base != NULL) dl_iterate_phdr(look_through, &search);
  return replacements[0].found;
}

/// Dates are virtual for workers. Run loops, of another library, are not: they wait in the kernel.
static void take_clocks_of_dates(void) {
  const void *function = dlsym(RTLD_DEFAULT, "$s20FoundationEssentials4DateV3nowACvgZ");
  struct replacement replacements[] = {
      {"clock_gettime", (void *)race_hunt_clock, 0},
      {"gettimeofday", (void *)race_hunt_time_of_day, 0},
      {"time", (void *)race_hunt_time, 0},
  };
  struct search search = {function, replacements, sizeof replacements / sizeof *replacements};
  if (function != NULL) dl_iterate_phdr(look_through, &search);
}

int race_hunt_install_library(race_hunt_lock_sink sink, race_hunt_time_sink time) {
  for (clockid_t clock = 0; clock <= CLOCK_BOOTTIME; clock++) clock_gettime(clock, &origins[clock]);
  atomic_store_explicit(&time_sink, time, memory_order_release);
  atomic_store_explicit(&lock_sink, sink, memory_order_release);
  dispatch_now = (async)dlsym(RTLD_DEFAULT, "dispatch_async_f");
  struct replacement replacements[] = {
      {"pthread_mutex_lock", (void *)on_lock, 0},
      {"pthread_mutex_unlock", (void *)on_unlock, 0},
      {"clock_gettime", (void *)race_hunt_clock, 0},
      {"dispatch_async_f", (void *)on_async, 0},
      {"dispatch_source_create", (void *)on_source_create, 0},
      {"dispatch_source_set_timer", (void *)on_set_timer, 0},
      {"dispatch_source_set_event_handler_f", (void *)on_set_handler, 0},
      {"dispatch_set_context", (void *)on_set_context, 0},
      {"dispatch_activate", (void *)on_activate, 0},
      {"dispatch_release", (void *)on_release, 0},
  };
  const size_t all = sizeof replacements / sizeof *replacements;
  struct search search = {
      dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal"), replacements,
      !dispatch_now ? 3 : finds_sources() ? all : 4};
  if (search.base == NULL) return 0;
  dl_iterate_phdr(look_through, &search);
  take_clocks_of_dates();
  int found = 0;
  for (size_t i = 0; i < search.count; i++) found += replacements[i].found;
  return found;
}

// MARK: - Hashing

/// As the standard library has it: two words of a seed, and whether an order follows from the
/// content alone.
struct hashing {
  uint64_t seeds[2];
  bool is_deterministic;
};

void race_hunt_fix_hashing(void) {
  // Tables that exist keep the seeds that they were made with.
  struct hashing *hashing = dlsym(RTLD_DEFAULT, "_swift_stdlib_Hashing_parameters");
  if (hashing != NULL) __atomic_store_n(&hashing->is_deterministic, true, __ATOMIC_RELAXED);
}
