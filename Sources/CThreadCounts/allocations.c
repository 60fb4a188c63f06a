// A program's own definition of a function comes before those of its shared libraries, for these
// libraries, too. Each one here adds 1 to a word of the calling thread and calls the definition
// that there would be without it: jemalloc's where the program is linked with it, else the C
// library's. Nothing here allocates, locks or knows of processes, so it works before main and in
// forked children. What frees memory is left alone.
#define _GNU_SOURCE
#include "CThreadCounts.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(hwaddress_sanitizer) || \
  __has_feature(leak_sanitizer) || __has_feature(memory_sanitizer) || \
  __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#endif

#ifdef IS_SANITIZED

uint64_t thread_allocations(void) { return 0; }

int thread_allocations_are_counted(void) { return 0; }

#else

// In the executable, so that no look-up stands behind an access, which might allocate.
static _Thread_local uint64_t allocations __attribute__((tls_model("initial-exec")));
static _Thread_local int is_looking_up __attribute__((tls_model("initial-exec")));

// The definitions behind these here. Threads that look one up at the same time store the same.
static struct {
  void *(*malloc)(size_t);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  void *(*aligned_alloc)(size_t, size_t);
  void *(*memalign)(size_t, size_t);
  int (*posix_memalign)(void **, size_t, size_t);
} next;

// dlsym finds names that are there without allocating. Older C libraries ask for memory in a
// thread's first call, and do without it where they get none.
static __attribute__((noinline, cold)) void *look_up(const char *name) {
  if (is_looking_up) return NULL;
  is_looking_up = 1;
  void *found = dlsym(RTLD_NEXT, name);
  is_looking_up = 0;
  return found;
}

// Relaxed: what is pointed to has been there since before the program began.
#define NEXT(name)                                                                  \
  ({                                                                                \
    __typeof__(next.name) function = __atomic_load_n(&next.name, __ATOMIC_RELAXED); \
    if (__builtin_expect(function == NULL, 0)) {                                    \
      function = (__typeof__(next.name))look_up(#name);                             \
      __atomic_store_n(&next.name, function, __ATOMIC_RELAXED);                     \
    }                                                                               \
    function;                                                                       \
  })

static void *none(void) {
  errno = ENOMEM;
  return NULL;
}

void *malloc(size_t size) {
  allocations++;
  __typeof__(next.malloc) function = NEXT(malloc);
  return __builtin_expect(function != NULL, 1) ? function(size) : none();
}

void *calloc(size_t count, size_t size) {
  allocations++;
  __typeof__(next.calloc) function = NEXT(calloc);
  return __builtin_expect(function != NULL, 1) ? function(count, size) : none();
}

void *realloc(void *memory, size_t size) {
  allocations++;
  __typeof__(next.realloc) function = NEXT(realloc);
  return __builtin_expect(function != NULL, 1) ? function(memory, size) : none();
}

void *aligned_alloc(size_t alignment, size_t size) {
  allocations++;
  __typeof__(next.aligned_alloc) function = NEXT(aligned_alloc);
  return __builtin_expect(function != NULL, 1) ? function(alignment, size) : none();
}

void *memalign(size_t alignment, size_t size) {
  allocations++;
  __typeof__(next.memalign) function = NEXT(memalign);
  return __builtin_expect(function != NULL, 1) ? function(alignment, size) : none();
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  allocations++;
  __typeof__(next.posix_memalign) function = NEXT(posix_memalign);
  return __builtin_expect(function != NULL, 1) ? function(memory, alignment, size) : ENOMEM;
}

uint64_t thread_allocations(void) { return allocations; }

int thread_allocations_are_counted(void) {
  // By a function of the C library, through a pointer that no compiler sees through.
  char *(*volatile copy)(const char *) = strdup;
  uint64_t before = allocations;
  free(copy("counted"));
  return allocations == before + 1;
}

#endif
