// What bindings lead to, one subclass a kind: closures, constants, parts of values, optionals.
// Properties of objects are in PropertyLocation.swift.

/// A place whose value a binding reads and writes.
///
/// Immutable; the value is elsewhere.
class BindingLocation<Value> {
  /// Whether values that belong to a Realm are given out in their frozen form.
  var showsFrozen: Bool { false }
  /// The observation of the wrapper that the binding comes from.
  var slot: ObservationSlot? { nil }
  /// The value to change, live if it belongs to a live Realm; it may have been deleted.
  ///
  /// Nil when what has it was deleted.
  func read() -> Value? { fatalError("abstract") }
  /// The value for reading; the last one, where that is known, if it was deleted.
  func readable() -> Value { fatalError("abstract") }
  func write(_ value: Value) { fatalError("abstract") }
  /// Has who reads now be told when the value changes.
  ///
  /// - Parameter isWay: whether the value is only on the way to what is read.
  func register(isWay: Bool) {}
  /// The value is about to be deleted.
  func willDelete() {}
  /// The value, or what hangs on it, was changed by a binding.
  func didWrite() {}

  /// The value for the client.
  final func show() -> Value {
    let value = readable()
    return showsFrozen ? shownForm(of: value) : value
  }
}

/// A value in its frozen form if it belongs to a live Realm; in a transaction as it is.
private func shownForm<Value>(of value: Value) -> Value {
  guard let confined = value as? any ThreadConfined else { return value }
  func frozen<Confined: ThreadConfined>(_ confined: Confined) -> Confined {
    guard let realm = confined.realm?.confined, !realm.isFrozen, realm.writing == nil,
      !confined.isInvalidated
    else { return confined }
    return confined.freeze()
  }
  return frozen(confined) as! Value
}

/// A value, or an empty one of no Realm in place of an object that was deleted.
private func withoutDeleted<Value>(_ value: Value) -> Value {
  guard let confined = value as? any ThreadConfined else { return value }
  func existing<Confined: ThreadConfined>(_ confined: Confined) -> Confined {
    confined.isInvalidated ? emptyForm(of: confined) : confined
  }
  return existing(confined) as! Value
}

/// Closures of the client.
final class ClosureLocation<Value>: BindingLocation<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void
  private let places: [Confinement]

  init(
    get: @escaping @isolated(any) @Sendable () -> Value,
    set: @escaping @isolated(any) @Sendable (Value) -> Void
  ) {
    places = [get.isolation, set.isolation].compactMap { $0.map { Confinement($0) } }
    // Sound: isolation is a matter of types, the functions are called alike. `check` sees to the
    // place.
    self.get = unsafeBitCast(get, to: (() -> Value).self)
    self.set = unsafeBitCast(set, to: ((Value) -> Void).self)
  }

  private func check() {
    for place in places where !place.isHere {
      misuse(
        .confinement,
        "The closures of a Binding belong to the \(place.description) and were used on the "
          + "\(Confinement.placeDescription).")
    }
  }

  override func read() -> Value? { readable() }

  override func readable() -> Value {
    check()
    return get()
  }

  override func write(_ value: Value) {
    check()
    set(value)
  }
}

/// A value that never changes.
final class ConstantLocation<Value>: BindingLocation<Value> {
  private let value: Value
  init(_ value: Value) { self.value = value }
  override func read() -> Value? { value }
  override func readable() -> Value { value }
  override func write(_ value: Value) {}
}

/// What hangs on another location.
class DerivedLocation<Base, Value>: BindingLocation<Value> {
  let base: BindingLocation<Base>
  init(_ base: BindingLocation<Base>) { self.base = base }
  override var showsFrozen: Bool { base.showsFrozen }
  override var slot: ObservationSlot? { base.slot }
  override func register(isWay: Bool) { base.register(isWay: isWay) }
  override func didWrite() { base.didWrite() }
}

/// A part of a value.
final class MemberLocation<Base, Value>: DerivedLocation<Base, Value> {
  private let keyPath: WritableKeyPath<Base, Value>

  init(_ base: BindingLocation<Base>, _ keyPath: WritableKeyPath<Base, Value>) {
    self.keyPath = keyPath
    super.init(base)
  }

  override func read() -> Value? { base.read().map { $0[keyPath: keyPath] } }
  override func readable() -> Value { base.readable()[keyPath: keyPath] }

  override func write(_ value: Value) {
    guard var whole = base.read() else { return logDeleted(Base.self) }
    whole[keyPath: keyPath] = value
    base.write(whole)
  }
}

/// A value as its optional.
final class OptionalLocation<Wrapped>: DerivedLocation<Wrapped, Wrapped?> {
  override func read() -> Wrapped?? { base.read() }
  override func readable() -> Wrapped? { base.readable() }
  override func write(_ value: Wrapped?) { if let value { base.write(value) } }
}

/// What is inside of an optional.
final class UnwrappedLocation<Wrapped>: DerivedLocation<Wrapped?, Wrapped> {
  /// The value that was there when the location was made.
  private let first: Wrapped

  init(_ base: BindingLocation<Wrapped?>, _ first: Wrapped) {
    self.first = first
    super.init(base)
  }

  override func read() -> Wrapped? { base.read().map { $0 ?? first } }
  override func readable() -> Wrapped { base.readable() ?? withoutDeleted(first) }
  override func write(_ value: Wrapped) { base.write(value) }
}

/// A value without its type.
final class HashableLocation<Base: Hashable>: DerivedLocation<Base, AnyHashable> {
  override func read() -> AnyHashable? { base.read().map { AnyHashable($0) } }
  override func readable() -> AnyHashable { AnyHashable(base.readable()) }
  override func write(_ value: AnyHashable) {
    if let value = value.base as? Base { base.write(value) }
  }
}
