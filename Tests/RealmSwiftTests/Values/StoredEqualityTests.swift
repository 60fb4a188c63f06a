// One equality everywhere: what a file tells apart, collections in memory do too, and what is one
// value in a file is one in memory.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Holder: Object {
  @Persisted var texts: MutableSet<String>
  @Persisted var optionals: MutableSet<String?>
  @Persisted var doubles: MutableSet<Double>
  @Persisted var floats: MutableSet<Float>
  @Persisted var dates: MutableSet<Date>
  @Persisted var decimals: MutableSet<Decimal128>
  @Persisted var mixed: MutableSet<AnyRealmValue>
  @Persisted var words: MutableSet<Word>
  @Persisted var list: List<String>
  @Persisted var numbers: Map<String, Int>
  @Persisted var any: AnyRealmValue
  @Persisted var anyList: List<AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private struct Word: CustomPersistable, Hashable {
  typealias PersistedType = String
  let text: String
  init(_ text: String) { self.text = text }
  init(persistedValue: String) { text = persistedValue }
  var persistableValue: String { text }
}

/// One text for Swift, two for a file.
private let composed = "\u{e9}"
private let decomposed = "e\u{301}"
private let otherNaN = -Double.nan

@Suite(.ownThreads) struct StoredEqualityTests {
  /// The sizes of a set that grows value by value, in memory, in a file, and added full.
  private func sizes<Value: RealmCollectionValue>(
    _ values: [Value], _ path: ReferenceWritableKeyPath<Holder, MutableSet<Value>>
  ) throws -> [[Int]] {
    let realm = try memoryRealm([Holder.self])
    let (inMemory, added, updated) = (Holder(), Holder(), Holder())
    var grown: [Int] = []
    for value in values {
      inMemory[keyPath: path].insert(value)
      grown.append(inMemory[keyPath: path].count)
    }
    added[keyPath: path].insert(objectsIn: values)
    var managed: [Int] = []
    try realm.write {
      realm.add([added, updated])
      for value in values {
        updated[keyPath: path].insert(value)
        managed.append(updated[keyPath: path].count)
        #expect(updated[keyPath: path].contains(value))
        #expect(inMemory[keyPath: path].contains(value))
      }
      realm.add(inMemory)
    }
    #expect(inMemory[keyPath: path].count == managed.last)
    #expect(added[keyPath: path].count == managed.last)
    return [grown, managed]
  }

