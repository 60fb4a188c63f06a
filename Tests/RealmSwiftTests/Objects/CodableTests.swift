// Objects in and out of JSON, and the identity that interfaces use.
import Foundation
import RealmSwift
import TestSupport
import Testing

/// What the compiler makes of `Codable` for persisted properties.
class Memo: Object, Codable, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var text: String
  @Persisted var rating: Double?
}

/// Values that encoders have forms of their own for.
class Stamp: Object, Codable {
  @Persisted var time: Date
  @Persisted var later: Date?
  @Persisted var all: List<Date>
  @Persisted var image: Data
}

@Suite(.ownThreads) struct CodableTests {
  /// Both were passed over: dates always were numbers, and data lists of numbers.
  @Test func formsOfDatesAndDataAreTheCoders() throws {
    let json =
      #"{"all":["1970-01-01T00:00:02Z"],"image":"AQI=","later":"1970-01-01T00:00:01Z","#
      + #""time":"1970-01-01T00:00:00Z"}"#
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let stamp = try decoder.decode(Stamp.self, from: Data(json.utf8))
    #expect(stamp.time == Date(timeIntervalSince1970: 0))
    #expect(stamp.later == Date(timeIntervalSince1970: 1))
    #expect(Array(stamp.all) == [Date(timeIntervalSince1970: 2)])
    #expect(stamp.image == Data([1, 2]))

    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = .sortedKeys
    #expect(String(decoding: try encoder.encode(stamp), as: UTF8.self) == json)
  }

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
