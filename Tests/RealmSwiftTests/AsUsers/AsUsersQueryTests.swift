// Conditions in Swift on every type of property, each read again from its text.
import Foundation
import RealmSwift
import TestSupport
import Testing

enum AskedLetter: String, PersistableEnum { case a, b, c }
enum AskedNumber: Int, PersistableEnum { case one = 1, two }
struct AskedLabel: CustomPersistable, Equatable {
  var text: String
  init(_ text: String) { self.text = text }
  init(persistedValue: String) { text = persistedValue }
  var persistableValue: String { text }
}
class Asked: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var letter = AskedLetter.a
  @Persisted var optionalLetter: AskedLetter?
  @Persisted var letters: List<AskedLetter>
  @Persisted var letterSet: MutableSet<AskedLetter>
  @Persisted var letterMap: Map<String, AskedLetter>
  @Persisted var optionalLetterMap: Map<String, AskedLetter?>
  @Persisted var number = AskedNumber.one
  @Persisted var numbers: List<AskedNumber>
  @Persisted var optionalNumber: AskedNumber?
  @Persisted var label = AskedLabel("x")
  @Persisted var optionalLabel: AskedLabel?
  @Persisted var labels: List<AskedLabel>
  @Persisted var labelMap: Map<String, AskedLabel>
  @Persisted var text = ""
  @Persisted var optionalText: String?
  @Persisted var int = 0
  @Persisted var optionalInt: Int?
  @Persisted var int8: Int8 = 0
  @Persisted var int16: Int16 = 0
  @Persisted var int32: Int32 = 0
  @Persisted var int64: Int64 = 0
  @Persisted var optionalInt64: Int64?
  @Persisted var double = 0.0
  @Persisted var optionalDouble: Double?
  @Persisted var float: Float = 0
  @Persisted var optionalFloat: Float?
  @Persisted var bool = false
  @Persisted var optionalBool: Bool?
  @Persisted var date = Date(timeIntervalSince1970: 0)
  @Persisted var optionalDate: Date?
  @Persisted var data = Data()
  @Persisted var optionalData: Data?
  @Persisted var decimal: Decimal128
  @Persisted var optionalDecimal: Decimal128?
  @Persisted var identifier: ObjectId
  @Persisted var optionalIdentifier: ObjectId?
  @Persisted var uuid = UUID()
  @Persisted var optionalUUID: UUID?
  @Persisted var any: AnyRealmValue
  @Persisted var link: Asked?
  @Persisted var links: List<Asked>
  @Persisted var linkSet: MutableSet<Asked>
  @Persisted var linkMap: Map<String, Asked?>
  @Persisted var part: AskedPart?
  @Persisted var parts: List<AskedPart>
  @Persisted var partMap: Map<String, AskedPart?>
  @Persisted var texts: List<String>
  @Persisted var optionalTexts: List<String?>
  @Persisted var ints: List<Int>
  @Persisted var optionalInts: List<Int?>
  @Persisted var doubleSet: MutableSet<Double>
  @Persisted var dates: List<Date>
  @Persisted var textMap: Map<String, String>
  @Persisted var intMap: Map<String, Int>
  @Persisted var optionalIntMap: Map<String, Int?>
  @Persisted var bools: List<Bool>
  @Persisted var anyList: List<AnyRealmValue>
  @Persisted var uuids: MutableSet<UUID>
  @Persisted var anyMap: Map<String, AnyRealmValue>
  @Persisted(originProperty: "link") var linkedFrom: LinkingObjects<Asked>
  @Persisted(originProperty: "links") var listedIn: LinkingObjects<Asked>
}
class AskedPart: EmbeddedObject {
  @Persisted var size = 0
  @Persisted var text: String?
  @Persisted var letter = AskedLetter.a
  @Persisted var inner: AskedPart?
  @Persisted var inners: List<AskedPart>
}
let askedClasses: [ObjectBase.Type] = [Asked.self, AskedPart.self]

