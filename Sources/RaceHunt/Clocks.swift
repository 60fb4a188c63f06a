// Clocks of explored programs, whose time is virtual: it passes when nobody can go on.

/// Time that goes on while the machine sleeps: Swift's `ContinuousClock`; virtual in an explored
/// program.
public struct ContinuousClock: Clock {
  /// A point in time.
  public typealias Instant = Swift.ContinuousClock.Instant

  private static let origin = Swift.ContinuousClock().now

  /// The machine's clock, or that of the schedule.
  public init() {}

  /// The time now.
  public static var now: Instant { ContinuousClock().now }

  /// The time now.
  public var now: Instant {
    guard let run = Run.current?.run else { return Swift.ContinuousClock().now }
    return Self.origin.advanced(by: .nanoseconds(Int64(run.readClock())))
  }

  /// The least that two times differ by.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Sleeps until then.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    guard Run.current != nil else {
      return try await Swift.ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
    try await Task.sleep(nanoseconds: now.duration(to: deadline).nanoseconds)
  }
}

/// Time that stands still while the machine sleeps: Swift's `SuspendingClock`; virtual in an
/// explored program.
public struct SuspendingClock: Clock {
  /// A point in time.
  public typealias Instant = Swift.SuspendingClock.Instant

  private static let origin = Swift.SuspendingClock().now

  /// The machine's clock, or that of the schedule.
  public init() {}

  /// The time now.
  public static var now: Instant { SuspendingClock().now }

  /// The time now.
  public var now: Instant {
    guard let run = Run.current?.run else { return Swift.SuspendingClock().now }
    return Self.origin.advanced(by: .nanoseconds(Int64(run.readClock())))
  }

  /// The least that two times differ by.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Sleeps until then.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    guard Run.current != nil else {
      return try await Swift.SuspendingClock().sleep(until: deadline, tolerance: tolerance)
    }
    try await Task.sleep(nanoseconds: now.duration(to: deadline).nanoseconds)
  }
}
