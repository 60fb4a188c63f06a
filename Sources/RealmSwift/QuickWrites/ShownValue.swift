// What property wrappers have in common: a value that is shown in frozen form, changed in its live
// one, and followed as long as the wrapper is there.
internal import Storage

/// The value of a property wrapper.
///
/// What it shows is frozen to the Realm's version; the Realm keeps that form, and lets it go when
/// it moves on. So no wrapper pins an old version, however long it is not read.
final class ShownValue<Value: ThreadConfined> {
  // Unchecked exclusivity: only the Realm's place touches these, in short accesses that run no
  // foreign code.
  /// Live, or frozen until it is first used; or it belongs to no Realm.
  @exclusivity(unchecked) private var source: Value
  private let keyPaths: [String]?
  @exclusivity(unchecked) private var readers = Readers()
  /// Those who have read parts of the value; nil before there are any.
  ///
  /// The Realm tells them of changes, but not that another value is shown.
  @exclusivity(unchecked) private var ofParts: RedrawSignal?
  /// Whether the value was read while it belonged to no Realm, which would tell of it.
  @exclusivity(unchecked) private var wasReadUnmanaged = false
  /// Ends with the wrapper.
  @exclusivity(unchecked) private var token: NotificationToken?
  @exclusivity(unchecked) private var current: Current?

  /// What is shown now.
  private struct Current {
    let realm: ConfinedRealm
    /// The Realm's `shownRound` when the form was made.
    let round: UInt64
    /// Kept by the Realm's `shownForms`, so it is there as long as the round lasts.
    let form: Unmanaged<ShownForm<Value>>
  }

  init(_ value: Value, keyPaths: [String]? = nil) {
    source = value
    self.keyPaths = keyPaths
  }

  /// The value to change: the live one, unless it was deleted before it could be thawed.
  var live: Value {
    if source.isFrozen {
      // Bindings may be used anywhere. What is thawed would be of the caller's place from now on; a
      // live value stops elsewhere by itself.
      if _slowPath(!Confinement.isMain) {
        Confinement.main.stop(
          "Property wrappers and their bindings are for the main actor: use `bind` elsewhere.")
      }
      if let thawed = source.thaw() { source = thawed }
    }
    if token?.slot.isEnded ?? true { findAgain() }
    return source
  }

  /// Gets the value anew when it is there and only its accessor is not valid any more: the Realm
  /// was invalidated.
  private func findAgain() {
    guard source.isInvalidated, let realm = source.realm?.confined, !realm.isFrozen,
      let found = (source as? any Followable)?.form(in: realm) as? Value
    else { return }
    source = found
    token = nil
    current = nil
  }

  /// The live value; its last form when it was deleted.
  var existing: Value {
    let live = live
    return live.isInvalidated ? lastForm(of: live) : live
  }

  private func lastForm(of live: Value) -> Value {
    if readers.lastForm == nil, live.realm?.confined.writing == nil {
      (token?.slot.observation as? RedrawObservation)?.catchUp()
    }
    return readers.lastForm as? Value ?? emptyForm(of: live)
  }

  /// What the observation is known by; nil before the value is observed.
  var slot: ObservationSlot? { token?.slot }

  /// The value for showing; who follows what is read is told when it changes.
  func show() -> Value {
    if let current, current.round == current.realm.shownRound {
      current.realm.check()
      let value = current.form._withUnsafeGuaranteedRef { $0.value }
      readers.ofCurrent.wasRead()
      return value
    }
    let live = live
    guard let realm = live.realm?.confined, !realm.isFrozen else {
      readers.ofCurrent.wasRead()
      wasReadUnmanaged = true
      return live
    }
    realm.check()
    if token == nil { observe(live, realm) }
    let value = formAnew(live, realm)
    // Behind it: the value may be a newer one than who reads it now has read before.
    readers.ofCurrent.wasRead()
    return value
  }

  /// Shows another value from now on.
  func replace(_ value: Value) {
    token = nil
    current = nil
    source = value
    let older = readers
    readers = Readers()
    older.showNewer()
    older.tellOlder()
    let ofParts = ofParts
    self.ofParts = nil
    ofParts?.send()
  }

