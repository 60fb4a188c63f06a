// Threads that end in the middle, and tasks and threads that do not end with the program.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct EndTests {
  /// The thread of the machine ended, and the schedule stood still.
  @Test(arguments: ["random", "pct:3", "surw", "exhaustive", "portfolio"])
  func threadsThatExitAreJoined(strategy: String) throws {
    try explore(iterations: 500, strategy: try #require(Strategy(strategy))) {
      let count = Atomic(0)
      let threads = (1...3).map { number in
        Thread {
          count.add(1)
          if number > 1 { Thread.exit() }
          check(number == 1, "a thread goes on after its exit")
        }
      }
      for thread in threads { thread.start() }
      for thread in threads { thread.join() }
      check(count.load() == 3, "\(count.load())")
      check(threads.allSatisfy { $0.isFinished && !$0.isExecuting }, "a thread has not ended")
    }
  }

  @Test func theLastOneMayExit() throws {
    try explore(iterations: 100) { Thread.detachNewThread { Thread.exit() } }
  }

  @Test func locksOfThreadsThatExitStayLocked() throws {
    let found = try #require(
      failure {
        let lock = NSLock()
        let threads = ["first", "second"].map { name in
          Thread.start(name: name) {
            lock.lock()
            Thread.exit()
          }
        }
        for thread in threads { thread.join() }
      })
    #expect(found.kind == .deadlock)
    #expect(found.reason.contains("which has ended"), "\(found)")
  }

  @Test func onlyAThreadExits() throws {
    for program: Program in [
      { Thread.exit() }, { await Task { Thread.exit() }.value },
      { DispatchQueue(label: "queue").async { Thread.exit() } },
    ] {
      let found = failure(program)
      #expect(found?.kind == .check)
      #expect(found?.reason.contains("calls Thread.exit()") == true, "\(found?.reason ?? "")")
    }
  }

  @Test func threadsOfTheSystemExit() {
    let thread = Thread { Thread.exit() }
    thread.start()
    thread.join()
  }

  /// The program itself has an end, and was told as a livelock.
  @Test func whatGoesOnAfterTheProgramIsNamed() throws {
    for program: Program in [
      { Task.detached { while true { try? await Task.sleep(for: .zero) } } },
      { Task { while true { await Task.yield() } } },
      { Task { while !Task.isCancelled { await Task.yield() } } },
    ] {
      let found = try #require(failure(program))
      #expect(found.kind == .goesOn)
      #expect(found.reason.hasPrefix("task 1 goes on after the program's end"), "\(found.reason)")
      #expect(found.reason.hasSuffix("cancel it, and wait for it before the closure returns"))
    }
    let found = failure {
      Thread.start(name: "poller") { while true { Thread.sleep(for: .milliseconds(1)) } }
    }
    #expect(found?.kind == .goesOn)
    #expect(found?.reason.hasPrefix("poller goes on after the program's end") == true)
  }

  @Test func whatIsCancelledMayEndAfterTheProgram() throws {
    try explore(iterations: 300) {
      let task = Task { while !Task.isCancelled { await Task.yield() } }
      let sleeper = Task.detached {
        while !Task.isCancelled { try? await Task.sleep(for: .zero) }
      }
      task.cancel()
      sleeper.cancel()
    }
  }

  /// It has no step but sleeping, and went on for ever.
  @Test func aThreadThatOnlySleepsIsALivelock() throws {
    let found = failure { while true { Thread.sleep(for: .milliseconds(1)) } }
    #expect(found?.kind == .livelock)
  }

  @Test func aProgramWithoutEndIsALivelock() throws {
    let found = failure {
      let task = Task { while true { await Task.yield() } }
      await task.value
    }
    #expect(found?.kind == .livelock)
  }
}
