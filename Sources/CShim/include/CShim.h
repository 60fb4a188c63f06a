// C helpers that Swift cannot express: variadic and macro-only Linux interfaces, inlined hashing.
// No policy lives here; Platform is the only importer.
#ifndef REALM_CSHIM_H
#define REALM_CSHIM_H

#include <stddef.h>
#include <stdint.h>

/// XXH3, 64 bits, with a seed. Inlined from libxxhash's header, so short blocks cost no call.
uint64_t shim_hash64(const void *bytes, size_t length, uint64_t seed);

/// An anonymous file in memory. Returns a descriptor or -1 with errno set.
int shim_memory_file(const char *name);

/// Open-file-description locks on one byte of a file. They belong to the open file, so the kernel
/// drops them when the process dies. Return 0, or the errno value.
int shim_lock_byte(int descriptor, int64_t byte, int exclusive, int wait);
int shim_unlock_byte(int descriptor, int64_t byte);
/// 1 when another open file holds a lock on the byte, 0 when none does, -errno on failure.
int shim_byte_is_locked(int descriptor, int64_t byte);

/// Name of the calling thread into `buffer` (at least 16 bytes).
void shim_thread_name(char *buffer, size_t capacity);
void shim_set_thread_name(const char *name);
uint64_t shim_thread_identifier(void);


#endif
