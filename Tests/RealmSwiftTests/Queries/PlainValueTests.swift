// Values of objects that belong to no Realm, compared as a Realm compares them; and sub-queries
// inside of each other, which ask each object once.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class PlainlyAsked: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var int: Int
  @Persisted var float: Float
  @Persisted var bool: Bool
  @Persisted var mixed: AnyRealmValue
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var kids: List<PlainlyAsked>
  @Persisted var kid: PlainlyAsked?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct PlainValueTests {
  @Test func typesOfMixedValuesCount() throws {
    let list = List<AnyRealmValue>()
    list.append(objectsIn: [.int(1), .bool(true)])
    let values: [AnyRealmValue] = [
      .none, .int(1), .bool(true), .int(0), .bool(false), .float(0.1), .double(0.1), .float(1),
      .decimal128("0.1"), .decimal128("1"), .string("1"), .int(.max), .list(list),
    ]
    let objects = values.enumerated().map { id, value in
      let object = PlainlyAsked(value: ["id": id, "int": id % 2, "bool": id % 2 == 1])
      object.float = id % 3 == 0 ? 0.1 : 1
      object.mixed = value
      object.anys.append(objectsIn: [value, .string("other")])
      return object
    }
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [PlainlyAsked.self]))
    try realm.write {
      for object in objects { realm.create(PlainlyAsked.self, value: object) }
    }
    let constants: [Any] = [
      1, true, 0, false, 0.1, Float(0.1), Decimal128("0.1"), "1", 1.0, UInt64.max, Int.max,
      NSNumber(value: 1), NSNumber(value: true), NSNumber(value: 0.1),
    ]
    func check(_ format: String, _ arguments: [Any]) {
      let predicate = NSPredicate(format: format, argumentArray: arguments)
      let managed = realm.objects(PlainlyAsked.self).filter(predicate).map { $0.id }
      let plain = objects.filter { predicate.evaluate(with: $0) }.map { $0.id }
      #expect(plain == Array(managed), "\(format) \(arguments)")
    }
    for format in ["mixed == int", "mixed == bool", "mixed == float", "mixed[*] == 1"] {
      check(format, [])
    }
    for constant in constants {
      check("mixed == %@", [constant])
      check("mixed != %@", [constant])
      check("mixed IN %@", [[constant]])
      check("ANY anys == %@", [constant])
      if Float._fromAny(constant) != nil {
        check("float == %@", [constant])
        check("float < %@", [constant])
      }
    }
    check("bool == 1", [])
    check("bool == %@", [NSNumber(value: 1)])
    check("int <= %@", [UInt64.max])
  }

  /// To ask each sub-query of each way to its elements would take years.
  @Test func subqueriesInsideOfEachOtherAskEachObjectOnce() {
    let depth = 40
    var level = [PlainlyAsked(value: ["id": 7]), PlainlyAsked(value: ["id": 8])]
    for _ in 0...depth {
      level = (0..<2).map { _ in
        let object = PlainlyAsked()
        object.kids.append(objectsIn: level)
        return object
      }
    }
    func holds(_ id: Int) -> Bool {
      var condition = "$x\(depth).id == \(id)"
      for index in (0..<depth).reversed() {
        let count = index == depth - 1 ? 1 : 2
        condition = "SUBQUERY($x\(index).kids, $x\(index + 1), \(condition)).@count == \(count)"
      }
      return NSPredicate(format: "SUBQUERY(kids, $x0, \(condition)).@count == 2")
        .evaluate(with: level[0])
    }
    #expect(holds(7))
    #expect(!holds(9))
  }

  /// What one sub-query found is no answer to another one, though both are of one format.
  @Test func subqueriesOfOneFormat() {
    let object = PlainlyAsked()
    object.kids.append(objectsIn: [1, 2].map { PlainlyAsked(value: ["id": $0, "int": $0]) })
    let (one, none) = (
      NSPredicate(format: "SUBQUERY(kids, $x, $x.id == %@).@count == 1", 1),
      NSPredicate(format: "SUBQUERY(kids, $x, $x.id == %@).@count == 1", 3)
    )
    for predicates in [[one, none], [none, one]] {
      #expect(
        !NSCompoundPredicate(andPredicateWithSubpredicates: predicates).evaluate(with: object))
      #expect(NSCompoundPredicate(orPredicateWithSubpredicates: predicates).evaluate(with: object))
    }
    // The inner condition speaks of the outer element, so each has its own answer.
    object.kid = object
    for kid in object.kids { kid.kids.append(objectsIn: object.kids) }
    let both = NSPredicate(
      format: "SUBQUERY(kids, $x, SUBQUERY($x.kids, $y, $y.id < $x.id).@count == 1).@count == 1")
    #expect(both.evaluate(with: object))
  }
}
