// Indexed texts and identifiers that begin alike: every comparison finds what plain Swift finds,
// whichever way the search goes, in files of today and in one that an older program has made.
import Foundation
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

private class Place: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var text: String
  @Persisted(indexed: true) var optText: String?
  @Persisted(indexed: true) var uuid: UUID
  @Persisted(indexed: true) var objectId: ObjectId
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Of the file that an older program has made; it has one more index.
private class Indexed: Object {
  @Persisted(indexed: true) var text: String?
  @Persisted var note: Data?
  @Persisted(indexed: true) var identifier: UUID
  @Persisted(indexed: true) var number: Int?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.serialized, .ownThreads) struct IndexedTextTests {
  /// Texts of one kind, of which the same come often.
  private struct Material {
    let prefix: String

    init(_ random: inout RandomGenerator) {
      let letters = Array("abcxyz/:.\u{e9}\u{1F600}0")
      prefix = String(
        (0..<1 + random.number(40)).map { _ in letters[random.number(letters.count)] })
    }

    func text(_ random: inout RandomGenerator) -> String {
      let number = random.number(25)
      switch random.number(10) {
      case 0: return String(prefix.prefix(number))
      case 1: return prefix + "\(number)"
      case 2: return prefix + (number % 2 == 0 ? "caf\u{e9}" : "cafe\u{301}")
      case 3: return String(repeating: "\0", count: number % 11)
      case 4: return "/usr/share/doc/\(number)/copyright"
      case 5: return "\(number)"
      case 6: return "word \(number)"
      case 7: return "status-\(number % 3)"
      default: return "https://www.example.org/pages/\(number)"
      }
    }
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func isLess(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private func fill(
    _ realm: Realm, _ ids: Range<Int>, _ material: Material, _ random: inout RandomGenerator
  ) {
    for id in ids {
      let place = Place()
      place.id = id
      change(place, material, &random)
      realm.add(place)
    }
  }

  private func change(_ place: Place, _ material: Material, _ random: inout RandomGenerator) {
    place.text = material.text(&random)
    place.optText = random.number(4) == 0 ? nil : material.text(&random)
    let number = random.number(30)
    place.uuid = UUID(uuidString: "01234567-89AB-CDEF-0123-\(String(format: "%012d", number))")!
    // Invariant: 24 hexadecimal digits.
    place.objectId = try! ObjectId(string: "0123456789abcdef" + String(format: "%08d", number))
  }

  private func check(
    _ realm: Realm, _ material: Material, _ random: inout RandomGenerator
  ) {
    let places = realm.objects(Place.self)
    for choice in [PlanChoice.byCost, .scan, .index] {
      PlanChoice.with(choice) {
        for _ in 0..<3 {
          let (first, second) = (material.text(&random), material.text(&random))
          checkTexts(places, first, second, &random)
        }
        let uuids =
          (0..<3).compactMap { _ in places.randomElement(using: &random)?.uuid } + [UUID()]
        let keys = (0..<3).compactMap { _ in places.randomElement(using: &random)?.objectId }
        for uuid in uuids {
          expect(places.where { $0.uuid == uuid }, places.filter { $0.uuid == uuid }, "uuid")
        }
        expect(
          places.where { $0.uuid.in(uuids) }, places.filter { uuids.contains($0.uuid) }, "uuids")
        for key in keys {
          expect(places.where { $0.objectId == key }, places.filter { $0.objectId == key }, "key")
        }
        expect(
          places.where { $0.objectId.in(keys) }, places.filter { keys.contains($0.objectId) },
          "keys")
      }
    }
  }

  private func checkTexts(
    _ places: Results<Place>, _ first: String, _ second: String, _ random: inout RandomGenerator
  ) {
    func check(_ format: String, _ arguments: Any..., plain: (String) -> Bool) {
      for (name, path) in [("text", \Place.text as AnyKeyPath), ("optText", \Place.optText)] {
        let expected: [Place] = places.filter { place in
          guard let value = place[keyPath: path] as? String? else { return false }
          return value.map(plain) ?? false
        }
        let format = format.replacingOccurrences(of: "text", with: name)
        let found = places.filter(NSPredicate(format: format, argumentArray: arguments))
        expect(found, expected, "\(format) \(arguments)")
      }
    }
    let (lower, upper) = isLess(first, second) ? (first, second) : (second, first)
    check("text == %@", first) { bytes($0) == bytes(first) }
    check("text IN %@", [first, second, "word 3"]) { value in
      [first, second, "word 3"].contains { bytes($0) == bytes(value) }
    }
    check("text == %@ OR text == %@", first, second) {
      bytes($0) == bytes(first) || bytes($0) == bytes(second)
    }
    check("text < %@", first) { isLess($0, first) }
    check("text <= %@", first) { !isLess(first, $0) }
    check("text > %@", first) { isLess(first, $0) }
    check("text >= %@", first) { !isLess($0, first) }
    check("text >= %@ AND text < %@", lower, upper) { !isLess($0, lower) && isLess($0, upper) }
    check("text BETWEEN %@", [lower, upper]) { !isLess($0, lower) && !isLess(upper, $0) }
    if first.utf8.allSatisfy({ $0 < 128 }) {
      check("text ==[c] %@", first.uppercased()) {
        bytes($0.lowercased()) == bytes(first.lowercased())
      }
    }
    // Of the first characters as many as the index has, fewer and more.
    let prefix = String(first.prefix(random.number(12)))
    if !prefix.isEmpty {
      check("text BEGINSWITH %@", prefix) { bytes($0).starts(with: bytes(prefix)) }
      if prefix.allSatisfy({ $0.isASCII && $0 != "*" && $0 != "?" && $0 != "\\" && $0 != "\0" }) {
        check("text LIKE %@", prefix + "*") { bytes($0).starts(with: bytes(prefix)) }
      }
    }
    expect(
      places.filter("optText == nil"), places.filter { $0.optText == nil }, "nil")
    expect(
      places.filter("optText != %@", first),
      places.filter { $0.optText.map { bytes($0) != bytes(first) } ?? true }, "unequal")
    expect(
      places.filter(NSPredicate(format: "optText IN %@", argumentArray: [[NSNull(), first]])),
      places.filter { $0.optText.map { bytes($0) == bytes(first) } ?? true }, "nil or equal")
  }

  private func expect(_ found: Results<Place>, _ expected: [Place], _ what: String) {
    let ids = expected.map(\.id)
    #expect(found.first?.id == ids.first, "first \(what), \(PlanChoice.current)")
    #expect(found.count == ids.count, "count \(what), \(PlanChoice.current)")
    #expect(Array(found.map(\.id)) == ids, "\(what), \(PlanChoice.current)")
  }

  @Test func everyComparisonFindsTheSame() async throws {
    await withSeeds(amount(12, debug: 1)) { random in
      let folder = TemporaryFolder()
      let configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.file("places.realm")), objectTypes: [Place.self])
      for pass in 0..<3 {
        let realm = try Realm(configuration: configuration)
        let material = Material(&random)
        let next = (realm.objects(Place.self).max(of: \.id) ?? 0) + 1
        try realm.write {
          fill(realm, next..<next + (pass == 0 ? 150 : 40), material, &random)
          for place in Array(realm.objects(Place.self)) where random.number(5) == 0 {
            if random.number(3) == 0 {
              realm.delete(place)
            } else {
              change(place, material, &random)
            }
          }
          check(realm, material, &random)
        }
        check(realm, material, &random)
        #expect(try realm.checkInvariants().findings == [])
      }
    }
  }

  @Test func anIndexOfAnOlderFileIsMadeAnewByOpening() throws {
    let folder = TemporaryFolder()
    let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../ObjectStoreTests/Golden/format-3-indexes.realm")
    let file = URL(fileURLWithPath: folder.file("old.realm"))
    try FileManager.default.copyItem(at: golden, to: file)
    var configuration = Realm.Configuration(fileURL: file, objectTypes: [Indexed.self])
    func check(_ realm: Realm, _ what: String) {
      let all = realm.objects(Indexed.self)
      #expect(all.count == 240)
      for choice in [PlanChoice.byCost, .scan, .index] {
        PlanChoice.with(choice) {
          for number in 0..<95 {
            let address = "https://www.example.org/pages/\(number)"
            #expect(
              all.where { $0.text == address }.count == all.filter { $0.text == address }.count,
              "\(what) \(address)")
          }
          #expect(all.where { $0.text == nil }.count == 20, "\(what) nil")
          #expect(all.where { $0.text == "" }.count == all.filter { $0.text == "" }.count)
          let prefix = "https://www.example.org/pages/1"
          #expect(
            all.where { $0.text.starts(with: prefix) }.count
              == all.filter { $0.text?.hasPrefix(prefix) ?? false }.count, "\(what) prefix")
          let identifier = all[7].identifier
          #expect(
            all.where { $0.identifier == identifier }.count
              == all.filter { $0.identifier == identifier }.count, "\(what) identifier")
        }
      }
    }
    // Of the addresses that begin alike all come from an index by first bytes, else the equal ones.
    func candidates(_ realm: Realm) -> Int? {
      PlanChoice.with(.index) {
        realm.objects(Indexed.self).where { $0.text == "https://www.example.org/pages/17" }
          .explanation().figures.lookedAt
      }
    }
    func checkReadOnly() throws {
      configuration.readOnly = true
      let realm = try Realm(configuration: configuration)
      check(realm, "read only")
      #expect(candidates(realm) == 160)
    }
    try checkReadOnly()
    configuration.readOnly = false
    for pass in ["made anew", "opened again"] {
      let realm = try Realm(configuration: configuration)
      check(realm, pass)
      #expect(try #require(candidates(realm)) < 5)
      #expect(try realm.checkInvariants().findings == [])
    }
  }
}
