// Commits whose writes fail, though all or nothing of them is in the file then: what was told to be
// rolled back does not come back, and the store goes on once the disk does.
import Glibc
import Platform
import Simulation
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct FailedRecordTests {
  /// - Parameters:
  ///   - written: bytes that a failing write puts into the file.
  ///   - times: so many writes fail.
  @Test(arguments: [(written: 0, times: 1), (0, 3), (.max, 1)])
  func theStoreGoesOn(written: Int, times: Int) async {
    await withSeeds { random in
      for number in 0..<8 {
        for later in [0, 1, 3] {
          try Self.run(
            FileFault(
              [.write], code: ENOSPC, pathSuffix: ".realm", skip: number, times: times,
              writtenBytes: written), later, &random)
        }
      }
    }
  }

  /// - Parameter later: so many asynchronous commits that may share a group, or one that waits.
  private static func run(
    _ fault: FileFault, _ later: Int, _ random: inout RandomGenerator
  ) throws {
    let disk = SimulatedDisk()
    let system = FaultFileSystem(disk)
    var store: Store? = try Store.open(StoreOptions(path: "/data/a.realm", fileSystem: system))
    try commit(1, to: store!)
    system.inject(fault)
    var done: [UInt64] = [1]
    if later == 0 {
      if (try? commit(2, to: store!)) != nil { done.append(2) }
    } else {
      let told = Monitor<[UInt64: Bool]>([:])
      for value in 2..<UInt64(2 + later) {
        do {
          let transaction = try begin(value, store!)
          _ = try transaction.commitAsynchronously(awaitsMore: value < UInt64(1 + later)) { error in
            told.withLock { $0[value] = error == nil }
            told.notifyAll()
          }
        } catch {
          told.withLock { $0[value] = false }
        }
      }
      told.waitInTime(for: "completions") { $0.count == later }
      done += told.withLock { $0.filter(\.value).keys.sorted() }
    }
    system.clearFaults()
    let what = Comment(rawValue: "write \(fault.skip) of \(later), \(done) committed")
    #expect(try value(store!) == done.last, what)
    // A transaction that had begun on what was lost is told so once.
    if (try? commit(9, to: store!)) == nil { try commit(9, to: store!) }
    #expect(try value(store!) == 9, what)
    #expect(try store!.checkInvariants().findings == [], what)
    store = nil
    for image in [disk.killImage(), disk.crashImage(random: &random)] {
      let again = try Store.open(StoreOptions(path: "/data/a.realm", fileSystem: image))
      #expect(try value(again) == 9, what)
      #expect(try again.checkInvariants().findings == [], what)
    }
  }

  private static func begin(_ value: UInt64, _ store: Store) throws -> WriteTransaction {
    let transaction = try store.beginWrite()
    let root =
      transaction.root.isNone
      ? transaction.editor.allocate(kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: 8)
      : transaction.editor.mutable(transaction.root)
    (transaction.editor.pointer(root) + BlockHeader.length).storeBytes(of: value, as: UInt64.self)
    transaction.root = root
    return transaction
  }

  private static func commit(_ value: UInt64, to store: Store) throws {
    _ = try begin(value, store).commit()
  }

  private static func value(_ store: Store) throws -> UInt64 {
    let snapshot = try store.pinNewest()
    return BlockHeader.payload(snapshot.reader.pointer(snapshot.root)).load(as: UInt64.self)
  }
}
