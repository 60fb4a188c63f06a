// Engines beside RealmSwift: what a driver makes of connections, on an engine in memory; and what
// the tool says of engines.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ConnectionDriverTests {
  static let workloads: [WorkloadKind] = [
    .readersWriter, .transfer, .mixed, .bulkLoad, .pinnedGrowth,
  ]

  @Test(arguments: workloads)
  func aSoundEnginePasses(_ workload: WorkloadKind) throws {
    var factor = 1.0
    while true {
      let result = try outcome(of: workload, on: MemoryEngine(), seconds: 0.3 * factor) {
        $0.mix = OperationMix("read:40,update:20,insert:10,scan:20,read-modify-write:10")!
      }
      #expect(
        result.violation == nil, "seed \(testSeed()): \(String(describing: result.violation))")
      #expect(result.failure == nil)
      #expect(result.status == .complete)
      let invariants = workload.invariants
      // On a busy machine a thread may have had no turn.
      if result.hasChecked(invariants) { return }
      try #require(factor < 300, "\(invariants) were not all checked")
      factor *= 4
    }
  }

  @Test(arguments: ConnectionBug.allCases)
  func aBrokenEngineIsFound(_ bug: ConnectionBug) throws {
    let engine = BrokenEngine(base: MemoryEngine(), bug: bug)
    let result = try outcome(of: .readersWriter, on: engine, seconds: 5)
    let found = result.violation?.violation.invariant
    #expect(found.map(bug.invariants.contains) == true, "found \(String(describing: found))")
  }

  /// What is read after a failure is nothing, which is no violation of the engine's promises.
  @Test func aFailureIsNoViolation() throws {
    let result = try outcome(of: .readersWriter, on: MemoryEngine(failsFrom: 20), seconds: 60)
    #expect(result.violation == nil && result.status == .failed)
    #expect(result.failure?.contains("the disk has gone") == true)
  }

  /// A pin shows the version of its session, whatever others commit between the two.
  @Test func aPinShowsTheVersionOfItsSession() throws {
    let driver = try ConnectionDriver(MemoryEngine())
    let (reader, writer) = (try driver.openSession(), try driver.openSession())
    var row = Row()
    func write(_ stamp: Int) throws {
      try writer.write {
        row.stamp = stamp
        writer.insert(row)
      }
    }
    try write(1)
    #expect(reader.refresh() && !reader.refresh())
    let before = reader.version
    try write(2)
    let pin = reader.pin()
    #expect(pin.version == before && reader.version == before)
    var seen = Row()
    #expect(pin.read(0, into: &seen) && seen.stamp == 1)
    #expect(reader.refresh() && reader.read(0, into: &seen) && seen.stamp == 2)
    #expect(pin.read(0, into: &seen) && seen.stamp == 1)
    // A writer whose version is pinned goes on with another connection.
    let own = writer.pin()
    try write(3)
    #expect(own.read(0, into: &seen) && seen.stamp == 2)
    #expect(writer.read(0, into: &seen) && seen.stamp == 3)
  }

  @Test func aTransactionThatThrowsLeavesNothing() throws {
    struct Stop: Error {}
    let driver = try ConnectionDriver(MemoryEngine())
    let session = try driver.openSession()
    let version = session.version
    #expect(throws: Stop.self) {
      try session.write {
        session.insert(Row())
        throw Stop()
      }
    }
    var row = Row()
    #expect(session.version == version && !session.read(0, into: &row))
    try session.write { session.insert(Row()) }
    #expect(session.version == version + 1 && session.read(0, into: &row))
  }

  // MARK: - On the command line

  private func refusal(_ line: String) -> String {
    let words = line.split(separator: " ").map(String.init)
    do {
      _ = try RealmBench.dispatch(words, console: CollectedOutput().console())
      return ""
    } catch {
      return (error as? UsageError)?.message ?? "\(error)"
    }
  }

  @Test(arguments: [
    (
      "transfer --engine sqlit", "'sqlit' is not one of realm, sqlite, lmdb; did you mean 'sqlite'?"
    ),
    ("transfer --engine realm,realm", "'realm' is named twice"),
    ("transfer --engine realm,", "'' is not one of realm, sqlite, lmdb"),
  ])
  func namesThatAreNoEnginesAreRefused(line: String, words: String) {
    #expect(refusal("run \(line) --dry-run").contains("--engine: \(words)"))
  }

  @Test func listSaysWhatAnEngineCanRunAndWhyNotTheRest() throws {
    let output = CollectedOutput()
    #expect(try RealmBench.dispatch(["list", "engines"], console: output.console()) == .success)
    for name in ["realm", "sqlite", "lmdb"] {
      #expect("\n\(output.output)".contains("\n\(name) "))
    }
    #expect(
      output.output.contains("runs readers-writer, transfer, mixed, bulk-load, pinned-growth"))
    #expect(output.output.contains("not notify-storm: it needs observers"))
    #expect(output.output.contains("not actor-hops: it needs sessions of actors"))
  }

  @Test(arguments: [
    (Array("SQLite format 3\0".utf8) + [16, 0, 1, 1], "it is an SQLite database"),
    ([UInt8](repeating: 0, count: 16) + [0xde, 0xc0, 0xef, 0xbe], "it is an LMDB environment"),
  ])
  func filesOfOtherEnginesAreToldByTheirName(head: [UInt8], words: String) throws {
    let folder = TemporaryFolder()
    let path = folder.file("other")
    try Data(head + [UInt8](repeating: 7, count: 10_000)).write(to: URL(fileURLWithPath: path))
    let output = CollectedOutput()
    #expect(try RealmBench.dispatch(["check", path], console: output.console()) == .failed)
    #expect(output.output.contains(words))
  }

  #if !PEERS
    @Test func anEngineThatIsNotBuiltInIsRefusedWithTheWay() {
      let words = refusal("run transfer --engine realm,lmdb --dry-run")
      #expect(words.contains("'lmdb' is not in this build"))
      for part in ["Peers", "libsqlite3-dev", "liblmdb-dev", "scripts/setup --peers"] {
        #expect(words.contains(part))
      }
    }
  #endif
}
