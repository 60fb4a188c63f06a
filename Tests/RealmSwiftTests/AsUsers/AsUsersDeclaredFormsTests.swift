// Own types and enums over every stored type, values as they come from JSON, and inheritance with
// Codable.
import Foundation
import RealmSwift
import TestSupport
import Testing

private struct FormDay: CustomPersistable, Hashable {
  let persistableValue: Date
  init(persistedValue: Date) { persistableValue = persistedValue }
}
private struct FormBlob: CustomPersistable, Hashable {
  let persistableValue: Data
  init(persistedValue: Data) { persistableValue = persistedValue }
}
private struct FormFlag: CustomPersistable, Hashable {
  let persistableValue: Bool
  init(persistedValue: Bool) { persistableValue = persistedValue }
}
private struct FormUnique: CustomPersistable, Hashable {
  let persistableValue: UUID
  init(persistedValue: UUID) { persistableValue = persistedValue }
}
private struct FormIdentifier: CustomPersistable, Hashable {
  let persistableValue: ObjectId
  init(persistedValue: ObjectId) { persistableValue = persistedValue }
}
private struct FormAmount: CustomPersistable, Hashable {
  let persistableValue: Decimal128
  init(persistedValue: Decimal128) { persistableValue = persistedValue }
}

/// An enum with a case for everything else.
private enum FormColor: CustomPersistable, Hashable {
  case red
  case other(String)
  init(persistedValue: String) { self = persistedValue == "red" ? .red : .other(persistedValue) }
  var persistableValue: String {
    switch self {
    case .red: "red"
    case .other(let name): name
    }
  }
}

/// A class, which is no object of a Realm.
private final class FormBox: CustomPersistable, Hashable {
  let persistableValue: Int
  init(persistedValue: Int) { persistableValue = persistedValue }
  static func == (left: FormBox, right: FormBox) -> Bool {
    left.persistableValue == right.persistableValue
  }
  func hash(into hasher: inout Hasher) { hasher.combine(persistableValue) }
}

