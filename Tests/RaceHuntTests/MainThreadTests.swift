// The main actor and the main queue are one thread's: what runs there runs alone, and knows that it
// does.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct MainThreadTests {
  @MainActor private final class Model {
    private let word = Atomic(0, name: "word")
    /// In two steps, which is sound where nothing runs beside it.
    func add() { word.store(word.load() + 1) }
    var value: Int { word.load() }

    func requireMain() {
      dispatchPrecondition(condition: .onQueue(.main))
      check(RaceHunt.Thread.isMainThread, "it is not the main thread")
    }
  }

  private static func tellMain(_ work: @escaping @MainActor @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async {
        MainActor.assumeIsolated { work() }
        continuation.resume()
      }
    }
  }

  @Test func theMainQueueAndTheMainActorTakeTurns() throws {
    let exploration = try explore(iterations: 1_000) {
      let model = await MainActor.run { Model() }
      let task = Task { @MainActor in model.add() }
      let thread = RaceHunt.Thread.start {
        DispatchQueue.main.sync { MainActor.assumeIsolated { model.add() } }
      }
      await Self.tellMain { model.add() }
      await task.value
      thread.join()
      let value = await model.value
      check(value == 3, "the word is \(value)")
    }
    #expect(exploration.schedules == 1_000 && exploration.distinct > 1)
  }

  @Test func bothKnowThatTheyAreOnTheMainThread() throws {
    let exploration = try explore(iterations: 200) {
      let model = await MainActor.run { Model() }
      await model.requireMain()
      await Self.tellMain { model.requireMain() }
      await model.requireMain()
    }
    #expect(exploration.schedules == 200)
  }

  /// Others come before and between their turns.
  @Test func whoIsNotOnTheMainThreadComesInBetween() throws {
    let program: Program = {
      let log = Mutex<[Int]>([], name: "log")
      let task = Task { @MainActor in log.withLock { $0.append(1) } }
      let thread = RaceHunt.Thread.start { log.withLock { $0.append(2) } }
      await Self.tellMain { log.withLock { $0.append(3) } }
      await task.value
      thread.join()
      let numbers = log.withLock { $0 }
      check(numbers != [1, 2, 3], "it comes in between")
    }
    let found = #expect(throws: RaceFailure.self) { try explore(iterations: 1_000, program) }
    #expect(found?.reason == "it comes in between")
    let again = #expect(throws: RaceFailure.self) { try replay(found!.schedule, program) }
    #expect(again?.table == found?.table)
  }

  @Test func waitingForTheMainQueueInTheMainActorIsADeadlock() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 100) { await MainActor.run { DispatchQueue.main.sync {} } }
    }
    #expect(found?.kind == .deadlock)
    #expect(found?.reason.contains("main actor waits for main queue") == true)
  }
}
