// What the controlled scheduler (RaceHunt) needs from the C side: a word of the calling thread's
// own, the hooks of Swift's concurrency runtime, and running a job.
#ifndef RACE_HUNT_H
#define RACE_HUNT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "RaceHuntCrash.h"

/// The worker that the calling thread is; NULL for every other thread.
void *race_hunt_worker(void);
void race_hunt_set_worker(void *worker);

/// Runs a thread's body; comes back when it ends, or where `race_hunt_leave` is called in it.
void race_hunt_enter(void (*body)(void *), void *context);
/// Ends the body of the calling thread. Its frames are left as they are: what they own is never
/// given back.
_Noreturn void race_hunt_leave(void);

/// How many explorations are going on in the process.
extern int race_hunt_explorations;
int race_hunt_count_explorations(int change);
/// Whether a thread can be a worker at all: outside of explorations nothing more is looked at.
static inline int race_hunt_is_exploring(void) {
  return __atomic_load_n(&race_hunt_explorations, __ATOMIC_RELAXED) != 0;
}

/// Whether the thread sanitizer watches the process: it does not see into the locks of the module
/// Synchronization, and would take what they protect for races unless it is told of them.
int race_hunt_is_sanitized(void);
void race_hunt_acquired(const void *lock);
void race_hunt_releases(const void *lock);

/// Where a job was to go.
enum { RACE_HUNT_GLOBAL, RACE_HUNT_DELAYED, RACE_HUNT_MAIN };
/// Takes a job that one of Swift's executors was given, after so many nanoseconds; 0 when it does
/// not want it.
typedef int (*race_hunt_sink)(void *job, int kind, uint64_t delay);
/// An executor, as the runtime passes it: the object and its table of witnesses.
typedef struct { void *identity; uintptr_t implementation; } race_hunt_executor;
/// Lets `sink` see each job, while there are explorations, before the global executor, with delay
/// and without, and the main executor get it. The main actor of workers is `main`; a task without
/// preferred executor that leaves an actor there goes to `hop`. Returns how many of the six hooks
/// the runtime has. To be called once.
int race_hunt_install(race_hunt_sink sink, race_hunt_executor main, race_hunt_executor hop);
/// Offers a job to the sink; 0 when it does not want it.
int race_hunt_takes(void *job, int kind, uint64_t delay);

/// What a worker does with a lock of Swift's concurrency library.
enum { RACE_HUNT_WAITS, RACE_HUNT_HAS, RACE_HUNT_GIVES_BACK };
/// Is told of each such step; of `RACE_HUNT_WAITS` it returns when the lock is worth another try, 0
/// when no worker has it.
typedef int (*race_hunt_lock_sink)(const void *lock, int step);
/// Gives the virtual time of the calling worker, in nanoseconds; 0 when it has none.
typedef int (*race_hunt_time_sink)(uint64_t *nanoseconds);
/// Lets `sink` see what workers do with the locks of Swift's concurrency library, whose clocks show
/// them the time that `time` gives, and the sink of `race_hunt_install` the jobs that the library
/// gives to Dispatch without asking a hook; tasks that sleep with a tolerance do so as others.
/// Returns how many of the ten calls were found. To be called once, after `race_hunt_install`.
int race_hunt_install_library(race_hunt_lock_sink sink, race_hunt_time_sink time);
/// Gives 64 random bits of the calling worker's schedule; 0 when it has none.
typedef int (*race_hunt_random_sink)(uint64_t *bits);
/// Lets Swift's own random numbers (`Int.random`, `shuffled()`) follow from the schedule
/// in workers. Returns whether the call was found.
int race_hunt_install_random(race_hunt_random_sink sink);
/// As `clock_gettime`; for workers, once the library is installed, in virtual time.
int race_hunt_clock(clockid_t clock, struct timespec *time);
/// As `gettimeofday`, in the same way.
int race_hunt_time_of_day(struct timeval *time, void *zone);
/// As `time`, in the same way.
time_t race_hunt_time(time_t *seconds);
/// New sets and dictionaries have an order that does not depend on where they lie in memory.
void race_hunt_fix_hashing(void);

