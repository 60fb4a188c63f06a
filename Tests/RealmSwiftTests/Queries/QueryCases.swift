// Conditions in three forms that have to mean the same: type-safe, text, and plain Swift; and
// random objects to ask them about.
import Foundation
import Platform
import RealmSwift
import Testing

/// A class with a property of each scalar type, filled with few different values.
class Thing: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bool: Bool
  @Persisted var int: Int
  @Persisted var other: Int
  @Persisted var small: Int8
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var date: Date
  @Persisted var string: String
  @Persisted var text: String
  @Persisted var data: Data
  @Persisted var optBool: Bool?
  @Persisted var optInt: Int?
  @Persisted var optDouble: Double?
  @Persisted var optDate: Date?
  @Persisted var optString: String?
  @Persisted var optData: Data?
}

/// One condition.
struct QueryCase<Row: Object>: Sendable, CustomTestStringConvertible {
  // Closures of literals only.
  nonisolated(unsafe) let typed: (Query<Row>) -> Query<Bool>
  let format: String
  nonisolated(unsafe) let arguments: [Any]
  nonisolated(unsafe) let plain: (Row) -> Bool

  init(
    _ format: String, _ arguments: [Any] = [], _ typed: @escaping (Query<Row>) -> Query<Bool>,
    _ plain: @escaping (Row) -> Bool
  ) {
    self.format = format
    self.arguments = arguments
    self.typed = typed
    self.plain = plain
  }

  var testDescription: String { format }
}

extension Thing {
  static let texts = [
    "", "a", "A", "ab", "abc", "ABC", "Äb", "äb", "b", "é", "e", "E", "straße", "x*y", "日本", "日",
  ]

  static func random(_ id: Int, _ random: inout RandomGenerator) -> Thing {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let thing = Thing()
    thing.id = id
    thing.bool = number(2) == 0
    thing.int = number(9) == 0 ? (number(2) == 0 ? Int.max : Int.min) : number(12) - 5
    thing.other = number(12) - 5
    thing.small = Int8(number(256) - 128)
    thing.float = number(20) == 0 ? .nan : Float(number(9)) / 4 - 1
    thing.double = [-.infinity, .infinity, .nan, -0.0, 0.0, 0.1, 1.5, 2.5, -3][number(9)]
    thing.date = Date(timeIntervalSinceReferenceDate: Double(number(10)) / 2)
    thing.string = texts[number(texts.count)]
    thing.text = texts[number(texts.count)]
    thing.data = Data((0..<number(4)).map { _ in UInt8(number(3)) })
    if number(3) > 0 { thing.optBool = number(2) == 0 }
    if number(3) > 0 { thing.optInt = number(8) - 3 }
    if number(3) > 0 { thing.optDouble = Double(number(6)) / 2 }
    if number(3) > 0 { thing.optDate = Date(timeIntervalSinceReferenceDate: Double(number(6))) }
    if number(3) > 0 { thing.optString = texts[number(texts.count)] }
    if number(3) > 0 { thing.optData = Data((0..<number(3)).map { _ in UInt8(number(3)) }) }
    return thing
  }
}

/// A text's bytes: what order and equality look at.
func bytes(_ text: String?) -> [UInt8] { Array((text ?? "").utf8) }

func isLess(_ left: String, _ right: String) -> Bool {
  bytes(left).lexicographicallyPrecedes(bytes(right))
}

private let day = Date(timeIntervalSinceReferenceDate: 2)
private let later = Date(timeIntervalSinceReferenceDate: 3.5)

