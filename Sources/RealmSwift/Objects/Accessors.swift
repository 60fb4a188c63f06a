// Reads and writes of managed properties. A read of a held object is: compare the generation word
// and the thread token, then load from the mapped leaf. Everything else is out of line.
internal import Foundation
internal import ObjectStore
internal import Platform

// MARK: - Reading

/// The packed value of a managed property that is not optional.
///
/// - Complexity: O(1), some nanoseconds while the object's row has not moved.
@usableFromInline
func readInteger(_ object: ObjectBase, _ column: Int32) -> Int64 {
  let table = object._table.unsafelyUnwrapped
  if _fastPath(
    table.pointee.generation == object._generation
      && table.pointee.isOwnerHere)
  {
    return table.pointee.reader.unsafelyUnwrapped.integer(
      object._location.unsafelyUnwrapped, Int(column))
  }
  return readIntegerSlowly(object, column)
}

@inline(never)
private func readIntegerSlowly(_ object: ObjectBase, _ column: Int32) -> Int64 {
  let location = object.requireLocation()
  return object._table.unsafelyUnwrapped.pointee.reader.unsafelyUnwrapped
    .integer(location, Int(column))
}

/// The packed value of a managed optional property.
@usableFromInline
func readOptionalInteger(_ object: ObjectBase, _ column: Int32) -> Int64? {
  optionalInteger(object, column)
}

/// The same, for use by functions that do more.
@inline(__always)
func optionalInteger(_ object: ObjectBase, _ column: Int32) -> Int64? {
  let table = object._table.unsafelyUnwrapped
  let location: RowLocation
  if _fastPath(
    table.pointee.generation == object._generation
      && table.pointee.isOwnerHere)
  {
    location = object._location.unsafelyUnwrapped
  } else {
    location = object.requireLocation()
  }
  let column = Int(column)
  table.pointee.reader.unsafelyUnwrapped.prefetchInteger(location, column)
  return table.pointee.reader.unsafelyUnwrapped.optionalInteger(location, column)
}

/// The value of a managed property that is stored as bytes; nil for null.
@inline(__always)
func readBytes<Value: _BytesValue>(
  _ object: ObjectBase, _ column: Int32, _: Value.Type
) -> Value? {
  let table = object._table.unsafelyUnwrapped
  let location: RowLocation
  if _fastPath(
    table.pointee.generation == object._generation
      && table.pointee.isOwnerHere)
  {
    location = object._location.unsafelyUnwrapped
  } else {
    location = object.requireLocation()
  }
  return table.pointee.reader.unsafelyUnwrapped.withBytes(location, Int(column)) { bytes in
    bytes.map { Value(_bytes: $0) }
  }
}

// MARK: - Writing

/// Writes the packed value of a managed property.
@usableFromInline
func writeInteger(_ object: ObjectBase, _ column: Int32, _ value: Int64?) {
  let group = requireWritable(object, column)
  let table = object._table.unsafelyUnwrapped
  table.pointee.unmanagedTable.unsafelyUnwrapped._withUnsafeGuaranteedRef { stored in
    group._withUnsafeGuaranteedRef { $0.setInteger(stored, object._key, Int(column), value) }
  }
  table.pointee.bump()
}

/// Writes the bytes of a managed property.
func writeBytes(_ object: ObjectBase, _ column: Int32, _ value: UnsafeRawBufferPointer?) {
  let group = requireWritable(object, column)
  let table = object._table.unsafelyUnwrapped
  if let value, _slowPath(value.count > valueLengthMax) {
    stopForLength(value.count, table.pointee.binding, column)
  }
  table.pointee.unmanagedTable.unsafelyUnwrapped._withUnsafeGuaranteedRef { stored in
    group._withUnsafeGuaranteedRef { $0.setBytes(stored, object._key, Int(column), value) }
  }
  table.pointee.bump()
}

/// The transaction in which the property may be changed; stops when it may not.
///
/// Not counted, as a reference that is counted costs more than the change: the object's Realm keeps
/// it.
func requireWritable(_ object: ObjectBase, _ column: Int32) -> Unmanaged<GroupTransaction> {
  let table = object._table.unsafelyUnwrapped
  let group = table.pointee.withRealm { realm -> Unmanaged<GroupTransaction>? in
    realm.check()
    if realm.isFrozen {
      misuse(
        .frozen,
        "Attempting to modify a frozen object - call thaw on the Object instance first.")
    }
    guard let group = realm.group else {
      if object.locate() == nil { misuse(.invalidated, "Object has been deleted or invalidated.") }
      return realm.group
    }
    if !object.isThere(in: group) {
      misuse(.invalidated, "Object has been deleted or invalidated.")
    }
    return group
  }
  guard let group else {
    misuse(
      .transaction,
      "Attempting to modify object outside of a write transaction - call beginWriteTransaction on "
        + "a Realm instance first.")
  }
  if table.pointee.binding.primaryKeyColumn == Int(column) {
    misuse(.argument, "Primary key can't be changed after an object is inserted.")
  }
  return group
}

/// The longest text or data that a property can hold.
let valueLengthMax = 16 << 20

@inline(__always)
func checkLength(_ length: Int, _ binding: TableBinding, _ column: Int32) {
  if _slowPath(length > valueLengthMax) { stopForLength(length, binding, column) }
}

@inline(never)
private func stopForLength(_ length: Int, _ binding: TableBinding, _ column: Int32) -> Never {
  let property =
    binding.columns.firstIndex(of: Int(column))
    .map { binding.schema.properties[$0].name } ?? "?"
  misuse(
    .argument,
    "The value of '\(binding.schema.name).\(property)' has \(length) bytes; at most "
      + "\(valueLengthMax) can be stored.")
}

