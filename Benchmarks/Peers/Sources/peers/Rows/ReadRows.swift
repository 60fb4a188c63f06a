// Reads of one thread, on the files that durable commits are made to. Each engine reads the newest
// version, in one read transaction for all reads of a repetition.
import CPeersShim
import Foundation

enum ReadRows {
  /// `lookup`: by primary key, random order, and a read of the age.
  static func lookup(_ fixtures: Fixtures) -> Benchmark {
    let count = fixtures.options.objects
    let keys = randomKeys(fixtures.options.isQuick ? 50_000 : 200_000, below: count, seed: 7)
    var records: [Int64] = []
    // Words of a record as long as ours, rounded up.
    let words = 17
    return reads("lookup", fixtures, calls: keys.count) { fixture in
      try fixture.session.lookup(keys[...])
    } limit: {
      // One load each from records that lie in key order: the cache miss that nobody can avoid.
      if records.isEmpty {
        records = [Int64](repeating: 0, count: count * words)
        for id in 0..<count { records[id * words] = Int64(Population.age(id)) }
      }
      return records.withUnsafeBufferPointer { records in
        keys.reduce(0) { $0 &+ Int(peers_load(records.baseAddress! + $1 * words)) }
      }
    }
  }

  /// A row of reads: nanoseconds a call.
  ///
  /// - Parameters:
  ///   - read: makes all calls and returns a checksum; nil when the engine has no such thing.
  ///   - limit: the same by the least means.
  static func reads(
    _ name: String, _ fixtures: Fixtures, calls: Int,
    read: @escaping (Fixture) throws -> Int?, limit: @escaping () throws -> Int?
  ) -> Benchmark {
    Benchmark(
      [Row(name, .nanoseconds)],
      Contestant.engines(.full) + [Contestant(.raw, .full)], warmUps: 1
    ) { contestant, _ in
      let checksum: Int?
      let time: UInt64
      if contestant.engine == .raw {
        let start = now()
        checksum = try limit()
        time = now() - start
        guard checksum != nil else { return Measurement(values: [:], checksum: nil) }
        return Measurement(values: [name: Double(time) / Double(calls)], checksum: nil)
      }
      let fixture = try fixtures.shared(contestant, for: .durableCommits)
      let start = now()
      checksum = try read(fixture)
      time = now() - start
      fixture.session.rest()
      guard let checksum else { return Measurement(values: [:], checksum: nil) }
      return Measurement(values: [name: Double(time) / Double(calls)], checksum: checksum)
    }
  }
}
