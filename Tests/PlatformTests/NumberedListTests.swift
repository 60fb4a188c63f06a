// A queue from which anything can be taken by its number, whatever its length.
internal import Platform
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct NumberedListTests {
  private func list(_ count: UInt32, from start: UInt32 = 1) -> NumberedList<UInt32> {
    var list = NumberedList<UInt32>()
    for index in 0..<count { list.append(start &+ index, number: start &+ index) }
    return list
  }

  /// Cancelling queued writes from the newest to the oldest looked at every older one each time.
  @Test(arguments: ["forwards", "backwards", "odd ones first"])
  func aRemovalLooksAtFew(_ order: String) {
    let count: UInt32 = 16_000
    var list = list(count)
    let numbers =
      switch order {
      case "forwards": Array(1...count)
      case "backwards": Array((1...count).reversed())
      default: (1...count).filter { $0 % 2 == 1 } + (1...count).filter { $0 % 2 == 0 }
      }
    for number in numbers { #expect(list.remove(number) == number) }
    #expect(list.isEmpty)
    // A binary search in 16,000 places takes 14 looks.
    #expect(list.steps <= 20 * Int(count))
  }

  @Test func theFirstIsTakenAtOnce() {
    var list = list(16_000)
    for number in 1...16_000 { #expect(list.removeFirst() == number) }
    #expect(list.first == nil)
    #expect(list.steps <= 5 * 16_000)
  }

  @Test(arguments: [1, UInt32.max - 40])
  func behavesLikeAnArray(_ start: UInt32) {
    for seed in testSeeds(5) {
      var random = RandomGenerator(seed: seed)
      var list = NumberedList<UInt32>()
      var expected: [UInt32] = []
      var next = start
      for _ in 0..<2_000 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
          // Numbers are left out, too.
          next &+= UInt32.random(in: 1...3, using: &random)
          list.append(next, number: next)
          expected.append(next)
        case 4..<6:
          if !expected.isEmpty { #expect(list.removeFirst() == expected.removeFirst()) }
        case 6..<9:
          guard let number = expected.randomElement(using: &random) else { continue }
          #expect(list.remove(number) == number)
          expected.removeAll { $0 == number }
          #expect(list.remove(number) == nil)
        default: #expect(list.remove(next &+ 1) == nil)
        }
        #expect(list.count == expected.count, "seed \(seed)")
        #expect(list.first?.element == expected.first, "seed \(seed)")
        #expect(list.elements == expected, "seed \(seed)")
      }
    }
  }
}
