// Where a commit gathers its blocks before they are written. That a list of a million free runs was
// longer than the buffer wrote over other memory of the process; nothing told until much later.
import Glibc
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct PlacementTests {
  /// Runs far longer in all than the buffer, one of them alone as well, at every offset within a
  /// page.
  @Test(arguments: [[16 << 20], [1 << 20, 3 << 20, 4 << 20], Array(repeating: 700_000, count: 40)])
  func aCommitOfAnyLengthHasItsOwnMemory(lengths: [Int]) throws {
    var placement = Placement()
    for round in 0..<2 {
      placement.removeAll()
      var offset: UInt64 = 8192
      for (index, length) in lengths.enumerated() {
        placement.open(Run(offset: offset, length: UInt64(length)))
        let taken = placement.take(length)
        let (place, memory) = try #require(taken)
        #expect(place == offset)
        memset(memory, Int32(index + round), length)
        offset += UInt64(length) + 48
      }
      var index = round
      for filling in placement.filling {
        #expect(filling.bytes.allSatisfy { $0 == UInt8(index) })
        index += 1
      }
      #expect(index == lengths.count + round)
    }
  }
}
