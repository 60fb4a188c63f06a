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
}
