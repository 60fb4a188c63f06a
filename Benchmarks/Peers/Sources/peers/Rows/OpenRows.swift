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
