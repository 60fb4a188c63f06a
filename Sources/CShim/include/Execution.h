// Where the calling code runs: main thread, task executor, dispatch queue, run loop. What Swift's own
// interfaces do not tell, or tell too slowly for a check on every access. Weak: a program that does not
// link the library in question has no such place.
#ifndef REALM_EXECUTION_H
#define REALM_EXECUTION_H

#include <stdint.h>

/// An executor of Swift tasks, as the runtime passes it. All zero: none in particular.
typedef struct {
  const void *identity;
  uintptr_t implementation;
} shim_executor;

/// 1 when code that runs now is isolated by the executor. Never traps.
int shim_is_on_executor(shim_executor executor);
/// The executor of the running task; all zero outside of tasks and in one that no actor isolates.
shim_executor shim_current_executor(void);
shim_executor shim_main_executor(void);

/// What `dispatch_queue_set_specific` has set for the key on the running queue or one that it targets.
const void *shim_queue_specific(const void *key);
/// The label of the running queue; NULL outside of queues.
const char *shim_queue_label(void);
/// The C object of the main queue.
const void *shim_main_queue(void);
/// How many blocks a queue may run at once: 1 for serial ones. Part of its memory, not of any interface.
uint16_t shim_queue_width(const void *queue);

/// The calling thread's run loop if it has one, and is running it now; else NULL.
const void *shim_running_run_loop(void);
/// Makes a waiting run loop look for work.
void shim_wake_run_loop(const void *loop);

/// A pointer of the calling thread's own; NULL at first.
const void *shim_thread_value(void);
void shim_set_thread_value(const void *value);

#endif
