// What observers of collections and objects are told.
public import Foundation

/// What happened to an observed collection.
///
/// Apply deletions, insertions and modifications in this order: deletions are positions before the
/// changes, insertions and modifications positions after them. All are sorted.
@frozen
public enum RealmCollectionChange<CollectionType> {
  /// The first call: the collection as it is.
  case initial(CollectionType)
  /// The collection has changed, or its objects have.
  case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
  /// Never given; observers cannot fail.
  case error(any Error)
}

@available(*, unavailable)
extension RealmCollectionChange: Sendable {}

/// What happened to an observed map.
@frozen
public enum RealmMapChange<MapType: RealmKeyedCollection> {
  /// The first call: the map as it is.
  case initial(MapType)
  /// Keys have come or gone, or their values have changed.
  case update(
    MapType, deletions: [MapType.Key], insertions: [MapType.Key], modifications: [MapType.Key])
  /// Never given; observers cannot fail.
  case error(any Error)
}

@available(*, unavailable)
extension RealmMapChange: Sendable {}

/// What happened to an observed object.
@frozen
public enum ObjectChange<T> {
  /// Never given; observers cannot fail.
  case error(_: NSError)
  /// Properties were set; also to the value that they had.
  case change(_: T, _: [PropertyChange])
  /// The object was deleted; the last call.
  case deleted
}

@available(*, unavailable)
extension ObjectChange: Sendable {}

/// A property that was set.
@frozen
public struct PropertyChange {
  /// The property's name.
  public let name: String
  /// The value that it had when the observer was told last.
  ///
  /// Nil when the observing Realm itself made one of the changes, and of a collection. The object
  /// that was linked to has its present values.
  public let oldValue: Any?
  /// The value that it has now, the linked object too; nil of a collection.
  public let newValue: Any?
}

@available(*, unavailable)
extension PropertyChange: Sendable {}
