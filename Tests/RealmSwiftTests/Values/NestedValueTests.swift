// Lists and dictionaries inside of mixed values: live in a Realm, plain values outside of one.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

/// Mixed values in every place.
private class Document: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var content: AnyRealmValue
  @Persisted var rows: List<AnyRealmValue>
  @Persisted var fields: Map<String, AnyRealmValue>
  @Persisted var parts: MutableSet<AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Links to another one before its mixed value.
private class Chapter: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var next: Chapter?
  @Persisted var content: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct NestedValueTests {
  private func document() throws -> (Realm, Document) {
    let realm = try memoryRealm([Document.self, Dog.self])
    return (realm, try realm.write { realm.create(Document.self, value: ["id": 1]) })
  }

  @Test func unmanagedDictionaries() {
    let value = AnyRealmValue.fromDictionary(["a": .int(1), "b": .fromArray([.bool(true)])])
    #expect(value.dictionaryValue?["a"] == .int(1) && value.listValue == nil)
    #expect(value == .fromDictionary(["b": .fromArray([.bool(true)]), "a": .int(1)]))
    #expect(value != .fromDictionary(["a": .int(1)]) && value != .fromArray([.int(1)]))
    #expect(
      value.hashValue
        == AnyRealmValue.fromDictionary(["b": .fromArray([.bool(true)]), "a": .int(1)]).hashValue
    )
    let document = Document(value: ["content": ["x": [1, ["y": NSNull()]]] as [String: Any]])
    #expect(document.content.dictionaryValue?["x"]?.listValue?[0] == .int(1))
    document.content.dictionaryValue?["z"] = .string("added")
    #expect(document.content.dictionaryValue?.keys == ["x", "z"])
    #expect(document.description.contains("[z]: added"))
  }

  @Test func survivesReopening() throws {
    let folder = TemporaryFolder()
    let value = AnyRealmValue.fromDictionary([
      "list": .fromArray([.int(1), .fromDictionary(["deep": .none, "": .string("empty key")])]),
      "date": .date(Date(timeIntervalSince1970: 5)), "none": .none, "empty": .fromDictionary([:]),
    ])
    try onEachOpening(folder.configuration("documents.realm", [Document.self])) { realm in
      try realm.write {
        let document = realm.create(Document.self, value: ["id": 1, "content": value])
        document.rows.append(objectsIn: [.int(0), value])
        document.fields["v"] = value
      }
    } second: { realm in
      let document = try #require(realm.objects(Document.self).first)
      #expect(document.content == value && document.rows[1] == value)
      #expect(document.fields["v"] == value)
      #expect(document.content.dictionaryValue?.keys == ["date", "empty", "list", "none"])
      #expect(
        document.rows[1].dictionaryValue?["list"]?.listValue?[1].dictionaryValue?[""]
          == .string("empty key"))
      #expect(Document(value: document).content == value)
    }
  }

  @Test func listsAreLive() throws {
    let (realm, document) = try document()
    try realm.write { document.content = .fromArray([.int(1), .fromArray([.int(2)])]) }
    let list = try #require(document.content.listValue)
    let inner = try #require(list[1].listValue)
    #expect(list.realm == realm && !list.isInvalidated && list == document.content.listValue)
    try realm.write {
      list.append(.string("end"))
      inner.append(objectsIn: [.int(3), .int(4)])
      inner.insert(.int(9), at: 0)
      inner.remove(at: 1)
      inner[0] = .bool(true)
      inner.move(from: 0, to: 2)
      inner.swapAt(0, 1)
    }
    #expect(list.count == 3 && inner.map(\.self) == [.int(4), .int(3), .bool(true)])
    #expect(inner.index(of: .int(3)) == 1 && list.first == .int(1) && list.last == .string("end"))
    let frozen = list.freeze()
    try realm.write {
      list.removeFirst()
      #expect(list[0].listValue?.count == 3)
      list[0].listValue?.removeAll()
    }
    #expect(frozen.count == 3 && frozen[1].listValue?.count == 3 && frozen[1].listValue!.isFrozen)
    #expect(frozen.thaw()?.count == 2 && list[0].listValue?.isEmpty == true)
    // The place is a number now.
    try realm.write { document.content = .int(5) }
    #expect(list.isInvalidated && frozen.thaw() == nil)
  }

  /// Sorting writes the mixed value once, at its end; each change of an element would write all of
  /// it.
  @Test func sortingWritesOnce() throws {
    let (realm, document) = try document()
    let start: [AnyRealmValue] = [.int(3), .fromArray([.int(7)]), .int(1), .string("x"), .int(2)]
    func number(_ value: AnyRealmValue) -> Int {
      value.intValue ?? (value.listValue?.count ?? 5) * 9
    }
    try realm.write {
      document.content = .fromArray(start)
      var list = try #require(document.content.listValue)
      let same = try #require(document.content.listValue)
      var isUnchanged = true
      list.sort { left, right in
        isUnchanged = isUnchanged && same.first == .int(3) && same.last == .int(2)
        return number(left) < number(right)
      }
      #expect(isUnchanged)
      #expect(
        Array(same) == [.int(1), .int(2), .int(3), .fromArray([.int(7)]), .string("x")])
      let pivot = list.partition { number($0) < 3 }
      #expect(pivot == 3 && Set(list[pivot...].compactMap(\.intValue)) == [1, 2])
      list.reverse()
      #expect(Set(list.prefix(2).compactMap(\.intValue)) == [1, 2])
      // What stops on the way has changed nothing.
      struct Refused: Error {}
      let before = Array(list)
      #expect(throws: Refused.self) { try list.sort { _, _ in throw Refused() } }
      #expect(Array(list) == before)
    }
    var plain = List<AnyRealmValue>()
    plain.append(objectsIn: start)
    plain.sort { number($0) < number($1) }
    #expect(plain.first == .int(1) && plain.last == .string("x"))
  }

  @Test func dictionariesAreLive() throws {
    let (realm, document) = try document()
    try realm.write { document.content = .fromDictionary(["a": .int(1)]) }
    let map = try #require(document.content.dictionaryValue)
    try realm.write {
      map["list"] = .fromArray([])
      map["list"]?.listValue?.append(.int(7))
      map["map"] = .fromDictionary(["k": .none])
      map["map"]?.dictionaryValue?["k"] = .string("v")
      map["map"]?.dictionaryValue?["gone"] = .int(1)
      map["map"]?.dictionaryValue?.removeObject(for: "gone")
      map["a"] = nil
    }
    #expect(map.count == 2 && map.keys == ["list", "map"] && map.realm == realm)
    #expect(map["list"]?.listValue?.first == .int(7) && map["a"] == nil)
    #expect(map["map"] == .fromDictionary(["k": .string("v")]))
    #expect(map.asKeyValueSequence().map(\.key) == ["list", "map"])
    let frozen = map.freeze()
    try realm.write { map.removeAll() }
    #expect(map.isEmpty && frozen.count == 2 && frozen.isFrozen)
    #expect(frozen["map"]?.dictionaryValue?.isFrozen == true)
  }

  /// A merge writes the mixed value once: until then the dictionary is as it was.
  @Test func mergingWritesOnce() throws {
    struct Refused: Error {}
    let (realm, document) = try document()
    try realm.write {
      document.content = .fromArray([
        .int(0), .fromDictionary(["b": .int(1), "d": .int(2)]), .none,
      ])
      let map = try #require(document.content.listValue?[1].dictionaryValue)
      var counts: [Int] = []
      let added: [(String, AnyRealmValue)] = [
        ("e", .int(3)), ("", .string("first")), ("c", .fromArray([.int(4)])), ("b", .int(5)),
        ("e", .int(6)), ("d", .object(Dog())),
      ]
      map.merge(added) { old, new in
        counts.append(map.count)
        return new == .int(6) ? old : new
      }
      #expect(counts == [2, 2, 2])
      #expect(map.keys == ["", "b", "c", "d", "e"] && map["b"] == .int(5) && map["e"] == .int(3))
      #expect(map["c"] == .fromArray([.int(4)]) && map[""] == .string("first"))
      #expect(map["d"]?.object(Dog.self)?.realm == realm)
      #expect(document.content.listValue?.count == 3 && document.content.listValue?[0] == .int(0))
      // Into an empty one, from itself, nothing at all.
      document.fields["x"] = .fromDictionary([:])
      let other = try #require(document.fields["x"]?.dictionaryValue)
      other.merge(map) { $1 }
      other.merge(other) { $1 }
      other.merge([(String, AnyRealmValue)]()) { $1 }
      #expect(other.keys == map.keys && other["c"] == map["c"])
      // What came before an error is kept, as in a dictionary.
      #expect(throws: Refused.self) {
        try other.merge([("q", .int(1)), ("b", .int(2)), ("r", .int(3))]) { _, _ in throw Refused()
        }
      }
      #expect(other.keys == ["", "b", "c", "d", "e", "q"] && other["b"] == .int(5))
    }
  }

  @Test func insideOfCollections() throws {
    let (realm, document) = try document()
    try realm.write {
      document.rows.append(objectsIn: [.fromArray([.int(1)]), .fromDictionary(["a": .int(1)])])
      document.rows[0].listValue?.append(.int(2))
      document.rows[1].dictionaryValue?["b"] = .int(2)
      document.fields["f"] = .fromArray([])
      document.fields["f"]?.listValue?.append(.string("x"))
    }
    #expect(document.rows[0] == .fromArray([.int(1), .int(2)]))
    #expect(document.rows[1] == .fromDictionary(["a": .int(1), "b": .int(2)]))
    #expect(document.fields["f"] == .fromArray([.string("x")]))
    for row in document.rows {
      #expect(row.listValue?.realm ?? row.dictionaryValue?.realm == realm)
    }
  }

  @Test func linksInsideAreKept() throws {
    let (realm, document) = try document()
    try realm.write {
      document.content = .fromDictionary([
        "dogs": .fromArray([.object(Dog(value: ["name": "first"]))])
      ])
      let dogs = try #require(document.content.dictionaryValue?["dogs"]?.listValue)
      dogs.append(.object(Dog(value: ["name": "second"])))
      document.rows.append(document.content)
    }
    #expect(realm.objects(Dog.self).count == 2)
    let dogs = try #require(document.rows[0].dictionaryValue?["dogs"]?.listValue)
    #expect(dogs[1].object(Dog.self)?.name == "second")
    try realm.write { realm.delete(realm.objects(Dog.self)[0]) }
    #expect(dogs[0] == .none && dogs.count == 2)
    #expect(document.content.dictionaryValue?["dogs"]?.listValue?[0] == AnyRealmValue.none)
    #expect(try realm.checkInvariants().findings == [])
  }

  /// A new object is written behind the one whose content it takes.
  @Test func contentOfAnObjectThatIsOverwritten() throws {
    let realm = try memoryRealm([Chapter.self])
    let first = try realm.write {
      realm.create(Chapter.self, value: ["id": 1, "content": [1, 2]] as [String: Any])
    }
    let (update, new) = (Chapter(value: ["id": 1]), Chapter(value: ["id": 2]))
    new.content = first.content
    update.next = new
    update.content = .int(5)
    try realm.write { realm.add(update, update: .all) }
    #expect(first.content == .int(5) && first.next?.id == 2)
    #expect(first.next?.content == .fromArray([.int(1), .int(2)]))
  }

  @Test func rollbackRestoresThem() throws {
    let (realm, document) = try document()
    try realm.write { document.content = .fromArray([.int(1)]) }
    let list = try #require(document.content.listValue)
    realm.beginWrite()
    list.append(.int(2))
    realm.cancelWrite()
    #expect(list.count == 1 && document.content == .fromArray([.int(1)]))
  }

  @Test func queriesLookInside() throws {
    let realm = try memoryRealm([Document.self, Dog.self])
    try realm.write {
      for id in 0..<5 {
        realm.create(
          Document.self,
          value: [
            "id": id,
            "content": ["n": id, "list": Array(0..<id), "in": ["side": "s\(id)"]] as [String: Any],
          ] as [String: Any])
      }
    }
    let documents = realm.objects(Document.self)
    func ids(_ results: Results<Document>) -> [Int] { results.map(\.id) }
    #expect(ids(documents.where { $0.content["n"] == .int(3) }) == [3])
    #expect(ids(documents.where { $0.content["n"] > .int(2) }) == [3, 4])
    #expect(ids(documents.where { $0.content["in"]["side"].starts(with: .string("s4")) }) == [4])
    #expect(ids(documents.where { $0.content["list"][1] == .int(1) }) == [2, 3, 4])
    #expect(ids(documents.where { $0.content["list"].any == .int(2) }) == [3, 4])
    #expect(ids(documents.filter("content['list'][*] == 3")) == [4])
    #expect(ids(documents.filter("content['in']['side'] == %@", "s1")) == [1])
    let whole = AnyRealmValue.fromArray([.int(0), .int(1)])
    #expect(ids(documents.where { $0.content["list"] == whole }) == [2])
  }

  @Test func aggregates() throws {
    let (realm, document) = try document()
    let numbers: [AnyRealmValue] = [
      .int(1), .double(2.5), .string("9"), .none, .decimal128(3), .bool(true),
    ]
    try realm.write {
      document.content = .fromArray(numbers)
      document.rows.append(objectsIn: numbers)
      document.fields["a"] = .int(4)
      document.fields["b"] = .double(0.5)
    }
    let plain = List<AnyRealmValue>()
    plain.append(objectsIn: numbers)
    let nested = try #require(document.content.listValue)
    for list in [plain, nested, document.rows] {
      #expect(list.sum() == .decimal128(6.5) && list.min() == .int(1))
      #expect(list.max() == .decimal128(3))
      #expect(list.average() == Decimal128(6.5) / 3)
    }
    #expect(document.fields.sum() == .decimal128(4.5) && document.fields.max() == .int(4))
    let map = try #require(AnyRealmValue.fromDictionary(["a": .int(1)]).dictionaryValue)
    #expect(map.sum() == .decimal128(1) && map.average() == Decimal128(1))
  }

  @Test func stops() async {
    let outside = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, document) = try NestedValueTests().document()
      try realm.write { document.content = .fromArray([.int(1)]) }
      document.content.listValue?.append(.int(2))
    }
    expectStop(outside, "Cannot modify managed objects outside of a write transaction.")
    let set = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, document) = try NestedValueTests().document()
      try realm.write { document.parts.insert(.fromArray([])) }
    }
    expectStop(set, "A set cannot hold values that are lists or dictionaries.")
    let bounds = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, document) = try NestedValueTests().document()
      try realm.write { document.content = .fromArray([.int(1)]) }
      print(document.content.listValue![1])
    }
    expectStop(bounds, "Index 1 is out of bounds (must be less than 1).")
    let deep = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, document) = try NestedValueTests().document()
      let list = List<AnyRealmValue>()
      list.append(.list(list))
      try realm.write { document.content = .list(list) }
    }
    expectStop(deep, "can be nested at most 100 deep.")
    let deeper = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      // One inside of the other, each of them when that is stored already.
      let (realm, document) = try NestedValueTests().document()
      try realm.write {
        document.content = .fromArray([])
        var list = document.content.listValue!
        for _ in 1..<100 {
          list.append(.fromArray([]))
          list = list[0].listValue!
        }
        FileHandle.standardError.write(Data("a hundred\n".utf8))
        list.append(.fromArray([]))
      }
    }
    expectStop(deeper, "can be nested at most 100 deep.")
    let said = String(decoding: deeper?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("a hundred"))
    let gone = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, document) = try NestedValueTests().document()
      try realm.write { document.content = .fromArray([.int(1)]) }
      let list = document.content.listValue!
      try realm.write { document.content = .none }
      print(list.count)
    }
    expectStop(gone, "Object has been deleted or invalidated.")
  }
}
