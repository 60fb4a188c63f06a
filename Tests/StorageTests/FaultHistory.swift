// A scripted history of one store on a disk whose calls fail on demand, and the judge of what a
// failed call may do: an error from that operation, everything else as before. Used by
// FaultTests.swift.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

/// One change of a transaction: bytes for a slot, or none.
struct SlotChange: Sendable {
  let slot: Int
  let bytes: [UInt8]?
}

/// One step of a history.
enum FaultStep: Sendable, CustomStringConvertible {
  case open
  case commit([SlotChange])
  case pin
  case unpin
  case maintain
  case close

  var description: String {
    switch self {
    case .open: "open"
    case .commit(let changes): "commit of \(changes.count) changes"
    case .pin: "pin"
    case .unpin: "unpin"
    case .maintain: "maintain"
    case .close: "close"
    }
  }
}

/// A store, what it must hold, and the faults that strike it.
///
/// Of one thread.
final class FaultHistory {
  /// For each slot the hash of its bytes, which is much faster to compare.
  private typealias Content = [Int: UInt64]

  static let folder = "/data"
  static let path = folder + "/fault.realm"

  let disk = SimulatedDisk()
  let system: FaultFileSystem
  private let durability: Durability
  private let key: [UInt8]?
  private var store: Store?
  private var pins: [(snapshot: Snapshot, content: Content)] = []
  /// What was acknowledged.
  private var content: Content = [:]
  /// What commits were to make whose sync failed: an opening may find them.
  private var uncertain: [Content] = []
  /// Leads every message.
  private var note = ""

  init(durability: Durability = .full, key: [UInt8]? = nil) {
    self.durability = durability
    self.key = key
    system = FaultFileSystem(disk)
  }

  // MARK: - Running

  /// Runs a history without faults.
  ///
  /// - Returns: the calls that a fault could strike.
  func recordCalls(_ steps: [FaultStep]) throws -> [FileCall] {
    for step in steps { try perform(step) }
    let calls = system.records.filter { $0.thread == .current }.map(\.call)
    return calls.filter(Self.faultyCalls.contains)
  }

  /// Runs a history with faults that end: each step that one strikes fails or does its work, and
  /// then succeeds when it is tried again.
  func run(_ steps: [FaultStep], _ faults: [FileFault], _ note: String) {
    labelled(note) {
      for fault in faults { system.inject(fault) }
      for step in steps {
        // So many faults can strike one step after the other.
        for attempt in 0... {
          guard try attemptStep(step) else { break }
          #expect(attempt <= faults.count, "\(note): \(step) fails for ever")
          if attempt > faults.count { return }
        }
      }
      system.clearFaults()
      try verifyEnd()
    }
  }

  /// Runs a history on a disk that fails from some call on, for ever, and then comes back.
  func runUntilDead(_ steps: [FaultStep], _ fault: FileFault, _ note: String) {
    labelled(note) {
      system.inject(fault)
      for step in steps {
        let struck = system.struck.count
        do {
          try perform(step)
        } catch {
          judge(error as! StorageError, step, isStruck: true)
        }
        if system.struck.count > struck { try system.withoutFaults(verifyReading) }
      }
      system.clearFaults()
      try perform(.close)
      try perform(.open)
      try settle()
      try verifyEnd()
    }
  }

  private func labelled(_ note: String, _ body: () throws -> Void) {
    self.note = note
    do { try body() } catch { Issue.record("\(note): \(error)") }
  }

  /// Does a step, judges what it throws, and brings a store with a failed sync back.
  ///
  /// - Returns: whether it failed.
  private func attemptStep(_ step: FaultStep) throws -> Bool {
    let before = system.struck.count
    do {
      try perform(step)
      let struck = system.struck[before...]
      if struck.isEmpty { return false }
      for call in struck {
        #expect(Self.mayPassOver(call, in: step), "\(note): \(step) passed over \(call.call)")
      }
      try system.withoutFaults(verifyAll)
      return false
    } catch let error as StorageError {
      judge(error, step, isStruck: system.struck.count > before)
    }
    let hasFailedSync = system.struck[before...].contains { Self.isSync($0) }
    guard hasFailedSync else {
      try system.withoutFaults(verifyAll)
      return true
    }
    try system.withoutFaults(verifyThatNobodyWrites)
    try perform(.close)
    while store == nil {
      // Another fault may strike the opening.
      let before = system.struck.count
      do {
        try perform(.open)
      } catch let error as StorageError {
        judge(error, .open, isStruck: system.struck.count > before)
      }
    }
    try system.withoutFaults(settle)
    return true
  }

