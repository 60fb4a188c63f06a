// Opening a file and reading one object, warm and with nothing of it in memory, and cold lookups.
import Foundation
import Glibc

enum OpenRows {
  /// `open`: to the first value, of a file that was closed properly and is in the page cache.
  static func open(_ fixtures: Fixtures) -> Benchmark {
    let openings = fixtures.options.isQuick ? 20 : 50
    let contestants = Contestant.engines(.full) + [Contestant(.raw, .full)]
    return Benchmark([Row("open", .nanoseconds)], contestants, warmUps: 1) {
      contestant, repetition in
      let keys = randomKeys(
        openings, below: fixtures.options.objects, seed: UInt64(repetition + 50))
      if contestant.engine == .raw {
        let ours = try fixtures.shared(Contestant(.ours, .full), for: .durableCommits)
        let times = try keys.map { try openRaw(ours.engine.files[0], $0) }.sorted()
        return Measurement(values: ["open": percentile(0.5, of: times)!], checksum: nil)
      }
      let fixture = try fixtures.shared(contestant, for: .durableCommits)
      try fixture.close()
      var checksum = 0
      let times = try keys.map { key in
        let (time, age) = try openAndRead(contestant, fixture.settings, key)
        guard age == Int(fixture.ages[key]) else { throw PeerError("open: wrong age of \(key)") }
        checksum += age
        return time
      }
      try fixture.open()
      return Measurement(
        values: ["open": percentile(0.5, of: times.sorted())!], checksum: checksum)
    }
  }

  /// `open-cold` and `lookup-cold`: nothing of the file is in memory; lookups follow in one read
  /// transaction, most of them at places that were not read before.
  static func cold(_ fixtures: Fixtures) -> Benchmark {
    let lookups = 200
    let openings = 5
    let rows = [Row("open-cold", .nanoseconds), Row("lookup-cold", .nanoseconds)]
    return Benchmark(rows, Contestant.engines(.full) + [Contestant(.raw, .full)], warmUps: 1) {
      contestant, repetition in
      let isRaw = contestant.engine == .raw
      let fixture = try fixtures.shared(
        isRaw ? Contestant(.ours, .full) : contestant, for: .durableCommits)
      var settings = fixture.settings
      settings.isCold = true
      try fixture.close()
      var openTimes: [UInt64] = []
      var lookupTimes: [UInt64] = []
      var checksum = 0
      for opening in 0..<openings {
        let keys = randomKeys(
          lookups, below: fixture.count, seed: UInt64(repetition * openings + opening + 70))
        for file in try fixtures.filesOnDisk(fixture) { try dropFromCache(file) }
        let times: [UInt64]
        if isRaw {
          times = try readPages(try fixtures.filesOnDisk(fixture)[0], keys)
        } else {
          let (measured, sum) = try openAndLookUp(contestant, settings, keys)
          let expected = keys.reduce(0) { $0 + Int(fixture.ages[$1]) }
          guard sum == expected else { throw PeerError("lookup-cold: \(sum) is not \(expected)") }
          checksum += sum
          times = measured
        }
        openTimes.append(times[0])
        lookupTimes += times[1...]
      }
      try fixture.open()
      let values = [
        "open-cold": percentile(0.5, of: openTimes.sorted())!,
        // The mean: a miss that reads much ahead makes the next lookups fast, at its own cost.
        "lookup-cold": Double(lookupTimes.reduce(0, +)) / Double(lookupTimes.count),
      ]
      return Measurement(values: values, checksum: isRaw ? nil : checksum)
    }
  }

  /// Opens and looks keys up one by one; the first time is that of opening and the first key.
  private static func openAndLookUp(
    _ contestant: Contestant, _ settings: EngineSettings, _ keys: [Int]
  ) throws -> (times: [UInt64], sum: Int) {
    var times: [UInt64] = []
    var start = now()
    let engine = try contestant.engine.open(settings)
    var session: (any Session)? = try engine.openSession()
    var sum = 0
    for index in keys.indices {
      sum += try session!.lookup(keys[index...index])
      let end = now()
      times.append(end - start)
      start = end
    }
    session = nil
    try engine.close()
    return (times, sum)
  }

  /// The least: one read of the page that would hold each object; the first with the opening.
  private static func readPages(_ path: String, _ keys: [Int]) throws -> [UInt64] {
    var times: [UInt64] = []
    var start = now()
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    defer { Glibc.close(descriptor) }
    var status = stat()
    fstat(descriptor, &status)
    // No read-ahead: what the reads need and no more.
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM)
    let pages = max(1, Int(status.st_size) / 4096)
    return try withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 4096) { page in
      for key in keys {
        guard pread(descriptor, page.baseAddress, 4096, off_t(key / 32 % pages * 4096)) == 4096
        else { throw PeerError("\(path): read failed") }
        let end = now()
        times.append(end - start)
        start = end
      }
      return times
    }
  }

  /// Opens a closed file, reads one age, closes; the time up to the age.
  private static func openAndRead(
    _ contestant: Contestant, _ settings: EngineSettings, _ key: Int
  ) throws -> (time: UInt64, age: Int) {
    let start = now()
    let engine = try contestant.engine.open(settings)
    var session: (any Session)? = try engine.openSession()
    let age = try session!.lookup([key])
    let time = now() - start
    session = nil
    try engine.close()
    return (time, age)
  }

  /// The least: open, length, map, one byte.
  private static func openRaw(_ path: String, _ key: Int) throws -> UInt64 {
    let start = now()
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    var status = stat()
    fstat(descriptor, &status)
    let size = Int(status.st_size)
    guard let map = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0), map != MAP_FAILED else {
      throw PeerError("\(path): cannot be mapped")
    }
    let byte = map.load(fromByteOffset: key * 64 % size, as: UInt8.self)
    let time = now() - start
    withExtendedLifetime(byte) {}
    munmap(map, size)
    Glibc.close(descriptor)
    return time
  }
}
