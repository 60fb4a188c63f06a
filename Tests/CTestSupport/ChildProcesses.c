// What holds for the processes that tests start. Nothing that tests call may live here.
#include "ChildProcesses.h"
#include <stdlib.h>

// Many tests let a process stop on purpose. The Swift runtime would start swift-backtrace for each.
// That takes longer than the test, most of all under a sanitizer. Now and then it waits for ever
// for the memory of a process that has ended; it holds that process's pipes, so the test run waits
// too. The tests' own process has read its settings by now, since a library's constructors come
// before those of its user: a crash of that process still shows its stacks.
__attribute__((constructor)) static void startChildrenWithoutBacktraces(void) {
  setenv("SWIFT_BACKTRACE", "enable=no", 0);
}
