// Foundation's operations for explored programs. Outside of an exploration Foundation runs them.
internal import CRaceHunt
public import Foundation

/// Work that a queue of operations does: `Foundation.Operation`, by its names.
///
/// In an explored program its beginning, its end and each look at it are steps of the schedule.
open class Operation: NSObject, @unchecked Sendable {
  // @unchecked: what an exploration changes is touched only by the holder of the baton; the rest
  // is set before the operation is given to a queue, as Foundation asks for, or Foundation's.

  /// Which of those that could begin is first.
  public typealias QueuePriority = Foundation.Operation.QueuePriority

  enum Progress { case waits, executes, hasFinished }

  /// What runs it outside of explorations.
  private(set) lazy var real = RealOperation(self)
  private var progress = Progress.waits
  private var isToEnd = false
  private var before: [Operation] = []
  private var completion: (@Sendable () -> Void)?
  /// The queue that it was given to, in an exploration.
  private var queue: OperationQueueState?
  /// Whether those that are given to the queue later wait for its end, and it for earlier ones.
  var isBarrier = false

  /// Work that does nothing: classes of the program say what to do in `main` or `start`.
  public override init() {
    super.init()
    // Made before threads could make it at the same time.
    if Run.home(Run.address(self)) == 0 { _ = real }
  }

  deinit { Run.forget(Run.address(self)) }

  private func resource(_ run: Run) -> Resource {
    run.resource(Run.address(self), .operation, name: name)
  }

  /// Others may have begun it, or have ended it, before.
  private func noteChange(_ call: UInt) {
    if let (run, strand) = Run.current { step(run, strand, .changes, call) }
  }

  private func step(_ run: Run, _ strand: Strand, _ kind: EventKind, _ call: UInt) {
    run.step(strand, kind, on: resource(run), at: Place(call: call))
  }

  private func look(_ call: UInt, _ real: () -> Bool, _ value: () -> Bool) -> Bool {
    guard let (run, strand) = Run.current else { return real() }
    step(run, strand, .loads, call)
    return value()
  }

  // MARK: - What it does

  /// What to do; for subclasses that end where it returns.
  open func main() {}

  /// Does it on the calling thread; subclasses that end later have one of their own.
  open func start() {
    guard let (run, strand) = Run.current else { return real.startAsFoundation() }
    let call = race_hunt_caller()
    step(run, strand, .enters, call)
    if progress == .hasFinished { return }
    if progress != .waits {
      return run.violate(
        .check, "\(resource(run).name) is started a second time", at: Place(call: call))
    }
    // A queue has asked already.
    if queue == nil && !isReady {
      return run.violate(
        .check, "\(resource(run).name) is started before it is ready", at: Place(call: call))
    }
    progress = .executes
    if !isToEnd { main() }
    step(run, strand, .leaves, call)
    finish(run)
  }

  /// It has ended: who waits for that goes on.
  private func finish(_ run: Run) {
    if progress == .hasFinished { return }
    progress = .hasFinished
    run.wakeAll(resource(run))
    if let completion {
      self.completion = nil
      DispatchQueue.global().submit(run, []) { completion() }
    }
    queue?.noteEnd(of: self, run)
    queue = nil
    // What depends on it may be in any of them.
    for queue in run.operationQueues { queue.pump(run) }
  }

  // MARK: - How far it is

  /// Whether it was told to end; work that has begun has to look.
  open var isCancelled: Bool { look(race_hunt_caller(), { real.isCancelled }, { isToEnd }) }

  /// Whether it has begun and not ended.
  open var isExecuting: Bool {
    look(race_hunt_caller(), { real.isExecutingAsFoundation }, { progress == .executes })
  }

  /// Whether it has ended.
  open var isFinished: Bool {
    look(race_hunt_caller(), { real.isFinishedAsFoundation }, { progress == .hasFinished })
  }

  /// Whether all that it depends on has ended, or it is cancelled.
  open var isReady: Bool {
    guard Run.current != nil else { return real.isReadyAsFoundation }
    return isToEnd || before.allSatisfy { $0.progress == .hasFinished }
  }

  /// Whether it may go on when `start` has returned.
  open var isAsynchronous: Bool { false }

  /// Tells it to end: it does not begin, or has to look.
  open func cancel() {
    guard let (run, strand) = Run.current else { return real.cancel() }
    step(run, strand, .cancels, race_hunt_caller())
    if progress == .hasFinished { return }
    isToEnd = true
    queue?.pump(run)
  }

  /// Waits for its end.
  open func waitUntilFinished() {
    guard let (run, strand) = Run.current else { return real.waitUntilFinished() }
    let call = race_hunt_caller()
    step(run, strand, .waits, call)
    let resource = resource(run)
    run.wait(strand, inLineFor: resource) { progress != .hasFinished }
    run.record(strand, .wakesUp, resource.number, at: Place(call: call))
  }

  /// Subclasses say so before `isExecuting`, `isFinished` or `isReady` becomes another.
  open func willChangeValue(forKey key: String) {
    if Run.current == nil { real.willChangeValue(forKey: key) }
  }

  /// Subclasses say so once `isExecuting`, `isFinished` or `isReady` is another.
  open func didChangeValue(forKey key: String) {
    guard let (run, strand) = Run.current else { return real.didChangeValue(forKey: key) }
    if key == "isFinished" && progress != .hasFinished && isFinished {
      step(run, strand, .leaves, race_hunt_caller())
      finish(run)
    } else if key == "isReady" {
      queue?.pump(run)
    }
  }

