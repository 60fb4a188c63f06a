// Properties of the types ObjectId and UUID, as keys too.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct IdentifierPropertyTests {
  private func realm() throws -> Realm {
    try memoryRealm([Note.self, Device.self, OptionalNote.self])
  }

  @Test func eachObjectGetsItsOwnIdentifier() throws {
    let note = Note()
    let id = note.id
    #expect(note.id == id, "a default that was seen stays")
    #expect(Note().id != id && id != ObjectId())
    #expect(note["id"] as? ObjectId == id)
    let device = Device()
    let group = device["group"] as? UUID
    #expect(device.group == group && device.group != Device().group)

    let realm = try realm()
    try realm.write {
      realm.add(note)
      realm.add(device)
      realm.create(Note.self)
      realm.create(Note.self, value: ["text": "b"])
      realm.create(Device.self, value: Device(value: ["name": "c"]))
      realm.create(Device.self)
    }
    #expect(note.id == id && device.group == group)
    #expect(Set(realm.objects(Note.self).map(\.id)).count == 3)
    #expect(Set(realm.objects(Device.self).map(\.id)).count == 3)
    #expect(Set(realm.objects(Device.self).map(\.group)).count == 3)
  }

  @Test func textStandsForAUUID() throws {
    let text = "00112233-4455-6677-8899-AABBCCDDEEFF"
    let realm = try realm()
    let device = try realm.write { realm.create(Device.self, value: ["id": text, "name": "d"]) }
    #expect(device.id.uuidString == text)
    #expect(Device(value: ["group": text.lowercased()]).group == device.id)
  }

  @Test func valuesAreStored() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration("ids.realm", [Note.self, Device.self])
    let author = ObjectId("ff00000000000000000000fe")
    let uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!
    try onEachOpening(configuration) { realm in
      try realm.write {
        let note = realm.create(
          Note.self, value: ["id": ObjectId(), "author": author] as [String: Any])
        #expect(note.author == author)
        note.author = nil
        #expect(note.author == nil)
        note.author = author
        let device = realm.create(Device.self, value: ["id": uuid, "name": "d", "group": uuid])
        #expect(device.owner == nil)
        device.owner = uuid
      }
    } second: { realm in
      let note = realm.object(ofType: Note.self, forPrimaryKey: ObjectId())
      #expect(note?.author == author && note?.id == ObjectId())
      let device = realm.object(ofType: Device.self, forPrimaryKey: uuid)
      #expect(device?.owner == uuid && device?.group == uuid && device?.name == "d")
      #expect(device?.description.contains("group = \(uuid);") == true)
      try realm.write {
        device?.setValue(nil, forKey: "owner")
        device?.setValue(NSUUID(), forKey: "group")
      }
      #expect(device?.owner == nil && device?.group != uuid)
    }
  }

  @Test func objectsAreFoundByTheirIdentifier() throws {
    let realm = try realm()
    let ids = (0..<300).map { _ in ObjectId.generate() }
    try realm.write {
      for (index, id) in ids.enumerated() {
        realm.create(Note.self, value: ["id": id, "text": "\(index)"] as [String: Any])
      }
      realm.create(OptionalNote.self, value: [NSNull(), "none"])
      realm.create(OptionalNote.self, value: [ids[0], "one"] as [Any])
    }
    for (index, id) in ids.enumerated() {
      #expect(realm.object(ofType: Note.self, forPrimaryKey: id)?.text == "\(index)")
    }
    #expect(realm.object(ofType: Note.self, forPrimaryKey: ObjectId()) == nil)
    let missing: ObjectId? = nil
    #expect(realm.object(ofType: OptionalNote.self, forPrimaryKey: missing)?.text == "none")
    #expect(realm.object(ofType: OptionalNote.self, forPrimaryKey: ids[0])?.text == "one")
    try realm.write {
      realm.create(
        Note.self, value: ["id": ids[7], "text": "seven"] as [String: Any], update: .modified)
    }
    #expect(realm.objects(Note.self).count == 300)
    #expect(realm.object(ofType: Note.self, forPrimaryKey: ids[7])?.text == "seven")
  }

  @Test func schemaNamesTheTypes() {
    let schema = Device().objectSchema
    #expect(schema["id"]?.type == .UUID && schema["owner"]?.isOptional == true)
    #expect(schema["owner"]?.isIndexed == true && schema.primaryKeyProperty?.name == "id")
    #expect(Note().objectSchema["author"]?.type == .objectId)
  }

  @Test func anEqualKeyStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Note.self])
      let id = ObjectId("507f1f77bcf86cd799439011")
      try realm.write {
        realm.create(Note.self, value: ["id": id])
        realm.create(Note.self, value: ["id": id])
      }
    }
    expectStop(result, "with an existing primary key value '507f1f77bcf86cd799439011'.")
  }

  @Test func aKeyOfAnotherTypeStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Note.self])
      _ = realm.object(ofType: Note.self, forPrimaryKey: "507f1f77bcf86cd799439011")
    }
    expectStop(
      result,
      "Invalid value '507f1f77bcf86cd799439011' of type 'String' for 'object id' property 'Note.id'."
    )
  }
}

/// Runs a body on a Realm, closes it, and runs another one on the Realm opened again.
func onEachOpening(
  _ configuration: Realm.Configuration, _ first: (Realm) throws -> Void,
  second: (Realm) throws -> Void
) throws {
  try first(Realm(configuration: configuration))
  try second(Realm(configuration: configuration))
}
