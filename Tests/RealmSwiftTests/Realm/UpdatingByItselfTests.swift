// Objects that are updated by values which are read from themselves: what is written first must not
// empty what is read later.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class House: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var rooms: List<Chamber>
  @Persisted var attic: Chamber?
  @Persisted var byName: Map<String, Chamber?>
  @Persisted var first: List<Int>
  @Persisted var second: List<Int>
  @Persisted var left: AnyRealmValue
  @Persisted var right: AnyRealmValue
  @Persisted var neighbours: List<House>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Chamber: EmbeddedObject {
  @Persisted var name: String
  @Persisted var sizes: List<Int>
  @Persisted var cupboards: List<Chamber>
  @Persisted var safe: Chamber?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct UpdatingByItselfTests {
  private static let policies: [Realm.UpdatePolicy] = [.all, .modified]

  private func chamber(_ name: String, _ sizes: [Int], _ inside: [Chamber] = []) -> Chamber {
    let chamber = Chamber()
    chamber.name = name
    chamber.sizes.append(objectsIn: sizes)
    chamber.cupboards.append(objectsIn: inside)
    if let last = sizes.last, last > 9 {
      chamber.safe = self.chamber("safe of \(name)", [last - 9])
    }
    return chamber
  }

  private func house(in realm: Realm) throws -> House {
    let house = House()
    house.id = 1
    house.rooms.append(chamber("a", [1, 2, 20], [chamber("in a", [3], [chamber("deep", [4])])]))
    house.rooms.append(chamber("b", [5]))
    house.attic = chamber("attic", [6], [chamber("in attic", [7])])
    house.byName["x"] = chamber("x", [8], [chamber("in x", [9])])
    house.first.append(objectsIn: [1, 2])
    house.second.append(objectsIn: [3])
    house.left = .fromArray([.int(1), .fromArray([.string("s")])])
    house.right = .fromDictionary(["k": .fromArray([.int(2)])])
    house.neighbours.append(house)
    try realm.write { realm.add(house) }
    return house
  }

  private func text(_ house: House) -> String {
    let rooms = house.rooms.map { text($0) }.joined(separator: ",")
    return "\(rooms)|\(text(house.attic))|\(text(house.byName["x"] ?? nil))|\(Array(house.first))"
      + "\(Array(house.second))|\(text(house.left))\(text(house.right))"
      + "|\(Array(house.neighbours).map(\.id))"
  }

  private func text(_ value: AnyRealmValue) -> String {
    if let list = value.listValue { return "\(Array(list).map { text($0) })" }
    guard let map = value.dictionaryValue else { return "\(value)" }
    return "\(Array(map).map { $0.key + ":" + text($0.value) })"
  }

  private func text(_ chamber: Chamber?) -> String {
    guard let chamber else { return "none" }
    let inside = chamber.cupboards.map { text($0) }.joined(separator: ",")
    return "\(chamber.name)\(Array(chamber.sizes))(\(inside))\(text2(chamber.safe))"
  }

  private func text2(_ chamber: Chamber?) -> String { chamber.map { "+" + text($0) } ?? "" }

  @Test(arguments: policies) func byTheObjectItself(_ policy: Realm.UpdatePolicy) throws {
    let realm = try memoryRealm([House.self, Chamber.self])
    let house = try house(in: realm)
    let (before, count) = (text(house), chambers(of: realm))
    try realm.write {
      let same = realm.create(House.self, value: house, update: policy)
      #expect(same.isSameObject(as: house))
    }
    #expect(text(house) == before && realm.objects(House.self).count == 1)
    #expect(chambers(of: realm) == count)
  }

  /// Embedded objects by the objects that hold them.
  private func chambers(of realm: Realm) -> Int {
    func count(_ chamber: Chamber?) -> Int {
      guard let chamber else { return 0 }
      return 1 + count(chamber.safe) + chamber.cupboards.reduce(0) { $0 + count($1) }
    }
    return realm.objects(House.self).reduce(0) { sum, house in
      sum + house.rooms.reduce(0) { $0 + count($1) } + count(house.attic)
        + house.byName.reduce(0) { $0 + count($1.value) }
    }
  }

  @Test(arguments: policies) func byItsParts(_ policy: Realm.UpdatePolicy) throws {
    let realm = try memoryRealm([House.self, Chamber.self])
    let house = try house(in: realm)
    let before = text(house)
    try realm.write {
      let values: [String: Any] = [
        "id": 1, "rooms": house.rooms, "attic": house.attic!, "byName": house.byName,
        "left": house.left, "right": house.right, "neighbours": house.neighbours,
      ]
      realm.create(House.self, value: values, update: policy)
    }
    #expect(text(house) == before)
    try realm.write {
      let values: [String: Any] = [
        "id": 1, "first": house.second, "second": house.first, "left": house.right,
        "right": house.left, "attic": house.rooms[0],
        "rooms": [house.rooms[1], house.rooms[0], house.attic!],
        "byName": ["x": ["name": "y", "cupboards": house.rooms[0].cupboards] as [String: Any]],
      ]
      realm.create(House.self, value: values, update: policy)
    }
    #expect(Array(house.first) == [3] && Array(house.second) == [1, 2])
    #expect(house.rooms.map(\.name) == ["b", "a", "attic"] && house.attic?.name == "a")
    #expect(house.rooms[1].cupboards[0].cupboards[0].sizes.first == 4)
    #expect((house.byName["x"] ?? nil)?.cupboards.first?.name == "in a")
    #expect(house.left.dictionaryValue?["k"] == .fromArray([.int(2)]))
    #expect(house.right.listValue?[1] == .fromArray([.string("s")]))
  }

  @Test(arguments: policies) func byAFrozenFormAndByName(_ policy: Realm.UpdatePolicy) throws {
    let realm = try memoryRealm([House.self, Chamber.self])
    let house = try house(in: realm)
    let before = text(house)
    let frozen = house.rooms.freeze()
    try realm.write {
      realm.create(House.self, value: ["id": 1, "rooms": frozen], update: policy)
    }
    #expect(text(house) == before)
    let copy = House(value: house)
    try realm.write { realm.add(copy, update: policy) }
    #expect(text(house) == before)
  }
}
