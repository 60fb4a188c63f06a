// Foundation's queues of operations for explored programs. Outside of an exploration they are
// Foundation's.
internal import CRaceHunt
public import Foundation

/// A queue of operations: `Foundation.OperationQueue`, by its names.
///
/// In an explored program it has as many columns in the schedule as operations run at once.
open class OperationQueue: NSObject, ProgressReporting, @unchecked Sendable {
  // @unchecked: its settings are made before others use it, as Foundation asks for; the rest has
  // locks, or belongs to the holder of the baton.
  private let real: Foundation.OperationQueue

  /// Makes a queue that runs as many operations at once as it is given.
  public override init() {
    let real = RealOperationQueue()
    self.real = real
    super.init()
    real.queue = self
    _ = Run.home(Run.address(self))
  }

  private init(_ main: Foundation.OperationQueue) {
    real = main
    super.init()
  }

  deinit { Run.forget(Run.address(self)) }

  private func state(_ run: Run) -> OperationQueueState {
    run.part(self) {
      let resource = run.resource(Run.address(self), .operationQueue, name: name)
      let state = OperationQueueState(resource, self)
      run.operationQueues.append(state)
      return state
    }
  }

  // MARK: - Which queue it is

  /// The main one has settings that nobody changes, as Foundation has it.
  private var isMain: Bool { real === Foundation.OperationQueue.main }

  private static let mainQueue: OperationQueue = {
    let queue = OperationQueue(Foundation.OperationQueue.main)
    queue.underlying = .main
    queue.count = 1
    return queue
  }()

  /// The main thread's queue.
  open class var main: OperationQueue { mainQueue }

  /// The queue whose operation runs; the main one's on the main thread.
  open class var current: OperationQueue? {
    guard let (_, strand) = Run.current else {
      let real = Foundation.OperationQueue.current
      return real === Foundation.OperationQueue.main
        ? mainQueue : (real as? RealOperationQueue)?.queue
    }
    return strand.operationQueues.last ?? (strand.isOnMain ? mainQueue : nil)
  }

  // MARK: - Operations

  /// Has the queue do the operation, once what it depends on has ended.
  open func addOperation(_ operation: Operation) { add(operation, race_hunt_caller()) }

  /// Has the queue call the closure.
  @preconcurrency
  open func addOperation(_ block: @escaping @Sendable () -> Void) {
    add(BlockOperation(block: block), race_hunt_caller())
  }

  /// Has the queue do the operations; `wait` waits for the end of all.
  open func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    add(operations, race_hunt_caller())
    if wait { for operation in operations { operation.waitUntilFinished() } }
  }

  /// Has the queue call the closure once all that it was given before has ended, and before what it
  /// is given later.
  @preconcurrency
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    guard Run.current != nil else { return real.addBarrierBlock(barrier) }
    let operation = BlockOperation(block: barrier)
    operation.isBarrier = true
    add(operation, race_hunt_caller())
  }

  private func add(_ operation: Operation, _ call: UInt) { add([operation], call) }

  /// All of them are in the queue before the first one begins.
  private func add(_ operations: [Operation], _ call: UInt) {
    guard let (run, strand) = Run.current else {
      for operation in operations { operation.real.enterQueue() }
      return real.addOperations(operations.map(\.real), waitUntilFinished: false)
    }
    let state = state(run)
    run.step(strand, .submits, on: state.resource, at: Place(call: call))
    for operation in operations where !operation.enter(state) {
      return run.violate(
        .check, "\(strand.name) gives \(state.resource.name) an operation that a queue was given",
        at: Place(call: call))
    }
    state.add(operations, run)
    run.pointBehindStart()
  }

  /// What it was given and has not ended, without barriers.
  open var operations: [Operation] {
    guard let (run, strand) = Run.current else {
      return real.operations.compactMap { ($0 as? RealOperation)?.operation }
    }
    return look(run, strand, race_hunt_caller()).filter { !$0.isBarrier }
  }

  /// How many of them there are.
  open var operationCount: Int {
    guard let (run, strand) = Run.current else { return real.operationCount }
    return look(run, strand, race_hunt_caller()).count(where: { !$0.isBarrier })
  }

  private func look(_ run: Run, _ strand: Strand, _ call: UInt) -> [Operation] {
    let state = state(run)
    run.step(
      strand, .loads, on: state.resource, value: state.entries.count, at: Place(call: call))
    return state.entries.map(\.operation)
  }

  /// Tells all of them to end, barriers among them; nothing for the main queue.
  open func cancelAllOperations() {
    if isMain { return }
    guard let (run, strand) = Run.current else {
      for operation in operations { operation.cancel() }
      return
    }
    for operation in look(run, strand, race_hunt_caller()) { operation.cancel() }
  }

  /// Waits for the end of all.
  open func waitUntilAllOperationsAreFinished() {
    guard let (run, strand) = Run.current else { return real.waitUntilAllOperationsAreFinished() }
    let state = state(run)
    let place = Place(call: race_hunt_caller())
    run.step(strand, .waits, on: state.resource, at: place)
    run.wait(strand, inLineFor: state.resource) { !state.entries.isEmpty }
    run.record(strand, .wakesUp, state.resource.number, at: place)
  }

  // MARK: - Settings

  private static let endOfProcess = ", at which Foundation ends the process"

  /// As many at once as there are.
  public static let defaultMaxConcurrentOperationCount = -1

  private var count = defaultMaxConcurrentOperationCount

  /// How many run at once.
  open var maxConcurrentOperationCount: Int {
    get { count }
    set {
      if isMain { return }
      if newValue < Self.defaultMaxConcurrentOperationCount, let (run, strand) = Run.current {
        return run.violate(
          .check, "\(strand.name) sets a negative count of operations\(Self.endOfProcess)",
          at: Place(call: race_hunt_caller()))
      }
      count = newValue
      guard let (run, _) = Run.current else { return real.maxConcurrentOperationCount = newValue }
      state(run).pump(run)
    }
  }

  private var isHeld = false

  /// Whether it begins no further operations.
  open var isSuspended: Bool {
    get { isHeld }
    set {
      if isMain { return }
      guard let (run, strand) = Run.current else {
        isHeld = newValue
        return real.isSuspended = newValue
      }
      let state = state(run)
      run.step(
        strand, newValue ? .suspends : .resumes, on: state.resource,
        at: Place(call: race_hunt_caller()))
      isHeld = newValue
      state.pump(run)
    }
  }

  private var underlying: DispatchQueue?

  /// The queue of Dispatch that its operations run in; nil for threads of its own.
  open var underlyingQueue: DispatchQueue? {
    get { underlying }
    set {
      if isMain { return }
      if let (run, strand) = Run.current,
        let known = run.parts[Run.address(self)] as? OperationQueueState, !known.entries.isEmpty
      {
        return run.violate(
          .check,
          "\(strand.name) changes the queue below \(known.resource.name), which has operations"
            + Self.endOfProcess, at: Place(call: race_hunt_caller()))
      }
      underlying = newValue
      real.underlyingQueue = newValue?.real
    }
  }

  /// The name, also in tables of schedules.
  open var name: String? {
    didSet { real.name = name }
  }

  /// How much its work matters, outside of explorations.
  open var qualityOfService = QualityOfService.default {
    didSet { real.qualityOfService = qualityOfService }
  }

  /// How far it is, outside of explorations.
  open var progress: Progress { real.progress }
}