  @Test func setsInMemoryAreThoseOfAFile() throws {
    let two = [[1, 2, 2], [1, 2, 2]]
    #expect(try sizes([composed, decomposed, composed], \.texts) == two)
    #expect(
      try sizes([composed, decomposed, nil, nil], \.optionals) == [[1, 2, 3, 3], [1, 2, 3, 3]])
    #expect(try sizes([Word(composed), Word(decomposed), Word(composed)], \.words) == two)
    #expect(
      try sizes([0.0, -0.0, .nan, otherNaN, .infinity, 1], \.doubles)
        == [[1, 1, 2, 2, 3, 4], [1, 1, 2, 2, 3, 4]])
    #expect(try sizes([Float.nan, -.nan, 0, -0.0], \.floats) == [[1, 1, 2, 2], [1, 1, 2, 2]])
    let dates = [Double.nan, otherNaN, 5].map { Date(timeIntervalSinceReferenceDate: $0) }
    #expect(try sizes(dates, \.dates) == [[1, 1, 2], [1, 1, 2]])
    let decimals = try ["1.0", "1.00", "NaN", "-NaN", "0", "-0.0"].map {
      try Decimal128(string: $0)
    }
    #expect(try sizes(decimals, \.decimals) == [[1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 3, 3]])
    let mixed: [AnyRealmValue] = [
      .string(composed), .string(decomposed), .double(.nan), .double(otherNaN), .int(1), .double(1),
      .bool(true), .none, .none, .data(Data(composed.utf8)), .decimal128(1), .decimal128("1.0"),
      .string(composed),
    ]
    let grown = [1, 2, 3, 3, 4, 5, 6, 7, 7, 8, 9, 9, 9]
    #expect(try sizes(mixed, \.mixed) == [grown, grown])
  }

  /// Numbers that are equal in a collection of their own type are so among values of any type.
  @Test func equalNumbersAmongMixedValues() throws {
    let day = Date(timeIntervalSinceReferenceDate: 0)
    let sameDay = Date(timeIntervalSinceReferenceDate: -0.0)
    let values: [AnyRealmValue] = [
      .double(-0.0), .double(0), .float(-0.0), .float(0), .date(sameDay), .date(day),
      .decimal128("1.10"), .decimal128("1.1"),
    ]
    let grown = [1, 1, 2, 2, 3, 3, 4, 4]
    #expect(try sizes(values, \.mixed) == [grown, grown])
    let realm = try memoryRealm([Holder.self])
    let (inMemory, managed) = (Holder(), Holder())
    try realm.write { realm.add(managed) }
    try realm.write {
      for holder in [inMemory, managed] {
        holder.anyList.append(objectsIn: values)
        holder.anyList.append(.double(1))
        let found = values.map { holder.anyList.index(of: $0) }
        #expect(found == [0, 0, 2, 2, 4, 4, 6, 6])
        #expect(values.allSatisfy { holder.anyList.contains($0) })
        #expect(holder.anyList.index(of: .double(1)) == 8)
        #expect(holder.anyList.index(of: .decimal128(0)) == nil)
        holder.mixed.insert(objectsIn: values)
        holder.mixed.remove(.double(-0.0))
        holder.mixed.remove(.decimal128("1.1000"))
        #expect(holder.mixed.count == 2 && !holder.mixed.contains(.double(0)))
      }
    }
    let filtered = managed.anyList.where { $0 != .double(1) }
    #expect(values.map { filtered.index(of: $0) } == [0, 0, 2, 2, 4, 4, 6, 6])
  }

  @Test func mixedTextsAreWhatTheirBytesAre() {
    let (left, right) = (AnyRealmValue.string(composed), AnyRealmValue.string(decomposed))
    #expect(left != right && left == .string(composed))
    #expect(Set([left, right, left]).count == 2)
    #expect(AnyRealmValue.fromArray([left]) != .fromArray([right]))
    #expect(
      AnyRealmValue.fromDictionary([composed: .int(1)]) != .fromDictionary([decomposed: .int(1)]))
  }

  @Test func removingTakesTheVeryOne() {
    let set = MutableSet<String>()
    set.insert(objectsIn: [composed, decomposed, "x"])
    set.remove(decomposed)
    #expect(set.map { Array($0.utf8) } == [Array(composed.utf8), Array("x".utf8)])
    let doubles = MutableSet<Double>()
    doubles.insert(objectsIn: [.nan, 1])
    doubles.remove(otherNaN)
    #expect(Array(doubles) == [1])
    #expect(set != MutableSet<String>() && set.isSubset(of: set))
  }

  @Test func mapsInMemoryAreThoseOfAFile() throws {
    let realm = try memoryRealm([Holder.self])
    let (map, holder) = (Map<String, Int>(), Holder())
    map[composed] = 1
    map[decomposed] = 2
    holder.numbers[composed] = 1
    holder.numbers[decomposed] = 2
    #expect(map.count == 2 && map[composed] == 1 && map[decomposed] == 2 && map == holder.numbers)
    try realm.write {
      realm.add(holder)
      #expect(holder.numbers.count == 2)
      let copy = realm.create(Holder.self, value: holder)
      #expect(copy.numbers.count == 2 && copy.numbers[decomposed] == 2)
      let filled = realm.create(Holder.self)
      filled.numbers = map
      #expect(filled.numbers[composed] == 1 && filled.numbers[decomposed] == 2)
    }
    let detached = Holder(value: holder)
    #expect(detached.numbers.count == 2)
    detached.numbers.removeObject(for: composed)
    #expect(detached.numbers.count == 1 && detached.numbers[decomposed] == 2)
    let coded = try JSONDecoder().decode(
      Map<String, Int>.self, from: JSONEncoder().encode(["a": 1]))
    #expect(coded["a"] == 1)
  }

  @Test func dictionariesInsideOfMixedValues() throws {
    let realm = try memoryRealm([Holder.self])
    let holder = Holder()
    let map = Map<String, AnyRealmValue>()
    map[composed] = .int(1)
    map[decomposed] = .int(2)
    holder.any = .dictionary(map)
    try realm.write {
      realm.add(holder)
      let nested = try #require(holder.any.dictionaryValue)
      #expect(nested.count == 2)
      nested["x"] = .int(3)
      #expect(nested.count == 3 && nested[composed] == .int(1) && nested[decomposed] == .int(2))
      nested.removeObject(for: decomposed)
      #expect(nested.count == 2 && nested[composed] == .int(1))
    }
    #expect(holder.any == .dictionary(try #require(holder.any.dictionaryValue)))
  }

  @Test func positionsInLists() throws {
    let realm = try memoryRealm([Holder.self])
    let holder = Holder()
    holder.list.append(objectsIn: [composed, decomposed])
    #expect(holder.list.index(of: decomposed) == 1 && holder.list.firstIndex(of: decomposed) == 1)
    let other = List<String>()
    other.append(objectsIn: [decomposed, composed])
    #expect(holder.list != other)
    let numbers = List<Double>()
    numbers.append(objectsIn: [1, .nan])
    #expect(numbers.contains(otherNaN) && !List.of("a", composed).contains(decomposed))
    #expect(numbers.index(of: otherNaN) == 1 && numbers == List.of(1, .nan))
    try realm.write { realm.add(holder) }
    #expect(holder.list.index(of: decomposed) == 1)
    #expect(holder.list.value(forKeyPath: "@distinctUnionOfObjects.self") as? [String] != nil)
    #expect((holder.list.value(forKeyPath: "@distinctUnionOfObjects.self") as? [Any])?.count == 2)
  }

  /// An update that gives a set the other zero, which is the same element, keeps it.
  @Test func updatingASetByTheOtherZero() throws {
    let realm = try memoryRealm([Zeros.self])
    try realm.write { _ = realm.create(Zeros.self, value: ["id": 1, "set": [0.0, 2]]) }
    try realm.write {
      realm.create(Zeros.self, value: ["id": 1, "set": [-0.0, 2]], update: .modified)
    }
    #expect(realm.objects(Zeros.self).first.map { Array($0.set) } == [0, 2])
  }

  @Test func observersOfMapsTellTextsApart() async {
    let watched = await WatchedRealm(memoryConfiguration([Holder.self]))
    await watched.run { watched in
      let holder = Holder()
      holder.numbers[composed] = 1
      try watched.realm.write { watched.realm.add(holder) }
      watched.tokens.append(
        holder.numbers.observe { change in
          if case .update(_, let deletions, let insertions, let modifications) = change {
            let names = [deletions, insertions, modifications].map { $0.map(\.utf8.count) }
            watched.note("\(names)")
          }
        })
    }
    await watched.expectTold([])
    await watched.write { realm in
      realm.objects(Holder.self)[0].numbers.removeObject(for: composed)
      realm.objects(Holder.self)[0].numbers[decomposed] = 1
    }
    await watched.expectTold(["[[2], [3], []]"], afterCalls: 1)
  }
}

private class Zeros: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var set: MutableSet<Double>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension List {
  fileprivate static func of(_ elements: Element...) -> List {
    let list = List()
    list.append(objectsIn: elements)
    return list
  }
}
