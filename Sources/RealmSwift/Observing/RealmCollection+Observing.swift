// Observing results, lists, sets and linking objects.
public import Dispatch
internal import ObjectStore

extension RealmCollection {
  /// Has a block called each time when the collection or its objects have changed.
  ///
  /// It is called first with the collection as it is, then with what has changed since the call before,
  /// perhaps by several transactions, never inside of one. Calls come in jobs of the place where the block
  /// belongs, or synchronously inside of `refresh` and of what begins a transaction. Assigning the value
  /// that is there already is a change.
  ///
  /// Stops when the collection belongs to no Realm, on a frozen and on a read-only Realm, inside of a
  /// transaction, when there is no such key path, and, without a queue, on a thread that runs no run loop.
  /// - Parameters:
  ///   - keyPaths: which properties of objects count, with dots through links and `*` for all of a class.
  ///     Nil: all, and those of objects up to four links away. Empty: only what comes, goes or moves.
  ///   - queue: a serial queue on which the block is called, with a collection that belongs there; nil:
  ///     where the collection belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    observationStart(keyPaths, block).begin(on: queue)
  }

  /// Has a block of an actor called each time when the collection or its objects have changed.
  ///
  /// The block is called on the actor, with a collection that belongs there; see `observe(on:)` of queues.
  /// When the task is cancelled already, it is never called.
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; see there.
  ///   - actor: where the block is called.
  ///   - _isolation: where the collection belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken {
    await observationStart(keyPaths, plainFunction(actor, block)).begin(on: actor, _isolation)
  }

  private func observationStart(
    _ keyPaths: [String]?, _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> ObservationStart<Self> {
    let realm = requireObservedRealm(of: self)
    // Stops when one cannot be used.
    _ = KeyPathFilter(keyPaths, realm, elementTable)
    return ObservationStart(self, realm, hasFirstCall: true) { subject in
      CollectionObservation(
        subject, requireObservedRealm(of: subject),
        { CollectionTracker.make(subject, keyPaths: keyPaths) }, block)
    }
  }
}

extension RealmCollection where Element: ObjectBase {
  /// Has a block called each time when the collection or some properties of its objects have changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; empty: only what comes, goes or moves.
  ///   - queue: a serial queue on which the block is called; nil: where the collection belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// Has a block of an actor called each time when the collection or some properties of its objects have
  /// changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; empty: only what comes, goes or moves.
  ///   - actor: where the block is called.
  ///   - _isolation: where the collection belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Element>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken {
    await observe(
      keyPaths: keyPaths.map { _name(for: $0) }, on: actor, _isolation: _isolation, block)
  }
}

extension RealmCollection {
  /// The class of the elements; nil of values.
  ///
  /// Stops for what is chosen from a collection inside of a mixed value.
  var elementTable: TablePointer? {
    let origin = querySource().origin
    if origin is NestedOrigin { stopForNestedObserver() }
    return origin.table
  }
}

/// The Realm of a collection that is to be observed; stops when there is none, or it cannot be used.
func requireObservedRealm(of collection: some ThreadConfined) -> ConfinedRealm {
  guard let realm = collection.realm?.confined else {
    misuse(.ownership, "Change notifications are only supported on managed collections.")
  }
  if (collection as? any InsideMixedValue)?.nestedPlace != nil { stopForNestedObserver() }
  realm.requireObservable()
  if collection.isInvalidated {
    misuse(.invalidated, "Object has been deleted or invalidated.")
  }
  return realm
}

private func stopForNestedObserver() -> Never {
  misuse(
    .argument,
    "Collections inside of a mixed value cannot be observed: observe the object that has the value."
  )
}