/// Writes values into one row of a write transaction.
public struct _RowWriter {
  // Unmanaged, as a reference that is counted costs more than a value that is written: whoever
  // makes the writer keeps them while it is used.
  private let unmanagedGroup: Unmanaged<GroupTransaction>
  private let unmanagedBinding: Unmanaged<TableBinding>
  private let unmanagedTable: Unmanaged<StoredTable>
  private let unmanagedLinks: Unmanaged<LinkInsertion>
  let key: ObjectKey
  /// The row was just made: it holds the defaults, which need not be written again.
  let isNew: Bool
  /// Values that the row has already are not written again.
  let compares: Bool
  /// Reads the row as it is; good until the table's next change.
  private var known: (reader: TableReader, location: RowLocation)?

  /// - Parameter links: adds what the row links to.
  @inline(__always)
  init(
    group: GroupTransaction, binding: TableBinding, table: StoredTable, key: ObjectKey,
    isNew: Bool, compares: Bool, links: LinkInsertion
  ) {
    unmanagedGroup = .passUnretained(group)
    unmanagedBinding = .passUnretained(binding)
    unmanagedTable = .passUnretained(table)
    unmanagedLinks = .passUnretained(links)
    self.key = key
    self.isNew = isNew
    self.compares = compares
  }

  var group: GroupTransaction { unmanagedGroup.takeUnretainedValue() }
  var binding: TableBinding { unmanagedBinding.takeUnretainedValue() }
  var table: StoredTable { unmanagedTable.takeUnretainedValue() }
  var links: LinkInsertion { unmanagedLinks.takeUnretainedValue() }

  @inline(__always)
  mutating func setInteger(_ value: Int64?, _ column: Int) {
    if isNew {
      if value == nil || value == 0 && !isOptional(column) { return }
    } else if compares, isEqual(value, column) {
      return
    }
    known = nil
    unmanagedGroup._withUnsafeGuaranteedRef { group in
      unmanagedTable._withUnsafeGuaranteedRef { group.setInteger($0, key, column, value) }
    }
  }

  mutating func setBytes(_ value: UnsafeRawBufferPointer?, _ column: Int) {
    if let value {
      unmanagedBinding._withUnsafeGuaranteedRef { checkLength(value.count, $0, Int32(column)) }
    }
    if isNew {
      if value == nil || value!.isEmpty && !isOptional(column) { return }
    } else if compares, isEqual(value, column) {
      return
    }
    known = nil
    unmanagedGroup._withUnsafeGuaranteedRef { group in
      unmanagedTable._withUnsafeGuaranteedRef { group.setBytes($0, key, column, value) }
    }
  }

  @inline(__always)
  private func isOptional(_ column: Int) -> Bool {
    unmanagedTable._withUnsafeGuaranteedRef { $0.isOptional(column) }
  }

  /// Links to an object; an unmanaged one is added.
  mutating func setLink(_ object: ObjectBase?, _ column: Int) {
    guard let object else { return setLink(key: nil, column) }
    // What is added on the way changes tables.
    known = nil
    setLink(key: unmanagedLinks._withUnsafeGuaranteedRef { $0.key(of: object) }, column)
  }

  /// Links to an object, or to one that is made from values; false when it can be neither.
  mutating func setLink(from value: Any, _ objectClass: ObjectBase.Type, _ column: Int) -> Bool {
    known = nil
    setLink(key: links.key(from: value, objectClass), column)
    return true
  }

  private mutating func setLink(key target: ObjectKey?, _ column: Int) {
    if isNew && target == nil || compares && isEqual(target?.rawValue, column) { return }
    known = nil
    unmanagedGroup._withUnsafeGuaranteedRef { group in
      unmanagedTable._withUnsafeGuaranteedRef { group.setLink($0, key, column, target) }
    }
  }

  /// The row as it is now: found once for the values that are compared one after the other.
  private mutating func current() -> (reader: TableReader, location: RowLocation) {
    if let known { return known }
    let found = unmanagedGroup._withUnsafeGuaranteedRef { group in
      unmanagedTable._withUnsafeGuaranteedRef { table in
        let reader = group.reader(table)
        return (reader: reader, location: reader.locate(key)!)
      }
    }
    known = found
    return found
  }

  private mutating func isEqual(_ value: Int64?, _ column: Int) -> Bool {
    let (reader, location) = current()
    return (reader.isNull(location, column) ? nil : reader.integer(location, column)) == value
  }

  private mutating func isEqual(_ value: UnsafeRawBufferPointer?, _ column: Int) -> Bool {
    let (reader, location) = current()
    return reader.withBytes(location, column) { old in
      switch (old, value) {
      case (nil, nil): return true
      case (let old?, let value?):
        return old.count == value.count
          && (old.isEmpty || memcmp(old.baseAddress!, value.baseAddress!, old.count) == 0)
      default: return false
      }
    }
  }
}

extension _PrimaryKeyValue {
  /// The key as text, for messages.
  func text(_ type: PropertyType) -> String {
    switch self {
    case .integer(nil), .bytes(nil): return "(null)"
    case .integer(let value?): return String(value)
    case .bytes(let bytes?):
      return bytes.withUnsafeBytes { bytes in
        switch type {
        case .objectId: return ObjectId(_bytes: bytes).stringValue
        case .UUID: return UUID(_bytes: bytes).uuidString
        default: return String(_bytes: bytes)
        }
      }
    }
  }
}
