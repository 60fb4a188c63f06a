// Mixed values in aggregates and in encoded form, embedded objects as values of conditions, and
// errors of paths that nothing can be opened at.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersValueInterfaceTests {
  class Part: EmbeddedObject {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var number = 0
    @Persisted var inner: Core?
  }

  class Core: EmbeddedObject {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var number = 0
    @Persisted var text: String?
  }

  class Whole: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var name = ""
    @Persisted var any: AnyRealmValue
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var anySet: MutableSet<AnyRealmValue>
    @Persisted var anyMap: Map<String, AnyRealmValue>
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
    @Persisted var partMap: Map<String, Part?>
    @Persisted var numbers: List<Int>
    @Persisted var others: List<Whole>
    @Persisted var age = 0
  }

  private func realm() throws -> Realm {
    try memoryRealm([Whole.self, Part.self, Core.self])
  }

  // MARK: - Mixed values

  @Test func extremesKeepTheirType() throws {
    let realm = try realm()
    try realm.write {
      let whole = realm.create(Whole.self)
      for values in [whole.anys, List<AnyRealmValue>()] {
        values.append(objectsIn: [.float(1.5), .int(3), .string("x"), .none, .float(9.25)])
        #expect(values.min() == .float(1.5) && values.max() == .float(9.25))
        #expect(values.value(forKeyPath: "@max.self") as? Float == 9.25)
        let sum: AnyRealmValue = values.sum()
        #expect(sum == .decimal128(13.75))
        let mean: Double? = values.average()
        let decimal: Decimal128? = values.average()
        #expect(mean.map { abs($0 - 13.75 / 3) < 1e-9 } == true && decimal != nil)
        #expect(values.value(forKeyPath: "@sum.self") as? Decimal128 == 13.75)
      }
      whole.any = .float(0.5)
      whole.anySet.insert(objectsIn: [.float(2.5), .double(3.5)])
      whole.anyMap["a"] = .float(4.5)
      #expect(whole.anySet.min() == .float(2.5) && whole.anySet.max() == .double(3.5))
      #expect(whole.anyMap.max() == .float(4.5))
      #expect(realm.objects(Whole.self).max(of: \.any) == .float(0.5))
      let single: Float? = realm.objects(Whole.self).max(ofProperty: "any")
      #expect(single == 0.5)
      #expect(realm.objects(Whole.self).where { $0.any == .double(0.5) }.count == 1)
      #expect(whole.anys.sorted().first == AnyRealmValue.none)
    }
  }

  @Test func sumsOfNothing() throws {
    let realm = try realm()
    try realm.write {
      let whole = realm.create(Whole.self)
      let sum: AnyRealmValue = whole.anys.sum()
      #expect(sum == .decimal128(0))
      let whole64: Int = realm.objects(Whole.self).sum(ofProperty: "any")
      let double: Double = realm.objects(Whole.self).sum(ofProperty: "any")
      #expect(whole64 == 0 && double == 0)
      #expect((whole.anyMap.average() as Double?) == nil)
      whole.anys.append(.string("no number"))
      #expect(whole.anys.sum() == .decimal128(0))
      whole.anys.append(.double(2.5))
      let rounded: Int? = whole.anys.average()
      #expect(rounded == 2)
    }
  }

  @Test func encodedMixedValues() throws {
    struct Note: Codable { var values: [AnyRealmValue] }
    let list = AnyRealmValue.fromArray([.int(1), .none, .string("a")])
    let values: [AnyRealmValue] = [
      .none, .bool(true), .int(-7), .double(2.5), .string("text"), list,
      .fromDictionary(["key": .fromArray([.bool(false)])]),
    ]
    let data = try JSONEncoder().encode(Note(values: values))
    #expect(
      String(decoding: data, as: UTF8.self)
        == #"{"values":[null,true,-7,2.5,"text",[1,null,"a"],{"key":[false]}]}"#)
    #expect(try JSONDecoder().decode(Note.self, from: data).values == values)
    let identifier = ObjectId.generate()
    let others: [AnyRealmValue] = [.objectId(identifier), .decimal128("1.50"), .float(0.5)]
    let decoded = try JSONDecoder().decode(
      [AnyRealmValue].self, from: JSONEncoder().encode(others))
    #expect(decoded == [.string(identifier.stringValue), .string("1.50"), .double(0.5)])
    #expect(throws: EncodingError.self) {
      try JSONEncoder().encode(AnyRealmValue.object(Whole()))
    }
  }

  /// They went through a double, and lost what that has no room for.
  @Test func largeIntegersAreAddedExactly() throws {
    let realm = try realm()
    let (large, larger) = (9_007_199_254_740_993, Int.max - 7)
    try realm.write {
      realm.create(Whole.self, value: ["any": AnyRealmValue.int(large)])
      realm.create(Whole.self, value: ["any": AnyRealmValue.decimal128("2.75")])
    }
    let sum: Int = realm.objects(Whole.self).sum(ofProperty: "any")
    #expect(sum == large + 2)
    let most: Int? = realm.objects(Whole.self).max(ofProperty: "any")
    #expect(most == large)
    try realm.write { realm.create(Whole.self, value: ["any": AnyRealmValue.int(larger - large)]) }
    let all: Int = realm.objects(Whole.self).sum(ofProperty: "any")
    #expect(all == larger + 2)
  }

  // MARK: - Embedded objects as values

  @Test func embeddedObjectsAreComparedByTheirValues() throws {
    let realm = try realm()
    func part(_ number: Int, _ inner: Int?) -> Part {
      Part(value: ["number": number, "inner": inner.map { ["number": $0] } as Any])
    }
    try realm.write {
      let a = realm.create(Whole.self, value: ["name": "a"])
      a.part = part(1, 2)
      a.parts.append(objectsIn: [part(1, 2), part(3, nil)])
      a.partMap["x"] = part(1, 2)
      let b = realm.create(Whole.self, value: ["name": "b"])
      b.part = part(1, nil)
      b.others.append(a)
      realm.create(Whole.self, value: ["name": "c"])
    }
    let objects = realm.objects(Whole.self)
    func expect(_ names: String, _ format: String, _ arguments: Any...) {
      let found = objects.filter(NSPredicate(format: format, argumentArray: arguments))
      #expect(Array(found).map(\.name).joined() == names, "\(format)")
    }
    expect("a", "part == %@", part(1, 2))
    expect("b", "part = %@", part(1, nil))
    expect("", "part == %@", part(2, 2))
    expect("bc", "part != %@", part(1, 2))
    expect("a", "%@ == part", part(1, 2))
    expect("a", "part.inner == %@", Core(value: ["number": 2]))
    expect("ab", "part IN %@", [part(1, 2), part(1, nil)])
    expect("a", "ANY parts == %@", part(3, nil))
    expect("a", "%@ IN parts", part(3, nil))
    expect("bc", "NONE parts == %@", part(3, nil))
    expect("b", "ANY others.part == %@", part(1, 2))
    expect("a", "part == %@", objects[0].part!)
    func expect(_ names: String, _ condition: (Query<Whole>) -> Query<Bool>) {
      #expect(Array(objects.where(condition)).map(\.name).joined() == names)
    }
    expect("a") { $0.part == part(1, 2) }
    expect("bc") { $0.part != part(1, 2) }
    expect("ab") { $0.part.in([part(1, 2), part(1, nil)]) }
    expect("a") { $0.parts.contains(part(3, nil)) }
    expect("a") { $0.parts.containsAny(in: [part(3, nil), part(9, 9)]) }
    expect("a") { $0.partMap.contains(part(1, 2)) }
    expect("a") { $0.partMap["x"] == part(1, 2) }
    expect("b") { $0.others.part == part(1, 2) }
  }

  @Test func betweenOverCollections() throws {
    let realm = try realm()
    try realm.write {
      let a = realm.create(Whole.self, value: ["name": "a", "age": 5, "numbers": [1, 5, 9]])
      let b = realm.create(Whole.self, value: ["name": "b", "age": 20, "numbers": [2, 3]])
      b.others.append(objectsIn: [a, b])
      realm.create(Whole.self, value: ["name": "c"])
    }
    let objects = realm.objects(Whole.self)
    func expect(_ names: String, _ format: String) {
      #expect(Array(objects.filter(format)).map(\.name).joined() == names, "\(format)")
    }
    expect("a", "ANY numbers BETWEEN {4, 6}")
    expect("bc", "ALL numbers BETWEEN {2, 3}")
    expect("bc", "NONE numbers BETWEEN {4, 6}")
    expect("b", "ANY others.age BETWEEN {19, 21}")
    expect("ab", "age BETWEEN {5, 20}")
    func expect(_ names: String, _ text: String, _ condition: (Query<Whole>) -> Query<Bool>) {
      #expect(Array(objects.where(condition)).map(\.name).joined() == names)
      #expect(condition(._constructForTesting())._constructPredicate().0 == text)
    }
    expect("ab", "(age BETWEEN {%@, %@})") { $0.age.contains(5...20) }
    expect("a", "((age >= %@) && (age < %@))") { $0.age.contains(5..<20) }
    expect("ab", "((numbers.@min >= %@) && (numbers.@max <= %@))") { $0.numbers.contains(1...9) }
    expect("b", "((numbers.@min >= %@) && (numbers.@max < %@))") { $0.numbers.contains(1..<9) }
  }

  @Test func ownTypesOverEmbeddedObjectsAreCreated() throws {
    let realm = try memoryRealm([EveryForm.self, SpotObject.self])
    try realm.write {
      #expect(realm.create(EveryForm.self).spot == Spot(0))
      #expect(realm.create(EveryForm.self, value: ["spot": NSNull()]).spot == Spot(0))
      #expect(realm.create(EveryForm.self, value: ["spot": ["x": 4]]).spot == Spot(4))
      #expect(realm.create(EveryForm.self, value: ["spot": Spot(5)]).spot == Spot(5))
      #expect(realm.create(EveryForm.self, value: ["spot": SpotObject()]).spot == Spot(0))
      let added = EveryForm(value: ["spot": NSNull(), "spots": [["x": 1], Spot(2)] as [Any]])
      #expect(added.spot == Spot(0))
      realm.add(added)
      #expect(added.spot == Spot(0) && Array(added.spots) == [Spot(1), Spot(2)])
    }
  }

  // MARK: - Opening

  @Test func pathsAtWhichNothingCanBeOpened() throws {
    let folder = TemporaryFolder()
    func code(_ path: String, readOnly: Bool) -> Realm.Error.Code? {
      let configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: path), readOnly: readOnly,
        objectTypes: [Whole.self, Part.self, Core.self])
      let error = #expect(throws: Realm.Error.self) {
        _ = try Realm(configuration: configuration)
      }
      #expect(error?.fileURL?.path == path)
      return error?.code
    }
    try Data("text".utf8).write(to: URL(fileURLWithPath: folder.file("file")))
    try FileManager.default.createDirectory(
      atPath: folder.file("folder"), withIntermediateDirectories: false)
    for readOnly in [false, true] {
      #expect(code(folder.file("file/below.realm"), readOnly: readOnly) == .fileAccess)
      #expect(code(folder.file("folder"), readOnly: readOnly) == .fileAccess)
      #expect(code(folder.file("no/such.realm"), readOnly: readOnly) == .fileNotFound)
      #expect(code(folder.file("file"), readOnly: readOnly) == .invalidDatabase)
      let long = folder.file(String(repeating: "x", count: 300))
      #expect(code(long, readOnly: readOnly) == .fileAccess)
    }
    #expect(code(folder.file("missing.realm"), readOnly: true) == .fileNotFound)
  }
}
