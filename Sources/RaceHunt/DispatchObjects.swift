// Dispatch's semaphores, groups and work items for explored programs. Outside of an exploration
// they are Dispatch's.
internal import CRaceHunt
public import Dispatch

/// A count to wait for: `Dispatch.DispatchSemaphore`, by its names.
public final class DispatchSemaphore: DispatchObject, @unchecked Sendable {
  // @unchecked: as its superclass.
  private let real: Dispatch.DispatchSemaphore
  private let value: Int
  // Unsafe: set while the object is made, when nobody else has it.
  nonisolated(unsafe) private var home: UInt64 = 0

  /// Makes a semaphore that lets so many pass.
  public init(value: Int) {
    precondition(value >= 0, "a semaphore begins with 0 or more, not \(value)")
    self.value = value
    real = Dispatch.DispatchSemaphore(value: value)
    super.init()
    home = Run.home(Run.address(self))
  }

  deinit {
    if let (run, strand) = Run.current,
      let state = run.parts[Run.address(self)] as? SemaphoreState, state.value < value
    {
      run.noteRelease(
        strand, state.resource.name, "at \(state.value), below the \(value) that it began with,")
    }
    Run.forget(Run.address(self))
  }

  private func state(_ run: Run) -> SemaphoreState {
    run.part(self) {
      SemaphoreState(
        run.resource(Run.address(self), .semaphore, name: nil), value, servesWaiters: true)
    }
  }

  /// Waits until the count is above 0, and takes one.
  public func wait() { _ = wait(until: .distantFuture, Place(call: race_hunt_caller())) }

  /// As `wait()`, until that time of the calendar.
  @discardableResult
  public func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult {
    guard Run.current != nil else {
      noteOutsider()
      return real.wait(wallTimeout: wallTimeout)
    }
    return wait(until: wallTimeout.fromNow, Place(call: race_hunt_caller()))
  }

  /// As `wait()`, until that time.
  @discardableResult
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
    wait(until: timeout, Place(call: race_hunt_caller()))
  }

  fileprivate func wait(until timeout: DispatchTime, _ place: Place) -> DispatchTimeoutResult {
    guard let (run, strand) = Run.current else {
      noteOutsider()
      return real.wait(timeout: timeout.real)
    }
    let isTaken = state(run).take(run, strand, in: timeout.left(run), at: place)
    return isTaken ? .success : .timedOut
  }

  /// Adds one to the count; 0 when nobody waits.
  @discardableResult
  public func signal() -> Int {
    guard let (run, strand) = Run.current else {
      noteOutsider()
      return real.signal()
    }
    let place = Place(call: race_hunt_caller())
    return state(run).give(run, strand, at: place) > 0 ? 1 : 0
  }

  private func noteOutsider() {
    if home != 0 { ActiveRuns.noteOutsider(home, "another thread uses a DispatchSemaphore") }
  }
}

/// Work to wait for the end of: `Dispatch.DispatchGroup`, by its names.
public final class DispatchGroup: DispatchObject, @unchecked Sendable {
  // @unchecked: as its superclass.
  private let real = Dispatch.DispatchGroup()
  // Unsafe: set while the object is made, when nobody else has it.
  nonisolated(unsafe) private var home: UInt64 = 0

  /// Makes a group without work.
  public override init() {
    super.init()
    home = Run.home(Run.address(self))
  }

  deinit { Run.forget(Run.address(self)) }

  private final class State {
    let resource: Resource
    var count = 0
    /// How often it has come to 0: who waited then goes on, whatever is entered meanwhile.
    var rounds = 0
    var notifications: [() -> Void] = []
    init(_ resource: Resource) { self.resource = resource }
  }

  private func state(_ run: Run) -> State {
    run.part(self) { State(run.resource(Run.address(self), .group, name: nil)) }
  }

  private func noteOutsider() {
    if home != 0 { ActiveRuns.noteOutsider(home, "another thread uses a DispatchGroup") }
  }

  /// Some work begins.
  public func enter() { enter(Place(call: race_hunt_caller())) }

  func enter(_ place: Place) {
    guard let (run, strand) = Run.current else {
      noteOutsider()
      return real.enter()
    }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    state.count += 1
    run.record(strand, .enters, state.resource.number, value: state.count, at: place)
  }

  /// Some work has ended.
  public func leave() { leave(Place(call: race_hunt_caller())) }

  func leave(_ place: Place) {
    guard let (run, strand) = Run.current else {
      noteOutsider()
      return real.leave()
    }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    if state.count == 0 {
      return run.violate(
        .check, "\(strand.name) leaves \(state.resource.name) more often than it was entered",
        at: place)
    }
    state.count -= 1
    run.record(strand, .leaves, state.resource.number, value: state.count, at: place)
    if state.count == 0 { end(state, run) }
  }

  private func end(_ state: State, _ run: Run) {
    state.rounds += 1
    run.wakeAll(state.resource)
    let notifications = state.notifications
    state.notifications = []
    for notification in notifications { notification() }
  }

  /// Waits for the end of all of its work.
  public func wait() { _ = wait(until: .distantFuture, Place(call: race_hunt_caller())) }

  /// As `wait()`, until that time of the calendar.
  @discardableResult
  public func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult {
    guard Run.current != nil else {
      noteOutsider()
      return real.wait(wallTimeout: wallTimeout)
    }
    return wait(until: wallTimeout.fromNow, Place(call: race_hunt_caller()))
  }

