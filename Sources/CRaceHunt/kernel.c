// Where a thread of this process waits in the kernel, by what the kernel tells of it.
#define _GNU_SOURCE
#include "CRaceHunt.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int race_hunt_thread_number(void) { return (int)syscall(SYS_gettid); }

/// What ends a wait in a call, beside what somebody else does.
enum limit {
  /// Something does.
  SOME,
  /// Nothing does.
  NONE,
  /// One of the arguments is a time in milliseconds, if it is not negative.
  MILLISECONDS,
  /// One of the arguments points to a time, if it is not 0.
  TIME,
  /// Only commands of `fcntl` that wait for a lock wait at all.
  LOCK,
};

static const struct call {
  const char *name;
  long number;
  enum limit limit;
  /// Which argument the time is.
  int argument;
} calls[] = {
    {"read", SYS_read, NONE, 0},
    {"readv", SYS_readv, NONE, 0},
    {"write", SYS_write, NONE, 0},
    {"writev", SYS_writev, NONE, 0},
    {"recvfrom", SYS_recvfrom, NONE, 0},
    {"recvmsg", SYS_recvmsg, NONE, 0},
    {"sendto", SYS_sendto, NONE, 0},
    {"sendmsg", SYS_sendmsg, NONE, 0},
    {"accept", SYS_accept, NONE, 0},
    {"accept", SYS_accept4, NONE, 0},
    {"flock", SYS_flock, NONE, 0},
    {"fcntl", SYS_fcntl, LOCK, 1},
    {"ppoll", SYS_ppoll, TIME, 2},
    {"pselect", SYS_pselect6, TIME, 4},
    {"epoll_pwait", SYS_epoll_pwait, MILLISECONDS, 3},
    {"sigtimedwait", SYS_rt_sigtimedwait, TIME, 2},
    {"sigsuspend", SYS_rt_sigsuspend, NONE, 0},
    {"msgrcv", SYS_msgrcv, NONE, 0},
#ifdef SYS_poll
    {"poll", SYS_poll, MILLISECONDS, 2},
    {"select", SYS_select, TIME, 4},
    {"epoll_wait", SYS_epoll_wait, MILLISECONDS, 3},
    {"pause", SYS_pause, NONE, 0},
#endif
    // Locks of the system, which another thread that goes on may give back.
    {"futex", SYS_futex, SOME, 0},
    {"nanosleep", SYS_nanosleep, SOME, 0},
    {"clock_nanosleep", SYS_clock_nanosleep, SOME, 0},
    // A child that has much to do.
    {"wait4", SYS_wait4, SOME, 0},
    {"waitid", SYS_waitid, SOME, 0},
    {"connect", SYS_connect, SOME, 0},
    {"fsync", SYS_fsync, SOME, 0},
    {"fdatasync", SYS_fdatasync, SOME, 0},
};

static bool is_without_end(const struct call *call, const unsigned long arguments[6]) {
  unsigned long argument = arguments[call->argument];
  switch (call->limit) {
    case SOME: return false;
    case NONE: return true;
    case MILLISECONDS: return (int)argument < 0;
    case TIME: return argument == 0;
    case LOCK: return argument == F_SETLKW || argument == F_OFD_SETLKW;
  }
  return false;
}

int race_hunt_kernel_wait(int thread, char *name, size_t capacity) {
  char text[256] = {0};
  name[0] = 0;
  snprintf(text, sizeof text, "/proc/self/task/%d/syscall", thread);
  FILE *file = thread > 0 ? fopen(text, "re") : NULL;
  if (file == NULL) return RACE_HUNT_UNKNOWN;
  bool has_line = fgets(text, sizeof text, file) != NULL;
  fclose(file);
  if (!has_line) return RACE_HUNT_UNKNOWN;
  if (strncmp(text, "running", 7) == 0) return RACE_HUNT_RUNS;
  long number = -1;
  unsigned long arguments[6] = {0};
  int found = sscanf(
      text, "%ld %lx %lx %lx %lx %lx %lx", &number, &arguments[0], &arguments[1], &arguments[2],
      &arguments[3], &arguments[4], &arguments[5]);
  // Without a call it waits for memory that is read from a file, say.
  if (found < 7) return RACE_HUNT_UNKNOWN;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (calls[i].number != number) continue;
    snprintf(name, capacity, "%s", calls[i].name);
    return is_without_end(&calls[i], arguments) ? RACE_HUNT_WAITS_WITHOUT_END
                                                : RACE_HUNT_WAITS_IN_KERNEL;
  }
  snprintf(name, capacity, "call %ld", number);
  return RACE_HUNT_WAITS_IN_KERNEL;
}
