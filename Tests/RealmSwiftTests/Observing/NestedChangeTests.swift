// What observers of a long list inside of a mixed value are told when much of it changes.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Roll: Object {
  @Persisted var content: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@MainActor @Suite(.ownThreads) struct NestedChangeTests {
  private typealias Change = (deletions: [Int], insertions: [Int], modifications: [Int])

  /// The change that a transaction makes to a list of the numbers below `count`.
  private func change(
    _ count: Int, _ body: (List<AnyRealmValue>) -> Void
  ) throws -> Change? {
    let realm = try memoryRealm([Roll.self])
    let roll = try realm.write {
      realm.create(Roll.self, value: ["content": Array(0..<count)] as [String: Any])
    }
    let list = try #require(roll.content.listValue)
    let told = Told()
    let token = list.observe { change in
      guard case .update(_, let deletions, let insertions, let modifications) = change else {
        return
      }
      told.change = (deletions, insertions, modifications)
    }
    realm.refresh()
    try realm.write { body(list) }
    realm.refresh()
    token.invalidate()
    return told.change
  }

  private final class Told { var change: Change? }

  @Test func addedAtEitherEndAndInside() throws {
    let added = (0..<4_000).map { AnyRealmValue.string("new \($0)") }
    let behind = try change(3_000) { $0.append(objectsIn: added) }
    #expect(behind?.insertions == Array(3_000..<7_000))
    #expect(behind?.deletions == [] && behind?.modifications == [])
    let inFront = try change(3_000) { $0.insert(contentsOf: added, at: 0) }
    #expect(inFront?.insertions == Array(0..<4_000) && inFront?.modifications == [])
    let inside = try change(3_000) { $0.insert(contentsOf: added, at: 1_500) }
    #expect(inside?.insertions == Array(1_500..<5_500) && inside?.deletions == [])
    let removed = try change(3_000) { $0.removeSubrange(1...2_998) }
    #expect(removed?.deletions == Array(1...2_998) && removed?.insertions == [])
  }

  @Test func mostOfItReplaced() throws {
    let all = try change(3_000) { list in
      for index in list.indices where index % 2 == 0 { list[index] = .bool(true) }
    }
    #expect(all?.modifications == Array(stride(from: 0, to: 3_000, by: 2)))
    #expect(all?.deletions == [] && all?.insertions == [])
    let other = (0..<3_500).map { AnyRealmValue.string("\($0)") }
    let longer = try change(3_000) { list in
      list.removeAll()
      list.append(objectsIn: other)
    }
    #expect(longer?.modifications == Array(0..<3_000))
    #expect(longer?.insertions == Array(3_000..<3_500) && longer?.deletions == [])
    let shorter = try change(3_000) { $0.replaceSubrange(0..., with: other[..<500]) }
    #expect(shorter?.modifications == Array(0..<500))
    #expect(shorter?.deletions == Array(500..<3_000) && shorter?.insertions == [])
  }
}
