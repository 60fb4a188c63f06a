// ObjectId by itself: text, order, making.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ObjectIdTests {
  @Test func readsAndWritesText() throws {
    let id = try ObjectId(string: "507F1f77bcf86cd799439011")
    #expect(id.stringValue == "507f1f77bcf86cd799439011")
    #expect(id.description == "507f1f77bcf86cd799439011")
    #expect(id == ObjectId("507f1f77bcf86cd799439011"))
    #expect(ObjectId().stringValue == "000000000000000000000000")
    #expect(ObjectId("00000000000000000000000f").stringValue == "00000000000000000000000f")
  }

  @Test(arguments: [
    "", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g",
    "507f1f77bcf86cd79943901é", "+07f1f77bcf86cd799439011",
  ])
  func refusesOtherText(_ text: String) {
    #expect(throws: Realm.Error.self) { try ObjectId(string: text) }
    do {
      _ = try ObjectId(string: text)
    } catch {
      #expect((error as? Realm.Error)?.code == .invalidInput)
      let message = "Invalid Object ID string '\(text)': must be 24 hex digits"
      #expect((error as NSError).localizedDescription == message)
    }
  }

  @Test func badLiteralStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = ObjectId("0123")
    }
    expectStop(result, "Invalid Object ID string '0123': must be 24 hex digits")
  }

  @Test func isMadeFromItsParts() {
    let time = Date(timeIntervalSince1970: 1_700_000_000.75)
    let id = ObjectId(timestamp: time, machineId: 0x01_02_03_04, processId: 0x5_0607)
    #expect(id.timestamp == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(id.stringValue.hasPrefix("6553f100" + "020304" + "0607"))
    let next = ObjectId(timestamp: time, machineId: 0x01_02_03_04, processId: 0x5_0607)
    #expect(next != id)
    let late = ObjectId(
      timestamp: Date(timeIntervalSince1970: 4_294_967_295), machineId: 0, processId: 0)
    #expect(late.stringValue.hasPrefix("ffffffff0000000000"))
    #expect(late.timestamp == Date(timeIntervalSince1970: 4_294_967_295))
  }

  @Test func generatedOnesDiffer() {
    let before = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
    let ids = (0..<1000).map { _ in ObjectId.generate() }
    #expect(Set(ids).count == 1000)
    #expect(ids.allSatisfy { $0.timestamp >= before && $0.timestamp <= Date() })
    // The process's own bytes are the same in all.
    #expect(Set(ids.map { $0.stringValue.dropFirst(8).prefix(10) }).count == 1)
  }

  @Test func isOrderedByItsBytes() {
    let small = ObjectId("00000000ffffffffffffffff")
    let large = ObjectId("000000010000000000000000")
    let larger = ObjectId("0000000100000000ffffffff")
    #expect(small < large && large < larger && !(large < small) && !(large < large))
    #expect(large.hashValue == ObjectId("000000010000000000000000").hashValue)
  }

  @Test func isCodedAsText() throws {
    let ids = [ObjectId("507f1f77bcf86cd799439011")]
    let text = try JSONEncoder().encode(ids)
    #expect(String(decoding: text, as: UTF8.self) == #"["507f1f77bcf86cd799439011"]"#)
    #expect(try JSONDecoder().decode([ObjectId].self, from: text) == ids)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([ObjectId].self, from: Data(#"["5"]"#.utf8))
    }
  }
}
