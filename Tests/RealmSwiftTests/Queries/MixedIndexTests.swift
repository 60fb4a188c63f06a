// An index on a mixed property tells what looking at all objects finds: for every type of value,
// and each stored form of a number.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

private class MixedKey: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var indexed: AnyRealmValue
  @Persisted var plain: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct MixedIndexTests {
  private static let identifiers = (0..<4).map { _ in (ObjectId(), UUID()) }

  /// Values that are few, so that each is there many times, and equal in several forms.
  // Sound: values that link to nothing, which nobody changes.
  nonisolated(unsafe) private static let values: [AnyRealmValue] = {
    var values: [AnyRealmValue] = [.none, .bool(true), .bool(false)]
    for number in [0, 1, -1, 3, 10, 1_000, -2_000_000, 1 << 40] {
      values += [.int(number), .double(Double(number)), .float(Float(number))]
      values += ["\(number)", "\(number).0", "\(number).0000000"].map {
        .decimal128(try! Decimal128(string: $0))
      }
      values.append(.date(Date(timeIntervalSinceReferenceDate: Double(number))))
      values += [.string("\(number)"), .string("a longer text \(number)")]
      values.append(.data(Data("\(number)".utf8)))
    }
    values += ["1E1", "1E3", "-2E6", "0E5", "NaN"].map {
      .decimal128(try! Decimal128(string: $0))
    }
    values += [.double(-0.0), .double(0.1), .float(0.1), .double(.nan), .double(.infinity)]
    values += [.int(.max), .int(.min), .double(0x1p63), .int(1 << 53 + 1)]
    for (objectId, uuid) in identifiers { values += [.objectId(objectId), .uuid(uuid)] }
    return values
  }()

  private func check(
    _ keys: Results<MixedKey>, _ value: AnyRealmValue, sourceLocation: SourceLocation
  ) {
    let expected = keys.filter("plain == %@", value)
    let found = keys.filter("indexed == %@", value)
    #expect(found.map(\.id) == expected.map(\.id), "\(value)", sourceLocation: sourceLocation)
    #expect(found.count == expected.count, "\(value)", sourceLocation: sourceLocation)
    #expect(
      keys.where { $0.indexed == value }.count == expected.count, "\(value)",
      sourceLocation: sourceLocation)
    #expect(
      keys.filter("NOT indexed == %@", value).count == keys.count - expected.count, "\(value)",
      sourceLocation: sourceLocation)
  }

  private func checkAll(
    _ keys: Results<MixedKey>, _ random: inout RandomGenerator,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for value in Self.values { check(keys, value, sourceLocation: sourceLocation) }
    for _ in 0..<10 {
      let some = (0..<3).map { _ in Self.values.randomElement(using: &random)! }
      #expect(
        keys.filter("indexed IN %@", some).map(\.id) == keys.filter("plain IN %@", some).map(\.id),
        "\(some)", sourceLocation: sourceLocation)
      #expect(
        keys.filter("indexed == %@ AND plain == %@", some[0], some[0]).count
          == keys.filter("plain == %@", some[0]).count, "\(some[0])",
        sourceLocation: sourceLocation)
    }
  }

  @Test func findsWhatLookingAtAllFinds() async throws {
    await withSeeds(1) { random in
      let realm = try memoryRealm([MixedKey.self])
      let keys = realm.objects(MixedKey.self)
      try realm.write {
        for id in 0..<1_200 {
          let value = Self.values.randomElement(using: &random)!
          realm.create(MixedKey.self, value: ["id": id, "indexed": value, "plain": value])
        }
      }
      checkAll(keys, &random)
      realm.beginWrite()
      for key in Array(keys) where Int.random(in: 0..<3, using: &random) == 0 {
        let value = Self.values.randomElement(using: &random)!
        (key.indexed, key.plain) = (value, value)
      }
      checkAll(keys, &random)
      try realm.commitWrite()
      checkAll(keys.freeze(), &random)
    }
  }

  @Test func theIndexIsUsed() throws {
    let realm = try memoryRealm([MixedKey.self])
    try realm.write {
      for number in 0..<2_000 {
        let value: AnyRealmValue = number % 2 == 0 ? .int(number) : .string("key \(number)")
        realm.create(MixedKey.self, value: ["id": number, "indexed": value, "plain": value])
      }
    }
    let keys = realm.objects(MixedKey.self)
    for value in [AnyRealmValue.int(4), .double(4), .string("key 5")] {
      let found = keys.filter("indexed == %@", value)
      #expect(found.count == 1 && found.explain().contains("index on indexed"), "\(value)")
    }
    for value in [AnyRealmValue.int(0), .double(0.5), .none] {
      #expect(keys.filter("indexed == %@", value).explain().contains("index") == false, "\(value)")
    }
  }
}
