// What is inside of a reference: the frozen form of a value, given away once. Objects need a Realm
// and a key for that, results their source; all else is a frozen value in a box.
internal import ObjectStore
internal import Platform
internal import Storage

/// A frozen value that can be taken once, by any thread.
public final class _ValueReference: @unchecked Sendable {
  // @unchecked: all fields but the atomic one are immutable, and what they lead to is frozen.
  /// The retained object; 0 once it was taken.
  private let content: Atomic<UInt>
  /// Of an object: where it is, while the content is there.
  fileprivate let object: (table: TablePointer, key: ObjectKey, location: RowLocation?)?
  /// The content is a `PendingReference`.
  private let isPending: Bool

  /// - Parameter content: a frozen object, or something made of frozen ones only.
  init(_ content: AnyObject) {
    self.content = Atomic(UInt(bitPattern: Unmanaged.passRetained(content).toOpaque()))
    object = nil
    isPending = content is PendingReference
  }

  /// Refers to a value of a Realm that is in a transaction; nil of any other one.
  fileprivate static func pending(
    _ value: some ThreadConfined, of realm: ConfinedRealm
  ) -> _ValueReference? {
    guard realm.writing != nil else { return nil }
    return _ValueReference(PendingReference(value, of: realm))
  }

  /// Takes what was referred to in a transaction; nil when it was not.
  fileprivate func takePending<Value: ThreadConfined>(
    _: Value.Type, in realm: ConfinedRealm
  ) -> Value?? {
    guard isPending else { return nil }
    return .some(take(PendingReference.self).value(Value.self, in: realm))
  }

  /// The same for objects, whose class alone does not say that they are confined.
  fileprivate func takePending<Value: ObjectBase>(
    of _: Value.Type, in realm: ConfinedRealm
  ) -> Value?? {
    guard isPending else { return nil }
    return .some(take(PendingReference.self).object(in: realm) as? Value)
  }

  /// Refers to an object of a frozen Realm.
  ///
  /// - Parameter location: where it is in the Realm's version, if that is known.
  fileprivate init(
    _ frozen: ConfinedRealm, _ table: TablePointer, _ key: ObjectKey, _ location: RowLocation?
  ) {
    content = Atomic(UInt(bitPattern: Unmanaged.passRetained(frozen).toOpaque()))
    object = (table, key, location)
    isPending = false
  }

  deinit {
    if let address = UnsafeRawPointer(bitPattern: content.load(ordering: .relaxed)) {
      Unmanaged<AnyObject>.fromOpaque(address).release()
    }
  }

  var isTaken: Bool { content.load(ordering: .relaxed) == 0 }

  /// The content, which the caller keeps alive from now on; stops when it was taken before.
  ///
  /// - Parameter type: that of the content.
  func take<Content: AnyObject>(_ type: Content.Type) -> Content {
    let address: UInt
    if PlantedBug.resolveTwice.isActive {
      address = content.load(ordering: .acquiring)
    } else {
      address = content.exchange(0, ordering: .acquiringAndReleasing)
    }
    guard let address = UnsafeRawPointer(bitPattern: address) else {
      misuse(.argument, "Can only resolve a thread safe reference once.")
    }
    let content = Unmanaged<Content>.fromOpaque(address)
    return PlantedBug.resolveTwice.isActive
      ? content.takeUnretainedValue() : content.takeRetainedValue()
  }

  /// Stops when a value to refer to has no Realm, or may not be used here.
  static func check(_ realm: ConfinedRealm?) {
    guard let realm else { stopForUnmanaged() }
    realm.check()
  }

  static func stopForUnmanaged() -> Never {
    misuse(
      .ownership,
      "Cannot construct reference to unmanaged object, which can be passed across threads directly")
  }

  static func stopForInvalidated() -> Never {
    misuse(.invalidated, "Cannot construct reference to invalidated object")
  }
}

// MARK: - Values of all kinds

/// A frozen value as an object.
private final class FrozenBox<Value> {
  let value: Value
  init(_ value: Value) { self.value = value }
}

extension ThreadConfined {
  /// The frozen form of the value for what the library itself keeps; a frozen value itself.
  ///
  /// No client can end it by invalidating a frozen Realm.
  func hiddenForm() -> Self {
    guard let realm = self.realm?.confined, !realm.isFrozen else { return freeze() }
    return realm.freezingHidden { freeze() }
  }

  /// What carries the value to other places; stops when it may not be carried.
  public func _makeReference() -> _ValueReference {
    _ValueReference.check(realm?.confined)
    if isInvalidated { _ValueReference.stopForInvalidated() }
    if let pending = realm.flatMap({ _ValueReference.pending(self, of: $0.confined) }) {
      return pending
    }
    return _ValueReference(FrozenBox(hiddenForm()))
  }

  /// The live value of a reference in a Realm; nil when it was deleted, or is of another file.
  public static func _resolve(_ reference: _ValueReference, in realm: Realm) -> Self? {
    realm.confined.requireResolving()
    if let pending = reference.takePending(Self.self, in: realm.confined) { return pending }
    return realm.confined.live(reference.take(FrozenBox<Self>.self).value)
  }
}

// MARK: - Objects

extension ObjectBase {
  /// What carries the object to other places; stops when it may not be carried.
  public final func _makeReference() -> _ValueReference {
    guard let table = _table else { _ValueReference.stopForUnmanaged() }
    return table.pointee.withRealm { realm in
      realm.check()
      if realm.isFrozen { return _ValueReference(realm, table, _key, _location) }
      guard let location = locate() else { _ValueReference.stopForInvalidated() }
      if realm.writing != nil, let value = self as? any ThreadConfined {
        return _ValueReference(PendingReference(value, of: realm))
      }
      let (frozen, frozenLocation) = ConfinedRealm.freeze(
        table, _key, at: location, isHidden: true)
      return frozen.pointee.withRealm { _ValueReference($0, frozen, _key, frozenLocation) }
    }
  }

