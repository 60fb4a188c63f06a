// Crashes in the company of others: kills while a sync is under way, several processes on one disk
// of which one dies, failed syncs with a second process alive, records torn by a full disk; each
// followed by power cuts. Processes are stores on one simulated disk whose files have another
// identity for each.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CrashProcessTests {
  /// A process of the simulated machine, which can be killed.
  private final class SimulatedProcess {
    let faults: FaultFileSystem
    let files: MortalFileSystem
    var store: Store?
    var pins: [Pin] = []

    init(_ history: CrashHistory, number: UInt64) throws {
      faults = FaultFileSystem(history.disk, process: number)
      files = MortalFileSystem(faults)
      store = try history.open(files)
    }
  }

  /// A pinned version with what it must hold and where its blocks end.
  private struct Pin {
    let snapshot: Snapshot
    let content: [Int: [UInt8]]
    let end: UInt64

    init(_ store: Store, _ history: CrashHistory) throws {
      let snapshot = try store.pinNewest()
      self.snapshot = snapshot
      content = history.entries.last { $0.version <= snapshot.version }!.content
      end = SlotTree.end(snapshot.reader, snapshot.root)
    }

    /// What is wrong with it; looked at block by block, so that a broken engine does not end the
    /// test.
    func finding(on disk: SimulatedDisk) throws -> String? {
      let length = try disk.open(CrashHistory.path, []).length()
      if length < end { return "version \(snapshot.version) is cut: \(end) bytes of \(length)" }
      if let damage = SlotTree.damage(snapshot.reader, snapshot.root) { return "\(damage)" }
      let isRight = SlotTree.content(snapshot.reader, snapshot.root) == content
      return isRight ? nil : "version \(snapshot.version) has another content"
    }
  }

  /// Two processes commit in turn to a file that shrinks and grows.
  ///
  /// Whenever one has begun a transaction, which is when it cuts the file, another can open it: the
  /// newest record never names more than there is.
  @Test func filesCanBeOpenedAfterEachCut() async {
    await withSeeds(20) { random in
      let history = CrashHistory()
      _ = try history.openFirst()
      let writers = try (1...2).map { try SimulatedProcess(history, number: $0) }
      for turn in 0..<80 {
        let store = writers.randomElement(using: &random)!.store!
        if random.oneIn(5) {
          try history.removeMost(store, &random)
        } else if random.oneIn(5) {
          try history.commitLarge(store, &random)
        } else {
          try history.commitRandom(store, &random)
        }
        let transaction = try writers.randomElement(using: &random)!.store!.beginWrite()
        do {
          _ = try SimulatedProcess(history, number: UInt64(turn) + 3)
        } catch {
          Issue.record("turn \(turn): \(error)")
        }
        transaction.cancel()
      }
    }
  }

  /// Power cuts and kills while groups are on their way to the disk; what was killed is opened and
  /// read by another, then the power goes.
  @Test(arguments: CrashPoints.rounds) func crashesDuringASync(round: Int) async {
    await CrashPoints.run(61, round: round) { random in
      let turns = CrashPoints.share(12)
      let history = CrashHistory()
      let store = try history.openFirst()
      for turn in 0..<turns {
        history.fileSystem.hold(.synchronize)
        let begun = history.entries.count
        let count = Int.random(in: 1...3, using: &random)
        let threads = (0..<count).map { _ in
          let seed = random.next()
          return Thread.start(name: "committer") {
            var random = RandomGenerator(seed: seed)
            do { try history.commitRandom(store, &random) } catch { Issue.record(error) }
          }
        }
        // One group is in its sync; the others wait in the open one.
        history.fileSystem.waitUntilHeld(.synchronize)
        for _ in 0..<200 where history.entries.count < begun + count { sched_yield() }
        for _ in 0..<4 {
          let image = history.disk.killImage()
          try history.checkTwice(
            image, cut: image.operationCount, &random, "killed in sync \(turn)")
        }
        let cut = history.disk.operationCount
        for kind in PowerCut.allCases + [.picksWrites, .picksWrites, .picksSectors] {
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          try history.checkTwice(image, cut: cut, &random, "cut in sync \(turn), \(kind)")
        }
        history.fileSystem.release(.synchronize)
        for thread in threads { thread.joinInTime() }
        if turn % 20 == 19 { history.startAgain() }
      }
    }
  }

  /// A full disk stops a record half way: the record before it in the group is put back, and the
  /// commits it stands for survive.
  @Test(arguments: CrashPoints.rounds) func aTornRecordIsPutBack(round: Int) async {
    await CrashPoints.run(63, round: round) { random in
      for written in [0, 96, 512, 700] {
        let history = CrashHistory()
        let store = try history.openFirst()
        for _ in 0..<6 { try history.commitRandom(store, &random) }
        history.fileSystem.hold(.synchronize)
        var threads: [Thread] = []
        // The first commit is in its sync, the second waits in the open group.
        for waiting in 1...2 {
          let seed = random.next()
          let begun = history.entries.count
          threads.append(
            Thread.start(name: "committer") {
              var random = RandomGenerator(seed: seed)
              do { try history.commitRandom(store, &random) } catch { Issue.record(error) }
            })
          if waiting == 1 { history.fileSystem.waitUntilHeld(.synchronize) }
          #expect(eventually { history.entries.count > begun })
        }
        // Waits for the write lock, so the second commit has written its record.
        try store.beginWrite().cancel()
        history.fileSystem.inject(
          FileFault(
            [.write], code: ENOSPC, offsets: [8192, 12_288, 16_384, 20_480], times: 1,
            writtenBytes: written))
        #expect(throws: StorageError.self) { try history.commitRandom(store, &random) }
        history.fileSystem.release(.synchronize)
        for thread in threads { thread.joinInTime() }
        #expect(try store.checkInvariants().findings == [])
        let cut = history.disk.operationCount
        try history.checkTwice(
          history.disk.killImage(), cut: cut, &random, "torn after \(written) bytes, killed")
        for kind in PowerCut.allCases {
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          try history.checkTwice(
            image, cut: cut, &random, "torn after \(written) bytes, \(kind)")
        }
      }
    }
  }

  /// A sync of one process fails while another has the file open: nobody writes any more, readers
  /// keep what is durable, and what the next opening shows survives a power cut.
  @Test(arguments: CrashPoints.rounds) func aFailedSyncWithASecondProcess(round: Int) async {
    await CrashPoints.run(65, round: round) { random in
      for failure in 0..<CrashPoints.share(5) {
        let history = CrashHistory()
        _ = try history.openFirst()
        let processes = try (1...2).map { try SimulatedProcess(history, number: $0) }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          try history.commitRandom(processes.randomElement(using: &random)!.store!, &random)
        }
        let durable = history.entries.last!
        processes[0].faults.fail(.synchronize, code: EIO)
        #expect(throws: StorageError.self) {
          try history.commitRandom(processes[0].store!, &random)
        }
        for process in processes {
          let snapshot = try process.store!.pinNewest()
          #expect(snapshot.version == durable.version, "a version that may not be durable is shown")
          #expect(SlotTree.content(snapshot.reader, snapshot.root) == durable.content)
          #expect {
            try process.store!.beginWrite().cancel()
          } throws: { error in
            if case .previousSyncFailure = error as! StorageError { true } else { false }
          }
        }
        let cut = history.disk.operationCount
        for turn in 0..<4 {
          let note = "failure \(failure), turn \(turn)"
          try history.checkTwice(history.disk.killImage(), cut: cut, &random, "\(note), killed")
          let image = history.disk.crashImage(cutAfterOperation: cut, random: &random)
          try history.checkTwice(image, cut: cut, &random, "\(note), power cut")
        }
      }
    }
  }

  /// Processes that write and pin by turns: the pins of each hold, also where the other one frees,
  /// moves and cuts; then power cuts and kills at any operation.
  @Test(arguments: CrashPoints.rounds) func pinsOfAnotherProcessHold(round: Int) async {
    await CrashPoints.run(67, round: round) { random in
      let history = CrashHistory()
      _ = try history.openFirst()
      let processes = try (1...2).map { try SimulatedProcess(history, number: $0) }
      var writer = processes[0]
      for step in 0..<100 {
        if random.oneIn(6) { writer = processes.randomElement(using: &random)! }
        let process = processes.randomElement(using: &random)!
        let store = writer.store!
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: process.pins.append(try Pin(process.store!, history))
        case 2:
          if !process.pins.isEmpty {
            process.pins.remove(at: Int.random(in: 0..<process.pins.count, using: &random))
          }
        case 3: try history.removeMost(store, &random)
        case 4: try store.runMaintenance()
        default: try history.commitRandom(store, &random)
        }
        for pin in processes.flatMap(\.pins) {
          if let finding = try pin.finding(on: history.disk) {
            Issue.record("step \(step): \(finding)")
            return
          }
        }
      }
      for process in processes {
        #expect(try process.store!.checkInvariants().findings == [])
      }
      try history.checkCuts(CrashPoints.share(60), &random)
    }
  }

  /// One of two processes dies before any of its changes of the file: the other one sees every
  /// version that was durable, goes on writing, and then the power goes.
  @Test(arguments: CrashPoints.rounds) func aWriterDiesAmongOthers(round: Int) async {
    await CrashPoints.run(69, round: round) { random in
      let history = CrashHistory()
      _ = try history.openFirst()
      let survivor = try SimulatedProcess(history, number: 1)
      // Kept until the end: they must not touch the disk any more.
      var dead: [SimulatedProcess] = []
      for death in 0..<20 {
        let doomed = try SimulatedProcess(history, number: UInt64(death) + 2)
        dead.append(doomed)
        doomed.pins.append(try Pin(doomed.store!, history))
        doomed.files.die(beforeChange: Int.random(in: 0..<12, using: &random))
        while !doomed.files.isDead {
          let durable = history.entries.last!
          do {
            try history.commitRandom(doomed.store!, &random)
          } catch {
            #expect(doomed.files.isDead, "\(error)")
            if history.entries.last!.version > durable.version { history.noteLost() }
            let seen = try survivor.store!.pinNewest()
            // Not the commit that failed; one of the maintenance before it has the same content.
            #expect(seen.version >= durable.version, "death \(death)")
            let isDurable = SlotTree.content(seen.reader, seen.root) == durable.content
            #expect(isDurable, "death \(death)")
          }
        }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          try history.commitRandom(survivor.store!, &random)
        }
        #expect(try survivor.store!.checkInvariants().findings == [], "death \(death)")
      }
      // The dead are looked for every 20 ms.
      let areGone = try eventually { try survivor.store!.statistics().liveVersions == 1 }
      #expect(areGone, "pins of the dead are still there")
      try history.checkCuts(CrashPoints.share(60), &random)
      withExtendedLifetime(dead) {}
    }
  }

  /// A transaction without changes, on a version that another process has written, ends.
  ///
  /// It used to wait for ever for a sync of its own process.
  @Test func aTransactionWithoutChangesEnds() async {
    await withSeeds(first: 73) { random in
      let history = CrashHistory()
      _ = try history.openFirst()
      let processes = try (1...2).map { try SimulatedProcess(history, number: $0) }
      let stores = processes.map { $0.store! }
      try history.commitRandom(stores[0], &random)
      let durable = history.entries.last!.version
      #expect(try stores[1].beginWrite().commit().version == durable)
      processes[0].faults.hold(.synchronize)
      let seed = random.next()
      let thread = Thread.start(name: "committer") {
        var random = RandomGenerator(seed: seed)
        do { try history.commitRandom(stores[0], &random) } catch { Issue.record(error) }
      }
      processes[0].faults.waitUntilHeld(.synchronize)
      let written = history.entries.last!
      let snapshot = try stores[1].beginWrite().commit()
      #expect(snapshot.version >= written.version)
      let image = history.disk.crashImage(.keepsNothing, random: &random)
      let store = try history.open(image)
      let found = try store.pinNewest()
      #expect(SlotTree.content(found.reader, found.root) == written.content)
      processes[0].faults.release(.synchronize)
      thread.joinInTime()
    }
  }

  /// Groups of two processes that are on their way to the disk at the same time; then power cuts
  /// and kills at any operation.
  @Test(arguments: CrashPoints.rounds) func groupsOfTwoProcesses(round: Int) async {
    await CrashPoints.run(75, round: round) { random in
      for _ in 0..<CrashPoints.share(3) {
        let history = CrashHistory()
        _ = try history.openFirst()
        let processes = try (1...2).map { try SimulatedProcess(history, number: $0) }
        for _ in 0..<6 {
          var threads: [Thread] = []
          for process in processes where random.oneIn(2) { process.faults.hold(.synchronize) }
          // One commit after the other, by either process, as far as those do not wait for a held
          // sync.
          for _ in 0..<Int.random(in: 2...5, using: &random) {
            let store = processes.randomElement(using: &random)!.store!
            let seed = random.next()
            let begun = history.entries.count
            threads.append(
              Thread.start(name: "committer") {
                var random = RandomGenerator(seed: seed)
                do { try history.commitRandom(store, &random) } catch { Issue.record(error) }
              })
            for _ in 0..<500 where history.entries.count == begun { sched_yield() }
          }
          for process in processes.shuffled(using: &random) {
            process.faults.release(.synchronize)
          }
          for thread in threads { thread.joinInTime() }
        }
        for process in processes {
          #expect(try process.store!.checkInvariants().findings == [])
        }
        try history.checkCuts(40, &random)
      }
    }
  }

  /// A process dies in its sync: the other one does not show what was written, builds on it, and
  /// its own sync makes both durable.
  @Test(arguments: CrashPoints.rounds) func aWriterDiesInItsSync(round: Int) async {
    await CrashPoints.run(71, round: round) { random in
      for death in 0..<CrashPoints.share(5) {
        let history = CrashHistory()
        _ = try history.openFirst()
        let processes = try (1...2).map { try SimulatedProcess(history, number: $0) }
        for _ in 0..<4 {
          try history.commitRandom(processes.randomElement(using: &random)!.store!, &random)
        }
        let durable = history.entries.last!.version
        processes[0].faults.hold(.synchronize)
        let doomed = processes[0].store!
        let seed = random.next()
        let thread = Thread.start(name: "committer") {
          var random = RandomGenerator(seed: seed)
          do { try history.commitRandom(doomed, &random) } catch { Issue.record(error) }
        }
        processes[0].faults.waitUntilHeld(.synchronize)
        processes[0].files.kill()
        let survivor = processes[1].store!
        #expect(try survivor.pinNewest().version == durable, "death \(death)")
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          try history.commitRandom(survivor, &random)
        }
        #expect(try survivor.checkInvariants().findings == [], "death \(death)")
        try history.checkCuts(8, &random)
        processes[0].faults.release(.synchronize)
        thread.joinInTime()
      }
    }
  }
}
