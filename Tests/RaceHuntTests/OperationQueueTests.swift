// Operations and their queues: order, dependencies, barriers, cancellation, and programs with the
// faults that users of them make.
import RaceHunt
import TestSupport
import Testing

/// Adds one in two steps.
private final class Adding: RaceHunt.Operation, @unchecked Sendable {
  // @unchecked: the word is made for threads.
  let word: Atomic<Int>
  init(_ word: Atomic<Int>) { self.word = word }

  override func main() {
    if isCancelled { return }
    word.store(word.load() + 1)
  }
}

/// Ends later, in a queue of Dispatch, as operations around calls with a completion do.
private final class Later: RaceHunt.Operation, @unchecked Sendable {
  // @unchecked: the state has a lock.
  private enum State { case ready, executing, finished }
  private let state = Mutex(State.ready)
  private let work: @Sendable () -> Void
  init(_ work: @escaping @Sendable () -> Void) { self.work = work }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { state.withLock { $0 == .executing } }
  override var isFinished: Bool { state.withLock { $0 == .finished } }

  private func move(to next: State, _ key: String) {
    willChangeValue(forKey: key)
    state.withLock { $0 = next }
    didChangeValue(forKey: key)
  }

  override func start() {
    if isCancelled { return move(to: .finished, "isFinished") }
    move(to: .executing, "isExecuting")
    DispatchQueue.global().async { [self] in
      work()
      move(to: .finished, "isFinished")
    }
  }
}

private final class Order: Sendable {
  private let names = Mutex<[String]>([])
  func note(_ name: String) { names.withLock { $0.append(name) } }
  var all: [String] { names.withLock { $0 } }
}

@Suite(.ownThreads) struct OperationQueueTests {
  private static func wait(_ queue: OperationQueue) { queue.waitUntilAllOperationsAreFinished() }

  /// Two additions, in a queue that is set up by `settings`.
  private static func additions(
    _ settings: @escaping @Sendable (OperationQueue, Adding, Adding) -> Void
  ) -> Program {
    {
      let word = Atomic(0)
      let queue = OperationQueue()
      let (first, second) = (Adding(word), Adding(word))
      settings(queue, first, second)
      queue.addOperations([first, second], waitUntilFinished: true)
      check(word.load() == 2, "an update is lost")
      check(first.isFinished && second.isFinished && queue.operationCount == 0)
    }
  }

  @Test func operationsRunAtTheSameTime() throws {
    let program = Self.additions { _, _, _ in }
    let found = try #require(failure(program))
    #expect(found.reason == "an update is lost")
    #expect(found.description.contains("operation queue 1 (2)"), "\(found)")
    let again = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
    #expect(again?.reason == found.reason)
  }

  private static let sound: [@Sendable (OperationQueue, Adding, Adding) -> Void] = [
    { queue, _, _ in queue.maxConcurrentOperationCount = 1 },
    { _, first, second in second.addDependency(first) },
    { queue, _, _ in queue.underlyingQueue = DispatchQueue(label: "serial") },
  ]

  @Test(arguments: sound.indices) func oneAfterTheOtherNothingIsLost(number: Int) throws {
    try explore(iterations: 200, Self.additions(Self.sound[number]))
  }

  @Test func barriersWaitForAllBeforeThemAndAreWaitedFor() throws {
    func program(isBarrier: Bool) -> Program {
      {
        let word = Atomic(0)
        let queue = OperationQueue()
        queue.addOperation { word.store(word.load() + 1) }
        if isBarrier {
          queue.addBarrierBlock { word.store(word.load() * 10) }
        } else {
          queue.addOperation { word.store(word.load() * 10) }
        }
        queue.addOperation { word.store(word.load() + 2) }
        Self.wait(queue)
        check(word.load() == 12, "it is \(word.load())")
      }
    }
    try explore(iterations: 100, program(isBarrier: true))
    #expect(failure(program(isBarrier: false)) != nil)
  }

  @Test func dependenciesOverQueuesCompletionsAndPrioritiesHold() throws {
    try explore(iterations: 100) {
      let order = Order()
      let (one, other) = (OperationQueue(), OperationQueue())
      let last = BlockOperation { order.note("last") }
      let first = Later { order.note("first") }
      last.addDependency(first)
      check(last.dependencies == [first])
      let hasCompleted = DispatchSemaphore(value: 0)
      last.completionBlock = { hasCompleted.signal() }
      other.addOperation(last)
      one.addOperation(first)
      hasCompleted.wait()
      check(order.all == ["first", "last"])
      check(last.isFinished && !last.isExecuting && !last.isCancelled)

      let serial = OperationQueue()
      serial.maxConcurrentOperationCount = 1
      serial.isSuspended = true
      let (low, high) = (
        BlockOperation { order.note("low") }, BlockOperation { order.note("high") }
      )
      low.queuePriority = .low
      high.queuePriority = .high
      serial.addOperation(low)
      serial.addOperation(high)
      serial.isSuspended = false
      Self.wait(serial)
      check(order.all.suffix(2) == ["high", "low"])
    }
  }

