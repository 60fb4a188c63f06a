// A sequence in parts is an array to who reads it, and its versions share what they have in common.
import Platform
import TestSupport
import Testing

@testable import RealmSwift

@Suite struct SharedPartsTests {
  @Test func areAnArray() async {
    await withSeeds(3) { random in
      func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
      var truth = (0..<number(3_000)).map { "\($0)" }
      var parts = SharedParts(truth)
      for step in 0..<300 {
        let before = (truth, parts)
        let first = number(truth.count + 1)
        let end = min(truth.count, first + number(number(10) == 0 ? 2_000 : 3))
        let new = (0..<number(number(10) == 0 ? 2_000 : 3)).map { "\(step) \($0)" }
        truth.replaceSubrange(first..<end, with: new)
        parts.replace(first..<end, with: new)
        if number(5) == 0 {
          truth.append("\(step)")
          parts.append("\(step)")
        }
        #expect(parts.count == truth.count && parts.elementsEqual(truth), "\(step)")
        #expect(before.1.elementsEqual(before.0), "\(step)")
        let (head, tail) = before.1.shared(with: parts, ==)
        let shortest = min(truth.count, before.0.count)
        #expect(head + tail <= shortest, "\(step)")
        #expect(
          head == zip(truth, before.0).prefix { $0 == $1 }.count, "\(step): the same beginning")
        let same = zip(truth.reversed(), before.0.reversed()).prefix { $0 == $1 }.count
        #expect(tail == min(same, shortest - head), "\(step): the same end")
        guard let wanted = truth.randomElement() else { continue }
        #expect(parts.firstIndex { $0 == wanted } == truth.firstIndex(of: wanted))
      }
    }
  }
}
