#define _GNU_SOURCE
#include "CRaceHunt.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
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

// Swift's runtime calls the hook, if there is one, with the job and its own implementation.
typedef void __attribute__((swiftcall)) (*enqueue_original)(void *job);
typedef void __attribute__((swiftcall)) (*enqueue_hook)(void *job, enqueue_original original);

// Atomic, and stored before the hook is: other threads may enqueue jobs meanwhile.
static _Atomic(race_hunt_sink) current_sink;
static _Atomic(enqueue_hook) hook_before;

static void __attribute__((swiftcall)) global_hook(void *job, enqueue_original original) {
  if (atomic_load_explicit(&current_sink, memory_order_acquire)(job)) return;
  enqueue_hook before = atomic_load_explicit(&hook_before, memory_order_acquire);
  if (before) before(job, original);
  else original(job);
}

int race_hunt_install(race_hunt_sink sink) {
  enqueue_hook *hook = dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook");
  if (hook == NULL) return 0;
  atomic_store_explicit(&current_sink, sink, memory_order_release);
  atomic_store_explicit(&hook_before, *hook, memory_order_release);
  // The variable is the runtime's, and plain there.
  __atomic_store_n(hook, global_hook, __ATOMIC_RELEASE);
  return 1;
}

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

void race_hunt_run(void *job) {
  static _Atomic(run_job) found;
  run_job run = atomic_load_explicit(&found, memory_order_relaxed);
  if (run == NULL) {
    run = (run_job)dlsym(RTLD_DEFAULT, "swift_job_run");
    atomic_store_explicit(&found, run, memory_order_relaxed);
  }
  run(job, NULL, 0);
}

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

void race_hunt_wait(const uint32_t *word, uint64_t nanoseconds) {
  struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
  // Whatever it returns, the caller looks again.
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

void race_hunt_wake(const uint32_t *word) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

__attribute__((noinline)) void race_hunt_stopped(void) { __asm__ volatile(""); }

// Swift code has frame pointers.
__attribute__((noinline)) uintptr_t race_hunt_caller(void) {
  return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(1));
}

typedef char *(*demangle)(const char *, size_t, char *, size_t *, uint32_t);

void race_hunt_symbol(uintptr_t address, char *text, size_t capacity) {
  Dl_info information;
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
