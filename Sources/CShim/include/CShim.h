// C helpers that Swift cannot express: variadic and macro-only Linux interfaces, hashing, searches
// without jumps. No policy lives here. Platform alone calls them, by declarations of its own
// (CFunctions.swift): what a library of Swift imports, each of its clients' compilers has to find.
#ifndef REALM_CSHIM_H
#define REALM_CSHIM_H

#include <stddef.h>
#include <stdint.h>

#include "Cipher.h"
#include "Execution.h"
#include "Fork.h"
#include "Guard.h"
#include "Waiting.h"

/// XXH3, 64 bits, with a seed.
uint64_t shim_hash64(const void *bytes, size_t length, uint64_t seed);

/// Retains an object of Swift unless its last reference is gone; then returns NULL. The object's
/// memory must still be there.
void *shim_try_retain(void *object);

/// Memory for an object of a native class of Swift, with its type and one reference; its fields are
/// not initialized.
void *shim_allocate_object(const void *metadata, size_t size, size_t alignment_mask);

/// Starts to load the cache line of an address; any address will do.
void shim_prefetch(const void *address);
/// The same for so many lines from the address on.
void shim_prefetch_lines(const void *address, int64_t count);
/// The same for an address and one that is so many bytes behind it.
void shim_prefetch_both(const void *address, int64_t distance);

/// Which of 16 bytes equal a value: one bit a byte, the first one's lowest.
uint64_t shim_equal_bytes(const void *bytes, uint8_t value);

/// How many of some ascending numbers are not above a value.
///
/// Without jumps that depend on the numbers: those could not be foreseen, and cost more than the
/// search. What the next step looks at is loaded for both of its cases instead.
int64_t shim_count_up_to(const int64_t *numbers, int64_t count, int64_t value);

/// How many of some ascending pairs of signed numbers are below another one; each starts so many
/// bytes behind the one before it.
int64_t shim_count_pairs_below(const void *pairs, int64_t count, int64_t stride,
                               int64_t first, int64_t second);

/// How many of some ascending unsigned numbers of 1, 2 or 4 bytes (the code is their logarithm) are
/// below a value; each starts so many bytes behind the one before it.
int64_t shim_count_below(const void *numbers, int64_t count, int64_t stride, int code,
                         uint64_t value);

/// Tells the processor that a loop waits for another one.
void shim_pause(void);

/// An anonymous file in memory. Returns a descriptor or -1 with errno set.
int shim_memory_file(const char *name);

/// Renames a file unless something has the new name. Returns 0 or the errno value.
int shim_rename_to_new(const char *path, const char *new_path);

/// Open-file-description locks on one byte of a file. They belong to the open file, so the kernel
/// drops them when the process dies. Return 0, or the errno value.
int shim_lock_byte(int descriptor, int64_t byte, int exclusive, int wait);
int shim_unlock_byte(int descriptor, int64_t byte);
int shim_unlock_all_bytes(int descriptor);
/// 1 when another open file holds a lock on the byte, 0 when none does, -errno on failure.
int shim_byte_is_locked(int descriptor, int64_t byte);
// 1 when another open file holds a lock within a range, which then begins at *start; 0 when not,
// else -errno.
int shim_first_locked(int descriptor, int64_t byte, int64_t length, int64_t *start);

/// Names the calling thread, in up to 15 bytes.
void shim_set_thread_name(const char *name);
uint64_t shim_thread_identifier(void);

/// A number of the calling thread that no other thread of the process ever has, never 0; the main
/// thread's is 1.
uint64_t shim_thread_token(void);
/// The same, or 0 while the thread has none yet: enough to compare with a token known from before.
uint64_t shim_thread_token_or_zero(void);

/// How many bytes of the calling thread's stack are left; SIZE_MAX where that is not known.
size_t shim_stack_left(void);
/// How many calls inside of each other the calling thread has counted, with one more.
int32_t shim_enter_nesting(void);
void shim_leave_nesting(void);

/// What the calling thread is letting go of, NULL when nothing: see LooseValues in Platform.
void *shim_loose_values(void);
void shim_set_loose_values(void *values);

/// An object of the calling thread's choice, of which only the memory is kept; NULL at first.
void *shim_remembered(void);
/// Keeps the memory of an object, in the place of the one before, at most until the thread ends.
void shim_remember(void *object);

/// How often this process is a fork of the one that started: 0 there, larger in a forked child.
uint64_t shim_fork_generation(void);

/// Notes a call of the system on a file; those that are made here are noted where they are made.
void shim_count_file_call(void);

/// How many this process has made so far.
uint64_t shim_file_calls(void);

/// Leaves those out that the calling thread makes from now on, or ends that.
void shim_leave_out_file_calls(int is_on);

/// 1 when a page of the file that was written before can be changed through a shared map without
/// needing space on the disk.
int shim_overwrites_in_place(int descriptor);

/// Starts to write a range of a file to the disk, without waiting. What goes wrong shows at the
/// next sync.
void shim_start_writing(int descriptor, int64_t offset, int64_t length);

/// Writes all bytes and returns when they are durable; nothing else of the file is waited for.
/// Returns 0 or the errno value; what was written then is unknown.
int shim_write_durably(int descriptor, const void *bytes, size_t length, int64_t offset);

/// Reads what a disk holds of a file: what the page cache has yet to write is written first, then
/// it is passed by. Returns how many bytes, fewer only at the end of the file, -EOPNOTSUPP where
/// the cache cannot be passed by, else -errno.
int64_t shim_read_past_cache(int descriptor, void *bytes, size_t length, int64_t offset);

/// Turns O_DIRECT on or off. Returns 0 or the errno value.
int shim_bypass_cache(int descriptor, int is_on);

/// Magic number of the file system that holds `path` into `magic`. Returns 0 or the errno value.
int shim_file_system_magic(const char *path, uint32_t *magic);

/// News of writes to files. All return a number, or -errno.
int shim_watches_open(void);
int shim_watches_add(int descriptor, const char *path);
int shim_watches_remove(int descriptor, int watch);
/// Waits for news; the watches they are about, up to `capacity`, the same one perhaps several
/// times.
int shim_watches_wait(int descriptor, int *watches, int capacity);

/// Up to `length` random bytes of the kernel. Returns how many, or -1 with errno set.
int64_t shim_random_bytes(void *buffer, size_t length);

#endif
