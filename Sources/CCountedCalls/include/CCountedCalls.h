// Counts what a library of another engine writes and syncs to its own files, by standing in for
// the calls of the C library. Part of realm-bench with the trait Peers only.
#ifndef CCOUNTEDCALLS_H
#define CCOUNTEDCALLS_H

#include <stdint.h>

/// Begins to count calls on files whose path begins with `prefix` and that are opened from now on.
/// Returns the number of the count; -1 when there are too many, or the path is too long.
int counted_calls_begin(const char *prefix);

/// What was counted: syncs (fsync, fdatasync, and writes to files that are open for synchronous
/// writes) and bytes given to write calls.
void counted_calls_read(int number, uint64_t *syncs, uint64_t *bytes);

/// Ends a count.
void counted_calls_end(int number);

/// A setting of SQLite for the whole process, with one number; its function is variadic, which
/// Swift cannot call.
int sqlite_configure(int option, int value);

#endif
