// What a client holds of an observation, and the place in which the observation itself lives until
// it ends. Tokens go to any thread; observations are confined to their Realm's place.
internal import ObjectStore
internal import Platform

/// Keeps an observation going.
///
/// The observation, and with it the Realm, lives as long as its token. `invalidate`, or the release
/// of the token, ends it from any thread: where the Realm is confined, no call comes after that;
/// elsewhere, a call that has begun already may still go on.
public final class NotificationToken: Sendable, Hashable {
  let slot: ObservationSlot

  init(_ slot: ObservationSlot) { self.slot = slot }

  deinit { slot.end() }

  /// Ends the observation.
  ///
  /// - Returns: whether it had not ended before.
  @discardableResult
  public func invalidate() -> Bool {
    if PlantedBug.tellAfterEnd.isActive { return true }
    return slot.end()
  }

  /// Whether both are the same token.
  public static func == (left: NotificationToken, right: NotificationToken) -> Bool {
    left === right
  }

  /// Hashes the instance.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The place of one observation: empty until it has come to its Realm, and after its end.
///
/// Emptied by any thread, so that a Realm whose place never runs again is not kept.
final class ObservationSlot: Sendable {
  // @unchecked: it is used in its Realm's place only; elsewhere its constants are read, or it is
  // dropped.
  private struct State: @unchecked Sendable {
    var observation: Observation?
    var isEnded = false
    var mailbox: RealmMailbox?
    /// Sent at the end, once.
    var endSignal: TaskSignal?
  }

  private let state = Monitor(State())
  /// The Realm in which the observation will begin, if that is certain.
  private let realm: ObjectIdentifier?

  /// - Parameter realm: where the observation will begin, though perhaps not yet.
  init(in realm: ConfinedRealm? = nil) { self.realm = realm.map { ObjectIdentifier($0) } }

  /// The observation, to be used in its Realm's place; nil before it came there and after its end.
  var observation: Observation? { state.withLock { Carried($0.observation) }.value }

  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Whether a Realm's commit can leave the observer out: it belongs there, or has ended.
  func canSkip(_ realm: ConfinedRealm) -> Bool {
    let carried = Carried(realm)
    return state.withLock { state in
      if state.isEnded { return true }
      // One that waits for the end of the transaction is not told of its commit anyway.
      guard let observation = state.observation else {
        return self.realm == ObjectIdentifier(carried.value)
      }
      return observation.realm === carried.value
    }
  }

  /// Puts the observation in; false when it was ended before.
  func install(_ observation: Observation, _ mailbox: RealmMailbox) -> Bool {
    let carried = Carried(observation)
    return state.withLock { state in
      if state.isEnded { return false }
      state.observation = carried.value
      state.mailbox = mailbox
      return true
    }
  }

  /// Has a signal sent when the observation ends, at once if it has.
  func notifyOfEnd(_ signal: TaskSignal) {
    let hasEnded = state.withLock { state in
      if !state.isEnded { state.endSignal = signal }
      return state.isEnded
    }
    if hasEnded { signal.send() }
  }

  /// Has a signal sent when there is something to tell, instead of a call; in the Realm's place.
  ///
  /// The first time right after the observation's beginning, and again after each `collect`.
  func awaitChange(_ signal: TaskSignal) {
    guard let observation else { return }
    observation.collector = .waiting(signal)
    observation.realm.observers?.isAwaited(self, observation)
  }

  /// Calls the observer with what there is to tell, if anything; in the Realm's place.
  ///
  /// What comes after such a call is gathered until the next `awaitChange`.
  func collect() {
    guard let observation else { return }
    observation.realm.observers?.collect(self, observation)
  }

  /// Ends the observation, and tells whether it had not ended before.
  @discardableResult
  func end() -> Bool {
    let ended = state.withLock { state in
      defer { state = State(isEnded: true) }
      return state
    }
    ended.endSignal?.send()
    guard let observation = ended.observation, let mailbox = ended.mailbox else {
      return !ended.isEnded
    }
    if observation.realm.confinement.isHere {
      observation.realm.observers?.remove(self)
    } else {
      // Only the empty slot is still there.
      mailbox.sendToRealm { $0.observers?.remove(self) }
    }
    return true
  }
}
