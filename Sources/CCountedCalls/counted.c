// A program's own definition of a call comes before that of the C library, also for the shared
// libraries that it is linked with. Each call here does what the original does, by the kernel's
// number, and counts it if the descriptor belongs to a file that is being counted.
#define _GNU_SOURCE
#include "CCountedCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNTS = 64, PATH_BYTES = 4096, DESCRIPTORS = 1 << 16, SYNCHRONOUS = 0x80 };

static struct {
  // 0 = free, 1 = being made, 2 = in use.
  _Atomic int state;
  char prefix[PATH_BYTES];
  _Atomic uint64_t syncs;
  _Atomic uint64_t bytes;
} counts[COUNTS];

// The counts in use are below this.
static _Atomic int counts_end;
// By descriptor: the number of its count and 1, with SYNCHRONOUS for synchronous writes.
static _Atomic uint8_t owner[DESCRIPTORS];

int counted_calls_begin(const char *prefix) {
  if (strlen(prefix) >= PATH_BYTES) return -1;
  for (int number = 0; number < COUNTS; number++) {
    int expected = 0;
    if (!atomic_compare_exchange_strong(&counts[number].state, &expected, 1)) continue;
    strcpy(counts[number].prefix, prefix);
    atomic_store(&counts[number].syncs, 0);
    atomic_store(&counts[number].bytes, 0);
    atomic_store(&counts[number].state, 2);
    int end = atomic_load(&counts_end);
    while (end <= number && !atomic_compare_exchange_weak(&counts_end, &end, number + 1)) {
    }
    return number;
  }
  return -1;
}

void counted_calls_read(int number, uint64_t *syncs, uint64_t *bytes) {
  *syncs = atomic_load(&counts[number].syncs);
  *bytes = atomic_load(&counts[number].bytes);
}

void counted_calls_end(int number) { atomic_store(&counts[number].state, 0); }

static uint8_t owner_of(int descriptor) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS) return 0;
  return atomic_load_explicit(&owner[descriptor], memory_order_relaxed);
}

static void count_sync(int descriptor) {
  uint8_t number = owner_of(descriptor);
  if (number == 0) return;
  atomic_fetch_add_explicit(
    &counts[(number & ~SYNCHRONOUS) - 1].syncs, 1, memory_order_relaxed);
}

static ssize_t count_write(int descriptor, ssize_t result) {
  uint8_t number = owner_of(descriptor);
  if (number == 0 || result <= 0) return result;
  int place = (number & ~SYNCHRONOUS) - 1;
  atomic_fetch_add_explicit(&counts[place].bytes, (uint64_t)result, memory_order_relaxed);
  if (number & SYNCHRONOUS) {
    atomic_fetch_add_explicit(&counts[place].syncs, 1, memory_order_relaxed);
  }
  return result;
}

static int opened(int descriptor, const char *path, int flags) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS) return descriptor;
  uint8_t number = 0;
  int end = atomic_load_explicit(&counts_end, memory_order_relaxed);
  for (int place = 0; place < end && number == 0; place++) {
    if (atomic_load(&counts[place].state) != 2) continue;
    if (strncmp(path, counts[place].prefix, strlen(counts[place].prefix)) == 0) {
      number = (uint8_t)(place + 1);
    }
  }
  if (number != 0 && (flags & (O_DSYNC | O_SYNC)) != 0) number |= SYNCHRONOUS;
  atomic_store_explicit(&owner[descriptor], number, memory_order_relaxed);
  return descriptor;
}

// MARK: - The calls

static int open_at(const char *path, int flags, mode_t mode) {
  return opened((int)syscall(SYS_openat, AT_FDCWD, path, flags, mode), path, flags);
}

#define MODE_OF_ARGUMENTS(flags, mode)                     \
  mode_t mode = 0;                                         \
  if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) {          \
    va_list arguments;                                     \
    va_start(arguments, flags);                            \
    mode = va_arg(arguments, mode_t);                      \
    va_end(arguments);                                     \
  }

int open(const char *path, int flags, ...) {
  MODE_OF_ARGUMENTS(flags, mode)
  return open_at(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE_OF_ARGUMENTS(flags, mode)
  return open_at(path, flags, mode);
}

int close(int descriptor) {
  if (descriptor >= 0 && descriptor < DESCRIPTORS) {
    atomic_store_explicit(&owner[descriptor], 0, memory_order_relaxed);
  }
  return (int)syscall(SYS_close, descriptor);
}

int fsync(int descriptor) {
  count_sync(descriptor);
  return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  count_sync(descriptor);
  return (int)syscall(SYS_fdatasync, descriptor);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  return count_write(descriptor, syscall(SYS_write, descriptor, bytes, count));
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return count_write(descriptor, syscall(SYS_pwrite64, descriptor, bytes, count, offset));
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  return count_write(descriptor, syscall(SYS_pwrite64, descriptor, bytes, count, offset));
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  return count_write(descriptor, syscall(SYS_writev, descriptor, parts, count));
}

// Declared here, so that this compiles where the library is missing; nothing links it then.
extern int sqlite3_config(int option, ...);

int sqlite_configure(int option, int value) { return sqlite3_config(option, value); }