private class FormHolder: Object {
  @Persisted(primaryKey: true) var id = FormIdentifier(persistedValue: .generate())
  @Persisted var color: FormColor
  @Persisted var otherColor: FormColor?
  @Persisted var day: FormDay
  @Persisted var blob: FormBlob
  @Persisted var flag: FormFlag
  @Persisted(indexed: true) var unique: FormUnique
  @Persisted var amount: FormAmount
  @Persisted var box: FormBox
  @Persisted var flags: List<FormFlag>
  @Persisted var days: List<FormDay?>
  @Persisted var amounts: Map<String, FormAmount>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum Minute: Int8, PersistableEnum { case low = -1, high = 5 }
private enum Brief: Int16, PersistableEnum { case low, high }
private enum Wide: Int64, PersistableEnum { case low, high }
private enum Portion: Float, PersistableEnum { case half = 0.5, whole = 1 }
private enum Precise: Double, PersistableEnum { case half = 0.5, whole = 1 }
private enum LateLetter: String, PersistableEnum { case z, y, x }

private class EnumHolder: Object {
  @Persisted(primaryKey: true) var key: LateLetter
  @Persisted var tiny: Minute
  @Persisted var short: Brief
  @Persisted(indexed: true) var long: Wide
  @Persisted var share: Portion
  @Persisted var exact: Precise
  @Persisted var letter: LateLetter
  @Persisted var otherShare: Portion? = .whole
  @Persisted var letters: List<LateLetter>
  @Persisted var tinies: MutableSet<Minute>
  @Persisted var exacts: Map<String, Precise>
  @Persisted var maybes: List<LateLetter?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class JSONHolder: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bool: Bool
  @Persisted var double: Double
  @Persisted var text: String?
  @Persisted var ints: List<Int>
  @Persisted var doubles: List<Double>
  @Persisted var bools: List<Bool>
  @Persisted var any: AnyRealmValue
  @Persisted var map: Map<String, AnyRealmValue>
  @Persisted var part: JSONHolder?
  @Persisted var parts: List<JSONHolder>
  @Persisted var decimal: Decimal128?
  @Persisted var large: Int64
  // Names that the library's own superclass uses.
  @Persisted var location = "l"
  @Persisted var table = 1
  @Persisted var generation = 2
  @Persisted var key = "k"
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class CodedBase: Object, Codable {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = "b"
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class CodedSub: CodedBase {
  @Persisted var extra: Int?
  @Persisted var numbers: List<Int>
  enum Keys: String, CodingKey { case extra = "ex", numbers }

  required init() { super.init() }
  required init(from decoder: any Decoder) throws {
    try super.init(from: decoder)
    let values = try decoder.container(keyedBy: Keys.self)
    extra = try values.decodeIfPresent(Int.self, forKey: .extra)
    numbers.append(objectsIn: try values.decodeIfPresent([Int].self, forKey: .numbers) ?? [])
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var values = encoder.container(keyedBy: Keys.self)
    try values.encode(extra, forKey: .extra)
    try values.encode(numbers, forKey: .numbers)
  }
}

/// A class with a generic superclass.
private class GenericHolder<Element: RealmCollectionValue>: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var values: List<Element>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private final class IntHolder: GenericHolder<Int> { @Persisted var extra = 1 }
private final class TextHolder: GenericHolder<String> {}

@Suite(.ownThreads) struct AsUsersDeclaredFormsTests {
  @Test func ownTypesOverEveryStoredType() throws {
    let realm = try memoryRealm([FormHolder.self])
    let holder = FormHolder()
    #expect(holder.color == .other("") && holder.box.persistableValue == 0)
    let day = FormDay(persistedValue: Date(timeIntervalSince1970: 77))
    let unique = FormUnique(persistedValue: UUID())
    holder.color = .red
    holder.otherColor = .other("blue")
    holder.day = day
    holder.blob = FormBlob(persistedValue: Data([1]))
    holder.flag = FormFlag(persistedValue: true)
    holder.unique = unique
    holder.amount = FormAmount(persistedValue: 2.5)
    holder.box = FormBox(persistedValue: 6)
    holder.flags.append(holder.flag)
    holder.days.append(objectsIn: [day, nil])
    holder.amounts["a"] = holder.amount
    let values = FormHolder(value: holder)
    try realm.write { realm.add(holder) }
    for holder in [values, try #require(realm.objects(FormHolder.self).first)] {
      #expect(holder.color == .red && holder.otherColor == .other("blue") && holder.day == day)
      #expect(holder.blob.persistableValue == Data([1]) && holder.flag.persistableValue)
      #expect(holder.unique == unique && holder.amount.persistableValue == 2.5)
      #expect(holder.box.persistableValue == 6 && holder.flags.count == 1)
      #expect(Array(holder.days) == [day, nil] && holder.amounts["a"] == holder.amount)
    }
    #expect(realm.object(ofType: FormHolder.self, forPrimaryKey: holder.id) == holder)
    let stored = holder.id.persistableValue
    #expect(realm.object(ofType: FormHolder.self, forPrimaryKey: stored) == holder)
    let found = realm.objects(FormHolder.self).where {
      $0.color == .red && $0.day == day && $0.unique == unique && $0.otherColor != nil
        && $0.amount > FormAmount(persistedValue: 1) && $0.box == FormBox(persistedValue: 6)
        && $0.flag == FormFlag(persistedValue: true)
    }
    #expect(found.count == 1)
    #expect(found.filter("color == %@ AND unique == %@", FormColor.red, unique).count == 1)
    #expect(found.filter("color == 'red' AND box == 6 AND flag == true").count == 1)
    #expect(found.max(of: \.amount)?.persistableValue == 2.5)
    try realm.write {
      realm.create(
        FormHolder.self,
        value: [
          "id": holder.id, "color": FormColor.other("g"), "box": 9,
          "days": [day.persistableValue, NSNull()], "amounts": ["z": 3],
        ] as [String: Any], update: .modified)
    }
    #expect(holder.color == .other("g") && holder.box.persistableValue == 9)
    #expect(holder.days.count == 2 && holder.amounts["z"]?.persistableValue == 3)
    #expect(
      holder.objectSchema.properties.map(\.type) == [
        .objectId, .string, .string, .date, .data, .bool, .UUID, .decimal128, .int, .bool, .date,
        .decimal128,
      ])
  }

  @Test func enumsOverEveryRawType() throws {
    let realm = try memoryRealm([EnumHolder.self])
    let holder = EnumHolder()
    #expect(holder.tiny == .low && holder.key == .z && holder.otherShare == .whole)
    holder.letters.append(objectsIn: [.x, .y])
    holder.tinies.insert(.high)
    holder.exacts["q"] = .whole
    holder.maybes.append(nil)
    try realm.write {
      realm.add(holder)
      holder.tiny = .high
      holder.share = .whole
      holder.long = .high
      holder["tiny"] = -1
      holder["otherShare"] = NSNull()
      holder["letter"] = LateLetter.x
    }
    #expect(holder.tiny == .low && holder.share == .whole && holder.otherShare == nil)
    #expect(holder["letter"] as? LateLetter == .x && holder["short"] as? Brief == .low)
    // In the order of their raw values.
    #expect(LateLetter.x < .y && Minute.low < .high && holder.letters.max() == .y)
    #expect(holder.letters.sorted(ascending: false).first == .y && Array(holder.maybes) == [nil])
    let found = realm.objects(EnumHolder.self).where {
      $0.letter == .x && $0.letters.contains(.y) && $0.tinies.contains(.high) && $0.long == .high
        && $0.exacts["q"] == .whole && $0.tiny.in([.low, .high]) && $0.otherShare == nil
        && $0.share > .half && $0.letter.rawValue == "x"
    }
    #expect(found.count == 1 && found.filter("ANY letters IN %@", [LateLetter.x]).count == 1)
    #expect(found.sectioned(by: \.letter).allKeys == [.x])
    #expect(found.value(forKey: "letter") as? [LateLetter] == [.x])
  }

  @Test func valuesFromJSON() throws {
    let text = """
      {"id": 1, "bool": true, "double": 1, "text": null, "ints": [1, 2], "doubles": [1, 2.5],
       "bools": [true, false], "any": true, "decimal": 1.25, "large": 9007199254740993,
       "map": {"i": 1, "d": 1.5, "t": true, "n": null, "a": [1, [2]], "o": {"z": 0}},
       "part": {"id": 2, "text": "q"}, "parts": [{"id": 3}, {"id": 2, "text": "r"}],
       "unknown": {"a": 1}}
      """
    let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let realm = try memoryRealm([JSONHolder.self])
    let managed = try realm.write { realm.create(JSONHolder.self, value: json, update: .modified) }
    let unmanaged = JSONHolder(value: json)
    for holder in [managed, unmanaged] {
      #expect(holder.bool && holder.double == 1 && holder.text == nil && holder.decimal == 1.25)
      #expect(holder.ints.elementsEqual([1, 2]) && holder.doubles.elementsEqual([1, 2.5]))
      #expect(holder.bools.elementsEqual([true, false]) && holder.large == 9_007_199_254_740_993)
      #expect(holder.any == .bool(true) && holder.map["i"] == .int(1))
      #expect(holder.map["d"] == .double(1.5) && holder.map["t"] == .bool(true))
      #expect(holder.map["n"] == AnyRealmValue.none && holder.parts.count == 2)
      #expect(holder.map["a"] == .fromArray([.int(1), .fromArray([.int(2)])]))
      #expect(holder.map["o"] == .fromDictionary(["z": .int(0)]))
      #expect(holder.location + holder.key == "lk" && holder.table + holder.generation == 3)
    }
    // Two objects of one key are one object of a Realm.
    #expect(managed.part?.text == "r" && unmanaged.part?.text == "q")
  }

  @Test func subclassesThatAreCodable() throws {
    let text = #"{"ex":7,"id":4,"name":"nn","numbers":[1]}"#
    let coded = try JSONDecoder().decode(CodedSub.self, from: Data(text.utf8))
    #expect(coded.extra == 7 && coded.name == "nn" && coded.numbers.elementsEqual([1]))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(String(decoding: try encoder.encode(coded), as: UTF8.self) == text)
    let realm = try memoryRealm([CodedSub.self])
    try realm.write { realm.add(coded) }
    #expect(throws: EncodingError.self) { try encoder.encode(coded) }
    #expect(String(decoding: try encoder.encode(CodedSub(value: coded)), as: UTF8.self) == text)
  }

  @Test func genericSuperclasses() throws {
    let realm = try memoryRealm([IntHolder.self, TextHolder.self])
    try realm.write {
      realm.create(IntHolder.self, value: ["id": 1, "values": [1, 2]])
      realm.create(TextHolder.self, value: ["id": 1, "values": ["a"]])
    }
    #expect(realm.objects(IntHolder.self).where { $0.values.contains(2) }.count == 1)
    #expect(realm.object(ofType: TextHolder.self, forPrimaryKey: 1)?.values.first == "a")
    #expect(IntHolder().objectSchema.properties.map(\.name) == ["id", "values", "extra"])
  }
}
