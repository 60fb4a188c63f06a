// See Waiting.h.
#define _GNU_SOURCE
#include "Waiting.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The time of a clock that is so much later than now.
static struct timespec after(clockid_t clock, uint64_t nanoseconds) {
  struct timespec end;
  clock_gettime(clock, &end);
  uint64_t total = (uint64_t)end.tv_nsec + nanoseconds % 1000000000;
  end.tv_sec += (time_t)(nanoseconds / 1000000000 + total / 1000000000);
  end.tv_nsec = (long)(total % 1000000000);
  return end;
}

void shim_wait_for_change(const uint32_t *word, uint32_t expected, uint64_t nanoseconds,
                          uint32_t bits) {
  struct timespec end = after(CLOCK_MONOTONIC, nanoseconds);
  // Not private: other processes wake it. Whatever it returns, the caller looks again.
  (void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, &end, NULL, bits);
}

void shim_wake(const uint32_t *word, uint32_t bits) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bits);
}

bool shim_join(unsigned long thread, uint64_t nanoseconds) {
  // By the wall clock, the only one that the thread sanitizer knows this call with.
  struct timespec end = after(CLOCK_REALTIME, nanoseconds);
  return pthread_timedjoin_np(thread, NULL, &end) == 0;
}
