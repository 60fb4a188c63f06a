// Observing projections: each projected property is followed along its own path, so that a call
// names those that have changed, by the names that the projection gives them.
public import Dispatch
internal import ObjectStore

/// A projection, whose observers are told of its own class.
public protocol ProjectionObservable: AnyObject, ThreadConfined {
  /// The class of the object that is shown.
  associatedtype Root: ObjectBase & ThreadConfined & RealmCollectionValue

  /// The object that is shown.
  var rootObject: Root { get }

  /// The view of an object.
  init(projecting object: Root)
}

extension Projection: ProjectionObservable {}

extension ProjectionObservable {
  /// Has a block called each time when projected properties have changed, and when the object is
  /// deleted.
  ///
  /// Changes have the names that the properties have in the projection. For all else see `observe`
  /// of objects.
  /// - Parameters:
  ///   - keyPaths: the names of the projected properties that count. Nil or empty: all.
  ///   - queue: a serial queue on which the block is called, with a projection that belongs there;
  ///     nil: where the object belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping @isolated(any) (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observationStart(keyPaths, PlacedBlock(block)).begin(on: queue)
  }

  /// Has a block called each time when some projected properties have changed, and when the object
  /// is deleted.
  ///
  /// - Parameters:
  ///   - keyPaths: the projected properties that count; empty: all.
  ///   - queue: a serial queue on which the block is called; nil: where the object belongs.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
    _ block: @escaping @isolated(any) (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: names(of: keyPaths), on: queue, block)
  }

  /// Has a block of an actor called each time when projected properties have changed, and when the
  /// object is deleted.
  ///
  /// - Parameters:
  ///   - keyPaths: the names of the projected properties that count. Nil or empty: all.
  ///   - actor: where the block is called, with a projection that belongs there.
  ///   - _isolation: where the object belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await observationStart(keyPaths, PlacedBlock(actor, block)).begin(on: actor, _isolation)
  }

  /// Has a block of an actor called each time when some projected properties have changed, and when
  /// the object is deleted.
  ///
  /// - Parameters:
  ///   - keyPaths: the projected properties that count; empty: all.
  ///   - actor: where the block is called.
  ///   - _isolation: where the object belongs; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Self>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await observe(keyPaths: names(of: keyPaths), on: actor, _isolation: _isolation, block)
  }

  private func observationStart(
    _ keyPaths: [String]?, _ block: PlacedBlock<ObjectChange<Self>>
  ) -> ObservationStart<Self> {
    guard let realm = rootObject._realm else {
      misuse(.ownership, "Change notifications are only supported on managed objects.")
    }
    realm.requireObservable()
    rootObject.requireReadable()
    // Stops when one cannot be used.
    _ = ProjectionObservation(self, keyPaths, block.call)
    return ObservationStart(self, realm, block.place, hasFirstCall: false) {
      ProjectionObservation($0, keyPaths, block.call)
    } wasDeleted: {
      block.call(.deleted)
    }
  }

  /// The names of the projected properties that key paths lead to.
  private func names(of keyPaths: [PartialKeyPath<Self>]) -> [String] {
    keyPaths.map { keyPath in
      let path = Self.path(of: keyPath)
      guard let found = ProjectedProperties.of(self).first(where: { $0.property.path == path })
      else { Self.stop(for: keyPath) }
      return found.name
    }
  }
}

/// The observation of a projection.
final class ProjectionObservation<Subject: ProjectionObservable>: Observation {
  private let projection: Subject
  private let followed: [(name: String, property: any AnyProjected, tracker: ObjectTracker)]
  /// Whether values that are followed may be mixed ones.
  private let hasMixed: Bool
  private let callback: (ObjectChange<Subject>) -> Void

  /// - Parameter names: of the properties that count; nil or empty: all. Stops when there is no
  ///   such one.
  init(
    _ projection: Subject, _ names: [String]?, _ callback: @escaping (ObjectChange<Subject>) -> Void
  ) {
    self.projection = projection
    self.callback = callback
    let properties = ProjectedProperties.of(projection)
    let names = names ?? []
    for name in names where !properties.contains(where: { $0.name == name }) {
      misuse(
        .argument,
        "Cannot observe key path '\(name)': property '\(Subject.self).\(name)' does not exist.")
    }
    let object = projection.rootObject
    let counting = properties.filter { names.isEmpty || names.contains($0.name) }
    followed = counting.map {
      let path = $0.property.path ?? ""
      return ($0.name, $0.property, ObjectTracker(object, keyPaths: [path]))
    }
    // What is reached by a link may be one.
    hasMixed = counting.contains {
      guard let property = object.property(named: $0.property.path ?? "") else { return true }
      return property.codec.type == .any
    }
    super.init(object._realm.unsafelyUnwrapped)
  }

  override var watched: Watched {
    .object(
      projection.rootObject._table.unsafelyUnwrapped, projection.rootObject._key,
      followed.map { $0.property.path ?? "" })
  }

  override func tell(_ step: VersionStep, isOwn: Bool) -> Bool {
    let changes = followed.map { $0.tracker.advance(step) }
    if changes.contains(.deleted) {
      callback(.deleted)
      return false
    }
    let object = projection.rootObject
    // Mixed values may be objects, lists and dictionaries of that Realm.
    let hasOld = !isOwn && changes.contains { $0 != nil }
    let old = hasOld ? (hasMixed ? step.shownOld : step.old).accessor(of: object) : nil
    let properties = zip(followed, changes).filter { $0.1 != nil }.map { followed, _ in
      PropertyChange(
        name: followed.name, oldValue: old.flatMap { value(followed.property, of: $0) },
        newValue: value(followed.property, of: object))
    }
    if !properties.isEmpty { callback(.change(projection, properties)) }
    return true
  }

  override func skip(_ step: VersionStep) {
    for followed in followed { _ = followed.tracker.advance(step) }
  }

  /// A property's value as for objects: of a link the object as it is now, nil of collections.
  private func value(_ property: any AnyProjected, of object: ObjectBase) -> Any? {
    let value = property.untypedValue(of: object)
    if let linked = value as? ObjectBase {
      return linked._realm === realm ? linked : realm.accessor(of: linked)
    }
    return value is any ThreadConfined ? nil : value
  }
}
