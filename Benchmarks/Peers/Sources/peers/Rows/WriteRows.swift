// Writes of every ordinary size: changes of 1 to 1,000 objects of nine properties a transaction,
// durable and without syncs. Rates and tails stand beside the median: what happens once in a
// hundred commits counts.
import Foundation

enum WriteRows {
  static let sizes = [1, 10, 100, 1000]

  static func all(_ fixtures: Fixtures) -> [Benchmark] {
    let files = WideFiles(fixtures)
    return WideChange.allCases.flatMap { change in
      sizes.map { benchmark(change, $0, files) }
    }
  }

  private static func benchmark(_ change: WideChange, _ size: Int, _ files: WideFiles)
    -> Benchmark
  {
    let name = "write-\(change.rawValue)-\(size)"
    let rows = [
      Row(name, .nanoseconds), Row(name + "-mean", .nanoseconds), Row(name + "-p99", .nanoseconds),
      Row(name + "-rate", .perSecond),
    ]
    let contestants =
      Contestant.engines(.full) + [Contestant(.raw, .full)] + Contestant.engines(.memory)
    let commits = max((files.isQuick ? 2_000 : 10_000) / size, files.isQuick ? 30 : 100)
    return Benchmark(rows, contestants) { contestant, repetition in
      var times: [UInt64] = []
      var checksum: Int?
      if contestant.engine == .raw {
        times = try files.rawSyncs(min(commits, 500))
      } else {
        let driver = try files.driver(contestant)
        var run = WideRun(
          driver: driver, change: change, size: size, objects: files.objects, seed: repetition)
        for _ in 0..<commits { try times.append(run.commit()) }
        checksum = try run.finish()
      }
      return Measurement(values: values(name, times), checksum: checksum)
    }
  }

  private static func values(_ name: String, _ times: [UInt64]) -> [String: Double] {
    let sorted = times.sorted()
    let mean = Double(sorted.reduce(0, +)) / Double(sorted.count)
    var values = [name: percentile(0.5, of: sorted)!, name + "-mean": mean]
    values[name + "-rate"] = 1e9 / mean
    values[name + "-p99"] = percentile(0.99, of: sorted)
    return values
  }
}

/// One contestant's transactions of one kind.
private struct WideRun {
  let driver: any WideDriver
  let change: WideChange
  let size: Int
  let objects: Int
  let seed: Int
  private var random: SeededRandom
  private var number = 0
  /// Keys that were added, or removed.
  private var touched: [Int] = []
  private var removed: Set<Int> = []

  init(driver: any WideDriver, change: WideChange, size: Int, objects: Int, seed: Int) {
    self.driver = driver
    self.change = change
    self.size = size
    self.objects = objects
    self.seed = seed
    random = SeededRandom(seed: UInt64(seed))
  }

  /// Nanoseconds of one transaction.
  mutating func commit() throws -> UInt64 {
    let values = try nextValues()
    try driver.prepare(change, values)
    let start = now()
    try driver.run(change, values)
    let time = now() - start
    number += 1
    return time
  }

  private mutating func nextValues() throws -> [WideValues] {
    let keys = nextKeys()
    let newSeed = seed &* 1_000_003 &+ number
    switch change {
    case .upsertNone, .upsertSome:
      return try keys.map { key in
        var values = try driver.values(key)!
        if change == .upsertSome { values.count = WideValues(key, seed: newSeed).count }
        return values
      }
    default: return keys.map { WideValues($0, seed: newSeed) }
    }
  }

  private mutating func nextKeys() -> [Int] {
    if change.inserts {
      let keys = Array(objects + number * size..<objects + (number + 1) * size)
      touched += keys
      return keys
    }
    if change.isNear {
      var first: Int
      repeat { first = random.next(below: objects / size) * size } while removed.contains(first)
      let keys = Array(first..<first + size)
      if change.deletes { note(keys) }
      return keys
    }
    // Each once, as a transaction would.
    var keys: [Int] = []
    while keys.count < size {
      let key = random.next(below: objects)
      if keys.contains(key) || removed.contains(key) { continue }
      keys.append(key)
    }
    if change.deletes { note(keys) }
    return keys
  }

  private mutating func note(_ keys: [Int]) {
    touched += keys
    removed.formUnion(keys)
    precondition(removed.count < objects, "no objects are left to remove")
  }

  /// Puts back what was removed, takes away what was added, and sums up some objects.
  func finish() throws -> Int {
    var checksum = try driver.count()
    for key in randomKeys(200, below: objects, seed: 99) {
      checksum = checksum &* 31 &+ (try driver.values(key)?.sum ?? 1)
    }
    if change.inserts {
      for key in touched.prefix(200) { checksum = checksum &* 31 &+ (try driver.values(key)!.sum) }
    }
    if !touched.isEmpty {
      let values = touched.map { WideValues($0, seed: 0) }
      // Keys may not come in order, as an engine's way of adding may ask for.
      let back: WideChange = change.inserts ? .delete : .upsertAll
      try driver.prepare(back, values)
      try driver.run(back, values)
    }
    guard try driver.count() == objects else { throw PeerError("objects were lost") }
    return checksum
  }
}

/// The files of these rows: one a contestant, whose contestants have the same history.
private final class WideFiles {
  let fixtures: Fixtures
  private var drivers: [Contestant: any WideDriver] = [:]
  private var raw: RawFile?
  private var page = 0

  init(_ fixtures: Fixtures) { self.fixtures = fixtures }

  var objects: Int { fixtures.options.objects }
  var isQuick: Bool { fixtures.options.isQuick }

  func driver(_ contestant: Contestant) throws -> any WideDriver {
    if let driver = drivers[contestant] { return driver }
    let name = "wide-\(contestant.engine.rawValue)-\(contestant.durability.rawValue)"
    let folder = fixtures.path(name)
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let driver: any WideDriver =
      switch contestant.engine {
      case .ours: try RealmWide(folder: folder, durability: contestant.durability)
      case .sqlite:
        try SQLiteWide(folder: folder, durability: contestant.durability, objects: objects)
      default: try LMDBWide(folder: folder, durability: contestant.durability, objects: objects)
      }
    for first in stride(from: 0, to: objects, by: 10_000) {
      let part = (first..<min(first + 10_000, objects)).map { WideValues($0, seed: 0) }
      try driver.prepare(.insert, part)
      try driver.run(.insert, part)
    }
    drivers[contestant] = driver
    return driver
  }

  /// Nanoseconds of writes of 4 KB, one behind the other, each with a sync, into space written
  /// before.
  func rawSyncs(_ count: Int) throws -> [UInt64] {
    if raw == nil { raw = try RawFile(fixtures.path("wide-raw"), bytes: 4 << 20) }
    return try (0..<count).map { _ in
      page = (page + 1) % raw!.pages
      let start = now()
      try raw!.writePage(page)
      try raw!.synchronize()
      return now() - start
    }
  }

  deinit {
    drivers = [:]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: fixtures.path(""))) ?? []
    where name.hasPrefix("wide-") {
      try? FileManager.default.removeItem(atPath: fixtures.path(name))
    }
  }
}
