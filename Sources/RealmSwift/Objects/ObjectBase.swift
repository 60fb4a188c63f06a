// The root of all object classes: an object's place in a Realm, if it has one. Values are read
// through the functions in Accessors.swift.
internal import ObjectStore
internal import Platform

/// The superclass of everything that a Realm can hold.
// Nonisolated by the word: so are the classes that clients make of it, even in a module in which
// everything belongs to the main actor.
nonisolated open class ObjectBase: Hashable, CustomStringConvertible {
  // Unchecked exclusivity: these fields are only touched by the confining thread, in short accesses
  // that run no foreign code; in a frozen object they never change.
  @exclusivity(unchecked) final var _realm: ConfinedRealm?
  /// Shared state of the class's accessors; owned by `_realm`.
  @exclusivity(unchecked) final var _table: TablePointer?
  @exclusivity(unchecked) final var _key = ObjectKey(rawValue: -1)
  /// Where the row is, if `_generation` is the table's.
  @exclusivity(unchecked) final var _location: RowLocation?
  /// 0 is never a table's.
  @exclusivity(unchecked) final var _generation: UInt64 = 0
  /// The time between two invalidations of the Realm in which the object became managed.
  @exclusivity(unchecked) final var _epoch: UInt32 = 0
  /// The hash of the primary key, once it is known of an object that belongs to a live Realm; else
  /// 0.
  ///
  /// It outlives the row, so that sets and dictionaries find objects that were deleted.
  @exclusivity(unchecked) final var _keyHash: UInt32 = 0

  /// How many stored properties stand above; property discovery skips them.
  static let fieldCount = 7

  /// An object that belongs to no Realm.
  ///
  /// What is read from a Realm may be made without it.
  public required init() {}

  deinit { if _realm == nil { releaseLinks() } }

  /// Whether the object can no longer be used: deleted, or its Realm was invalidated.
  ///
  /// Always false for an object that belongs to no Realm.
  public final var isInvalidated: Bool {
    guard let realm = _realm else { return false }
    if realm.isFrozen { return realm.isInvalidatedFrozen }
    realm.check()
    return locate() == nil
  }

  /// The class's name: the last part of its Swift name.
  open class func className() -> String { String(describing: self) }

  /// The class's properties; nil of a class that cannot be stored, and of those of the engine.
  public class func sharedSchema() -> ObjectSchema? {
    let isOfTheEngine =
      [Object.self, EmbeddedObject.self, DynamicObject.self, ObjectBase.self] as [ObjectBase.Type]
    if isOfTheEngine.contains(where: { $0 == self }) { return nil }
    let schema = ClassSchema.examined(self)
    return schema.faults.isEmpty ? schema.publicForm : nil
  }

  /// Whether the class belongs to Realms that are opened without `objectTypes`.
  open class func shouldIncludeInDefaultSchema() -> Bool { true }

  /// Names in the file of properties that have another name in Swift.
  open class func propertiesMapping() -> [String: String] { [:] }

  /// The class's name in the file, if it is not `className()`.
  open class func _realmObjectName() -> String? { nil }

  // MARK: - Declarations of old

  /// Names of columns.
  @available(*, unavailable, renamed: "propertiesMapping()")
  open class func _realmColumnNames() -> [String: String] { [:] }

  /// Names of columns.
  @available(*, unavailable, renamed: "propertiesMapping()")
  open class func propertyMapping() -> [String: String] { [:] }

  /// Properties that are not optional.
  @available(
    *, unavailable, message: "Declare the property with a type that is not optional."
  )
  open class func requiredProperties() -> [String] { [] }

  /// Default values.
  @available(
    *, unavailable, message: "Give each property its value: '@Persisted var age = 1'."
  )
  open class func defaultPropertyValues() -> [String: Any]? { nil }

  /// Backlinks.
  @available(
    *, unavailable,
    message:
      "Declare '@Persisted(originProperty: \"name\") var owners: LinkingObjects<Owner>' instead."
  )
  open class func linkingObjectsProperties() -> [String: Any] { [:] }

  // MARK: - Facts

  /// Class, and the name and value of each property.
  open var description: String { ObjectDescription.text(of: self) }

  // MARK: - Equality

  /// Whether both are the same object.
  ///
  /// Of a frozen Realm, or a class with a primary key: the same object of the same Realm. Else only
  /// one and the same instance is equal to itself.
  open func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? ObjectBase else { return false }
    if self === other { return true }
    return identityKey != nil && identityKey == other.identityKey
      && wasRolledBack == other.wasRolledBack
  }

  /// Calls `isEqual`.
  public static func == (left: ObjectBase, right: ObjectBase) -> Bool { left.isEqual(right) }

  /// A hash that goes with `isEqual`; to be overridden together with that.
  ///
  /// Of a class with a primary key that of the key: it stays what it is when the object is added
  /// to a Realm, and is the same in frozen and in live form. Else that of the instance, or of what
  /// identifies a frozen object. It also outlives the object's deletion if it was asked for before,
  /// if the instance itself was added, or was given to `delete`. Another instance, of which it is
  /// asked for the first time when the object is gone by a cascade, `deleteAll` or another Realm,
  /// does not know the key any more.
  open var hash: Int { ownHash }

  /// The hash of an object whose class has no equality of its own.
  final var ownHash: Int {
    keyHash.map { Int($0) } ?? identityKey?.hashValue ?? ObjectIdentifier(self).hashValue
  }

  /// Hashes `hash`.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// What identifies a managed object for as long as it lives: nothing of a live one without
  /// primary key.
  final var identityKey: ManagedIdentity? {
    guard let realm = _realm, let table = _table,
      realm.isFrozen || table.pointee.binding.primaryKeyColumn != nil
    else { return nil }
    return managedIdentity
  }

  /// Whether both are accessors of one object of one Realm, by name or not.
  final func isAccessor(ofSameAs other: ObjectBase) -> Bool {
    if self === other { return true }
    guard let realm = _realm, realm === other._realm, let table = other._table else { return false }
    return _key == other._key && isOf(table) && wasRolledBack == other.wasRolledBack
  }

  /// Whether the object was added by a transaction that was rolled back: another one can have its
  /// key.
  final var wasRolledBack: Bool {
    _table?.pointee.rollBacks.haveTaken(_key, since: _generation) ?? false
  }

  /// The key; of an object whose transaction was rolled back one that no object has.
  final var lastingKey: ObjectKey { wasRolledBack ? ObjectKey(rawValue: -1) : _key }

  /// What identifies a managed object.
  final var managedIdentity: ManagedIdentity? {
    guard let realm = _realm, let table = _table else { return nil }
    return ManagedIdentity(
      realm: ObjectIdentifier(realm), table: table.pointee.binding.index, key: _key)
  }
}

