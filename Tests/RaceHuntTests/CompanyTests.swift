// Explorations at the same time in one process, of programs that share the actor of a global actor
// without a will to.
import RaceHunt
import TestSupport
import Testing

@globalActor private actor Office {
  static let shared = Office()
}

@Office private final class Desk {
  private var letters = 0
  nonisolated init() {}
  func write() { letters += 1 }
  var count: Int { letters }
}

@Suite(.ownThreads) struct CompanyTests {
  /// A task of one ran in a step of the other, and both failed as not reproducible.
  @Test func programsOfOneGlobalActorAreExploredBesideEachOther() throws {
    let program: Program = {
      let desk = Desk()
      let word = Atomic(0, name: "word")
      let tasks = (1...3).map { _ in
        Task {
          word.add(1)
          await desk.write()
          word.add(1)
        }
      }
      for task in tasks { await task.value }
      let count = await desk.count
      check(count == 3, "\(count) letters")
    }
    let settings = {
      var settings = Explorer.Settings()
      settings.iterations = 2_000
      settings.comparesEvery = 1
      return settings
    }()
    let (ended, failures) = (Mutex(0), Mutex<[String]>([]))
    let threads = (0..<4).map { number in
      Thread {
        do {
          _ = try Explorer(program, settings).explore()
        } catch {
          failures.withLock { $0.append("\(number): \(error)") }
        }
        ended.withLock { $0 += 1 }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads { thread.join() }
    let found = failures.withLock { $0 }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    #expect(ended.withLock { $0 } == 4)
  }
}
