// The one source of time. Passed in, so that tests move it by hand.
internal import Glibc

#if CONTROLLED_SCHEDULING
  internal import RaceHunt
#endif

/// Time that only goes forward, from an arbitrary start.
package protocol Clock: Sendable {
  /// Nanoseconds since the clock's start.
  func nanoseconds() -> UInt64
}

/// The machine's monotonic clock.
///
/// Stands still while the machine is suspended. In an explored program it is virtual.
package struct MonotonicClock: Clock {
  package init() {}

  package func nanoseconds() -> UInt64 {
    #if CONTROLLED_SCHEDULING
      if let virtual = Control.nanoseconds { return virtual }
    #endif
    var time = timespec()
    Glibc.clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// A clock that moves when it is told to.
package final class ManualClock: Clock {
  private let time: Atomic<UInt64>

  package init(nanoseconds: UInt64 = 0) { time = Atomic(nanoseconds) }

  // Relaxed: the value stands for itself and publishes nothing else.
  package func nanoseconds() -> UInt64 { time.load(ordering: .relaxed) }

  /// Moves the clock forward.
  package func advance(nanoseconds: UInt64) { time.add(nanoseconds, ordering: .relaxed) }
}
