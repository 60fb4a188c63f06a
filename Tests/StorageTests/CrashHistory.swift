// A store on a simulated disk with a model of each version, and the check of what a crash leaves:
// it opens as some version that was begun and is not older than the newest acknowledged one.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

/// Begins a transaction as an asynchronous writer does: by an offer, and without a call to the
/// file.
func beginWithoutWaiting(_ store: Store) throws -> WriteTransaction {
  let turn = Monitor(false)
  let offer = WriteOffer {
    turn.withLock { $0 = true }
    turn.notifyAll()
  }
  store.requestWrite(offer)
  while true {
    let isMyTurn = turn.wait(nanoseconds: waitLimitNanoseconds) { isOffered in
      defer { isOffered = false }
      return isOffered
    }
    guard isMyTurn else { throw VainWait(what: "the turn to write") }
    if let transaction = try store.beginWrite(taking: offer) { return transaction }
  }
}

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
    /// Its process was killed in the commit: its number may be given again, and only a power cut
    /// that comes before can show it.
    var isLost = false
  }

  struct State {
    /// By version; the empty file first.
    var entries = [
      Entry(version: Version(1), content: [:], begun: 0, acknowledged: nil)
    ]
    /// Asynchronous commits that are not durable yet.
    var pending = 0
  }

  let disk: SimulatedDisk
  let fileSystem: FaultFileSystem
  let state = Monitor(State())
  let key: [UInt8]?

  let commitLog: CommitLogUse
  /// Short, so that the log's segments take turns often; longer where large groups have to fit.
  private let logSegmentMin: Int

  init(
    _ disk: SimulatedDisk = SimulatedDisk(), key: [UInt8]? = nil, commitLog: CommitLogUse = .never,
    logSegmentMin: Int = 48 << 10
  ) {
    self.logSegmentMin = logSegmentMin
    self.disk = disk
    self.key = key
    self.commitLog = commitLog
    fileSystem = FaultFileSystem(disk)
  }

  var entries: [Entry] { state.withLock { $0.entries } }

  func open() throws(StorageError) -> Store { try open(fileSystem) }

  func open(_ fileSystem: any FileSystem) throws(StorageError) -> Store {
    try Store.open(options(fileSystem))
  }

  func options(_ fileSystem: (any FileSystem)? = nil) -> StoreOptions {
    var options = StoreOptions(
      path: Self.path, fileSystem: fileSystem ?? self.fileSystem, encryptionKey: key)
    options.commitLog = commitLog
    options.logSegmentMin = logSegmentMin
    return options
  }

  /// Opens the new file; it is acknowledged as empty.
  func openFirst() throws(StorageError) -> Store {
    let store = try open()
    let count = disk.operationCount
    state.withLock { $0.entries[0].acknowledged = count }
    return store
  }

  /// One transaction with its record in the model.
  ///
  /// - Parameters:
  ///   - isAsynchronous: it is written and synced by the store's thread.
  ///   - mayFail: an asynchronous one may be told to have failed.
  func commit(
    _ store: Store, isAsynchronous: Bool = false, mayFail: Bool = false,
    _ change: (WriteTransaction, inout [Int: [UInt8]]) -> Void
  ) throws {
    let transaction = try isAsynchronous ? beginWithoutWaiting(store) : store.beginWrite()
    let base = transaction.base.version
    var content = state.withLock { Self.content(of: base, $0.entries) }
    change(transaction, &content)
    let version = transaction.version
    let begun = disk.operationCount
    // Still under the write lock, so versions come in order.
    state.withLock { [content] in
      $0.entries.append(Entry(version: version, content: content, begun: begun))
    }
    do throws(StorageError) {
      let snapshot: Snapshot
      if isAsynchronous {
        state.withLock { $0.pending += 1 }
        snapshot = try transaction.commitAsynchronously(awaitsMore: false) { [self] failure in
          if let failure {
            if !mayFail { Issue.record(failure) }
          } else {
            acknowledge(version)
          }
          state.withLock { $0.pending -= 1 }
          state.notifyAll()
        }
      } else {
        snapshot = try transaction.commit()
        acknowledge(version)
      }
      // Nothing was changed.
      if snapshot.version != version { forget(version) }
    } catch {
      if isAsynchronous { state.withLock { $0.pending -= 1 } }
      // After a failed sync, or a kill, it may turn up again; after any other failure it never was.
      if case .diskFull = error { forget(version) }
      throw error
    }
  }

  private func acknowledge(_ version: Version) {
    let count = disk.operationCount
    state.withLock { state in
      guard let index = state.entries.lastIndex(where: { $0.version == version }) else { return }
      state.entries[index].acknowledged = count
    }
  }

  /// Waits until all asynchronous commits are durable.
  func settle() {
    #expect(state.wait(nanoseconds: waitLimitNanoseconds) { $0.pending == 0 })
  }

  /// What a version holds that was not lost.
  ///
  /// Commits of the maintenance have numbers of their own and the content before them.
  private static func content(of version: Version, _ entries: [Entry]) -> [Int: [UInt8]] {
    entries.last { $0.version <= version && !$0.isLost }!.content
  }

  /// Whether a version that a crash left may hold this.
  private func isExpected(_ content: [Int: [UInt8]], of version: Version, _ entries: [Entry])
    -> Bool
  {
    content == Self.content(of: version, entries)
      || entries.contains { $0.isLost && $0.version == version && $0.content == content }
  }

  /// Whether a version has this content.
  func isExpected(_ content: [Int: [UInt8]], of version: Version) -> Bool {
    isExpected(content, of: version, entries)
  }

  /// Notes that the newest commit died with its process.
  func noteLost() {
    state.withLock { $0.entries[$0.entries.count - 1].isLost = true }
  }

  private func forget(_ version: Version) {
    state.withLock { $0.entries.removeAll { $0.version == version } }
  }

  /// A random transaction: mostly a few slots, at times hundreds of larger ones.
  func commitRandom(
    _ store: Store, _ random: inout RandomGenerator, slots: Int = 400, isAsynchronous: Bool = false
  ) throws {
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
    try commit(store, isAsynchronous: isAsynchronous) { transaction, content in
      for (slot, bytes) in changes {
        content[slot] = bytes
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
      }
    }
  }

  /// Commits of one group that are too many to be listed by its record: only the log proves it.
  ///
  /// - Parameter system: by which the store is open.
  func commitLargeGroup(
    _ store: Store, on system: FaultFileSystem? = nil, _ random: inout RandomGenerator
  ) throws {
    let system = system ?? fileSystem
    system.hold(.synchronize)
    defer { system.release(.synchronize) }
    try commitScattered(store, &random, isAsynchronous: true)
    system.waitUntilHeld(.synchronize)
    for _ in 0..<150 { try commitScattered(store, &random, isAsynchronous: true) }
  }

  /// A transaction whose blocks lie scattered, and fit into a short log.
  func commitScattered(
    _ store: Store, _ random: inout RandomGenerator, isAsynchronous: Bool = false,
    mayFail: Bool = false
  ) throws {
    let slots = (0..<6).map { _ in Int.random(in: 0..<400, using: &random) }
    let byte = UInt8.random(in: 0...255, using: &random)
    let length = Int.random(in: 100...900, using: &random)
    try commit(store, isAsynchronous: isAsynchronous, mayFail: mayFail) { transaction, content in
      for slot in slots {
        let bytes = [UInt8](repeating: byte, count: length)
        content[slot] = bytes
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
      }
    }
  }

  /// Removes most slots, so that the file can shrink.
  func removeMost(_ store: Store, _ random: inout RandomGenerator, slots: Int = 400) throws {
    let kept = Int.random(in: 0..<slots, using: &random)..<slots
    try commit(store) { transaction, content in
      for slot in content.keys.sorted() where !kept.contains(slot) {
        content[slot] = nil
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, nil)
      }
    }
  }

  /// A transaction that is streamed out before its commit, which then syncs twice.
  func commitLarge(
    _ store: Store, _ random: inout RandomGenerator, isAsynchronous: Bool = false
  ) throws {
    let start = Int.random(in: 0..<350, using: &random)
    let byte = UInt8.random(in: 0...255, using: &random)
    try commit(store, isAsynchronous: isAsynchronous) { transaction, content in
      for slot in start..<start + 50 {
        let bytes = [UInt8](repeating: byte, count: 24_000)
        content[slot] = bytes
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
      }
    }
  }

  /// A transaction of 13 MB that is written branch by branch: the end of it over zeros, which came
  /// before.
  func commitByPieces(_ store: Store, _ random: inout RandomGenerator) throws {
    let byte = UInt8.random(in: 1...255, using: &random)
    try commit(store, isAsynchronous: false) { transaction, content in
      for slot in 0..<7 * SlotTree.fanOut {
        let bytes = [UInt8](repeating: byte, count: 60_000)
        content[slot] = bytes
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
        if (slot + 1) % SlotTree.fanOut == 0 { SlotTree.seal(transaction, branchOf: slot) }
      }
    }
  }

  /// Whether a crashed disk still has the file with its newest content.
  func isThere(_ image: SimulatedDisk) throws -> Bool {
    guard image.exists(Self.path) else { return false }
    let store = try open(image)
    let snapshot = try store.pinNewest()
    return SlotTree.content(snapshot.reader, snapshot.root) == entries.last!.content
  }

  /// The operations that are syncs of the file.
  var syncs: [Int] {
    let operations = disk.operations
    return operations.indices.filter {
      if case .synchronize = operations[$0].kind { true } else { false }
    }
  }

  /// Crashes of every kind at random operations of the history, half of them just before a sync,
  /// when there is most to lose.
  func checkCuts(_ points: Int, _ random: inout RandomGenerator) throws {
    let count = disk.operationCount
    let syncs = syncs
    let cuts = (0..<max(1, points)).map { point in
      let sync = point % 2 == 0 ? syncs.randomElement(using: &random) : nil
      return sync ?? Int.random(in: 0...count, using: &random)
    }
    for cut in cuts.sorted() {
      let kind = PowerCut.allCases.randomElement(using: &random)!
      let image = disk.crashImage(cutAfterOperation: cut, kind, random: &random)
      try checkTwice(image, cut: cut, &random, "cut after \(cut) of \(count) operations, \(kind)")
    }
  }

  /// Opens a disk that a crash after `cut` operations left, and compares it with the model.
  ///
  /// - Parameter isNewFileAllowed: the crash came while the file was made.
  /// - Returns: the version that was found.
  @discardableResult
  func check(_ image: SimulatedDisk, cut: Int, _ note: @autoclosure () -> String) throws -> Version?
  {
    CrashPoints.note()
    let entries = entries
    let oldest = entries.last { ($0.acknowledged ?? .max) <= cut }
    let newest = entries.last { $0.begun <= cut }
    let store: Store
    do {
      store = try open(image)
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
    let content = SlotTree.content(snapshot.reader, snapshot.root)
    let isRight = isExpected(content, of: version, entries)
    #expect(isRight, "\(note()): version \(version) has another content")
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
    let store = try open(image)
    let recovered = image.operationCount
    let shown = try store.pinNewest()
    var whatIsDue = SlotTree.content(shown.reader, shown.root)
    whatIsDue[777] = [7, 7, 7]
    let transaction = try store.beginWrite()
    transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 777, [7, 7, 7])
    let later = transaction.version
    #expect(later > version, "\(note)")
    _ = try transaction.commit()
    let count = image.operationCount
    let newest = try store.pinNewest()
    let expected = SlotTree.content(newest.reader, newest.root)
    // Nothing has come back that opening has passed over.
    #expect(expected == whatIsDue, "\(note): the first write builds on what was not shown")
    // Often when the commit was just acknowledged.
    let second = random.oneIn(4) ? count : Int.random(in: start...count, using: &random)
    let again = image.crashImage(cutAfterOperation: second, random: &random)
    let text = "\(note); second cut after \(second) of \(count), recovered at \(recovered)"
    let other: Store
    do {
      other = try open(again)
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
      let isRight = isExpected(content, of: found.version, entries)
      #expect(isRight, "\(text)")
    }
    #expect(try other.checkInvariants().findings == [], "\(text)")
  }

  /// Makes everything so far durable and lets the history begin here, so that it does not get too
  /// long.
  func startAgain() {
    disk.startHistory()
    state.withLock { state in
      state.entries = state.entries.map {
        Entry(
          version: $0.version, content: $0.content, begun: 0, acknowledged: 0, isLost: $0.isLost)
      }
    }
  }
}
