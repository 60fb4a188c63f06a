// Syncs that failed and of which the lock file tells nothing: it was deleted, or the process was
// killed between the failure and its note. The page cache shows what the disk does not have, and
// another sync succeeds without writing it. What is shown must survive the next power cut all the
// same.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct UntoldSyncFailureTests {
  /// Takes the memory of the failure away.
  enum Loss: CaseIterable, Sendable {
    case lockFileDeleted, killedBeforeTheNote

    func forget(_ disk: SimulatedDisk) throws {
      let path = CrashHistory.path + ".lock"
      switch self {
      case .lockFileDeleted: try disk.remove(path)
      case .killedBeforeTheNote:
        // Word 24 of the lock file, see LockLayout.swift.
        try disk.open(path, .writable).write(bytes: [UInt8](repeating: 0, count: 8), at: 24 * 8)
      }
    }
  }

  /// With and without a log.
  @Test(arguments: CrashPoints.rounds) func aFailedSyncThatNobodyRemembers(round: Int) async {
    await CrashPoints.run(81, round: round) { random in
      for use in [CommitLogUse.never, .always] {
        for loss in Loss.allCases {
          for turn in 0..<CrashPoints.share(6) {
            let history = CrashHistory(commitLog: use)
            let store = try history.openFirst()
            for _ in 0..<Int.random(in: 1...8, using: &random) {
              try history.commitRandom(store, &random)
            }
            history.fileSystem.fail(.synchronize, code: EIO)
            #expect(throws: StorageError.self) { try history.commitRandom(store, &random) }
            let cut = history.disk.operationCount
            for _ in 0..<3 {
              let image = history.disk.killImage()
              try loss.forget(image)
              try history.checkTwice(
                image, cut: cut, &random, "\(use), \(loss), turn \(turn)")
            }
          }
        }
      }
    }
  }

  /// The process that takes over goes on from what the killed one has written.
  @Test(arguments: CrashPoints.rounds) func theWriterThatTakesOver(round: Int) async {
    await CrashPoints.run(82, round: round) { random in
      for turn in 0..<CrashPoints.share(8) {
        let history = CrashHistory()
        _ = try history.openFirst()
        let faults = FaultFileSystem(history.disk, process: 1)
        let files = MortalFileSystem(faults)
        let doomed = try history.open(files)
        let survivor = try history.open(FaultFileSystem(history.disk, process: 2))
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          try history.commitRandom(survivor, &random)
          try history.commitRandom(doomed, &random)
        }
        faults.fail(.synchronize, code: EIO)
        #expect(throws: StorageError.self) { try history.commitRandom(doomed, &random) }
        files.kill()
        try Loss.killedBeforeTheNote.forget(history.disk)
        for _ in 0..<3 {
          try history.commitRandom(survivor, &random)
          let cut = history.disk.operationCount
          let image = history.disk.crashImage(cutAfterOperation: cut, random: &random)
          try history.checkTwice(image, cut: cut, &random, "turn \(turn)")
        }
        withExtendedLifetime(doomed) {}
      }
    }
  }

  /// Who opens the file read-only cannot write it again: what is shown must be on the disk anyhow.
  @Test(arguments: CrashPoints.rounds) func whoOnlyReads(round: Int) async {
    await CrashPoints.run(83, round: round) { random in
      for use in [CommitLogUse.never, .always] {
        for turn in 0..<CrashPoints.share(8) {
          let history = CrashHistory(
            key: random.oneIn(2) ? EncryptionTests.key : nil, commitLog: use)
          let store = try history.openFirst()
          for _ in 0..<Int.random(in: 1...8, using: &random) {
            try history.commitRandom(store, &random)
          }
          history.fileSystem.fail(.synchronize, code: EIO)
          #expect(throws: StorageError.self) { try history.commitRandom(store, &random) }
          for loss in Loss.allCases {
            let image = history.disk.killImage()
            try loss.forget(image)
            try Self.readOnly(image, history, &random, "\(use), \(loss), turn \(turn)")
          }
        }
      }
    }
  }

  /// Killed at any operation; then its lock file is deleted, and somebody reads.
  @Test(arguments: CrashPoints.rounds) func whoOnlyReadsAfterAKill(round: Int) async {
    await CrashPoints.run(84, round: round) { random in
      for use in [CommitLogUse.never, .always] {
        let history = CrashHistory(key: random.oneIn(2) ? EncryptionTests.key : nil, commitLog: use)
        let store = try history.openFirst()
        let start = history.disk.operationCount
        for _ in 0..<12 { try history.commitRandom(store, &random) }
        let count = history.disk.operationCount
        for _ in 0..<CrashPoints.share(40) {
          let cut = Int.random(in: start...count, using: &random)
          let image = history.disk.killImage(cutAfterOperation: cut)
          try Loss.lockFileDeleted.forget(image)
          try Self.readOnly(
            image, history, &random, "\(use), killed after \(cut) of \(count)", cut: cut)
        }
      }
    }
  }

  /// What somebody is shown who only reads survives the next power cut, and is all that was
  /// acknowledged.
  private static func readOnly(
    _ image: SimulatedDisk, _ history: CrashHistory, _ random: inout RandomGenerator,
    _ note: String, cut: Int = .max
  ) throws {
    let acknowledged = history.entries.last { $0.acknowledged.map { $0 <= cut } ?? false }?.version
    var options = history.options(image)
    options.isReadOnly = true
    let shown: Version
    do {
      let reader = try Store.open(options)
      shown = try reader.pinNewest().version
      #expect(shown >= acknowledged ?? Version(0), "\(note)")
    }
    for _ in 0..<3 {
      let later = image.crashImage(random: &random)
      let survivor = try history.open(later)
      #expect(
        try survivor.pinNewest().version >= shown, "\(note): what a reader was shown is gone")
    }
  }

  /// Without syncs until the file is closed: when the sync of the end has failed, the next one has
  /// to write everything.
  @Test(arguments: Loss.allCases) func theSyncAtTheEnd(loss: Loss) async {
    await withSeeds(4) { random in
      let history = CrashHistory()
      _ = try history.openFirst()
      func options(_ durability: Durability, _ fileSystem: any FileSystem) -> StoreOptions {
        var options = history.options(fileSystem)
        options.durability = durability
        return options
      }
      do {
        let store = try Store.open(options(.memory, history.fileSystem))
        for _ in 0..<20 { try history.commitRandom(store, &random) }
        history.fileSystem.fail(.synchronize, code: EIO)
      }
      let image = history.disk.killImage()
      try loss.forget(image)
      // Once more without syncs, or with them at once.
      if random.oneIn(2) { _ = try Store.open(options(.memory, image)) }
      do { _ = try Store.open(options(.full, image)) }
      let later = image.crashImage(cutAfterOperation: image.operationCount, random: &random)
      let store = try Store.open(options(.full, later))
      let snapshot = try store.pinNewest()
      #expect(
        SlotTree.content(snapshot.reader, snapshot.root) == history.entries.last!.content,
        "what was synced at the end is lost")
      #expect(try store.checkInvariants().findings == [])
    }
  }
}
