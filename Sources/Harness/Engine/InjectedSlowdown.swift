// Makes writes slower on purpose, in builds with the trait PlantedBugs: `scripts/gate-accuracy`
// shows that a gate sees it. In other builds nothing is left of it.
#if PLANTED_BUGS
  internal import Glibc
  internal import Platform
#endif

enum InjectedSlowdown {
  #if PLANTED_BUGS
    /// By how much, as REALM_SLOWER_WRITES says it: 0.05 for 5 %.
    private static let share: Double = {
      guard let text = getenv("REALM_SLOWER_WRITES").map({ String(cString: $0) }) else { return 0 }
      guard let share = Double(text), share >= 0, share <= 10 else {
        fatalError("REALM_SLOWER_WRITES is no share: '\(text)'")
      }
      return share
    }()

    /// Does what is asked for, and goes on for a share of the time that it took.
    static func lengthen(_ body: () throws -> Void) rethrows {
      guard share > 0 else { return try body() }
      let clock = MonotonicClock()
      let start = clock.nanoseconds()
      try body()
      let end = clock.nanoseconds()
      let goal = end + UInt64(Double(end - start) * share)
      while clock.nanoseconds() < goal {}
    }
  #else
    @inline(__always) static func lengthen(_ body: () throws -> Void) rethrows { try body() }
  #endif
}
