// The space journal's encoding: what is written is read again, and no bytes whatever make reading
// trap, hang or return a run outside of the address space.
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct SpaceCodingTests {
  @Test func deltasComeBackInOrderAndMerged() async {
    await withSeeds(50) { random in
      var bytes: [UInt8] = []
      var expected: [SpaceDelta] = []
      var version = UInt64.random(in: 0...1 << 40, using: &random)
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        version += UInt64.random(in: 1...3, using: &random)
        let delta = SpaceDelta(
          version: Version(version), taken: Self.runs(&random).shuffled(using: &random),
          dead: Self.runs(&random).shuffled(using: &random))
        let before = bytes.count
        delta.append(to: &bytes)
        #expect(bytes.count - before <= delta.encodedLengthMax)
        expected.append(
          SpaceDelta(
            version: delta.version, taken: Self.merged(delta.taken),
            dead: Self.merged(delta.dead)))
      }
      let decoded = try SpaceDelta.decodeAll(bytes)
      #expect(decoded == expected)
    }
  }

  @Test func checkpointsComeBackInOrderAndMerged() async {
    await withSeeds(50) { random in
      let deaths = (0..<3).map { _ in Version(UInt64.random(in: 0..<1 << 48, using: &random)) }
      let kept = Self.runs(&random).map {
        SpaceCheckpoint.Kept(run: $0, death: deaths.randomElement(using: &random)!)
      }
      let checkpoint = SpaceCheckpoint(
        fileLength: UInt64.random(in: 0...Run.endMax / 16, using: &random) * 16,
        free: Self.runs(&random).shuffled(using: &random), kept: kept.shuffled(using: &random))
      let bytes = checkpoint.encoded()
      #expect(bytes.count <= checkpoint.encodedLengthMax)
      #expect(
        checkpoint.encodedLengthMax
          <= 40 + 14 * checkpoint.free.count + 21 * checkpoint.kept.count)
      let decoded = try SpaceCheckpoint(decoding: bytes)
      #expect(decoded.fileLength == checkpoint.fileLength)
      #expect(decoded.free == Self.merged(checkpoint.free))
      for death in Set(deaths) {
        let runs = decoded.kept.filter { $0.death == death }.map(\.run)
        #expect(runs == Self.merged(kept.filter { $0.death == death }.map(\.run)))
      }
      #expect(decoded.encoded() == bytes)
    }
  }

  @Test func aSmallCommitTakesFewBytes() {
    let megabyte: UInt64 = 1 << 20
    let delta = SpaceDelta(
      version: Version(1_000_000),
      taken: [
        Run(offset: 9 * megabyte, length: 2000), Run(offset: 3 * megabyte, length: 700 / 16 * 16),
      ],
      dead: (0..<6).map { Run(offset: megabyte * (2 * $0 + 1), length: 352) })
    var bytes: [UInt8] = []
    delta.append(to: &bytes)
    #expect(bytes.count <= 48)
  }

  @Test func theHomesStayApartFromWhatFollows() throws {
    let border: UInt64 = 6 * 4096
    let runs = [Run(offset: border - 64, length: 64), Run(offset: border, length: 64)]
    var bytes: [UInt8] = []
    SpaceDelta(version: Version(1), taken: runs, dead: runs).append(to: &bytes)
    let delta = try #require(try SpaceDelta.decodeAll(bytes).first)
    #expect(delta.taken == runs)
    #expect(delta.dead == runs)
  }

  @Test func randomBytesNeverTrap() async {
    await withSeeds(20) { random in
      for _ in 0..<500 {
        // Small numbers make counts that fit and so reach further.
        let top: UInt8 = Bool.random(using: &random) ? 255 : 20
        let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
          UInt8.random(in: 0...top, using: &random)
        }
        Self.decode(bytes)
      }
    }
  }

  @Test func damagedJournalsNeverTrap() async {
    await withSeeds(20) { random in
      var bytes: [UInt8] = []
      for version in 1...4 as ClosedRange<UInt64> {
        SpaceDelta(
          version: Version(version), taken: Self.runs(&random), dead: Self.runs(&random)
        ).append(to: &bytes)
      }
      let checkpoint = SpaceCheckpoint(
        fileLength: 1 << 30, free: Self.runs(&random),
        kept: Self.runs(&random).map { .init(run: $0, death: Version(9)) }
      ).encoded()
      for original in [bytes, checkpoint] where !original.isEmpty {
        for end in 0..<min(original.count, 300) { Self.decode(Array(original[..<end])) }
        for _ in 0..<300 {
          var damaged = original
          for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: 0..<damaged.count, using: &random)
            damaged[index] = UInt8.random(in: 0...255, using: &random)
          }
          Self.decode(damaged)
        }
      }
      #expect(throws: SpaceCodingError.self) {
        try SpaceCheckpoint(decoding: Array(checkpoint.dropLast()))
      }
      #expect(throws: SpaceCodingError.endsLate) {
        try SpaceCheckpoint(decoding: checkpoint + [0])
      }
    }
  }

  @Test func runsEndInsideTheAddressSpace() throws {
    let units: UInt64 = Run.endMax / 16
    let whole = Self.numbers([1, 0, 1, 0, units])
    #expect(
      try SpaceDelta.decodeAll(whole) == [
        SpaceDelta(version: Version(1), taken: [], dead: [Run(offset: 0, length: units * 16)])
      ])
    // The last of these numbers are a distance and a length.
    for bad in [
      [1, 0, 1, units - 1, 2], [1, 0, 1, units, 1], [1, 0, 1, units + 1, 1], [1, 0, 1, 1, units],
      [1, 0, 1, 1 << 63, 1 << 63], [1, 0, 1, 7, .max], [1, 0, 1, 7, 0],
      [1, 0, 2, 1, units - 1, 0, 1],
    ] as [[UInt64]] {
      #expect(throws: SpaceCodingError.runOutsideFile) {
        try SpaceDelta.decodeAll(Self.numbers(bad))
      }
    }
    #expect(throws: SpaceCodingError.numberTooLarge(1 << 48)) {
      try SpaceDelta.decodeAll(Self.numbers([1 << 48, 0, 0]))
    }
    #expect(throws: SpaceCodingError.numberTooLarge(units + 1)) {
      try SpaceCheckpoint(decoding: Self.numbers([units + 1, 0, 0, 0]))
    }
    // A death older than the file.
    #expect(throws: SpaceCodingError.numberTooLarge(6)) {
      try SpaceCheckpoint(decoding: Self.numbers([4, 0, 5, 1, 0, 1, 6]))
    }
  }

  @Test func countsAreCheckedBeforeMemoryIsTaken() {
    var bytes: [UInt8] = [1]
    bytes += [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]
    #expect(throws: SpaceCodingError.tooManyRuns(1 << 63 - 1)) {
      try SpaceDelta.decodeAll(bytes)
    }
  }
}

