// What Swift cannot say: variadic calls of the peers' libraries, calls that Glibc hides from it,
// and loads that no optimizer removes.
#ifndef CPEERSSHIM_H
#define CPEERSSHIM_H

#include <stdint.h>

/// Sets what SQLite recommends for the whole process: no memory statistics, one lock a connection
/// at most. Before the first use of SQLite; returns its result code.
int peers_configure_sqlite(void);

/// Takes the lookaside memory from a connection, which 10,000 of them could not all have.
int peers_drop_lookaside(void *connection);

/// Writes all dirty pages of the file system that holds an open file; -1 when it fails. (Glibc
/// hides it from Swift.)
int peers_sync_file_system(int descriptor);

/// One load from memory that is made each time.
static inline int64_t peers_load(const int64_t *place) {
  return *(const volatile int64_t *)place;
}

/// One acquiring atomic load.
static inline int64_t peers_load_acquiring(const int64_t *place) {
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/// A reference count up and down: two atomic additions.
static inline void peers_count_up_and_down(int64_t *count) {
  __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  __atomic_fetch_sub(count, 1, __ATOMIC_RELEASE);
}

#endif
