// Who can be observed: what a collection's observation needs to know of it, and where it stops.
internal import ObjectStore

extension RealmCollection {
  /// The class of the elements; nil of values.
  var elementTable: TablePointer? { querySource().origin.table }
}

/// The Realm of a collection that is to be observed; stops when there is none, or it cannot be
/// used.
func requireObservedRealm(of collection: some ThreadConfined) -> ConfinedRealm {
  guard let realm = collection.realm?.confined else {
    misuse(.ownership, "Change notifications are only supported on managed collections.")
  }
  realm.requireObservable()
  if collection.isInvalidated {
    misuse(.invalidated, "Object has been deleted or invalidated.")
  }
  return realm
}
