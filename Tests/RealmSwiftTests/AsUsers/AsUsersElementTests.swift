// Elements of every type in lists, sets and maps, through every change, with and without a Realm.
import Foundation
import RealmSwift
import TestSupport
import Testing

enum ShelvedSize: Int, PersistableEnum { case small = 1, large }
struct ShelvedCode: CustomPersistable, Hashable {
  var number: Int
  init(_ number: Int) { self.number = number }
  init(persistedValue: Int) { number = persistedValue }
  var persistableValue: Int { number }
}
class Shelved: Object {
  @Persisted var bools: List<Bool>
  @Persisted var floats: List<Float>
  @Persisted var texts: List<String>
  @Persisted var datas: List<Data>
  @Persisted var dates: List<Date>
  @Persisted var decimals: List<Decimal128>
  @Persisted var identifiers: List<ObjectId>
  @Persisted var uuids: List<UUID>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var sizes: List<ShelvedSize>
  @Persisted var codes: List<ShelvedCode>
  @Persisted var optionalTexts: List<String?>
  @Persisted var optionalDates: List<Date?>
  @Persisted var optionalSizes: List<ShelvedSize?>
  @Persisted var textSet: MutableSet<String>
  @Persisted var dataSet: MutableSet<Data>
  @Persisted var dateSet: MutableSet<Date>
  @Persisted var decimalSet: MutableSet<Decimal128>
  @Persisted var uuidSet: MutableSet<UUID>
  @Persisted var boolSet: MutableSet<Bool>
  @Persisted var sizeSet: MutableSet<ShelvedSize>
  @Persisted var codeSet: MutableSet<ShelvedCode>
  @Persisted var anySet: MutableSet<AnyRealmValue>
  @Persisted var optionalSet: MutableSet<Int?>
  @Persisted var boolMap: Map<String, Bool>
  @Persisted var dateMap: Map<String, Date>
  @Persisted var decimalMap: Map<String, Decimal128>
  @Persisted var sizeMap: Map<String, ShelvedSize>
  @Persisted var codeMap: Map<String, ShelvedCode>
  @Persisted var anyMap: Map<String, AnyRealmValue>
  @Persisted var optionalMap: Map<String, String?>
}

@Suite(.ownThreads) struct AsUsersElementTests {
  private func withShelves(_ body: (Shelved) throws -> Void) throws {
    try body(Shelved())
    let realm = try memoryRealm([Shelved.self])
    try realm.write { try body(realm.create(Shelved.self)) }
  }

  private func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

  @Test func lists() throws {
    func check<Element>(_ list: List<Element>, _ values: [Element]) {
      list.append(objectsIn: values)
      #expect(Array(list) == values && list.index(of: values[1]) == 1)
      list.swapAt(0, 2)
      #expect(Array(list) == [values[2], values[1], values[0]])
      list.move(from: 0, to: 2)
      #expect(Array(list) == [values[1], values[0], values[2]])
      list.insert(values[2], at: 0)
      list.replaceSubrange(..<1, with: [values[0], values[1]])
      #expect(Array(list) == [values[0], values[1], values[1], values[0], values[2]])
      list.remove(atOffsets: [0, 3])
      list.removeSubrange(1...)
      list[0] = values[2]
      #expect(Array(list) == [values[2]] && AnyRealmCollection(list).index(of: values[2]) == 0)
      #expect(Array(list).contains(values[2]) && list.description.contains("[0] "))
    }
    try withShelves { shelved in
      check(shelved.bools, [true, false, true])
      check(shelved.floats, [1, .infinity, -1])
      check(shelved.texts, ["a", "", "ä"])
      check(shelved.datas, [Data(), Data([1]), Data([2])])
      check(shelved.dates, [date(0), date(-5), date(1.5)])
      check(shelved.decimals, [1, "1.5", "-7"])
      check(shelved.identifiers, [ObjectId(), .generate(), .generate()])
      check(shelved.uuids, [UUID(), UUID(), UUID()])
      check(shelved.anys, [.none, .int(1), .string("x")])
      check(shelved.sizes, [.small, .large, .small])
      check(shelved.codes, [ShelvedCode(1), ShelvedCode(2), ShelvedCode(3)])
      check(shelved.optionalTexts, ["", nil, "x"])
      check(shelved.optionalDates, [date(0), nil, date(1)])
      check(shelved.optionalSizes, [.small, nil, .large])
    }
  }

