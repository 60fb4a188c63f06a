// Limits of the machine by themselves, for reading the other rows: nothing but `raw` takes part.
import Foundation

enum LimitRows {
  /// `raw-sync-4-kb` and `raw-sync-16-kb`: one write and one sync at random warm places;
  /// `raw-sync-4-kb-in-a-row`: at the place behind the last one, as a log writes; in turn.
  static func syncs(_ fixtures: Fixtures) -> Benchmark {
    let calls = fixtures.options.isQuick ? 300 : 2_000
    let rows = [
      Row("raw-sync-4-kb", .nanoseconds), Row("raw-sync-16-kb", .nanoseconds),
      Row("raw-sync-4-kb-in-a-row", .nanoseconds),
    ]
    let raw = Contestant(.raw, .full)
    var file: RawFile?
    return Benchmark(rows, [raw]) { _, repetition in
      if file == nil { file = try RawFile(fixtures.path("limits"), bytes: 128 << 20) }
      let file = file!
      try flushFileSystem(holding: fixtures.options.folder)
      let bytes = [UInt8](repeating: 0x3c, count: 4 * RawFile.pageBytes)
      var random = SeededRandom(seed: UInt64(repetition))
      var times: [[UInt64]] = [[], [], []]
      // A log of 4 MB, used again from its start.
      let logPages = 1024
      try bytes.withUnsafeBytes { bytes in
        for call in 0..<3 * calls {
          let pages = call % 3 == 1 ? 4 : 1
          let page = call % 3 == 2 ? call / 3 % logPages : random.next(below: file.pages - pages)
          let place = page * RawFile.pageBytes
          let start = now()
          try file.write(
            UnsafeRawBufferPointer(rebasing: bytes[..<(pages * RawFile.pageBytes)]), at: place)
          try file.synchronize()
          times[call % 3].append(now() - start)
        }
      }
      var values: [String: Double] = [:]
      for (row, times) in zip(rows, times) {
        values[row.name] = percentile(0.5, of: times.sorted())
      }
      return Measurement(values: values, checksum: nil)
    }
  }

  /// `raw-dependent-reads-4`: four reads of single bytes, each of which says where the next one is,
  /// in as many bytes as look-ups by key touch: of an object of the rows about 14.
  static func dependentReads(_ fixtures: Fixtures) -> Benchmark {
    let row = Row("raw-dependent-reads-4", .nanoseconds)
    return Benchmark([row], [Contestant(.raw, .memory)], warmUps: 1) { _, repetition in
      let lines = max(14 * fixtures.options.objects / 64, 64)
      // One cycle through all lines in random order; a line is 16 numbers, of which the first
      // counts.
      var order = Array(0..<lines)
      var random = SeededRandom(seed: UInt64(repetition))
      for index in order.indices.dropFirst() {
        order.swapAt(index, random.next(below: index + 1))
      }
      var next = [UInt32](repeating: 0, count: lines * 16)
      for index in order.indices {
        next[order[index] * 16] = UInt32(order[(index + 1) % lines] * 16)
      }
      let steps = 1_000_000
      var place = 0
      let start = now()
      next.withUnsafeBufferPointer { next in
        for _ in 0..<4 * steps { place = Int(next[place]) }
      }
      let time = now() - start
      guard place % 16 == 0 else { throw PeerError("\(row.name): left the cycle") }
      return Measurement(values: [row.name: Double(time) / Double(steps)], checksum: nil)
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
