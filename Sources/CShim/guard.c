// What stops a touch of a page that a file does not have. See Guard.h.
#define _GNU_SOURCE
#include "Guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { guards_max = 4096 };

/// Changed by atomic steps only: the handler may run at any time, but it looks only for a map that
/// its own thread uses, which nobody ends meanwhile.
typedef struct {
  /// 0 free, 1 in use, 2 not to be looked at.
  int state;
  uintptr_t base;
  size_t length;
  char *path;
} guard;

static guard guards[guards_max];
static int guards_end = 0;
static struct sigaction before;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void say(const char *text) {
  size_t length = strlen(text);
  while (length > 0) {
    ssize_t written = write(STDERR_FILENO, text, length);
    if (written <= 0) return;
    text += written;
    length -= (size_t)written;
  }
}

static void say_number(uint64_t number) {
  char digits[21];
  char *next = digits + sizeof digits - 1;
  *next = 0;
  do *--next = (char)('0' + number % 10);
  while (number /= 10);
  say(next);
}

/// Nothing but calls that a signal handler may make.
static void stop(const guard *found, uintptr_t address) {
  uint64_t offset = address - found->base;
  struct stat description;
  int is_known = stat(found->path, &description) == 0;
  say("Fatal error: '");
  say(found->path);
  say("' is damaged: byte ");
  say_number(offset);
  if (is_known && offset >= (uint64_t)description.st_size) {
    say(" is not there any more: somebody has cut the file to ");
    say_number((uint64_t)description.st_size);
    say(" bytes while it was open\n");
  } else {
    say(" cannot be read: the disk has failed, or somebody has cut the file while it was open\n");
  }
  abort();
}

static void missing_page(int number, siginfo_t *information, void *context) {
  int is_of_page = information->si_code == BUS_ADRERR || information->si_code == BUS_OBJERR ||
                   information->si_code == BUS_MCEERR_AR;
  uintptr_t address = (uintptr_t)information->si_addr;
  int end = is_of_page ? __atomic_load_n(&guards_end, __ATOMIC_ACQUIRE) : 0;
  for (int index = 0; index < end; index++) {
    if (__atomic_load_n(&guards[index].state, __ATOMIC_ACQUIRE) != 1) continue;
    if (address - guards[index].base < guards[index].length) stop(&guards[index], address);
  }
  // Not ours: whoever was asked before is asked, or the instruction is repeated without us.
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(number, information, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else {
    sigaction(SIGBUS, &before, NULL);
    if (!is_of_page) raise(SIGBUS);
  }
}

static void install(void) {
  struct sigaction action = {.sa_sigaction = missing_page, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

int shim_guard_map(const void *base, size_t length, const char *path) {
  char *copy = strdup(path);
  if (!copy) return -1;
  pthread_once(&once, install);
  for (int index = 0; index < guards_max; index++) {
    int expected = 0;
    if (!__atomic_compare_exchange_n(&guards[index].state, &expected, 2, 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
      continue;
    guards[index].base = (uintptr_t)base;
    guards[index].length = length;
    guards[index].path = copy;
    int end = __atomic_load_n(&guards_end, __ATOMIC_RELAXED);
    while (end <= index && !__atomic_compare_exchange_n(&guards_end, &end, index + 1, 0,
                                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    __atomic_store_n(&guards[index].state, 1, __ATOMIC_RELEASE);
    return index;
  }
  free(copy);
  return -1;
}

void shim_end_guard(int number) {
  if (number < 0) return;
  // The handler of another thread may be reading this entry, on its way to its own one, but never
  // its path.
  __atomic_store_n(&guards[number].state, 2, __ATOMIC_RELEASE);
  free(guards[number].path);
  guards[number].path = NULL;
  __atomic_store_n(&guards[number].state, 0, __ATOMIC_RELEASE);
}
