// Programs on threads of the machine.
import TestSupport
import Testing

@testable import RaceHunt

@Suite(.serialized, .ownThreads) struct StressTests {
  @Test func aFailedCheckIsFound() {
    let result = Stress.run({ check(false, "never true") }, nanoseconds: 1_000_000_000)
    #expect(result.runs == 1 && result.failure == "never true")
  }

  @Test func aSoundProgramRunsUntilTheTimeIsOver() {
    let result = Stress.run(
      {
        let counter = Mutex(0)
        await withTaskGroup(of: Void.self) { group in
          for _ in 1...3 { group.addTask { counter.withLock { $0 += 1 } } }
        }
        check(counter.withLock { $0 } == 3, "an update is lost")
      }, nanoseconds: 50_000_000)
    #expect(result.runs > 0 && result.failure == nil)
  }

  /// Programs that hang once took the threads of all tasks: every later one seemed to hang, too.
  @Test func aProgramAfterSomeThatNeverEndDoesEnd() {
    for _ in 0...ProcessInfo.processInfo.activeProcessorCount {
      let result = Stress.run(
        {
          let lock = Mutex(0)
          lock.lock()
          Thread.start { lock.lock() }.join()
        }, nanoseconds: 100_000_000)
      #expect(result.failure == "does not end")
    }
    let result = Stress.run({ await Task.yield() }, nanoseconds: 10_000_000)
    #expect(result.failure == nil)
  }
}
