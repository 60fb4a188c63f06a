// Which objects may come to another section after what a running transaction has touched: those
// that it touched, and those that lead to them.
internal import ObjectStore

/// The tables from which the keys of sections are made: that of the elements, and those to which
/// links from them lead.
struct KeyTables {
  /// The schema in whose terms this is.
  let classes: SchemaBindings
  /// The elements' first.
  private let tables: [StoredTable]
  /// Nil where keys are made of the elements' own values.
  private let reach: LinkReach?

  /// - Parameters:
  ///   - table: that of the elements.
  ///   - followsLinks: whether keys are also made of what links lead to.
  init(_ classes: SchemaBindings, _ table: StoredTable, followsLinks: Bool) {
    self.classes = classes
    let schema = classes.stored
    guard followsLinks else {
      (tables, reach) = ([table], nil)
      return
    }
    tables = [table] + schema.tables(behind: table.index).map { schema.tables[$0] }
    reach = LinkReach(schema, to: table.index, isUnlimited: true)
  }

  /// Whether a transaction has touched something that keys are made of.
  func areTouched(by group: GroupTransaction) -> Bool {
    group.schema !== classes.stored || tables.contains { group.hasTouched($0) }
  }

  /// The state of a transaction, whose touches are noted from now on; nil when it has changed the
  /// schema.
  func state(of group: GroupTransaction) -> SectionState? {
    if group.schema !== classes.stored { return nil }
    return SectionState(group: group, marks: tables.map { group.touchMark($0) })
  }

  /// The objects of the elements' class that may have another key than in an earlier state of a
  /// transaction, without those that came; nil when that is not known, or would be more than so
  /// many.
  func changed(
    since before: SectionState, _ group: GroupTransaction, atMost most: Int
  ) -> Set<ObjectKey>? {
    guard before.group === group, before.marks.count == tables.count else { return nil }
    var touched: [Int: Set<ObjectKey>] = [:]
    var count = 0
    for (table, mark) in zip(tables, before.marks) {
      guard let keys = group.touched(table, since: mark) else { return nil }
      count += keys.count
      if count > most { return nil }
      if !keys.isEmpty { touched[table.index] = Set(keys.map { ObjectKey(rawValue: $0) }) }
    }
    if touched.isEmpty { return [] }
    guard let reach else { return touched[tables[0].index] }
    let schema = group.schema
    return reach.objects(leadingTo: touched, atMost: most) {
      group.reader(schema.tables[$0])
    }
  }
}

/// A state of a running transaction, for sections.
struct SectionState {
  /// The transaction, while it runs: a mark of another one means nothing.
  weak var group: GroupTransaction?
  /// Up to where its changes of each table are known.
  let marks: [TouchMark]
}