extension SpaceCodingTests {
  /// Decodes both ways; what comes out must be sound.
  static func decode(_ bytes: [UInt8]) {
    var runs: [[Run]] = []
    if let deltas = try? SpaceDelta.decodeAll(bytes) {
      for delta in deltas { runs += [delta.taken, delta.dead] }
    }
    if let checkpoint = try? SpaceCheckpoint(decoding: bytes) {
      runs += [checkpoint.free, checkpoint.kept.map(\.run)]
    }
    for list in runs {
      var previous: UInt64 = 0
      for run in list {
        #expect(run.offset >= previous && run.length > 0 && run.end <= Run.endMax)
        previous = run.end
      }
    }
  }

  /// Seven bits a byte, lowest first.
  static func numbers(_ values: [UInt64]) -> [UInt8] {
    values.flatMap { value in
      var bytes: [UInt8] = []
      var rest = value
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      return bytes + [UInt8(rest)]
    }
  }

  /// Disjoint runs, ascending; a third of them touch the one before.
  static func runs(_ random: inout RandomGenerator) -> [Run] {
    var runs: [Run] = []
    var position = UInt64.random(in: 0...1 << 39, using: &random)
    for _ in 0..<Int.random(in: 0...60, using: &random) {
      if Int.random(in: 0..<3, using: &random) > 0 {
        position += UInt64.random(in: 1...1 << 20, using: &random)
      }
      let units = UInt64.random(in: 1...4096, using: &random)
      runs.append(Run(offset: position * 16, length: units * 16))
      position += units
    }
    return runs
  }

  static func merged(_ runs: [Run]) -> [Run] {
    var merged: [Run] = []
    for run in runs.sorted(by: { $0.offset < $1.offset }) {
      if let last = merged.last, last.end == run.offset, run.offset != 6 * 4096 {
        merged[merged.count - 1].length += run.length
      } else {
        merged.append(run)
      }
    }
    return merged
  }
}
