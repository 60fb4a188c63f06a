// What the controlled scheduler (RaceHunt) needs from the C side: a word of the calling thread's
// own, the hooks of Swift's concurrency runtime, and running a job.
#ifndef RACE_HUNT_H
#define RACE_HUNT_H

#include <stddef.h>
#include <stdint.h>

#include "RaceHuntCrash.h"

/// The worker that the calling thread is; NULL for every other thread.
void *race_hunt_worker(void);
void race_hunt_set_worker(void *worker);

/// Takes a job that Swift's global executor was given; 0 when it does not want it.
typedef int (*race_hunt_sink)(void *job);
/// Lets `sink` see each job before the global executor gets it. Returns 0 when the runtime has no
/// such hook. To be called once.
int race_hunt_install(race_hunt_sink sink);

/// The number of the task that a job belongs to; 0 for a job that is none of a task.
uint64_t race_hunt_task_number(void *job);
/// Runs a job of a task without preferred executor on the calling thread.
void race_hunt_run(void *job);

/// Keeps the calling thread on one of the processors that it may use.
void race_hunt_pin(uint32_t number);

/// Does nothing: the place for a debugger's breakpoint, reached where a replay was asked to stop.
void race_hunt_stopped(void);

/// Where the caller of the calling function goes on.
uintptr_t race_hunt_caller(void);
/// The name of the function that holds an address, readable; else file and offset.
void race_hunt_symbol(uintptr_t address, char *text, size_t capacity);

/// Sleeps while the word is 0, until it is woken or so much time is over.
void race_hunt_wait(const uint32_t *word, uint64_t nanoseconds);
void race_hunt_wake(const uint32_t *word);

#endif
