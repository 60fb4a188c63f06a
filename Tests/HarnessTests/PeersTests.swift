// SQLite and LMDB behind the driver of connections; only with the trait Peers.
#if PEERS
  import Foundation
  import Harness
  import Platform
  import TestSupport
  import Testing

  @Suite(.serialized, .ownThreads) struct PeersTests {
    private let folder = TemporaryFolder()

    private func outcome(
      _ name: String, _ workload: WorkloadKind, _ bug: ConnectionBug? = nil, seconds: Double = 0.5,
      durability: DurabilityClass = .memory
    ) throws -> RunOutcome {
      let opening = EngineOpening(
        path: folder.path + "/" + name, durability: durability, transactionsMax: 200,
        keepsPins: true)
      func run<Engine: ConnectionEngine>(_ engine: Engine) throws -> RunOutcome {
        try HarnessTests.outcome(
          of: workload, on: BrokenEngine(base: engine, bug: bug), seconds: seconds
        ) {
          $0.mix = OperationMix("read:40,update:20,insert:10,scan:20,read-modify-write:10")!
        }
      }
      return name == "sqlite" ? try run(SQLiteEngine(opening)) : try run(LMDBEngine(opening))
    }

    @Test(arguments: ["sqlite", "lmdb"], ConnectionDriverTests.workloads)
    func isSound(_ engine: String, workload: WorkloadKind) throws {
      let result = try outcome(engine, workload)
      #expect(
        result.violation == nil, "seed \(testSeed()): \(String(describing: result.violation))")
      #expect(result.failure == nil)
      #expect(result.status == .complete && result.transactions > 0)
    }

    @Test(arguments: ["sqlite", "lmdb"], ConnectionBug.allCases)
    func aPlantedBugIsFound(_ engine: String, bug: ConnectionBug) throws {
      let result = try outcome(engine, .readersWriter, bug, seconds: 20)
      let found = result.violation?.violation.invariant
      #expect(
        found.map(bug.invariants.contains) == true,
        "found \(String(describing: found)), \(result.failure ?? "no failure")")
    }

    /// Counted where the library calls the system: LMDB syncs pages and meta page, SQLite its log.
    @Test(arguments: ["sqlite", "lmdb"])
    func syncsAreCountedWhereTheyAreMade(_ engine: String) throws {
      for durability in DurabilityClass.allCases {
        let before = folder.path + "/\(durability)"
        try FileManager.default.createDirectory(
          atPath: before, withIntermediateDirectories: true)
        let opening = EngineOpening(path: before + "/file", durability: durability)
        func perCommit<Engine: ConnectionEngine>(_ engine: Engine) throws -> (Double, UInt64) {
          let driver = try ConnectionDriver(engine)
          defer { driver.close() }
          var start = EngineStatistics()
          do {
            let session = try driver.openSession()
            var row = Row()
            row.payload = Data(count: 1_000)
            // The first one begins the log.
            row.id = 10
            try session.write { session.insert(row) }
            start = try driver.statistics()
            for id in 0..<10 {
              row.id = id
              try session.write { session.insert(row) }
            }
          }
          let end = try driver.statistics()
          return (Double(end.syncs - start.syncs) / 10, end.writtenBytes! - start.writtenBytes!)
        }
        let (syncs, bytes) =
          engine == "sqlite"
          ? try perCommit(SQLiteEngine(opening)) : try perCommit(LMDBEngine(opening))
        let expected = durability == .memory ? 0.0 : engine == "sqlite" ? 1 : 2
        #expect(syncs == expected, "\(durability)")
        #expect(bytes >= 10_000)
      }
    }
  }
#endif
