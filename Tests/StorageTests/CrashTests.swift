// Power cuts and kills at every point of real histories: whatever a simulated disk may hold then opens
// as some version that was begun and is not older than the newest acknowledged one.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

/// A store on a simulated disk, and what each of its versions holds.
///
/// Threads may commit at the same time.
final class CrashHistory: Sendable {
  static let path = "/data/crash.realm"

  struct Entry: Sendable {
    let version: Version
    let content: [Int: [UInt8]]
    /// Operations of the disk when the commit began.
    let begun: Int
    /// Operations of the disk when it had returned.
    var acknowledged: Int?
  }

  struct State {
    /// By version; the empty file first.
    var entries = [
      Entry(version: Version(1), content: [:], begun: 0, acknowledged: nil)
    ]
  }

  let disk: SimulatedDisk
  let fileSystem: FaultFileSystem
  let state = Monitor(State())

  init(_ disk: SimulatedDisk = SimulatedDisk()) {
    self.disk = disk
    fileSystem = FaultFileSystem(disk)
  }

  var entries: [Entry] { state.withLock { $0.entries } }

  func open() throws(StorageError) -> Store {
    try Store.open(StoreOptions(path: Self.path, fileSystem: fileSystem))
  }

  /// Opens the new file; it is acknowledged as empty.
  func openFirst() throws(StorageError) -> Store {
    let store = try open()
    let count = disk.operationCount
    state.withLock { $0.entries[0].acknowledged = count }
    return store
  }

  /// One transaction with its record in the model.
  func commit(_ store: Store, _ change: (WriteTransaction, inout [Int: [UInt8]]) -> Void) throws {
    let transaction = try store.beginWrite()
    let base = transaction.base.version
    var content = state.withLock { $0.entries.last { $0.version <= base }!.content }
    change(transaction, &content)
    let version = transaction.version
    let begun = disk.operationCount
    // Still under the write lock, so versions come in order.
    state.withLock { [content] in
      $0.entries.append(Entry(version: version, content: content, begun: begun))
    }
    _ = try transaction.commit()
    let count = disk.operationCount
    state.withLock { state in
      let index = state.entries.lastIndex { $0.version == version }!
      state.entries[index].acknowledged = count
    }
  }

  /// A random transaction: mostly a few slots, at times hundreds of larger ones.
  func commitRandom(_ store: Store, _ random: inout RandomGenerator, slots: Int = 400) throws {
    let isLarge = random.oneIn(12)
    let changes = (0..<Int.random(in: 1...(isLarge ? 120 : 5), using: &random)).map { _ in
      let length = Int.random(in: 0..<(isLarge ? 3000 : 700), using: &random)
      let isRemoval = random.oneIn(5)
      return (
        slot: Int.random(in: 0..<slots, using: &random),
        bytes: isRemoval
          ? nil : [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: length)
      )
    }
    try commit(store) { transaction, content in
      for (slot, bytes) in changes {
        content[slot] = bytes
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
      }
    }
  }

