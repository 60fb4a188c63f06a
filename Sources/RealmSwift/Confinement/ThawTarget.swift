// The Realm into which `thaw` brings a value when it is not to be looked for: how references and
// @ThreadSafe reach one certain Realm with nothing but `thaw`, whatever the value's type.
internal import Platform

extension ConfinedRealm {
  /// Runs a body in which frozen values of the file thaw into this Realm.
  func receiving<Value>(_ body: () -> Value) -> Value {
    let outer = ThawTarget.current
    ThawTarget.current = Unmanaged.passUnretained(self)
    defer { ThawTarget.current = outer }
    return body()
  }

  /// The Realm that `receiving` has set, if it has the frozen Realm's file.
  static func receiver(of frozen: ConfinedRealm) -> ConfinedRealm? {
    guard let target = ThawTarget.current?.takeUnretainedValue(), target.store === frozen.store
    else { return nil }
    return target
  }

  /// The Realm that belongs where the caller runs; stops where there can be none.
  static func here(like frozen: ConfinedRealm) throws -> ConfinedRealm {
    if let realm = RealmCache.findHere(frozen.configuration), realm.store === frozen.store {
      return realm
    }
    if let executor = ExecutorIdentity.current, !Confinement.isMain {
      misuse(
        .confinement,
        "The actor \(ActorOwner.name(of: executor)) has no Realm of this file open. Open one with "
          + "`try await Realm.open()` first, or pass a ThreadSafeReference to it and use "
          + "`resolve`.")
    }
    return try thaw(frozen, Confinement.current())
  }
}

/// The calling thread's target; set only for the length of a synchronous call.
private enum ThawTarget {
  static var current: Unmanaged<ConfinedRealm>? {
    get { threadValue.map { Unmanaged.fromOpaque($0) } }
    set { threadValue = newValue.map { UnsafeRawPointer($0.toOpaque()) } }
  }
}
