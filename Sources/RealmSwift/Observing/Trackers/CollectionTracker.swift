// What an observer of a collection is to be told when its Realm has moved to a newer version. A tracker
// knows the collection as its observer knows it. Used only where the Realm may be used.

/// What happened to a collection between two versions.
struct CollectionChange: Equatable {
  /// Positions in the older version of elements that are gone, ascending.
  ///
  /// An element that moved is deleted at one place and inserted at another.
  var deletions: [Int] = []
  /// Positions in the newer version of elements that are new, ascending.
  var insertions: [Int] = []
  /// Positions in the newer version of elements that changed and stayed, ascending.
  var modifications: [Int] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// Follows one collection.
///
/// Made with the collection as it is in the Realm's version.
class CollectionTracker {
  /// Goes on to the newer version of a step.
  ///
  /// Every step of the Realm has to be told, one after the other; a step may span several commits.
  ///
  /// - Returns: what the observer is to be told; nil for nothing.
  func advance(_ step: VersionStep) -> CollectionChange? { fatalError("abstract") }

  /// The tracker of a managed collection; stops when a key path cannot be used.
  ///
  /// - Parameter keyPaths: nil: elements also change through up to four links; empty: only the collection
  ///   itself changes; else elements change through these.
  static func make<Collection: RealmCollection>(
    _ collection: Collection, keyPaths: [String]?
  ) -> CollectionTracker {
    fatalError("not made yet")
  }
}
