// See Execution.h.
#include "Execution.h"

#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WEAK __attribute__((weak))
#define SWIFT __attribute__((swiftcall))

/// An executor as the runtime passes it.
typedef struct {
  uintptr_t identity, implementation;
} executor;

// Of Swift's concurrency runtime. The first argument is an executor in two words; flags 0: do not
// trap.
extern SWIFT _Bool swift_task_isCurrentExecutorWithFlags(uintptr_t identity,
                                                         uintptr_t implementation,
                                                         uint64_t flags) WEAK;
extern SWIFT executor swift_task_getCurrentExecutor(void) WEAK;
extern SWIFT executor swift_task_getMainExecutor(void) WEAK;

int shim_is_on_executor(uintptr_t identity, uintptr_t implementation) {
  if (!swift_task_isCurrentExecutorWithFlags) return 0;
  return swift_task_isCurrentExecutorWithFlags(identity, implementation, 0);
}

static uintptr_t words(executor executor, uintptr_t *implementation) {
  *implementation = executor.implementation;
  return executor.identity;
}

uintptr_t shim_current_executor(uintptr_t *implementation) {
  executor none = {0, 0};
  return words(swift_task_getCurrentExecutor ? swift_task_getCurrentExecutor() : none,
               implementation);
}

uintptr_t shim_main_executor(uintptr_t *implementation) {
  executor none = {0, 0};
  return words(swift_task_getMainExecutor ? swift_task_getMainExecutor() : none, implementation);
}

extern SWIFT void *swift_task_getCurrent(void) WEAK;
extern SWIFT size_t swift_task_getJobFlags(void *task) WEAK;

// Of RaceHunt, in programs that have it.
extern void *race_hunt_worker(void) WEAK;

int shim_is_explored(void) { return race_hunt_worker && race_hunt_worker() != NULL; }

int shim_is_in_task(void) { return swift_task_getCurrent && swift_task_getCurrent() != NULL; }

void *shim_current_task(void) {
  if (!swift_task_getCurrent || !swift_task_getJobFlags) return NULL;
  void *task = swift_task_getCurrent();
  if (!task) return NULL;
  // A child task that belongs to no group is one of `async let`, perhaps in the memory of its
  // parent.
  enum { child_bit = 24, group_child_bit = 26 };
  size_t flags = swift_task_getJobFlags(task);
  return (flags >> child_bit & 1) && !(flags >> group_child_bit & 1) ? NULL : task;
}

extern void *swift_retain(void *object);
extern void swift_release(void *object);
extern size_t swift_retainCount(void *object) WEAK;

void shim_retain(void *object) { swift_retain(object); }

void shim_release(void *object) { swift_release(object); }

int shim_is_held_once(void *object) { return swift_retainCount && swift_retainCount(object) == 1; }

// Of libdispatch.
extern void *dispatch_get_specific(const void *key) WEAK;
extern const char *dispatch_queue_get_label(const void *queue) WEAK;
extern const void *dispatch_get_current_queue(void) WEAK;
extern struct dispatch_queue_s _dispatch_main_q WEAK;

const void *shim_queue_specific(const void *key) {
  return dispatch_get_specific ? dispatch_get_specific(key) : NULL;
}

const char *shim_queue_label(void) {
  return dispatch_queue_get_label ? dispatch_queue_get_label(NULL) : NULL;
}

uintptr_t shim_task_pool(uint16_t *width) {
  const char *label = shim_queue_label();
  if (!label || strcmp(label, "Swift global concurrent queue") != 0) return 0;
  if (!dispatch_get_current_queue) return 0;
  const void *queue = dispatch_get_current_queue();
  // A main queue of another width than 1: its memory does not look as expected.
  *width = shim_queue_width(shim_main_queue()) == 1 ? shim_queue_width(queue) : 0;
  return (uintptr_t)queue;
}

const void *shim_main_queue(void) { return &_dispatch_main_q; }

uint16_t shim_queue_width(const void *queue) {
  // The low half of a word of atomic state; the half read here is set when the queue is made.
  return (uint16_t)__atomic_load_n((const uint32_t *)((const char *)queue + 80), __ATOMIC_RELAXED);
}

// Of Foundation.
extern void *CFRunLoopGetCurrent(void) WEAK;
extern const void *CFRunLoopCopyCurrentMode(void *loop) WEAK;
extern void CFRunLoopWakeUp(void *loop) WEAK;
extern void CFRelease(const void *object) WEAK;
extern void *_CFGetTSD(uint32_t slot) WEAK;

/// Where Foundation keeps the run loop of a thread that has one. Making one opens three
/// descriptors, so it is not made only to see that it does not run.
enum { run_loop_slot = 10 };

/// Whether so many descriptors, at most 8, could be opened now.
static int has_free_descriptors(int count) {
  int opened[8];
  int number = 0;
  while (number < count && (opened[number] = eventfd(0, EFD_CLOEXEC)) >= 0) number++;
  int is_enough = number == count;
  while (number > 0) close(opened[--number]);
  return is_enough;
}

// Of libdispatch, which makes the main queue's handle when something is first put into the queue,
// and ends the process when it cannot.
extern int _dispatch_get_main_queue_handle_4CF(void) WEAK;

int shim_prepare_main_queue(void) {
  static int is_made;
  if (!_dispatch_get_main_queue_handle_4CF) return 1;
  if (__atomic_load_n(&is_made, __ATOMIC_RELAXED)) return 1;
  if (!has_free_descriptors(2)) return 0;
  _dispatch_get_main_queue_handle_4CF();
  __atomic_store_n(&is_made, 1, __ATOMIC_RELAXED);
  return 1;
}

static void *run_loop_of_thread(void) {
  static int is_slot_right = -1;
  if (!CFRunLoopGetCurrent) return NULL;
  if (!_CFGetTSD) return CFRunLoopGetCurrent();
  int known = __atomic_load_n(&is_slot_right, __ATOMIC_RELAXED);
  if (known < 0) {
    // Foundation ends the process when it cannot open them: three for this thread's, and three for
    // that of the main thread, which it makes first. A thread without a run loop then goes on
    // without one; whoever comes later looks again.
    if (!has_free_descriptors(8)) return NULL;
    known = CFRunLoopGetCurrent() == _CFGetTSD(run_loop_slot);
    __atomic_store_n(&is_slot_right, known, __ATOMIC_RELAXED);
  }
  return known ? _CFGetTSD(run_loop_slot) : CFRunLoopGetCurrent();
}

const void *shim_running_run_loop(void) {
  void *loop = run_loop_of_thread();
  if (!loop) return NULL;
  const void *mode = CFRunLoopCopyCurrentMode(loop);
  if (!mode) return NULL;
  CFRelease(mode);
  return loop;
}

void shim_wake_run_loop(const void *loop) {
  if (CFRunLoopWakeUp) CFRunLoopWakeUp((void *)loop);
}

static _Thread_local const void *thread_value = NULL;

const void *shim_thread_value(void) { return thread_value; }

void shim_set_thread_value(const void *value) { thread_value = value; }
