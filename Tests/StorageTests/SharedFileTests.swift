// Writers and readers of several processes on one file, one of them killed again and again: the others
// go on, the lock and the pins of the dead are soon free, nothing acknowledged is lost, and the file
// stays short. REALM_PROCESS_SECONDS sets how long; scripts/nightly takes a minute.
import Foundation
import Platform
import Storage
import TestSupport
import Testing

/// The machine's clock, which a test can set ahead.
private final class AdvancingClock: Clock {
  private let ahead = Atomic<UInt64>(0)

  func nanoseconds() -> UInt64 {
    MonotonicClock().nanoseconds() + ahead.load(ordering: .relaxed)
  }

  func advance(nanoseconds: UInt64) { ahead.add(nanoseconds, ordering: .relaxed) }
}

/// A child whose lines are read as they come.
private final class Worker: Sendable {
  struct State {
    var lines = 0
    /// The last number that the child has printed.
    var number: UInt64 = 0
    var hasEnded = false
  }

  let mode: String
  private let process: Mutexed<Process>
  private let state = Monitor(State())
  private let reader: Platform.Thread

  /// `Process` is not Sendable; one thread uses it.
  private struct Mutexed<Value>: @unchecked Sendable { let value: Value }

  init(_ path: String, _ mode: String) throws {
    self.mode = mode
    let process = Process()
    let output = Pipe()
    process.executableURL = ProcessDeathTests.executable
    process.arguments = mode.isEmpty ? [path] : [path, mode]
    process.standardOutput = output
    try process.run()
    self.process = Mutexed(value: process)
    let handle = Mutexed(value: output.fileHandleForReading)
    reader = Platform.Thread.start(name: "reader") { [state] in
      var rest: [UInt8] = []
      while case let data = handle.value.availableData, !data.isEmpty {
        rest += data
        let lines = rest.split(separator: 10, omittingEmptySubsequences: false)
        let numbers = lines.dropLast().compactMap { UInt64(String(decoding: $0, as: UTF8.self)) }
        rest = Array(lines.last!)
        state.withLock { state in
          state.lines += numbers.count
          state.number = numbers.last ?? state.number
        }
        state.notifyAll()
      }
      state.withLock { $0.hasEnded = true }
      state.notifyAll()
    }
  }

  var lines: Int { state.withLock { $0.lines } }

  /// Waits for more lines than there were; false when the child has ended or ten seconds are over.
  func waitForLines(_ count: Int) -> Bool {
    let isDone = state.wait(nanoseconds: 10_000_000_000) { $0.lines >= count || $0.hasEnded }
    return isDone && state.withLock { !$0.hasEnded }
  }

  func kill() { Foundation.kill(process.value.processIdentifier, SIGKILL) }

  /// After a kill: the last number that the child had shown.
  func finish() -> UInt64 {
    process.value.waitUntilExit()
    reader.join()
    return state.withLock { $0.number }
  }
}

@Suite(.serialized) struct SharedFileTests {
  private static let seconds =
    ProcessInfo.processInfo.environment["REALM_PROCESS_SECONDS"].flatMap { UInt64($0) } ?? 3

  private let folder = TemporaryFolder()
  private let clock = AdvancingClock()

  /// Nanoseconds until this process has the write lock.
  private func timeToLock(_ store: Store) throws -> UInt64 {
    let start = clock.nanoseconds()
    let transaction = try store.beginWrite()
    defer { transaction.cancel() }
    return clock.nanoseconds() - start
  }

