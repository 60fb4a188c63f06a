// The history of a store's changes: what is kept for observing Realms, and when it is forgotten.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct ChangeHistoryTests {
  /// A set that tells that object 0 of table 1 was changed in one column, by a real transaction.
  private static func changes(_ column: Int) -> ChangeSet {
    let schema = TableSchema(
      name: "Thing",
      columns: (0..<4).map {
        ColumnSchema(name: "column \($0)", type: .int, isOptional: false, isIndexed: false)
      }, primaryKey: nil, isEmbedded: false)
    let editor = BlockEditor.inMemory()
    let first = GroupTransaction(editor, root: .none)
    first.createTable(schema)
    let key = first.insert(first.schema.tables[0])
    let second = GroupTransaction(editor, root: first.finish(), recording: .everything)
    second.setInteger(second.schema.tables[0], key, column, 1)
    return second.recordedChanges()!
  }

  private static func columns(_ changes: ChangeSet?) -> [Int]? {
    guard let changes else { return nil }
    let modified = changes.tables.values.first?.modified[ObjectKey(rawValue: 0)]
    return (0..<4).filter { modified?.contains(UInt64($0) + 1) ?? false }
  }

  @Test func commitsOfASpanAreMerged() {
    let history = ChangeHistory()
    let reader = history.register(standingOn: Version(10))
    history.append(Self.changes(0), base: Version(10), version: Version(11))
    // Numbers may skip ahead; idle work changes nothing.
    history.append(Self.changes(2), base: Version(11), version: Version(500))
    history.willTidy(from: Version(500), to: Version(501))
    #expect(Self.columns(history.changes(after: Version(10), through: Version(501))) == [0, 2])
    #expect(Self.columns(history.changes(after: Version(11), through: Version(500))) == [2])
    #expect(Self.columns(history.changes(after: Version(500), through: Version(500))) == [])
    withExtendedLifetime(reader) {}
  }

  @Test func aGapIsNotPassedOver() {
    let history = ChangeHistory()
    let reader = history.register(standingOn: Version(1))
    history.append(Self.changes(0), base: Version(1), version: Version(2))
    // Version 3 is that of another process.
    history.append(Self.changes(1), base: Version(3), version: Version(4))
    #expect(history.changes(after: Version(1), through: Version(4)) == nil)
    #expect(history.changes(after: Version(2), through: Version(3)) == nil)
    #expect(Self.columns(history.changes(after: Version(3), through: Version(4))) == [1])
    withExtendedLifetime(reader) {}
  }

  @Test func aLostVersionIsNotPartOfWhatComesLater() {
    let history = ChangeHistory()
    let reader = history.register(standingOn: Version(1))
    history.append(Self.changes(0), base: Version(1), version: Version(2))
    // Version 2 was lost with its sync; the next one builds on 1 again.
    history.append(Self.changes(1), base: Version(1), version: Version(3))
    #expect(Self.columns(history.changes(after: Version(1), through: Version(3))) == [1])
    withExtendedLifetime(reader) {}
  }

  @Test func whatAllHavePassedIsForgotten() {
    let history = ChangeHistory()
    let first = history.register(standingOn: Version(1))
    let second = history.register(standingOn: Version(1))
    history.append(Self.changes(0), base: Version(1), version: Version(2))
    first.stand(on: Version(2))
    #expect(Self.columns(history.changes(after: Version(1), through: Version(2))) == [0])
    second.stand(on: Version(2))
    #expect(history.changes(after: Version(1), through: Version(2)) == nil)
  }

  @Test func nobodyObservesNothingIsKept() {
    let history = ChangeHistory()
    #expect(!history.isObserved)
    history.append(Self.changes(0), base: Version(1), version: Version(2))
    var reader: ChangeHistory.Reader? = history.register(standingOn: Version(2))
    #expect(history.isObserved)
    #expect(history.changes(after: Version(1), through: Version(2)) == nil)
    history.append(Self.changes(0), base: Version(2), version: Version(3))
    reader = nil
    #expect(!history.isObserved && reader == nil)
    #expect(history.changes(after: Version(2), through: Version(3)) == nil)
  }

  @Test func oneHistoryAStore() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/history.realm", durability: .memory))
    #expect(ChangeHistory.of(store) === ChangeHistory.of(store))
    withExtendedLifetime(folder) {}
  }
}
