// The property wrapper that resolves its value wherever it is read.
internal import Platform
internal import Storage

/// A confined value that may be read in any place: each read gives the live value of the Realm that
/// belongs there.
///
/// Nil once the value was deleted. Inside a write transaction it is part of that transaction. In an actor
/// the Realm of the file has to be open there. The file keeps the version of the last read until the
/// wrapper goes.
@propertyWrapper
public final class ThreadSafe<T: ThreadConfined>: @unchecked Sendable {
  // @unchecked: the value is frozen, and guarded by its monitor.
  private let frozen: Monitor<Carried<T?>>

  /// Wraps a value; nil stays nil.
  ///
  /// Stops when the value belongs to no Realm or may not be used here. An argument of a function that
  /// runs in another actor is wrapped only there, which is too late: pass a `ThreadSafeReference`.
  public init(wrappedValue: T?) {
    frozen = Monitor(Carried(Self.freeze(wrappedValue)))
  }

  /// The live value in the Realm of the calling thread, queue or actor.
  public var wrappedValue: T? {
    get {
      guard let value = frozen.withLock({ $0 }).value, let source = value.realm?.confined else {
        return nil
      }
      let target: ConfinedRealm
      do { target = try ConfinedRealm.here(like: source) } catch {
        misuse(.storage, "The thread safe value cannot be read: \(error)")
      }
      guard let live = target.live(value) else { return nil }
      // The next read starts from here, so that the file need not keep the older version. A value that
      // the running transaction has made has no frozen form.
      if target.writing == nil,
        let version = target.snapshot?.version, version > source.currentSnapshot().version
      {
        let newer = Carried<T?>(live.freeze())
        let older = frozen.withLock { frozen in
          defer { frozen = newer }
          return frozen
        }
        // Its release takes other locks.
        _ = older
      }
      return live
    }
    set {
      let newer = Carried(Self.freeze(newValue))
      let older = frozen.withLock { frozen in
        defer { frozen = newer }
        return frozen
      }
      _ = older
    }
  }

  private static func freeze(_ value: T?) -> T? {
    guard let value else { return nil }
    guard let realm = value.realm?.confined else {
      misuse(.ownership, "Only managed objects may be wrapped as thread safe.")
    }
    if !realm.confinement.isHere {
      realm.confinement.stop(
        "A @ThreadSafe argument of a function of another actor is wrapped after the hop there: make a "
          + "ThreadSafeReference before the call and pass that.")
    }
    return value.isInvalidated ? nil : value.freeze()
  }
}
