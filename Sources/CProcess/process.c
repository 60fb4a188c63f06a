// See CProcess.h.
#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

int process_get_processors(uint8_t *bits, int bytes) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return errno;
  memset(bits, 0, (size_t)bytes);
  for (int number = 0; number < CPU_SETSIZE && number < bytes * 8; number++)
    if (CPU_ISSET(number, &set)) bits[number / 8] |= (uint8_t)(1 << number % 8);
  return 0;
}

int process_set_processors(const uint8_t *bits, int bytes) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int number = 0; number < CPU_SETSIZE && number < bytes * 8; number++)
    if (bits[number / 8] & 1 << number % 8) CPU_SET(number, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

void process_go_on_without_parent(void) { prctl(PR_SET_PDEATHSIG, SIGCONT); }
