// Many look-ups in large sets and maps: what makes them fast is made on the way, and must not
// outlive a change.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads, .enabled(if: managedCollectionsWork)) struct LargeLookUpTests {
  /// What a kennel should hold.
  struct Model {
    var numbers: Set<Int> = []
    var names: Set<String> = []
    var entries: [String: Int] = [:]

    mutating func change(_ kennel: Kennel, _ random: inout RandomGenerator) {
      for _ in 0..<1_800 {
        let number = Int.random(in: -1_500...1_500, using: &random)
        if random.oneIn(4) {
          numbers.remove(number)
          names.remove("name \(number)")
          entries["key-\(number)"] = nil
          kennel.numberSet.remove(number)
          kennel.nameSet.remove("name \(number)")
          kennel.numberMap.removeObject(for: "key-\(number)")
        } else {
          numbers.insert(number)
          names.insert("name \(number)")
          entries["key-\(number)"] = number * 7
          kennel.numberSet.insert(number)
          kennel.nameSet.insert("name \(number)")
          kennel.numberMap["key-\(number)"] = number * 7
        }
      }
    }

    func expectFound(_ kennel: Kennel) {
      let (set, names, map) = (kennel.numberSet, kennel.nameSet, kennel.numberMap)
      var wrong = 0
      for number in -1_510...1_510 {
        if set.contains(number) != self.numbers.contains(number) { wrong += 1 }
        if names.contains("name \(number)") != self.names.contains("name \(number)") { wrong += 1 }
        if map["key-\(number)"] != entries["key-\(number)"] { wrong += 1 }
      }
      #expect(wrong == 0)
      #expect(!set.contains(.max) && !names.contains("") && !names.contains("name"))
      #expect(map[""] == nil && map["key"] == nil && map["key-99999999999"] == nil)
    }
  }

  @Test func findWhatIsThereAfterEachChange() throws {
    var random = RandomGenerator(seed: testSeed())
    let realm = try memoryRealm(kennelClasses)
    let kennel = try realm.write { realm.create(Kennel.self, value: ["id": 1]) }
    var model = Model()
    for round in 0..<3 {
      try realm.write {
        model.change(kennel, &random)
        model.expectFound(kennel)
        // Another object of the class: the collections stay what they are.
        realm.create(Kennel.self, value: ["id": 10 + round])
      }
      model.expectFound(kennel)
      try realm.write { realm.create(Kennel.self, value: ["id": 100 + round]) }
      model.expectFound(kennel)
      realm.beginWrite()
      var undone = model
      undone.change(kennel, &random)
      undone.expectFound(kennel)
      realm.cancelWrite()
      model.expectFound(kennel)
      model.expectFound(kennel.freeze())
    }
  }

  @Test func theSameCollectionIsFollowedAfterCommitsOfOthers() throws {
    let realm = try memoryRealm(kennelClasses)
    let kennel = try realm.write { realm.create(Kennel.self, value: ["id": 1]) }
    let set = kennel.numberSet
    try realm.write { set.insert(objectsIn: 0..<1_500) }
    for round in 0..<4 {
      for number in 0..<1_500 { #expect(set.contains(number) != (number < round)) }
      try realm.write {
        realm.create(Kennel.self, value: ["id": 2 + round])
        set.remove(round)
      }
    }
    try realm.write { set.removeAll() }
    #expect(!set.contains(1_400))
  }
}