extension QueryCase where Row == Thing {
  static let numbers: [QueryCase<Thing>] = [
    QueryCase("int == 3", [], { $0.int == 3 }, { $0.int == 3 }),
    QueryCase("int != %@", [3], { $0.int != 3 }, { $0.int != 3 }),
    QueryCase("int < %d", [2], { $0.int < 2 }, { $0.int < 2 }),
    QueryCase("int <= %ld", [2], { $0.int <= 2 }, { $0.int <= 2 }),
    QueryCase("int > %lu", [2], { $0.int > 2 }, { $0.int > 2 }),
    QueryCase("2 <= int", [], { $0.int >= 2 }, { $0.int >= 2 }),
    QueryCase("int > %@", [Int.max], { $0.int > Int.max }, { _ in false }),
    QueryCase("int < %@", [Int.min], { $0.int < Int.min }, { _ in false }),
    QueryCase("int >= %@", [Int.max], { $0.int >= Int.max }, { $0.int == .max }),
    QueryCase("int BETWEEN {-2, 2}", [], { $0.int.contains(-2...2) }, { (-2...2) ~= $0.int }),
    QueryCase(
      "int BETWEEN %@", [[-2, 2]], { $0.int.contains(-2...2) }, { (-2...2) ~= $0.int }),
    QueryCase(
      "int >= -2 AND int < 2", [], { $0.int.contains(-2..<2) }, { (-2..<2) ~= $0.int }),
    QueryCase(
      "int IN {1, 2, -3}", [], { $0.int.in([1, 2, -3]) }, { [1, 2, -3].contains($0.int) }),
    QueryCase("int IN %@", [[5]], { $0.int.in([5]) }, { $0.int == 5 }),
    QueryCase("int IN {}", [], { $0.int.in([]) }, { _ in false }),
    QueryCase(
      "NOT int IN %@", [Set([1, 2])], { !$0.int.in([1, 2]) }, { ![1, 2].contains($0.int) }),
    QueryCase("int == other", [], { $0.int == $0.other }, { $0.int == $0.other }),
    QueryCase("int > other", [], { $0.int > $0.other }, { $0.int > $0.other }),
    QueryCase("small >= -3", [], { $0.small >= -3 }, { $0.small >= -3 }),
    QueryCase("bool == true", [], { $0.bool == true }, { $0.bool }),
    QueryCase("bool == NO", [], { !$0.bool }, { !$0.bool }),
    QueryCase("bool != %@", [true], { $0.bool != true }, { !$0.bool }),
    QueryCase("float == 0.25", [], { $0.float == 0.25 }, { $0.float == 0.25 }),
    QueryCase("float != %@", [Float(0.25)], { $0.float != 0.25 }, { $0.float != 0.25 }),
    QueryCase("float < 0.5", [], { $0.float < 0.5 }, { $0.float < 0.5 }),
    QueryCase("float >= %f", [0.5], { $0.float >= 0.5 }, { $0.float >= 0.5 }),
    QueryCase("double == 0.1", [], { $0.double == 0.1 }, { $0.double == 0.1 }),
    QueryCase("double == 0", [], { $0.double == 0 }, { $0.double == 0 }),
    QueryCase("double != 0", [], { $0.double != 0 }, { $0.double != 0 }),
    QueryCase("double > 1.5", [], { $0.double > 1.5 }, { $0.double > 1.5 }),
    QueryCase("double <= 1.5e0", [], { $0.double <= 1.5 }, { $0.double <= 1.5 }),
    QueryCase(
      "double BETWEEN {0, 2}", [], { $0.double.contains(0...2) }, { (0...2) ~= $0.double }),
    QueryCase(
      "double IN %@", [[0.1, 2.5]], { $0.double.in([0.1, 2.5]) },
      { [0.1, 2.5].contains($0.double) }),
    QueryCase("date == %@", [day], { $0.date == day }, { $0.date == day }),
    QueryCase("date < %@", [later], { $0.date < later }, { $0.date < later }),
    QueryCase("date >= %@", [later], { $0.date >= later }, { $0.date >= later }),
    QueryCase(
      "date BETWEEN %@", [[day, later]], { $0.date.contains(day...later) },
      { (day...later) ~= $0.date }),
  ]

