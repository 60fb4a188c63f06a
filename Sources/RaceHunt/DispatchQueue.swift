// Dispatch's queues for explored programs. Outside of an exploration they are Dispatch's.
internal import CRaceHunt
public import Dispatch
internal import Synchronization

/// A queue of work: `Dispatch.DispatchQueue`, by its names.
///
/// In an explored program a serial queue has one column in the schedule, a concurrent one as many
/// as run at once. Qualities of service change nothing there, and later work is in virtual time.
public final class DispatchQueue: DispatchObject, @unchecked Sendable {
  // @unchecked: `target` is set before the queue is used by others, as Dispatch asks for.

  /// Serial, concurrent, or not yet active.
  public typealias Attributes = Dispatch.DispatchQueue.Attributes
  /// When objects are freed; of no meaning here.
  public typealias AutoreleaseFrequency = Dispatch.DispatchQueue.AutoreleaseFrequency

  /// What does the work outside of explorations; by it modules of this package that know only
  /// Dispatch's queues find this one in a run (`Control.async`).
  package let real: Dispatch.DispatchQueue
  private let isConcurrent: Bool
  private let isInactive: Bool
  private let isGlobal: Bool
  /// Behind a lock, as explorations that run at the same time have the main queue together.
  private let specifics = Synchronization.Mutex<[ObjectIdentifier: Unchecked<Any>]>([:])
  /// On which queue its work runs, too; nil where that makes no difference.
  private var target: DispatchQueue?

  /// The queue's name, also in tables of schedules.
  public let label: String
  /// The same in sentences.
  private var shownName: String { label.isEmpty ? "a queue without a label" : label }

  /// Makes a queue: serial, if the attributes do not say `.concurrent`.
  public init(
    label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
    autoreleaseFrequency: AutoreleaseFrequency = .inherit, target: DispatchQueue? = nil
  ) {
    self.label = label
    isConcurrent = attributes.contains(.concurrent)
    isInactive = attributes.contains(.initiallyInactive)
    isGlobal = false
    // In an explored program nobody activates the real one, and Dispatch stops at the end of one
    // that is inactive.
    real = Dispatch.DispatchQueue(
      label: label, qos: qos,
      attributes: Run.current == nil ? attributes : attributes.subtracting(.initiallyInactive),
      autoreleaseFrequency: autoreleaseFrequency, target: target?.real)
    self.target = target?.isGlobal == false ? target : nil
    super.init()
    _ = Run.home(Run.address(self))
    if let (run, _) = Run.current { run.parts[Run.address(real)] = QueueReference(self) }
  }

  private init(_ real: Dispatch.DispatchQueue, label: String, isConcurrent: Bool) {
    self.real = real
    self.label = label
    self.isConcurrent = isConcurrent
    isGlobal = isConcurrent
    isInactive = false
    super.init()
  }

  deinit {
    if let (run, strand) = Run.current {
      let state = run.parts[Run.address(self)] as? QueueState
      if state.map({ $0.suspensions > 0 }) ?? isInactive {
        run.noteRelease(strand, shownName, "still suspended or inactive")
      }
    }
    Run.current?.run.parts[Run.address(real)] = nil
    Run.forget(Run.address(self))
  }

  /// The main thread's queue.
  public static let main = DispatchQueue(.main, label: "main queue", isConcurrent: false)
  private static let shared = DispatchQueue(
    .global(), label: "global queue", isConcurrent: true)

  /// The queue that all share.
  public static func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue {
    Run.current != nil || qos == .default
      ? shared : DispatchQueue(.global(qos: qos), label: "global queue", isConcurrent: true)
  }

  /// As Dispatch has them.
  public typealias GlobalQueuePriority = Dispatch.DispatchQueue.GlobalQueuePriority

  /// The queue that all share.
  public static func global(priority: GlobalQueuePriority) -> DispatchQueue {
    Run.current != nil
      ? shared
      : DispatchQueue(.global(priority: priority), label: "global queue", isConcurrent: true)
  }

