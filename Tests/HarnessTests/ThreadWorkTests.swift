// Allocations, instructions and calls of the system: what is counted, by whom, and what stays
// empty.
import Foundation
import Glibc
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ThreadWorkTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  /// A sanitizer has to stand in for malloc alone.
  static let isSanitized: Bool = {
    let entries: [String] = ["__asan_init", "__tsan_init", "__msan_init"]
    return entries.contains { (name: String) in dlsym(nil, name) != nil }
  }()

  // MARK: - One thread

  @Test func everyWayToAllocateIsCountedOnce() {
    #expect(ThreadWork.countsAllocations != Self.isSanitized)
    guard ThreadWork.countsAllocations else { return }
    let kept = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1_000)
    defer { kept.deallocate() }
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    text.initialize(to: 0)
    defer { text.deallocate() }
    let ways: [() -> UnsafeMutableRawPointer?] = [
      { malloc(24) }, { calloc(3, 8) }, { realloc(nil, 24) }, { aligned_alloc(64, 128) },
      {
        var memory: UnsafeMutableRawPointer?
        return posix_memalign(&memory, 64, 128) == 0 ? memory : nil
      },
      // By the C library itself, and by the runtime of Swift.
      { UnsafeMutableRawPointer(strdup(text)) },
      { UnsafeMutableRawPointer(Unmanaged.passRetained(Allocated()).toOpaque()) },
    ]
    for (number, allocate) in ways.enumerated() {
      for count in [0, 1, 7, 1_000] {
        let before = ThreadWork.now()
        for position in 0..<count { kept[position] = allocate() }
        let work = ThreadWork.since(before)
        #expect(work.allocations == UInt64(count), "way \(number)")
        for position in 0..<count {
          guard number == ways.count - 1 else {
            free(kept[position])
            continue
          }
          Unmanaged<Allocated>.fromOpaque(kept[position]!).release()
        }
      }
    }
    // Memory that another one has given stays usable, and freeing is none.
    let before = ThreadWork.now()
    let grown = realloc(malloc(8), 1_000_000)
    free(grown)
    #expect(ThreadWork.since(before).allocations == 2)
  }

  private final class Allocated {
    var number = 1
  }

  @Test func otherThreadsCountTheirOwn() {
    guard ThreadWork.countsAllocations else { return }
    let others = Monitor<UInt64>(0)
    let turn = Monitor(0)
    let thread = Platform.Thread.start(name: "allocating") {
      let before = ThreadWork.now()
      for _ in 0..<50 { free(malloc(100)) }
      let work = ThreadWork.since(before)
      others.withLock { $0 = work.allocations }
      turn.withLock { $0 = 1 }
      turn.notifyAll()
    }
    turn.wait(until: { $0 == 1 }, then: { _ in })
    let before = ThreadWork.now()
    thread.join()
    #expect(others.withLock { $0 } == 50)
    #expect(ThreadWork.since(before).allocations < 50)
  }

  @Test func aForkedChildCounts() {
    typealias Fork = @convention(c) () -> pid_t
    guard ThreadWork.countsAllocations, let found = dlsym(nil, "fork") else { return }
    let fork = unsafeBitCast(found, to: Fork.self)
    let child = ThreadWork.countingInstructions {
      let child = fork()
      guard child == 0 else { return child }
      let before = ThreadWork.now()
      free(malloc(100))
      _exit(ThreadWork.since(before).allocations == 1 ? 0 : 1)
    }
    #expect(child > 0)
    var status: Int32 = -1
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    #expect(status == 0)
  }

  /// Where a processor has a counter that a program may read.
  @Test func instructionsAreCountedOrUnknown() {
    #expect(ThreadWork.now().instructions == 0)
    let work = ThreadWork.countingInstructions {
      let before = ThreadWork.now()
      var sum = 0
      for number in 0..<10_000 { sum &+= number &* sum }
      #expect(sum == 0)
      return ThreadWork.since(before)
    }
    #expect((work.instructions > 10_000) == ThreadWork.countsInstructions)
    #expect(ThreadWork.countsInstructions || work.instructions == 0)
  }

  @Test func whatIsNotCountedOfAllIsUnknown() {
    var work = OperationWork()
    #expect(work.allocationsPerOperation(of: 0) == nil)
    work.record(ThreadWork())
    #expect((work.allocationsPerOperation(of: 1) == 0) == ThreadWork.countsAllocations)
    #expect(work.allocationsPerOperation(of: 2) == nil)
    #expect(work.instructionsPerOperation(of: 1) == nil)
    var sum = OperationWork()
    sum.add(work)
    #expect(sum == work)
  }

  // MARK: - Runs

  private func run(
    _ words: String, to name: String, more allocations: Int? = nil
  ) throws -> (path: String, rows: [String: [String: String]], output: String) {
    let path = folder.file(name)
    let console = CollectedOutput()
    let words = (words + " --output \(path) --warmup 0s --value-size 16B --seed 1")
      .split(separator: " ").map(String.init)
    let code: ExitCode
    if let allocations {
      code = try RunVerb.run(
        words,
        RunVerb.Surroundings(
          console: console.console(), interruption: { TimedInterruption() },
          makeDriver: { _, _ in AllocatingEngine(allocations) }))
    } else {
      code = try RunVerb.run(
        words,
        RunVerb.Surroundings(
          console: console.console(), interruption: { TimedInterruption() },
          makeDriver: { try RealmDriver(path: $0, durability: $1) }))
    }
    #expect(code == .success, "\(console.errors)")
    let text = try String(contentsOfFile: path + "/summary.csv", encoding: .utf8)
    let table = try #require(CSVTable.parse(text))
    var rows: [String: [String: String]] = [:]
    for row in table.dropFirst() {
      let cells = Dictionary(uniqueKeysWithValues: zip(table[0], row))
      rows[cells["operation"]!] = cells
    }
    return (path, rows, console.output)
  }

  private static let reads =
    "readers-writer --readers 1 --writers 0 --objects 50 --ops 500 --invariants none"

  private func compare(_ one: String, _ other: String) throws -> (ExitCode, String) {
    let output = CollectedOutput()
    let code = try CompareVerb.run(
      ["--output", folder.file("compare.csv"), "--partial", one, other],
      console: output.console(), interruption: { TimedInterruption() })
    return (code, output.output + output.errors)
  }

  /// One allocation a read more is seen by one run a side.
  @Test func anOperationThatAllocatesMoreHasSoManyMore() throws {
    // The first run of a process finds out what is known from then on.
    _ = try run(Self.reads, to: "first", more: 0)
    let runs = try [0, 1, 5].map { (more: Int) in
      try run(Self.reads, to: "more-\(more)", more: more)
    }
    let cells = runs.map { $0.rows["read"]!["allocations_per_operation"]! }
    guard ThreadWork.countsAllocations else {
      #expect(cells == ["", "", ""])
      return
    }
    let figures = try cells.map { try #require(Double($0)) }
    #expect(figures[1] == figures[0] + 1 && figures[2] == figures[0] + 5, "\(cells)")
    #expect(runs[1].output.contains("allocations an operation: read "), "\(runs[1].output)")
    let worse = try compare(runs[0].path, runs[1].path)
    #expect(
      worse.0 == .thresholdMissed && worse.1.contains("Worse: read.allocations_per_operation"))
    #expect(try compare(runs[1].path, runs[0].path).0 == .success)
    let equal = try compare(
      runs[1].path, try run(Self.reads, to: "again", more: 1).path)
    #expect(equal.0 == .success && !equal.1.contains("Worse"), "\(equal.1)")
  }

  /// An engine that does not count them.
  @Test func whatAnEngineDoesNotCountIsEmpty() throws {
    let writes = "readers-writer --readers 0 --writers 1 --objects 50 --ops 50"
    let run = try run(writes, to: "model", more: 0)
    #expect(run.rows["write"]!["system_calls_per_commit"] == "")
    #expect(run.rows["write"]!["syncs_per_commit"] == "1.0000")
    #expect(!run.output.contains("system calls"))
    #expect(run.rows["insert"]!["allocations_per_operation"] == "")
  }

  /// A baseline of an earlier version, or of a machine without a counter, has none: the times that
  /// both have decide.
  @Test func instructionsDecideWhereEveryRunHasThem() throws {
    let runs = FigureFolders(folder: folder)
    var read = ["service_p50_ns": "1000"]
    let old = try (0..<2).map { try runs.make("old-\($0)", ["read": read]) }
    read["instructions_per_operation"] = "5000.0"
    let new = try (0..<4).map { try runs.make("new-\($0)", ["read": read]) }
    /// Whether they decide, and the rows of which nobody can tell.
    func gate(_ sides: [[String]]) throws -> (gate: String?, undecided: [String]) {
      let output = CollectedOutput()
      let words = [sides[0][0], sides[1][0], "--baseline", sides[0][1], "--candidate", sides[1][1]]
      _ = try CompareVerb.run(
        words + ["--format", "json", "--output", folder.file("compare.csv")],
        console: output.console(), interruption: { TimedInterruption() })
      let json = try JSONSerialization.jsonObject(with: Data(output.output.utf8))
      let told = try #require(json as? [String: Any])
      let rows = try #require(told["rows"] as? [[String: Any]])
      let row = rows.first { $0["metric"] as? String == "instructions_per_operation" }
      return (row?["gate"] as? String, told["undecided"] as? [String] ?? [])
    }
    let mixed = try gate([old, Array(new[..<2])])
    #expect(mixed.gate == "no" && !mixed.undecided.contains { $0.contains("instructions") })
    #expect(try gate([Array(new[..<2]), Array(new[2...])]).gate == "yes")
  }

  /// Of RealmSwift: what compare takes as exact has to be.
  @Test(arguments: [
    ("read", "readers-writer --readers 1 --writers 0 --ops 5000"),
    ("scan", "mixed --threads 1 --mix read:80,scan:20 --ops 1000"),
    ("sum", "transfer --readers 1 --writers 0 --ops 50"),
    ("freeze", "freeze-cache --readers 1 --writers 0 --ops 1000"),
  ])
  func aReaderAloneAllocatesTheSameAgain(operation: String, words: String) throws {
    // The first run of a process finds out what is known from then on: compare takes one of each
    // process, which are alike, too.
    let runs = try (0..<4).map {
      try run(words + " --objects 2000 --invariants none", to: "run-\($0)")
    }.dropFirst().map(\.self)
    for operation in [operation, "refresh"] {
      let cells = runs.map { $0.rows[operation]!["allocations_per_operation"]! }
      #expect(Set(cells).count == 1, "\(operation): \(cells)")
      #expect(cells[0].isEmpty != ThreadWork.countsAllocations)
    }
    let instructions = runs[0].rows[operation]!["instructions_per_operation"]!
    #expect(instructions.isEmpty != ThreadWork.countsInstructions)
    guard ThreadWork.countsAllocations else { return }
    let result = try compare(runs[0].path, runs[1].path)
    #expect(!result.1.contains("Worse: \(operation).allocations"), "\(result.1)")
  }

  /// What a commit takes depends on when space was found to be free: it is about the same.
  @Test(arguments: ["full", "memory"])
  func commitsHaveCallsAndAllocations(durability: String) throws {
    let words = "readers-writer --objects 2000 --batch 4 --readers 0 --writers 1 --ops 300"
    let runs = try (0..<2).map {
      try run("\(words) --durability \(durability)", to: "run-\($0)")
    }
    let writes = runs.map { $0.rows["write"]! }
    let calls = try writes.map { try #require(Double($0["system_calls_per_commit"]!)) }
    // Never fewer than syncs.
    let syncs = try writes.map { try #require(Double($0["syncs_per_commit"]!)) }
    #expect(zip(calls, syncs).allSatisfy { $0 >= $1 && $0 > 0 && $0 < 200 }, "\(calls)")
    guard ThreadWork.countsAllocations else { return }
    let figures = try writes.map { try #require(Double($0["allocations_per_operation"]!)) }
    #expect(figures.allSatisfy { $0 > 4 } && abs(figures[0] / figures[1] - 1) < 0.2, "\(figures)")
    #expect(runs[0].output.contains("system calls on files"), "\(runs[0].output)")
  }
}

/// The model engine, whose reads by key allocate some times more.
private final class AllocatingEngine: EngineDriver {
  static let name = "model"
  private let base = ModelEngine()
  private let allocations: Int

  init(_ allocations: Int) { self.allocations = allocations }

  func openSession() throws -> AllocatingSession {
    AllocatingSession(try base.openSession(), allocations)
  }

  func statistics() throws -> EngineStatistics { try base.statistics() }
  func glance() throws -> EngineStatistics { try base.glance() }
  func checkInvariants() throws -> [String] { try base.checkInvariants() }
  func close() { base.close() }
  func deleteFiles() throws { try base.deleteFiles() }
}

private final class AllocatingSession: EngineSession {
  private let base: ModelSession
  private let allocations: Int

  init(_ base: ModelSession, _ allocations: Int) {
    self.base = base
    self.allocations = allocations
  }

  var version: UInt64 { base.version }
  func refresh() -> Bool { base.refresh() }

  func read(_ key: Int, _ parts: RowParts, into row: inout Row) -> Bool {
    for number in 0..<allocations { free(malloc(100 + number)) }
    return base.read(key, parts, into: &row)
  }

  func hold(_ key: Int) -> ModelSession.Held? { base.hold(key) }
  func read(_ held: ModelSession.Held, into row: inout Row) { base.read(held, into: &row) }
  func scan(from position: Int, into rows: inout [Row]) -> Int {
    base.scan(from: position, into: &rows)
  }
  func total() -> TableTotal { base.total() }
  func pin() -> ModelSession.Pin { base.pin() }
  func write(_ body: () throws -> Void) throws { try base.write(body) }
  func insert(_ row: Row) { base.insert(row) }
  func update(_ key: Int, _ parts: RowParts, _ change: (inout Row) -> Void) -> Bool {
    base.update(key, parts, change)
  }
  func delete(_ key: Int) -> Bool { base.delete(key) }
}