  /// As for its key.
  public func willChangeValue<Value>(for path: KeyPath<Operation, Value>) {
    if let key = Self.key(path) { willChangeValue(forKey: key) }
  }

  /// As for its key.
  public func didChangeValue<Value>(for path: KeyPath<Operation, Value>) {
    if let key = Self.key(path) { didChangeValue(forKey: key) }
  }

  private static func key(_ path: AnyKeyPath) -> String? {
    switch path {
    case \Operation.isFinished: "isFinished"
    case \Operation.isExecuting: "isExecuting"
    case \Operation.isReady: "isReady"
    case \Operation.isCancelled: "isCancelled"
    default: nil
    }
  }

  // MARK: - Before and after it

  /// Has it begin only once the other one has ended.
  open func addDependency(_ operation: Operation) {
    noteChange(race_hunt_caller())
    if !before.contains(where: { $0 === operation }) { before.append(operation) }
    if Run.current == nil { real.addDependency(operation.real) }
  }

  /// Has it no longer wait for the other one.
  open func removeDependency(_ operation: Operation) {
    noteChange(race_hunt_caller())
    before.removeAll { $0 === operation }
    guard let (run, _) = Run.current else { return real.removeDependency(operation.real) }
    queue?.pump(run)
  }

  /// What has to end before.
  open var dependencies: [Operation] { before }

  /// Done elsewhere once it has ended.
  @preconcurrency open var completionBlock: (@Sendable () -> Void)? {
    get { completion }
    set {
      noteChange(race_hunt_caller())
      completion = newValue
      if Run.current == nil { real.setCompletion(newValue) }
    }
  }

  /// The name, also in tables of schedules.
  open var name: String? {
    didSet { if Run.current == nil { real.name = name } }
  }

  /// Which of those that could begin is first.
  open var queuePriority = QueuePriority.normal {
    willSet { noteChange(race_hunt_caller()) }
    didSet { if Run.current == nil { real.queuePriority = queuePriority } }
  }

  /// How much it matters, outside of explorations.
  open var qualityOfService = QualityOfService.default {
    didSet { if Run.current == nil { real.qualityOfService = qualityOfService } }
  }

  /// What it does is changed, as Foundation allows only before it begins.
  fileprivate func noteAddition(_ call: UInt) {
    noteChange(call)
    guard let (run, strand) = Run.current, progress != .waits else { return }
    run.violate(
      .check,
      "\(strand.name) adds a closure to \(resource(run).name), which has begun, at which "
        + "Foundation ends the process", at: Place(call: call))
  }

  // MARK: - For its queue

  /// Notes the queue that begins it; false when it has one, or has begun.
  func enter(_ queue: OperationQueueState) -> Bool {
    if self.queue != nil || progress != .waits { return false }
    self.queue = queue
    return true
  }
}

/// Closures: `Foundation.BlockOperation`, by its names.
open class BlockOperation: Operation, @unchecked Sendable {
  // @unchecked: closures are added before it is given to a queue, as Foundation asks for.

  /// What it does.
  public private(set) var executionBlocks: [@Sendable () -> Void]

  /// Work that does nothing yet.
  public override init() {
    executionBlocks = []
    super.init()
  }

  /// Work that calls `block`.
  @preconcurrency
  public init(block: @escaping @Sendable () -> Void) {
    executionBlocks = [block]
    super.init()
  }

  /// Has it call this, too: in an explored program at the same time as the others.
  @preconcurrency
  public func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    noteAddition(race_hunt_caller())
    executionBlocks.append(block)
  }

  /// Calls all of its closures.
  open override func main() {
    let blocks = executionBlocks
    if Run.current == nil || blocks.count < 2 {
      for block in blocks { block() }
    } else {
      DispatchQueue.concurrentPerform(iterations: blocks.count) { blocks[$0]() }
    }
  }
}

/// What Foundation runs for an operation: it asks it for what a subclass may have overridden.
final class RealOperation: Foundation.Operation, @unchecked Sendable {
  // @unchecked: `kept` is set before Foundation's queue has it, and when that has ended it.
  private(set) weak var operation: Operation?
  /// Keeps the operation while a queue has it.
  private var kept: Operation?

  init(_ operation: Operation) {
    self.operation = operation
    super.init()
    setCompletion(nil)
  }

  func enterQueue() { kept = operation }

  func setCompletion(_ completion: (@Sendable () -> Void)?) {
    completionBlock = { [weak self] in
      completion?()
      self?.kept = nil
    }
  }

  override func start() { if let operation { operation.start() } else { super.start() } }
  override func main() { operation?.main() }
  override var isAsynchronous: Bool { operation?.isAsynchronous ?? false }
  override var isExecuting: Bool { operation?.isExecuting ?? super.isExecuting }
  override var isFinished: Bool { operation?.isFinished ?? super.isFinished }
  override var isReady: Bool { operation?.isReady ?? super.isReady }

  func startAsFoundation() { super.start() }
  var isExecutingAsFoundation: Bool { super.isExecuting }
  var isFinishedAsFoundation: Bool { super.isFinished }
  var isReadyAsFoundation: Bool { super.isReady }
}
