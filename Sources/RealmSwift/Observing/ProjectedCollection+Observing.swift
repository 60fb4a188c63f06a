// Observing one property of all objects of a collection.
public import Dispatch
internal import ObjectStore

extension ProjectedCollection {
  /// Has a block called each time when the collection or its objects' values have changed.
  ///
  /// For all else see `observe` of other collections.
  /// - Parameters:
  ///   - keyPaths: which properties of the objects count; nil: the one that the collection shows.
  ///   - queue: a serial queue on which the block is called; nil: where the collection belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection>) -> Void
  ) -> NotificationToken {
    observationStart(keyPaths, block).begin(on: queue)
  }

  /// Has a block of an actor called each time when the collection or its objects' values have changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of the objects count; nil: the one that the collection shows.
  ///   - actor: where the block is called.
  ///   - _isolation: where the collection belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<ProjectedCollection>) -> Void
  ) async -> NotificationToken {
    await observationStart(keyPaths, plainFunction(actor, block)).begin(on: actor, _isolation)
  }

  private func observationStart(
    _ keyPaths: [String]?, _ block: @escaping (RealmCollectionChange<ProjectedCollection>) -> Void
  ) -> ObservationStart<ProjectedCollection> {
    let realm = requireObservedRealm(of: self)
    let keyPaths = keyPaths ?? [base.name]
    // Stops when one cannot be used.
    _ = KeyPathFilter(keyPaths, realm, base.elementTable)
    return ObservationStart(self, realm, hasFirstCall: true) { subject in
      CollectionObservation(
        subject, requireObservedRealm(of: subject),
        { subject.base.makeTracker(keyPaths: keyPaths) }, block)
    }
  }
}
