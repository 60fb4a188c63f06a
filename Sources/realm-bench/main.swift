// Entry of the tool: everything is in Harness.
internal import Foundation
internal import Harness

#if Jemalloc
  internal import CJemalloc

  // Refers to jemalloc, so that no linker drops it: its presence replaces malloc.
  let allocatorControl = mallctl
#endif

exit(RealmBench.runProcess())
