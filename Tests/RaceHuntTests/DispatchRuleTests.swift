// Rules of Dispatch: iterations that run at once, barriers, what may not be released, and the names
// of its types.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct DispatchRuleTests {
  // MARK: - Iterations

  @Test(arguments: ["portfolio", "exhaustive"])
  func anIterationMayComeBeforeAnyOther(name: String) throws {
    let program: Program = {
      let (first, isFirstLate) = (Atomic(false), Atomic(false))
      DispatchQueue.concurrentPerform(iterations: 5) { number in
        if number == 0 { first.store(true) }
        if number == 4, !first.load() { isFirstLate.store(true) }
      }
      check(!isFirstLate.load(), "the last one comes before the first one")
    }
    let strategy = try #require(Strategy(name))
    let found = try #require(failure(iterations: 20_000, strategy: strategy, program))
    #expect(found.reason == "the last one comes before the first one")
    let operations = failure {
      let (first, isFirstLate) = (Atomic(false), Atomic(false))
      let operation = BlockOperation { first.store(true) }
      for _ in 0..<3 { operation.addExecutionBlock {} }
      operation.addExecutionBlock { if !first.load() { isFirstLate.store(true) } }
      operation.start()
      check(!isFirstLate.load(), "the last one comes before the first one")
    }
    #expect(operations?.reason == "the last one comes before the first one")
  }

  @Test func eachIterationIsCalledOnce() throws {
    try explore(iterations: 200) {
      for count in [0, 1, 3, 7] {
        let calls = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: count) { number in
          calls.withLock { $0.append(number) }
        }
        check(calls.withLock { $0.sorted() } == Array(0..<count))
      }
    }
  }

  // MARK: - Barriers

  @Test func aBarrierIsAskedFor() throws {
    try explore(iterations: 100) {
      let (concurrent, serial) = (
        DispatchQueue(label: "concurrent", attributes: .concurrent), DispatchQueue(label: "serial")
      )
      concurrent.async(flags: .barrier) {
        dispatchPrecondition(condition: .onQueueAsBarrier(concurrent))
      }
      concurrent.sync(flags: .barrier) {
        dispatchPrecondition(condition: .onQueueAsBarrier(concurrent))
      }
      serial.sync { dispatchPrecondition(condition: .onQueueAsBarrier(serial)) }
      concurrent.sync { dispatchPrecondition(condition: .onQueue(concurrent)) }
    }
    let found = failure {
      let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
      concurrent.sync { dispatchPrecondition(condition: .onQueueAsBarrier(concurrent)) }
    }
    #expect(found?.reason == "program runs in concurrent, and not as a barrier")
  }

  // MARK: - What may not be released

  @Test func aSemaphoreIsReleasedAsItBegan() throws {
    let found = failure {
      let semaphore = DispatchSemaphore(value: 1)
      semaphore.wait()
    }
    #expect(
      found?.reason
        == "semaphore 1 is at 0, below the 1 that it began with, when program releases it, at which "
        + "Dispatch ends the process")
    try explore(iterations: 20) {
      let semaphore = DispatchSemaphore(value: 1)
      semaphore.wait()
      semaphore.signal()
      DispatchSemaphore(value: 0).signal()
    }
  }

  @Test func queuesAndSourcesAreReleasedActive() throws {
    let suspended = failure { DispatchQueue(label: "queue").suspend() }
    #expect(suspended?.reason.hasPrefix("queue is still suspended or inactive when") == true)
    let inactive = failure { _ = DispatchQueue(label: "queue", attributes: .initiallyInactive) }
    #expect(inactive?.reason.hasPrefix("queue is still suspended or inactive when") == true)
    let timer = failure { DispatchSource.makeTimerSource().cancel() }
    #expect(timer?.reason.hasPrefix("timer 1 is not active when program releases it") == true)
    let later = failure {
      let timer = DispatchSource.makeTimerSource()
      timer.resume()
      timer.suspend()
    }
    #expect(later?.reason.hasPrefix("timer 1 is suspended when program releases it") == true)
    try explore(iterations: 20) {
      let queue = DispatchQueue(label: "queue", attributes: .initiallyInactive)
      queue.activate()
      queue.suspend()
      queue.resume()
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.activate()
    }
  }

  // MARK: - Names

  /// As programs write it; compiling is what is tested, and that it does the same.
  private static let typedProgram: Program = {
    let (queue, group) = (DispatchQueue(label: "queue"), DispatchGroup())
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let objects: [DispatchObject] = [queue, group, DispatchSemaphore(value: 0)]
    for object in objects {
      object.suspend()
      object.resume()
    }
    let told = Atomic(0)
    source.setEventHandler(qos: .utility) { told.add(Int(source.data)) }
    source.setEventHandler(flags: []) {
      told.add(Int(source.data))
      group.leave()
    }
    source.setCancelHandler(qos: .utility, flags: []) { group.leave() }
    source.setRegistrationHandler(qos: .utility) { group.leave() }
    check(source.handle == 0 && source.mask == 0)
    for _ in 1...2 { group.enter() }
    let any = source as? DispatchSource
    any?.activate()
    source.add(data: 3)
    group.wait()
    check(told.load() == 3)
    group.enter()
    source.cancel()
    group.wait()
    DispatchQueue.global(priority: .high).sync {}
  }

  @Test func typesHaveTheNamesOfDispatch() async throws {
    try await explore(iterations: 50, Self.typedProgram)
    try await Self.typedProgram()
  }
}
