// Properties with observers, restricted access, unusual names and other names in the file, and the
// facts that schemas tell of them.
import Foundation
import RealmSwift
import TestSupport
import Testing

private protocol OddlyNamed: AnyObject {
  var name: String { get set }
}

private class Odd: Object, OddlyNamed {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = "a"
  @Persisted private var secret = 3
  @Persisted private(set) var readable = 4
  @Persisted private var stateCode = 1
  @Persisted var watched = 1 { didSet { changes += 1 } }
  @Persisted var announced = 1 { willSet { changes += newValue } }
  @Persisted var 数据 = "u"
  @Persisted var `class` = "kw"
  @Persisted var émoji = 1
  @Persisted var _under = 2
  @Persisted var camelCase_and_snake = 3
  var changes = 0
  var state: Int {
    get { stateCode * 10 }
    set { stateCode = newValue / 10 }
  }
  lazy var greeting = "hello \(name)"
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class OddFacts: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var maybes: List<Int?>
  @Persisted var any: AnyRealmValue
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var anySet: MutableSet<AnyRealmValue>
  @Persisted var links: Map<String, OddFacts?>
  @Persisted var numbers: Map<String, Int?>
  @Persisted var set: MutableSet<OddFacts>
  @Persisted var link: OddFacts?
  @Persisted var part: OddPart?
  @Persisted var parts: List<OddPart>
  @Persisted(indexed: true) var indexed: Int?
  @Persisted(originProperty: "link") var back: LinkingObjects<OddFacts>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class OddPart: EmbeddedObject, ObjectKeyIdentifiable {
  @Persisted var number: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class OddMapped: Object {
  @Persisted(primaryKey: true) var key: Int
  @Persisted var text: String
  @Persisted var link: OddMapped?
  @Persisted var list: List<OddMapped>
  @Persisted(originProperty: "link") var back: LinkingObjects<OddMapped>
  override class func propertiesMapping() -> [String: String] {
    ["key": "_id", "text": "db", "link": "lnk"]
  }
  override class func _realmObjectName() -> String? { "StoredMapped" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class MappedText: Projection<OddMapped> {
  @Projected(\OddMapped.text) var title
  @Projected(\OddMapped.text.localizedUppercase) var capitals
  @Projected(\OddMapped.link?.text) var linked
  @Projected(\OddMapped.list.projectTo.text) var texts: ProjectedCollection<String>
}

private final class MappedKey: MappedText {
  @Projected(\OddMapped.key) var number
}

@Suite(.ownThreads) struct AsUsersUnusualPropertyTests {
  @Test func observersAccessAndNames() throws {
    let realm = try memoryRealm([Odd.self])
    let odd = Odd()
    odd.watched = 5
    odd.announced = 3
    odd.state = 70
    #expect(odd.changes == 4 && odd.state == 70)
    try realm.write {
      realm.add(odd)
      odd.watched = 6
      odd["secret"] = 8
      odd.数据 = "v"
      odd.class = "x"
    }
    #expect(odd.changes == 5 && odd["secret"] as? Int == 8 && odd.greeting == "hello a")
    let found = realm.objects(Odd.self).where {
      $0.数据 == "v" && $0.class == "x" && $0._under == 2 && $0.émoji == 1
    }
    let text =
      "数据 == 'v' AND class == 'x' AND _under == 2 AND émoji == 1 AND camelCase_and_snake == 3"
    #expect(found.count == 1 && realm.objects(Odd.self).filter(text).count == 1)
    #expect(found.first?.changes == 0)
    #expect(
      odd.objectSchema.properties.map(\.name).prefix(4) == ["id", "name", "secret", "readable"])
    func greet(_ named: any OddlyNamed & Object) -> Bool { named.name == "a" && named.realm != nil }
    #expect(greet(odd))
  }

  @Test func factsOfEveryKindOfProperty() {
    let schema = OddFacts().objectSchema
    let names = [
      "id", "maybes", "any", "anys", "anySet", "links", "numbers", "set", "link", "part", "parts",
      "indexed", "back",
    ]
    let facts = names.map { name -> String in
      let property = schema[name]!
      let kinds = [
        (property.isOptional, "?"), (property.isArray, "[]"), (property.isSet, "{}"),
        (property.isMap, "<>"), (property.isIndexed, "!"),
      ]
      let marks = kinds.filter(\.0).map(\.1).joined()
      return "\(property.type)\(marks) \(property.objectClassName ?? "-")"
    }
    #expect(
      facts == [
        "object id! -", "int?[] -", "mixed? -", "mixed?[] -", "mixed?{} -", "object?<> OddFacts",
        "int?<> -", "object{} OddFacts", "object? OddFacts", "object? OddPart", "object[] OddPart",
        "int?! -", "linking objects[] OddFacts",
      ])
  }

  @Test func identitiesOfPartsAndObjects() throws {
    let realm = try memoryRealm([OddFacts.self, OddPart.self])
    let object = OddFacts()
    try realm.write {
      realm.add(object)
      object.parts.append(objectsIn: [OddPart(), OddPart()])
    }
    let first = object.parts[0]
    #expect(first.id != object.parts[1].id && first.id == object.parts[0].id)
    #expect(first.freeze().id == first.id)
    // A property of this name is what the program sees.
    let own: ObjectId = object.id
    #expect(own == object.freeze().id)
  }

  @Test func otherNamesInTheFile() throws {
    let realm = try memoryRealm([OddMapped.self])
    try realm.write {
      let first = realm.create(OddMapped.self, value: ["key": 1, "text": "x"])
      let second = realm.create(
        OddMapped.self, value: ["key": 2, "text": "y", "link": first, "list": [first]])
      second["text"] = "z"
      #expect(first.back.first == second)
    }
    let all = realm.objects(OddMapped.self)
    #expect(
      realm.schema["StoredMapped"]?.properties.map(\.columnName) == ["_id", "db", "lnk", "list"])
    #expect(realm.schema["StoredMapped"]?.primaryKeyProperty?.name == "key")
    #expect(all.filter("text == 'z' AND link.text == 'x' AND ANY list.text == 'x'").count == 1)
    #expect(all.where { $0.text == "z" && $0.link.text == "x" }.count == 1)
    #expect(all.sorted(by: \.link?.text).map(\.key) == [1, 2] && all.max(of: \.key) == 2)
    #expect(all.value(forKey: "text") as? [String] == ["x", "z"])
    #expect(all[1].value(forKeyPath: "link.text") as? String == "x")
    #expect(all[0].description.contains("text = x"))
    let dynamic = realm.dynamicObject(ofType: "StoredMapped", forPrimaryKey: 2)
    #expect(dynamic?["text"] as? String == "z")
    try realm.write {
      realm.create(OddMapped.self, value: ["key": 1, "text": "new"], update: .modified)
    }
    #expect(all[0].text == "new" && all.sectioned(by: \.text).count == 2)
  }

  @Test func projectionsInOrderAndSections() throws {
    let realm = try memoryRealm([OddMapped.self])
    try realm.write {
      let first = realm.create(OddMapped.self, value: ["key": 1, "text": "x"])
      realm.create(OddMapped.self, value: [2, "z", first, [first]] as [Any])
    }
    let all = realm.objects(MappedKey.self)
    #expect(all.sorted(by: \.number, ascending: false).map(\.title) == ["z", "x"])
    #expect(all.sorted(by: \.linked).map(\.number) == [1, 2])
    #expect(all.sorted(by: \.capitals).map(\.capitals) == ["X", "Z"])
    #expect(all.sectioned(by: \.title, ascending: false).allKeys == ["z", "x"])
    #expect(all.sectioned(by: \.number, sortDescriptors: ["key"]).allKeys == [1, 2])
    #expect(all.last.map { Array($0.texts) } == ["x"])
    func largest<T: KeypathSortable>(_: T.Type) -> Bool { true }
    #expect(largest(OddMapped.self) && largest(MappedKey.self))
  }
}
