// Instructions by perf_event_open(2), read without a call of the system: one would cost more than a
// short operation that is measured. So this is for processors whose counters a program may read,
// where the kernel lets it; elsewhere nothing is counted.
#define _GNU_SOURCE
#include "CThreadCounts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// The page by which the kernel tells how the calling thread's counter is read.
static _Thread_local volatile struct perf_event_mmap_page *page
  __attribute__((tls_model("initial-exec")));
static _Thread_local int descriptor __attribute__((tls_model("initial-exec")));

// A forked child has no such page.
static void forget_page(void) { page = NULL; }

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, forget_page);
}

#if defined(__x86_64__)

static uint64_t read_counter(const volatile struct perf_event_mmap_page *place) {
  for (;;) {
    // The kernel changes the number before and after it changes the rest, on this processor.
    uint32_t sequence = place->lock;
    __asm__ volatile("" ::: "memory");
    uint32_t index = place->index;
    int64_t count = place->offset;
    // The counter does not run, as when others have all there are.
    if (!place->cap_user_rdpmc || index == 0) return 0;
    int unused = 64 - place->pmc_width;
    uint64_t counter = (uint64_t)__builtin_ia32_rdpmc((int)index - 1);
    count += (int64_t)(counter << unused) >> unused;
    __asm__ volatile("" ::: "memory");
    if (place->lock == sequence) return (uint64_t)count;
  }
}

#else

static uint64_t read_counter(const volatile struct perf_event_mmap_page *place) {
  (void)place;
  return 0;
}

#endif

int thread_instructions_begin(void) {
  if (page != NULL) return 0;
  struct perf_event_attr event;
  memset(&event, 0, sizeof event);
  event.size = sizeof event;
  event.type = PERF_TYPE_HARDWARE;
  event.config = PERF_COUNT_HW_INSTRUCTIONS;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  // Never by turns with others: what was not counted would have to be guessed.
  event.pinned = 1;
  int opened = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (opened < 0) return errno;
  void *memory = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, opened, 0);
  int code = memory == MAP_FAILED ? errno : 0;
  if (code == 0 && read_counter(memory) == 0) {
    munmap(memory, (size_t)sysconf(_SC_PAGESIZE));
    code = EOPNOTSUPP;
  }
  if (code != 0) {
    close(opened);
    return code;
  }
  descriptor = opened;
  page = memory;
  return 0;
}

void thread_instructions_end(void) {
  if (page == NULL) return;
  munmap((void *)page, (size_t)sysconf(_SC_PAGESIZE));
  close(descriptor);
  page = NULL;
}

uint64_t thread_instructions(void) {
  const volatile struct perf_event_mmap_page *place = page;
  return place == NULL ? 0 : read_counter(place);
}
