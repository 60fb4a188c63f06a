// What an observer of an object is to be told when its Realm has moved to a newer version.
internal import ObjectStore

/// What happened to an object between two versions.
enum ObjectTrackerChange: Equatable {
  case deleted
  /// Positions, in the class's schema, of properties that changed, ascending.
  case changed([Int])
}

/// Follows one object.
final class ObjectTracker {
  private let table: TablePointer
  private let key: ObjectKey
  private let keyPaths: [String]?
  private var filter: KeyPathFilter
  private var isOver = false

  /// Stops when a key path cannot be observed.
  ///
  /// - Parameter keyPaths: nil or empty: the object's own properties; else only these, where one
  ///   through links counts as its first property.
  init(_ object: ObjectBase, keyPaths: [String]?) {
    table = object._table.unsafelyUnwrapped
    key = object._key
    self.keyPaths = keyPaths
    filter = KeyPathFilter(keyPaths, object._realm.unsafelyUnwrapped, table)
  }

  /// What has to change so that there may be something to tell.
  var watched: Watched { .object(table, key, keyPaths) }

  /// Goes on to the newer version of a step.
  ///
  /// After `deleted` there is nothing more to tell. The values of both versions can be read from
  /// `step.old` and `step.new`.
  ///
  /// - Returns: what the observer is to be told; nil for nothing.
  func advance(_ step: VersionStep) -> ObjectTrackerChange? {
    let binding = table.pointee.binding
    guard !isOver, let stored = binding.table else { return nil }
    if step.isDeleted(stored.index, key) {
      isOver = true
      return .deleted
    }
    let columns = step.modifiedColumns(stored.index, key)
    guard let listed = filter.listedPaths() else {
      return columns.flatMap { told(properties(of: binding, stored, $0)) }
    }
    var found: Set<Int> = []
    for path in listed {
      if let property = path.property {
        if step.reaching(path.path).contains(key) { found.insert(property) }
      } else if let columns {
        found.formUnion(properties(of: binding, stored, columns))
      }
    }
    return told(found.sorted())
  }

  private func told(_ properties: [Int]) -> ObjectTrackerChange? {
    properties.isEmpty ? nil : .changed(properties)
  }

  /// The properties whose columns are among some.
  private func properties(
    of binding: TableBinding, _ stored: StoredTable, _ columns: ColumnSet
  ) -> [Int] {
    binding.columns.indices.filter {
      let column = binding.columns[$0]
      return column >= 0 && columns.contains(stored.columnKeys[column])
    }
  }
}