/// Knows the program's queue.
private final class RealOperationQueue: Foundation.OperationQueue, @unchecked Sendable {
  // @unchecked: set while the queue is made.
  weak var queue: OperationQueue?
}

/// What a run knows of a queue of operations.
final class OperationQueueState {
  struct Entry {
    let operation: Operation
    var hasBegun = false
  }

  let resource: Resource
  private weak var queue: OperationQueue?
  /// The same while it has something to do: who made it may have forgotten it.
  private var kept: OperationQueue?
  /// What has not ended, in the order in which it came.
  private(set) var entries: [Entry] = []
  private var columns = QueueColumns()

  init(_ resource: Resource, _ queue: OperationQueue) {
    self.resource = resource
    self.queue = queue
  }

  func add(_ operations: [Operation], _ run: Run) {
    entries += operations.map { Entry(operation: $0) }
    kept = queue
    pump(run)
  }

  func noteEnd(of operation: Operation, _ run: Run) {
    entries.removeAll { $0.operation === operation }
    pump(run)
    if !entries.isEmpty { return }
    run.wakeAll(resource)
    kept = nil
  }

  /// Begins what can begin.
  func pump(_ run: Run) {
    // Also where an operation ends, which is a step on that.
    Run.current?.strand.changed.append(resource.number)
    guard let queue else { return }
    while let operation = next(queue) { begin(operation, queue, run) }
  }

  private func hasRoom(_ queue: OperationQueue) -> Bool {
    let most = queue.maxConcurrentOperationCount
    return !queue.isSuspended && (most < 0 || entries.count(where: \.hasBegun) < most)
  }

  /// Those whose turn it may be: before a barrier all, behind it none.
  private var candidates: [Operation] {
    var result: [Operation] = []
    for (position, entry) in entries.enumerated() {
      if entry.operation.isBarrier && position > 0 { break }
      if !entry.hasBegun { result.append(entry.operation) }
      if entry.operation.isBarrier { break }
    }
    return result
  }

  private func next(_ queue: OperationQueue) -> Operation? {
    while hasRoom(queue) {
      // A class of the program may look in its own way, with steps between which others come.
      let isReady = candidates.filter(\.isReady)
      let best = isReady.max { $0.queuePriority.rawValue < $1.queuePriority.rawValue }
      guard let best else { return nil }
      let first = isReady.first { $0.queuePriority == best.queuePriority } ?? best
      if hasRoom(queue), let place = entries.firstIndex(where: { $0.operation === first }),
        !entries[place].hasBegun
      {
        entries[place].hasBegun = true
        return first
      }
    }
    return nil
  }

  private func begin(_ operation: Operation, _ queue: OperationQueue, _ run: Run) {
    let work = {
      let strand = Run.current?.strand
      strand?.operationQueues.append(queue)
      operation.start()
      strand?.operationQueues.removeLast()
    }
    if let underlying = queue.underlyingQueue { return underlying.submit(run, [], work) }
    run.restart(columns.idle(run, of: resource), work) {}
  }
}

extension NotificationCenter {
  /// Has the queue call the closure for each such notification.
  ///
  /// Who posts waits for that; in the queue itself it is called at once.
  @preconcurrency
  public func addObserver(
    forName name: NSNotification.Name?, object: Any?, queue: OperationQueue,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    addObserver(forName: name, object: object, queue: nil) { notification in
      if OperationQueue.current === queue { return block(notification) }
      let notification = Unchecked(notification)
      queue.addOperation { block(notification.value) }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// As with a queue, or where it is posted if there is none.
  @_disfavoredOverload @preconcurrency
  public func addObserver(
    forName name: NSNotification.Name?, object: Any?, queue: OperationQueue?,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    guard let queue else {
      let none: Foundation.OperationQueue? = nil
      return addObserver(forName: name, object: object, queue: none, using: block)
    }
    return addObserver(forName: name, object: object, queue: queue, using: block)
  }
}
