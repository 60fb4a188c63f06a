// Entry of the side-by-side benchmark: `scripts/peers` builds and runs it.
import Foundation

#if Jemalloc
  import CAllocator

  // Refers to jemalloc, so that no linker drops it: its presence replaces malloc, for all engines
  // alike.
  let allocatorControl = mallctl
#endif

exit(Peers.run(Array(CommandLine.arguments.dropFirst())))
