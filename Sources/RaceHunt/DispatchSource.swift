// Dispatch's sources of events for explored programs: timers, and data that is merged. Outside of
// an exploration they are Dispatch's; the other sources are so everywhere.
internal import CRaceHunt
public import Dispatch

/// What tells of events: `Dispatch.DispatchSourceProtocol`, by its names.
public protocol DispatchSourceProtocol: AnyObject, Sendable {
  /// Sets what the source's queue does then.
  func setHandler(
    _ occasion: DispatchSourceOccasion, _ qos: DispatchQoS, _ flags: DispatchWorkItemFlags,
    _ handler: (() -> Void)?)
  /// Tells of no further events.
  func cancel()
  /// Begins, or goes on after `suspend`.
  func resume()
  /// Tells of no events until `resume`.
  func suspend()
  /// Begins.
  func activate()
  /// Whether it was cancelled.
  var isCancelled: Bool { get }
  /// What has come since the last event: of timers how often, of data what was merged.
  var data: UInt { get }
  /// What it was made for; of timers and merged data 0.
  var handle: UInt { get }
  /// Which events it tells of; of timers and merged data none.
  var mask: UInt { get }
}

/// When a source does something.
public enum DispatchSourceOccasion: Sendable {
  case event
  /// It was cancelled.
  case cancellation
  /// It is active.
  case registration
}

extension DispatchSourceProtocol {
  /// Sets what the source's queue does at an event.
  public func setEventHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: (() -> Void)?
  ) { setHandler(.event, qos, flags, handler) }

  /// Sets what the source's queue does at an event.
  public func setEventHandler(handler: DispatchWorkItem) {
    setEventHandler { handler.perform() }
  }

  /// Sets what the source's queue does once it is cancelled.
  public func setCancelHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: (() -> Void)?
  ) { setHandler(.cancellation, qos, flags, handler) }

  /// Sets what the source's queue does once it is cancelled.
  public func setCancelHandler(handler: DispatchWorkItem) {
    setCancelHandler { handler.perform() }
  }

  /// Sets what the source's queue does once it is active.
  public func setRegistrationHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: (() -> Void)?
  ) { setHandler(.registration, qos, flags, handler) }

  /// Sets what the source's queue does once it is active.
  public func setRegistrationHandler(handler: DispatchWorkItem) {
    setRegistrationHandler { handler.perform() }
  }
}

/// What tells that a time has come: `Dispatch.DispatchSourceTimer`, by its names.
public protocol DispatchSourceTimer: DispatchSourceProtocol {
  /// Sets the time; `interval` is that between further ones, `call` where the call comes back to.
  func setTime(
    _ deadline: DispatchTime, repeating interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval, call: UInt)
  /// As for a time of the machine's clock.
  func setTime(
    _ deadline: DispatchWallTime, repeating interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval, call: UInt)
}

extension DispatchSourceTimer {
  /// Sets the time; without an interval it comes once.
  public func schedule(
    deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) { setTime(deadline, repeating: interval, leeway: leeway, call: race_hunt_caller()) }

  /// Sets the time, and so many seconds between further ones.
  public func schedule(
    deadline: DispatchTime, repeating interval: Double,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    setTime(
      deadline, repeating: DispatchTimeInterval(interval), leeway: leeway,
      call: race_hunt_caller())
  }

  /// Sets a time of the calendar; without an interval it comes once.
  public func schedule(
    wallDeadline: DispatchWallTime, repeating interval: DispatchTimeInterval = .never,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) { setTime(wallDeadline, repeating: interval, leeway: leeway, call: race_hunt_caller()) }

  /// Sets a time of the calendar, and so many seconds between further ones.
  public func schedule(
    wallDeadline: DispatchWallTime, repeating interval: Double,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    setTime(
      wallDeadline, repeating: DispatchTimeInterval(interval), leeway: leeway,
      call: race_hunt_caller())
  }
}

// Older names, which sources from before Swift 4 still have.
extension DispatchSourceTimer {
  /// Sets the time; it comes once.
  public func scheduleOneshot(
    deadline: DispatchTime, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) { setTime(deadline, repeating: .never, leeway: leeway, call: race_hunt_caller()) }

  /// Sets a time of the calendar; it comes once.
  public func scheduleOneshot(
    wallDeadline: DispatchWallTime, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) { setTime(wallDeadline, repeating: .never, leeway: leeway, call: race_hunt_caller()) }

  /// Sets the time, and that between further ones.
  public func scheduleRepeating(
    deadline: DispatchTime, interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) { setTime(deadline, repeating: interval, leeway: leeway, call: race_hunt_caller()) }

