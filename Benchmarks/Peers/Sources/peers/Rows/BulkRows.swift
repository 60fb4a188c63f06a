// All objects in one transaction, and the bytes that they take on the disk afterwards.
import Foundation

enum BulkRows {
  /// Deletions, each in one durable transaction on a new file.
  ///
  /// `delete-scattered` takes a tenth of all objects by key, one in ten; `delete-all` takes all.
  static func delete(_ fixtures: Fixtures) -> Benchmark {
    let rows = [Row("delete-scattered", .nanoseconds), Row("delete-all", .nanoseconds)]
    return Benchmark(rows, Contestant.engines(.full)) { contestant, _ in
      let scattered = Array(stride(from: 3, to: fixtures.options.objects, by: 10))
      var checksum = 0
      let time = try timeOnNewFile(fixtures, contestant) {
        try $0.delete(scattered)
      } check: {
        checksum = try $0.iterate()
      }
      let timeOfAll = try timeOnNewFile(fixtures, contestant) {
        try $0.deleteAll()
      } check: {
        guard try $0.count() == 0 else { throw PeerError("objects are left") }
      }
      return Measurement(
        values: ["delete-scattered": time / Double(scattered.count), "delete-all": timeOfAll],
        checksum: checksum)
    }
  }

  /// Nanoseconds that a change of a full new file takes.
  private static func timeOnNewFile(
    _ fixtures: Fixtures, _ contestant: Contestant, _ change: (any Session) throws -> Void,
    check: (any Session) throws -> Void
  ) throws -> Double {
    let fixture = try fixtures.fresh(contestant, count: fixtures.options.objects)
    try flushFileSystem(holding: fixtures.options.folder)
    let start = now()
    try change(fixture.session)
    let time = Double(now() - start)
    try check(fixture.session)
    try fixture.remove()
    return time
  }

  /// `bulk-insert`: objects that the engine is given in its own form (ours: `Person` objects made
  /// before, the others: memory), durable at the end.
  static func insert(_ fixtures: Fixtures) -> Benchmark {
    bulk(
      fixtures, [Row("bulk-insert", .perSecond), Row("bytes-per-object", .bytes)], makesReady: true)
  }

  /// `bulk-insert-from-values`: as `bulk-insert`, and ours makes each object while the clock runs.
  static func insertFromValues(_ fixtures: Fixtures, withBytes: Bool = false) -> Benchmark {
    let bytes = withBytes ? [Row("bytes-per-object", .bytes)] : []
    return bulk(
      fixtures, [Row("bulk-insert-from-values", .perSecond)] + bytes, makesReady: false)
  }

  private static func bulk(_ fixtures: Fixtures, _ rows: [Row], makesReady: Bool) -> Benchmark {
    let count = fixtures.options.objects
    return Benchmark(rows, Contestant.engines(.full) + [Contestant(.raw, .full)]) { contestant, _ in
      let population = fixtures.population(count)
      if contestant.engine == .raw {
        return try limit(fixtures, population, rows)
      }
      let fixture = try fixtures.fresh(contestant, count: count, isFilled: false)
      if makesReady { fixture.session.makeReady(population) }
      try flushFileSystem(holding: fixtures.options.folder)
      let start = now()
      try fixture.session.insert(population)
      let time = now() - start
      let checksum = try fixture.check()
      try fixture.session.settle()
      let bytes = try fixture.engine.fileBytes()
      try fixture.remove()
      return Measurement(
        values: [
          rows[0].name: Double(count) * 1e9 / Double(time),
          "bytes-per-object": Double(bytes) / Double(count),
        ], checksum: checksum)
    }
  }

  /// The same bytes written from memory by 4 MB, and one sync; the least bytes that hold the
  /// values.
  private static func limit(_ fixtures: Fixtures, _ population: Population, _ rows: [Row]) throws
    -> Measurement
  {
    let count = population.count
    // id in whole bytes, age in one, score.
    let idBytes = (Int.bitWidth - max(1, count - 1).leadingZeroBitCount + 7) / 8
    let objectBytes = idBytes + Population.nameBytes + 1 + 8 + Population.payloadBytes
    let chunk = [UInt8](repeating: 0xc3, count: 4 << 20)
    try flushFileSystem(holding: fixtures.options.folder)
    let start = now()
    let file = try RawFile(fixtures.path("bulk"), bytes: 0)
    try chunk.withUnsafeBytes { chunk in
      for offset in stride(from: 0, to: count * objectBytes, by: chunk.count) {
        let bytes = min(chunk.count, count * objectBytes - offset)
        try file.write(UnsafeRawBufferPointer(rebasing: chunk[..<bytes]), at: offset)
      }
    }
    try file.synchronize()
    let time = now() - start
    file.remove()
    return Measurement(
      values: [
        rows[0].name: Double(count) * 1e9 / Double(time), "bytes-per-object": Double(objectBytes),
      ], checksum: nil)
  }
}
