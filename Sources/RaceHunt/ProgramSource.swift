// What the sources of DispatchSource.swift are: in an exploration events that the schedule orders,
// outside of one a source of Dispatch's.
internal import CRaceHunt
internal import Dispatch

/// What all of them have.
///
/// As Dispatch's do, it tells of events in its queue, of several at once when the queue is late,
/// and of none once nobody has the source any more.
class ProgramSource<Real>: DispatchSource, @unchecked Sendable {
  // @unchecked: what an exploration changes is touched only by the holder of the baton; the rest is
  // Dispatch's.

  /// Dispatch's source; nil in an exploration, where nothing may be left inactive.
  let real: Real?
  private let queue: DispatchQueue
  private var event: (() -> Void)?
  private var cancellation: (() -> Void)?
  private var registration: (() -> Void)?
  private var suspensions = 1
  private var hasBegun = false
  private var isToEnd = false
  /// What the next event tells; nil for none.
  private var merged: UInt?
  /// What the current event tells.
  private var told: UInt = 0
  private var isSubmitted = false
  /// Handlers that are due behind the one that is called.
  private var waiting: [() -> Void] = []
  private var isCalling = false

  /// One that is Dispatch's in an exploration, too.
  init(real: Real) {
    queue = .global()
    self.real = real
    super.init()
  }

  init(_ queue: DispatchQueue?, _ make: (Dispatch.DispatchQueue?) -> Real) {
    self.queue = queue ?? .global()
    real = Run.current == nil ? make(queue?.real) : nil
    super.init()
    _ = Run.home(Run.address(self))
  }

  deinit {
    if real == nil, suspensions > 0, let (run, strand) = Run.current {
      run.noteRelease(strand, resource(run).name, hasBegun ? "suspended" : "not active")
    }
    Run.forget(Run.address(self))
  }

  fileprivate var common: (any Dispatch.DispatchSourceProtocol)? {
    real as? any Dispatch.DispatchSourceProtocol
  }

  fileprivate var kind: Resource.Kind { .event }

  private func resource(_ run: Run) -> Resource {
    run.resource(Run.address(self), kind, name: nil)
  }

  fileprivate func step(_ run: Run, _ strand: Strand, _ kind: EventKind, _ call: UInt) {
    run.step(strand, kind, on: resource(run), at: Place(call: call))
  }

  /// Whether it tells of events.
  fileprivate var isActive: Bool { suspensions <= 0 && !isToEnd }

  // MARK: - Events

  /// An event has come.
  fileprivate func merge(_ run: Run, _ merge: (UInt) -> UInt) {
    if isToEnd { return }
    // Of nothing nothing is told.
    let value = merge(merged ?? 0)
    merged = value == 0 ? nil : value
    deliver(run)
  }

  /// The next event is told from now on.
  fileprivate func noteDelivery(_ run: Run) {}

  private func deliver(_ run: Run) {
    guard isActive, merged != nil, !isSubmitted, event != nil else { return }
    isSubmitted = true
    submit(run) { [self] in
      isSubmitted = false
      // Else a timer of a program that waits for good would go on for good.
      run.countPoint()
      guard isActive, let event, let value = merged else { return }
      merged = nil
      told = value
      noteDelivery(run)
      event()
      deliver(run)
    }
  }

  /// Has a handler called: one at a time, in the order in which they are due, also where the queue
  /// does several things at once.
  private func submit(_ run: Run, _ handler: @escaping () -> Void) {
    waiting.append(handler)
    if !isCalling { callNext(run) }
  }

  private func callNext(_ run: Run) {
    isCalling = !waiting.isEmpty
    if waiting.isEmpty { return }
    let handler = waiting.removeFirst()
    queue.submit(run, []) { [self] in
      handler()
      callNext(run)
    }
  }

  /// Has the cancel handler called, once: not while it is suspended.
  private func tellOfCancellation(_ run: Run) {
    guard isToEnd, suspensions <= 0, let cancellation else { return }
    self.cancellation = nil
    submit(run) { cancellation() }
  }

  var data: UInt { real == nil ? told : UInt(common?.data ?? 0) }
  var handle: UInt { common.map { UInt($0.handle) } ?? 0 }
  var mask: UInt { common.map { UInt($0.mask) } ?? 0 }

  // MARK: - Handlers

  func setHandler(
    _ occasion: DispatchSourceOccasion, _ qos: DispatchQoS, _ flags: DispatchWorkItemFlags,
    _ handler: (() -> Void)?
  ) {
    switch occasion {
    case .event:
      if let common { return common.setEventHandler(qos: qos, flags: flags, handler: handler) }
      event = handler
      if let (run, _) = Run.current { deliver(run) }
    case .cancellation:
      if let common { return common.setCancelHandler(qos: qos, flags: flags, handler: handler) }
      cancellation = handler
    case .registration:
      if let common {
        return common.setRegistrationHandler(qos: qos, flags: flags, handler: handler)
      }
      registration = handler
    }
  }

  // MARK: - Beginning and ending

  var isCancelled: Bool {
    if let common { return common.isCancelled }
    if let (run, strand) = Run.current { step(run, strand, .loads, race_hunt_caller()) }
    return isToEnd
  }

  func cancel() {
    if let common { return common.cancel() }
    guard let (run, strand) = Run.current else { return }
    step(run, strand, .cancels, race_hunt_caller())
    if isToEnd { return }
    isToEnd = true
    (merged, event) = (nil, nil)
    tellOfCancellation(run)
  }