  @Test func oneOfFourIsKilledAgainAndAgain() async {
    let path = folder.file("shared.realm")
    await withSeeds { [self] random in
      let store = try Store.open(StoreOptions(path: path, clock: clock))
      var workers = try ["", "", "read", "read"].map { try Worker(path, $0) }
      let end = clock.nanoseconds() + Self.seconds * 1_000_000_000
      var acknowledged: UInt64 = 0
      var longest: UInt64 = 0
      var kills = 0
      while clock.nanoseconds() < end {
        let victim = Int.random(in: 0..<workers.count, using: &random)
        let wanted = workers[victim].lines + Int.random(in: 1...15, using: &random)
        #expect(workers[victim].waitForLines(wanted), "\(workers[victim].mode) has stopped")
        workers[victim].kill()
        let waited = try timeToLock(store)
        let number = workers[victim].finish()
        if workers[victim].mode.isEmpty { acknowledged = max(acknowledged, number) }
        kills += 1
        let found = ProcessDeathTests.number(try store.pinNewest())
        #expect(found != nil, "a transaction is half there")
        #expect(found ?? 0 >= acknowledged, "an acknowledged commit is lost")
        for (index, worker) in workers.enumerated() where index != victim {
          #expect(worker.waitForLines(worker.lines + 1), "\(worker.mode) has stopped")
        }
        workers[victim] = try Worker(path, workers[victim].mode)
        longest = max(longest, try store.statistics().fileBytes)
        // The others of the four may be served first.
        #expect(waited < 1_000_000_000, "waited \(waited / 1_000_000) ms for the lock")
      }
      #expect(kills >= 3)
      #expect(longest < 2 << 20, "\(longest) bytes for five leaves and ten pins")
      for worker in workers { worker.kill() }
      for worker in workers {
        let number = worker.finish()
        if worker.mode.isEmpty { acknowledged = max(acknowledged, number) }
      }
      try expectNothingIsLeft(store, acknowledged)
    }
  }

  /// The pins of the dead go with the next commit that looks for them, and then the file is short.
  private func expectNothingIsLeft(_ store: Store, _ acknowledged: UInt64) throws {
    func commit() throws {
      let transaction = try store.beginWrite()
      transaction.root = transaction.editor.mutable(transaction.root)
      _ = try transaction.commit()
    }
    // A writer looks for dead processes every 20 ms; the kernel closes their files a moment after they
    // were waited for, later on a busy machine.
    let end = MonotonicClock().nanoseconds() + 5_000_000_000
    var versions: [VersionInfo] = []
    repeat {
      clock.advance(nanoseconds: 25_000_000)
      try commit()
      versions = try store.statistics().versions
    } while versions.count > 1 && MonotonicClock().nanoseconds() < end
    #expect(versions.count == 1, "\(versions)")
    let number = ProcessDeathTests.number(try store.pinNewest())
    #expect(number ?? 0 >= acknowledged)
    for _ in 0..<2 { try store.runMaintenance() }
    let figures = try store.statistics()
    #expect(
      Double(figures.fileBytes) <= 1.1 * Double(figures.liveBytes) + 200_000,
      "\(figures.fileBytes) bytes for \(figures.liveBytes)")
    #expect(try store.checkInvariants().findings == [])
  }

  /// A process dies with the write lock: who waits has it within 100 ms.
  @Test func theLockOfTheDeadIsSoonFree() throws {
    let path = folder.file("locked.realm")
    let store = try Store.open(StoreOptions(path: path))
    var times: [UInt64] = []
    for _ in 0..<7 {
      let holder = try Worker(path, "hold")
      #expect(holder.waitForLines(1))
      let locked = Monitor<UInt64>(0)
      let waiter = Platform.Thread.start(name: "waiter") { [clock] in
        do {
          let transaction = try store.beginWrite()
          locked.withLock { $0 = clock.nanoseconds() }
          transaction.cancel()
        } catch {
          Issue.record(error)
        }
      }
      let killed = clock.nanoseconds()
      holder.kill()
      waiter.join()
      times.append(locked.withLock { $0 } &- killed)
      _ = holder.finish()
    }
    // Of a busy machine the worst of a few may say nothing.
    #expect(times.sorted()[times.count / 2] < 100_000_000, "\(times)")
  }
}
