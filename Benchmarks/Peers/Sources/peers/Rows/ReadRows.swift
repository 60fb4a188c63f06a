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

  /// `read-held`: an object that was found before, its age again and again.
  static func readHeld(_ fixtures: Fixtures) -> Benchmark {
    let calls = 5_000_000
    var age: Int64 = 42
    return reads("read-held", fixtures, calls: calls) { fixture in
      try fixture.session.readHeld(fixture.count / 2, times: calls)
    } limit: {
      (0..<calls).reduce(0) { sum, _ in sum &+ Int(peers_load(&age)) }
    }
  }

  /// `iterate`: all objects in the engine's order, the age of each.
  static func iterate(_ fixtures: Fixtures) -> Benchmark {
    let count = fixtures.options.objects
    let column = (0..<count).map { UInt8(Population.age($0)) }
    return reads("iterate", fixtures, calls: count) { fixture in
      try fixture.session.iterate()
    } limit: {
      // Ages as bytes side by side, summed.
      column.reduce(0) { $0 &+ Int($1) }
    }
  }

  /// `sum`: the ages of all objects, by what each engine has for sums.
  static func sum(_ fixtures: Fixtures) -> Benchmark {
    let column = (0..<fixtures.options.objects).map { UInt8(Population.age($0)) }
    return reads("sum", fixtures, calls: column.count) { fixture in
      try fixture.session.sumOfAges()
    } limit: {
      column.reduce(0) { $0 &+ Int($1) }
    }
  }

  /// `count-equal`: how many objects have an age.
  static func countEqual(_ fixtures: Fixtures) -> Benchmark {
    let column = (0..<fixtures.options.objects).map { UInt8(Population.age($0)) }
    return reads("count-equal", fixtures, calls: column.count) { fixture in
      try fixture.session.count(age: 42)
    } limit: {
      column.reduce(0) { $0 &+ ($1 == 42 ? 1 : 0) }
    }
  }

  /// `filter-and-prefix`: a tenth of the objects by age, a hundredth of those by the text of the
  /// name.
  static func filterAndPrefix(_ fixtures: Fixtures) -> Benchmark {
    reads("filter-and-prefix", fixtures, calls: fixtures.options.objects) { fixture in
      try fixture.session.count(above: 90, prefix: "name1001")
    } limit: {
      nil
    }
  }

  /// `freeze`: the newest version taken and let go.
  static func freeze(_ fixtures: Fixtures) -> Benchmark {
    let calls = 500_000
    var references: Int64 = 1
    return reads("freeze", fixtures, calls: calls) { fixture in
      try fixture.session.freeze(times: calls)
      return 0
    } limit: {
      // One reference counted up and down.
      for _ in 0..<calls { peers_count_up_and_down(&references) }
      return 0
    }
  }

  /// `refresh`: asked whether there is a newer version when there is none.
  static func refresh(_ fixtures: Fixtures) -> Benchmark {
    let calls = 1_000_000
    var version: Int64 = 1
    return reads("refresh", fixtures, calls: calls) { fixture in
      let newer = try fixture.session.refresh(times: calls)
      // Idle work of an engine may make a version now and then.
      guard newer < 3 else { throw PeerError("refresh: \(newer) newer versions") }
      return 0
    } limit: {
      // One atomic load.
      (0..<calls).reduce(0) { $1 &* 0 &+ $0 &+ Int(peers_load_acquiring(&version)) }
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
