// Comparing bytes as numbers against comparing them one by one.
import Platform
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct ByteComparisonTests {
  static func bytes(_ random: inout RandomGenerator) -> [UInt8] {
    let alphabet: [UInt8] = [0, 1, 0x7f, 0x80, 0xff]
    return (0..<Int.random(in: 0...40, using: &random)).map { _ in
      random.oneIn(3) ? alphabet.randomElement(using: &random)! : 0
    }
  }

  static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.lexicographicallyPrecedes(right) ? -1 : left == right ? 0 : 1
  }

  @Test func comparesAsBytesDo() async {
    await withSeeds(1) { random in
      for _ in 0..<10_000 {
        let left = Self.bytes(&random)
        // Often most of it is the same.
        var right = left
        if random.oneIn(4) { right = Self.bytes(&random) }
        if !right.isEmpty, random.oneIn(2) {
          right[Int.random(in: 0..<right.count, using: &random)] ^= 0x81
        }
        if random.oneIn(3) { right = right.dropLast(Int.random(in: 0...9, using: &random)) }
        let found = left.withUnsafeBytes { first in
          right.withUnsafeBytes { first.compare(to: $0) }
        }
        let isSame = left.withUnsafeBytes { first in
          right.withUnsafeBytes { first.hasSameBytes(as: $0) }
        }
        #expect(isSame == (left == right), "\(left) and \(right)")
        #expect(found.signum() == Self.order(left, right), "\(left) and \(right)")
      }
    }
  }

  @Test func firstBytesAreThoseOfTheValueAndZeros() async {
    await withSeeds(1) { random in
      for count in 0...20 {
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        let first = (bytes + Array(repeating: 0, count: 8)).prefix(8)
        let expected = first.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        #expect(bytes.withUnsafeBytes { $0.firstBytes } == expected, "\(bytes)")
      }
    }
  }
}
