// The text that type-safe queries stand for.
import Foundation
import RealmSwift
import TestSupport
import Testing

/// One type-safe query and the text it has to make.
private struct Case<T> {
  let text: String
  let arguments: [String]
  let query: (Query<T>) -> Query<Bool>

  init(_ text: String, _ arguments: [Any?] = [], _ query: @escaping (Query<T>) -> Query<Bool>) {
    self.text = text
    self.arguments = arguments.map { String(describing: $0 ?? NSNull()) }
    self.query = query
  }

  func check(sourceLocation: SourceLocation = #_sourceLocation) {
    let (text, arguments) = query(Query<T>._constructForTesting())._constructPredicate()
    #expect(text == self.text, sourceLocation: sourceLocation)
    #expect(arguments.map { "\($0)" } == self.arguments, sourceLocation: sourceLocation)
  }
}

@Suite(.ownThreads) struct QueryTextTests {
  @Test func comparisons() {
    let cases: [Case<Sample>] = [
      Case("(int == %@)", [5]) { $0.int == 5 },
      Case("(int != %@)", [5]) { $0.int != 5 },
      Case("(int < %@)", [5]) { $0.int < 5 },
      Case("(int8 <= %@)", [5]) { $0.int8 <= 5 },
      Case("(double > %@)", [5.5]) { $0.double > 5.5 },
      Case("(float >= %@)", [5.5]) { $0.float >= 5.5 },
      Case("(optionalInt == %@)", [nil]) { $0.optionalInt == nil },
      Case("(optionalInt > %@)", [3]) { $0.optionalInt > 3 },
      Case("(int != int)", []) { $0.int != $0.int },
      Case("(string == %@)", ["x"]) { $0.string == "x" },
      Case("(string < key)", []) { $0.string < $0.key },
      Case("(int BETWEEN {%@, %@})", [1, 3]) { $0.int.contains(1...3) },
      Case("((int >= %@) && (int < %@))", [1, 3]) { $0.int.contains(1..<3) },
      Case("(optionalInt BETWEEN {%@, %@})", [1, 3]) { $0.optionalInt.contains(1...3) },
      Case("(int IN %@)", [[1, 2]]) { $0.int.in([1, 2]) },
      Case("bool == true", []) { $0.bool },
      Case("bool == false", []) { !$0.bool },
      Case("(bool == %@)", [true]) { $0.bool == true },
      Case("NOT (bool == %@)", [false]) { !($0.bool == false) },
    ]
    for item in cases { item.check() }
  }

  @Test func texts() {
    let cases: [Case<Sample>] = [
      Case("(string CONTAINS %@)", ["x"]) { $0.string.contains("x") },
      Case("(string CONTAINS[cd] %@)", ["x"]) {
        $0.string.contains("x", options: [.caseInsensitive, .diacriticInsensitive])
      },
      Case("(string BEGINSWITH[c] %@)", ["x"]) {
        $0.string.starts(with: "x", options: .caseInsensitive)
      },
      Case("(optionalString ENDSWITH[d] %@)", ["x"]) {
        $0.optionalString.ends(with: "x", options: .diacriticInsensitive)
      },
      Case("(string LIKE[c] %@)", ["x*"]) { $0.string.like("x*", caseInsensitive: true) },
      Case("(string LIKE %@)", ["x*"]) { $0.string.like("x*") },
      Case("(string ==[c] %@)", ["x"]) { $0.string.equals("x", options: .caseInsensitive) },
      Case("(string !=[c] %@)", ["x"]) { $0.string.notEquals("x", options: .caseInsensitive) },
      Case("(string CONTAINS optionalString)", []) { $0.string.contains($0.optionalString) },
      Case("(data BEGINSWITH %@)", [Data([1])]) { $0.data.starts(with: Data([1])) },
    ]
    for item in cases { item.check() }
  }

  @Test func conditions() {
    let cases: [Case<Sample>] = [
      Case("((int == %@) && (string == %@))", [1, "x"]) { $0.int == 1 && $0.string == "x" },
      Case("((int == %@) || bool == false)", [1]) { $0.int == 1 || !$0.bool },
      Case("NOT ((int == %@) && bool == true)", [1]) { !($0.int == 1 && $0.bool) },
      Case("(((int == %@) && (int == %@)) && (int == %@))", [1, 2, 3]) {
        $0.int == 1 && $0.int == 2 && $0.int == 3
      },
      Case("((int == %@) && ((int == %@) || NOT (int == %@)))", [1, 2, 3]) {
        $0.int == 1 && ($0.int == 2 || !($0.int == 3))
      },
    ]
    for item in cases { item.check() }
  }

