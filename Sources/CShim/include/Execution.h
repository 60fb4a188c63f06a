// Where the calling code runs: main thread, task executor, dispatch queue, run loop. What Swift's
// own interfaces do not tell, or tell too slowly for a check on every access. Weak: a program that
// does not link the library in question has no such place.
#ifndef REALM_EXECUTION_H
#define REALM_EXECUTION_H

#include <stdint.h>

/// 1 when code that runs now is isolated by an executor of Swift tasks, which is two words for the
/// runtime. Never traps.
int shim_is_on_executor(uintptr_t identity, uintptr_t implementation);
/// The executor of the running task; all zero outside of tasks and in one that no actor isolates.
uintptr_t shim_current_executor(uintptr_t *implementation);
uintptr_t shim_main_executor(uintptr_t *implementation);

/// Whether RaceHunt explores the program, and the calling thread is one of the schedule.
int shim_is_explored(void);

/// Whether a task of Swift's concurrency runs now.
int shim_is_in_task(void);
/// The task that runs now, an object of Swift's. NULL outside of tasks, and for a task that may lie
/// in the memory of the one that has started it.
void *shim_current_task(void);
void shim_retain(void *object);
void shim_release(void *object);
/// Whether nobody else holds an object of Swift's that the caller has retained. 0 also if that
/// cannot be told.
int shim_is_held_once(void *object);

/// What `dispatch_queue_set_specific` has set for the key on the running queue or one that it
/// targets.
const void *shim_queue_specific(const void *key);
/// The label of the running queue; NULL outside of queues.
const char *shim_queue_label(void);
/// The queue that runs the jobs of Swift's tasks, if the caller runs on it: a number of its own for
/// each priority, and in `width` how many jobs it runs at once, 0 when that cannot be known. Else
/// 0.
uintptr_t shim_task_pool(uint16_t *width);
/// The C object of the main queue.
const void *shim_main_queue(void);
/// How many blocks a queue may run at once: 1 for serial ones. Part of its memory, not of any
/// interface.
uint16_t shim_queue_width(const void *queue);

/// The calling thread's run loop if it has one, and is running it now; else NULL.
const void *shim_running_run_loop(void);
/// Makes the handle by which the main queue is woken; 0 when there is no descriptor for it.
int shim_prepare_main_queue(void);
/// Makes a waiting run loop look for work.
void shim_wake_run_loop(const void *loop);

/// A pointer of the calling thread's own; NULL at first.
const void *shim_thread_value(void);
void shim_set_thread_value(const void *value);

#endif
