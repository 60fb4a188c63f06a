// Objects with texts as primary keys, of all lengths, added in one transaction and in many, against
// a dictionary.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct KeyLookUpTests {
  /// A key: short, long enough to be split from its neighbours, or beside the leaf.
  static func key(_ random: inout RandomGenerator) -> String {
    let number = Int.random(in: 0..<4_000, using: &random)
    switch number % 64 {
    case 0: return String(repeating: "x", count: number % 700) + "\(number)"
    case 1: return String(repeating: "long", count: 400) + "\(number)"
    case 2..<20: return "\(number)"
    default: return "object-\(number &* 7_919_793)-\(number)"
    }
  }

  @Test(arguments: [1, 300]) func textKeysAreFound(transactions: Int) throws {
    var random = RandomGenerator(seed: testSeed())
    let realm = try memoryRealm([Badge.self])
    var model: [String: Int] = [:]
    var value = 0
    for _ in 0..<transactions {
      try realm.write {
        for _ in 0..<(6_000 / transactions) {
          let key = Self.key(&random)
          value += 1
          switch Int.random(in: 0..<8, using: &random) {
          case 0:
            if let object = realm.object(ofType: Badge.self, forPrimaryKey: key) {
              realm.delete(object)
            }
            model[key] = nil
          case 1:
            realm.create(Badge.self, value: ["code": key, "level": value], update: .all)
            model[key] = value
          default:
            let object = Badge()
            object.code = key
            object.level = value
            realm.add(object, update: model[key] == nil ? .error : .modified)
            model[key] = value
          }
        }
      }
    }
    #expect(realm.objects(Badge.self).count == model.count)
    for (key, value) in model {
      #expect(realm.object(ofType: Badge.self, forPrimaryKey: key)?.level == value, "\(key)")
    }
    for _ in 0..<2_000 {
      let key = Self.key(&random)
      #expect(realm.object(ofType: Badge.self, forPrimaryKey: key)?.level == model[key], "\(key)")
      #expect(realm.object(ofType: Badge.self, forPrimaryKey: key + "-") == nil)
    }
    #expect(realm.object(ofType: Badge.self, forPrimaryKey: "") == nil)
  }

  @Test func keysThatTheTypeCannotHoldAreNotThere() throws {
    let realm = try memoryRealm([SmallKey.self, CaseKey.self])
    try realm.write {
      realm.create(SmallKey.self, value: ["key": 5])
      realm.create(CaseKey.self, value: ["key": "open"])
    }
    #expect(realm.object(ofType: SmallKey.self, forPrimaryKey: 5) != nil)
    #expect(realm.object(ofType: SmallKey.self, forPrimaryKey: Int64(5)) != nil)
    #expect(realm.object(ofType: SmallKey.self, forPrimaryKey: 500) == nil)
    #expect(realm.object(ofType: CaseKey.self, forPrimaryKey: "open") != nil)
    #expect(realm.object(ofType: CaseKey.self, forPrimaryKey: CaseKey.Door.shut) == nil)
    #expect(realm.object(ofType: CaseKey.self, forPrimaryKey: "ajar") == nil)
  }
}

private class SmallKey: Object {
  @Persisted(primaryKey: true) var key: Int8
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class CaseKey: Object {
  enum Door: String, PersistableEnum { case open, shut }
  @Persisted(primaryKey: true) var key: Door
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
