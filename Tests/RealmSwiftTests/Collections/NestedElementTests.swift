// Lists and dictionaries inside of a collection of mixed values, when that collection is changed by
// means of its own elements: each change takes their content from before it.
import RealmSwift
import TestSupport
import Testing

/// Mixed values that are moved around.
private class MixedShelf: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var label: AnyRealmValue
  @Persisted var note: AnyRealmValue
  @Persisted var rows: List<AnyRealmValue>
  @Persisted var fields: Map<String, AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct NestedElementTests {
  private let realm: Realm
  private let shelf: MixedShelf

  private static var first: AnyRealmValue { .fromArray([.int(1), .fromArray([.int(2)])]) }
  private static var second: AnyRealmValue { .fromDictionary(["key": .fromArray([.bool(true)])]) }
  private static var third: AnyRealmValue { .fromArray([]) }

  init() throws {
    let realm = try memoryRealm([MixedShelf.self])
    self.realm = realm
    shelf = try realm.write {
      let shelf = realm.create(MixedShelf.self, value: ["id": 1])
      shelf.rows.append(objectsIn: [Self.first, Self.second, Self.third, .int(4)])
      shelf.fields["a"] = Self.first
      shelf.fields["b"] = Self.second
      shelf.label = Self.first
      shelf.note = Self.second
      return shelf
    }
  }

  /// Checks the rows, now and after the commit.
  private func expectRows(
    _ expected: [AnyRealmValue], sourceLocation: SourceLocation = #_sourceLocation,
    after change: (List<AnyRealmValue>) -> Void
  ) throws {
    try realm.write {
      change(shelf.rows)
      #expect(Array(shelf.rows) == expected, sourceLocation: sourceLocation)
    }
    #expect(Array(shelf.rows) == expected, sourceLocation: sourceLocation)
  }

  private static func rank(_ value: AnyRealmValue) -> Int {
    switch value {
    case .int: 0
    case .dictionary: 1
    case .list(let list): list.isEmpty ? 2 : 3
    default: 4
    }
  }

  @Test func sorting() throws {
    try expectRows([.int(4), Self.second, Self.third, Self.first]) { rows in
      var rows = rows
      rows.sort { Self.rank($0) < Self.rank($1) }
    }
  }

  @Test func otherOrders() throws {
    try expectRows([.int(4), Self.third, Self.second, Self.first]) { rows in
      var rows = rows
      rows.reverse()
    }
    try expectRows([Self.first, .int(4), Self.third, Self.second]) { rows in
      rows.move(from: 3, to: 0)
    }
    try expectRows([Self.second, .int(4), Self.third, Self.first]) { rows in
      rows.swapAt(0, 3)
    }
  }

  @Test func elementsInPlaceOfOthers() throws {
    try expectRows([Self.first, Self.second, Self.third, .int(4)]) { rows in
      let own = rows[0]
      rows[0] = own
      rows.replace(index: 1, object: rows[1])
    }
    try expectRows([Self.second, Self.second, .fromArray([.int(2)]), .int(4)]) { rows in
      let inner = rows[0].listValue![1]
      rows[2] = inner
      rows[0] = rows[1]
    }
  }

  @Test func ownElementsAgain() throws {
    let all = [Self.first, Self.second, Self.third, .int(4)]
    try expectRows(all + all) { rows in rows.append(objectsIn: Array(rows)) }
    try expectRows([Self.third, Self.second, Self.first] + all + all) { rows in
      rows.insert(contentsOf: [rows[2], rows[1], rows[0]], at: 0)
    }
  }

  @Test func ownElementsInPlaceOfARange() throws {
    try expectRows([Self.third, Self.second, Self.first, .int(4)]) { rows in
      rows.replaceSubrange(0..<3, with: [rows[2], rows[1], rows[0]])
    }
    try realm.write { shelf.label = .fromArray([Self.first, Self.second, .int(3)]) }
    let nested = try #require(shelf.label.listValue)
    try realm.write { nested.replaceSubrange(0..<2, with: [nested[1], nested[0]]) }
    #expect(Array(nested) == [Self.second, Self.first, .int(3)])
  }

  @Test func wholeCollections() throws {
    try expectRows([Self.second, Self.first]) { rows in
      let reversed = List<AnyRealmValue>()
      reversed.append(objectsIn: [rows[1], rows[0]])
      shelf.rows = reversed
    }
    try realm.write {
      let fields = Map<String, AnyRealmValue>()
      fields["a"] = shelf.fields["b"]
      fields["b"] = shelf.fields["a"]
      fields["c"] = shelf.rows[0]
      shelf.fields = fields
    }
    #expect(shelf.fields.count == 3 && shelf.fields["a"] == Self.second)
    #expect(shelf.fields["b"] == Self.first && shelf.fields["c"] == Self.second)
  }

  @Test func mergingEntriesOfTheMapItself() throws {
    try realm.write {
      let entries = [("a", shelf.fields["b"]!), ("b", shelf.fields["a"]!)]
      shelf.fields.merge(entries) { $1 }
    }
    #expect(shelf.fields["a"] == Self.second && shelf.fields["b"] == Self.first)
  }

  @Test func propertiesThatAreSetToOthers() throws {
    try realm.write {
      let label = shelf.label
      shelf.label = label
      shelf.note = shelf.note.dictionaryValue!["key"]!
    }
    #expect(shelf.label == Self.first && shelf.note == .fromArray([.bool(true)]))
  }

  @Test(arguments: [Realm.UpdatePolicy.all, .modified])
  func updatesByTheObjectsOwnValues(_ policy: Realm.UpdatePolicy) throws {
    let newer = MixedShelf()
    newer.id = 1
    newer.label = shelf.note
    newer.note = .fromArray([shelf.label, shelf.rows[1]])
    newer.rows.append(objectsIn: [shelf.rows[1], shelf.rows[0], shelf.label])
    newer.fields["b"] = shelf.fields["a"]
    newer.fields["a"] = shelf.fields["b"]
    try realm.write { realm.add(newer, update: policy) }
    #expect(realm.objects(MixedShelf.self).count == 1)
    #expect(shelf.label == Self.second)
    #expect(shelf.note == .fromArray([Self.first, Self.second]))
    #expect(Array(shelf.rows) == [Self.second, Self.first, Self.first])
    #expect(shelf.fields.count == 2 && shelf.fields["a"] == Self.second)
    #expect(shelf.fields["b"] == Self.first)
  }
}