  @Test func whatIsCancelledBeforeItBeginsIsNotDone() throws {
    try explore(iterations: 100) {
      let word = Atomic(0)
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addOperation(Adding(word))
      queue.cancelAllOperations()
      queue.isSuspended = false
      Self.wait(queue)
      check(word.load() == 0)
    }
    // A look that comes before the other thread's word is too early.
    let found = failure {
      let word = Atomic(0)
      let queue = OperationQueue()
      let adding = Adding(word)
      queue.addOperation(adding)
      adding.cancel()
      let seen = word.load()
      Self.wait(queue)
      check(word.load() == seen, "it was done after it was cancelled")
    }
    #expect(found?.reason == "it was done after it was cancelled")
  }

  @Test func operationsThatWaitForEachOtherAreADeadlock() throws {
    let found = try #require(
      failure {
        let (one, other) = (BlockOperation {}, BlockOperation {})
        one.addDependency(other)
        other.addDependency(one)
        OperationQueue().addOperations([one, other], waitUntilFinished: true)
        one.removeDependency(other)
      })
    #expect(found.kind == .deadlock && found.reason.contains("program waits for operation 1"))

    let nested = try #require(
      failure {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.addOperation {
          let inner = BlockOperation {}
          queue.addOperations([inner], waitUntilFinished: true)
        }
        Self.wait(queue)
      })
    #expect(nested.kind == .deadlock, "\(nested)")
  }

  @Test func wrongUsesAreNamed() {
    let twice = failure {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = BlockOperation {}
      queue.addOperation(operation)
      queue.addOperation(operation)
      queue.isSuspended = false
    }
    #expect(twice?.reason.hasPrefix("program gives operation queue 1 an operation that a") == true)
    let again = failure {
      let operation = BlockOperation()
      operation.addExecutionBlock { [unowned operation] in operation.start() }
      operation.start()
    }
    #expect(again?.reason == "operation 1 is started a second time")
  }

  @Test func closuresOfOneOperationRunAtTheSameTime() {
    let found = failure {
      let word = Atomic(0)
      let operation = BlockOperation { word.store(word.load() + 1) }
      operation.addExecutionBlock { word.store(word.load() + 1) }
      operation.start()
      check(word.load() == 2, "an update is lost")
    }
    #expect(found?.reason == "an update is lost")
  }

  @Test func queuesAreKnownWhereTheyRun() throws {
    try explore(iterations: 50) {
      check(OperationQueue.current == nil)
      let queue = OperationQueue()
      queue.addOperation { check(OperationQueue.current === queue) }
      Self.wait(queue)
      let isDone = DispatchSemaphore(value: 0)
      OperationQueue.main.addOperation {
        check(OperationQueue.current === OperationQueue.main)
        check(Thread.isMainThread)
        isDone.signal()
      }
      isDone.wait()
    }
  }

  @Test func notificationsComeInAQueue() throws {
    try explore(iterations: 50) {
      let queue = OperationQueue()
      let center = NotificationCenter()
      let count = Atomic(0)
      let token = center.addObserver(forName: .init("news"), object: nil, queue: queue) { _ in
        check(OperationQueue.current === queue)
        count.add(1)
      }
      center.post(name: .init("news"), object: nil)
      Self.wait(queue)
      center.removeObserver(token)
      check(count.load() == 1)
    }
  }

  /// The same without an exploration: Foundation's.
  @Test func outsideOfExplorationsTheyAreFoundations() {
    let order = Order()
    let queue = OperationQueue()
    queue.name = "queue"
    queue.maxConcurrentOperationCount = 1
    let last = BlockOperation { order.note("last") }
    let first = Later { order.note("first") }
    let cancelled = BlockOperation { order.note("cancelled") }
    last.addDependency(first)
    let isComplete = DispatchSemaphore(value: 0)
    last.completionBlock = { isComplete.signal() }
    queue.isSuspended = true
    queue.addOperations([cancelled, last, first], waitUntilFinished: false)
    #expect(queue.operationCount == 3 && queue.operations.contains(first))
    cancelled.cancel()
    queue.isSuspended = false
    queue.addBarrierBlock { order.note("barrier") }
    queue.addOperation {
      #expect(OperationQueue.current === queue)
      order.note("closure")
    }
    last.waitUntilFinished()
    Self.wait(queue)
    #expect(isComplete.wait(timeout: .now() + 60) == .success)
    #expect(order.all == ["first", "last", "barrier", "closure"])
    #expect(last.isFinished && first.isFinished && cancelled.isCancelled)
  }
}