  static let optionals: [QueryCase<Thing>] = [
    QueryCase("optInt == nil", [], { $0.optInt == nil }, { $0.optInt == nil }),
    QueryCase("optInt != NULL", [], { $0.optInt != nil }, { $0.optInt != nil }),
    QueryCase("optInt == %@", [NSNull()], { $0.optInt == nil }, { $0.optInt == nil }),
    QueryCase("optInt == 2", [], { $0.optInt == 2 }, { $0.optInt == 2 }),
    QueryCase("optInt != 2", [], { $0.optInt != 2 }, { $0.optInt != 2 }),
    QueryCase("NOT optInt == 2", [], { !($0.optInt == 2) }, { $0.optInt != 2 }),
    QueryCase("optInt < 2", [], { $0.optInt < 2 }, { $0.optInt.map { $0 < 2 } ?? false }),
    QueryCase("NOT optInt < 2", [], { !($0.optInt < 2) }, { !($0.optInt.map { $0 < 2 } ?? false) }),
    QueryCase("optInt >= 0", [], { $0.optInt >= 0 }, { $0.optInt.map { $0 >= 0 } ?? false }),
    QueryCase(
      "optInt IN {1, nil}", [], { $0.optInt.in([1, nil]) }, { $0.optInt == 1 || $0.optInt == nil }),
    QueryCase(
      "optInt BETWEEN {0, 2}", [], { $0.optInt.contains(0...2) },
      { $0.optInt.map { (0...2) ~= $0 } ?? false }),
    QueryCase("optBool == true", [], { $0.optBool == true }, { $0.optBool == true }),
    QueryCase("optBool != true", [], { $0.optBool != true }, { $0.optBool != true }),
    QueryCase("optBool == nil", [], { $0.optBool == nil }, { $0.optBool == nil }),
    QueryCase("optDouble == 1", [], { $0.optDouble == 1 }, { $0.optDouble == 1 }),
    QueryCase("optDouble != 1", [], { $0.optDouble != 1 }, { $0.optDouble != 1 }),
    QueryCase("optDouble != nil", [], { $0.optDouble != nil }, { $0.optDouble != nil }),
    QueryCase(
      "optDate > %@", [day], { $0.optDate > day }, { $0.optDate.map { $0 > day } ?? false }),
    QueryCase("optDate == nil", [], { $0.optDate == nil }, { $0.optDate == nil }),
    QueryCase("optString == nil", [], { $0.optString == nil }, { $0.optString == nil }),
    QueryCase("optString != nil", [], { $0.optString != nil }, { $0.optString != nil }),
    QueryCase("optString == ''", [], { $0.optString == "" }, { $0.optString == "" }),
    QueryCase("optString != 'a'", [], { $0.optString != "a" }, { $0.optString != "a" }),
    QueryCase("optData == nil", [], { $0.optData == nil }, { $0.optData == nil }),
    QueryCase("optData == %@", [Data()], { $0.optData == Data() }, { $0.optData == Data() }),
  ]

