// Conditions on collections behind a link that leads nowhere: there are no elements, so none fits
// and all do; on single values there is one, which is null.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class LinkedNowhere: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var size: Int
  @Persisted var next: LinkedNowhere?
  @Persisted var kids: List<LinkedNowhere>
  @Persisted var byName: Map<String, LinkedNowhere?>
  @Persisted var sizes: List<Int?>
  @Persisted var names: MutableSet<String>
  @Persisted var weights: Map<String, Double?>
  @Persisted var mixed: AnyRealmValue
  @Persisted(originProperty: "next") var back: LinkingObjects<LinkedNowhere>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct NullLinkTests {
  /// 0 leads nowhere; 1 leads to it; 2 leads to 1; 3 has kids of which one leads nowhere.
  private func objects() -> [LinkedNowhere] {
    let objects = (0..<4).map { LinkedNowhere(value: ["id": $0, "size": $0]) }
    objects[1].next = objects[0]
    objects[2].next = objects[1]
    objects[3].kids.append(objectsIn: [objects[0], objects[2]])
    objects[3].byName["none"] = .some(nil)
    objects[0].sizes.append(objectsIn: [nil, 5])
    return objects
  }

  @Test func collectionsBehindNothingHaveNoElements() throws {
    let objects = objects()
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [LinkedNowhere.self]))
    try realm.write {
      for object in objects { realm.create(LinkedNowhere.self, value: object, update: .all) }
    }
    let many = (1..<12).map { "$x.size != \($0)" }.joined(separator: " AND ")
    let cases: [(String, [Int])] = [
      ("ANY next.sizes == nil", [1]), ("ANY next.sizes != 1", [1]),
      ("NONE next.sizes == nil", [0, 2, 3]),
      ("ALL next.sizes == 1", [0, 2, 3]), ("ANY next.sizes IN {nil, 1}", [1]),
      ("ANY next.names == nil", []), ("ANY next.weights == nil", []),
      ("ALL next.weights == 1", [0, 1, 2, 3]), ("ANY next.weights.@allKeys != 'a'", []),
      ("ANY next.kids == nil", []), ("ANY next.kids.size == nil", []),
      ("ANY next.kids.size != 9", []), ("NONE next.kids.size != 9", [0, 1, 2, 3]),
      ("ANY next.next.kids.size != 9", []), ("ANY next.back.size != 9", [1, 2]),
      ("ANY next.mixed[*] == nil", []), ("ANY kids.next.sizes == nil", []),
      ("ANY kids.next.next.sizes == nil", [3]), ("ANY byName.sizes != 9", []),
      ("SUBQUERY(next.kids, $x, $x.size != 9).@count == 0", [0, 1, 2, 3]),
      ("SUBQUERY(next.back, $x, $x.size != 9).@count == 1", [1, 2]),
      // A link that leads nowhere is no element of a sub-query, a value that is null is one.
      ("SUBQUERY(byName, $x, $x.size != 9).@count == 0", [0, 1, 2, 3]),
      ("SUBQUERY(byName, $x, $x.size == nil).@count == 0", [0, 1, 2, 3]),
      ("SUBQUERY(byName, $x, NOT $x.size == 9).@count == 0", [0, 1, 2, 3]),
      ("SUBQUERY(byName, $x, TRUEPREDICATE).@count == 0", [0, 1, 2, 3]),
      ("SUBQUERY(byName, $x, \(many)).@count == 0", [0, 1, 2, 3]),
      ("SUBQUERY(kids.next, $x, TRUEPREDICATE).@count == 1", [3]),
      ("SUBQUERY(sizes, $x, $x == nil).@count == 1", [0]), ("byName.@count == 1", [3]),
      // Single values are null.
      ("next.size == nil", [0, 3]), ("next.size != 0", [0, 2, 3]),
      ("next.next.size == nil", [0, 1, 3]),
      ("ANY kids.next.size == nil", [3]), ("ANY byName.size == nil", [3]),
      ("next.sizes[0] == nil", [0, 1, 2, 3]), ("next.weights['a'] == nil", [0, 1, 2, 3]),
      ("next.sizes.@count == nil", [0, 3]), ("next.sizes.@count == 0", [2]),
      ("next.sizes.@max == nil", [0, 2, 3]),
    ]
    for (format, expected) in cases {
      let predicate = NSPredicate(format: format)
      #expect(
        realm.objects(LinkedNowhere.self).filter(predicate).map { $0.id } == expected, "\(format)")
      // The objects of one condition were in a set of keys; these are asked one by one.
      let list = realm.objects(LinkedNowhere.self).filter("id >= 0 AND (\(format))")
      #expect(list.map { $0.id } == expected, "\(format), one by one")
      let dynamic = realm.dynamicObjects("LinkedNowhere").filter { predicate.evaluate(with: $0) }
      #expect(dynamic.map { $0["id"] as? Int } == expected, "\(format), dynamic")
      if format.contains("back") { continue }
      let plain = objects.filter { predicate.evaluate(with: $0) }.map { $0.id }
      #expect(plain == expected, "\(format), plain")
    }
  }
}
