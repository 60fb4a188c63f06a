// Failed calls while commits of several threads share a record and a sync: a commit is acknowledged
// only if a power cut leaves it, and the failure of one that shares with others is theirs too.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct GroupFaultTests {
  /// Commits of several threads, each to a slot of its own.
  private final class Committers: Sendable {
    static let path = "/data/group.realm"

    let disk = SimulatedDisk()
    let system: FaultFileSystem
    let store: Store
    private let results = Monitor<[Int: StorageError?]>([:])

    init() throws {
      system = FaultFileSystem(disk)
      store = try Store.open(StoreOptions(path: Self.path, fileSystem: system))
    }

    /// Starts a commit; `fault` strikes its thread alone.
    func start(slot: Int, bytes: Int = 10, fault: FileFault? = nil) -> Thread {
      Thread.start(name: "slot \(slot)") { [self] in
        let error: StorageError?
        do throws(StorageError) {
          let transaction = try store.beginWrite()
          // A block has at most 64 KB.
          for part in 0...(bytes / 60_000) {
            transaction.root = SlotTree.set(
              transaction.editor, transaction.root, slot: slot + 32 * part,
              [UInt8](repeating: 7, count: min(bytes, 60_000)))
          }
          if var fault {
            fault.thread = .current
            system.inject(fault)
          }
          _ = try transaction.commit()
          error = nil
        } catch let thrown {
          error = thrown
        }
        results.withLock { $0[slot] = .some(error) }
      }
    }

    /// Whether so many commits are in the file, durable or not; so too once nobody can write.
    func hasWritten(_ count: UInt64) -> Bool {
      (try? store.statistics().commits).map { $0 >= count } ?? true
    }

    func isAcknowledged(_ slot: Int) -> Bool {
      results.withLock { results in
        guard let result = results[slot] else { return false }
        return result == nil
      }
    }

    func error(_ slot: Int) -> StorageError? { results.withLock { $0[slot] ?? nil } }

    /// The slots that a power cut leaves.
    func slotsAfterPowerCut() throws -> Set<Int> {
      var random = RandomGenerator(seed: 1)
      let image = disk.crashImage(.keepsNothing, random: &random)
      let survivor = try Store.open(StoreOptions(path: Self.path, fileSystem: image))
      let newest = try survivor.pinNewest()
      #expect(try survivor.checkInvariants().findings == [])
      return Set(SlotTree.content(newest.reader, newest.root).keys)
    }

    func expectNoWrites() {
      #expect {
        _ = try store.beginWrite()
      } throws: { error in
        if case .previousSyncFailure = error as? StorageError { true } else { false }
      }
    }
  }

  /// A large commit syncs its blocks before it writes its record.
  ///
  /// When that fails, the kernel calls the pages of the small commit before it clean; the next sync
  /// would succeed and prove nothing.
  @Test func aFailedSyncOfALargeCommitFailsItsGroup() throws {
    let committers = try Committers()
    committers.start(slot: 0).joinInTime()
    committers.system.hold(.synchronize)
    let leader = committers.start(slot: 1)
    committers.system.waitUntilHeld(.synchronize)
    let small = committers.start(slot: 2)
    #expect(eventually { committers.hasWritten(3) })
    let large = committers.start(
      slot: 3, bytes: 1_500_000, fault: FileFault([.synchronize], code: EIO, times: 1))
    // Once it writes, the group cannot be led before its sync.
    let hasBegun = eventually {
      committers.system.records.contains { $0.call == .write && $0.count > 500_000 }
    }
    #expect(hasBegun)
    committers.system.release(.synchronize)
    for thread in [leader, small, large] { thread.joinInTime() }
    #expect(committers.isAcknowledged(0) && committers.isAcknowledged(1))
    #expect(!committers.isAcknowledged(2) && !committers.isAcknowledged(3))
    committers.expectNoWrites()
    #expect(try committers.slotsAfterPowerCut().isSuperset(of: [0, 1]))
  }

  /// The record of a group is rewritten by each of its commits.
  ///
  /// When that fails and the record before cannot be put back, the earlier commits of the group
  /// have none.
  @Test(arguments: 0..<5) func aRecordThatCannotBeRestoredFailsItsGroup(writes: Int) throws {
    let committers = try Committers()
    committers.start(slot: 0).joinInTime()
    committers.system.hold(.synchronize)
    let leader = committers.start(slot: 1)
    committers.system.waitUntilHeld(.synchronize)
    let earlier = committers.start(slot: 2)
    #expect(eventually { committers.hasWritten(3) })
    // A torn record, or torn blocks before it.
    let later = committers.start(
      slot: 3, fault: FileFault([.write], code: EIO, skip: writes, writtenBytes: 20))
    #expect(eventually { !committers.system.struck.isEmpty || committers.hasWritten(4) })
    committers.system.release(.synchronize)
    for thread in [leader, earlier, later] { thread.joinInTime() }
    #expect(committers.isAcknowledged(0) && committers.isAcknowledged(1))
    let isRecordLost = committers.system.struck.count > 1
    #expect(committers.isAcknowledged(2) == !isRecordLost)
    if isRecordLost { committers.expectNoWrites() }
    let survivors = try committers.slotsAfterPowerCut()
    for slot in 0...3 where committers.isAcknowledged(slot) {
      #expect(survivors.contains(slot), "slot \(slot) was acknowledged")
    }
  }
}
