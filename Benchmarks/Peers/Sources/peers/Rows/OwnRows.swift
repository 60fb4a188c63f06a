// Rows that no peer has: commits that are asked for together and share syncs, and observers. Their
// files are their own, as no peer's file would have the same changes.
import Foundation

enum OwnRows {
  /// `commit-grouped-64`: 64 asynchronous commits are asked for together, each a transaction of its
  /// own, and may share syncs; commits a second until the last one is durable.
  ///
  /// The limit is 64 pages and one sync.
  static func groupedCommits(_ fixtures: Fixtures) -> Benchmark {
    let name = "commit-grouped-64"
    let size = 64
    let groups = fixtures.options.isQuick ? 20 : 100
    let ours = Contestant(.ours, .full)
    var floor: RawFile?
    return Benchmark(
      [Row(name, .perSecond)], [ours, Contestant(.raw, .full)], warmUps: 1
    ) { contestant, repetition in
      let fixture = try fixtures.shared(ours, for: .own)
      var nanoseconds: UInt64 = 0
      var checksum: Int?
      if contestant.engine == .raw {
        if floor == nil {
          floor = try RawFile(fixtures.path("grouped-floor"), bytes: fixture.engine.fileBytes())
        }
        let file = floor!
        var pages = SeededRandom(seed: UInt64(repetition))
        try flushFileSystem(holding: fixtures.options.folder)
        for _ in 0..<groups {
          let start = now()
          for _ in 0..<size { try file.writePage(pages.next(below: file.pages)) }
          try file.synchronize()
          nanoseconds += now() - start
        }
      } else {
        guard let engine = fixture.engine as? RealmEngine else {
          throw PeerError("\(name): the engine is not ours")
        }
        var changes = Changes(seed: repetition + 2_000)
        fixture.session.rest()
        try flushFileSystem(holding: fixtures.options.folder)
        let commits = try engine.openGroups()
        defer { commits.close() }
        for _ in 0..<groups {
          var group: [Change] = []
          for _ in 0..<size {
            let change = changes.next(for: fixture)
            fixture.ages[change.key] = UInt8(change.age)
            group.append(change)
          }
          let start = now()
          try commits.commit(group)
          nanoseconds += now() - start
        }
        checksum = try fixture.check()
      }
      let rate = Double(groups * size) * 1e9 / Double(nanoseconds)
      return Measurement(values: [name: rate], checksum: checksum)
    }
  }

  /// `notify-1-change`: all objects are observed and one changes; from the end of its commit to the
  /// end of the observer's block, the median.
  static func notification(_ fixtures: Fixtures) -> Benchmark {
    let name = "notify-1-change"
    let commits = fixtures.options.isQuick ? 300 : 1_000
    return Benchmark(
      [Row(name, .nanoseconds)], [Contestant(.ours, .memory)], warmUps: 1
    ) { contestant, repetition in
      let fixture = try fixtures.shared(contestant, for: .own)
      guard let session = fixture.session as? RealmSession else {
        throw PeerError("\(name): the engine is not ours")
      }
      var changes = Changes(seed: repetition + 3_000)
      var times: [UInt64] = []
      times.reserveCapacity(commits)
      let observer = session.observe()
      for _ in 0..<commits {
        try fixture.commit(changes.next(for: fixture))
        let start = now()
        observer.deliver()
        times.append(now() - start)
      }
      observer.end()
      guard observer.told == commits else {
        throw PeerError("\(name): told of \(observer.told) changes, not \(commits)")
      }
      let median = percentile(0.5, of: times.sorted())!
      return Measurement(values: [name: median], checksum: try fixture.check())
    }
  }
}
