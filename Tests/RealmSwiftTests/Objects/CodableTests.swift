// Objects in and out of JSON, and the identity that interfaces use.
import Foundation
import RealmSwift
import Testing

/// What the compiler makes of `Codable` for persisted properties.
class Memo: Object, Codable, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var text: String
  @Persisted var rating: Double?
}

/// Its identifier is made with it.
private class Letter: Object, Codable {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var text: String
}

@Suite struct CodableTests {
  @Test func objectsAreDecodedAndEncoded() throws {
    let json = #"{"_id": 7, "text": "seven"}"#
    let memo = try JSONDecoder().decode(Memo.self, from: Data(json.utf8))
    #expect(memo._id == 7)
    #expect(memo.text == "seven")
    #expect(memo.rating == nil)

    memo.rating = 0.5
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(memo), as: UTF8.self)
    #expect(text == #"{"_id":7,"rating":0.5,"text":"seven"}"#)
  }

  @Test func anIdentifierThatWasNotReadYetIsEncodedAsItStays() throws {
    let letter = Letter()
    let copy = try JSONDecoder().decode(Letter.self, from: JSONEncoder().encode(letter))
    #expect(copy.id == letter.id)
    #expect(Letter().id != letter.id)
  }

  @Test func aMissingKeyOfARequiredPropertyIsAnError() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Memo.self, from: Data(#"{"_id": 7}"#.utf8))
    }
  }

  @Test func identityStaysWithTheObject() throws {
    let realm = try memoryRealm([Memo.self])
    let first = Memo(value: ["_id": 1])
    let second = Memo(value: ["_id": 2])
    #expect(first.id != second.id)
    try realm.write { realm.add([first, second]) }
    let identity: UInt64 = first.id
    #expect(identity == realm.object(ofType: Memo.self, forPrimaryKey: 1)!.id)
    #expect(identity == first.freeze().id)
    #expect(identity != second.id)
    try realm.write { first.text = "changed" }
    #expect(identity == first.id)
  }

  @Test func managedObjectsSayWhyTheyAreNotEncoded() throws {
    let realm = try memoryRealm([Memo.self])
    let memo = try realm.write { realm.create(Memo.self, value: ["_id": 1]) }
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(memo) }
    #expect(throws: Never.self) { try JSONEncoder().encode(Memo(value: memo)) }
  }

  @Test func keyPathsGoThroughLinks() throws {
    let owner = Person(value: ["name": "Ann"])
    #expect(owner.value(forKeyPath: "name") as? String == "Ann")
    owner.setValue("Bob", forKeyPath: "name")
    #expect(owner.name == "Bob")
  }
}