  /// As `wait()`, until that time.
  @discardableResult
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
    wait(until: timeout, Place(call: race_hunt_caller()))
  }

  fileprivate func wait(until timeout: DispatchTime, _ place: Place) -> DispatchTimeoutResult {
    guard let (run, strand) = Run.current else {
      noteOutsider()
      return real.wait(timeout: timeout.real)
    }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    let deadline = timeout.left(run).map { run.now &+ $0 }
    if deadline != nil { run.readsTime(strand) }
    run.record(strand, .waits, state.resource.number, at: place)
    let round = state.rounds
    let isInTime = run.wait(strand, inLineFor: state.resource, until: deadline) {
      state.count > 0 && state.rounds == round
    }
    run.record(strand, isInTime ? .wakesUp : .timesOut, state.resource.number, at: place)
    return isInTime ? .success : .timedOut
  }

  /// Has a queue do the work at the end of the group's.
  public func notify(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
    execute work: @escaping () -> Void
  ) {
    let work = Unchecked(work)
    guard let (run, _) = Run.current else {
      noteOutsider()
      return real.notify(queue: .global()) {
        queue.async(qos: qos, flags: flags) { work.value() }
      }
    }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    state.notifications.append {
      queue.submit(run, flags) { work.value() }
    }
    if state.count == 0 { end(state, run) }
  }

  /// Has a queue do the work at the end of the group's.
  public func notify(queue: DispatchQueue, work: DispatchWorkItem) {
    let call = race_hunt_caller()
    notify(flags: work.flags, queue: queue) { work.perform(call) }
  }
}

/// Work that can be waited for and cancelled: `Dispatch.DispatchWorkItem`, by its names.
public final class DispatchWorkItem: @unchecked Sendable {
  // @unchecked: the block is run as Dispatch would run it; what an exploration counts is touched
  // only by the holder of the baton; the rest has locks.
  private let block: () -> Void
  private let end = DispatchGroup()
  private let isToEnd = Atomic(false, name: "is cancelled")
  private let hasEnded = Atomic(false, name: "has ended")
  /// How often it was performed, in an exploration.
  private var performances = 0
  /// Whether somebody waits for its end, or has waited until it came.
  private var isWaitedFor = false
  /// Whether somebody has waited until its end came.
  private var wasWaitedFor = false
  let flags: DispatchWorkItemFlags

  /// Makes work that runs when it is performed or a queue is given it.
  public init(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    block: @escaping () -> Void
  ) {
    self.block = block
    self.flags = flags
    // Who makes it is no call of this module's that has a line.
    end.enter(Place(call: 0))
  }

  deinit { finish(0) }

  private func finish(_ call: UInt) {
    if hasEnded.exchange(true, file: Place.callFile, line: call) { return }
    end.leave(Place(call: call))
  }

  /// Does the work now, unless it is cancelled.
  public func perform() { perform(race_hunt_caller()) }

  func perform(_ call: UInt) {
    if wasWaitedFor { noteMisuse("performs a DispatchWorkItem again that was waited for", call) }
    if !isToEnd.load(file: Place.callFile, line: call) { block() }
    if Run.current != nil { performances += 1 }
    finish(call)
  }

  /// Who waits for one or wants to be told of its end cannot mean several.
  private func noteMisuse(_ deed: String, _ call: UInt) {
    guard let (run, strand) = Run.current else { return }
    run.violate(
      .check, "\(strand.name) \(deed), at which Dispatch ends the process", at: Place(call: call))
  }

  /// Waits for its end, once: Dispatch lets nobody wait again, nor while another one waits.
  private func wait(
    _ call: UInt, _ wait: (Place) -> DispatchTimeoutResult
  ) -> DispatchTimeoutResult {
    let place = Place(call: call)
    if Run.current == nil { return wait(place) }
    if isWaitedFor { noteMisuse("waits for a DispatchWorkItem that was waited for already", call) }
    noteSeveral("waits for", call)
    isWaitedFor = true
    let result = wait(place)
    isWaitedFor = result == .success
    wasWaitedFor = isWaitedFor
    return result
  }

  private func noteSeveral(_ deed: String, _ call: UInt) {
    if performances > 1 {
      noteMisuse("\(deed) a DispatchWorkItem that was performed \(performances) times", call)
    }
  }

  /// Waits for its end.
  public func wait() { _ = wait(race_hunt_caller()) { end.wait(until: .distantFuture, $0) } }

  /// Waits for its end, until that time.
  @discardableResult
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
    wait(race_hunt_caller()) { end.wait(until: timeout, $0) }
  }

  /// Waits for its end, until that time of the calendar.
  @discardableResult
  public func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult {
    wait(race_hunt_caller()) {
      Run.current == nil
        ? end.wait(wallTimeout: wallTimeout) : end.wait(until: wallTimeout.fromNow, $0)
    }
  }

  /// Has a queue do something at its end.
  public func notify(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
    execute: @escaping () -> Void
  ) {
    noteSeveral("asks for the end of", race_hunt_caller())
    end.notify(qos: qos, flags: flags, queue: queue, execute: execute)
  }

  /// Has a queue do other work at its end.
  public func notify(queue: DispatchQueue, execute: DispatchWorkItem) {
    noteSeveral("asks for the end of", race_hunt_caller())
    end.notify(queue: queue, work: execute)
  }

  /// Has it not begin; work that has begun has to look.
  public func cancel() { isToEnd.store(true, file: Place.callFile, line: race_hunt_caller()) }

  /// Whether it was cancelled.
  public var isCancelled: Bool {
    isToEnd.load(file: Place.callFile, line: race_hunt_caller())
  }
}
