// Migrations as programs write them.
import Foundation
import RealmSwift
import TestSupport
import Testing

enum FirstForms {
  class Person: Object {
    @Persisted var firstName = ""
    @Persisted var lastName = ""
    @Persisted var age: String = "7"
    @Persisted var addr: Address?
    @Persisted var dogs: List<Dog>
    override class func _realmObjectName() -> String? { "Person" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class Address: Object {
    @Persisted var street = ""
    override class func _realmObjectName() -> String? { "Address" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class Dog: Object {
    @Persisted var name = ""
    override class func _realmObjectName() -> String? { "Dog" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static let types: [ObjectBase.Type] = [Person.self, Address.self, Dog.self]
}
enum SecondForms {
  class Person: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var fullName = ""
    @Persisted var age: Int = 0
    @Persisted var addr: Address?
    @Persisted(indexed: true) var email: String?
    @Persisted var dogNames: List<String>
    @Persisted var extra: Map<String, AnyRealmValue>
    override class func _realmObjectName() -> String? { "Person" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  class Address: EmbeddedObject {
    @Persisted var street = ""
    override class func _realmObjectName() -> String? { "Address" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static let types: [ObjectBase.Type] = [Person.self, Address.self]
}
func fillFirstForms(_ url: URL) throws {
  let realm = try Realm(configuration: .init(fileURL: url, objectTypes: FirstForms.types))
  try realm.write {
    for i in 0..<3 {
      let p = FirstForms.Person()
      p.firstName = "F\(i)"
      p.lastName = "L\(i)"
      p.age = "\(i * 10)"
      p.addr = FirstForms.Address(value: ["street": "S\(i)"])
      p.dogs.append(FirstForms.Dog(value: ["name": "D\(i)"]))
      realm.add(p)
    }
  }
}

@Suite(.ownThreads) struct AsUsersMigrationTests {
  @Test func stepByStep() throws {
    let folder = TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("forms.realm"))
    try fillFirstForms(url)
    #expect(try schemaVersionAtURL(url) == 0)
    let error = #expect(throws: Realm.Error.self) {
      try Realm(configuration: .init(fileURL: url, objectTypes: SecondForms.types))
    }
    #expect(error?.code == .schemaMismatch)
    nonisolated(unsafe) var seen = 0
    let c = Realm.Configuration(
      fileURL: url, schemaVersion: 3,
      migrationBlock: { migration, old in
        seen = Int(old)
        #expect(migration.oldSchema["Person"]?["firstName"] != nil)
        #expect(migration.newSchema["Person"]?["fullName"] != nil)
        #expect(migration.oldSchema["Dog"] != nil)
        if old < 1 {
          migration.enumerateObjects(ofType: "Person") { oldObject, newObject in
            guard let oldObject, let newObject else { return }
            let first = oldObject["firstName"] as! String, last = oldObject["lastName"] as? String
            newObject["fullName"] = "\(first) \(last!)"
            newObject["id"] = ObjectId.generate()
          }
        }
        if old < 2 {
          migration.enumerateObjects(ofType: SecondForms.Person.className()) { o, n in
            n!["age"] = Int(o!["age"] as! String) ?? -1
            let names = (o!["dogs"] as! List<MigrationObject>).map { $0["name"] as! String }
            n!["dogNames"] = Array(names)
            n!["email"] = names.isEmpty ? nil : "\(names[0])@x"
          }
        }
        if old < 3 { _ = migration.deleteData(forType: "Dog") }
      }, objectTypes: SecondForms.types)
    let realm = try Realm(configuration: c)
    #expect(seen == 0)
    let p = realm.objects(SecondForms.Person.self).sorted(byKeyPath: "fullName")
    #expect(p.map(\.fullName) == ["F0 L0", "F1 L1", "F2 L2"])
    #expect(p.map(\.age) == [0, 10, 20])
    #expect(p[1].dogNames.first == "D1")
    #expect(p[1].email == "D1@x")
    #expect(p[2].addr?.street == "S2")
    #expect(Set(p.map(\.id)).count == 3)
    #expect(realm.schema["Dog"] == nil)
    #expect(try schemaVersionAtURL(url) == 3)
    #expect(realm.configuration.schemaVersion == 3)
  }

  @Test func renamedDeletedAndMade() throws {
    let folder = TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("forms.realm"))
    try fillFirstForms(url)
    let c = Realm.Configuration(
      fileURL: url, schemaVersion: 1,
      migrationBlock: { m, _ in
        m.renameProperty(onType: "Person", from: "firstName", to: "fullName")
        m.enumerateObjects(ofType: "Person") { o, n in
          let n = n!
          n["id"] = ObjectId.generate()
          n["age"] = 1
          if o?["firstName"] as? String == "F1" {
            // It becomes embedded, but is an object of its own until the end.
            if let address = n["addr"] as? MigrationObject { m.delete(address) }
            m.delete(n)
            return
          }
          #expect(n.fullName as? String == o!.firstName as? String)
          n["email"] = "e"
          #expect(n["addr"] != nil)
          (n["addr"] as! DynamicObject)["street"] = "new"
          #expect(o!.objectSchema.className == "Person")
          _ = o!.value(forKey: "age")
          n.setValue(5, forKey: "age")

        }
        let made = m.create(
          "Person",
          value: ["id": ObjectId.generate(), "fullName": "made", "age": 3, "addr": ["street": "z"]])
        #expect(made["fullName"] as? String == "made")
      }, objectTypes: SecondForms.types)
    try Realm.performMigration(for: c)
    let r = try Realm(configuration: c)
    #expect(r.objects(SecondForms.Person.self).map(\.fullName).sorted() == ["F0", "F2", "made"])
    #expect(r.objects(SecondForms.Person.self).filter("addr.street == 'new'").count == 2)
    #expect(r.objects(SecondForms.Person.self).filter("age = 5").count == 2)
  }

}
