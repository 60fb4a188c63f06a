// How an observation begins: here, on a queue, or on an actor. For the latter two the value goes over in its
// frozen form to a Realm of that place, and is observed there.
internal import Dispatch
internal import ObjectStore
internal import Platform
internal import Storage

/// An observation that is to begin.
struct ObservationStart<Subject: ThreadConfined> {
  let subject: Subject
  let realm: ConfinedRealm
  /// Whether the observer is called first with its subject as it is.
  let hasFirstCall: Bool
  /// Makes the observation of the subject's form in the place where it is observed.
  let make: (Subject) -> Observation
  /// Called when the subject was deleted before the observation began.
  let wasDeleted: () -> Void

  init(
    _ subject: Subject, _ realm: ConfinedRealm, hasFirstCall: Bool,
    make: @escaping (Subject) -> Observation, wasDeleted: @escaping () -> Void = {}
  ) {
    self.subject = subject
    self.realm = realm
    self.hasFirstCall = hasFirstCall
    self.make = make
    self.wasDeleted = wasDeleted
  }

  /// Begins on a queue; without one, where the Realm is confined.
  ///
  /// Stops when the queue is concurrent, or the Realm's content cannot be observed now.
  func begin(on queue: DispatchQueue?) -> NotificationToken {
    realm.requireObservable()
    let slot = ObservationSlot()
    guard let queue else {
      realm.requireObservers().add(make(subject), slot, isOwed: hasFirstCall)
      return NotificationToken(slot)
    }
    Confinement.requireSerial(queue)
    let arrival = arrival(slot)
    queue.async { arrival.value(Confinement(queue)) }
    return NotificationToken(slot)
  }

  /// Begins on an actor; not at all when the task is cancelled.
  ///
  /// Stops when the Realm's content cannot be observed now.
  func begin(
    on actor: any Actor, _ isolation: isolated (any Actor)?
  ) async -> NotificationToken {
    realm.requireObservable()
    let slot = ObservationSlot()
    if Task.isCancelled { slot.end() } else { await arrive(on: actor, arrival(slot)) }
    return NotificationToken(slot)
  }

  /// What begins the observation in another place, and is called there once.
  private func arrival(_ slot: ObservationSlot) -> Carried<(Confinement) -> Void> {
    let frozen = subject.freeze()
    // The version that the observer knows, and what keeps the commits after it until it was called.
    let since = realm.frozenApart()
    let reader = realm.history.register(
      standingOn: since.currentSnapshot().version)
    return Carried { [make, wasDeleted, hasFirstCall] place in
      if slot.isEnded { return }
      let realm: ConfinedRealm
      do { realm = try ConfinedRealm.thaw(since, place) } catch {
        misuse(.storage, "The Realm cannot be opened to observe it: \(error)")
      }
      realm.requireObservers().addOutsideOfTransaction { realm in
        if slot.isEnded { return }
        // Lost with a failed sync: nobody knows what has become of the subject.
        guard realm.advance(to: since.currentSnapshot().version) else { return slot.end() }
        guard let live = realm.live(frozen) else { return wasDeleted() }
        realm.requireObservers().add(
          make(live), slot, since: (since, reader), isOwed: hasFirstCall)
      }
    }
  }
}

private func arrive(
  on actor: isolated any Actor, _ arrival: Carried<(Confinement) -> Void>
) { arrival.value(Confinement(actor)) }

/// The block of an actor's observer as a plain function, to be called only where the actor runs.
///
/// It does not keep the actor alive, which may have the token in one of its properties.
func plainFunction<A: Actor, Change>(
  _ actor: A, _ block: @escaping @Sendable (isolated A, Change) -> Void
) -> (Change) -> Void {
  // Sound: isolation is a matter of types, the functions are called alike. Observations are called only
  // in their Realm's place, which is the actor.
  let plain = unsafeBitCast(block, to: ((A, Change) -> Void).self)
  let reference = ActorReference(actor)
  return { change in
    // The actor runs this.
    if let actor = reference.actor { plain(actor as! A, change) }
  }
}
