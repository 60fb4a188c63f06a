// What an observer of a map is to be told when its Realm has moved to a newer version.

/// What happened to a map between two versions, by keys.
struct MapChange: Equatable {
  /// Keys that are gone, in the order of keys; here and below.
  var deletions: [String] = []
  var insertions: [String] = []
  /// Keys whose values were assigned, or whose objects changed.
  var modifications: [String] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// Follows one map.
final class MapTracker {
  private let cell: CollectionCell
  private let filter: KeyPathFilter

  /// Stops when a key path cannot be used.
  ///
  /// - Parameter keyPaths: as of `CollectionTracker.make`, of the objects that are the map's values.
  init(_ cell: CollectionCell, keyPaths: [String]?) {
    self.cell = cell
    filter = KeyPathFilter(keyPaths, cell.realm, cell.objectClass)
  }

  /// Goes on to the newer version of a step.
  ///
  /// - Returns: what the observer is to be told; nil for nothing.
  func advance(_ step: VersionStep) -> MapChange? { fatalError("not made yet") }
}
