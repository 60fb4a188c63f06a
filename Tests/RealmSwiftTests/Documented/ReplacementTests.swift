// What is replaced and what goes with it: embedded objects, mixed values, deletions while going
// through.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ReplacementTests {
  // MARK: - Embedded objects

  @Test func aReplacedEmbeddedObjectIsGone() throws {
    let (realm, library) = try libraryRealm()
    let first = Residence("first")
    try realm.write { library.address = first }
    try realm.write { library.address = Residence("second") }
    #expect(first.isInvalidated && library.address?.city == "second")
    let second = library.address!
    try realm.write { library.address = nil }
    #expect(second.isInvalidated && library.address == nil)
  }

  @Test func embeddedObjectsOfLists() throws {
    let (realm, library) = try libraryRealm()
    let old = Residence("a")
    try realm.write {
      library.branches.append(objectsIn: [old, Residence("b"), Residence("c")])
      library.branches[0] = Residence("z")
    }
    #expect(old.isInvalidated && library.branches.map(\.city) == ["z", "b", "c"])
    let kept = library.branches[2]
    try realm.write {
      library.branches.move(from: 2, to: 0)
      library.branches.remove(at: 1)
    }
    #expect(!kept.isInvalidated && library.branches.map(\.city) == ["c", "b"])
    try realm.write { library["branches"] = [Residence("new")] }
    #expect(kept.isInvalidated && library.branches.map(\.city) == ["new"])
    let last = library.branches[0]
    try realm.write { library.branches.removeAll() }
    #expect(last.isInvalidated && library.branches.isEmpty)
  }

  @Test func embeddedObjectsOfMaps() throws {
    let (realm, library) = try libraryRealm()
    let old = Residence("a")
    try realm.write { library.rooms["x"] = old }
    try realm.write { library.rooms["x"] = Residence("b") }
    #expect(old.isInvalidated && library.rooms["x"]??.city == "b")
    let second = library.rooms["x"]!!
    try realm.write { library.rooms.removeObject(for: "x") }
    #expect(second.isInvalidated && library.rooms["x"] == nil)
  }

  @Test func updatesReplaceEmbeddedObjects() throws {
    let (realm, library) = try libraryRealm()
    try realm.write {
      library.address = Residence("old", 7)
      realm.create(
        Library.self,
        value: [
          "id": 1, "address": ["city": "new"], "branches": [["city": "b1"], ["city": "b2"]],
          "rooms": ["k": ["city": "r"]],
        ] as [String: Any], update: .modified)
    }
    #expect(library.address?.city == "new" && library.branches.map(\.city) == ["b1", "b2"])
    #expect(library.rooms["k"]??.city == "r" && library.volumes.count == 4)
  }

  @Test func theOwnerTakesItsPartsAlong() throws {
    let (realm, library) = try libraryRealm()
    try realm.write {
      library.address = Residence("x")
      library.branches.append(Residence("y"))
    }
    let parts = [library.address!, library.branches[0]]
    try realm.write { realm.delete(library) }
    #expect(parts.allSatisfy(\.isInvalidated) && realm.objects(Volume.self).count == 4)
    #expect(realm.objects(Volume.self).allSatisfy { $0.libraries.isEmpty })
  }

  // MARK: - Mixed values

  @Test func mixedValuesInEveryPlace() throws {
    let (realm, library) = try libraryRealm()
    let values: [AnyRealmValue] = [
      .none, .int(-1), .bool(true), .float(1.5), .double(2.5), .string("s"), .data(Data([1, 2])),
      .date(Date(timeIntervalSince1970: 5.25)), .objectId(ObjectId.generate()), .uuid(UUID()),
      .decimal128(12.5), .object(library.volumes[1]), .fromArray([.int(1), .fromArray([.none])]),
      .fromDictionary(["k": .string("v"), "l": .fromArray([.bool(false)])]),
    ]
    for value in values {
      try realm.write {
        library.extra = value
        library.extras.append(value)
        library.extraMap["k"] = value
      }
      #expect(library.extra == value && library.extras.last == value)
      #expect(library.extraMap["k"] == value)
    }
    #expect(Array(library.extras) == values)
    let plain = values.dropLast(2)
    try realm.write { library.extraSet.insert(objectsIn: plain) }
    #expect(
      library.extraSet.count == plain.count && plain.allSatisfy { library.extraSet.contains($0) })
    try realm.write { realm.delete(library.volumes[1]) }
    #expect(library.extras[11] == .none)
  }

  @Test func mixedValuesFromUntypedOnes() throws {
    let (realm, library) = try libraryRealm()
    let volume = library.volumes[0]
    let inputs: [(Any, AnyRealmValue)] = [
      (5, .int(5)), ("x", .string("x")), (2.5, .double(2.5)), (true, .bool(true)),
      (volume, .object(volume)), (NSNull(), .none),
      ([1, "a"] as [Any], .fromArray([.int(1), .string("a")])),
      (["a": [1]], .fromDictionary(["a": .fromArray([.int(1)])])),
    ]
    for (input, expected) in inputs {
      try realm.write {
        _ = realm.create(
          Library.self, value: ["id": 1, "extra": input, "extras": [input]] as [String: Any],
          update: .modified)
      }
      #expect(library.extra == expected && library.extras.first == expected)
    }
  }

  @Test func queriesOnCollectionsInsideMixedValues() throws {
    let (realm, library) = try libraryRealm()
    try realm.write {
      library.extra = .fromArray([.int(3), .string("b"), .double(1.5), .string("a"), .int(3)])
      library.extras.append(.fromDictionary(["x": .int(1), "y": .int(5), "z": .string("t")]))
    }
    let list = try #require(library.extra.listValue)
    #expect(list.where { $0 > .int(2) }.count == 2)
    #expect(Array(list.filter("SELF == 'a'")) == [.string("a")])
    #expect(list.filter("SELF IN %@", ["a", "b"]).count == 2)
    #expect(list.index(matching: { $0 == .string("b") }) == 1)
    #expect(list.distinct().count == 4)
    let numbersInOrder = list.where { $0 > .int(0) }.sorted(byKeyPath: "self")
    #expect(Array(numbersInOrder) == [.double(1.5), .int(3), .int(3)])
    #expect(
      Array(list.filter("SELF IN {'a', 'b'}").sorted(byKeyPath: "self"))
        == ["a", "b"].map { .string($0) })
    let dictionary = try #require(library.extras[0].dictionaryValue)
    #expect(Array(dictionary.where { $0 >= .int(5) }) == [.int(5)])
    let numbers = list.where { $0 == .int(3) }
    try realm.write { list.remove(at: 0) }
    #expect(numbers.count == 1 && numbers.freeze().count == 1)
    let descending = dictionary.where { $0 > .int(0) }.sorted(byKeyPath: "self", ascending: false)
    #expect(Array(descending) == [.int(5), .int(1)])
  }

  // MARK: - Deleting while going through

  @Test func resultsAreDeletedOneByOne() throws {
    let (realm, library) = try libraryRealm()
    try realm.write {
      for volume in realm.objects(Volume.self).where({ $0.year == 1950 }) { realm.delete(volume) }
    }
    #expect(library.volumes.map(\.isbn) == ["2", "4"] && library.byCode["c1"] == .some(nil))
    try realm.write { for volume in library.volumes { realm.delete(volume) } }
    #expect(library.volumes.isEmpty && realm.objects(Volume.self).isEmpty)
  }

  @Test func listsShrinkFromTheFront() throws {
    let (realm, library) = try libraryRealm()
    var removed: [String] = []
    try realm.write {
      while let first = library.volumes.first {
        removed.append(first.isbn)
        library.volumes.remove(at: 0)
      }
    }
    #expect(removed == ["1", "2", "3", "4"] && realm.objects(Volume.self).count == 4)
  }
}
