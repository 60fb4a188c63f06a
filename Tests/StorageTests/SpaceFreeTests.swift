// FreeSpace against a plain map of units, at several scales: units of 16 bytes (many short runs),
// of
// 64 KB (runs across every border) and of 4 MB (runs so long that lengths are no longer told
//    apart).
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct SpaceFreeTests {
  struct Scale: Sendable {
    let unit: UInt64
    let base: UInt64
  }

  static let unitCount = 3000
  static let scales = [
    Scale(unit: 16, base: 0), Scale(unit: 16, base: (1 << 20) - 4096),
    Scale(unit: 64 << 10, base: 8192), Scale(unit: 4 << 20, base: 1 << 40),
    Scale(unit: 16, base: Run.endMax - 16 * UInt64(unitCount)),
  ]

  @Test(arguments: scales) func agreesWithAMapOfUnits(scale: Scale) async {
    await withSeeds(4) { random in
      var model = Model(scale: scale)
      for step in 0..<1500 {
        // Phases: first space is freed, then taken, so that chunks split and join.
        let freeing: Bool = Int.random(in: 0..<10, using: &random) < (step / 250 % 2 == 0 ? 8 : 3)
        let longest = Int.random(in: 0..<20, using: &random) == 0 ? 200 : 3
        if freeing {
          model.freeSomewhere(longest: longest, &random)
        } else if Int.random(in: 0..<300, using: &random) == 0 {
          model.removeTail(&random)
        } else {
          model.takeSomewhere(&random)
        }
        try model.compareQueries(&random)
        if step % 25 == 0 { try model.compareAll() }
      }
      try model.compareAll()
      model.removeAll()
      try model.compareAll()
    }
  }

  @Test func copiesAreIndependent() throws {
    var free = FreeSpace()
    for index in 0..<1000 as Range<UInt64> { free.free(Run(offset: index * 64, length: 32)) }
    let copy = free
    for index in 0..<1000 as Range<UInt64> { free.take(Run(offset: index * 64, length: 16)) }
    #expect(copy.totalBytes == 32_000)
    #expect(copy.contains(Run(offset: 0, length: 32)))
    #expect(copy.checkInvariants() == [])
    #expect(free.totalBytes == 16_000)
  }

  @Test func lengthsThatAreNoMultiplesOfAUnitAreRoundedUp() {
    var free = FreeSpace()
    free.free(Run(offset: 0, length: 32))
    free.free(Run(offset: 64, length: 48))
    #expect(free.bestFit(33, below: nil) == Run(offset: 64, length: 48))
    #expect(free.bestFit(49, below: nil) == nil)
    #expect(free.bestFit(1, below: nil) == Run(offset: 0, length: 32))
  }

  @Test func freeingFreeSpaceStops() async {
    await #expect(processExitsWith: .failure) {
      var free = FreeSpace()
      free.free(Run(offset: 64, length: 64))
      free.free(Run(offset: 112, length: 32))
    }
    await #expect(processExitsWith: .failure) {
      var free = FreeSpace()
      free.free(Run(offset: 64, length: 64))
      free.free(Run(offset: 48, length: 32))
    }
  }

  @Test func takingUsedSpaceStops() async {
    await #expect(processExitsWith: .failure) {
      var free = FreeSpace()
      free.free(Run(offset: 64, length: 64))
      free.take(Run(offset: 96, length: 48))
    }
  }
}

extension SpaceFreeTests {
  /// Free space and what it should be: one flag a unit.
  struct Model {
    let scale: Scale
    var isFree = [Bool](repeating: false, count: unitCount)
    var free = FreeSpace()

    init(scale: Scale) { self.scale = scale }

    func run(_ units: Range<Int>) -> Run {
      Run(
        offset: scale.base + UInt64(units.lowerBound) * scale.unit,
        length: UInt64(units.count) * scale.unit)
    }

    /// The longest part of `from...` that has the flag `flag` throughout, up to `longest` units.
    func stretch(from: Int, flag: Bool, longest: Int) -> Range<Int> {
      var end = from
      while end < unitCount, end - from < longest, isFree[end] == flag { end += 1 }
      return from..<end
    }

    /// Maximal free stretches.
    var runs: [Run] {
      var runs: [Run] = []
      var position = 0
      while position < unitCount {
        let units = stretch(from: position, flag: true, longest: unitCount)
        if !units.isEmpty { runs.append(run(units)) }
        position = units.upperBound + 1
      }
      return runs
    }

    mutating func set(_ units: Range<Int>, free flag: Bool) {
      for unit in units { isFree[unit] = flag }
    }

    mutating func freeSomewhere(longest: Int, _ random: inout RandomGenerator) {
      let from = Int.random(in: 0..<unitCount, using: &random)
      let units = stretch(
        from: from, flag: false, longest: Int.random(in: 1...longest, using: &random))
      if units.isEmpty { return }
      free.free(run(units))
      set(units, free: true)
    }

    mutating func takeSomewhere(_ random: inout RandomGenerator) {
      let from = Int.random(in: 0..<unitCount, using: &random)
      let units = stretch(
        from: from, flag: true, longest: Int.random(in: 1...6, using: &random))
      if units.isEmpty { return }
      free.take(run(units))
      set(units, free: false)
    }

    mutating func removeTail(_ random: inout RandomGenerator) {
      let from = Int.random(in: unitCount * 3 / 4..<unitCount, using: &random)
      free.removeAll(from: scale.base + UInt64(from) * scale.unit)
      set(from..<unitCount, free: false)
    }

    mutating func removeAll() {
      free.removeAll(from: scale.base)
      set(0..<unitCount, free: false)
    }

    func compareQueries(_ random: inout RandomGenerator) throws {
      guard Int.random(in: 0..<5, using: &random) == 0 else { return }
      let runs = self.runs
      for _ in 0..<6 {
        let length = UInt64(Int.random(in: 1...8, using: &random)) * scale.unit
        let isLimited = Bool.random(using: &random)
        let position = UInt64(Int.random(in: 0...unitCount, using: &random))
        let limit = isLimited ? scale.base + position * scale.unit : nil
        let fitting = runs.filter {
          $0.length >= length && $0.offset + length <= limit ?? .max
        }
        let shared: UInt64 = (16 << 20) - 16
        let best = fitting.min {
          (min($0.length, shared), $0.offset) < (min($1.length, shared), $1.offset)
        }
        try #require(free.bestFit(length, below: limit) == best)
        try #require(free.lowestFit(length, below: limit) == fitting.first)
      }
      let end = scale.base + UInt64(unitCount) * scale.unit
      try #require(free.tailRun(end: end) == runs.last.flatMap { $0.end == end ? $0 : nil })
      let from = Int.random(in: 0..<unitCount, using: &random)
      let count = Int.random(in: 1...min(10, unitCount - from), using: &random)
      let isAllFree = isFree[from..<from + count].allSatisfy { $0 }
      try #require(free.contains(run(from..<from + count)) == isAllFree)
    }

    func compareAll() throws {
      let expected = runs
      try #require(Array(free.runs) == expected)
      try #require(free.count == expected.count)
      try #require(free.totalBytes == expected.reduce(0) { $0 + $1.length })
      try #require(free.checkInvariants() == [])
    }
  }
}
