// Threads and actors that use Realms of one file by the public interface, made from the seed of
// their schedule, and what each of them has to see. The file is on a simulated disk.
internal import Foundation
internal import Platform
internal import RaceHunt
internal import RealmSwift

/// Programs with Realms.
enum RealmPrograms {
  static let all = [
    HuntProgram(
      name: "realm",
      summary: "threads that write, cancel, refresh, invalidate, freeze and refer in Realms",
      hasBug: false, needsControlledEngine: true, steps: 60_000, warmUps: 60,
      program: { try run(threads: 2 + random(below: 2), steps: 4) }),
    HuntProgram(
      name: "realm-two-processes", summary: "the same in two processes on one disk",
      hasBug: false, needsControlledEngine: true, steps: 60_000, warmUps: 60,
      program: { try run(threads: 2 + random(below: 2), steps: 4, processes: 2) }),
    HuntProgram(
      name: "realm-power-cut", summary: "the same, and what a power cut at any operation leaves",
      hasBug: false, needsControlledEngine: true, steps: 60_000, warmUps: 60,
      program: { try run(threads: 2, steps: 4, cutsPower: true) }),
    HuntProgram(
      name: "realm-actors",
      summary: "actors whose tasks write, are cancelled and observe in Realms of their own",
      hasBug: false, needsControlledEngine: true, steps: 60_000, warmUps: 60,
      program: { try await runActors(2, steps: 3) }),
  ]

  // MARK: - Threads

  // Nobody observes there: that needs a run loop, and the one of a pooled thread keeps what earlier
  // runs have posted.

  /// What a thread does next.
  enum Step: Int, CaseIterable {
    case write, writeTwice, cancel, fail, refresh, invalidate
    case freeze, readFrozen, refer, resolve
  }

  private static func run(
    threads count: Int, steps: Int, processes: Int = 1, cutsPower: Bool = false
  ) throws {
    let shared = HuntedFile(
      users: count, processes: processes, isPlain: processes == 1 && !cutsPower)
    let begin = Platform.Monitor(0)
    onThread("founder") {
      let operations = try shared.found()
      begin.withLock { $0 = operations }
    }
    let threads = (0..<count).map { number in
      let plan = (0..<1 + random(below: steps)).map { _ in
        Step(rawValue: random(below: Step.allCases.count))!
      }
      return Platform.Thread.start(name: "user \(number)") {
        do {
          let user = try HuntUser(number, shared)
          for step in plan { try perform(step, user) }
        } catch { check(false, "user \(number) fails: \(error)") }
      }
    }
    for thread in threads { thread.join() }
    onThread("judge") { try shared.judgeEnd() }
    if cutsPower {
      onThread("judge of the cut") { try shared.judgeCut(from: begin.withLock { $0 }) }
    }
  }

  static func onThread(_ name: String, _ work: @escaping @Sendable () throws -> Void) {
    Platform.Thread.start(name: name) {
      do { try work() } catch { check(false, "the \(name) fails: \(error)") }
    }.join()
  }

  private static func perform(_ step: Step, _ user: HuntUser) throws {
    switch step {
    case .write: try user.write()
    case .writeTwice:
      try user.write()
      try user.write()
    case .cancel: user.cancel()
    case .fail: try user.fail()
    case .refresh: user.refresh()
    case .invalidate: user.realm.invalidate()
    case .freeze: user.freeze()
    case .readFrozen: user.readFrozen()
    case .refer: user.refer()
    case .resolve: user.resolve()
    }
    user.judge(after: step)
  }

  // MARK: - Actors

  static func runActors(_ count: Int, steps: Int) async throws {
    let shared = HuntedFile(users: count)
    onThread("founder") { _ = try shared.found() }
    let tasks = (0..<count).map { number in
      let plan = (0..<1 + random(below: steps)).map { _ in
        HuntActor.Step(rawValue: random(below: HuntActor.Step.allCases.count))!
      }
      return Task {
        do {
          let user = HuntActor(number, shared)
          try await user.open()
          for step in plan { try await user.perform(step) }
          await user.close()
        } catch { check(false, "actor \(number) fails: \(error)") }
      }
    }
    for task in tasks { await task.value }
    onThread("judge") { try shared.judgeEnd() }
  }
}