  static let strings: [QueryCase<Thing>] = [
    QueryCase("string == 'ab'", [], { $0.string == "ab" }, { $0.string == "ab" }),
    QueryCase("string != \"ab\"", [], { $0.string != "ab" }, { $0.string != "ab" }),
    QueryCase("%K == %@", ["string", "é"], { $0.string == "é" }, { $0.string == "é" }),
    QueryCase(
      "string ==[c] 'AB'", [], { $0.string.equals("AB", options: .caseInsensitive) },
      { $0.string.lowercased() == "ab" }),
    QueryCase(
      "string ==[cd] 'ab'", [],
      { $0.string.equals("ab", options: [.caseInsensitive, .diacriticInsensitive]) },
      { ["ab", "Äb", "äb"].contains($0.string) }),
    QueryCase(
      "string ==[d] 'e'", [], { $0.string.equals("e", options: .diacriticInsensitive) },
      { ["e", "é"].contains($0.string) }),
    QueryCase(
      "string !=[c] 'ab'", [], { $0.string.notEquals("ab", options: .caseInsensitive) },
      { $0.string.lowercased() != "ab" }),
    QueryCase("string < 'ab'", [], { $0.string < "ab" }, { isLess($0.string, "ab") }),
    QueryCase("string >= 'b'", [], { $0.string >= "b" }, { !isLess($0.string, "b") }),
    QueryCase("string < text", [], { $0.string < $0.text }, { isLess($0.string, $0.text) }),
    QueryCase(
      "string == optString", [], { $0.string.equals($0.optString) }, { $0.string == $0.optString }),
    QueryCase(
      "string CONTAINS 'b'", [], { $0.string.contains("b") },
      { $0.string.unicodeScalars.contains("b") }),
    QueryCase(
      "string contains[c] 'B'", [], { $0.string.contains("B", options: .caseInsensitive) },
      { $0.string.lowercased().contains("b") }),
    QueryCase("string CONTAINS ''", [], { $0.string.contains("") }, { _ in true }),
    QueryCase("optString CONTAINS ''", [], { $0.optString.contains("") }, { $0.optString != nil }),
    QueryCase(
      "string BEGINSWITH 'a'", [], { $0.string.starts(with: "a") }, { bytes($0.string).first == 97 }
    ),
    QueryCase(
      "string BEGINSWITH[cd] 'A'", [],
      { $0.string.starts(with: "A", options: [.caseInsensitive, .diacriticInsensitive]) },
      { "aAäÄ".contains($0.string.first ?? "x") }),
    QueryCase(
      "optString ENDSWITH 'b'", [], { $0.optString.ends(with: "b") },
      { $0.optString?.hasSuffix("b") ?? false }),
    QueryCase(
      "string ENDSWITH[c] 'C'", [], { $0.string.ends(with: "C", options: .caseInsensitive) },
      { $0.string.lowercased().hasSuffix("c") }),
    QueryCase(
      "string CONTAINS text", [], { $0.string.contains($0.text) },
      { $0.text.isEmpty || $0.string.contains($0.text) }),
    QueryCase(
      "string BEGINSWITH text", [], { $0.string.starts(with: $0.text) },
      { bytes($0.string).starts(with: bytes($0.text)) }),
    QueryCase("string LIKE 'a*'", [], { $0.string.like("a*") }, { bytes($0.string).first == 97 }),
    QueryCase(
      "string LIKE '?'", [], { $0.string.like("?") }, { $0.string.unicodeScalars.count == 1 }),
    QueryCase(
      "string LIKE '?b*'", [], { $0.string.like("?b*") },
      { $0.string.unicodeScalars.dropFirst().first == "b" }),
    QueryCase(
      "string LIKE[c] '*B'", [], { $0.string.like("*B", caseInsensitive: true) },
      { $0.string.lowercased().hasSuffix("b") }),
    QueryCase("string LIKE '*'", [], { $0.string.like("*") }, { _ in true }),
    QueryCase("string LIKE 'x?y'", [], { $0.string.like("x?y") }, { $0.string == "x*y" }),
    QueryCase(
      "string IN {'a', 'b', '日'}", [], { $0.string.in(["a", "b", "日"]) },
      { ["a", "b", "日"].contains($0.string) }),
    QueryCase(
      "data BEGINSWITH %@", [Data([1])], { $0.data.starts(with: Data([1])) },
      { $0.data.first == 1 }),
    QueryCase(
      "data CONTAINS %@", [Data([2])], { $0.data.contains(Data([2])) }, { $0.data.contains(2) }),
    QueryCase(
      "data ENDSWITH %@", [Data([0])], { $0.data.ends(with: Data([0])) }, { $0.data.last == 0 }),
    QueryCase("data == %@", [Data([1])], { $0.data == Data([1]) }, { $0.data == Data([1]) }),
    QueryCase(
      "data < %@", [Data([1])], { $0.data < Data([1]) },
      { $0.data.lexicographicallyPrecedes(Data([1])) }),
  ]

  static let compounds: [QueryCase<Thing>] = [
    QueryCase(
      "int > 0 AND string == 'a'", [], { $0.int > 0 && $0.string == "a" },
      { $0.int > 0 && $0.string == "a" }),
    QueryCase(
      "int > 0 OR string == 'a' AND bool == YES", [],
      { $0.int > 0 || $0.string == "a" && $0.bool }, { $0.int > 0 || $0.string == "a" && $0.bool }),
    QueryCase(
      "(int > 0 || string == 'a') && bool == true", [],
      { ($0.int > 0 || $0.string == "a") && $0.bool },
      { ($0.int > 0 || $0.string == "a") && $0.bool }),
    QueryCase(
      "NOT (int > 0 AND optInt < 2)", [], { !($0.int > 0 && $0.optInt < 2) },
      { !($0.int > 0 && ($0.optInt.map { $0 < 2 } ?? false)) }),
    QueryCase(
      "!(int == other) and (double > 0 or string CONTAINS 'b')", [],
      { !($0.int == $0.other) && ($0.double > 0 || $0.string.contains("b")) },
      { $0.int != $0.other && ($0.double > 0 || $0.string.unicodeScalars.contains("b")) }),
    QueryCase(
      "not not int = 1", [], { !(!($0.int == 1)) }, { $0.int == 1 }),
  ]

  static let all = numbers + optionals + strings + compounds
}