/// What a worker does with a global that is made when it is first used.
enum { RACE_HUNT_BEGINS, RACE_HUNT_ENDS };
/// Is told before and after a worker makes one, or finds it made; returns when no other one of its
/// run makes it.
typedef void (*race_hunt_once_sink)(void *predicate, int step);
/// Lets `sink` see the globals that workers make. To be called once.
void race_hunt_install_once(race_hunt_once_sink sink);
/// Lets a global be made anew whose making will never go on.
void race_hunt_forget_once(void *predicate);

/// Takes what is to run after so many nanoseconds; 0 when it does not want it.
typedef int (*race_hunt_timer_sink)(void (*function)(void *), void *context, uint64_t delay);
/// Is told of a function of Dispatch that a worker calls and that is not under control.
typedef void (*race_hunt_notice)(const char *name);
/// Lets them see what workers ask of Dispatch. To be called once.
void race_hunt_install_dispatch(race_hunt_timer_sink timers, race_hunt_notice notice);

/// Is told of each wait of a run loop on a worker, which is not under control. To be called once.
void race_hunt_install_run_loops(race_hunt_notice notice);

/// What a call of Swift's concurrency library or Foundation does with others: changes who is
/// cancelled or matters more, looks whether somebody is, passes a stream on, or has to do with
/// notifications.
enum { RACE_HUNT_CANCELS, RACE_HUNT_ASKS, RACE_HUNT_STREAMS, RACE_HUNT_NOTIFIES };
/// Is told of such a call before a worker makes it; `caller` is where it goes on.
typedef void (*race_hunt_call_sink)(int kind, const char *name, uintptr_t caller);
/// Lets `sink` see these calls, nearly all on x86-64 alone. To be called once.
void race_hunt_install_calls(race_hunt_call_sink sink);

/// Is told that the task which a worker runs is about to go to an actor.
typedef void (*race_hunt_hop_sink)(void);
/// Lets `sink` see these hops. To be called once.
void race_hunt_install_hops(race_hunt_hop_sink sink);

/// The number of the task that a job belongs to; 0 for a job that is none of a task.
uint64_t race_hunt_task_number(void *job);
/// Whether a job is that of a task which lets others go first.
int race_hunt_is_yield(const void *job);
/// Runs a job of a task without preferred executor on the calling thread.
void race_hunt_run(void *job);
/// Runs a job of the main actor on the calling thread.
void race_hunt_run_on_main(void *job);

/// The number by which the kernel knows the calling thread.
int race_hunt_thread_number(void);
/// What a thread of this process does: nothing is known of it; it runs; it waits in a call of the
/// kernel; it waits in one that has no limit of time, for what somebody else does.
enum { RACE_HUNT_UNKNOWN, RACE_HUNT_RUNS, RACE_HUNT_WAITS_IN_KERNEL, RACE_HUNT_WAITS_WITHOUT_END };
/// Looks what a thread does now; of one that waits the name of the call.
int race_hunt_kernel_wait(int thread, char *name, size_t capacity);

/// Keeps the calling thread on one of the processors that it may use.
void race_hunt_pin(uint32_t number);

/// Leaves an object of Swift one owner: for one whose others will never run again.
void race_hunt_forget_owners(void *object);

/// Does nothing: the place for a debugger's breakpoint, reached where a replay was asked to stop.
void race_hunt_stopped(void);

/// Where the caller of the calling function goes on, as a number for `race_hunt_place`.
uintptr_t race_hunt_caller(void);
/// The address that `race_hunt_caller` has given a number, and where that function's own caller
/// goes on, or 0. Other addresses are their own numbers.
uintptr_t race_hunt_place(uintptr_t number, uintptr_t *outer);
/// Whether the memory belongs to a program or library, and not to its heap or stacks.
int race_hunt_is_static(const void *address);
/// The name of the function that holds an address, readable; else file and offset.
void race_hunt_symbol(uintptr_t address, char *text, size_t capacity);
/// Writes, for each place behind a call, or the number of one, the file and line of the call,
/// `capacity` bytes each; an empty text where it is not known. Of more than 128 the first ones.
void race_hunt_lines(const uintptr_t *addresses, size_t count, char *texts, size_t capacity);

