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
  // @unchecked: `content` is read and replaced under its monitor only; what it holds is frozen, or
  // a `PendingReference`, which may go anywhere.
  private enum Content {
    case nothing
    case frozen(T)
    /// The value was wrapped while its transaction ran.
    case pending(PendingReference)
  }

  private struct State {
    var content: Carried<Content>
    /// How often it was replaced.
    var round: UInt64 = 0
  }

  private let state: Monitor<State>

  /// Wraps a value; nil stays nil.
  ///
  /// Stops when the value belongs to no Realm or may not be used here. An argument of a function
  /// that runs in another actor is wrapped only there, which is too late: pass a
  /// `ThreadSafeReference`.
  public init(wrappedValue: T?) {
    state = Monitor(State(content: Carried(Self.carry(wrappedValue))))
  }

  /// The live value in the Realm of the calling thread, queue or actor.
  ///
  /// Of a value that was wrapped in a transaction: nil elsewhere until that is committed.
  public var wrappedValue: T? {
    get {
      let (content, round) = state.withLock { ($0.content, $0.round) }
      switch content.value {
      case .nothing: return nil
      case .frozen(let value): return live(value, round)
      case .pending(let reference):
        switch reference.standing(T.self) {
        case nil, .gone: return nil
        case .live(let value): return value
        case .frozen(let value): return live(value, round)
        }
      }
    }
    set { replace(Self.carry(newValue)) }
  }

  private func live(_ value: T, _ round: UInt64) -> T? {
    guard let source = value.realm?.confined else { return nil }
    let target: ConfinedRealm
    do { target = try ConfinedRealm.here(like: source) } catch {
      misuse(.storage, "The thread safe value cannot be read: \(error)")
    }
    // The Realm must not go back to the frozen value's version: a value deleted since reads as nil.
    target.isUntouched = false
    guard let live = target.live(value) else { return nil }
    // The next read starts from here, so that the file need not keep the older version. A value
    // that the running transaction has made has no frozen form.
    if target.writing == nil,
      let version = target.snapshot?.version, version > source.currentSnapshot().version
    {
      replace(.frozen(live.hiddenForm()), after: round)
    }
    return live
  }

  /// - Parameter round: only if nothing was set since; nil means always.
  private func replace(_ newer: Content, after round: UInt64? = nil) {
    let newer = Carried(newer)
    let older = state.withLock { state in
      if let round, round != state.round { return newer }
      defer {
        state.content = newer
        state.round &+= 1
      }
      return state.content
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
      ? .frozen(value.hiddenForm()) : .pending(PendingReference(value, of: realm))
  }
}