  /// The live object of a reference in a Realm; nil when it was deleted, or is of another file.
  public static func _resolve(_ reference: _ValueReference, in realm: Realm) -> Self? {
    let target = realm.confined
    target.requireResolving()
    if let pending = reference.takePending(of: Self.self, in: target) { return pending }
    let source = reference.take(ConfinedRealm.self)
    guard target.advance(toThatOf: source) else { return nil }
    let (frozen, key, location) = reference.object.unsafelyUnwrapped
    let table = target.table(like: frozen)
    if let location, target.showsVersion(of: source) {
      // Who has a location of this generation reads without asking whether the reader is of it,
      // too.
      _ = target.reader(of: table)
      return unsafeDowncast(target.accessor(table, key, at: location), to: Self.self)
    }
    guard let accessor = target.accessor(table, key) else { return nil }
    return unsafeDowncast(accessor, to: Self.self)
  }
}

extension ConfinedRealm {
  /// The frozen form of an object of a live Realm: its class in the frozen twin, and where it is
  /// there.
  ///
  /// The twin lives at least until the Realm moves on. Stops when the object was made in the
  /// running transaction.
  /// - Parameter isHidden: whether it is the twin that no client has.
  @inline(__always)
  static func freeze(
    _ table: TablePointer, _ key: ObjectKey, at location: RowLocation, isHidden: Bool
  ) -> (table: TablePointer, location: RowLocation) {
    table.pointee.withRealm { $0.noteObject() }
    if let frozen = isHidden ? table.pointee.hiddenForm : table.pointee.frozenForm,
      _fastPath(frozen.pointee.withRealm { !$0.isInvalidatedFrozen })
    {
      return (frozen, location)
    }
    return table.pointee.withRealm { $0.freezeAnew(table, key, at: location, isHidden) }
  }

  @inline(never)
  private func freezeAnew(
    _ table: TablePointer, _ key: ObjectKey, at location: RowLocation, _ isHidden: Bool
  ) -> (table: TablePointer, location: RowLocation) {
    let frozen = isHidden ? freezingHidden { self.frozen() } : frozen()
    let frozenTable = frozen.table(like: table)
    if showsVersion(of: frozen) {
      if isHidden {
        table.pointee.hiddenForm = frozenTable
      } else {
        table.pointee.frozenForm = frozenTable
      }
      return (frozenTable, location)
    }
    guard let found = frozen.locate(frozenTable, key) else {
      misuse(
        .transaction,
        "Cannot freeze an object in the same write transaction as it was created in.")
    }
    return (frozenTable, found)
  }

  /// Stops unless references may be resolved in this Realm, here.
  func requireResolving() {
    if isFrozen {
      misuse(.frozen, "Cannot resolve a thread safe reference in a frozen Realm.")
    }
    check()
  }

  /// Moves to the version of a frozen Realm at least.
  ///
  /// A Realm with which nothing was done yet begins on just that version. False when that is of
  /// another file, or ended, or its version was lost.
  func advance(toThatOf source: ConfinedRealm) -> Bool {
    guard source.store === store, !source.isInvalidatedFrozen, !source.isLost else { return false }
    if showsVersion(of: source) { return true }
    if begins(onThatOf: source) { return true }
    return PlantedBug.resolveBehind.isActive || advance(to: source.currentSnapshot().version)
  }

  /// Begins on the version of a frozen Realm, if nobody has seen one of this Realm yet.
  ///
  /// One that was invalidated has: it begins on the newest version, as with every other use.
  private func begins(onThatOf source: ConfinedRealm) -> Bool {
    guard isUntouched, tables.isEmpty, observers == nil, writing == nil, held == nil else {
      return false
    }
    let base = source.currentSnapshot().settled
    do throws(StorageError) { try store.waitForDurability(base.version) } catch { return false }
    move(to: base)
    // It goes on from there by itself, where it does so.
    mailbox?.versionWasPublished(store.newestVersion)
    return true
  }

  /// The live form of a frozen value in this Realm; nil when it was deleted, or is of another file.
  func live<Value: ThreadConfined>(_ frozen: Value) -> Value? {
    guard let source = frozen.realm?.confined, advance(toThatOf: source) else { return nil }
    return receiving { frozen.thaw() }
  }

  /// As `live`; results whose owner was deleted since are empty, and an observer is told so.
  func observable<Value: ThreadConfined>(_ frozen: Value) -> Value? {
    takesEmptied = true
    defer { takesEmptied = false }
    return live(frozen)
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

// MARK: - Results

extension Results {
  /// What carries the results to other places; stops when they may not be carried.
  public func _makeReference() -> _ValueReference {
    _ValueReference.check(source.realm)
    if isInvalidated { _ValueReference.stopForInvalidated() }
    if let pending = _ValueReference.pending(self, of: source.realm) { return pending }
    return _ValueReference(
      source.realm.isFrozen ? source : source.realm.freezingHidden { source.frozen() })
  }

  /// The live results of a reference in a Realm; nil when what they hang on was deleted, or they
  /// are of another file.
  public static func _resolve(_ reference: _ValueReference, in realm: Realm) -> Results? {
    realm.confined.requireResolving()
    if let pending = reference.takePending(Results.self, in: realm.confined) { return pending }
    let source = reference.take(ResultsSource<Element>.self)
    guard realm.confined.advance(toThatOf: source.realm),
      let moved = source.moved(to: realm.confined)
    else { return nil }
    return Results(moved)
  }
}