  @Test func collections() {
    let date = Date(timeIntervalSince1970: 0)
    let cases: [Case<Asked>] = [
      Case("(%@ IN ints)", [1]) { $0.ints.contains(1) },
      Case("(%@ IN optionalInts)", [nil]) { $0.optionalInts.contains(nil) },
      Case("(ANY ints IN %@)", [[1, 2]]) { $0.ints.containsAny(in: [1, 2]) },
      Case("((ints.@min >= %@) && (ints.@max <= %@))", [1, 2]) { $0.ints.contains(1...2) },
      Case("((intMap.@min >= %@) && (intMap.@max < %@))", [1, 2]) { $0.intMap.contains(1..<2) },
      Case("(ANY ints == %@)", [1]) { $0.ints == 1 },
      Case("(ANY dates > %@)", [date]) { $0.dates > date },
      Case("(ANY links.int == %@)", [1]) { $0.links.int == 1 },
      Case("(ANY links.link.ints == %@)", [1]) { $0.links.link.ints == 1 },
      Case("(ANY links.int BETWEEN {%@, %@})", [1, 2]) { $0.links.int.contains(1...2) },
      Case("(ANY links.text BEGINSWITH[c] %@)", ["x"]) {
        $0.links.text.starts(with: "x", options: .caseInsensitive)
      },
      Case("(ANY links.int == int)", []) { $0.int == $0.links.int },
      Case("(ANY links.int < int)", []) { $0.int > $0.links.int },
      Case("(linkedFrom.@count == %@)", [1]) { $0.linkedFrom.count == 1 },
      Case("(ints.@count == int)", []) { $0.ints.count == $0.int },
      Case("(links.@sum.int > %@)", [1]) { $0.links.int.sum > 1 },
      Case("(ints.@avg == %@)", [1]) { $0.ints.avg == 1 },
      Case("(intMap[%@] == %@)", ["k", 1]) { $0.intMap["k"] == 1 },
      Case("(ANY intMap.@allKeys == %@)", ["k"]) { $0.intMap.keys == "k" },
      Case("(ANY textMap.@allValues CONTAINS[c] %@)", ["x"]) {
        $0.textMap.values.contains("x", options: .caseInsensitive)
      },
      Case("(ANY linkMap.int == %@)", [1]) { $0.linkMap.int == 1 },
      Case("(#any[%@] == %@)", [0, 1]) { $0.any[0] == .int(1) },
      Case("(ANY #any[*] == %@)", [1]) { $0.any[.any] == .int(1) },
      Case("(letter IN %@)", [["a"]]) { $0.letter.in([.a]) },
      Case("(ANY numbers == %@)", [1]) { $0.numbers.rawValue == 1 },
      Case("ANY links.bool == true", []) { $0.links.bool },
    ]
    for item in cases { item.check() }
  }

  /// Each sub-query calls its element by a name of its own.
  @Test func subqueries() {
    let cases: [Case<Asked>] = [
      Case("(SUBQUERY(links, $col1, ($col1.int == %@)).@count > %@)", [1, 0]) {
        ($0.links.int == 1).count > 0
      },
      Case(
        "((SUBQUERY(links, $col1, ($col1.int == %@)).@count > %@) "
          + "&& (SUBQUERY(links, $col2, $col2.bool == true).@count == %@))", [1, 0, 2]
      ) { ($0.links.int == 1).count > 0 && $0.links.bool.count == 2 },
    ]
    for item in cases { item.check() }
  }

  @Test func namesOfKeyPaths() {
    #expect(_name(for: \Person.age) == "age")
    #expect(_name(for: \Employee.salary) == "salary")
    #expect(_name(for: \Employee.name) == "name")
    #expect(_name(for: \Sample.optionalDate) == "optionalDate")
    #expect(_name(for: \Renamed.swiftName) == "swiftName")
  }

  @Test func otherKeyPathsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Query<Employee>._constructForTesting().note
    }
    expectStop(result, "Cannot apply a keypath to 'Employee'")
  }
}