  /// How much its work matters, outside of explorations.
  public var qos: DispatchQoS { real.qos }

  private func state(_ run: Run) -> QueueState {
    run.part(self) {
      let resource = run.resource(Run.address(self), .queue, name: label.isEmpty ? nil : label)
      let state = QueueState(resource, isConcurrent: isConcurrent, isSuspended: isInactive)
      state.target = target?.state(run)
      if self === Self.main { run.shareMain(with: state) }
      return state
    }
  }

  private func isBarrier(_ flags: DispatchWorkItemFlags) -> Bool {
    !isConcurrent || flags.contains(.barrier) && !isGlobal
  }

  // MARK: - Work

  /// Has the queue do the work.
  @preconcurrency
  public func async(
    group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [], execute work: @escaping @Sendable () -> Void
  ) {
    add(group, qos, flags, Place(call: race_hunt_caller()), work)
  }

  private func add(
    _ group: DispatchGroup?, _ qos: DispatchQoS, _ flags: DispatchWorkItemFlags, _ place: Place,
    _ work: @escaping @Sendable () -> Void
  ) {
    group?.enter(place)
    guard let (run, strand) = Run.current else {
      return real.async(qos: qos, flags: flags) {
        work()
        group?.leave()
      }
    }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    run.record(strand, .submits, state.resource.number, at: place)
    submit(run, isBarrier: isBarrier(flags)) {
      work()
      group?.leave(place)
    }
    run.pointBehindStart()
  }

  /// Has the queue do the work.
  public func async(execute workItem: DispatchWorkItem) {
    let place = Place(call: race_hunt_caller())
    add(nil, .unspecified, workItem.flags, place) { workItem.perform(place.number) }
  }

  /// Has the queue do the work, as a part of the group's.
  public func async(group: DispatchGroup, execute workItem: DispatchWorkItem) {
    let place = Place(call: race_hunt_caller())
    add(group, .unspecified, workItem.flags, place) { workItem.perform(place.number) }
  }

  /// Has the queue do the work, but not before that time.
  @preconcurrency
  public func asyncAfter(
    deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable () -> Void
  ) {
    add(deadline, qos, flags, Place(call: race_hunt_caller()), work)
  }

  private func add(
    _ deadline: DispatchTime, _ qos: DispatchQoS, _ flags: DispatchWorkItemFlags, _ place: Place,
    _ work: @escaping @Sendable () -> Void
  ) {
    guard let (run, strand) = Run.current else {
      return real.asyncAfter(deadline: deadline.real, qos: qos, flags: flags, execute: work)
    }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    run.record(strand, .submits, state.resource.number, at: place)
    let isBarrier = isBarrier(flags)
    guard let left = deadline.left(run) else { return }
    run.after(left) { [self] in submit(run, isBarrier: isBarrier, work) }
  }

  /// Has the queue do the work, but not before that time.
  public func asyncAfter(deadline: DispatchTime, execute workItem: DispatchWorkItem) {
    let place = Place(call: race_hunt_caller())
    add(deadline, .unspecified, workItem.flags, place) { workItem.perform(place.number) }
  }

  /// Has the queue do the work, but not before that time of the calendar.
  @preconcurrency
  public func asyncAfter(
    wallDeadline: DispatchWallTime, qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [], execute work: @escaping @Sendable () -> Void
  ) {
    guard Run.current != nil else {
      return real.asyncAfter(wallDeadline: wallDeadline, qos: qos, flags: flags, execute: work)
    }
    add(wallDeadline.fromNow, qos, flags, Place(call: race_hunt_caller()), work)
  }

  /// Has the queue do the work, but not before that time of the calendar.
  public func asyncAfter(wallDeadline: DispatchWallTime, execute workItem: DispatchWorkItem) {
    let place = Place(call: race_hunt_caller())
    guard Run.current != nil else {
      return real.asyncAfter(wallDeadline: wallDeadline, flags: workItem.flags) {
        workItem.perform(place.number)
      }
    }
    add(wallDeadline.fromNow, .unspecified, workItem.flags, place) {
      workItem.perform(place.number)
    }
  }

