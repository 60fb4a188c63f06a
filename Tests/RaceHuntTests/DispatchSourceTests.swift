// Timers and merged data of Dispatch, in virtual time.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct DispatchSourceTests {
  private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  @Test func timersComeAtTheirTimesUntilTheyAreCancelled() throws {
    try explore(iterations: 100) {
      let start = DispatchTime.now()
      let count = Atomic(0, name: "count")
      let (isDone, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "timer"))
      timer.schedule(deadline: .now() + .seconds(60), repeating: .seconds(10))
      timer.setEventHandler { if count.add(1).newValue == 3 { isDone.signal() } }
      timer.setCancelHandler { hasEnded.signal() }
      check(!timer.isCancelled)
      timer.resume()
      Self.wait(isDone)
      check(DispatchTime.now() >= start + .seconds(80))
      timer.cancel()
      Self.wait(hasEnded)
      check(timer.isCancelled)
      let last = count.load()
      Thread.sleep(for: .seconds(1_000))
      check(count.load() == last, "it comes after its end")
    }
  }

  /// A time limit that is raced by what it limits: both answer.
  @Test func twoAnswersOfATimeLimitAreFound() throws {
    func program(isSound: Bool) -> Program {
      {
        let answers = Atomic(0, name: "answers")
        let hasAnswered = Atomic(false, name: "has answered")
        let end = DispatchGroup()
        @Sendable func answer() {
          if isSound {
            if hasAnswered.exchange(true) { return }
          } else {
            if hasAnswered.load() { return }
            hasAnswered.store(true)
          }
          answers.add(1)
        }
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + 0.001)
        end.enter()
        timer.setEventHandler {
          answer()
          end.leave()
        }
        timer.activate()
        let call = Thread.start(name: "call") { answer() }
        call.join()
        end.wait()
        check(answers.load() == 1, "there are \(answers.load()) answers")
      }
    }
    let found = try #require(failure(program(isSound: false)))
    #expect(found.reason == "there are 2 answers")
    try explore(iterations: 100, program(isSound: true))
  }

  @Test func aTimerThatNobodyKeepsNeverComes() throws {
    let found = try #require(
      failure {
        let isDone = DispatchSemaphore(value: 0)
        do {
          let timer = DispatchSource.makeTimerSource()
          timer.schedule(deadline: .now() + 1)
          timer.setEventHandler { isDone.signal() }
          timer.resume()
        }
        isDone.wait()
      })
    #expect(found.kind == .deadlock, "\(found)")
  }

  @Test func aTimerOfAProgramThatWaitsForGoodIsNoHang() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 2, steps: 2_000) {
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now(), repeating: 1)
        timer.setEventHandler {}
        timer.resume()
        DispatchSemaphore(value: 0).wait()
        timer.cancel()
      }
    }
    #expect(found?.kind == .livelock)
  }

  @Test func aTimerMayGoOnAfterTheProgram() throws {
    try explore(iterations: 20) {
      let timer = DispatchSource.makeTimerSource()
      timer.schedule(deadline: .now(), repeating: 1)
      timer.setEventHandler { _ = timer }
      timer.resume()
      Thread.sleep(for: .seconds(3))
    }
  }

  @Test func suspendedTimersTellOfAllAtOnce() throws {
    try explore(iterations: 100) {
      let count = Atomic(0)
      let told = Atomic(0)
      let isDone = DispatchSemaphore(value: 0)
      let timer = DispatchSource.makeTimerSource()
      timer.schedule(wallDeadline: .now() + 1, repeating: .seconds(1))
      timer.setEventHandler { [unowned timer] in
        count.add(1)
        told.add(Int(timer.data))
        isDone.signal()
      }
      timer.resume()
      Self.wait(isDone)
      timer.suspend()
      Thread.sleep(for: .seconds(10))
      check(count.load() == 1)
      timer.resume()
      Self.wait(isDone)
      timer.cancel()
    }
  }

  @Test func dataIsMergedUntilItIsTold() throws {
    try explore(iterations: 100) {
      let (sum, calls) = (Atomic(0), Atomic(0))
      let isDone = DispatchSemaphore(value: 0)
      let source = DispatchSource.makeUserDataAddSource(queue: DispatchQueue(label: "sums"))
      source.setEventHandler { [unowned source] in
        calls.add(1)
        if sum.add(Int(source.data)).newValue == 6 { isDone.signal() }
      }
      source.resume()
      let threads = (1...3).map { number in
        Thread.start { source.add(data: UInt(number)) }
      }
      for thread in threads { thread.join() }
      Self.wait(isDone)
      source.cancel()
      check(sum.load() == 6 && 1...3 ~= calls.load())
    }
    try explore(iterations: 20) {
      let isDone = DispatchSemaphore(value: 0)
      let bits = DispatchSource.makeUserDataOrSource()
      bits.or(data: 1)
      bits.or(data: 4)
      bits.setEventHandler { [unowned bits] in
        check(bits.data == 5)
        isDone.signal()
      }
      let latest = DispatchSource.makeUserDataReplaceSource()
      latest.replace(data: 1)
      latest.replace(data: 4)
      latest.setEventHandler { [unowned latest] in
        check(latest.data == 4)
        isDone.signal()
      }
      bits.activate()
      latest.activate()
      Self.wait(isDone)
      Self.wait(isDone)
      bits.cancel()
      latest.cancel()
    }
  }

  @Test func aSourceThatIsResumedTwiceIsAFailure() {
    let found = failure {
      let timer = DispatchSource.makeTimerSource()
      timer.resume()
      timer.resume()
    }
    #expect(found?.reason == "timer 1 is resumed and was not suspended")
  }

  /// The same without an exploration: Dispatch's.
  @Test func outsideOfExplorationsTheyAreDispatchs() {
    let (isDone, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "timer"))
    timer.schedule(deadline: .now(), repeating: 0.001)
    timer.setEventHandler { isDone.signal() }
    timer.setCancelHandler { hasEnded.signal() }
    timer.activate()
    #expect(isDone.wait(timeout: .now() + 60) == .success)
    timer.suspend()
    timer.resume()
    timer.cancel()
    #expect(timer.isCancelled && hasEnded.wait(timeout: .now() + 60) == .success)
  }
}
