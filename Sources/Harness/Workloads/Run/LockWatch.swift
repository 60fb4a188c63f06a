// Notices that another process keeps the write lock while a thread of this one waits for it: what
// nothing else ends then, such as filling the table or a phase of so many operations, ends when the
// run's patience does.
internal import Platform

/// Looks at the write lock from time to time; used by the coordinator's thread only.
struct LockWatch<Driver: EngineDriver> {
  private let driver: Driver
  private var wait: ForeignWait?
  private var since: UInt64 = 0
  private var lookedAt: UInt64 = 0
  /// A look takes system calls.
  private static var spacingNanoseconds: UInt64 { 50_000_000 }

  init(_ driver: Driver) { self.driver = driver }

  /// Which process has kept this one from writing for so long; nil when none has.
  ///
  /// It knows since when from the first time on that it is asked.
  mutating func keeper(for nanoseconds: UInt64, at now: UInt64) -> String? {
    if now - min(lookedAt, now) >= Self.spacingNanoseconds {
      lookedAt = now
      let present = driver.foreignWait()
      // Another number is another wait: there was a turn between them.
      if present?.number != wait?.number { since = now }
      wait = present
    }
    guard let wait, now - min(since, now) >= nanoseconds else { return nil }
    return wait.writer
  }

  /// The same as the reason why something has failed.
  mutating func complaint(after nanoseconds: UInt64, at now: UInt64) -> String? {
    keeper(for: nanoseconds, at: now).map {
      "it has waited for the write lock for \(readableDuration(nanoseconds)), and \($0) has it"
    }
  }
}