  /// Does the work when it is its turn in the queue, and waits for its end.
  public func sync<Result>(
    flags: DispatchWorkItemFlags, execute work: () throws -> Result
  ) rethrows -> Result {
    try perform(flags, Place(call: race_hunt_caller()), work)
  }

  private func perform<Result>(
    _ flags: DispatchWorkItemFlags, _ place: Place, _ work: () throws -> Result
  ) rethrows -> Result {
    guard let (run, strand) = Run.current else { return try real.sync(flags: flags, execute: work) }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    run.record(strand, .waitsForTurn, state.resource.number, at: place)
    let isBarrier = isBarrier(flags)
    var hasTurn = false
    state.items.append(
      QueueState.Item(isBarrier: isBarrier) {
        hasTurn = true
        strand.state = .ready
      })
    state.pump()
    strand.state = .running
    while !hasTurn { run.block(strand, for: .turn(state.resource)) }
    run.record(strand, .entersQueue, state.resource.number, at: place)
    strand.queues.append(self)
    defer {
      strand.queues.removeLast()
      run.record(strand, .leavesQueue, state.resource.number, at: place)
      state.finish(isBarrier: isBarrier)
    }
    return try work()
  }

  /// Does the work when it is its turn in the queue, and waits for its end.
  public func sync<Result>(execute work: () throws -> Result) rethrows -> Result {
    try perform([], Place(call: race_hunt_caller()), work)
  }

  /// Does the work when it is its turn in the queue, and waits for its end.
  public func sync(execute workItem: DispatchWorkItem) {
    let place = Place(call: race_hunt_caller())
    perform(workItem.flags, place) { workItem.perform(place.number) }
  }

  /// As `sync`.
  public func asyncAndWait<Result>(
    flags: DispatchWorkItemFlags = [], execute work: () throws -> Result
  ) rethrows -> Result { try perform(flags, Place(call: race_hunt_caller()), work) }

  /// Calls `work` for each number, several at once, and waits for the end of all.
  @preconcurrency
  public static func concurrentPerform(
    iterations: Int, execute work: @Sendable (Int) -> Void
  ) {
    guard let (run, strand) = Run.current else {
      return Dispatch.DispatchQueue.concurrentPerform(iterations: iterations, execute: work)
    }
    let place = Place(call: race_hunt_caller())
    // More columns show no more.
    let count = Swift.max(Swift.min(iterations, 4), 0)
    // Each takes the next iteration that nobody has when it is done with one.
    let taken = IterationsTaken(count)
    withoutActuallyEscaping(work) { work in
      let strands = (0..<count).map { first in
        run.start(strand, name: "iterations \(first + 1)", at: place) {
          var number = first
          while number < iterations {
            work(number)
            number = taken.next(run)
          }
        }
      }
      for other in strands { run.join(strand, other, at: place) }
    }
  }

  /// For what the end of other work begins.
  func submit(_ run: Run, _ flags: DispatchWorkItemFlags, _ work: @escaping () -> Void) {
    submit(run, isBarrier: isBarrier(flags), work)
  }

  private func submit(_ run: Run, isBarrier: Bool, _ work: @escaping () -> Void) {
    let state = state(run)
    state.items.append(
      QueueState.Item(isBarrier: isBarrier) { [self] in
        let strand = state.columns.idle(run, of: state.resource)
        strand.queues = [self]
        run.restart(strand, work) {
          strand.queues = []
          state.finish(isBarrier: isBarrier)
        }
      })
    state.pump()
  }

  // MARK: - Holding

  /// Begins no further work until `resume`.
  public override func suspend() {
    guard let (run, strand) = Run.current else { return real.suspend() }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    run.record(strand, .suspends, state.resource.number, at: Place(call: race_hunt_caller()))
    state.suspensions += 1
  }

