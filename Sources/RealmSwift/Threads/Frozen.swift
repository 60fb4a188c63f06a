// Frozen values have the types of live ones, which are not Sendable; this carries them across.

/// A frozen value, which may be used in any place at the same time.
public struct Frozen<Value>: @unchecked Sendable {
  // @unchecked: the initializers stop unless the value is frozen, and what is frozen never changes.
  /// The value.
  public let value: Value

  /// Carries a frozen object or collection; stops when it is not frozen.
  public init(_ value: Value) where Value: ThreadConfined {
    Self.check(value.isFrozen)
    self.value = value
  }

  /// Carries a frozen Realm; stops when it is not frozen.
  public init(_ realm: Realm) where Value == Realm {
    Self.check(realm.isFrozen)
    value = realm
  }

  private static func check(_ isFrozen: Bool) {
    if !isFrozen {
      misuse(.frozen, "Only frozen values can be carried by Frozen: call freeze() on it first.")
    }
  }
}
