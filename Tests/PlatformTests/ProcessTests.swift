// Random numbers, process facts and anonymous memory.
import Glibc
import Platform
import TestSupport
import Testing

struct ProcessTests {
  @Test func theGeneratorGivesTheReferenceNumbers() {
    var random = RandomGenerator(seed: 0)
    let numbers = (0..<4).map { _ in random.next() }
    #expect(
      numbers == [
        0x99ec_5f36_cb75_f2b4, 0xbf6e_1f78_4956_452a, 0x1a5f_849d_4933_e6e0, 0x6aa5_94f1_262d_2d2c,
      ])
  }

  @Test func splitGeneratorsDiffer() {
    var random = RandomGenerator(seed: 7)
    var (first, second) = (random.split(), random.split())
    #expect(first.next() != second.next())
    var again = RandomGenerator(seed: 7)
    var repeated = again.split()
    first = {
      var fresh = RandomGenerator(seed: 7); return fresh.split()
    }()
    #expect(repeated.next() == first.next())
  }

  @Test func oneInFollowsItsChance() async {
    await withSeeds(3) { random in
      let hits = (0..<10_000).count { _ in random.oneIn(10) }
      #expect((800...1200).contains(hits))
      #expect((0..<10).allSatisfy { _ in random.oneIn(1) })
    }
  }

  @Test func systemRandomDiffers() {
    #expect(systemRandom() != systemRandom())
    var bytes = [UInt8](repeating: 0, count: 100_000)
    bytes.withUnsafeMutableBytes { fillWithSystemRandom($0) }
    #expect(Set(bytes).count == 256)
    #expect(bytes.suffix(64).contains { $0 != 0 })
    bytes.withUnsafeMutableBytes { fillWithSystemRandom(.init(rebasing: $0[0..<0])) }
  }

  @Test func theBootIdentifierIsKnown() {
    #expect(systemBootIdentifier != 0)
  }

  @Test func processFacts() {
    #expect(processIdentifier == getpid())
    #expect(forkGeneration == 0)
    #expect(pageLength >= 4096)
  }

  @Test func residentMemoryGrowsWithTouchedPagesOnly() async {
    // In a process of its own: other tests take and give back memory meanwhile.
    await #expect(processExitsWith: .success) {
      let memory = try AnonymousMemory(length: 1 << 36)
      let before = residentBytes()
      #expect(before > 1 << 20)
      withExtendedLifetime(memory) { _ = memset($0.base, 1, 64 << 20) }
      #expect(residentBytes() > before + (32 << 20))
      memory.clear()
      withExtendedLifetime(memory) { #expect($0.base.load(as: UInt64.self) == 0) }
    }
  }

  @Test func anonymousMemoryIsZeroedAndRounded() throws {
    let memory = try AnonymousMemory(length: 1)
    #expect(memory.length == pageLength)
    withExtendedLifetime(memory) {
      #expect($0.base.load(fromByteOffset: pageLength - 8, as: UInt64.self) == 0)
    }
    #expect(try AnonymousMemory(length: 0).length == pageLength)
    #expect(throws: SystemError.self) { _ = try AnonymousMemory(length: 1 << 60) }
  }
}