  /// Goes on after `suspend`.
  public override func resume() {
    guard let (run, strand) = Run.current else { return real.resume() }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    let place = Place(call: race_hunt_caller())
    run.record(strand, .resumes, state.resource.number, at: place)
    if state.suspensions == 0 {
      return run.violate(.check, "\(shownName) is resumed and was not suspended", at: place)
    }
    state.suspensions -= 1
    state.pump()
  }

  /// Begins the work of a queue that was made inactive.
  public override func activate() {
    guard let (run, strand) = Run.current else { return real.activate() }
    let state = state(run)
    run.point(.accesses(state.resource, writes: true))
    run.record(strand, .resumes, state.resource.number, at: Place(call: race_hunt_caller()))
    if isInactive && !state.isActivated { state.suspensions -= 1 }
    state.isActivated = true
    state.pump()
  }

  /// Has its work run on another queue, too; for a queue that is not active yet.
  public override func setTarget(queue: DispatchQueue?) {
    target = queue?.isGlobal == false ? queue : nil
    guard let (run, strand) = Run.current else {
      return real.setTarget(queue: queue?.real ?? .global())
    }
    let state = state(run)
    let place = Place(call: race_hunt_caller())
    if state.suspensions == 0 {
      return run.violate(
        .check, "\(strand.name) sets a target of \(state.resource.name), which is active",
        at: place)
    }
    state.target = target?.state(run)
  }

  // MARK: - Which queue it is

  /// Whether its work runs there.
  func runs(on other: DispatchQueue) -> Bool {
    self === other || target?.runs(on: other) == true
  }

  /// Keeps a value for those whose work runs in the queue.
  public func setSpecific<Value>(key: DispatchSpecificKey<Value>, value: Value?) {
    let (number, kept) = (ObjectIdentifier(key), value.map { Unchecked<Any>($0) })
    // What was kept goes outside of the lock.
    _ = specifics.withLock { values in
      let old = values[number]
      values[number] = kept
      return old
    }
    real.setSpecific(key: key, value: value)
  }

  /// What the queue keeps.
  public func getSpecific<Value>(key: DispatchSpecificKey<Value>) -> Value? {
    let number = ObjectIdentifier(key)
    return specifics.withLock { $0[number] }?.value as? Value
  }

  /// What the queue keeps whose work is running.
  public static func getSpecific<Value>(key: DispatchSpecificKey<Value>) -> Value? {
    guard let (_, strand) = Run.current else {
      return Dispatch.DispatchQueue.getSpecific(key: key)
    }
    var queue = strand.innermostQueue
    while let next = queue {
      if let value = next.getSpecific(key: key) { return value }
      queue = next.target
    }
    return nil
  }

  /// Whether work runs that belongs to a queue which one of Dispatch's keeps a value for.
  ///
  /// Nil outside of explorations.
  static func isOnQueue(with key: DispatchSpecificKey<Bool>) -> Bool? {
    guard let (_, strand) = Run.current else { return nil }
    var queue = strand.innermostQueue
    while let next = queue {
      if next.real.getSpecific(key: key) == true { return true }
      queue = next.target
    }
    return false
  }

  fileprivate func check(_ isExpected: Bool, isBarrier: Bool = false, _ place: Place) {
    guard let (run, strand) = Run.current else {
      return Dispatch.dispatchPrecondition(
        condition: isBarrier
          ? .onQueueAsBarrier(real) : isExpected ? .onQueue(real) : .notOnQueue(real))
    }
    let isHere = self === Self.main ? strand.isOnMain : strand.queues.contains { $0.runs(on: self) }
    if isHere != isExpected {
      let side = isExpected ? "outside of" : "in"
      run.violate(.check, "\(strand.name) runs \(side) \(shownName)", at: place)
    } else if isBarrier && isConcurrent && !state(run).hasBarrier {
      run.violate(.check, "\(strand.name) runs in \(shownName), and not as a barrier", at: place)
    }
  }
}

