// Lists that belong to no Realm find the elements that a file would.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class SearchedShelf: Object {
  @Persisted var texts: List<String>
  @Persisted var doubles: List<Double>
  @Persisted var floats: List<Float>
  @Persisted var dates: List<Date>
  @Persisted var decimals: List<Decimal128>
  @Persisted var mixed: List<AnyRealmValue>
  @Persisted var optionals: List<String?>
  @Persisted var integers: List<Int8>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct UnmanagedSearchTests {
  /// Looks for each value among all, and for each of them from behind.
  private func compare<Element>(
    _ property: KeyPath<SearchedShelf, List<Element>>, _ values: [Element],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let realm = try memoryRealm([SearchedShelf.self])
    let plain = SearchedShelf()
    plain[keyPath: property].append(objectsIn: values.reversed() + values)
    let stored = try realm.write { realm.create(SearchedShelf.self, value: plain) }
    for value in values {
      let (found, expected) = (
        plain[keyPath: property].index(of: value), stored[keyPath: property].index(of: value)
      )
      #expect(found == expected && found != nil, "\(value)", sourceLocation: sourceLocation)
      #expect(
        plain[keyPath: property].contains(value) && stored[keyPath: property].contains(value),
        "\(value)", sourceLocation: sourceLocation)
    }
    let list = plain[keyPath: property]
    for value in values where list.index(of: value) != nil {
      while let index = list.index(of: value) { list.remove(at: index) }
    }
    #expect(list.isEmpty, sourceLocation: sourceLocation)
  }

  @Test func findsWhatAFileWould() throws {
    let texts = ["", "a", "ä", "a\u{308}", "a longer text", "a longer texT", "\u{0}"]
    try compare(\.texts, texts)
    try compare(\.optionals, texts + [nil])
    try compare(\.integers, [0, 1, -1, .max, .min])
    try compare(\.doubles, [0, -0.0, 1, -1, .infinity, .leastNonzeroMagnitude, 0.1])
    try compare(\.floats, [0, -0.0, 1, -1, .infinity, .leastNonzeroMagnitude, 0.1])
    try compare(\.dates, [0, 0.001, -1, 1e9].map { Date(timeIntervalSinceReferenceDate: $0) })
    try compare(
      \.decimals, ["0", "1", "1.0", "-1", "0.1", "1e30"].map { try Decimal128(string: $0) })
    try compare(
      \.mixed,
      texts.map { .string($0) } + [
        .none, .int(1), .bool(true), .float(1), .double(1), .double(0), .data(Data([1])),
        .date(Date(timeIntervalSinceReferenceDate: 1)), .objectId(ObjectId()), .uuid(UUID()),
        .decimal128(1), .decimal128(2.5),
      ])
  }
}
