#define _GNU_SOURCE
#include "CRaceHunt.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static const int crashes[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
enum { crash_count = sizeof crashes / sizeof crashes[0], report_stack = 1 << 18, report_seconds = 20 };

static struct sigaction before[crash_count];
static void (*current_report)(int);
static atomic_flag is_reporting = ATOMIC_FLAG_INIT;

static void crashed(int number) {
  if (race_hunt_worker() != NULL && !atomic_flag_test_and_set(&is_reporting)) {
    // The report allocates, which a crash inside of malloc makes wait for ever.
    alarm(report_seconds);
    current_report(number);
    alarm(0);
  }
  // The instruction is repeated, or abort() goes on: then whoever was asked before is asked.
  for (int position = 0; position < crash_count; position++) {
    if (crashes[position] == number) sigaction(number, &before[position], NULL);
  }
}

void race_hunt_report_crashes(void (*report)(int signal)) {
  current_report = report;
  struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigemptyset(&action.sa_mask);
  for (int position = 0; position < crash_count; position++) {
    sigaction(crashes[position], &action, &before[position]);
  }
}

void race_hunt_prepare_crash(void) {
  void *memory = mmap(NULL, report_stack, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack = {.ss_sp = memory, .ss_size = report_stack};
  sigaltstack(&stack, NULL);
}

void race_hunt_write_error(const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(STDERR_FILENO, text, length);
    if (written <= 0) return;
    text += written;
    length -= (size_t)written;
  }
}
