// The text that type-safe queries stand for.
import Foundation
import RealmSwift
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

@Suite struct QueryTextTests {
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
      Case("(bool == %@)", [true]) { $0.bool },
      Case("(bool == %@)", [false]) { $0.bool == false },
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
      Case("((int == %@) || NOT (bool == %@))", [1, true]) { $0.int == 1 || !$0.bool },
      Case("NOT ((int == %@) && (bool == %@))", [1, true]) { !($0.int == 1 && $0.bool) },
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