  /// Tells those who have read the value while it belonged to no Realm that it has changed.
  func didWrite() {
    guard wasReadUnmanaged else { return }
    wasReadUnmanaged = false
    readers.showNewer()
    readers.tellOlder()
  }

  /// Notes that a part of the value was read.
  func wasReadOnTheWay() {
    let live = live
    guard let realm = live.realm?.confined else {
      readers.ofCurrent.wasRead()
      wasReadUnmanaged = true
      return
    }
    let signal = ofParts ?? RedrawSignal()
    ofParts = signal
    signal.wasRead()
    // What tells of the part leaves out writes that name the wrapper's token.
    if token == nil, !realm.isFrozen {
      realm.check()
      observe(live, realm)
    }
  }

  /// Begins to follow the value, so that its last form is known when it is gone.
  func willDelete() {
    let live = live
    if token == nil, let realm = live.realm?.confined, !realm.isFrozen { observe(live, realm) }
  }

  /// The observation's token; stops where the value cannot be observed.
  func requireToken() -> NotificationToken {
    if let token { return token }
    let live = live
    let realm = requireObservedRealm(of: live)
    observe(live, realm)
    return token.unsafelyUnwrapped
  }

  private func formAnew(_ live: Value, _ realm: ConfinedRealm) -> Value {
    // In a transaction the value is shown as it is: much of it may have no frozen form yet.
    if realm.writing == nil {
      (token?.slot.observation as? RedrawObservation)?.catchUp()
    }
    if live.isInvalidated { return lastForm(of: live) }
    if realm.writing != nil { return live }
    let form = ShownForm(live.freeze())
    realm.shownForms.append(form)
    current = Current(realm: realm, round: realm.shownRound, form: .passUnretained(form))
    return form.value
  }

  private func observe(_ live: Value, _ realm: ConfinedRealm) {
    guard let value = live as? any ThreadConfined & Followable, !realm.configuration.readOnly,
      realm.findMailbox() != nil, !live.isInvalidated,
      // Who shows what is inside of a mixed value is told by the object that has it.
      (live as? any InsideMixedValue)?.nestedPlace == nil
    else { return }
    let slot = ObservationSlot(in: realm)
    token = NotificationToken(slot)
    let (keyPaths, readers) = (keyPaths, readers)
    realm.requireObservers().addOutsideOfTransaction { realm in
      guard !slot.isEnded, !value.isInvalidated else { return }
      realm.requireObservers().add(
        RedrawObservation(value, realm, keyPaths, readers), slot, isPending: false)
    }
  }
}

/// What is shown of a version; the Realm keeps it while it stands there.
final class ShownForm<Value> {
  let value: Value
  init(_ value: Value) { self.value = value }
}

/// What is shown of a value that was deleted before anything of it was seen: an empty one of no
/// Realm.
func emptyForm<Value: ThreadConfined>(of value: Value) -> Value {
  switch Value.self {
  case let type as ObjectBase.Type: type.init() as! Value
  case let type as any HasEmptyForm.Type: type.makeEmpty() as! Value
  default: value
  }
}

/// Other values that can belong to no Realm.
private protocol HasEmptyForm {
  static func makeEmpty() -> Self
}

extension List: HasEmptyForm {
  fileprivate static func makeEmpty() -> Self { Self() }
}

extension MutableSet: HasEmptyForm {
  fileprivate static func makeEmpty() -> Self { Self() }
}

extension Map: HasEmptyForm {
  fileprivate static func makeEmpty() -> Self { Self() }
}

extension Projection: HasEmptyForm {
  fileprivate static func makeEmpty() -> Self { Self(projecting: Root()) }
}

/// A property wrapper's value as the place of a binding's.
final class ShownLocation<Value: ThreadConfined>: BindingLocation<Value> {
  private let shown: ShownValue<Value>
  init(_ shown: ShownValue<Value>) { self.shown = shown }

  override var showsFrozen: Bool { true }
  override var slot: ObservationSlot? { shown.slot }
  override func read() -> Value? { shown.live }
  override func readable() -> Value { shown.existing }
  override func write(_ value: Value) { shown.replace(value) }
  override func willDelete() { shown.willDelete() }
  override func didWrite() { shown.didWrite() }

  override func register(isWay: Bool) {
    if isWay { shown.wasReadOnTheWay() } else { _ = shown.show() }
  }
}
