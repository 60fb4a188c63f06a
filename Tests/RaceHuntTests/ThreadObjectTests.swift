// The objects that stand for threads, inside and outside of explorations: one a thread.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct ThreadObjectTests {
  /// Each look made a new one, with an empty dictionary.
  private static func isOneObject() -> Bool {
    let thread = RaceHunt.Thread.current
    thread.threadDictionary["key"] = 7
    return thread === RaceHunt.Thread.current
      && RaceHunt.Thread.current.threadDictionary["key"] as? Int == 7
  }

  @Test func theCurrentThreadIsOneObject() {
    // One that others have started, one of Dispatch, and one of this module.
    #expect(Self.isOneObject())
    #expect(Dispatch.DispatchQueue.global().sync { Self.isOneObject() })
    let isOne = Atomic(false)
    let thread = RaceHunt.Thread { isOne.store(Self.isOneObject()) }
    thread.start()
    thread.join()
    #expect(isOne.load())
    #expect(thread.threadDictionary["key"] as? Int == 7)
  }

  /// The main actor of a process that serves its main queue has any thread.
  @MainActor @Test func theMainThreadIsOneObject() {
    let isMain = RaceHunt.Thread.isMainThread
    #expect((RaceHunt.Thread.current === RaceHunt.Thread.mainThread) == isMain)
    #expect(RaceHunt.Thread.current.isMainThread == isMain)
    #expect(RaceHunt.Thread.mainThread === RaceHunt.Thread.main)
    #expect(RaceHunt.Thread.mainThread.isMainThread)
    #expect(RaceHunt.Thread.mainThread.isExecuting && !RaceHunt.Thread.mainThread.isFinished)
    #expect(Self.isOneObject())
  }

  @Test func inExplorationsTheMainThreadIsTheMainActors() throws {
    let exploration = try explore(iterations: 100) {
      let main = RaceHunt.Thread.mainThread
      check(!RaceHunt.Thread.isMainThread && RaceHunt.Thread.current !== main)
      check(!RaceHunt.Thread.current.isMainThread && main.isMainThread && main.isExecuting)
      await MainActor.run {
        main.threadDictionary["key"] = 1
        check(RaceHunt.Thread.current === main, "of the main actor")
      }
      await withCheckedContinuation { continuation in
        DispatchQueue.main.async {
          check(RaceHunt.Thread.isMainThread)
          check(RaceHunt.Thread.current.isMainThread)
          check(RaceHunt.Thread.current === main, "of the main queue")
          check(main.threadDictionary["key"] as? Int == 1)
          DispatchQueue(label: "other").sync { check(RaceHunt.Thread.isMainThread, "in sync") }
          continuation.resume()
        }
      }
      RaceHunt.Thread.start {
        check(!RaceHunt.Thread.isMainThread && !RaceHunt.Thread.current.isMainThread)
        DispatchQueue.main.sync { check(RaceHunt.Thread.current === main, "from a thread") }
      }.join()
    }
    #expect(exploration.schedules == 100)
  }

  @Test func theirQuestionsHaveAnswers() throws {
    #expect(!RaceHunt.Thread.callStackReturnAddresses.isEmpty)
    _ = RaceHunt.Thread.isMultiThreaded()
    try explore(iterations: 3) {
      check(RaceHunt.Thread.isMultiThreaded())
      check(!RaceHunt.Thread.callStackReturnAddresses.isEmpty)
    }
  }

  /// As Foundation has it: nothing of such a thread runs, and it is finished.
  @Test func aThreadThatIsCancelledBeforeItsStartDoesNotRun() throws {
    let program: Program = {
      let runs = Atomic(0)
      let thread = RaceHunt.Thread { runs.add(1) }
      thread.cancel()
      check(!thread.isFinished)
      thread.start()
      thread.join()
      check(thread.isFinished && thread.isCancelled && !thread.isExecuting)
      check(runs.load() == 0, "it runs")
    }
    #expect(try explore(iterations: 100, program).schedules == 100)
    let runs = Atomic(0)
    let thread = RaceHunt.Thread { runs.add(1) }
    thread.cancel()
    thread.start()
    thread.join()
    #expect(thread.isFinished && thread.isCancelled && !thread.isExecuting)
    #expect(runs.load() == 0)
  }
}
