// Reading a file that is four times as large as the memory that the process may use.
import Foundation

enum SmallMemoryRows {
  /// `lookup-small-memory` and `iterate-small-memory`: random look-ups once the memory is full, and
  /// one walk over all objects.
  static func reads(_ fixtures: Fixtures) -> Benchmark {
    let lookups = fixtures.options.isQuick ? 1_000 : 4_000
    let rows = [
      Row("lookup-small-memory", .nanoseconds), Row("iterate-small-memory", .nanoseconds),
    ]
    return Benchmark(rows, Contestant.engines(.full)) { contestant, repetition in
      let fixture = try fixtures.shared(contestant, for: .durableCommits)
      let allowed = max(fixtures.options.objects * 134 / 4, 10 << 20)
      var settings = fixture.settings
      settings.isCold = true
      settings.memory = allowed
      try fixture.close()
      for file in try fixtures.filesOnDisk(fixture) { try dropFromCache(file) }
      guard let limit = MemoryLimit(bytes: allowed) else {
        try fixture.open()
        report("\(rows[0].name): this machine lets no control group be made; left out")
        return Measurement(values: [:], checksum: nil)
      }
      let keys = randomKeys(2 * lookups, below: fixture.count, seed: UInt64(repetition + 90))
      let (times, sums) = try measure(contestant, settings, keys, limit)
      try fixture.open()
      let expected = keys.reduce(0) { $0 + Int(fixture.ages[$1]) }
      guard sums == [expected, fixture.sum] else {
        throw PeerError("\(rows[0].name): \(sums), not \([expected, fixture.sum])")
      }
      return Measurement(
        values: [
          rows[0].name: Double(times[0]) / Double(lookups),
          rows[1].name: Double(times[1]) / Double(fixture.count),
        ], checksum: sums[0])
    }
  }

  /// - Returns: how long the second half of the look-ups and the walk took; the ages that all
  ///   look-ups and the walk have met.
  private static func measure(
    _ contestant: Contestant, _ settings: EngineSettings, _ keys: [Int], _ limit: MemoryLimit
  ) throws -> (times: [UInt64], sums: [Int]) {
    do {
      let engine = try contestant.engine.open(settings)
      var session: (any Session)? = try engine.openSession()
      let half = keys.count / 2
      // Fills the memory.
      var sum = try session!.lookup(keys[..<half])
      let start = now()
      sum += try session!.lookup(keys[half...])
      let middle = now()
      let all = try session!.iterate()
      let end = now()
      session = nil
      try engine.close()
      try limit.leave()
      return ([middle - start, end - middle], [sum, all])
    } catch {
      try limit.leave()
      throw error
    }
  }
}
