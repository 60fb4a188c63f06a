// Observing maps.
public import Dispatch
internal import ObjectStore

extension Map {
  /// Has a block called each time when the map or its objects have changed.
  ///
  /// It is called first with the map as it is, then with the keys that have come, gone, or got another value
  /// since the call before. For all else see `observe` of collections.
  /// - Parameters:
  ///   - keyPaths: which properties of objects count, with dots through links. Nil: all, and those of
  ///     objects up to four links away. Empty: only the map itself.
  ///   - queue: a serial queue on which the block is called, with a map that belongs there; nil: where the
  ///     map belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmMapChange<Map>) -> Void
  ) -> NotificationToken {
    observationStart(keyPaths, block).begin(on: queue)
  }

  /// Has a block of an actor called each time when the map or its objects have changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count.
  ///   - actor: where the block is called, with a map that belongs there.
  ///   - _isolation: where the map belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmMapChange<Map>) -> Void
  ) async -> NotificationToken {
    await observationStart(keyPaths, plainFunction(actor, block)).begin(on: actor, _isolation)
  }

  private func observationStart(
    _ keyPaths: [String]?, _ block: @escaping (RealmMapChange<Map>) -> Void
  ) -> ObservationStart<Map> {
    let realm = requireObservedRealm(of: self)
    // Stops when one cannot be used.
    _ = KeyPathFilter(keyPaths, realm, cell?.target)
    return ObservationStart(self, realm, hasFirstCall: true) { map in
      MapObservation(map, requireObservedRealm(of: map), keyPaths, block)
    }
  }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// Has a block called each time when the map or some properties of its objects have changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; empty: only the map itself.
  ///   - queue: a serial queue on which the block is called; nil: where the map belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [PartialKeyPath<Value.Wrapped>], on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmMapChange<Map>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// Has a block of an actor called each time when the map or some properties of its objects have changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; empty: only the map itself.
  ///   - actor: where the block is called.
  ///   - _isolation: where the map belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Value.Wrapped>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmMapChange<Map>) -> Void
  ) async -> NotificationToken {
    await observe(
      keyPaths: keyPaths.map { _name(for: $0) }, on: actor, _isolation: _isolation, block)
  }
}
