// Waits in the kernel, where no schedule reaches: a hang says in which call.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct KernelWaitTests {
  private static func hang(_ program: @escaping Program) -> RaceFailure? {
    var settings = Explorer.Settings()
    // A wait without a limit of time is told after a quarter of it.
    settings.patience = 8_000_000_000
    return #expect(throws: RaceFailure.self) { try Explorer(program, settings).explore() }
  }

  @Test func aHangSaysInWhichCallOfTheKernelItWaits() throws {
    let pipe = Pipe()
    let found = try #require(
      Self.hang {
        let reader = Thread.start(name: "reader") {
          _ = pipe.fileHandleForReading.availableData
        }
        reader.join()
      })
    #expect(found.kind == .hang)
    let words = "it waits in the kernel (read) for something that is not under control"
    #expect(found.reason.hasPrefix("hangs: reader has not come to a point for "), "\(found)")
    #expect(!found.reason.contains("for 8.0 s"), "\(found)")
    #expect(found.reason.contains(words), "\(found)")
    // Its thread ends.
    try pipe.fileHandleForWriting.write(contentsOf: [1])
  }

  @Test func whoRunsWithoutEndDoesNotWait() throws {
    var settings = Explorer.Settings()
    settings.patience = 200_000_000
    let isOver = Synchronization.Mutex(false)
    let found = #expect(throws: RaceFailure.self) {
      try Explorer({ while !isOver.withLock({ $0 }) {} }, settings).explore()
    }
    #expect(found?.kind == .hang)
    #expect(found?.reason.contains("it runs without end") == true, "\(found?.reason ?? "")")
    isOver.withLock { $0 = true }
  }

  @Test func aRunLoopIsNamed() throws {
    let found = try #require(
      failure {
        let thread = Thread.start {
          let timer = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in }
          while timer.isValid, RunLoop.current.run(mode: .default, before: .distantFuture) {}
        }
        thread.join()
        check(false, "it fails")
      })
    let words = "not under control: the program waits in a run loop, which has the machine's time"
    #expect(found.description.contains(words), "\(found)")
  }
}