  @Test func sets() throws {
    func check<Element>(_ set: MutableSet<Element>, _ values: [Element]) {
      set.insert(objectsIn: values)
      set.insert(values[0])
      #expect(set.count == values.count && values.allSatisfy { set.contains($0) })
      let one = MutableSet<Element>()
      one.insert(values[0])
      #expect(one.isSubset(of: set) && !set.isSubset(of: one) && set.intersects(one))
      set.subtract(one)
      #expect(set.count == values.count - 1 && !set.contains(values[0]))
      set.formUnion(one)
      set.formIntersection(one)
      #expect(Array(set) == [values[0]])
      set.remove(values[0])
      #expect(set.isEmpty)
    }
    try withShelves { shelved in
      check(shelved.textSet, ["a", "b", ""])
      check(shelved.dataSet, [Data(), Data([1]), Data([1, 0])])
      check(shelved.dateSet, [date(1), date(2)])
      check(shelved.decimalSet, [1, "1.5"])
      check(shelved.uuidSet, [UUID(), UUID()])
      check(shelved.boolSet, [true, false])
      check(shelved.sizeSet, [.small, .large])
      check(shelved.codeSet, [ShelvedCode(1), ShelvedCode(2)])
      check(shelved.optionalSet, [nil, 1, 2])
      check(
        shelved.anySet,
        [
          .int(1), .string("1"), .none, .bool(true), .double(1.5), .date(date(1)), .data(Data([1])),
          .uuid(UUID()), .objectId(.generate()), .decimal128("2.5"),
        ])
    }
  }

  @Test func maps() throws {
    func check<Value>(_ map: Map<String, Value>, _ values: [Value]) {
      for (position, value) in values.enumerated() { map["k\(position)"] = value }
      for (position, value) in values.enumerated() { #expect(map["k\(position)"] == value) }
      map["k0"] = nil
      map.updateValue(values[0], forKey: "k1")
      #expect(map.keys.sorted() == ["k1"] + (2..<values.count).map { "k\($0)" })
      #expect(map["k1"] == values[0] && map["none", default: values[1]] == values[1])
      let other = Map<String, Value>()
      other["k1"] = values[1]
      map.merge(other) { $1 }
      #expect(map["k1"] == values[1] && map.description.contains("[k1]: "))
      #expect(map.contains { key, value in key == "k1" && value == values[1] })
      map.removeObject(for: "k1")
      #expect(map["k1"] == nil)
    }
    try withShelves { shelved in
      check(shelved.boolMap, [true, false])
      check(shelved.dateMap, [date(1), date(2)])
      check(shelved.decimalMap, [1, 2])
      check(shelved.sizeMap, [.small, .large])
      check(shelved.codeMap, [ShelvedCode(1), ShelvedCode(2)])
      check(shelved.anyMap, [.int(1), .string("x"), .bool(true)])
      check(shelved.optionalMap, ["a", nil, "c"])
    }
  }

  /// A set has each number once, and a list finds it, however many zeros were written.
  @Test func decimalsOfSeveralForms() throws {
    try withShelves { shelved in
      let set = shelved.decimalSet
      set.insert(objectsIn: [100, "1E2", "100.0", "-0", 0, "0.00", "0.10", "1E+30", "10E29", "12"])
      #expect(set.count == 5 && set.contains("1e2") && set.contains("1.0E30"))
      #expect(Set(set.map(\.stringValue)).isSuperset(of: ["100", "12"]))
      set.remove("100.000")
      #expect(set.count == 4 && !set.contains(100))
      shelved.anySet.insert(objectsIn: [.decimal128("1.0"), .decimal128("1.00"), .decimal128(1)])
      #expect(shelved.anySet.count == 1 && shelved.anySet.contains(.decimal128("1.000")))
      shelved.decimals.append(objectsIn: ["2", "1.50"])
      #expect(shelved.decimals.index(of: "1.5") == 1 && shelved.decimals[1].stringValue == "1.50")
    }
  }

  @Test func distinctByNothing() throws {
    let realm = try boardRealm()
    let tasks = realm.objects(BoardTask.self)
    #expect(tasks.distinct(by: [String]()).count == tasks.count)
    #expect(tasks.distinct(by: [PartialKeyPath<BoardTask>]()).count == tasks.count)
    #expect(tasks.sorted(by: []).count == tasks.count)
  }
}
