// What a forked child must not keep of its parent. See Fork.h.
#define _GNU_SOURCE
#include "Fork.h"

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { entries_max = 8192 };

/// A descriptor, or a map when `length` is not 0.
typedef struct {
  int is_used;
  int descriptor;
  void *base;
  size_t length;
} entry;

// Changed by atomic steps only: the child sees the table as it was at some moment.
static entry entries[entries_max];
static int entries_end = 0;
static uint64_t forks_begun = 0;

uint64_t shim_forks_so_far(void) { return __atomic_load_n(&forks_begun, __ATOMIC_SEQ_CST); }

static int add_entry(int descriptor, void *base, size_t length) {
  for (int index = 0; index < entries_max; index++) {
    int expected = 0;
    // 2: not to be looked at yet.
    if (!__atomic_compare_exchange_n(&entries[index].is_used, &expected, 2, 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
      continue;
    entries[index].descriptor = descriptor;
    entries[index].base = base;
    entries[index].length = length;
    int end = __atomic_load_n(&entries_end, __ATOMIC_RELAXED);
    while (end <= index && !__atomic_compare_exchange_n(&entries_end, &end, index + 1, 0,
                                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    __atomic_store_n(&entries[index].is_used, 1, __ATOMIC_SEQ_CST);
    return index;
  }
  return -1;
}

int shim_keep_descriptor_from_children(int descriptor) { return add_entry(descriptor, NULL, 0); }

int shim_keep_map_from_children(void *base, size_t length) { return add_entry(-1, base, length); }

void shim_forget_kept(int number) {
  if (number >= 0) __atomic_store_n(&entries[number].is_used, 0, __ATOMIC_RELEASE);
}

static void note_fork(void) { __atomic_add_fetch(&forks_begun, 1, __ATOMIC_SEQ_CST); }

/// In the child, which has this thread only. Nothing but system calls, as other threads may have
/// had any lock of the C library.
static void let_go(void) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  int end = __atomic_load_n(&entries_end, __ATOMIC_ACQUIRE);
  for (int index = 0; index < end; index++) {
    if (__atomic_load_n(&entries[index].is_used, __ATOMIC_ACQUIRE) != 1) continue;
    if (entries[index].length > 0) {
      // A map keeps the file open, too. Zeros take its place: whoever still looks there must not
      // crash.
      mmap(entries[index].base, entries[index].length, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    } else if (nothing < 0 || dup3(nothing, entries[index].descriptor, O_CLOEXEC) < 0) {
      // The number should stay taken, as its owner in the child will close it once more.
      close(entries[index].descriptor);
    }
  }
  if (nothing >= 0) close(nothing);
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(note_fork, NULL, let_go);
}
