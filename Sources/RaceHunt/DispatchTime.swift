// Dispatch's time, which is virtual in explored programs.
public import Dispatch

/// A point in time: `Dispatch.DispatchTime`; virtual in an explored program.
public struct DispatchTime: Comparable, Hashable, Sendable {
  /// Nanoseconds since the clock's start.
  public let uptimeNanoseconds: UInt64

  /// The time so many nanoseconds after the clock's start.
  public init(uptimeNanoseconds: UInt64) { self.uptimeNanoseconds = uptimeNanoseconds }

  /// As Dispatch writes it.
  public var rawValue: UInt64 { real.rawValue }

  /// The time now.
  public static func now() -> DispatchTime {
    DispatchTime(
      uptimeNanoseconds: Run.current?.run.readClock()
        ?? Dispatch.DispatchTime.now().uptimeNanoseconds)
  }

  /// Never.
  public static let distantFuture = DispatchTime(uptimeNanoseconds: .max)

  /// Whether the first one is earlier.
  public static func < (left: DispatchTime, right: DispatchTime) -> Bool {
    left.uptimeNanoseconds < right.uptimeNanoseconds
  }

  /// So much later.
  public static func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime {
    time.moved(by: interval.nanoseconds)
  }

  /// So much earlier.
  public static func - (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime {
    time.moved(by: interval.nanoseconds.map { 0 &- $0 })
  }

  /// So many seconds later.
  public static func + (time: DispatchTime, seconds: Double) -> DispatchTime {
    time.moved(by: seconds.isFinite && abs(seconds) < 4e9 ? Int64(seconds * 1e9) : nil)
  }

  /// So many seconds earlier.
  public static func - (time: DispatchTime, seconds: Double) -> DispatchTime { time + -seconds }

  /// So much later.
  public func advanced(by interval: DispatchTimeInterval) -> DispatchTime { self + interval }

  /// How much later the other one is.
  public func distance(to other: DispatchTime) -> DispatchTimeInterval {
    let nanoseconds = Int64(bitPattern: other.uptimeNanoseconds &- uptimeNanoseconds)
    return .nanoseconds(Int(nanoseconds))
  }

  /// Nil moves to the end of time.
  private func moved(by nanoseconds: Int64?) -> DispatchTime {
    guard let nanoseconds, self != .distantFuture else { return .distantFuture }
    let (sum, overflows) = uptimeNanoseconds.addingReportingOverflow(
      UInt64(bitPattern: nanoseconds))
    if nanoseconds >= 0 { return overflows ? .distantFuture : .init(uptimeNanoseconds: sum) }
    return DispatchTime(uptimeNanoseconds: overflows ? sum : 0)
  }

  /// For Dispatch itself.
  var real: Dispatch.DispatchTime {
    self == .distantFuture ? .distantFuture : .init(uptimeNanoseconds: uptimeNanoseconds)
  }

  /// Nanoseconds of virtual time until then; nil for never.
  func left(_ run: Run) -> UInt64? {
    if self == .distantFuture { return nil }
    let now = run.readClock()
    // Looking at the clock takes virtual time, too.
    return uptimeNanoseconds > now ? JobHooks.rounded(uptimeNanoseconds - now) : 0
  }
}

extension DispatchWallTime {
  /// As long from now, in the time of explored programs; the calendar is the machine's.
  var fromNow: DispatchTime {
    if self == .distantFuture { return .distantFuture }
    // Nanoseconds since 1970, counted downward.
    let left = Int64(bitPattern: DispatchWallTime.now().rawValue &- rawValue)
    return .now() + .nanoseconds(Int(JobHooks.rounded(UInt64(max(0, left)))))
  }
}

extension DispatchTimeInterval {
  /// Nil for never.
  var nanoseconds: Int64? {
    func times(_ count: Int, _ unit: Int64) -> Int64 {
      let (product, overflows) = Int64(count).multipliedReportingOverflow(by: unit)
      return overflows ? (count < 0 ? .min + 1 : .max) : product
    }
    return switch self {
    case .seconds(let count): times(count, 1_000_000_000)
    case .milliseconds(let count): times(count, 1_000_000)
    case .microseconds(let count): times(count, 1_000)
    case .nanoseconds(let count): Int64(count)
    case .never: nil
    @unknown default: nil
    }
  }
}
