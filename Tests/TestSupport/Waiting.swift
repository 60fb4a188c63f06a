// Waiting for what another thread, another process or the kernel brings about. Tests wait for an
// event, never for a time: how long it takes says nothing on a busy machine. Every wait ends, in
// vain after `waitLimitNanoseconds`.
internal import Glibc
package import Platform
package import Simulation
package import Testing

/// After so long a wait is in vain: a minute, or `REALM_WAIT_SECONDS`, more under a sanitizer, less
/// where waits in vain are expected, as with planted bugs.
package let waitLimitNanoseconds: UInt64 =
  (getenv("REALM_WAIT_SECONDS").flatMap { UInt64(String(cString: $0)) } ?? 60) * 1_000_000_000

/// Records that a wait was in vain.
///
/// Says what the other threads of the process were doing as far as the kernel knows it; their
/// stacks are shown by scripts/watched.
package func recordVainWait(_ what: String, _ sourceLocation: SourceLocation) {
  Issue.record(
    """
    waited \(waitLimitNanoseconds / 1_000_000_000) s in vain for \(what)
    \(describeThreads())
    """, sourceLocation: sourceLocation)
}

/// For a wait whose end the rest of a test cannot do without.
package struct VainWait: Error, CustomStringConvertible {
  private let what: String
  package init(what: String) { self.what = what }
  package var description: String {
    "waited \(waitLimitNanoseconds / 1_000_000_000) s in vain for \(what)\n\(describeThreads())"
  }
}

/// How long to sleep between two looks: not at all at first, then longer and longer.
private struct Patience {
  private var looks = 0
  private let end = MonotonicClock().nanoseconds() + waitLimitNanoseconds

  /// Nanoseconds to sleep before the next look; nil when the time is over.
  mutating func nextSleep() -> UInt64? {
    looks += 1
    if looks < 20 { return 0 }
    if MonotonicClock().nanoseconds() > end { return nil }
    return min(20_000 << UInt64(min(looks - 20, 8)), 2_000_000)
  }
}

/// Looks again and again until a condition holds; false when that takes too long.
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  var patience = Patience()
  while try !condition() {
    guard let nanoseconds = patience.nextSleep() else { return false }
    if nanoseconds == 0 {
      sched_yield()
    } else {
      usleep(UInt32(nanoseconds / 1_000))
    }
  }
  return true
}

/// The same in a task, which lets others run in between.
package func eventually(yielding condition: () async throws -> Bool) async rethrows -> Bool {
  var patience = Patience()
  while try await !condition() {
    guard let nanoseconds = patience.nextSleep() else { return false }
    if nanoseconds == 0 {
      await Task.yield()
    } else {
      // A task that is cancelled looks on without a pause.
      try? await Task.sleep(nanoseconds: nanoseconds)
    }
  }
  return true
}

extension Thread {
  /// Waits for the end of the thread, and records a failure when it does not end.
  package func joinInTime(sourceLocation: SourceLocation = #_sourceLocation) {
    if !join(nanoseconds: waitLimitNanoseconds) {
      recordVainWait("the end of a thread", sourceLocation)
    }
  }
}

extension Monitor {
  /// Waits until a condition holds, and records a failure when it does not come to hold.
  package func waitInTime(
    for what: String, sourceLocation: SourceLocation = #_sourceLocation,
    until isReady: (inout State) -> Bool
  ) {
    if !wait(nanoseconds: waitLimitNanoseconds, until: isReady) {
      recordVainWait(what, sourceLocation)
    }
  }
}

extension FaultFileSystem {
  /// Waits until `count` calls of a kind are held, and records a failure when they do not come.
  package func waitUntilHeld(
    _ call: FileCall, count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    if !wait(untilHeld: call, count: count, nanoseconds: waitLimitNanoseconds) {
      recordVainWait("\(count) held calls of \(call)", sourceLocation)
    }
  }
}
