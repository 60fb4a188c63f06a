// Observing collections of all kinds, maps and sections: they differ only in what their observers
// are told, and in what makes the observation.
public import Dispatch
internal import ObjectStore

/// A collection, a map or sections, whose observers are told of its changes.
public protocol _ObservedCollection: ThreadConfined {
  /// What observers are told.
  associatedtype _Change
  /// What is in the collection, whose properties can be listed by key paths.
  associatedtype _Observed

  /// How the collection is observed; stops when it cannot be, or a key path cannot be used.
  func _observable(_ keyPaths: [String]?) -> _Observable<Self>
}

/// How a collection is observed.
public struct _Observable<Subject: _ObservedCollection> {
  let realm: ConfinedRealm
  /// Makes the observation of the collection's form in the place where it is observed.
  let make: (Subject, @escaping (Subject._Change) -> Void) -> Observation

  /// - Parameter elements: the class of the elements; nil of values. Stops when a key path cannot
  ///   be used.
  init(
    _ realm: ConfinedRealm, _ keyPaths: [String]?, of elements: TablePointer?,
    make: @escaping (Subject, @escaping (Subject._Change) -> Void) -> Observation
  ) {
    _ = KeyPathFilter(keyPaths, realm, elements)
    self.realm = realm
    self.make = make
  }

  fileprivate func start(
    _ subject: Subject, _ block: PlacedBlock<Subject._Change>
  ) -> ObservationStart<Subject> {
    ObservationStart(subject, realm, block.place, hasFirstCall: true) { make($0, block.call) }
  }
}

@available(*, unavailable)
extension _Observable: Sendable {}

extension _ObservedCollection {
  /// Has a block called each time when the collection or its objects have changed.
  ///
  /// It is called first with the collection as it is, then with what has changed since the call
  /// before, perhaps by several transactions, never inside of one. Calls come in jobs of the place
  /// where the block belongs, or synchronously inside of `refresh` and of what begins a
  /// transaction. Assigning the value that is there already is a change. An observer of a map is
  /// told keys; one of sections places in them, and one of a single section only what concerns
  /// that.
  ///
  /// Stops when the collection belongs to no Realm, on a frozen and on a read-only Realm, inside of
  /// a transaction, when there is no such key path, and, without a queue, on a thread that runs no
  /// run loop.
  /// - Parameters:
  ///   - keyPaths: which properties of objects count, with dots through links and `*` for all of a
  ///     class. Nil: all, and those of objects up to four links away; of one property of all
  ///     objects only that. Empty: only what comes, goes or moves. An element that comes to another
  ///     section moves; what a closure reads that makes sections has to be listed for that.
  ///   - queue: a serial queue on which the block is called, with a collection that belongs there;
  ///     nil: where the collection belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping @isolated(any) (_Change) -> Void
  ) -> NotificationToken {
    _observable(keyPaths).start(self, PlacedBlock(block)).begin(on: queue)
  }

  /// Has a block of an actor called each time when the collection or its objects have changed.
  ///
  /// The block is called on the actor, with a collection that belongs there; see `observe(on:)` of
  /// queues. When the task is cancelled already, it is never called.
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; see there.
  ///   - actor: where the block is called.
  ///   - _isolation: where the collection belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken {
    await _observable(keyPaths).start(self, PlacedBlock(actor, block)).begin(on: actor, _isolation)
  }
}

// MARK: - With key paths

/// A class whose properties can be listed by key paths.
public protocol _KeyPathRoot {
  /// The name, from the object, of what a key path of the class reads; stops when that is none.
  static func _observedName(_ keyPath: AnyKeyPath) -> String
}

extension ObjectBase: _KeyPathRoot {
  /// The name of the property that a key path leads to; names of several steps have dots.
  public static func _observedName(_ keyPath: AnyKeyPath) -> String {
    KeyPathNames.of(keyPath).joined(separator: ".")
  }
}

extension Projection: _KeyPathRoot {
  /// The path, from the object, of what a key path of the projection reads.
  public static func _observedName(_ keyPath: AnyKeyPath) -> String {
    // The class itself is not at hand here: the conformance is that of all projections.
    func name<Projected: ProjectionObservable>(_: Projected.Type) -> String {
      Projected.path(of: keyPath as! PartialKeyPath<Projected>)
    }
    guard let root = type(of: keyPath).rootType as? any ProjectionObservable.Type else {
      misuse(.argument, "\(keyPath) is no key path of a projection.")
    }
    return name(root)
  }
}

extension _ObservedCollection where _Observed: _KeyPathRoot {
  /// Has a block called each time when the collection or some properties of its objects have
  /// changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; empty: only what comes, goes or moves.
  ///   - queue: a serial queue on which the block is called; nil: where the collection belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [PartialKeyPath<_Observed>], on queue: DispatchQueue? = nil,
    _ block: @escaping @isolated(any) (_Change) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map(_Observed._observedName), on: queue, block)
  }

  /// Has a block of an actor called each time when the collection or some properties of its objects
  /// have changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; empty: only what comes, goes or moves.
  ///   - actor: where the block is called.
  ///   - _isolation: where the collection belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<_Observed>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, _Change) -> Void
  ) async -> NotificationToken {
    await observe(
      keyPaths: keyPaths.map(_Observed._observedName), on: actor, _isolation: _isolation, block)
  }
}

// MARK: - Collections

extension RealmCollection {
  /// How the collection is observed.
  public func _observable(_ keyPaths: [String]?) -> _Observable<Self> {
    let realm = requireObservedRealm(of: self)
    return _Observable(realm, keyPaths, of: elementTable) { subject, block in
      CollectionObservation(
        subject, requireObservedRealm(of: subject),
        { CollectionTracker.make(subject, keyPaths: keyPaths) }, block)
    }
  }
}

extension ProjectedCollection: _ObservedCollection {
  /// What observers are told.
  public typealias _Change = RealmCollectionChange<ProjectedCollection>
  /// Values have no key paths.
  public typealias _Observed = Never

  /// How the values are observed: by the property that is shown, if no other ones are named.
  public func _observable(_ keyPaths: [String]?) -> _Observable<ProjectedCollection> {
    let realm = requireObservedRealm(of: self)
    let keyPaths = keyPaths ?? [base.name]
    return _Observable(realm, keyPaths, of: base.elementTable) { subject, block in
      CollectionObservation(
        subject, requireObservedRealm(of: subject),
        { subject.base.makeTracker(keyPaths: keyPaths) }, block)
    }
  }
}

extension Map: _ObservedCollection {
  /// What observers are told.
  public typealias _Change = RealmMapChange<Map>
  /// What is in the map.
  public typealias _Observed = Value

  /// How the map is observed.
  public func _observable(_ keyPaths: [String]?) -> _Observable<Map> {
    let realm = requireObservedRealm(of: self)
    return _Observable(realm, keyPaths, of: cell?.target) { map, block in
      MapObservation(map, requireObservedRealm(of: map), keyPaths, block)
    }
  }
}

extension RealmSectionedResult {
  /// How the sections are observed.
  public func _observable(_ keyPaths: [String]?) -> _Observable<Self> {
    let realm = requireObservedRealm(of: self)
    return _Observable(realm, keyPaths, of: _observed.source.results.elementTable) {
      sections, block in
      SectionedObservation(sections, requireObservedRealm(of: sections), keyPaths, block)
    }
  }
}
