// Own types and enumerations in conditions; graphs that lead back to themselves; frozen objects.
import Foundation
import RealmSwift
import TestSupport
import Testing

class KeptPlace: EmbeddedObject {
  @Persisted var latitude: Double
  @Persisted var longitude: Double
  @Persisted var sub: KeptPart?
  convenience init(_ a: Double, _ b: Double) {
    self.init()
    latitude = a
    longitude = b
  }
}
class KeptPart: EmbeddedObject { @Persisted var n: String? }
struct KeptCoordinate: CustomPersistable, Hashable {
  var a: Double, b: Double
  typealias PersistedType = KeptPlace
  init(_ a: Double, _ b: Double) {
    self.a = a
    self.b = b
  }
  init(persistedValue: KeptPlace) {
    a = persistedValue.latitude
    b = persistedValue.longitude
  }
  var persistableValue: KeptPlace { KeptPlace(a, b) }
}
enum KeptLetter: String, PersistableEnum { case a, b, c }
enum KeptNumber: Int, PersistableEnum { case one = 1, two }
struct KeptWeight: CustomPersistable, Comparable, Hashable {
  var v: Int
  typealias PersistedType = Int
  init(_ v: Int) { self.v = v }
  init(persistedValue: Int) { v = persistedValue }
  var persistableValue: Int { v }
  static func < (left: KeptWeight, right: KeptWeight) -> Bool { left.v < right.v }
}
class Kept: Object {
  @Persisted var id = 0
  @Persisted var coordinate: KeptCoordinate
  @Persisted var optionalCoordinate: KeptCoordinate?
  @Persisted var coordinates: List<KeptCoordinate>
  @Persisted var coordinateMap: Map<String, KeptCoordinate?>
  @Persisted var place: KeptPlace?
  @Persisted var letters: List<KeptLetter>
  @Persisted var numbers: MutableSet<KeptNumber>
  @Persisted var numberMap: Map<String, KeptNumber>
  @Persisted var weight = KeptWeight(0)
  @Persisted var optionalWeight: KeptWeight?
  @Persisted var weights: List<KeptWeight>
  @Persisted var date = Date(timeIntervalSince1970: 0)
  @Persisted var any: AnyRealmValue
  @Persisted var link: Kept?
  @Persisted var links: List<Kept>
}

