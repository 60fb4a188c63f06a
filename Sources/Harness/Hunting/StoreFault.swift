// What goes wrong with the disk of a hunted store, at a step that follows from the seed of the
// schedule, and what has to be left then.
internal import Glibc
internal import Platform
internal import RaceHunt
internal import Simulation
internal import Storage

/// Something that goes wrong once in a schedule.
enum StoreFault: String, CaseIterable {
  case powerCut = "power-cut"
  case kill
  case diskFull = "disk-full"
  case ioError = "io-error"
  case failedSync = "failed-sync"
  case shortWrite = "short-write"

  var summary: String {
    switch self {
    case .powerCut: "what a power cut at any operation leaves"
    case .kill: "what the kill of all processes at any operation leaves, and a power cut after it"
    case .diskFull: "a disk that is full for some calls"
    case .ioError: "writes that fail"
    case .failedSync: "a sync that fails"
    case .shortWrite: "a write that stops half way"
    }
  }

  /// Whether calls of the engine fail, and with them transactions.
  var failsCalls: Bool { self != .powerCut && self != .kill }

  /// Whether the same store can go on once the fault is over.
  ///
  /// Behind a failed sync nobody knows what the disk has: only a store that is opened anew goes on.
  var isOvercome: Bool { self == .diskFull || self == .shortWrite }

  /// Plans the failure for one of the next calls.
  func plan(_ system: FaultFileSystem) {
    let skip = random(below: 8)
    let fault: FileFault? =
      switch self {
      case .powerCut, .kill: nil
      case .diskFull:
        FileFault(
          [.write, .setLength], code: ENOSPC, pathSuffix: ".realm", skip: skip,
          times: 1 + random(below: 3))
      case .ioError: FileFault([.write], code: EIO, pathSuffix: ".realm", skip: skip, times: 1)
      case .failedSync:
        FileFault([.synchronize], code: EIO, pathSuffix: ".realm", skip: skip / 2, times: 1)
      case .shortWrite:
        FileFault(
          [.write], code: ENOSPC, pathSuffix: ".realm", skip: skip, times: 1,
          writtenBytes: 1 + random(below: 300))
      }
    if let fault { system.inject(fault) }
  }
}

/// What threads have been told of their transactions.
struct StoreTold {
  /// Transactions whose commit has begun, by thread.
  var begun: [Int]
  /// And has returned, or completed.
  var done: [Int]
  var completions = 0
  var laterWrites = 0
  /// What was done or seen after how many operations of the disk, in their order.
  private var acknowledged: [(operations: Int, seen: [Int])] = []

  init(threads: Int) {
    begun = Array(repeating: 0, count: threads)
    done = begun
  }

  /// A commit of a thread has returned or completed.
  mutating func acknowledge(_ thread: Int, on disk: SimulatedDisk) {
    done[thread] += 1
    note("a commit of user \(thread) is acknowledged: number \(done[thread])")
    // Others may have added operations since: a cut between them and the commit is judged as one
    // before it.
    let before = acknowledged.last?.seen ?? done
    acknowledged.append((disk.operationCount, zip(before, done).map { max($0, $1) }))
  }

  /// Somebody has seen counters outside of transactions: what was seen once stays, too.
  mutating func see(_ values: [UInt64], on disk: SimulatedDisk) {
    guard values.count > done.count else { return }
    note("\(Array(values)) is seen")
    let seen = zip(done, values.dropFirst()).map { max($0, Int($1)) }
    let before = acknowledged.last?.seen ?? Array(repeating: 0, count: done.count)
    acknowledged.append((disk.operationCount, zip(before, seen).map { max($0, $1) }))
  }

  /// What was told when the disk had had so many operations, and what is begun in the end.
  func at(operation: Int) -> StoreTold {
    var told = self
    told.done =
      acknowledged.last { $0.operations <= operation }?.seen
      ?? Array(repeating: 0, count: done.count)
    return told
  }

  /// Checks counters that show at least what was told at an earlier time.
  ///
  /// - Parameter before: what was told then.
  func judge(_ values: [UInt64], _ what: String, since before: StoreTold) {
    var expected = self
    expected.done = before.done
    expected.judge(values, what)
  }

  /// Checks counters, the first of which counts what all others do.
  ///
  /// - Parameter what: how the version came about.
  func judge(_ values: [UInt64], _ what: String) {
    CountingUser.judge(values)
    for number in begun.indices {
      let value = 1 + number < values.count ? Int(values[1 + number]) : 0
      check(
        value >= done[number],
        "\(what) takes acknowledged commits back: \(values) and \(done) were committed")
      check(
        value <= begun[number],
        "\(what) shows commits that nobody made: \(values) and \(begun) were begun")
    }
  }
}

extension StoreFault {
  /// Opens what a power cut or kill at some operation leaves, and what a power cut after that does.
  ///
  /// - Parameters:
  ///   - begin: how many operations the disk had had when the threads began.
  ///   - use: how the file was used.
  static func judgeCut(
    _ disk: SimulatedDisk, path: String, isKill: Bool, from begin: Int, _ end: StoreTold,
    _ use: HuntedUse = HuntedUse()
  ) throws {
    var generator = RandomGenerator(seed: UInt64(random(below: 1 << 48)))
    let operation = begin + random(below: disk.operationCount - begin + 1)
    let told = end.at(operation: operation)
    note("the end comes behind disk operation \(operation), when \(told.done) were acknowledged")
    let first =
      isKill
      ? disk.killImage(cutAfterOperation: operation)
      : disk.crashImage(cutAfterOperation: operation, random: &generator)
    try judge(first, path, told, isKill ? "a kill" : "a power cut", use)
    if isKill && use.durability == .full {
      try judge(first.crashImage(random: &generator), path, told, "a power cut after a kill", use)
    }
  }

  /// Opens a disk that is left.
  static func judge(
    _ disk: SimulatedDisk, _ path: String, _ told: StoreTold, _ what: String,
    _ use: HuntedUse = HuntedUse()
  ) throws {
    note("what is left by \(what) is opened")
    guard let bytes = disk.bytes(of: path) else {
      return check(told.done.allSatisfy { $0 == 0 }, "\(what) takes the file")
    }
    Failures.attach("\(what).realm", bytes)
    let store = try Store.open(use.options(path, disk))
    let snapshot = try store.pinNewest()
    told.judge(
      CounterTree.values(snapshot.reader, snapshot.root, count: 1 + told.done.count), what)
    for finding in try store.checkInvariants().findings { check(false, "\(what): \(finding)") }
  }
}
