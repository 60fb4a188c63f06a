// One observation of a Realm, a collection, a map or an object: what its observer knows and how it
// is called. When, and in which order, is decided in RealmObservers.swift. Confined to the Realm's
// place.
internal import ObjectStore

#if PLANTED_BUGS
  internal import Platform
#endif

/// What is called when a Realm has moved on.
///
/// The observer knows one version of its subject: that of its last call, or a newer one of which
/// there was nothing to tell.
class Observation {
  let realm: ConfinedRealm
  /// Until an invalidation of the Realm ends all values from it.
  private let epoch: UInt32
  /// The version that the observer knows while it may have to be called.
  ///
  /// Nil when it knows `RealmObservers.delivered`.
  final var pendingSince: ConfinedRealm?
  /// Whether its callback runs now: it is never called within itself.
  final var isRunning = false
  /// What an observer does that comes for its changes itself; nil for one that is called.
  final var collector: Collector?
  /// The delivery that has called it last: each calls it once.
  final var lastDelivery: UInt64 = 0

  init(_ realm: ConfinedRealm) {
    self.realm = realm
    epoch = realm.epoch
  }

  /// What has to change so that there may be something to tell, once it has begun.
  ///
  /// Steps that do not concern it may be left out.
  var watched: Watched { .everything }

  /// Whether everything from the Realm was invalidated.
  final var isOver: Bool { epoch != realm.epoch }

  /// Whether the observer has had its first call; an object's observer needs none.
  var hasBegun: Bool { true }

  /// Calls the observer if there is something to tell.
  ///
  /// - Parameters:
  ///   - step: from the version that the observer knows to the one on which the Realm stands.
  ///   - isOwn: whether the Realm itself has made some of the changes.
  /// - Returns: whether the observation goes on.
  func tell(_ step: VersionStep, isOwn: Bool) -> Bool { fatalError("abstract") }

  /// Makes the observer know the newer version, without a call.
  func skip(_ step: VersionStep) { fatalError("abstract") }
}

/// An observer that is sent a signal when there is something to tell, and comes for it.
enum Collector {
  /// It is sent the signal.
  case waiting(TaskSignal)
  /// It works on what it was told, and what is pending waits.
  case busy
}

/// The observation of a collection whose elements have positions.
final class CollectionObservation<Subject: ThreadConfined>: Observation {
  private let subject: Subject
  private let makeTracker: () -> CollectionTracker
  private let callback: (RealmCollectionChange<Subject>) -> Void
  /// Follows the collection from the first call on.
  private var tracker: CollectionTracker?

  /// - Parameters:
  ///   - subject: what the observer is given.
  ///   - makeTracker: follows the subject from the Realm's version on.
  init(
    _ subject: Subject, _ realm: ConfinedRealm, _ makeTracker: @escaping () -> CollectionTracker,
    _ callback: @escaping (RealmCollectionChange<Subject>) -> Void
  ) {
    self.subject = subject
    self.makeTracker = makeTracker
    self.callback = callback
    super.init(realm)
  }

  override var hasBegun: Bool { tracker != nil }

  override var watched: Watched { tracker?.watched ?? .everything }

  override func tell(_ step: VersionStep, isOwn: Bool) -> Bool {
    guard let tracker else {
      // Gone before the first call.
      if subject.isInvalidated { return false }
      tracker = makeTracker()
      callback(.initial(subject))
      return true
    }
    if let change = planted(tracker.advance(step)) {
      callback(
        .update(
          subject, deletions: change.deletions, insertions: change.insertions,
          modifications: change.modifications))
    }
    return !subject.isInvalidated
  }

  override func skip(_ step: VersionStep) { _ = tracker?.advance(step) }

  private func planted(_ change: CollectionChange?) -> CollectionChange? {
    #if PLANTED_BUGS
      guard var change, !change.deletions.isEmpty else { return change }
      if PlantedBug.dropDeletion.strikes(everyCalls: 5) { change.deletions.removeLast() }
      if PlantedBug.shiftPosition.isActive, change.deletions.count > 1 { change.deletions[1] += 1 }
      return change
    #else
      change
    #endif
  }
}

