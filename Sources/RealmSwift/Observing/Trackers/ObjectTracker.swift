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
  private let binding: TableBinding
  private let key: ObjectKey
  private let filter: KeyPathFilter

  /// Stops when a key path cannot be used.
  ///
  /// - Parameter keyPaths: nil or empty: the object's own properties; else only these, where one through
  ///   links counts as its first property.
  init(_ object: ObjectBase, keyPaths: [String]?) {
    binding = object._table.unsafelyUnwrapped.pointee.binding
    key = object._key
    filter = KeyPathFilter(
      keyPaths, object._realm.unsafelyUnwrapped, binding.schema.objectClass)
  }

  /// Goes on to the newer version of a step.
  ///
  /// After `deleted` there is nothing more to tell. The values of both versions can be read from
  /// `step.old` and `step.new`.
  ///
  /// - Returns: what the observer is to be told; nil for nothing.
  func advance(_ step: VersionStep) -> ObjectTrackerChange? { fatalError("not made yet") }
}
