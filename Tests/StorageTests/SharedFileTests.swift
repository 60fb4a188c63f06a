// Writers and readers of several processes on one file, one of them killed again and again: the
// others go on, the lock and the pins of the dead are soon free, nothing acknowledged is lost, and
// the file stays short. REALM_PROCESS_SECONDS sets how long; scripts/nightly takes a minute.
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

  init(_ path: String, _ mode: String, _ durability: Durability = .full) throws {
    self.mode = mode
    let process = Process()
    let output = Pipe()
    process.executableURL = ProcessDeathTests.executable
    process.arguments = [path, mode.isEmpty ? "\(Int.max)" : mode]
    if durability == .memory { process.arguments!.append("memory") }
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

  /// Waits for more lines than there were; false when the child has ended or ten minutes are over.
  func waitForLines(_ count: Int) -> Bool {
    let isDone = state.wait(nanoseconds: waitLimitNanoseconds) { $0.lines >= count || $0.hasEnded }
    return isDone && state.withLock { !$0.hasEnded }
  }

  func kill() { Foundation.kill(process.value.processIdentifier, SIGKILL) }

  /// After a kill: the last number that the child had shown.
  func finish() -> UInt64 {
    process.value.waitUntilExit()
    reader.joinInTime()
    return state.withLock { $0.number }
  }
}

@Suite(.serialized, .ownThreads) struct SharedFileTests {
  private static let seconds =
    ProcessInfo.processInfo.environment["REALM_PROCESS_SECONDS"].flatMap { UInt64($0) } ?? 3

  private let folder = TemporaryFolder()
  private let clock = AdvancingClock()

  /// Without syncs the processes store through maps of the file: what the dead had acknowledged is
  /// there.
  @Test(arguments: [Durability.full, .memory])
  func oneOfFourIsKilledAgainAndAgain(durability: Durability) async {
    let path = folder.file("shared.realm")
    await withSeeds { [self] random in
      let store = try Store.open(StoreOptions(path: path, durability: durability, clock: clock))
      var workers = try ["", "", "read", "read"].map { try Worker(path, $0, durability) }
      let end = clock.nanoseconds() + Self.seconds * 1_000_000_000
      var acknowledged: UInt64 = 0
      var longest: UInt64 = 0
      var kills = 0
      // So often, however slow the machine is.
      while kills < 3 || clock.nanoseconds() < end {
        let victim = Int.random(in: 0..<workers.count, using: &random)
        let wanted = workers[victim].lines + Int.random(in: 1...15, using: &random)
        #expect(workers[victim].waitForLines(wanted), "\(workers[victim].mode) has stopped")
        workers[victim].kill()
        // Ends at all; how soon, only the test below could say.
        try store.beginWrite().cancel()
        let number = workers[victim].finish()
        if workers[victim].mode.isEmpty { acknowledged = max(acknowledged, number) }
        kills += 1
        let found = ProcessDeathTests.number(try store.pinNewest())
        #expect(found != nil, "a transaction is half there")
        #expect(found ?? 0 >= acknowledged, "an acknowledged commit is lost")
        for (index, worker) in workers.enumerated() where index != victim {
          #expect(worker.waitForLines(worker.lines + 1), "\(worker.mode) has stopped")
        }
        workers[victim] = try Worker(path, workers[victim].mode, durability)
        longest = max(longest, try store.statistics().fileBytes)
      }
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
    // A writer looks for dead processes every 20 ms; the kernel closes their files a moment after
    // they were waited for, later on a busy machine.
    var versions: [VersionInfo] = []
    let areGone = try eventually {
      clock.advance(nanoseconds: 25_000_000)
      try commit()
      versions = try store.statistics().versions
      return versions.count == 1
    }
    #expect(areGone, "\(versions)")
    let number = ProcessDeathTests.number(try store.pinNewest())
    #expect(number ?? 0 >= acknowledged)
    for _ in 0..<2 { try store.runMaintenance() }
    let figures = try store.statistics()
    // Besides: the header with the homes, a step of growth and twice the slack, 64 KB each.
    #expect(
      Double(figures.fileBytes) <= 1.1 * Double(figures.liveBytes) + 262_144,
      "\(figures.fileBytes) bytes for \(figures.liveBytes)")
    #expect(try store.checkInvariants().findings == [])
  }

  /// A process dies with the write lock, which nobody is told of: who waits asks for it often
  /// enough to have it at once, and seldom enough to need no processor.
  @Test func theLockOfTheDeadIsSoonFree() throws {
    let path = folder.file("locked.realm")
    let system = FaultFileSystem(LinuxFileSystem())
    let store = try Store.open(StoreOptions(path: path, fileSystem: system))
    for _ in 0..<3 {
      let holder = try Worker(path, "hold")
      #expect(holder.waitForLines(1))
      system.resetRecords()
      let waiter = Platform.Thread.start(name: "waiter") {
        do { try store.beginWrite().cancel() } catch { Issue.record(error) }
      }
      let calls = { system.records.count { $0.call == .lockByte && $0.offset == Self.writeByte } }
      let clock = MonotonicClock()
      let start = clock.nanoseconds()
      // A hundred times a second in the first second.
      #expect(eventually { calls() >= 5 })
      #expect(clock.nanoseconds() - start > 20_000_000)
      holder.kill()
      waiter.joinInTime()
      _ = holder.finish()
    }
  }

  /// Of LockLayout.swift.
  private static let writeByte: UInt64 = 16
}
