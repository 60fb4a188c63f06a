// Maps: changes, and values by untyped keys.
internal import ObjectStore

extension Map {
  /// Sets the value of a key.
  ///
  /// Of a managed map only inside a transaction; here and below. An object that belongs to no Realm
  /// is added to the map's.
  @inlinable
  public func updateValue(_ value: Value, forKey key: Key) {
    if let place, let integer = value._packedElement {
      place._withUnsafeGuaranteedRef { $0.set(integer, forKey: key._text) }
    } else {
      setValue(value, key)
    }
  }

  @usableFromInline
  func setValue(_ value: Value, _ key: Key) {
    switch storage {
    case .unmanaged(var entries):
      storage = .unmanaged([:])
      entries[StoredText(key._text)] = value
      storage = .unmanaged(entries)
    case .managed(let cell):
      let group = cell.requireWriting()
      cell.withValue(value) { value in
        key._text._withBytes {
          _ = group.mapSet(cell.storedTable, cell.key, cell.column, $0, value)
        }
      }
      cell.changed()
    case .nested(let place):
      // Only maps of mixed values are inside of one.
      place.setEntry(key._text, (value as! AnyRealmValue))
    }
  }

  /// Removes a key and its value, if it is there; an object stays in the Realm, an embedded one is
  /// deleted.
  public func removeObject(for key: Key) {
    switch storage {
    case .unmanaged(var entries):
      storage = .unmanaged([:])
      entries[StoredText(key._text)] = nil
      storage = .unmanaged(entries)
    case .managed(let cell):
      let group = cell.requireWriting()
      key._text._withBytes {
        _ = group.mapRemove(cell.storedTable, cell.key, cell.column, $0)
      }
      cell.changed()
    case .nested(let place): place.removeEntry(key._text)
    }
  }

  /// Removes all entries.
  public func removeAll() {
    switch storage {
    case .unmanaged: storage = .unmanaged([:])
    case .managed(let cell):
      let group = cell.requireWriting()
      group.removeAllElements(cell.storedTable, cell.key, cell.column)
      cell.changed()
    case .nested(let place): place.removeEntries()
    }
  }

  /// Adds the entries of a sequence; `combine` says what becomes of the values of keys that are
  /// there.
  public func merge<Entries: Sequence>(
    _ sequence: Entries, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows where Entries.Element == (key: Key, value: Value) {
    try mergeEach(sequence.lazy.map { ($0.0, $0.1) }, combine)
  }

  /// Adds the entries of a sequence; `combine` says what becomes of the values of keys that are
  /// there.
  public func merge<Entries: Sequence>(
    _ sequence: Entries, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows where Entries.Element == (Key, Value) {
    try mergeEach(sequence.lazy.map { ($0.0, $0.1) }, combine)
  }

  /// Adds the entries of another map; `combine` says what becomes of the values of keys that are
  /// there.
  public func merge(
    _ map: Map<Key, Value>, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    try mergeEach(map.asKeyValueSequence().lazy.map { ($0.0, $0.1) }, combine)
  }

  private func mergeEach<Entries: Sequence>(
    _ entries: Entries, _ combine: (Value, Value) throws -> Value
  ) rethrows where Entries.Element == (Key, Value) {
    guard nestedPlace != nil || cell != nil && Value._rlmType == .any else {
      for (key, value) in entries {
        updateValue(try self[key].map { try combine($0, value) } ?? value, forKey: key)
      }
      return
    }
    // Together: values may be inside of this map, and inside of a mixed value each change writes
    // the whole of it anew.
    var merged: [StoredText: Value] = [:]
    defer { if !merged.isEmpty { setMerged(merged) } }
    for (key, value) in entries {
      let text = StoredText(key._text)
      let old = merged[text] ?? self[key]
      merged[text] = try old.map { try combine($0, value) } ?? value
    }
  }

  /// Sets the values of several keys of a map of mixed values that is managed.
  private func setMerged(_ merged: [StoredText: Value]) {
    if let nestedPlace {
      // Only maps of mixed values are inside of one.
      nestedPlace.setEntries(merged as! [StoredText: AnyRealmValue])
    } else if let cell {
      let entries = merged.sorted.map { (key: Key(_text: $0.key.text), value: $0.value) }
      setEntries(entries, in: cell) {}
    }
  }

  // MARK: - Key-value coding

  /// The value of a key; keys that begin with "@" ask for all keys or values, as
  /// `value(forKeyPath:)` does.
  public func value(forKey key: String) -> Any? {
    if key.hasPrefix("@") { return value(forKeyPath: key) }
    return self[Key(_text: key)]?._anyElement
  }

  /// What a path of property names leads to from the value of its first key; `@allKeys`,
  /// `@allValues`; or what an operator makes of all values, such as `@sum.self`.
  public func value(forKeyPath keyPath: String) -> Any? {
    if keyPath == "@allKeys" { return keys.map(\._text) }
    if keyPath == "@allValues" { return values.map { $0._anyElement } }
    if keyPath.hasPrefix("@") {
      let list = List<Value>()
      list.append(objectsIn: values)
      return list._value(forKeyPath: keyPath)
    }
    let parts = keyPath.split(separator: ".", maxSplits: 1).map { String($0) }
    guard let first = parts.first, let value = self[Key(_text: first)]?._anyElement else {
      return nil
    }
    if parts.count == 1 { return value }
    guard let object = value as? ObjectBase else {
      misuse(.argument, "Invalid key path '\(keyPath)': '\(first)' leads to no object.")
    }
    return object.value(forKeyPath: parts[1])
  }

  /// Sets the value of a key; nil removes the key, unless values may be nil.
  ///
  /// Stops when the value cannot be one of the map's.
  public func setValue(_ value: Any?, forKey key: String) {
    let key = Key(_text: key)
    guard let value = unwrapped(value) else { return removeObject(for: key) }
    guard let element = Value._elementFromAny(value) else {
      misuse(
        .argument,
        "Invalid value '\(ValueText.of(value))' of type '\(type(of: value))' for a map of '\(Value._rlmType)'."
      )
    }
    updateValue(element, forKey: key)
  }
}

extension Map: _KeyPathReadable {
  func _value(forKeyPath keyPath: String) -> Any? { value(forKeyPath: keyPath) }
}

extension Realm {
  /// Removes the objects that a map holds; its values are nil from now on.
  public func delete<Element: ObjectBase>(_ map: Map<String, Element?>) {
    _ = confined.requireWriting()
    deleteTogether(map.values.compactMap { $0 })
  }
}