@Suite(.ownThreads) struct AsUsersQueryTests {
  @Test func everyTypeOfProperty() throws {
    let realm = try memoryRealm(askedClasses)
    let base = Date(timeIntervalSince1970: 0)
    try realm.write {
      for i in 0..<4 {
        let t = Asked()
        t.id = i
        realm.add(t)
        t.letter = [AskedLetter.a, .b, .c, .a][i]
        t.optionalLetter = i == 0 ? nil : .b
        t.letters.append(objectsIn: [.a, .b].prefix(i))
        t.letterSet.insert(t.letter)
        t.letterMap["x"] = t.letter
        t.optionalLetterMap["x"] = i == 1 ? .some(nil) : .some(.c)
        t.number = i > 1 ? .two : .one
        t.numbers.append(t.number)
        t.optionalNumber = i == 3 ? nil : .two
        t.label = AskedLabel("w\(i)")
        t.optionalLabel = i == 0 ? nil : AskedLabel("o\(i)")
        t.labels.append(AskedLabel("l\(i)"))
        t.labelMap["k"] = AskedLabel("m\(i)")
        t.text = "str\(i)"
        t.optionalText = i == 0 ? nil : "O\(i)"
        t.int = i
        t.optionalInt = i == 0 ? nil : i
        t.int8 = Int8(i)
        t.int16 = Int16(i)
        t.int32 = Int32(i)
        t.int64 = Int64(i)
        t.optionalInt64 = i == 0 ? nil : Int64(i)
        t.double = Double(i)
        t.optionalDouble = i == 0 ? nil : Double(i)
        t.float = Float(i)
        t.optionalFloat = i == 0 ? nil : Float(i)
        t.bool = i % 2 == 0
        t.optionalBool = i == 0 ? nil : i % 2 == 0
        t.date = base + Double(i)
        t.optionalDate = i == 0 ? nil : t.date
        t.data = Data([UInt8(i)])
        t.optionalData = i == 0 ? nil : t.data
        t.decimal = Decimal128(value: i)
        t.optionalDecimal = i == 0 ? nil : t.decimal
        t.optionalIdentifier = i == 0 ? nil : t.identifier
        t.optionalUUID = i == 0 ? nil : t.uuid
        t.any = [.none, .int(1), .string("s"), .double(2.5)][i]
        t.texts.append(objectsIn: ["a\(i)", "z"])
        t.optionalTexts.append(objectsIn: [nil, "q\(i)"])
        t.ints.append(objectsIn: 0..<i)
        t.optionalInts.append(objectsIn: [i, nil])
        t.doubleSet.insert(Double(i))
        t.dates.append(t.date)
        t.textMap["k"] = "v\(i)"
        t.intMap["k"] = i
        t.optionalIntMap["k"] = i == 2 ? .some(nil) : .some(i)
        t.bools.append(t.bool)
        t.anyList.append(t.any)
        t.uuids.insert(t.uuid)
        t.anyMap["k"] = t.any
        t.part = AskedPart(value: ["size": i, "text": "e\(i)"])
        t.parts.append(AskedPart(value: ["size": i * 2]))
        t.partMap["k"] = AskedPart(value: ["size": i])
        if i > 0 {
          let p = realm.objects(Asked.self)[i - 1]
          t.link = p
          t.links.append(p)
          t.linkSet.insert(p)
          t.linkMap["p"] = p
        }
      }
    }
    let all = realm.objects(Asked.self)
    func finds(
      _ ids: [Int], sourceLocation: SourceLocation = #_sourceLocation,
      _ condition: @escaping (Query<Asked>) -> Query<Bool>
    ) {
      #expect(Array(all.where(condition).map(\.id)) == ids, sourceLocation: sourceLocation)
      let (text, arguments) = condition(Query<Asked>._constructForTesting())._constructPredicate()
      #expect(
        Array(all.filter(NSPredicate(format: text, argumentArray: arguments)).map(\.id)) == ids,
        sourceLocation: sourceLocation)
    }
    finds([0, 3]) { $0.letter == .a }
    finds([1, 2]) { $0.letter != .a }
    finds([0]) { $0.optionalLetter == nil }
    finds([1, 2, 3]) { $0.optionalLetter == .b }
    finds([2, 3]) { $0.letters.contains(.b) }
    finds([2, 3]) { $0.letters == .b }
    finds([1]) { $0.letters.count == 1 }
    finds([1, 2, 3]) { $0.letters.containsAny(in: [.a, .c]) }
    finds([2]) { $0.letterSet.contains(.c) }
    finds([1]) { $0.letterMap["x"] == .b }
    finds([0, 2, 3]) { $0.optionalLetterMap["x"] == .c }
    finds([1]) { $0.optionalLetterMap["x"] == nil }
    finds([2]) { $0.letterMap.values == .c }
    finds([0, 1, 2, 3]) { $0.letterMap.keys == "x" }
    finds([0, 1, 2, 3]) { $0.letterMap.keys.contains("x") }
    finds([2, 3]) { $0.number > .one }
    finds([2, 3]) { $0.number == .two }
    finds([2, 3]) { $0.number.rawValue >= 2 }
    finds([3]) { $0.optionalNumber == nil }
    finds([0, 1, 2]) { $0.optionalNumber >= .two }
    finds([0, 3]) { $0.letter.in([.a]) }
    finds([1, 2, 3]) { $0.optionalLetter.in([.b, nil]) && $0.optionalLetter != nil }
    finds([0, 3]) { $0.letter.rawValue.in(["a"]) }
    finds([1]) { $0.letter.rawValue.starts(with: "b") }
    finds([2]) { $0.letter > .b }
    finds([1]) { $0.label == AskedLabel("w1") }
    finds([1]) { $0.label.persistableValue.ends(with: "1") }
    finds([0]) { $0.optionalLabel == nil }
    finds([2]) { $0.optionalLabel == AskedLabel("o2") }
    finds([2, 3]) { $0.optionalLabel.persistableValue > "o1" }
    finds([3]) { $0.labels.contains(AskedLabel("l3")) }
    finds([3]) { $0.labels == AskedLabel("l3") }
    finds([1]) { $0.labelMap["k"] == AskedLabel("m1") }
    finds([1, 2]) { $0.label.in([AskedLabel("w1"), AskedLabel("w2")]) }
    finds([1, 2]) { $0.int.contains(1..<3) }
    finds([1, 2]) { $0.optionalInt.contains(1..<3) }
    finds([2, 3]) { $0.int8 > 1 }
    finds([2, 3]) { $0.int16 > 1 }
    finds([2, 3]) { $0.int32 > 1 && $0.int64 > 1 }
    finds([1, 2, 3]) { $0.optionalInt64 >= 1 }
    finds([0]) { $0.optionalInt64 == nil }
    finds([1]) { $0.double > 0.5 && $0.double < 1.5 }
    finds([2]) { $0.float == 2 }
    finds([2]) { $0.optionalFloat == 2 }
    finds([0, 2]) { $0.bool }
    finds([1, 3]) { !$0.bool }
    finds([0, 2]) { $0.bool == true }
    finds([1, 3]) { $0.optionalBool == false }
    finds([0]) { $0.optionalBool == nil }
    finds([2, 3]) { $0.date > base + 1 }
    finds([1, 2]) { $0.date.contains((base + 1)...(base + 2)) }
    finds([0]) { $0.optionalDate == nil }
    finds([3]) { $0.data == Data([3]) }
    finds([0]) { $0.optionalData == nil }
    finds([2, 3]) { $0.decimal >= 2 }
    finds([2, 3]) { $0.optionalDecimal >= 2 }
    finds([0]) { $0.optionalDecimal == nil }
    finds([1]) { $0.identifier == all[1].identifier }
    finds([1]) { $0.optionalIdentifier == all[1].identifier }
    finds([1]) { $0.uuid == all[1].uuid }
    finds([0]) { $0.optionalUUID == nil }
    finds([1, 2]) { $0.uuid.in([all[1].uuid, all[2].uuid]) }
    finds([1]) { $0.any == .int(1) }
    finds([0]) { $0.any == .none }
    finds([2]) { $0.any.contains(.string("s")) }
    finds([1, 3]) { $0.any >= .int(1) }
    finds([1, 2]) { $0.any.in([.int(1), .string("s")]) }
    finds([0]) { $0.link == nil }
    finds([1]) { $0.link == all[0] }
    finds([2]) { $0.link.link == all[0] }
    finds([1, 2, 3]) { $0.link != nil }
    finds([2]) { $0.link.text == "str1" }
    finds([2, 3]) { $0.link.int > 0 }
    finds([2]) { $0.links.int == 1 }
    finds([2]) { $0.links.contains(all[1]) }
    finds([2]) { $0.linkSet.contains(all[1]) }
    finds([2]) { $0.linkMap["p"] == all[1] }
    finds([2]) { $0.linkMap.int == 1 }
    finds([2]) { $0.linkMap.values == all[1] }
    finds([3]) { $0.links.ints.count == 2 }
    finds([1, 2, 3]) { $0.links.count > 0 }
    finds([2]) { $0.links.link == all[0] }
    finds([3]) { $0.link.links.links == all[0] }
    finds([0, 1, 2]) { $0.linkedFrom.count == 1 }
    finds([0]) { $0.linkedFrom.int == 1 }
    finds([0]) { $0.listedIn.linkedFrom.int == 2 }
    finds([1]) { $0.part.size == 1 }
    finds([1]) { $0.part.text == "e1" }
    finds([2]) { $0.parts.size == 4 }
    finds([3]) { $0.partMap.size == 3 }
    finds([0, 1, 2, 3]) { $0.part != nil }
    finds([0, 1, 2, 3]) { $0.part.inner == nil }
    finds([0, 1, 2, 3]) { $0.part.letter == .a }
    finds([3]) { $0.parts[0].size == 6 }
    finds([2]) { $0.links[0].text == "str1" }
    finds([2]) { $0.links.link.text.contains("str0") }
    finds([1]) { $0.texts.contains("a1") }
    finds([1]) { $0.texts == "a1" }
    finds([0, 1, 2, 3]) { $0.optionalTexts.contains(nil) }
    finds([2]) { $0.optionalTexts.contains("q2") }
    finds([3]) { $0.ints.max == 2 }
    finds([2, 3]) { $0.ints.sum >= 1 }
    finds([3]) { $0.ints.avg == 1 }
    finds([1, 2, 3]) { $0.ints.min == 0 }
    finds([0]) { $0.ints.count == 0 }
    finds([0, 1, 2, 3]) { $0.optionalInts == nil }
    finds([1]) { $0.doubleSet.contains(1) }
    finds([2, 3]) { $0.doubleSet > 1 }
    finds([2, 3]) { $0.dates > base + 1 }
    finds([2]) { $0.dates.contains((base + 2)...(base + 2)) }
    finds([2]) { $0.textMap["k"] == "v2" }
    finds([2]) { $0.textMap["k"].contains("2") }
    finds([2, 3]) { $0.intMap["k"] > 1 }
    finds([2]) { $0.optionalIntMap["k"] == nil }
    finds([2]) { $0.textMap.values.contains("v2") }
    finds([2]) { $0.textMap.contains("v2") }
    finds([2, 3]) { $0.intMap.values > 1 }
    finds([2, 3]) { $0.intMap.max > 1 }
    finds([2]) { $0.intMap.sum == 2 }
    finds([0, 2]) { $0.bools.contains(true) }
    finds([1]) { $0.anyList.contains(.int(1)) }
    finds([1]) { $0.anyMap["k"] == .int(1) }
    finds([1]) { $0.uuids.contains(all[1].uuid) }
    finds([0, 1, 2, 3]) { $0.textMap.keys.like("*") }
    finds([0, 1, 2, 3]) { $0.textMap.count == 1 }
    finds([3]) { $0.ints[1] == 1 && $0.ints[2] == 2 }
    finds([2, 3]) { ($0.links.int > 0 && $0.links.text.contains("str")).count == 1 }
    finds([3]) { ($0.parts.size > 5).count >= 1 }
    finds([1]) { $0.int == 1 && ($0.text == "str1" || $0.text == "x") && !($0.int == 2) }
    finds([0, 1, 2, 3]) { $0.int == $0.part.size }
    finds([2, 3]) { $0.text.contains($0.text) && $0.int > 1 }
    finds([0]) { $0.links.int.sum == 0 && $0.int == 0 }
    finds([3]) { $0.links.int.max == 2 }
    finds([3]) { $0.links.double.avg == 2 }
    finds([2]) { $0.links.int.min == 1 }
    finds([3]) { $0.parts.size.sum == 6 }
    finds([1, 2]) { query in [1, 2].map { query.int == $0 }.reduce(query.int == -1) { $0 || $1 } }
    #expect(realm.objects(Asked.self)[3].ints.where { $0 > 0 }.count == 2)
    #expect(all[3].texts.where { $0.starts(with: "a") }.count == 1)
    #expect(all[3].letters.where { $0 == .b }.count == 1)
    #expect(all[1].linkMap.where { $0.int == 0 }.count == 1)
    #expect(all[1].links.where { $0.text == "str0" }.count == 1)
    #expect(all[3].intMap.where { $0 > 1 }.count == 1)
    #expect(all[3].optionalInts.where { $0 == nil }.count == 1)
    #expect(all[1].linkedFrom.where { $0.int == 2 }.count == 1)
    #expect(all[1].anyList.where { $0 == .int(1) }.count == 1)
    #expect(all[3].dates.where { $0 > base }.count == 1)
    #expect(all.where { $0.ints.contains(0..<3) }.map(\.id) == [1, 2, 3])
    #expect(all.sorted(by: \.letter).map(\.id) == [0, 3, 1, 2])
    #expect(all.sorted(by: \.optionalLetter, ascending: false).last?.id == 0)
    #expect(all.sorted(by: \.label).last?.id == 3)
    #expect(all.sorted(by: \.part?.size, ascending: false).first?.id == 3)
    #expect(all.sorted(by: \.link?.int, ascending: false).first?.id == 3)
    #expect(all.sorted(by: \.identifier).count == 4)
    #expect(all.sorted(by: \.decimal, ascending: false).first?.id == 3)
    #expect(all.sorted(by: \.any).first?.id == 0)
    #expect(all.sorted(byKeyPath: "link.link.int", ascending: false).first?.id == 3)
    #expect(all.distinct(by: [\.letter]).map(\.id) == [0, 1, 2])
    #expect(all.distinct(by: [\.part?.size]).count == 4)
    #expect(all.distinct(by: ["link.letter"]).count == 4)
    #expect(all[3].ints.sorted(ascending: false).first == 2)
    #expect(all[3].letters.sorted().first == .a)
    #expect(all[3].letters.distinct().count == 2)
    #expect(all[3].ints.min() == 0)
    #expect(all[0].dates.max() == base)
    #expect((all.max(of: \.number) as AskedNumber?) == .two)
    #expect(all.min(of: \.optionalDouble) == 1)
  }

}