  override func suspend() {
    if let common { return common.suspend() }
    guard let (run, strand) = Run.current else { return }
    step(run, strand, .suspends, race_hunt_caller())
    suspensions += 1
  }

  override func resume() {
    if let common { return common.resume() }
    guard let (run, strand) = Run.current else { return }
    let call = race_hunt_caller()
    step(run, strand, .resumes, call)
    if suspensions == 0 {
      return run.violate(
        .check, "\(resource(run).name) is resumed and was not suspended", at: Place(call: call))
    }
    goOn(run)
  }

  override func activate() {
    if let common { return common.activate() }
    guard let (run, strand) = Run.current else { return }
    step(run, strand, .resumes, race_hunt_caller())
    if !hasBegun { goOn(run) }
  }

  private func goOn(_ run: Run) {
    suspensions -= 1
    if suspensions > 0 { return }
    if !hasBegun {
      hasBegun = true
      if let registration { submit(run) { registration() } }
    }
    tellOfCancellation(run)
    noteActive(run)
    deliver(run)
  }

  /// It tells of events from now on.
  fileprivate func noteActive(_ run: Run) {}
}

/// A timer, in virtual time.
final class TimerSource: ProgramSource<any Dispatch.DispatchSourceTimer>, DispatchSourceTimer,
  // As its superclass.
  @unchecked Sendable
{
  /// The next time, in virtual nanoseconds; nil for none.
  private var next: UInt64?
  private var interval: UInt64?
  /// How often it was set: earlier times come to nothing.
  private var settings = 0
  private var isSet = false

  override fileprivate var kind: Resource.Kind { .timer }

  func setTime(
    _ deadline: DispatchTime, repeating interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval, call: UInt
  ) {
    if let real {
      return real.schedule(deadline: deadline.real, repeating: interval, leeway: leeway)
    }
    guard let (run, strand) = Run.current else { return }
    step(run, strand, .changes, call)
    set(run, deadline, interval)
  }

  func setTime(
    _ deadline: DispatchWallTime, repeating interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval, call: UInt
  ) {
    if let real {
      return real.schedule(wallDeadline: deadline, repeating: interval, leeway: leeway)
    }
    guard let (run, strand) = Run.current else { return }
    step(run, strand, .changes, call)
    set(run, deadline.fromNow, interval)
  }

  private func set(_ run: Run, _ deadline: DispatchTime, _ interval: DispatchTimeInterval) {
    let left = deadline.left(run)
    next = left.map { run.now &+ $0 }
    // Not below a microsecond: the time would not pass.
    self.interval = interval.nanoseconds.map { UInt64(Swift.max($0, 1_000)) }
    settings += 1
    isSet = false
    noteActive(run)
  }

  override fileprivate func noteActive(_ run: Run) {
    guard isActive, !isSet, let next else { return }
    isSet = true
    let setting = settings
    run.after(next > run.now ? next - run.now : 0) { [weak self] in
      guard let self, setting == self.settings else { return }
      self.isSet = false
      self.next = nil
      // Those that come until it is told are told with it.
      if let interval = self.interval { self.next = next &+ interval }
      self.merge(run) { $0 + 1 }
    }
  }

  override fileprivate func noteDelivery(_ run: Run) {
    if let interval, var next {
      while next <= run.now { next &+= interval }
      self.next = next
    }
    noteActive(run)
  }
}

/// What is added.
final class AddSource: ProgramSource<any Dispatch.DispatchSourceUserDataAdd>,
  DispatchSourceUserDataAdd,
  // As its superclass.
  @unchecked Sendable
{
  func add(data: UInt) {
    if let real { return real.add(data: data) }
    guard let (run, strand) = Run.current else { return }
    step(run, strand, .adds, race_hunt_caller())
    merge(run) { $0 &+ data }
  }
}

/// Bits that are set.
final class OrSource: ProgramSource<any Dispatch.DispatchSourceUserDataOr>,
  DispatchSourceUserDataOr,
  // As its superclass.
  @unchecked Sendable
{
  func or(data: UInt) {
    if let real { return real.or(data: data) }
    guard let (run, strand) = Run.current else { return }
    step(run, strand, .changes, race_hunt_caller())
    merge(run) { $0 | data }
  }
}

/// The latest number.
final class ReplaceSource: ProgramSource<any Dispatch.DispatchSourceUserDataReplace>,
  DispatchSourceUserDataReplace,
  // As its superclass.
  @unchecked Sendable
{
  func replace(data: UInt) {
    if let real { return real.replace(data: data) }
    guard let (run, strand) = Run.current else { return }
    step(run, strand, .stores, race_hunt_caller())
    merge(run) { _ in data }
  }
}

// MARK: - Dispatch's own

/// Of a file that can be read.
final class ReadSource: ProgramSource<any Dispatch.DispatchSourceRead>, DispatchSourceRead,
  // As its superclass.
  @unchecked Sendable
{}

/// Of a file that can be written to.
final class WriteSource: ProgramSource<any Dispatch.DispatchSourceWrite>, DispatchSourceWrite,
  // As its superclass.
  @unchecked Sendable
{}

/// Of signals.
final class SignalSource: ProgramSource<any Dispatch.DispatchSourceSignal>,
  DispatchSourceSignal,
  // As its superclass.
  @unchecked Sendable
{}
