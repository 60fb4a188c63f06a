// The search without jumps against counting one by one.
import Platform
import TestSupport
import Testing

@Suite(.ownThreads) struct AscendingSearchTests {
  @Test func countsAsOneByOne() async {
    await withSeeds(20) { random in
      let count = Int.random(in: 0...300, using: &random)
      let span = Int64.random(in: 0...400, using: &random)
      let numbers = (0..<count).map { _ in Int64.random(in: -span...span, using: &random) }.sorted()
      for value in [.min, .max] + (-span - 1...span + 1) {
        let expected = numbers.count { $0 <= value }
        #expect(countUpTo(value, in: numbers, count: count) == expected, "\(value) in \(numbers)")
      }
    }
  }

  @Test func pairsAndWidthsAsOneByOne() async {
    await withSeeds(20) { random in
      let count = Int.random(in: 0...70, using: &random)
      let pairs = (0..<count).map { _ in
        (Int64.random(in: -3...3, using: &random), Int64.random(in: -3...3, using: &random))
      }.sorted { $0 < $1 }
      var bytes: [UInt8] = [0]
      for pair in pairs {
        withUnsafeBytes(of: (pair.0, pair.1, Int64(-1))) { bytes.append(contentsOf: $0) }
      }
      for first in Int64(-4)...4 {
        for second in [.min, -3, 0, 3, .max] as [Int64] {
          let found = bytes.withUnsafeBytes {
            countPairsBelow((first, second), in: $0.baseAddress! + 1, count: count, stride: 24)
          }
          #expect(found == pairs.count { $0 < (first, second) }, "\(first), \(second) in \(pairs)")
        }
      }
      expectCounts(of: UInt8.self, code: 0, &random)
      expectCounts(of: UInt16.self, code: 1, &random)
      expectCounts(of: UInt32.self, code: 2, &random)
    }
  }
}

/// Numbers of one width, with three other bytes behind each.
private func expectCounts<Number: FixedWidthInteger & UnsignedInteger>(
  of type: Number.Type, code: UInt8, _ random: inout RandomGenerator
) {
  let numbers = (0..<Int.random(in: 0...70, using: &random)).map { _ in
    Number.random(in: random.oneIn(2) ? 0...9 : 0...Number.max, using: &random)
  }.sorted()
  var bytes: [UInt8] = []
  for number in numbers {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    bytes += [255, 0, 255]
  }
  for value in numbers.map({ UInt64($0) }) + [0, 1, UInt64(Number.max), .max] {
    let found = bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.map {
        countBelow(
          value, in: $0, count: numbers.count, stride: MemoryLayout<Number>.size + 3, code: code)
      } ?? 0
    }
    #expect(found == numbers.count { UInt64($0) < value }, "\(value) in \(numbers)")
  }
}
