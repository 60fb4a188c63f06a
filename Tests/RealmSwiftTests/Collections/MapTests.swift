// Maps: reading, changing, forms; alike in objects with and without a Realm.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct MapTests {
  @Test func holdsValuesByKey() throws {
    try withKennels { kennel in
      let map = kennel.numberMap
      #expect(map.isEmpty && map["a"] == nil && map.keys.isEmpty && map.values.isEmpty)
      map["b"] = 2
      map["a"] = 1
      map.updateValue(3, forKey: "ab")
      map["b"] = 20
      #expect(map.count == 3 && map["b"] == 20 && map["c"] == nil)
      #expect(map.keys == ["a", "ab", "b"] && map.values == [1, 3, 20])
      #expect(map.map { "\($0.key)=\($0.value)" } == ["a=1", "ab=3", "b=20"])
      #expect(map.asKeyValueSequence().map { $0.key } == ["a", "ab", "b"])
      #expect(map["x", default: 7] == 7)
      map["x", default: 7] += 1
      #expect(map["x"] == 8)
      map["x"] = nil
      map.removeObject(for: "ab")
      map.removeObject(for: "missing")
      #expect(map.keys == ["a", "b"])
      #expect(map.contains { key, value in key == "a" && value == 1 })
      #expect(!map.contains { $0.key == "z" })
      #expect(kennel.numberMap == map)
      map.removeAll()
      #expect(map.isEmpty)
    }
  }

  @Test func valuesCanBeNil() throws {
    try withKennels { kennel in
      let map = kennel.optionalNumberMap
      map["a"] = .some(nil)
      map["b"] = 2
      #expect(map.count == 2 && map["a"] == .some(nil) && map["c"] == nil)
      #expect(map.values == [nil, 2])
      map["a"] = nil
      #expect(map.keys == ["b"])
    }
  }

  @Test func merges() throws {
    try withKennels { kennel in
      let map = kennel.numberMap
      map["a"] = 1
      map["b"] = 2
      map.merge(["b": 10, "c": 20]) { $0 + $1 }
      #expect(map.values == [1, 12, 20])
      map.merge([("a", 5), ("d", 6)]) { old, _ in old }
      #expect(map.values == [1, 12, 20, 6])
      let other = Map<String, Int>()
      other["d"] = 1
      map.merge(other) { _, new in new }
      #expect(map["d"] == 1)
      map.merge(map) { $0 + $1 }
      #expect(map.values == [2, 24, 40, 2])
    }
  }

  @Test func holdsObjects() throws {
    try withKennels { kennel in
      let rex = Hound("Rex", 3)
      kennel.houndMap["one"] = rex
      kennel.houndMap["two"] = rex
      kennel.houndMap["none"] = .some(nil)
      #expect(kennel.houndMap.count == 3 && kennel.houndMap["one"]??.name == "Rex")
      #expect(kennel.houndMap["none"] == .some(nil) && rex.realm == kennel.realm)
      kennel.boxMap["box"] = Box(3)
      kennel.boxMap["box"]!!.size += 1
      #expect(kennel.boxMap["box"]??.size == 4)
      #expect(kennel.houndMap.value(forKeyPath: "one.name") as? String == "Rex")
    }
  }

  @Test func holdsManyEntries() throws {
    try withKennels { kennel in
      for number in 0..<1000 { kennel.nameMap["key \(number * 7919 % 1000)"] = "\(number)" }
      #expect(kennel.nameMap.count == 1000)
      #expect(kennel.nameMap.keys == (0..<1000).map { "key \($0)" }.sorted())
      for number in 0..<1000 {
        #expect(kennel.nameMap["key \(number * 7919 % 1000)"] == "\(number)")
      }
    }
  }

  @Test func assignsWholeMaps() throws {
    try withKennels { kennel in
      let map = kennel.numberMap
      let other = Map<String, Int>()
      other["a"] = 1
      map["z"] = 26
      kennel.numberMap = other
      other["b"] = 2
      #expect(map.keys == ["a"] && kennel.numberMap.keys == ["a"])
      kennel.setValue(["q": 3], forKey: "numberMap")
      #expect(map.keys == ["q"] && map["q"] == 3)
    }
  }

  @Test func showsEntriesOfWhenIterationBegan() throws {
    try withKennels { kennel in
      for number in 0..<100 { kennel.numberMap["\(number)"] = number }
      var sum = 0
      for entry in kennel.numberMap {
        sum += entry.value
        kennel.numberMap[entry.key] = nil
      }
      #expect(sum == 4950 && kennel.numberMap.isEmpty)
    }
  }

  @Test func aggregatesAndKeyValueCoding() throws {
    try withKennels { kennel in
      let map = kennel.numberMap
      #expect(map.min() == nil && map.sum() == 0)
      map["a"] = 1
      map["b"] = 4
      #expect(map.min() == 1 && map.max() == 4 && map.sum() == 5)
      let average: Double? = map.average()
      #expect(average == 2.5)
      #expect(map.value(forKey: "b") as? Int == 4 && map.value(forKey: "c") == nil)
      #expect(map.value(forKey: "@allKeys") as? [String] == ["a", "b"])
      #expect(map.value(forKey: "@allValues") as? [Int] == [1, 4])
      #expect(map.value(forKeyPath: "@count") as? Int == 2)
      #expect(map.value(forKeyPath: "@sum.self") as? Int == 5)
      map.setValue(9, forKey: "c")
      map.setValue(nil, forKey: "a")
      #expect(map.keys == ["b", "c"] && map["c"] == 9)
    }
  }

  @Test func isCodableAndDescribesItself() throws {
    let map = Map<String, Int?>()
    map["a"] = 1
    let data = try JSONEncoder().encode(map)
    #expect(String(decoding: data, as: UTF8.self) == #"{"a":1}"#)
    let copy = try JSONDecoder().decode(Map<String, Int?>.self, from: data)
    #expect(copy.keys == ["a"] && copy["a"] == 1)
    #expect(map.description.hasPrefix("Map<string, int> <0x"))
    #expect(map.description.contains("\n\t[a]: 1\n)"))
  }

  @Test func stops() async {
    let value = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Map<String, Int>().setValue("text", forKey: "a")
    }
    expectStop(value, "Invalid value 'text' of type 'String' for a map of 'int'.")
    let frozen = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Map<String, Int>().freeze()
    }
    expectStop(frozen, "Unmanaged maps cannot be frozen.")
  }
}
