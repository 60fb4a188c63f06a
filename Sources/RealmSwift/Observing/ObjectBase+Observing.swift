// Observing objects.
public import Dispatch
internal import ObjectStore

extension ObjectBase {
  /// Has a block called each time when properties of the object were set, and when it is deleted.
  ///
  /// It gets what has changed since the call before, perhaps by several transactions; never inside
  /// of one. Calls come in jobs of the place where the block belongs, or synchronously inside of
  /// `refresh` and of what begins a transaction. Assigning the value that is there already is a
  /// change.
  ///
  /// Stops when the object belongs to no Realm or was deleted, on a frozen and on a read-only
  /// Realm, inside of a transaction, when there is no such key path, and, without a queue, on a
  /// thread that runs no run loop.
  /// - Parameters:
  ///   - keyPaths: which properties count, with dots through links. Nil or empty: those of the
  ///     object itself, not of objects that it links to.
  ///   - queue: a serial queue on which the block is called, with an object that belongs there;
  ///     nil: where the object belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<T: ObjectBase>(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping @isolated(any) (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    observationStart(keyPaths, PlacedBlock(block)).begin(on: queue)
  }

  /// Has a block called each time when some properties of the object were set, and when it is
  /// deleted.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties count.
  ///   - queue: a serial queue on which the block is called; nil: where the object belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
    _ block: @escaping @isolated(any) (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// Has a block of an actor called each time when properties of the object were set, and when it
  /// is deleted.
  ///
  /// The block is called on the actor, with an object that belongs there. When the task is
  /// cancelled already, it is never called. For all else see `observe(on:)` of queues.
  /// - Parameters:
  ///   - keyPaths: which properties count; nil or empty: those of the object itself.
  ///   - actor: where the block is called.
  ///   - _isolation: where the object belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor, T: ObjectBase>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await observationStart(keyPaths, PlacedBlock(actor, block)).begin(on: actor, _isolation)
  }

  /// Has a block of an actor called each time when some properties of the object were set, and when
  /// it is deleted.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties count.
  ///   - actor: where the block is called.
  ///   - _isolation: where the object belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor, T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await observe(
      keyPaths: keyPaths.map { _name(for: $0) }, on: actor, _isolation: _isolation, block)
  }

  private func observationStart<T: ObjectBase>(
    _ keyPaths: [String]?, _ block: PlacedBlock<ObjectChange<T>>
  ) -> ObservationStart<ConfinedObject<T>> {
    guard let realm = _realm else {
      misuse(.ownership, "Change notifications are only supported on managed objects.")
    }
    realm.requireObservable()
    requireReadable()
    guard let subject = self as? T else {
      misuse(.argument, "An object of class '\(type(of: self))' cannot be observed as '\(T.self)'.")
    }
    // Stops when a key path cannot be used.
    _ = ObjectTracker(self, keyPaths: keyPaths)
    return ObservationStart(
      ConfinedObject(object: subject), realm, block.place, hasFirstCall: false
    ) {
      ObjectObservation($0.object, keyPaths, block.call)
    } wasDeleted: {
      block.call(.deleted)
    }
  }
}

/// An object of any class as a confined value, which only its subclasses are by themselves.
private struct ConfinedObject<T: ObjectBase>: ThreadConfined {
  let object: T

  var realm: Realm? { object.realm }
  var isInvalidated: Bool { object.isInvalidated }
  var isFrozen: Bool { object.isFrozen }
  func freeze() -> ConfinedObject { ConfinedObject(object: object.freeze()) }
  func thaw() -> ConfinedObject? { object.thaw().map { ConfinedObject(object: $0) } }
}