  /// Opens a disk that a crash after `cut` operations left, and compares it with the model.
  ///
  /// - Parameter isNewFileAllowed: the crash came while the file was made.
  /// - Returns: the version that was found.
  @discardableResult
  func check(_ image: SimulatedDisk, cut: Int, _ note: @autoclosure () -> String) throws -> Version?
  {
    let entries = entries
    let oldest = entries.last { ($0.acknowledged ?? .max) <= cut }
    let newest = entries.last { $0.begun <= cut }
    let store: Store
    do {
      store = try Store.open(StoreOptions(path: Self.path, fileSystem: image))
    } catch {
      Issue.record("\(note()): \(error)")
      return nil
    }
    let snapshot = try store.pinNewest()
    let version = snapshot.version
    let begunVersion = newest?.version ?? Version(1)
    #expect(version >= oldest?.version ?? Version(1), "\(note()): an acknowledged commit is lost")
    let next = entries.first { $0.version > begunVersion }?.version
    #expect(version < next ?? Version(.max), "\(note()): a version that was not begun")
    // Commits of the maintenance have numbers of their own and the content before them.
    let expected = entries.last { $0.version <= version }!.content
    #expect(
      SlotTree.content(snapshot.reader, snapshot.root) == expected,
      "\(note()): version \(version) has another content")
    #expect(try store.checkInvariants().findings == [], "\(note()), version \(version)")
    return version
  }

  /// Checks a crashed disk, writes to it, and crashes it again while it recovers or just after.
  func checkTwice(
    _ image: SimulatedDisk, cut: Int, _ random: inout RandomGenerator, _ note: String
  ) throws {
    // The image of a kill has the history before it; that of a power cut begins anew.
    let start = image.operationCount
    guard let version = try check(image, cut: cut, note) else { return }
    let store = try Store.open(StoreOptions(path: Self.path, fileSystem: image))
    let recovered = image.operationCount
    let transaction = try store.beginWrite()
    transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 777, [7, 7, 7])
    let later = transaction.version
    #expect(later > version, "\(note)")
    _ = try transaction.commit()
    let count = image.operationCount
    let newest = try store.pinNewest()
    let expected = SlotTree.content(newest.reader, newest.root)
    #expect(expected[777] == [7, 7, 7], "\(note)")
    let second = Int.random(in: start...count, using: &random)
    let again = image.crashImage(cutAfterOperation: second, random: &random)
    let text = "\(note); second cut after \(second) of \(count), recovered at \(recovered)"
    let other: Store
    do {
      other = try Store.open(StoreOptions(path: Self.path, fileSystem: again))
    } catch {
      Issue.record("\(text): \(error)")
      return
    }
    let found = try other.pinNewest()
    let content = SlotTree.content(found.reader, found.root)
    if second == count { #expect(found.version == later, "\(text)") }
    if found.version == later {
      #expect(content == expected, "\(text)")
    } else if second >= recovered {
      // What was shown once stays.
      #expect(found.version == version, "\(text)")
    } else {
      let acknowledged = entries.last { ($0.acknowledged ?? .max) <= cut }?.version ?? Version(1)
      #expect(found.version >= acknowledged && found.version <= version, "\(text)")
    }
    if found.version <= version {
      #expect(content == entries.last { $0.version <= found.version }!.content, "\(text)")
    }
    #expect(try other.checkInvariants().findings == [], "\(text)")
  }
}

@Suite struct CrashTests {
  /// Crash points of the whole suite; REALM_CRASH_POINTS sets another number.
  static let points = getenv("REALM_CRASH_POINTS").flatMap { Int(String(cString: $0)) } ?? 2400