  /// After a failed sync, until the file was closed.
  private func verifyThatNobodyWrites() throws {
    try verifyReading()
    guard let store else { return }
    for _ in 0..<2 {
      #expect {
        _ = try store.beginWrite()
      } throws: { error in
        if case .previousSyncFailure = error as? StorageError { true } else { false }
      }
    }
  }

  private func perform(_ step: FaultStep) throws {
    switch step {
    case .open:
      guard store == nil else { return }
      // Some calls are made at most once in a while: the clock stands still, so that each run makes
      // the same.
      store = try Store.open(
        StoreOptions(
          path: Self.path, durability: durability, fileSystem: system, clock: ManualClock(),
          encryptionKey: key))
      // It would take work, and so calls, off this thread whenever a step lasts for 50 ms.
      store?.stopIdleWork()
    case .commit(let changes):
      guard let store else { return }
      let transaction = try store.beginWrite()
      var new = content
      for change in changes {
        new[change.slot] = change.bytes.map(Self.hash)
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: change.slot, change.bytes)
      }
      let struck = system.struck.count
      do {
        _ = try transaction.commit()
        content = new
      } catch {
        if system.struck[struck...].contains(where: Self.isSync) { uncertain.append(new) }
        throw error
      }
    case .pin:
      guard let store else { return }
      pins.append((try store.pinNewest(), content))
    case .unpin:
      if !pins.isEmpty { pins.removeFirst() }
    case .maintain: try store?.runMaintenance()
    case .close:
      pins = []
      store = nil
    }
  }

  // MARK: - Judging

  /// Every call but the release of a lock, which cannot fail: the kernel only drops what it has.
  static let faultyCalls = Set(FileCall.allCases).subtracting([.unlockByte])

  private static func isSync(_ call: FileCallRecord) -> Bool {
    call.call == .synchronize && call.path == path
  }

  /// Whether a step may do its work although this call has failed.
  private static func mayPassOver(_ call: FileCallRecord, in step: FaultStep) -> Bool {
    switch step {
    case _ where call.path != path:
      // Pins find another way, and the dead leave their slot to others; but nobody writes without
      // the write lock.
      if case .commit = step { return !(call.call == .lockByte && call.offset == 16) }
      return true
    // Zeros ahead and the mark of a clean close are a help, no more.
    case .close, .maintain: return true
    // Less of the file's future is mapped then.
    case _ where call.call == .map: return true
    case .open, .commit, .pin, .unpin: return false
    }
  }

  private func judge(_ error: StorageError, _ step: FaultStep, isStruck: Bool) {
    #expect(isStruck, "\(note): \(step) failed without a fault: \(error)")
    #expect("\(error)".contains(Self.folder), "\(note): \(step): \(error)")
    guard let struck = system.struck.last, struck.call == .write, struck.path == Self.path,
      case .system(let failure) = error
    else { return }
    #expect(!failure.isOutOfSpace, "\(note): \(step): a full disk has an error of its own")
  }

  /// After a failed sync: an opening has found one of the versions that it may find.
  private func settle() throws {
    let store = try #require(store)
    let newest = try store.pinNewest()
    let found = Self.read(newest)
    let isExpected = ([content] + uncertain).contains(found)
    #expect(isExpected, "\(note): version \(newest.version) was never committed")
    content = found
    uncertain = []
  }

  private func verifyReading() throws {
    for pin in pins { expect(pin.content, in: pin.snapshot, "pinned") }
    if let store { expect(content, in: try store.pinNewest(), "newest") }
  }

  private static func hash(_ bytes: [UInt8]) -> UInt64 {
    bytes.withUnsafeBytes { hash64($0.baseAddress!, count: $0.count, seed: 1) }
  }

  private static func read(_ snapshot: Snapshot) -> Content {
    SlotTree.content(snapshot.reader, snapshot.root).mapValues(hash)
  }

  /// Without the contents in the message: they are long.
  private func expect(_ content: Content, in snapshot: Snapshot, _ what: String) {
    let isEqual = Self.read(snapshot) == content
    #expect(isEqual, "\(note): \(what), version \(snapshot.version)")
  }

  private func verifyAll() throws {
    try verifyReading()
    guard let store else { return }
    #expect(try store.checkInvariants().findings == [], "\(note)")
  }

  /// Everything that was acknowledged is there: now, after another commit, when opened again, and
  /// after a power cut.
  private func verifyEnd() throws {
    try perform(.open)
    try verifyAll()
    try perform(.commit([SlotChange(slot: 900, bytes: [9, 0, 0])]))
    try verifyAll()
    try perform(.close)
    try perform(.open)
    try verifyAll()
    try perform(.close)
    guard durability == .full else { return }
    var random = RandomGenerator(seed: 1)
    let image = disk.crashImage(.keepsNothing, random: &random)
    let survivor = try Store.open(
      StoreOptions(path: Self.path, fileSystem: image, encryptionKey: key))
    expect(content, in: try survivor.pinNewest(), "after a power cut")
    #expect(try survivor.checkInvariants().findings == [], "\(note): after a power cut")
  }
}
