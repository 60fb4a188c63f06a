// What was read by a binding while somebody followed: a property of an object, until it changes.
// The Realm keeps readings, so that nobody else has to; they end with it.
internal import ObjectStore

/// A property of an object that was read, and whom to tell when it changes.
struct Reading {
  let table: TablePointer
  let key: ObjectKey
  /// Key paths as of observers of the object; nil for all of its own properties.
  let keyPaths: [String]?
  let signal: RedrawSignal
  /// The wrapper's observation, if the binding comes from one.
  let slot: ObservationSlot?

  /// Notes that a property of a live object was read, if somebody follows what is read.
  ///
  /// - Parameters:
  ///   - keyPaths: gives them when somebody does.
  ///   - slot: the observation of the wrapper that was read by.
  static func register(
    _ object: ObjectBase, _ slot: ObservationSlot?, keyPaths: () -> [String]?
  ) {
    guard let realm = object._realm, !realm.isFrozen else { return }
    realm.check()
    let signal = realm.spareSignal ?? RedrawSignal()
    realm.spareSignal = signal
    guard signal.wasRead() else { return }
    realm.spareSignal = nil
    guard object.locate() != nil, !realm.configuration.readOnly, realm.findMailbox() != nil else {
      return
    }
    let reading = Reading(
      table: object._table.unsafelyUnwrapped, key: object._key,
      keyPaths: keyPaths(), signal: signal, slot: slot)
    realm.requireObservers().addOutsideOfTransaction { $0.requireObservers().add(reading) }
  }

  var watched: Watched { .object(table, key, keyPaths) }

  /// Whether a step has changed what was read.
  func isChanged(by step: VersionStep) -> Bool {
    guard let object = step.new.accessor(table, key) else { return true }
    return ObjectTracker(object, keyPaths: keyPaths).advance(step) != nil
  }
}

/// The readings of a Realm.
struct Readings {
  private var all = WatchIndex<Reading>()
  /// Where readings by wrappers are, by the slots of their observations.
  private var bySlot: [ObjectIdentifier: Set<Watched>] = [:]

  var isEmpty: Bool { all.isEmpty }

  mutating func add(_ reading: Reading, _ realm: ConfinedRealm) {
    let watched = reading.watched
    if let slot = reading.slot {
      if slot.isEnded { return }
      bySlot[ObjectIdentifier(slot), default: []].insert(watched)
    }
    all.add(reading, watched, realm)
  }

  /// The reading of the same property that is kept already.
  func find(_ reading: Reading) -> Reading? {
    all.members(like: reading.watched).first {
      $0.keyPaths == reading.keyPaths && $0.slot === reading.slot
    }
  }

  /// Forgets what was read by a wrapper that is gone.
  mutating func remove(of slot: ObservationSlot) {
    guard let watched = bySlot.removeValue(forKey: ObjectIdentifier(slot)) else { return }
    for watched in watched { all.remove(watched) { $0.slot === slot } }
  }

  /// Whether changes can concern one of them; see `WatchIndex`.
  func canBeConcerned(by changes: ChangeSet) -> Bool { all.canBeConcerned(by: changes) }

  /// Takes out those that a step has changed.
  mutating func take(changedBy step: VersionStep) -> [Reading] {
    if all.isEmpty { return [] }
    let changed = all.concerned(by: step).filter { $0.isChanged(by: step) }
    for reading in changed { remove(reading) }
    return changed
  }

  private mutating func remove(_ reading: Reading) {
    let watched = reading.watched
    all.remove(watched) { $0.signal === reading.signal }
    // Wrappers live long, and may have read very many objects.
    guard let slot = reading.slot,
      !all.members(like: watched).contains(where: { $0.slot === slot })
    else { return }
    bySlot[ObjectIdentifier(slot)]?.remove(watched)
  }
}
