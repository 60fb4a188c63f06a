// Enums as properties, elements and keys.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct PersistableEnumTests {
  @Test func startsWithTheFirstCase() {
    let card = Card()
    #expect(card.suit == .spades && card.level == .low && card.small == .one)
    #expect(card.short == .one && card.medium == .one && card.long == .one)
    #expect(card.ratio == .half && card.share == .quarter)
    #expect(card.optionalSuit == nil && card.optionalLevel == nil && card.optionalRatio == nil)
  }

  @Test func everyRawTypeIsStored() throws {
    let folder = TemporaryFolder()
    try onEachOpening(folder.configuration("cards.realm", [Card.self])) { realm in
      let untouched = Card()
      let card = Card(value: ["suit": Suit.clubs, "small": Small.minusOne])
      try realm.write {
        realm.add([untouched, card])
        card.level = .high
        card.short = .large
        card.medium = .large
        card.long = .large
        card.ratio = .quarter
        card.share = .half
        card.optionalSuit = .hearts
        card.optionalLevel = .high
        card.optionalRatio = .quarter
      }
      #expect(untouched.level == .low && untouched.ratio == .half)
    } second: { realm in
      let card = try #require(realm.object(ofType: Card.self, forPrimaryKey: Suit.clubs))
      #expect(card.suit == .clubs && card.level == .high && card.small == .minusOne)
      #expect(card.short == .large && card.medium == .large && card.long == .large)
      #expect(card.ratio == .quarter && card.share == .half)
      #expect(card.optionalSuit == .hearts && card.optionalLevel == .high)
      #expect(card.optionalRatio == .quarter)
      try realm.write {
        card.optionalSuit = nil
        card.optionalLevel = nil
      }
      #expect(card.optionalSuit == nil && card.optionalLevel == nil)
    }
  }

  @Test func untypedValues() throws {
    let realm = try memoryRealm([Card.self])
    let card = try realm.write {
      realm.create(
        Card.self,
        value: [
          "suit": "hearts", "level": 100, "small": -1, "optionalSuit": Suit.clubs,
        ] as [String: Any])
    }
    #expect(card.suit == .hearts && card.level == .high && card.small == .minusOne)
    #expect(card.optionalSuit == .clubs)
    #expect(card.value(forKey: "level") as? Level == .high)
    #expect(card["optionalSuit"] as? Suit == .clubs)
    try realm.write {
      card.setValue(1, forKey: "level")
      card["optionalSuit"] = nil
      card.setValue(Ratio.quarter, forKey: "ratio")
    }
    #expect(card.level == .low && card.optionalSuit == nil && card.ratio == .quarter)
    let copy = Card(value: card)
    #expect(
      copy.suit == .hearts && copy.ratio == .quarter)
    #expect(card.description.contains("suit = hearts;"))
  }

  @Test func unmanagedLists() {
    let deck = Deck(value: ["suits": ["spades", Suit.clubs], "optionalLevels": [1, NSNull()]])
    #expect(Array(deck.suits) == [.spades, .clubs] && Array(deck.optionalLevels) == [.low, nil])
    #expect(deck.suits.index(of: .clubs) == 1)
  }

  @Test func keys() throws {
    let realm = try memoryRealm([Card.self, Door.self])
    try realm.write {
      for suit in Suit.allCases { realm.create(Card.self, value: ["suit": suit]) }
      realm.create(Door.self, value: ["level": Level.high, "name": "top"] as [String: Any])
      realm.create(Door.self, value: ["name": "none"])
    }
    #expect(realm.object(ofType: Card.self, forPrimaryKey: Suit.hearts)?.suit == .hearts)
    #expect(realm.object(ofType: Card.self, forPrimaryKey: "♣")?.suit == .clubs)
    #expect(realm.object(ofType: Door.self, forPrimaryKey: Level.high)?.name == "top")
    #expect(realm.object(ofType: Door.self, forPrimaryKey: Level?.none)?.name == "none")
    #expect(realm.object(ofType: Door.self, forPrimaryKey: Level.low) == nil)
    #expect(Card().objectSchema["suit"]?.type == .string)
    #expect(Card().objectSchema["optionalLevel"]?.isOptional == true)
    #expect(Card().objectSchema["level"]?.isIndexed == true)
    #expect(Level.low < .high && Suit.hearts < .spades)
  }

  @Test func aRawValueWithoutACase() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let folder = TemporaryFolder()
      try onEachOpening(folder.configuration("raw.realm", [RawCard.self])) { realm in
        try realm.write {
          _ = realm.create(
            RawCard.self, value: ["suit": "x", "optionalSuit": "y", "level": 7] as [String: Any])
        }
      } second: { _ in
        let realm = try Realm(configuration: folder.configuration("raw.realm", [Card.self]))
        let card = realm.objects(Card.self).first!
        precondition(card.optionalSuit == nil)
        _ = card.level
      }
    }
    expectStop(
      result, "Failed to convert persisted value '7' to type 'Level' in a non-optional context.")
  }

  @Test func anUntypedValueWithoutACaseStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Card(value: ["level": 7])
    }
    expectStop(result, "Invalid value '7' of type 'Int' for 'int' property 'Card.level'.")
  }
}
