// Two changes of a collection as one.
import Platform
import TestSupport
import Testing

@testable import RealmSwift

struct CollectionChangeTests {
  /// Elements, and which of them have changed since the beginning.
  private struct State {
    var elements: [Int]
    var changed: Set<Int> = []
  }

  /// A random change of some elements, and what they are then.
  private static func step(
    _ state: State, _ next: inout Int, _ random: inout RandomGenerator
  ) -> (change: CollectionChange, after: State) {
    var change = CollectionChange()
    var after = State(elements: [], changed: state.changed)
    for (position, element) in state.elements.enumerated() {
      while random.next() % 6 == 0 {
        next += 1
        change.insertions.append(after.elements.count)
        after.elements.append(next)
      }
      switch random.next() % 6 {
      case 0: change.deletions.append(position)
      case 1:
        change.modifications.append(after.elements.count)
        after.changed.insert(element)
        after.elements.append(element)
      default: after.elements.append(element)
      }
    }
    return (change, after)
  }

  @Test func aChangeFollowedByOthers() async {
    await withSeeds(200) { random in
      let before = Array(0..<Int(random.next() % 12))
      var state = State(elements: before)
      var next = 100
      var whole = CollectionChange()
      for _ in 0..<3 {
        let (change, after) = Self.step(state, &next, &random)
        whole = whole.followed(by: change)
        state = after
      }
      #expect(whole.deletions == before.indices.filter { !state.elements.contains(before[$0]) })
      #expect(whole.insertions == state.elements.indices.filter { state.elements[$0] >= 100 })
      #expect(
        whole.modifications
          == state.elements.indices.filter {
            state.elements[$0] < 100 && state.changed.contains(state.elements[$0])
          })
    }
  }
}
