// Elements that stand for no value of their type any more: nil where they are optional, as
// properties are.
import Foundation
import RealmSwift
import TestSupport
import Testing

private enum EarlierSuit: Int, PersistableEnum { case a = 1, b = 2 }
private enum LaterSuit: Int, PersistableEnum { case a = 1, c = 3 }

private struct EvenNumber: FailableCustomPersistable {
  let number: Int
  init?(persistedValue: Int) {
    if persistedValue % 2 != 0 { return nil }
    number = persistedValue
  }
  var persistableValue: Int { number }
}

private struct OwnSuit: CustomPersistable {
  let suit: LaterSuit
  init(persistedValue: LaterSuit) { suit = persistedValue }
  var persistableValue: LaterSuit { suit }
}

private class EarlierHand: Object {
  @Persisted var suits: List<EarlierSuit?>
  @Persisted var set: MutableSet<EarlierSuit?>
  @Persisted var map: Map<String, EarlierSuit?>
  @Persisted var numbers: List<Int?>
  @Persisted var own: List<EarlierSuit?>
  override class func _realmObjectName() -> String? { "UnknownElementHand" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class LaterHand: Object {
  @Persisted var suits: List<LaterSuit?>
  @Persisted var set: MutableSet<LaterSuit?>
  @Persisted var map: Map<String, LaterSuit?>
  @Persisted var numbers: List<EvenNumber?>
  @Persisted var own: List<OwnSuit?>
  override class func _realmObjectName() -> String? { "UnknownElementHand" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class EarlierTrump: Object {
  @Persisted var suit = EarlierSuit.b
  @Persisted var number = 3
  override class func _realmObjectName() -> String? { "UnknownElementTrump" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class LaterTrump: Object {
  @Persisted var suit: LaterSuit
  @Persisted var number = EvenNumber(persistedValue: 2)!
  override class func _realmObjectName() -> String? { "UnknownElementTrump" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct UnknownElementTests {
  let folder = TemporaryFolder()

  private func expectUnknown(
    _ hand: LaterHand, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(Array(hand.suits) == [.a, nil, nil], sourceLocation: sourceLocation)
    #expect(hand.suits[1] == nil && hand.suits[0] == .a, sourceLocation: sourceLocation)
    #expect(Set(hand.set) == [.a, nil], sourceLocation: sourceLocation)
    let byName = hand.map.asKeyValueSequence().map { "\($0.key) \($0.value?.rawValue ?? 0)" }
    #expect(byName == ["a 1", "b 0"], sourceLocation: sourceLocation)
    #expect(hand.numbers.map { $0?.number } == [2, nil, nil], sourceLocation: sourceLocation)
    #expect(hand.own.map { $0?.suit } == [.a, nil], sourceLocation: sourceLocation)
  }

  /// They stopped the process, though the type has room for nil.
  @Test func optionalElementsAreNil() throws {
    do {
      let realm = try Realm(configuration: folder.configuration("a.realm", [EarlierHand.self]))
      let values: [String: Any] = [
        "suits": [1, 2, NSNull()] as [Any], "set": [1, 2], "map": ["a": 1, "b": 2],
        "numbers": [2, 3, NSNull()] as [Any], "own": [1, 2],
      ]
      try realm.write { realm.create(EarlierHand.self, value: values) }
    }
    let realm = try Realm(configuration: folder.configuration("a.realm", [LaterHand.self]))
    let hand = try #require(realm.objects(LaterHand.self).first)
    expectUnknown(hand)
    expectUnknown(hand.freeze())
    #expect(!hand.description.isEmpty && !hand.suits.description.isEmpty)
    let byName = try #require(hand["suits"] as? List<LaterSuit?>)
    #expect(Array(byName) == [.a, nil, nil])
    let dynamic = realm.dynamicObjects("UnknownElementHand")[0]
    #expect((dynamic["suits"] as? List<LaterSuit?>).map { Array($0) } == [.a, nil, nil])
    // Copies hold what can be read.
    expectUnknown(LaterHand(value: hand))
    try realm.write { expectUnknown(realm.create(LaterHand.self, value: hand)) }
    // Others are as they were.
    try realm.write { hand.suits.append(.a) }
    #expect(Array(hand.suits) == [.a, nil, nil, .a])
  }

  /// A description is of use above all where something is wrong.
  @Test func requiredValuesAreDescribedAsTheyAreStored() throws {
    do {
      let realm = try Realm(configuration: folder.configuration("a.realm", [EarlierTrump.self]))
      try realm.write { realm.create(EarlierTrump.self) }
    }
    let realm = try Realm(configuration: folder.configuration("a.realm", [LaterTrump.self]))
    let text = try #require(realm.objects(LaterTrump.self).first).description
    #expect(text.contains("suit = 2;") && text.contains("number = 3;"))
  }
}