/// Sleeps while the word is `seen`, until it is woken or so much time is over.
void race_hunt_wait(const uint32_t *word, uint32_t seen, uint64_t nanoseconds);
void race_hunt_wake(const uint32_t *word);
/// Sleeps while the word is `seen`, until it is woken.
void race_hunt_wait_while(const uint32_t *word, uint32_t seen);
/// Wakes at most so many.
void race_hunt_wake_many(const uint32_t *word, int count);

// MARK: - Atomic accesses of words of any size. Orders are those of the compiler.

/// The bits of a word of up to 16 bytes.
typedef struct { uint64_t low, high; } race_hunt_bits;

#define RACE_HUNT_BY_SIZE(operation, ...)                                  \
  switch (size) {                                                          \
    case 1: operation(uint8_t) break;                                      \
    case 2: operation(uint16_t) break;                                     \
    case 4: operation(uint32_t) break;                                     \
    default: operation(uint64_t) break;                                    \
  }
#define RACE_HUNT_BY_LOAD_ORDER(expression)                                \
  (order == __ATOMIC_RELAXED ? expression(__ATOMIC_RELAXED)                \
   : order == __ATOMIC_ACQUIRE ? expression(__ATOMIC_ACQUIRE)              \
                               : expression(__ATOMIC_SEQ_CST))
#define RACE_HUNT_BY_ORDER(expression)                                     \
  (order == __ATOMIC_RELAXED ? expression(__ATOMIC_RELAXED)                \
   : order == __ATOMIC_ACQUIRE ? expression(__ATOMIC_ACQUIRE)              \
   : order == __ATOMIC_RELEASE ? expression(__ATOMIC_RELEASE)              \
   : order == __ATOMIC_ACQ_REL ? expression(__ATOMIC_ACQ_REL)              \
                               : expression(__ATOMIC_SEQ_CST))

/// Sets a word of 16 bytes if it is what is expected; what it was.
race_hunt_bits race_hunt_exchange_pair(void *word, race_hunt_bits expected, race_hunt_bits desired);

static inline race_hunt_bits race_hunt_load(const void *word, size_t size, int order) {
  race_hunt_bits bits = {0, 0};
  if (size == 16) return race_hunt_exchange_pair((void *)(uintptr_t)word, bits, bits);
#define RACE_HUNT_ORDERED(order) __atomic_load_n((const RACE_HUNT_WORD *)word, order)
#define RACE_HUNT_SIZED(type) { typedef type RACE_HUNT_WORD; bits.low = RACE_HUNT_BY_LOAD_ORDER(RACE_HUNT_ORDERED); }
  RACE_HUNT_BY_SIZE(RACE_HUNT_SIZED)
#undef RACE_HUNT_SIZED
#undef RACE_HUNT_ORDERED
  return bits;
}

static inline void race_hunt_store(void *word, size_t size, race_hunt_bits bits, int order) {
  if (size == 16) {
    race_hunt_bits seen = {0, 0}, was;
    while (was = race_hunt_exchange_pair(word, seen, bits), was.low != seen.low || was.high != seen.high)
      seen = was;
    return;
  }
#define RACE_HUNT_SIZED(type)                                                                     \
  {                                                                                               \
    if (order == __ATOMIC_RELAXED) __atomic_store_n((type *)word, (type)bits.low, __ATOMIC_RELAXED); \
    else if (order == __ATOMIC_RELEASE)                                                           \
      __atomic_store_n((type *)word, (type)bits.low, __ATOMIC_RELEASE);                           \
    else __atomic_store_n((type *)word, (type)bits.low, __ATOMIC_SEQ_CST);                        \
  }
  RACE_HUNT_BY_SIZE(RACE_HUNT_SIZED)
#undef RACE_HUNT_SIZED
}

