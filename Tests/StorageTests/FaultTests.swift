// Every file call of some histories fails once: with a full disk, an I/O error, a write that stops
// half way; and from each call on the disk is dead. What must hold then is in FaultHistory.swift.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct FaultTests {
  /// A change of some slots to a byte repeated.
  private static func changes(
    _ slots: some Sequence<Int>, _ byte: UInt8, length: Int
  ) -> FaultStep {
    .commit(
      slots.map { SlotChange(slot: $0, bytes: [UInt8](repeating: byte, count: length + $0 % 9)) })
  }

  private static func removal(_ slots: some Sequence<Int>) -> FaultStep {
    .commit(slots.map { SlotChange(slot: $0, bytes: nil) })
  }

  /// From no file to a few versions.
  static let newFile: [FaultStep] = [
    .open, changes(0..<3, 1, length: 40), changes(2..<5, 2, length: 90), .close,
    .open, changes(0..<9, 3, length: 20), .close,
  ]

  /// Growth, pins that come and go, deletes, and a file that gets shorter again.
  static let grownAndShrunk: [FaultStep] = [
    .open, changes(0..<120, 1, length: 1800), .pin, changes(0..<40, 2, length: 300), .pin,
    changes(5..<6, 3, length: 10), removal(20..<110), .unpin, changes(5..<8, 4, length: 700),
    .unpin, .maintain, changes(5..<7, 5, length: 10), .maintain, .close,
    .open, changes(0..<2, 6, length: 2000), .close,
  ]

  /// A transaction that is written while it runs, and is synced before its record is written.
  static let large: [FaultStep] = [
    .open, changes(0..<3, 1, length: 40), changes(0..<70, 2, length: 16_000),
    changes(0..<1, 3, length: 40), .close,
  ]

  /// The faults of which each strikes every call once.
  private enum Kind: CaseIterable {
    case fullDisk, ioError, almostNothingWritten, halfWritten, allWritten

    /// Whether it differs from another kind for such a call.
    func concerns(_ call: FileCall) -> Bool {
      self == .fullDisk || self == .ioError || call == .write
    }

    func fault(at call: Int) -> FileFault {
      var fault = FileFault(
        FaultHistory.faultyCalls, code: self == .ioError ? EIO : ENOSPC, skip: call, times: 1,
        thread: .current)
      switch self {
      case .fullDisk, .ioError: break
      case .almostNothingWritten: fault.writtenBytes = 1
      case .halfWritten: fault.writtenBytes = 600
      // Nothing is missing, but the caller is told that it is.
      case .allWritten: fault.writtenBytes = .max
      }
      return fault
    }
  }

  private static func calls(
    _ steps: [FaultStep], _ durability: Durability = .full, _ key: [UInt8]? = nil
  ) throws -> [FileCall] {
    let calls = try FaultHistory(durability: durability, key: key).recordCalls(steps)
    #expect(calls.count > 20)
    return calls
  }

  private static func failEveryCall(
    _ steps: [FaultStep], durability: Durability = .full, key: [UInt8]? = nil
  ) throws {
    let calls = try calls(steps, durability, key)
    var runs = 0
    var struck = 0
    for (number, call) in calls.enumerated() {
      for kind in Kind.allCases where kind.concerns(call) {
        let history = FaultHistory(durability: durability, key: key)
        history.run(
          steps, [kind.fault(at: number)], "\(kind) at call \(number) of \(calls.count), \(call)")
        runs += 1
        struck += history.system.struck.count
      }
    }
    #expect(struck == runs)
  }

  @Test(arguments: [Durability.full, .memory]) func everyCallOfANewFile(
    durability: Durability
  ) throws {
    try Self.failEveryCall(Self.newFile, durability: durability)
  }

  @Test func everyCallOfAFileThatGrowsAndShrinks() throws {
    try Self.failEveryCall(Self.grownAndShrunk)
  }

  @Test func everyCallOfALargeTransaction() throws {
    try Self.failEveryCall(Self.large)
  }

  @Test(arguments: [newFile, grownAndShrunk]) func everyCallOfAnEncryptedFile(
    steps: [FaultStep]
  ) throws {
    try Self.failEveryCall(steps, key: EncryptionTests.key)
  }

  /// From each call on the disk fails, for everything or for syncs alone, until it was closed.
  @Test(arguments: [newFile, grownAndShrunk, large]) func theDiskDiesAtEveryCall(
    steps: [FaultStep]
  ) throws {
    let calls = try Self.calls(steps)
    for number in calls.indices {
      let fault = FileFault(FaultHistory.faultyCalls, code: EIO, skip: number, thread: .current)
      FaultHistory().runUntilDead(
        steps, fault, "dead from call \(number) of \(calls.count), \(calls[number])")
    }
    for number in 0..<calls.count(where: { $0 == .synchronize }) {
      let fault = FileFault([.synchronize], code: EIO, skip: number, thread: .current)
      FaultHistory().runUntilDead(steps, fault, "no sync from \(number) on")
    }
  }

  /// Random histories with up to three faults.
  @Test(arguments: seedsInTurn(1...8)) func randomHistories(
    first: UInt64
  ) async {
    await withSeeds(first: first) { random in
      let steps = Self.randomSteps(&random)
      let count = try Self.calls(steps).count
      for turn in 0..<20 {
        let faults = (0..<Int.random(in: 1...3, using: &random)).map { _ in
          var fault = Kind.allCases.randomElement(using: &random)!.fault(
            at: Int.random(in: 0..<count, using: &random))
          fault.writtenBytes = Int.random(in: 0..<5000, using: &random)
          return fault
        }
        let text = faults.map { "\($0.code) at \($0.skip)" }.joined(separator: ", ")
        FaultHistory().run(steps, faults, "turn \(turn): \(text)")
      }
    }
  }

  private static func randomSteps(_ random: inout RandomGenerator) -> [FaultStep] {
    var steps: [FaultStep] = [.open]
    for _ in 0..<14 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: steps += [.close, .open]
      case 1, 2: steps.append(.pin)
      case 3: steps.append(.unpin)
      case 4: steps.append(.maintain)
      default:
        let count = Int.random(in: 1...(random.oneIn(6) ? 60 : 4), using: &random)
        steps.append(
          .commit(
            (0..<count).map { _ in
              let length = Int.random(in: 0..<1500, using: &random)
              let byte = UInt8.random(in: 0...255, using: &random)
              return SlotChange(
                slot: Int.random(in: 0..<80, using: &random),
                bytes: random.oneIn(4) ? nil : [UInt8](repeating: byte, count: length))
            }))
      }
    }
    return steps + [.close]
  }

  /// Opening without the right to write fails or succeeds as a whole, and changes nothing.
  @Test func everyCallOfAReadOnlyOpening() throws {
    let disk = SimulatedDisk()
    let system = FaultFileSystem(disk)
    var content: [Int: [UInt8]] = [:]
    do {
      let store = try Store.open(StoreOptions(path: FaultHistory.path, fileSystem: disk))
      let transaction = try store.beginWrite()
      for slot in 0..<20 {
        content[slot] = [UInt8](repeating: UInt8(slot), count: 300)
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot, content[slot])
      }
      _ = try transaction.commit()
    }
    let before = disk.operationCount
    let options = StoreOptions(path: FaultHistory.path, isReadOnly: true, fileSystem: system)
    var failures = 0
    for call in 0... {
      system.clearFaults()
      system.resetRecords()
      system.inject(
        FileFault(FaultHistory.faultyCalls, code: EIO, skip: call, times: 1, thread: .current))
      do {
        let store = try Store.open(options)
        let newest = try store.pinNewest()
        #expect(SlotTree.content(newest.reader, newest.root) == content, "call \(call)")
        #expect(try store.checkInvariants().findings == [], "call \(call)")
      } catch {
        #expect("\(error)".contains(FaultHistory.folder), "call \(call): \(error)")
        failures += 1
      }
      if system.struck.isEmpty { break }
    }
    #expect(failures > 10)
    let changed = disk.operations[before...].filter {
      if case .write(let file, _, _) = $0.kind { file == 1 } else { false }
    }
    #expect(changed.isEmpty)
  }

  /// Deleting the files fails or succeeds; tried again, it succeeds.
  @Test func everyCallOfADeletion() throws {
    for call in 0... {
      let system = FaultFileSystem(SimulatedDisk())
      _ = try Store.open(StoreOptions(path: FaultHistory.path, fileSystem: system))
      system.inject(
        FileFault(FaultHistory.faultyCalls, code: EIO, skip: call, times: 1, thread: .current))
      do {
        _ = try Store.deleteFiles(path: FaultHistory.path, fileSystem: system)
      } catch {
        #expect("\(error)".contains(FaultHistory.folder), "call \(call): \(error)")
        system.clearFaults()
        if system.exists(FaultHistory.path) {
          let store = try Store.open(StoreOptions(path: FaultHistory.path, fileSystem: system))
          #expect(try store.checkInvariants().findings == [])
        }
        _ = try Store.deleteFiles(path: FaultHistory.path, fileSystem: system)
      }
      #expect(!system.exists(FaultHistory.path), "call \(call)")
      if system.struck.isEmpty { break }
    }
  }
}