@Suite(.ownThreads) struct AsUsersStoredFormTests {
  @Test func storedForms() throws {
    let realm = try memoryRealm([Kept.self, KeptPlace.self, KeptPart.self])
    try realm.write {
      for i in 0..<4 {
        let t = Kept()
        t.id = i
        t.coordinate = KeptCoordinate(Double(i), 1)
        t.optionalCoordinate = i == 0 ? nil : KeptCoordinate(Double(i), 2)
        t.coordinates.append(KeptCoordinate(Double(i), 3))
        t.coordinateMap["k"] = KeptCoordinate(Double(i), 4)
        t.place = KeptPlace(Double(i), 5)
        t.letters.append(i == 1 ? .b : .a)
        t.numbers.insert(i > 1 ? .two : .one)
        t.numberMap["k"] = i > 1 ? .two : .one
        t.weight = KeptWeight(i)
        t.optionalWeight = i == 0 ? nil : KeptWeight(i)
        t.weights.append(KeptWeight(i))
        realm.add(t)
      }
    }
    let all = realm.objects(Kept.self)
    func finds(
      _ ids: [Int], sourceLocation: SourceLocation = #_sourceLocation,
      _ condition: @escaping (Query<Kept>) -> Query<Bool>
    ) {
      #expect(Array(all.where(condition).map(\.id)) == ids, sourceLocation: sourceLocation)
      let (text, arguments) = condition(Query<Kept>._constructForTesting())._constructPredicate()
      #expect(
        Array(all.filter(NSPredicate(format: text, argumentArray: arguments)).map(\.id)) == ids,
        sourceLocation: sourceLocation)
    }
    finds([1]) { $0.coordinate == KeptCoordinate(1, 1) }
    finds([0, 2, 3]) { $0.coordinate != KeptCoordinate(1, 1) }
    finds([1]) { $0.optionalCoordinate == KeptCoordinate(1, 2) }
    finds([0]) { $0.optionalCoordinate == nil }
    finds([0, 2, 3]) { $0.optionalCoordinate != KeptCoordinate(1, 2) }
    finds([1]) { $0.coordinates.contains(KeptCoordinate(1, 3)) }
    finds([1]) { $0.coordinates == KeptCoordinate(1, 3) }
    finds([0, 1]) { $0.coordinate.in([KeptCoordinate(0, 1), KeptCoordinate(1, 1)]) }
    finds([1]) { $0.coordinateMap["k"] == KeptCoordinate(1, 4) }
    finds([1]) { $0.coordinateMap.contains(KeptCoordinate(1, 4)) }
    finds([2]) { $0.place == KeptPlace(2, 5) }
    finds([1, 2]) { $0.coordinates.containsAny(in: [KeptCoordinate(1, 3), KeptCoordinate(2, 3)]) }
    finds([1]) { $0.coordinates.persistableValue.latitude == 1 }
    finds([1]) { $0.letters.rawValue == "b" }
    finds([1]) { $0.letters.rawValue.starts(with: "b") }
    finds([2, 3]) { $0.numbers > .one }
    finds([2, 3]) { $0.numbers.rawValue > 1 }
    finds([2, 3]) { $0.numberMap > .one }
    finds([2, 3]) { $0.numberMap.rawValue > 1 }
    finds([1, 2]) { $0.weight.contains(KeptWeight(1)..<KeptWeight(3)) }
    finds([1, 2]) { $0.optionalWeight.contains(KeptWeight(1)...KeptWeight(2)) }
    finds([2, 3]) { $0.weight > KeptWeight(1) }
    finds([2, 3]) { $0.optionalWeight >= KeptWeight(2) }
    finds([2, 3]) { $0.weights > KeptWeight(1) }
    finds([2, 3]) { $0.weights.persistableValue > 1 }
    finds([1]) {
      $0.coordinate.persistableValue.latitude == 1 && $0.coordinate.persistableValue.longitude == 1
    }
    finds([]) { $0.link == realm.objects(Kept.self)[0] }

  }

  @Test func graphsWithCycles() throws {
    let r1 = try memoryRealm([Kept.self, KeptPlace.self, KeptPart.self]),
      r2 = try memoryRealm([Kept.self, KeptPlace.self, KeptPart.self])
    let a = Kept(value: ["id": 1]), b = Kept(value: ["id": 2])
    try r1.write {
      r1.add(a)
      r1.add(b)
      a.link = b
      b.link = a
      a.links.append(a)
      a.links.append(b)
      a.any = .object(a)
    }
    let c = try r2.write { r2.create(Kept.self, value: a) }
    #expect(r2.objects(Kept.self).count == 2)
    #expect(c.link?.id == 2)
    #expect(c.link?.link?.id == 1)
    #expect(c.links.map(\.id) == [1, 2])
    #expect(c.any.object(Kept.self)!.isSameObject(as: c))
    #expect(c.link!.link!.isSameObject(as: c))
    let d = try r2.write { r2.create(Kept.self, value: a.freeze()) }
    #expect(r2.objects(Kept.self).count == 4)
    #expect(d.link!.link!.isSameObject(as: d))
    #expect(a.any.dynamicObject?["id"] as? Int == 1)
    #expect(a.any.dynamicObject?.id as? Int == 1)
    #expect(AnyRealmValue.object(Kept()).dynamicObject == nil)
    try r1.write { a.any.dynamicObject?["id"] = 9 }
    #expect(a.id == 9)
    let f1 = a.freeze(), f2 = r1.freeze().objects(Kept.self)[0]
    #expect(f1.isSameObject(as: f2))
    #expect(f1 == f2)
    #expect(f1.links[0] == f1.links[0])
    #expect(Set([f1.links[0], f1.links[0]]).count == 1)
    #expect(f1 != a)
    #expect(f1.links[0] != f1.links[1])
  }

}
