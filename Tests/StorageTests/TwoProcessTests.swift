// Two processes that commit to one file, each step where a test wants it: this process opens the
// file twice, with file systems that make it look like two.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct TwoProcessTests {
  private static let path = "/data/two.realm"

  private static func open(_ system: FaultFileSystem) throws -> Store {
    try Store.open(StoreOptions(path: path, fileSystem: system))
  }

  /// Commits in a thread of its own; before the commit, with the write lock, it runs `whenBegun`.
  private static func commit(
    _ store: Store, slot: Int, whenBegun: @escaping @Sendable () -> Void = {}
  ) -> Thread {
    Thread.start(name: "slot \(slot)") {
      do {
        let transaction = try store.beginWrite()
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot, [UInt8](repeating: 1, count: 900))
        whenBegun()
        _ = try transaction.commit()
      } catch {
        Issue.record(error)
      }
    }
  }

  private static func slots(_ snapshot: Snapshot) -> Set<Int> {
    Set(SlotTree.content(snapshot.reader, snapshot.root).keys)
  }

  /// A second process builds on a commit that the first one is still syncing.
  ///
  /// It wrote its record over the first one's: readers found no record of the newest version, and a
  /// power cut before its own sync took the acknowledged commit. Found by four processes on one
  /// file.
  @Test func aRecordInSyncIsNotOverwritten() throws {
    let disk = SimulatedDisk()
    let first = FaultFileSystem(disk, process: 1)
    let second = FaultFileSystem(disk, process: 2)
    let stores = try [Self.open(first), Self.open(second)]
    Self.commit(stores[0], slot: 0).joinInTime()
    // Now both know of the same durable version, and would choose the same home.
    #expect(Self.slots(try stores[1].pinNewest()) == [0])
    first.hold(.synchronize)
    let syncing = Self.commit(stores[0], slot: 1)
    first.waitUntilHeld(.synchronize)
    let building = Self.commit(stores[1], slot: 2) { second.hold(.synchronize) }
    second.waitUntilHeld(.synchronize)
    first.release(.synchronize)
    syncing.joinInTime()
    // Slot 1 is acknowledged, slot 2 is in the file without a sync.
    for store in stores { #expect(Self.slots(try store.pinNewest()).isSuperset(of: [0, 1])) }
    var random = RandomGenerator(seed: testSeed())
    for turn in 0..<60 {
      let kind = PowerCut.allCases[turn % PowerCut.allCases.count]
      let image = disk.crashImage(kind, random: &random)
      let survivor = try Store.open(StoreOptions(path: Self.path, fileSystem: image))
      #expect(Self.slots(try survivor.pinNewest()).isSuperset(of: [0, 1]), "\(kind)")
      #expect(try survivor.checkInvariants().findings == [], "\(kind)")
    }
    second.release(.synchronize)
    building.joinInTime()
    // The first one goes on, in a group of its own.
    Self.commit(stores[0], slot: 3).joinInTime()
    for store in stores { #expect(Self.slots(try store.pinNewest()) == [0, 1, 2, 3]) }
    #expect(try stores[0].checkInvariants().findings == [])
  }
}
