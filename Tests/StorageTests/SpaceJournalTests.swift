// The space journal that turns over all the time: parts of a few runs, a log of a few blocks.
// Random transactions with pins, reopened again and again; and two processes that take turns, each
// of which follows what the other one has done.
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct SpaceJournalTests {
  private static let path = "/data/journal.realm"
  private static let slots = SlotTree.fanOut * SlotTree.fanOut

  private static func open(
    _ system: FaultFileSystem, _ pace: JournalPace, _ clock: any Clock = MonotonicClock()
  ) throws -> Store {
    var options = StoreOptions(path: path, durability: .memory, fileSystem: system, clock: clock)
    options.journalPace = pace
    let store = try Store.open(options)
    store.stopIdleWork()
    return store
  }

  private static func pace(_ random: inout RandomGenerator) -> JournalPace {
    JournalPace(
      logBytesMin: [64, 512, 4096].randomElement(using: &random)!,
      runsMin: [2, 5, 40].randomElement(using: &random)!)
  }

  /// Sets some slots, or removes them.
  private static func change(
    _ store: Store, _ model: inout [Int: [UInt8]], _ random: inout RandomGenerator
  ) throws {
    let transaction = try store.beginWrite()
    let isLarge = random.oneIn(60)
    for _ in 0..<Int.random(in: 1...(isLarge ? 500 : 5), using: &random) {
      let slot = Int.random(in: 0..<slots, using: &random)
      let length = Int.random(in: 0..<(isLarge ? 3000 : 900), using: &random)
      let bytes = [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: length)
      let isRemoval = random.oneIn(4)
      model[slot] = isRemoval ? nil : bytes
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, isRemoval ? nil : bytes)
    }
    if random.oneIn(12) {
      transaction.cancel()
      // The model was changed already: put it back from the file.
      let newest = try store.pinNewest()
      model = SlotTree.content(newest.reader, newest.root)
    } else {
      _ = try transaction.commit()
    }
  }

  private static func content(_ snapshot: Snapshot) -> [Int: [UInt8]] {
    SlotTree.content(snapshot.reader, snapshot.root)
  }

  /// After each opening every byte of the file has its owner again, whatever parts of the journal
  /// were new.
  @Test(arguments: seedsInTurn(1...4)) func survivesReopening(offset: UInt64) async {
    await withSeeds(first: offset) { random in
      let system = FaultFileSystem(SimulatedDisk(), process: 1)
      let pace = Self.pace(&random)
      var store: Store? = try Self.open(system, pace)
      var model: [Int: [UInt8]] = [:]
      var pins: [(snapshot: Snapshot, content: [Int: [UInt8]])] = []
      for step in 0..<500 {
        switch Int.random(in: 0..<30, using: &random) {
        case 0, 1:
          pins = []
          store = nil
          store = try Self.open(system, pace)
          let check = try store!.checkInvariants()
          #expect(check.findings == [], "opened at step \(step)")
        case 2, 3, 4: pins.append((try store!.pinNewest(), model))
        case 5, 6:
          if !pins.isEmpty { pins.remove(at: Int.random(in: 0..<pins.count, using: &random)) }
        case 7: try store!.runMaintenance()
        default: try Self.change(store!, &model, &random)
        }
        if step % 25 == 0 {
          #expect(try store!.checkInvariants().findings == [], "step \(step)")
          for pin in pins {
            #expect(Self.content(pin.snapshot) == pin.content, "\(pin.snapshot.version)")
          }
        }
      }
      #expect(Self.content(try store!.pinNewest()) == model)
    }
  }

  /// Two processes by turns, now and then one of them opened anew: both know what is free.
  ///
  /// What a pin of either sees stays. Once both have begun, neither reads the whole journal for a
  /// turn.
  @Test(arguments: seedsInTurn(1...4)) func followsAnotherProcess(offset: UInt64) async {
    await withSeeds(first: 100 + offset) { random in
      let disk = SimulatedDisk()
      let systems = [1, 2].map { FaultFileSystem(disk, process: $0) }
      let pace = Self.pace(&random)
      var stores: [Store?] = try systems.map { try Self.open($0, pace) }
      var model: [Int: [UInt8]] = [:]
      var pins: [[(snapshot: Snapshot, content: [Int: [UInt8]])]] = [[], []]
      var turns = 0
      var readings = 0
      for step in 0..<400 {
        let who = Int.random(in: 0..<2, using: &random)
        switch Int.random(in: 0..<24, using: &random) {
        case 0 where random.oneIn(6):
          pins[who] = []
          readings += stores[who]!.journalReadings
          stores[who] = nil
          stores[who] = try Self.open(systems[who], pace)
        case 1, 2, 3: pins[who].append((try stores[who]!.pinNewest(), model))
        case 4, 5:
          let count = pins[who].count
          if count > 0 { pins[who].remove(at: Int.random(in: 0..<count, using: &random)) }
        case 6: try stores[who]!.runMaintenance()
        default:
          turns += 1
          try Self.change(stores[who]!, &model, &random)
        }
        if step % 20 == 0 {
          for (index, store) in stores.enumerated() {
            #expect(try store!.checkInvariants().findings == [], "process \(index), step \(step)")
          }
          for pin in pins.joined() {
            #expect(Self.content(pin.snapshot) == pin.content, "\(pin.snapshot.version)")
          }
        }
      }
      for store in stores { readings += store!.journalReadings }
      for store in stores { #expect(Self.content(try store!.pinNewest()) == model) }
      #expect(readings < turns / 2, "\(readings) readings of the journal in \(turns) turns")
    }
  }

  /// However much pins keep, no commit writes a list of all of it.
  @Test func aPartIsShort() throws {
    let system = FaultFileSystem(SimulatedDisk(), process: 1)
    // A commit looks for readers without a lock file at most once in 50 us, and what it may free,
    // and so what it writes, depends on that. By this clock each commit looks.
    let clock = ManualClock()
    let store = try Self.open(system, JournalPace(logBytesMin: 2048, runsMin: 50), clock)
    var pins: [Snapshot] = []
    var written: [UInt64] = []
    for step in 0..<2000 {
      clock.advance(nanoseconds: 1_000_000)
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: step * 7 % Self.slots,
        [UInt8](repeating: UInt8(step & 255), count: 40))
      _ = try transaction.commit()
      if step % 3 == 0, pins.count < 500 { pins.append(try store.pinNewest()) }
      if step >= 1700 { written.append(try store.statistics().writtenBytes) }
    }
    let kept = try store.checkInvariants().parts.filter { $0.owner == "kept for a pin" }.count
    #expect(kept > 1000)
    let longest = zip(written, written.dropFirst()).map { $1 - $0 }.max()!
    // A run takes some four bytes in the journal.
    #expect(longest < 2 * UInt64(kept), "\(longest) bytes, \(kept) kept blocks")
  }
}
