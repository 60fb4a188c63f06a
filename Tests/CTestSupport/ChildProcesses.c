// What holds for the processes that tests start, and for what they leave in the temporary folder.
// Nothing that tests call may live here.
#define _GNU_SOURCE
#include "ChildProcesses.h"
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[PATH_MAX];
static pid_t owner;

static int removeOne(const char *path, const struct stat *status, int type, struct FTW *place) {
  (void)status;
  (void)type;
  (void)place;
  (void)remove(path);
  return 0;
}

static void removeFolder(void) {
  // A forked child ends with the same handlers.
  if (getpid() != owner) return;
  (void)nftw(folder, removeOne, 16, FTW_DEPTH | FTW_PHYS);
}

// Processes that stop on purpose cannot remove their files: all that a test run makes lies in one
// folder, which the run's first process removes when it ends.
__attribute__((constructor)) static void shareOneTemporaryFolder(void) {
  if (getenv("REALM_TEST_FOLDER") != NULL) return;
  const char *parent = getenv("TMPDIR");
  if (parent == NULL || *parent == 0) parent = "/tmp";
  owner = getpid();
  int length = snprintf(folder, sizeof folder, "%s/realm-tests-%d", parent, (int)owner);
  // Some tests become another user, who has to come to a folder inside.
  if (length < 0 || (size_t)length >= sizeof folder || mkdir(folder, 0711) != 0) return;
  setenv("REALM_TEST_FOLDER", folder, 1);
  setenv("TMPDIR", folder, 1);
  atexit(removeFolder);
}

// Many tests let a process stop on purpose. The Swift runtime would start swift-backtrace for each.
// That takes longer than the test, most of all under a sanitizer. Now and then it waits for ever
// for the memory of a process that has ended; it holds that process's pipes, so the test run waits
// too. The tests' own process has read its settings by now, since a library's constructors come
// before those of its user: a crash of that process still shows its stacks.
__attribute__((constructor)) static void startChildrenWithoutBacktraces(void) {
  setenv("SWIFT_BACKTRACE", "enable=no", 0);
}