/// A Realm's instance, a class in it, and an object's key.
struct ManagedIdentity: Hashable {
  let realm: ObjectIdentifier
  let table: Int
  let key: ObjectKey
}

@available(*, unavailable)
extension ObjectBase: Sendable {}

// MARK: - Hashes of keys

extension ObjectBase {
  /// The hash of the primary key; nil without one, and of an object that is gone.
  fileprivate final var keyHash: UInt32? {
    if _keyHash != 0 { return _keyHash }
    guard let realm = _realm, let table = _table else { return unmanagedKeyHash }
    guard let column = table.pointee.binding.primaryKeyColumn else { return nil }
    // A frozen object is used by many threads: it remembers nothing.
    if realm.isFrozen { return storedKeyHash(table, column) }
    realm.check()
    let hash = storedKeyHash(table, column)
    if let hash { _keyHash = hash }
    return hash
  }

  /// Of an object that belongs to no Realm: its key may still be another one later.
  private final var unmanagedKeyHash: UInt32? {
    // None in the instance that the schema itself is made from.
    guard let schema = ClassSchema.unlessMadeHere(type(of: self)), schema.faults.isEmpty,
      let position = schema.primaryKey
    else { return nil }
    let property = schema.properties[position]
    var hash: UInt32?
    property.codec.withKey(pointer(to: property)) { hash = $0.hash }
    return hash
  }

  /// Reads the key's hash of a live object that is about to be deleted.
  ///
  /// Sets have to find it afterwards, when the row is gone.
  final func keepKeyHash() {
    if _keyHash == 0, _table?.pointee.binding.primaryKeyColumn != nil { _ = keyHash }
  }

  private final func storedKeyHash(_ table: TablePointer, _ column: Int) -> UInt32? {
    guard let stored = table.pointee.binding.table else { return nil }
    if let location = locate(), let reader = table.pointee.reader {
      return ObjectBase.keyHash(reader, location, stored, column)
    }
    // What the running transaction has deleted is still in the version that it began on.
    guard let realm = _realm, _epoch == realm.epoch, !wasRolledBack,
      let reader = realm.readerBeforeTransaction(of: stored)
    else { return nil }
    return reader.locate(_key).map { ObjectBase.keyHash(reader, $0, stored, column) }
  }

  private static func keyHash(
    _ reader: TableReader, _ location: RowLocation, _ stored: StoredTable, _ column: Int
  ) -> UInt32 {
    if stored.isPacked(column) {
      return _PrimaryKeyView.integer(reader.optionalInteger(location, column)).hash
    }
    return reader.withBytes(location, column) { _PrimaryKeyView.bytes($0).hash }
  }
}

extension _PrimaryKeyView {
  /// A hash of the key; never 0.
  var hash: UInt32 {
    let bits: UInt64
    switch self {
    case .integer(nil), .bytes(nil): bits = 0
    // Multiplied by an odd number that is as good as random: the upper half depends on all bits.
    case .integer(let value?): bits = UInt64(bitPattern: value) &* 0x9E37_79B9_7F4A_7C15
    case .bytes(let bytes?):
      bits = bytes.isEmpty ? 1 << 32 : hash64(bytes.baseAddress!, count: bytes.count, seed: 0)
    }
    return max(1, UInt32(truncatingIfNeeded: bits >> 32))
  }
}

// MARK: - Ending

