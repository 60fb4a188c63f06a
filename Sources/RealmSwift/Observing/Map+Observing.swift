// Observing maps of objects by key paths: the values are optional, so that the object's class is
// one step further than in other collections. All else is in ObservedCollection.swift.
public import Dispatch
internal import ObjectStore

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
    _ block: @escaping @isolated(any) (RealmMapChange<Map>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// Has a block of an actor called each time when the map or some properties of its objects have
  /// changed.
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
