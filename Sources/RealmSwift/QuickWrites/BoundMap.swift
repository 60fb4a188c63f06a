// Maps that are changed without a transaction block.

/// A map of a Realm that can be changed without a transaction block.
///
/// Each change goes into the write transaction that is open, or else into one of its own.
@MainActor
public protocol BoundMap<Value> {
  /// The map.
  associatedtype Value: RealmKeyedCollection
  /// The map as it is shown.
  var wrappedValue: Value { get }
  /// The map to change: live, or frozen where no live one is at hand; nil when the object that has
  /// it was deleted.
  var _boundMap: Value? { get }
  /// The map was changed; if it belongs to no Realm, nobody else can tell of it.
  func _didWrite()
}

extension BoundMap {
  /// Sets the value of a key; nil removes the key.
  ///
  /// A value that is there already, to the stored bit, is not written again.
  public func set(object: Value.Value?, for key: Value.Key) {
    let isNeeded = { (map: Value) -> Bool in
      switch (map[key], object) {
      case (nil, nil): false
      // Not by the optionals themselves: a key whose value is nil is not a missing key.
      case (let current?, let object?): !StoredBits.areEqual(current, object)
      default: true
      }
    }
    guard let map = _boundMap else { return logDeleted(Value.self) }
    let isChanged = quickWrite(to: map, if: isNeeded) { map in
      if let object {
        map.updateValue(liveForm(of: object, for: map.realm), forKey: key)
      } else {
        map.removeObject(for: key)
      }
    }
    if isChanged { _didWrite() }
  }

  /// Removes a key, if it is there.
  public func remove(_ key: Value.Key) { set(object: nil, for: key) }
}

extension Binding: BoundMap where Value: RealmKeyedCollection {
  /// The map to change.
  public var _boundMap: Value? { location.read() }
}