/// The observation of a map.
final class MapObservation<Key: _MapKey, Value: RealmCollectionValue>: Observation {
  private let map: Map<Key, Value>
  private let keyPaths: [String]?
  private let callback: (RealmMapChange<Map<Key, Value>>) -> Void
  /// Follows the map from the first call on.
  private var tracker: (any MapFollower)?

  init(
    _ map: Map<Key, Value>, _ realm: ConfinedRealm, _ keyPaths: [String]?,
    _ callback: @escaping (RealmMapChange<Map<Key, Value>>) -> Void
  ) {
    self.map = map
    self.keyPaths = keyPaths
    self.callback = callback
    super.init(realm)
  }

  override var hasBegun: Bool { tracker != nil }

  override var watched: Watched { tracker?.watched ?? .everything }

  override func tell(_ step: VersionStep, isOwn: Bool) -> Bool {
    guard let tracker else {
      if map.isInvalidated { return false }
      if let place = map.nestedPlace {
        tracker = NestedMapTracker(NestedContent(place, .dictionary, keyPaths))
      } else if let cell = map.cell {
        tracker = MapTracker(cell, keyPaths: keyPaths)
      }
      callback(.initial(map))
      return true
    }
    if let change = tracker.advance(step) {
      callback(
        .update(
          map, deletions: change.deletions.map { Key(_text: $0) },
          insertions: change.insertions.map { Key(_text: $0) },
          modifications: change.modifications.map { Key(_text: $0) }))
    }
    return !map.isInvalidated
  }

  override func skip(_ step: VersionStep) { _ = tracker?.advance(step) }
}

/// The observation of an object.
final class ObjectObservation<Subject: ObjectBase>: Observation {
  private let object: Subject
  private let tracker: ObjectTracker
  private let callback: (ObjectChange<Subject>) -> Void

  init(
    _ object: Subject, _ keyPaths: [String]?,
    _ callback: @escaping (ObjectChange<Subject>) -> Void
  ) {
    self.object = object
    self.callback = callback
    tracker = ObjectTracker(object, keyPaths: keyPaths)
    super.init(object._realm.unsafelyUnwrapped)
  }

  override var watched: Watched { tracker.watched }

  override func tell(_ step: VersionStep, isOwn: Bool) -> Bool {
    switch tracker.advance(step) {
    case nil: return true
    case .deleted:
      callback(.deleted)
      return false
    case .changed(let positions):
      // Mixed values may be objects, lists and dictionaries of that Realm.
      let isMixed = positions.contains { object.classSchema.properties[$0].codec.type == .any }
      let old = isOwn ? nil : (isMixed ? step.shownOld : step.old).accessor(of: object)
      callback(.change(object, positions.map { propertyChange($0, old) }))
      return true
    }
  }

  override func skip(_ step: VersionStep) { _ = tracker.advance(step) }

  /// - Parameter old: the object in the version that the observer knows; nil to leave old values
  ///   out.
  private func propertyChange(_ position: Int, _ old: ObjectBase?) -> PropertyChange {
    let property = object.classSchema.properties[position]
    if property.codec.collection != .none || property.isComputed {
      return PropertyChange(name: property.name, oldValue: nil, newValue: nil)
    }
    var oldValue = unwrapped(old?.value(forKey: property.name))
    if property.codec.type == .object {
      // The object that was linked to, as it is now.
      oldValue = (oldValue as? ObjectBase).flatMap { realm.accessor(of: $0) }
    }
    return PropertyChange(
      name: property.name, oldValue: oldValue,
      newValue: unwrapped(object.value(forKey: property.name)))
  }
}

extension ConfinedRealm {
  /// The accessor here of another Realm's object; nil when there is no such object.
  func accessor(of object: ObjectBase) -> ObjectBase? {
    accessor(table(object._table.unsafelyUnwrapped.pointee.binding), object._key)
  }
}

/// The observation of a Realm itself.
final class RealmObservation: Observation {
  private let callback: Realm.NotificationBlock
  /// Whether the Realm has moved when it could not be called.
  var isPending = false

  init(_ realm: ConfinedRealm, _ callback: @escaping Realm.NotificationBlock) {
    self.callback = callback
    super.init(realm)
  }

  func tell(_ notification: Realm.Notification) { callback(notification, Realm(realm)) }
}
