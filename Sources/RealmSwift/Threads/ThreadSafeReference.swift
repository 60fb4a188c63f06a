// References that carry confined values to other places. Inside they are frozen values: immutable, so
// any thread may hold them, and made live again by thawing into the Realm that resolves them.
internal import Platform
internal import Storage

/// Carries a confined value to another thread, queue or actor.
///
/// Make it where the value may be used, resolve it once with `Realm.resolve` where it shall be used next.
/// The file keeps the value's version until the reference is resolved or released.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
  private let content: Content

  /// What is resolved once.
  private final class Content: @unchecked Sendable {
    // @unchecked: the value is frozen, and `value` is guarded by its monitor.
    let value: Monitor<Confined?>

    init(_ value: sending Confined) { self.value = Monitor(value) }

    func take() -> Confined? {
      value.withLock { value in
        defer { if !PlantedBug.resolveTwice.isActive { value = nil } }
        return Carried(value)
      }.value
    }
  }

  /// A reference to a value.
  ///
  /// Stops when the value belongs to no Realm, was deleted or invalidated, or may not be used here.
  public init(to threadConfined: Confined) {
    guard let realm = threadConfined.realm else {
      misuse(
        .ownership,
        "Cannot construct reference to unmanaged object, which can be passed across threads "
          + "directly")
    }
    realm.confined.check()
    if threadConfined.isInvalidated {
      misuse(.invalidated, "Cannot construct reference to invalidated object")
    }
    // Frozen: no longer confined.
    nonisolated(unsafe) let frozen = threadConfined.freeze()
    content = Content(frozen)
  }

  /// Whether the reference was resolved already.
  public var isInvalidated: Bool { content.value.withLock { $0 == nil } }

  fileprivate func resolve(in target: ConfinedRealm) -> Confined? {
    target.check()
    guard let frozen = content.take() else {
      misuse(.argument, "Can only resolve a thread safe reference once.")
    }
    return target.live(frozen)
  }
}

extension Realm {
  /// The live value of a reference in this Realm; nil when it was deleted, or is of another file.
  ///
  /// Moves the Realm to the reference's version at least. Stops when the reference was resolved before.
  public func resolve<Confined: ThreadConfined>(
    _ reference: ThreadSafeReference<Confined>
  ) -> Confined? {
    if confined.isFrozen {
      misuse(.frozen, "Cannot resolve a thread safe reference in a frozen Realm.")
    }
    return reference.resolve(in: confined)
  }
}

extension ConfinedRealm {
  /// The live form of a frozen value in this Realm; nil when it was deleted, or is of another file.
  func live<Value: ThreadConfined>(_ frozen: Value) -> Value? {
    guard let source = frozen.realm?.confined, source.store === store, !source.isInvalidatedFrozen,
      !source.isLost
    else { return nil }
    let version = source.currentSnapshot().version
    guard PlantedBug.resolveBehind.isActive || advance(to: version) else { return nil }
    return receiving { frozen.thaw() }
  }

  /// Moves to a version at least; false when that was lost with a failed sync.
  func advance(to version: Version) -> Bool {
    // A transaction builds on the newest version of all.
    if writing != nil || currentSnapshot().version >= version { return true }
    do throws(StorageError) {
      try store.waitForDurability(version)
      _ = try refresh()
    } catch {
      return false
    }
    return currentSnapshot().version >= version
  }
}