extension Strand {
  /// The queue whose work runs there: what the main actor does is the main queue's, too.
  fileprivate var innermostQueue: DispatchQueue? { queues.last ?? (kind == .main ? .main : nil) }
}

/// The queue of a program that stands for one of Dispatch's.
final class QueueReference {
  /// Weak: the program may let go of it.
  weak var queue: DispatchQueue?

  init(_ queue: DispatchQueue) { self.queue = queue }
}

/// The iterations that columns have taken.
private final class IterationsTaken: @unchecked Sendable {
  // @unchecked: touched only by the holder of the baton.
  private var count: Int

  init(_ count: Int) { self.count = count }

  /// The next one; no point, as others may come before its first one.
  func next(_ run: Run) -> Int {
    defer { count += 1 }
    let taken = run.resource(Run.address(self), .iterations, name: nil)
    Run.current?.strand.changed.append(taken.number)
    return count
  }

  deinit { Run.forget(Run.address(self)) }
}

/// Where work has to run: `Dispatch.DispatchPredicate`.
public enum DispatchPredicate {
  /// In the queue.
  case onQueue(DispatchQueue)
  /// In the queue, and alone.
  case onQueueAsBarrier(DispatchQueue)
  /// Elsewhere.
  case notOnQueue(DispatchQueue)
}

/// Stops, or fails the schedule, when the work runs elsewhere than it has to.
public func dispatchPrecondition(condition: @autoclosure () -> DispatchPredicate) {
  let place = Place(call: race_hunt_caller())
  switch condition() {
  case .onQueue(let queue): queue.check(true, place)
  case .onQueueAsBarrier(let queue): queue.check(true, isBarrier: true, place)
  case .notOnQueue(let queue): queue.check(false, place)
  }
}

/// What a run knows of a queue.
final class QueueState {
  struct Item {
    let isBarrier: Bool
    let start: () -> Void
  }

  let resource: Resource
  private let isConcurrent: Bool
  /// Where its work has to have a turn, too.
  var target: QueueState?
  var items: [Item] = []
  var suspensions: Int
  var isActivated = false
  private var running = 0
  /// How many of the first items had their turn in the target when this one was suspended.
  private var returned = 0
  /// Whether work runs that nothing runs beside.
  private(set) var hasBarrier = false
  var columns = QueueColumns()

  init(_ resource: Resource, isConcurrent: Bool, isSuspended: Bool) {
    self.resource = resource
    self.isConcurrent = isConcurrent
    suspensions = isSuspended ? 1 : 0
  }

  /// The work that goes on was not begun here, and ends with `finish`.
  func occupy() {
    running += 1
    hasBarrier = true
  }

  /// Begins what can begin.
  func pump() {
    // Also where work ends, which is no point.
    Run.current?.strand.changed.append(resource.number)
    while let item = items.first, suspensions == 0, !hasBarrier,
      !item.isBarrier || running == 0
    {
      items.removeFirst()
      returned = 0
      running += 1
      hasBarrier = item.isBarrier
      guard let target else {
        item.start()
        continue
      }
      target.items.append(
        Item(isBarrier: !target.isConcurrent) { [self] in
          if suspensions == 0 { return item.start() }
          // It was suspended while the target did something else, which is in time.
          items.insert(item, at: returned)
          returned += 1
          running -= 1
          if item.isBarrier { hasBarrier = false }
          target.finish(isBarrier: !target.isConcurrent)
        })
      target.pump()
    }
  }

  func finish(isBarrier: Bool) {
    running -= 1
    if isBarrier { hasBarrier = false }
    if let target { target.finish(isBarrier: !target.isConcurrent) }
    pump()
  }
}

/// A closure that Dispatch takes to another thread as the program asked it to.
struct Unchecked<Value>: @unchecked Sendable {
  // @unchecked: Dispatch takes closures without asking whether they are Sendable.
  let value: Value
  init(_ value: Value) { self.value = value }
}
