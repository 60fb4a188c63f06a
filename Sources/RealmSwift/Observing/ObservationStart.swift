// How an observation begins: here, on a queue, or on an actor. For the latter two the value goes
// over in its frozen form to a Realm of that place, and is observed there.
internal import Dispatch
internal import ObjectStore
internal import Platform
internal import Storage

/// An observation that is to begin.
struct ObservationStart<Subject: ThreadConfined> {
  let subject: Subject
  let realm: ConfinedRealm
  /// The actor to which the observer's block belongs, if the client has formed it on one.
  let place: BlockPlace?
  /// Whether the observer is called first with its subject as it is.
  let hasFirstCall: Bool
  /// Makes the observation of the subject's form in the place where it is observed.
  let make: (Subject) -> Observation
  /// Called when the subject was deleted before the observation began.
  let wasDeleted: () -> Void

  init(
    _ subject: Subject, _ realm: ConfinedRealm, _ place: BlockPlace?, hasFirstCall: Bool,
    make: @escaping (Subject) -> Observation, wasDeleted: @escaping () -> Void = {}
  ) {
    self.subject = subject
    self.realm = realm
    self.place = place
    self.hasFirstCall = hasFirstCall
    self.make = make
    self.wasDeleted = wasDeleted
  }

  /// Begins on a queue; without one, where the Realm is confined.
  ///
  /// Stops when the queue is concurrent, or the Realm's content cannot be observed now; and, where
  /// the block would be called first, when it belongs to an actor that does not run there.
  func begin(on queue: DispatchQueue?) -> NotificationToken {
    realm.requireObservable()
    let slot = ObservationSlot()
    guard let queue else {
      place?.requireHere()
      realm.requireObservers().add(make(subject), slot, isPending: hasFirstCall)
      return NotificationToken(slot)
    }
    Confinement.requireSerial(queue)
    let arrival = arrival(slot)
    queue.run(later: { [place] in
      // At once: the first change may come much later.
      place?.requireHere()
      arrival.value(Confinement(queue))
    })
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
    let frozen = subject.hiddenForm()
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
        guard realm.advance(to: since.currentSnapshot().version) else {
          slot.end()
          return
        }
        guard let live = realm.observable(frozen) else { return wasDeleted() }
        realm.requireObservers().add(
          make(live), slot, since: (since, reader), isPending: hasFirstCall)
      }
    }
  }
}

private func arrive(
  on actor: isolated any Actor, _ arrival: Carried<(Confinement) -> Void>
) { arrival.value(Confinement(actor)) }