/// Sets the word if it is what is expected; what it was. A failure has the order of the success.
static inline race_hunt_bits race_hunt_compare_exchange(
    void *word, size_t size, race_hunt_bits expected, race_hunt_bits desired, int order) {
  if (size == 16) return race_hunt_exchange_pair(word, expected, desired);
  race_hunt_bits was = {0, 0};
#define RACE_HUNT_ORDERED(order)                                                                  \
  __atomic_compare_exchange_n((RACE_HUNT_WORD *)word, &seen, (RACE_HUNT_WORD)desired.low, 0, order, \
      order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED                                                \
      : order == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE : order)
#define RACE_HUNT_SIZED(type)                                                                     \
  {                                                                                               \
    typedef type RACE_HUNT_WORD;                                                                  \
    type seen = (type)expected.low;                                                               \
    (void)RACE_HUNT_BY_ORDER(RACE_HUNT_ORDERED);                                                  \
    was.low = seen;                                                                               \
  }
  RACE_HUNT_BY_SIZE(RACE_HUNT_SIZED)
#undef RACE_HUNT_SIZED
#undef RACE_HUNT_ORDERED
  return was;
}

#define RACE_HUNT_UPDATE(name, builtin)                                                           \
  static inline race_hunt_bits name(void *word, size_t size, race_hunt_bits operand, int order) { \
    race_hunt_bits was = {0, 0};                                                                  \
    RACE_HUNT_BY_SIZE(RACE_HUNT_SIZED_##builtin)                                                  \
    return was;                                                                                   \
  }
#define RACE_HUNT_FETCH(type, builtin)                                                            \
  was.low = order == __ATOMIC_RELAXED                                                             \
      ? builtin((type *)word, (type)operand.low, __ATOMIC_RELAXED)                                \
      : order == __ATOMIC_ACQUIRE ? builtin((type *)word, (type)operand.low, __ATOMIC_ACQUIRE)    \
      : order == __ATOMIC_RELEASE ? builtin((type *)word, (type)operand.low, __ATOMIC_RELEASE)    \
      : order == __ATOMIC_ACQ_REL ? builtin((type *)word, (type)operand.low, __ATOMIC_ACQ_REL)    \
                                  : builtin((type *)word, (type)operand.low, __ATOMIC_SEQ_CST);
#define RACE_HUNT_SIZED___atomic_exchange_n(type) RACE_HUNT_FETCH(type, __atomic_exchange_n)
#define RACE_HUNT_SIZED___atomic_fetch_add(type) RACE_HUNT_FETCH(type, __atomic_fetch_add)
#define RACE_HUNT_SIZED___atomic_fetch_and(type) RACE_HUNT_FETCH(type, __atomic_fetch_and)
#define RACE_HUNT_SIZED___atomic_fetch_or(type) RACE_HUNT_FETCH(type, __atomic_fetch_or)
#define RACE_HUNT_SIZED___atomic_fetch_xor(type) RACE_HUNT_FETCH(type, __atomic_fetch_xor)

static inline void race_hunt_fence(int order) {
  if (order == __ATOMIC_RELAXED) return;
  if (order == __ATOMIC_ACQUIRE) __atomic_thread_fence(__ATOMIC_ACQUIRE);
  else if (order == __ATOMIC_RELEASE) __atomic_thread_fence(__ATOMIC_RELEASE);
  else if (order == __ATOMIC_ACQ_REL) __atomic_thread_fence(__ATOMIC_ACQ_REL);
  else __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// What the word was before it is set, added to, and so on; for up to 8 bytes.
RACE_HUNT_UPDATE(race_hunt_exchange, __atomic_exchange_n)
RACE_HUNT_UPDATE(race_hunt_add, __atomic_fetch_add)
RACE_HUNT_UPDATE(race_hunt_and, __atomic_fetch_and)
RACE_HUNT_UPDATE(race_hunt_or, __atomic_fetch_or)
RACE_HUNT_UPDATE(race_hunt_xor, __atomic_fetch_xor)

#endif
