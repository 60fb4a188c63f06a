// Conditions with embedded objects that belong to no Realm, at every sort of path and with every
// quantifier; and collections compared with collections.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct EmbeddedValueQueryTests {
  class Wheel: EmbeddedObject {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    override class func _realmObjectName() -> String? { "EmbeddedValueWheel" }
    @Persisted var size = 0
    @Persisted var note: String?
  }

  class Cart: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    override class func _realmObjectName() -> String? { "EmbeddedValueCart" }
    @Persisted var name = ""
    @Persisted var spare: Wheel?
    @Persisted var wheels: List<Wheel>
    @Persisted var named: Map<String, Wheel?>
    @Persisted var others: List<Cart>
    @Persisted var tags: List<String>
    @Persisted var allowed: MutableSet<String>
  }

  private func wheel(_ size: Int, _ note: String? = nil) -> Wheel {
    Wheel(value: ["size": size, "note": note as Any])
  }

  /// "a" has two different wheels, "b" none, "c" has "a" among the others, "d" one wheel.
  private func carts() throws -> Results<Cart> {
    let realm = try memoryRealm([Cart.self, Wheel.self])
    try realm.write {
      let a = realm.create(Cart.self, value: ["name": "a"])
      a.wheels.append(objectsIn: [wheel(1, "x"), wheel(3)])
      a.named["front"] = wheel(1, "x")
      a.named["back"] = .some(nil)
      realm.create(Cart.self, value: ["name": "b"])
      realm.create(Cart.self, value: ["name": "c"]).others.append(a)
      realm.create(Cart.self, value: ["name": "d"]).wheels.append(wheel(3))
    }
    return realm.objects(Cart.self).sorted(byKeyPath: "name")
  }

  private func names(_ found: Results<Cart>) -> String { Array(found).map(\.name).joined() }

  @Test func quantifiersAskWhatTheySay() throws {
    let carts = try carts()
    func expect(_ expected: String, _ format: String, _ arguments: Any...) {
      let found = carts.filter(NSPredicate(format: format, argumentArray: arguments))
      #expect(names(found) == expected, "\(format)")
    }
    expect("ad", "ANY wheels == %@", wheel(3))
    expect("a", "ANY wheels != %@", wheel(3))
    expect("bcd", "ALL wheels == %@", wheel(3))
    expect("bc", "ALL wheels != %@", wheel(3))
    expect("bc", "NONE wheels == %@", wheel(3))
    expect("ad", "ANY wheels IN %@", [wheel(3), wheel(9)])
    expect("bcd", "ALL wheels IN %@", [wheel(3), wheel(9)])
    expect("abcd", "ALL wheels IN %@", [wheel(3), wheel(1, "x")])
    expect("bc", "NONE wheels IN %@", [wheel(3), wheel(9)])
    // "back" has no wheel.
    expect("a", "ANY named != %@", wheel(1, "x"))
    expect("bcd", "ALL named == %@", wheel(1, "x"))
    expect("a", "ANY named IN %@", [wheel(7), nil])
    expect("", "ANY named IN %@", [wheel(7), wheel(8)])
    expect("bcd", "ALL named IN %@", [wheel(1, "x"), wheel(7)])
    expect("abcd", "ALL named IN %@", [wheel(1, "x"), nil])
    expect("c", "ANY others.wheels == %@", wheel(1, "x"))
    expect("abd", "ALL others.wheels == %@", wheel(1, "x"))
  }

  @Test func typedConditionsAskTheSame() throws {
    let carts = try carts()
    #expect(names(carts.where { $0.wheels != wheel(3) }) == "a")
    #expect(names(carts.where { $0.wheels == wheel(3) }) == "ad")
    #expect(names(carts.where { $0.named != wheel(1, "x") }) == "a")
    #expect(names(carts.where { $0.spare != wheel(3) }) == "abcd")
    #expect(names(carts.where { $0.others.wheels == wheel(1, "x") }) == "c")
  }

  @Test func placesOfCollectionsAreCompared() throws {
    let carts = try carts()
    func expect(_ expected: String, _ format: String, _ arguments: Any...) {
      let found = carts.filter(NSPredicate(format: format, argumentArray: arguments))
      #expect(names(found) == expected, "\(format)")
    }
    expect("a", "wheels[FIRST] == %@", wheel(1, "x"))
    expect("ad", "wheels[LAST] == %@", wheel(3))
    expect("bc", "wheels[LAST] != %@", wheel(3))
    expect("a", "named['front'] == %@", wheel(1, "x"))
    expect("a", "named['front'] IN %@", [wheel(1, "x"), wheel(8)])
    expect("ad", "SUBQUERY(wheels, $w, $w == %@).@count == 1", wheel(3))
    expect("a", "SUBQUERY(wheels, $w, $w != %@).@count == 1", wheel(3))
  }

  @Test func elementsThemselvesAreCompared() throws {
    let first = try #require(try carts().first)
    #expect(first.wheels.filter("SELF == %@", wheel(3)).count == 1)
    #expect(first.wheels.filter("SELF != %@", wheel(3)).first?.size == 1)
    #expect(first.wheels.filter("SELF IN %@", [wheel(3), wheel(1, "x"), wheel(7)]).count == 2)
    #expect(first.wheels.filter("SELF == %@", wheel(1)).isEmpty)
  }

  @Test func allOfOneCollectionAmongAnother() throws {
    let realm = try memoryRealm([Cart.self, Wheel.self])
    try realm.write {
      for (name, tags, allowed) in [
        ("a", ["x", "y"], ["x"]), ("b", ["x", "x"], ["x", "z"]), ("c", [], ["x"]),
        ("d", ["x"], []), ("e", [], []),
      ] {
        realm.create(Cart.self, value: ["name": name, "tags": tags, "allowed": allowed])
      }
    }
    let carts = realm.objects(Cart.self).sorted(byKeyPath: "name")
    #expect(names(carts.filter("ALL tags IN allowed")) == "bce")
    #expect(names(carts.filter("ANY tags IN allowed")) == "ab")
    #expect(names(carts.filter("NOT (ALL tags IN allowed)")) == "ad")
  }
}
