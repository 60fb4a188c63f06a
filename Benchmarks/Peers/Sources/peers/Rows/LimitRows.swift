// Limits of the machine by themselves, for reading the other rows: nothing but `raw` takes part.
import Foundation

enum LimitRows {
  /// `raw-sync-4-kb` and `raw-sync-16-kb`: one write and one sync at random warm places, in turn.
  static func syncs(_ fixtures: Fixtures) -> Benchmark {
    let calls = fixtures.options.isQuick ? 300 : 2_000
    let rows = [Row("raw-sync-4-kb", .nanoseconds), Row("raw-sync-16-kb", .nanoseconds)]
    let raw = Contestant(.raw, .full)
    var file: RawFile?
    return Benchmark(rows, [raw]) { _, repetition in
      if file == nil { file = try RawFile(fixtures.path("limits"), bytes: 128 << 20) }
      let file = file!
      try flushFileSystem(holding: fixtures.options.folder)
      let bytes = [UInt8](repeating: 0x3c, count: 4 * RawFile.pageBytes)
      var random = SeededRandom(seed: UInt64(repetition))
      var times: [[UInt64]] = [[], []]
      try bytes.withUnsafeBytes { bytes in
        for call in 0..<2 * calls {
          let pages = call % 2 == 0 ? 1 : 4
          let place = random.next(below: file.pages - pages) * RawFile.pageBytes
          let start = now()
          try file.write(
            UnsafeRawBufferPointer(rebasing: bytes[..<(pages * RawFile.pageBytes)]), at: place)
          try file.synchronize()
          times[call % 2].append(now() - start)
        }
      }
      var values: [String: Double] = [:]
      for (row, times) in zip(rows, times) {
        values[row.name] = percentile(0.5, of: times.sorted())
      }
      return Measurement(values: values, checksum: nil)
    }
  }

  /// `raw-memory-read` and `raw-memory-copy`: one thread over 256 MB.
  static func memory(_ fixtures: Fixtures) -> Benchmark {
    let rows = [Row("raw-memory-read", .bytesPerSecond), Row("raw-memory-copy", .bytesPerSecond)]
    return Benchmark(rows, [Contestant(.raw, .memory)], warmUps: 1) { _, _ in
      let bytes = 256 << 20
      let source = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 4096)
      let target = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 4096)
      defer {
        source.deallocate()
        target.deallocate()
      }
      source.initializeMemory(as: UInt8.self, repeating: 1, count: bytes)
      target.initializeMemory(as: UInt8.self, repeating: 2, count: bytes)
      let words = UnsafeRawBufferPointer(start: source, count: bytes).bindMemory(to: UInt64.self)
      var start = now()
      let sum = words.reduce(0, &+)
      let reading = now() - start
      guard sum == 0x0101_0101_0101_0101 &* UInt64(bytes / 8) else {
        throw PeerError("raw-memory-read: wrong sum")
      }
      start = now()
      memcpy(target, source, bytes)
      let copying = now() - start
      guard target.load(fromByteOffset: bytes - 1, as: UInt8.self) == 1 else {
        throw PeerError("raw-memory-copy: nothing was copied")
      }
      return Measurement(
        values: [
          rows[0].name: Double(bytes) * 1e9 / Double(reading),
          rows[1].name: Double(bytes) * 1e9 / Double(copying),
        ], checksum: nil)
    }
  }
}
