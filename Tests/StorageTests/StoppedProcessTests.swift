// Processes that are stopped by a signal while they wait for the write lock or have it, and
// processes that are killed and leave a forked child behind.
import Foundation
import Platform
import Storage
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct StoppedProcessTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("stopped.realm") }

  /// Ends a child however it stands.
  private func end(_ child: ProcessDeathTests.Child) {
    kill(child.process.processIdentifier, SIGKILL)
    kill(child.process.processIdentifier, SIGCONT)
    child.process.waitUntilExit()
  }

  private func stop(_ child: ProcessDeathTests.Child) throws {
    let process = child.process.processIdentifier
    kill(process, SIGSTOP)
    try #require(eventually { describeProcess(UInt64(process)).hasSuffix("which is stopped") })
  }

  /// The lock lay free in front of the stopped process, and all others waited behind its ticket for
  /// ever.
  @Test func aStoppedWaiterIsPassedBy() throws {
    let store = try Store.open(StoreOptions(path: path))
    let transaction = try store.beginWrite()
    let stopped = try ProcessDeathTests.Child(path, "1")
    defer { end(stopped) }
    try #require(try eventually { try store.writingProcesses().waiters.count == 1 })
    try stop(stopped)
    let others = try (0..<2).map { _ in try ProcessDeathTests.Child(path, "20") }
    defer { others.forEach(end) }
    try #require(try eventually { try store.writingProcesses().waiters.count == 3 })
    transaction.cancel()
    #expect(eventually { others.allSatisfy { !$0.process.isRunning } }, "the others wait for ever")
    for other in others where !other.process.isRunning {
      #expect(other.process.terminationStatus == 0)
    }
    // It has lost its turn, not its write; and nobody's write is lost.
    kill(stopped.process.processIdentifier, SIGCONT)
    #expect(eventually { !stopped.process.isRunning })
    #expect(ProcessDeathTests.number(try store.pinNewest()) == 41)
    #expect(try store.checkInvariants().findings == [])
  }

  /// Stopped and continued all the time while they write and wait: never two writers, and all come
  /// to an end.
  @Test func stopsAtAnyTime() async {
    await withSeeds { random in
      let store = try Store.open(StoreOptions(path: path, durability: .memory))
      let children = try (0..<3).map { _ in
        try ProcessDeathTests.Child(path, "150", "memory")
      }
      defer { children.forEach(end) }
      while children.contains(where: \.process.isRunning) {
        let victim = children.randomElement(using: &random)!.process.processIdentifier
        kill(victim, SIGSTOP)
        // So long that others notice, sometimes; this process writes meanwhile unless the victim
        // does.
        usleep(UInt32.random(in: 0..<3_000, using: &random))
        kill(victim, SIGCONT)
        if random.oneIn(4) { try store.beginWrite().cancel() }
      }
      for child in children { #expect(child.process.terminationStatus == 0) }
      #expect(ProcessDeathTests.number(try store.pinNewest()) == 450)
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// Who has the lock keeps it; who waits says for whom.
  @Test func aStoppedWriterIsNamed() throws {
    let path = path
    let store = try Store.open(StoreOptions(path: path))
    let holder = try ProcessDeathTests.Child(path, "hold")
    defer { end(holder) }
    _ = holder.read(lines: 1)
    try stop(holder)
    let number = holder.process.processIdentifier
    let expected = "process 'CommittingProce' (\(number)), which is stopped"
    #expect(try store.writingProcesses().writer == expected)
    let reports = Monitor<[String?]>([])
    LongWait.setObserver { wait in
      if wait.path == path { reports.withLock { $0.append(wait.holder) } }
    }
    defer { LongWait.setObserver(nil) }
    let waiter = Platform.Thread.start(name: "waiter") {
      do { try store.beginWrite().cancel() } catch { Issue.record(error) }
    }
    #expect(eventually { reports.withLock { !$0.isEmpty } })
    #expect(reports.withLock { $0 } == [expected])
    end(holder)
    waiter.joinInTime()
    #expect(try store.writingProcesses().writer == nil)
  }

  /// All who wait here wait for the other process, not for the thread of ours whose turn it is; and
  /// none of them names all.
  @Test func anotherProcessIsNamedToAllWhoWait() throws {
    let path = path
    let store = try Store.open(StoreOptions(path: path))
    let holder = try ProcessDeathTests.Child(path, "hold")
    defer { end(holder) }
    _ = holder.read(lines: 1)
    let reports = Monitor<[LongWait]>([])
    LongWait.setObserver { wait in
      if wait.path == path { reports.withLock { $0.append(wait) } }
    }
    defer { LongWait.setObserver(nil) }
    let waiters = (0..<8).map { number in
      Platform.Thread.start(name: "waiter \(number)") {
        do { try store.beginWrite().cancel() } catch { Issue.record(error) }
      }
    }
    #expect(eventually { reports.withLock { $0.count == waiters.count } })
    let expected = "process 'CommittingProce' (\(holder.process.processIdentifier))"
    for report in reports.withLock({ $0 }) {
      #expect(report.holder == expected)
      #expect((1...3).contains(report.waiters.count) && report.waitersInAll <= waiters.count)
      #expect(report.waiters.allSatisfy { $0.contains("waiter ") })
    }
    end(holder)
    for waiter in waiters { waiter.joinInTime() }
  }

  /// The idle child shared the open lock file, and with it the lock of the dead.
  @Test func aForkedChildKeepsNoLock() throws {
    let store = try Store.open(StoreOptions(path: path))
    let holder = try ProcessDeathTests.Child(path, "fork")
    let child = pid_t(ProcessDeathTests.lastNumber(holder.read(lines: 1)))
    try #require(child > 0)
    defer { kill(child, SIGKILL) }
    end(holder)
    #expect(kill(child, 0) == 0, "the child lives")
    let hasLock = Atomic(false)
    let waiter = Platform.Thread.start(name: "waiter") {
      do { try store.beginWrite().cancel() } catch { Issue.record(error) }
      hasLock.store(true, ordering: .sequentiallyConsistent)
    }
    let isFree = eventually { hasLock.load(ordering: .sequentiallyConsistent) }
    #expect(isFree, "the child keeps the write lock")
    // Only now, so that the thread comes to an end in any case.
    kill(child, SIGKILL)
    waiter.joinInTime()
  }

  /// In the child itself each use of the parent's store stops; nothing of it is the parent's loss.
  @Test(arguments: ["pin", "write"]) func aForkedChildIsTold(_ use: String) async throws {
    let path = path
    await #expect(processExitsWith: .success) { [path = path as String, use = use as String] in
      let store = try Store.open(StoreOptions(path: path))
      let child = fork()
      if child == 0 {
        switch use {
        case "pin": _ = try store.pinNewest()
        default: _ = try store.beginWrite()
        }
        _exit(0)
      }
      var status: Int32 = 0
      precondition(waitpid(child, &status, 0) == child)
      precondition(status & 127 == SIGILL, "\(use): status \(status)")
      try store.beginWrite().cancel()
    }
  }
}
