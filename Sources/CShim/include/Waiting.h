// Waiting for a word of memory that processes share.
#ifndef REALM_WAITING_H
#define REALM_WAITING_H

#include <stdbool.h>
#include <stdint.h>

/// Sleeps while the word is `expected`, until it is woken or so much time is over. The word must be
/// in the low half of an aligned u64 of a shared map, or in memory of one process.
void shim_wait_for_change(const uint32_t *word, uint32_t expected, uint64_t nanoseconds,
                          uint32_t bits);
/// Wakes all that sleep for the word with one of these bits.
void shim_wake(const uint32_t *word, uint32_t bits);
/// Joins a thread (a pthread_t) within so much time; false when it has not ended by then: it is not
/// joined then.
bool shim_join(unsigned long thread, uint64_t nanoseconds);

#endif
