// Whether two values are stored alike, to the bit: only then a write would change nothing. Equality
// is something else: 0.0 equals -0.0, a composed letter equals a decomposed one, and no NaN equals
// itself.
internal import ObjectStore

/// Compares values by what the file would hold of them.
enum StoredBits {
  /// Whether both are stored alike; false where that cannot be told.
  static func areEqual<Value>(_ left: Value, _ right: Value) -> Bool {
    // The usual types: to find out what another one can do takes longer than to write it.
    if Value.self == Int.self { return (left as! Int) == (right as! Int) }
    if Value.self == Bool.self { return (left as! Bool) == (right as! Bool) }
    if Value.self == String.self {
      return (left as! String).utf8.elementsEqual((right as! String).utf8)
    }
    if Value.self == Double.self {
      return (left as! Double).bitPattern == (right as! Double).bitPattern
    }
    switch (unwrapped(left), unwrapped(right)) {
    case (nil, nil): return true
    case (let left?, let right?): return areEqualInside(left, right)
    default: return false
    }
  }

  /// - Parameter left: no optional.
  private static func areEqualInside(_ left: Any, _ right: Any) -> Bool {
    switch left {
    case let left as any _PackedValue: packed(left, right)
    case let left as any _BytesValue: bytes(left, right)
    case let left as AnyRealmValue: mixed(left, right)
    case let left as any _CustomPersistable: stored(left, right)
    case let left as any PersistableEnum: raw(left, right)
    case let left as ObjectBase: (right as? ObjectBase).map { sameObject(left, $0) } ?? false
    default: false
    }
  }

  private static func packed<Value: _PackedValue>(_ left: Value, _ right: Any) -> Bool {
    (right as? Value).map { left._packed == $0._packed } ?? false
  }

  private static func bytes<Value: _BytesValue>(_ left: Value, _ right: Any) -> Bool {
    guard let right = right as? Value else { return false }
    return left._withBytes { left in right._withBytes { left.elementsEqual($0) } }
  }

  private static func mixed(_ left: AnyRealmValue, _ right: Any) -> Bool {
    guard let right = right as? AnyRealmValue else { return false }
    switch (left._anyValue, right._anyValue) {
    case (nil, nil): return true
    case (let left?, let right?):
      return type(of: left) == type(of: right) && areEqualInside(left, right)
    default: return false
    }
  }

  private static func stored<Value: _CustomPersistable>(_ left: Value, _ right: Any) -> Bool {
    (right as? Value).map { areEqual(left.persistableValue, $0.persistableValue) } ?? false
  }

  private static func raw<Value: PersistableEnum>(_ left: Value, _ right: Any) -> Bool {
    (right as? Value).map { areEqual(left.rawValue, $0.rawValue) } ?? false
  }

  /// Whether both are one object of one file, in whichever version.
  static func sameObject(_ left: ObjectBase, _ right: ObjectBase) -> Bool {
    if left === right { return true }
    guard let first = left._realm, let second = right._realm, first.store === second.store,
      let table = left._table?.pointee.binding.table
    else { return false }
    return left._key == right._key
      && table.tableKey == right._table?.pointee.binding.table?.tableKey
  }
}

/// Types whose values lead nowhere, among them the usual ones.
enum PlainType {
  static func contains<Value>(_ type: Value.Type) -> Bool {
    type == Int.self || type == String.self || type == Bool.self || type == Double.self
      || type == Int?.self || type == String?.self || type == Bool?.self || type == Double?.self
  }
}
