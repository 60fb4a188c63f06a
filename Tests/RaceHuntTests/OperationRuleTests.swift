// When an operation may be started and cancelled, as Foundation has it.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct OperationRuleTests {
  private static let ended: Program = {
    let count = Atomic(0)
    let operation = BlockOperation { count.add(1) }
    operation.start()
    operation.start()
    check(count.load() == 1, "it was done \(count.load()) times")
    operation.cancel()
    check(!operation.isCancelled && operation.isFinished, "what has ended is cancelled")
  }

  @Test func whatHasEndedStaysAsItIs() async throws {
    try await explore(iterations: 20, Self.ended)
    try await Self.ended()
  }

  @Test func whatIsNotReadyIsNotStarted() throws {
    let found = failure {
      let (first, second) = (BlockOperation {}, BlockOperation {})
      second.name = "second"
      second.addDependency(first)
      second.start()
    }
    #expect(found?.reason == "second is started before it is ready")
    try explore(iterations: 20) {
      let (first, second) = (BlockOperation {}, BlockOperation { check(false, "it was cancelled") })
      second.addDependency(first)
      second.cancel()
      second.start()
      check(second.isFinished)
    }
  }

  @Test func whatIsDoneIsNotStarted() throws {
    let found = failure {
      let operation = BlockOperation()
      operation.name = "operation"
      operation.addExecutionBlock { [unowned operation] in operation.start() }
      operation.start()
    }
    #expect(found?.reason == "operation is started a second time")
  }

  // MARK: - Settings

  private static let end = ", at which Foundation ends the process"

  @Test func closuresAreAddedBeforeItBegins() {
    let found = failure {
      let (queue, operation) = (OperationQueue(), BlockOperation {})
      operation.name = "operation"
      queue.addOperation(operation)
      operation.addExecutionBlock {}
      queue.waitUntilAllOperationsAreFinished()
    }
    #expect(
      found?.reason == "program adds a closure to operation, which has begun" + Self.end)
  }

  @Test func settingsThatFoundationRefusesAreFailures() {
    let negative = failure {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = -2
    }
    #expect(negative?.reason == "program sets a negative count of operations" + Self.end)
    let below = failure {
      let queue = OperationQueue()
      queue.name = "queue"
      queue.isSuspended = true
      queue.addOperation {}
      queue.underlyingQueue = DispatchQueue(label: "below")
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
    #expect(
      below?.reason == "program changes the queue below queue, which has operations" + Self.end)
  }

  /// Foundation's answers, in an exploration and outside of one.
  private static let settings: Program = {
    let main = OperationQueue.main
    main.maxConcurrentOperationCount = 7
    main.isSuspended = true
    main.underlyingQueue = nil
    main.cancelAllOperations()
    check(main.maxConcurrentOperationCount == 1 && !main.isSuspended, "the main queue is changed")
    check(main.underlyingQueue === DispatchQueue.main, "the main queue is elsewhere")
    let (queue, first, second) = (OperationQueue(), BlockOperation {}, BlockOperation {})
    for _ in 1...2 { second.addDependency(first) }
    check(second.dependencies.count == 1, "it waits twice for the same")
    queue.isSuspended = true
    queue.addOperation(first)
    queue.addBarrierBlock {}
    check(queue.operationCount == 1 && queue.operations == [first], "a barrier is an operation")
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func settingsAreThoseOfFoundation() async throws {
    try await explore(iterations: 50, Self.settings)
    try await Self.settings()
  }
}
