// When commits stop to move blocks down, and when they begin again.
import Testing

@testable import Storage

@Suite struct MoveGainTests {
  /// How many of so many commits move, in a file of one length.
  private func moves(
    _ gain: inout MoveGain, commits: Int, length: UInt64, bearable: UInt64 = 2_000_000
  ) -> Int {
    (0..<commits).reduce(0) { sum, _ in
      sum + (gain.isExpected(length: length, bearable: bearable) ? 1 : 0)
    }
  }

  @Test func aFileThatStaysAsLongIsLeftAlone() {
    var gain = MoveGain(length: 1_000_000)
    #expect(moves(&gain, commits: 255, length: 1_000_000) == 255)
    #expect(moves(&gain, commits: 5000, length: 1_000_000) == 0)
    // Also when it gets shorter by itself.
    #expect(moves(&gain, commits: 100, length: 900_000) == 0)
  }

  @Test func aLittleGainIsNone() {
    var gain = MoveGain(length: 1_000_000)
    #expect(moves(&gain, commits: 255, length: 1_000_000) == 255)
    #expect(moves(&gain, commits: 100, length: 999_000) == 0)
  }

  @Test func asLongAsItGetsShorterMovesGoOn() {
    var (gain, length) = (MoveGain(length: 1_000_000), UInt64(1_000_000))
    for _ in 0..<20 {
      length -= 4096
      #expect(moves(&gain, commits: 256, length: length) == 256)
    }
    #expect(moves(&gain, commits: 1000, length: length) == 255)
  }

  @Test func growthBeginsThemAgain() {
    var gain = MoveGain(length: 1_000_000)
    _ = moves(&gain, commits: 1000, length: 1_000_000)
    #expect(moves(&gain, commits: 1000, length: 1_100_000) == 256)
    #expect(moves(&gain, commits: 1000, length: 1_200_000) == 256)
  }

  @Test func whatIsTooLongIsNeverLeftAlone() {
    var gain = MoveGain(length: 2_500_000)
    #expect(moves(&gain, commits: 5000, length: 2_500_000) == 5000)
    #expect(moves(&gain, commits: 1000, length: 2_000_000) < 600)
    // Objects were deleted: what is left may need less.
    #expect(moves(&gain, commits: 1000, length: 2_000_000, bearable: 1_900_000) == 1000)
  }
}
