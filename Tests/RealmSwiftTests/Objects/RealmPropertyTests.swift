// Properties in boxes, as older classes declare them.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Veteran: Object {
  @Persisted(primaryKey: true) var id: Int
  let age = RealmProperty<Int?>()
  let fit = RealmOptional<Bool>()
  let height = RealmOptional<Double>(1.8)
  let anything = RealmProperty<AnyRealmValue>()
  let skipped = RealmProperty<Int?>()
  override class func ignoredProperties() -> [String] { ["skipped"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct RealmPropertyTests {
  @Test func valuesWithoutARealm() throws {
    let veteran = Veteran(value: ["id": 1, "age": 70, "fit": true] as [String: Any])
    #expect(veteran.age.value == 70 && veteran.fit.value == true && veteran.height.value == 1.8)
    veteran.age.value = nil
    veteran.anything.value = .string("x")
    #expect(veteran["age"] == nil && veteran["anything"] as? String == "x")
    let schema = veteran.objectSchema
    #expect(schema["age"]?.type == .int && schema["age"]?.isOptional == true)
    #expect(schema["anything"]?.type == .any && schema["skipped"] == nil)
    let copy = try JSONDecoder().decode(
      [RealmProperty<Int?>].self, from: JSONEncoder().encode([veteran.age]))
    #expect(copy == [veteran.age] && "\(veteran.height)" == "1.8")
  }

  @Test func areStored() throws {
    let folder = TemporaryFolder()
    try onEachOpening(folder.configuration("veterans.realm", [Veteran.self])) { realm in
      let veteran = Veteran(value: ["id": 1])
      veteran.age.value = 60
      veteran.skipped.value = 5
      try realm.write {
        realm.add(veteran)
        veteran.age.value = 61
        veteran.anything.value = .fromArray([.int(1)])
        veteran.anything.value.listValue?.append(.int(2))
        realm.create(
          Veteran.self, value: ["id": 2, "fit": false, "height": NSNull()] as [String: Any])
      }
      #expect(veteran.age.value == 61)
    } second: { realm in
      let veterans = realm.objects(Veteran.self)
      #expect(veterans.map(\.age.value) == [61, nil])
      #expect(veterans.map(\.height.value) == [1.8, nil] && veterans[1].fit.value == false)
      #expect(veterans[0].anything.value == .fromArray([.int(1), .int(2)]))
      #expect(veterans[0].skipped.value == nil)
      #expect(veterans.filter("age > 60 AND height == 1.8").count == 1)
      #expect(veterans.freeze()[0].age.value == 61)
      try realm.write { veterans[1].setValue(33, forKey: "age") }
      #expect(veterans[1].age.value == 33)
      realm.beginWrite()
      veterans[0].age.value = nil
      realm.cancelWrite()
      #expect(veterans[0].age.value == 61)
      var kept: [RealmProperty<Int?>] = []
      let all = Array(veterans)
      for veteran in all { kept.append(veteran.age) }
      #expect(kept.map(\.value) == [61, 33])
    }
  }

  @Test func changesOutsideOfATransactionStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Veteran.self])
      let veteran = try realm.write { realm.create(Veteran.self, value: ["id": 1]) }
      veteran.age.value = 4
    }
    expectStop(result, "Attempting to modify object outside of a write transaction")
  }
}