  /// A history of one thread with pins, reopening and maintenance.
  private static func run(
    _ history: CrashHistory, steps: Int, _ random: inout RandomGenerator
  ) throws {
    var store: Store? = try history.openFirst()
    var pins: [Snapshot] = []
    for _ in 0..<steps {
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        pins = []
        store = nil
        store = try history.open()
      case 1, 2:
        pins.append(try store!.pinNewest())
      case 3, 4:
        if !pins.isEmpty { pins.remove(at: Int.random(in: 0..<pins.count, using: &random)) }
      case 5:
        try store!.runMaintenance()
      default:
        try history.commitRandom(store!, &random)
      }
    }
  }

  /// Every operation of short histories, every kind of cut.
  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func everyCutOfAShortHistory(first: UInt64) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      try Self.run(history, steps: 12, &random)
      let count = history.disk.operationCount
      let turns = max(1, Self.points / 8 / count)
      for cut in 0...count {
        for turn in 0..<turns {
          let kind = PowerCut.allCases[(cut + turn) % PowerCut.allCases.count]
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          try history.checkTwice(
            image, cut: cut, &random, "cut after \(cut) of \(count) operations, \(kind)")
        }
      }
    }
  }

  /// Random operations of long histories.
  @Test(arguments: [11, 12, 13, 14] as [UInt64]) func randomCutsOfALongHistory(
    first: UInt64
  ) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      try Self.run(history, steps: 150, &random)
      let count = history.disk.operationCount
      let cuts = (0..<Self.points / 16).map { _ in Int.random(in: 0...count, using: &random) }
      for cut in cuts.sorted() {
        let kind = PowerCut.allCases.randomElement(using: &random)!
        let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        try history.checkTwice(
          image, cut: cut, &random, "cut after \(cut) of \(count) operations, \(kind)")
      }
    }
  }

  /// Threads that share records and syncs.
  @Test(arguments: [21, 22] as [UInt64]) func cutsOfGroupedCommits(first: UInt64) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for _ in 0..<10 {
        history.fileSystem.hold(.synchronize)
        let threads = (0..<6).map { _ in
          let seed = random.next()
          return Thread.start(name: "committer") {
            var random = RandomGenerator(seed: seed)
            do {
              for _ in 0..<2 { try history.commitRandom(store, &random) }
            } catch {
              Issue.record(error)
            }
          }
        }
        // One group is in its sync, the others wait in the open one or for the lock.
        history.fileSystem.waitUntilHeld(.synchronize)
        let begun = history.entries.count
        for _ in 0..<200 where history.entries.count < begun + 4 { sched_yield() }
        history.fileSystem.release(.synchronize)
        for thread in threads { thread.join() }
      }
      let count = history.disk.operationCount
      let cuts = (0..<Self.points / 16).map { _ in Int.random(in: 0...count, using: &random) }
      for cut in cuts.sorted() {
        let kind = PowerCut.allCases.randomElement(using: &random)!
        let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        try history.checkTwice(
          image, cut: cut, &random, "cut after \(cut) of \(count) operations, \(kind)")
      }
    }
  }

  /// 64 commits that no sync has reached: any of their pages may be lost or torn.
  @Test func sixtyFourUnsyncedCommits() async {
    await withSeeds(first: 31) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for _ in 0..<8 { try history.commitRandom(store, &random) }
      history.fileSystem.hold(.synchronize)
      let before = history.entries.count
      let threads = (0..<64).map { _ in
        let seed = random.next()
        return Thread.start(name: "committer") {
          var random = RandomGenerator(seed: seed)
          do { try history.commitRandom(store, &random) } catch { Issue.record(error) }
        }
      }
      // The last one may wait for a sync of its own when its record got too long.
      while history.entries.count < before + 40 { sched_yield() }
      let cut = history.disk.operationCount
      for turn in 0..<Self.points / 12 {
        let kind = PowerCut.allCases[turn % PowerCut.allCases.count]
        let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        try history.check(image, cut: cut, "unsynced, \(kind)")
      }
      history.fileSystem.release(.synchronize)
      for thread in threads { thread.join() }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// The kill of the process: nothing written is lost, the machine goes on.
  @Test(arguments: [41, 42] as [UInt64]) func killsAtAnyOperation(first: UInt64) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      try Self.run(history, steps: 60, &random)
      let count = history.disk.operationCount
      for _ in 0..<Self.points / 20 {
        let cut = Int.random(in: 0...count, using: &random)
        let image = history.disk.killImage(cutAfterOperation: cut)
        try history.checkTwice(
          image, cut: cut, &random, "killed after \(cut) of \(count) operations")
      }
    }
  }

  /// The same with the lock file as the kill leaves it, and then a power cut.
  @Test(arguments: [51, 52] as [UInt64]) func killsBetweenSteps(first: UInt64) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for step in 0..<Self.points / 20 {
        try history.commitRandom(store, &random)
        let image = history.disk.killImage()
        try history.checkTwice(
          image, cut: history.disk.operationCount, &random, "killed after step \(step)")
        // Not too long: each image copies the whole history.
        if step % 40 == 39 { history.disk.startHistory() }
        if step % 40 == 39 { history.restartCounting() }
      }
    }
  }
}

extension CrashHistory {
  /// After `startHistory`: everything so far is durable, operations count from 0.
  func restartCounting() {
    state.withLock { state in
      state.entries = state.entries.map {
        Entry(version: $0.version, content: $0.content, begun: 0, acknowledged: 0)
      }
    }
  }
}