extension ObjectBase {
  /// Lets go of the objects that an object of no Realm links to.
  ///
  /// By a list of the thread, since they may be a long chain. Part of `deinit`: the properties of
  /// derived classes are there until it is over.
  private final func releaseLinks() {
    // None in the instance that the schema itself is made from.
    guard let schema = ClassSchema.unlessBeingMade(type(of: self)), !schema.linkProperties.isEmpty
    else {
      return
    }
    var linked: [ObjectBase] = []
    for property in schema.linkProperties {
      if let object = property.codec.takeLink(pointer(to: property)) { linked.append(object) }
    }
    LooseValues.release(&linked)
  }
}

// MARK: - Location

extension ObjectBase {
  /// Finds the row of a live object, from the cached location if it is still good.
  ///
  /// Nil when it was deleted or invalidated. The caller has checked confinement.
  @inline(__always)
  final func locate() -> RowLocation? {
    let table = _table.unsafelyUnwrapped
    if _fastPath(table.pointee.generation == _generation) { return _location }
    return locateAgain(table)
  }

  @inline(never)
  private final func locateAgain(_ table: TablePointer) -> RowLocation? {
    // A frozen object got its location when it was made; it is never written again.
    let realm = _realm.unsafelyUnwrapped
    guard _epoch == realm.epoch, let reader = realm.reader(of: table),
      !table.pointee.rollBacks.haveTaken(_key, since: _generation),
      let location = reader.locate(_key)
    else { return nil }
    _location = location
    _generation = table.pointee.generation
    return location
  }

  /// Whether the object can be changed by the running transaction: it was neither deleted nor
  /// invalidated.
  ///
  /// After each change of its table its place is another one; that need not be known here.
  @inline(__always)
  final func isThere(in group: Unmanaged<GroupTransaction>) -> Bool {
    let table = _table.unsafelyUnwrapped
    if table.pointee.generation == _generation { return _location != nil }
    guard _epoch == table.pointee.epoch, let stored = table.pointee.unmanagedTable,
      !table.pointee.rollBacks.haveTaken(_key, since: _generation)
    else { return false }
    return group._withUnsafeGuaranteedRef { group in
      stored._withUnsafeGuaranteedRef { group.contains($0, _key) }
    }
  }

  /// The row, for use by whoever called the object; stops on a wrong thread and on a dead object.
  @inline(never)
  final func requireLocation() -> RowLocation {
    // By the table: each counted reference to the Realm would take longer than all else here.
    _table.unsafelyUnwrapped.pointee.withRealm { $0.check() }
    if let location = locate() { return location }
    misuse(.invalidated, "Object has been deleted or invalidated.")
  }

  /// Makes the object an accessor of a row.
  final func attach(_ table: TablePointer, _ key: ObjectKey) {
    // First, since boxes of older classes keep the place of their object. An object that is added
    // has it.
    if _realm == nil || _table != table || _key != key { identify(table, key) }
    ObjectBase.attach(at: Unmanaged.passUnretained(self).toOpaque(), table.pointee.attachments)
  }

  /// Makes the wrappers managed.
  ///
  /// - Parameter base: where the object lies, or an image of one.
  static func attach(
    at base: UnsafeMutableRawPointer, _ attachments: UnsafeBufferPointer<TableBinding.Attachment>
  ) {
    for index in 0..<attachments.count {
      let attachment = attachments.baseAddress.unsafelyUnwrapped + index
      if let image = attachment.pointee.image {
        (base + attachment.pointee.offset).copyMemory(
          from: image.baseAddress.unsafelyUnwrapped, byteCount: image.count)
      } else {
        attachment.pointee.attach(base + attachment.pointee.offset, attachment.pointee.column)
      }
    }
  }

  /// Makes the object belong to a row; its wrappers stay what they are.
  ///
  /// - Parameter keyHash: that of the primary key, if it is known.
  @inline(__always)
  final func identify(_ table: TablePointer, _ key: ObjectKey, keyHash: UInt32 = 0) {
    _realm = table.pointee.realm
    _table = table
    _key = key
    _epoch = table.pointee.epoch
    _keyHash = keyHash
    // Where the row is has to be found, but it is one of now.
    _generation = table.pointee.generation &- 1
  }

  /// The same for an object that was just made as a copy of one that belongs to no Realm.
  @inline(__always)
  final func identifyCopy(_ table: TablePointer, _ key: ObjectKey) {
    // There is no other Realm to let go of.
    withUnsafeMutablePointer(to: &_realm) { $0.initialize(to: table.pointee.realm) }
    _table = table
    _key = key
    _epoch = table.pointee.epoch
  }

  /// Notes where the row is, and in which generation of its table that holds.
  @inline(__always)
  final func settle(at location: RowLocation, generation: UInt64) {
    _location = location
    _generation = generation
  }

  /// Points an accessor, that nobody else holds, to another row of its table.
  @inline(__always)
  final func aim(at key: ObjectKey, _ location: RowLocation, generation: UInt64, epoch: UInt32) {
    _key = key
    _location = location
    _generation = generation
    _epoch = epoch
    _keyHash = 0
  }
}