  /// Sets the time, and so many seconds between further ones.
  public func scheduleRepeating(
    deadline: DispatchTime, interval: Double, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    setTime(
      deadline, repeating: DispatchTimeInterval(interval), leeway: leeway,
      call: race_hunt_caller())
  }

  /// Sets a time of the calendar, and that between further ones.
  public func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) { setTime(wallDeadline, repeating: interval, leeway: leeway, call: race_hunt_caller()) }

  /// Sets a time of the calendar, and so many seconds between further ones.
  public func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: Double,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    setTime(
      wallDeadline, repeating: DispatchTimeInterval(interval), leeway: leeway,
      call: race_hunt_caller())
  }
}

extension DispatchTimeInterval {
  fileprivate init(_ seconds: Double) {
    self =
      seconds.isFinite && seconds < 4e9 ? .nanoseconds(Int(Swift.max(0, seconds) * 1e9)) : .never
  }
}

/// What tells that numbers have come: `Dispatch.DispatchSourceUserDataAdd`, by its names.
public protocol DispatchSourceUserDataAdd: DispatchSourceProtocol {
  /// Adds to what the next event tells.
  func add(data: UInt)
}

/// What tells that bits have come: `Dispatch.DispatchSourceUserDataOr`, by its names.
public protocol DispatchSourceUserDataOr: DispatchSourceProtocol {
  /// Sets bits of what the next event tells.
  func or(data: UInt)
}

/// What tells the latest number: `Dispatch.DispatchSourceUserDataReplace`, by its names.
public protocol DispatchSourceUserDataReplace: DispatchSourceProtocol {
  /// Sets what the next event tells.
  func replace(data: UInt)
}

/// What tells that a file can be read: `Dispatch.DispatchSourceRead`, by its names.
public protocol DispatchSourceRead: DispatchSourceProtocol {}

/// What tells that a file can be written to: `Dispatch.DispatchSourceWrite`, by its names.
public protocol DispatchSourceWrite: DispatchSourceProtocol {}

/// What tells of signals: `Dispatch.DispatchSourceSignal`, by its names.
public protocol DispatchSourceSignal: DispatchSourceProtocol {}

/// Makes sources of events: `Dispatch.DispatchSource`, by its names.
public class DispatchSource: DispatchObject, @unchecked Sendable {
  // @unchecked: as its superclass; it has nothing itself.

  override init() {}

  /// As Dispatch has them.
  public typealias TimerFlags = Dispatch.DispatchSource.TimerFlags
  /// As Dispatch has them.
  public typealias FileSystemEvent = Dispatch.DispatchSource.FileSystemEvent

  /// A timer, which does nothing until it is scheduled and resumed.
  public static func makeTimerSource(
    flags: TimerFlags = [], queue: DispatchQueue? = nil
  ) -> any DispatchSourceTimer {
    TimerSource(queue) { Dispatch.DispatchSource.makeTimerSource(flags: flags, queue: $0) }
  }

  /// What tells the sum of what was added.
  public static func makeUserDataAddSource(
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceUserDataAdd {
    AddSource(queue) { Dispatch.DispatchSource.makeUserDataAddSource(queue: $0) }
  }

  /// What tells which bits were set.
  public static func makeUserDataOrSource(
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceUserDataOr {
    OrSource(queue) { Dispatch.DispatchSource.makeUserDataOrSource(queue: $0) }
  }

  /// What tells the latest number.
  public static func makeUserDataReplaceSource(
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceUserDataReplace {
    ReplaceSource(queue) { Dispatch.DispatchSource.makeUserDataReplaceSource(queue: $0) }
  }

  // MARK: - Dispatch's own

  /// A source of Dispatch's; not under control.
  public static func makeReadSource(
    fileDescriptor: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceRead {
    ReadSource(
      real: Dispatch.DispatchSource.makeReadSource(
        fileDescriptor: fileDescriptor, queue: queue?.real))
  }

  /// A source of Dispatch's; not under control.
  public static func makeWriteSource(
    fileDescriptor: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceWrite {
    WriteSource(
      real: Dispatch.DispatchSource.makeWriteSource(
        fileDescriptor: fileDescriptor, queue: queue?.real))
  }

  /// A source of Dispatch's; not under control.
  public static func makeSignalSource(
    signal: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceSignal {
    SignalSource(
      real: Dispatch.DispatchSource.makeSignalSource(signal: signal, queue: queue?.real))
  }
}
