// Small commits of one thread: the age of one random object. Durable ones are paired, commit by
// commit, with each other and with the disk's own floor; unsynced ones run in blocks, so that each
// engine has its caches to itself.
import Foundation

enum CommitRows {
  /// `commit-durable` and its tails.
  ///
  /// - Parameter withVariants: also those of another promise.
  static func durable(_ fixtures: Fixtures, withVariants: Bool = true) -> Benchmark {
    let options = fixtures.options
    let commits = options.isQuick ? 1_000 : 10_000
    let name = "commit-durable"
    var floor: RawFile?
    return Benchmark(
      [
        Row(name, .nanoseconds), Row(name + "-p99", .nanoseconds),
        Row(name + "-p99.9", .nanoseconds), Row(name + "-max", .nanoseconds),
      ],
      Contestant.engines(.full) + (withVariants ? [Contestant(.sqlite, .normal)] : [])
        + [Contestant(.raw, .full)]
    ) { order, repetition in
      let files = try order.filter { $0.engine != .raw }.map {
        try fixtures.shared($0, for: .durableCommits)
      }
      if floor == nil {
        // As large as our file, and as warm: every page was written before.
        let ours = try fixtures.shared(Contestant(.ours, .full), for: .durableCommits)
        floor = try RawFile(fixtures.path("floor"), bytes: ours.engine.fileBytes())
      }
      try flushFileSystem(holding: options.folder)
      var lines = try order.map { contestant in
        Line(
          contestant,
          contestant.engine == .raw ? nil : try fixtures.shared(contestant, for: .durableCommits),
          floor!,
          commits: commits, seed: repetition)
      }
      for commit in 0..<commits {
        for index in lines.indices { try lines[(index + commit) % lines.count].commit() }
      }
      for fixture in files { try fixture.check() }
      return try Dictionary(
        uniqueKeysWithValues: lines.map { ($0.contestant, try $0.measurement(name)) })
    }
  }

  /// One contestant's commits of one repetition.
  private struct Line {
    let contestant: Contestant
    private let fixture: Fixture?
    private let floor: RawFile
    private var changes: Changes
    private var pages: SeededRandom
    private var times: [UInt64] = []

    init(
      _ contestant: Contestant, _ fixture: Fixture?, _ floor: RawFile, commits: Int, seed: Int
    ) {
      self.contestant = contestant
      self.fixture = fixture
      self.floor = floor
      changes = Changes(seed: seed)
      pages = SeededRandom(seed: UInt64(seed))
      times.reserveCapacity(commits)
    }

    mutating func commit() throws {
      if let fixture {
        let change = changes.next(for: fixture)
        let start = now()
        try fixture.commit(change)
        times.append(now() - start)
      } else {
        let page = pages.next(below: floor.pages)
        let start = now()
        try floor.writePage(page)
        try floor.synchronize()
        times.append(now() - start)
      }
    }

    func measurement(_ name: String) throws -> Measurement {
      let sorted = times.sorted()
      var values = [name: percentile(0.5, of: sorted)!, name + "-max": Double(sorted.last!)]
      values[name + "-p99"] = percentile(0.99, of: sorted)
      values[name + "-p99.9"] = percentile(0.999, of: sorted)
      return Measurement(values: values, checksum: fixture?.sum)
    }
  }

  /// `commit-memory`: the median without any sync.
  ///
  /// - Parameter withVariants: also those of another promise or another way of writing.
  static func memory(_ fixtures: Fixtures, withVariants: Bool = true) -> Benchmark {
    let options = fixtures.options
    let commits = options.isQuick ? 5_000 : 20_000
    let variants = [Contestant(.sqlite, .normal), Contestant(.lmdb, .memoryThroughMap)]
    var floor: RawFile?
    return Benchmark(
      [Row("commit-memory", .nanoseconds)],
      Contestant.engines(.memory) + (withVariants ? variants : []) + [Contestant(.raw, .memory)],
      warmUps: 1
    ) { contestant, repetition in
      var times: [UInt64] = []
      times.reserveCapacity(commits)
      var checksum: Int?
      if contestant.engine == .raw {
        if floor == nil {
          let ours = try fixtures.shared(Contestant(.ours, .memory), for: .memoryCommits)
          floor = try RawFile(fixtures.path("floor-memory"), bytes: ours.engine.fileBytes())
        }
        var pages = SeededRandom(seed: UInt64(repetition + 1))
        for _ in 0..<commits {
          let page = pages.next(below: floor!.pages)
          let start = now()
          try floor!.writePage(page)
          times.append(now() - start)
        }
      } else {
        let fixture = try fixtures.shared(contestant, for: .memoryCommits)
        var changes = Changes(seed: repetition + 1_000)
        for _ in 0..<commits {
          let change = changes.next(for: fixture)
          let start = now()
          try fixture.commit(change)
          times.append(now() - start)
        }
        checksum = try fixture.check()
      }
      let median = percentile(0.5, of: times.sorted())!
      return Measurement(values: ["commit-memory": median], checksum: checksum)
    }
  }
}
