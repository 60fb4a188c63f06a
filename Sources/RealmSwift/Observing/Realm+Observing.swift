// Observing a Realm as a whole.

/// What is called for an observed Realm.
public typealias NotificationBlock = Realm.NotificationBlock

extension Realm {
  /// What happened to an observed Realm.
  public enum Notification: String, Sendable {
    /// It shows another version: it was refreshed, or has written.
    case didChange = "RLMRealmDidChangeNotification"
    /// There is a newer version, to which the Realm does not move by itself.
    case refreshRequired = "RLMRealmRefreshRequiredNotification"
  }

  /// What is called for an observed Realm.
  public typealias NotificationBlock = (_ notification: Notification, _ realm: Realm) -> Void

  /// Has a block called each time when the Realm has moved to another version.
  ///
  /// Calls come where the Realm is confined: after a write of its own before the write returns,
  /// after the commit of others when it is refreshed. Stops on a frozen and on a read-only Realm,
  /// and on a thread that runs no run loop.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    _ block: @escaping @isolated(any) (_ notification: Notification, _ realm: Realm) -> Void
  ) -> NotificationToken {
    confined.requireChanging()
    let placed = PlacedBlock(realmBlock: block)
    placed.place?.requireHere()
    let slot = ObservationSlot()
    let callback: NotificationBlock = { placed.call(($0, $1)) }
    confined.requireObservers().add(RealmObservation(confined, callback), slot)
    return NotificationToken(slot)
  }
}
