// The property wrapper that resolves its value wherever it is read.
internal import Platform
internal import Storage

/// A confined value that may be read in any place: each read gives the live value of the Realm that
/// belongs there.
///
/// Nil once the value was deleted. Inside a write transaction it is part of that transaction. In an
/// actor the Realm of the file has to be open there. The file keeps the version of the last read
/// until the wrapper goes.
@propertyWrapper
public final class ThreadSafe<T: ThreadConfined>: @unchecked Sendable {
  // @unchecked: the content is frozen, or carried by a `PendingReference`, and guarded by its
  // monitor.
  private enum Content {
    case nothing
    case frozen(T)
    /// Wrapped in a transaction that has not ended then.
    case pending(PendingReference)
  }

  private let content: Monitor<Carried<Content>>

  /// Wraps a value; nil stays nil.
  ///
  /// Stops when the value belongs to no Realm or may not be used here. An argument of a function
  /// that runs in another actor is wrapped only there, which is too late: pass a
  /// `ThreadSafeReference`.
  public init(wrappedValue: T?) {
    content = Monitor(Carried(Self.carry(wrappedValue)))
  }

  /// The live value in the Realm of the calling thread, queue or actor.
  ///
  /// Of a value that was wrapped in a transaction: nil elsewhere until that is committed.
  public var wrappedValue: T? {
    get {
      switch content.withLock({ $0 }).value {
      case .nothing: return nil
      case .frozen(let value): return live(value)
      case .pending(let reference):
        switch reference.standing(T.self) {
        case nil, .gone: return nil
        case .live(let value): return value
        case .frozen(let value): return live(value)
        }
      }
    }
    set { replace(Self.carry(newValue)) }
  }

  private func live(_ value: T) -> T? {
    guard let source = value.realm?.confined else { return nil }
    let target: ConfinedRealm
    do { target = try ConfinedRealm.here(like: source) } catch {
      misuse(.storage, "The thread safe value cannot be read: \(error)")
    }
    // What was deleted meanwhile is not shown, unlike by a reference.
    target.isUntouched = false
    guard let live = target.live(value) else { return nil }
    // The next read starts from here, so that the file need not keep the older version. A value
    // that the running transaction has made has no frozen form.
    if target.writing == nil,
      let version = target.snapshot?.version, version > source.currentSnapshot().version
    {
      replace(.frozen(live.freeze()))
    }
    return live
  }

  private func replace(_ newer: Content) {
    let newer = Carried(newer)
    let older = content.withLock { content in
      defer { content = newer }
      return content
    }
    // Its release takes other locks.
    _ = older
  }

  private static func carry(_ value: T?) -> Content {
    guard let value else { return .nothing }
    guard let realm = value.realm?.confined else {
      misuse(.ownership, "Only managed objects may be wrapped as thread safe.")
    }
    if !realm.confinement.isHere {
      realm.confinement.stop(
        "A @ThreadSafe argument of a function of another actor is wrapped after the hop there: make a "
          + "ThreadSafeReference before the call and pass that.")
    }
    if value.isInvalidated { return .nothing }
    return realm.writing == nil
      ? .frozen(value.freeze()) : .pending(PendingReference(value, of: realm))
  }
}
