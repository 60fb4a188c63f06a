// Identity of objects for interfaces that tell the rows of a list apart.
internal import ObjectStore

/// Gives objects an identity that does not change with their values.
///
/// Adopt it in a class of yours: `class Dog: Object, ObjectKeyIdentifiable`.
public protocol ObjectKeyIdentifiable: Identifiable {
  /// The identity: the same for all accessors and frozen forms of one object of a file.
  var id: UInt64 { get }
}

extension ObjectKeyIdentifiable where Self: ObjectBase {
  /// The identity: the same for all accessors and frozen forms of one object of a file; of an
  /// object that belongs to no Realm that of the instance.
  public var id: UInt64 { _identity }
}

extension ObjectBase {
  /// What tells the object from all others of its file.
  final var _identity: UInt64 {
    guard let binding = _table?.pointee.binding, let table = binding.table else {
      return UInt64(UInt(bitPattern: ObjectIdentifier(self).hashValue))
    }
    // Keys of objects are counters and stay far below 2^40.
    return table.tableKey << 40 | UInt64(bitPattern: _key.rawValue)
  }
}

extension ObjectKeyIdentifiable where Self: _AnyProjection {
  /// The identity of the object that is shown.
  public var id: UInt64 { _projectedObject._identity }
}
