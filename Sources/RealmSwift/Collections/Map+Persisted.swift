// A map as the value of a property, and in coded form.
internal import ObjectStore

extension Map: _Persistable {
  /// What the values are.
  public static var _rlmType: PropertyType { Value._rlmType }
  /// Whether values may be nil in the file: those of a client's type that is stored as an object
  /// are links, as those of `Map<String, Object?>`.
  public static var _rlmOptional: Bool { Value._rlmOptional }
  /// A map.
  public static var _rlmCollection: _CollectionKind { .map }
  /// The class that values lead to.
  public static var _rlmObjectClass: ObjectBase.Type? { Value._rlmObjectClass }
  /// An object's map is made once, and changed in place.
  public static var _keepsDefault: Bool { true }
  /// Empty.
  public static func _defaultValue() -> Self { Self() }
  /// The map of a managed object.
  @inlinable
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Self {
    unsafeDowncast(
      Map(CollectionCell.make(object, column, Value._rlmObjectClass)), to: Self.self)
  }
  /// Replaces the content of a managed object's map.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: Map) {
    let map = _get(object, column)
    if map == value { return }
    map.replaceAll(with: value)
  }
  /// Writes the entries into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) {
    row.setEntries(column, asKeyValueSequence().lazy.map { (key: $0.key._text, value: $0.value) }) {
      $0._writeElement(to: $1)
    }
  }
  /// The map.
  public var _anyValue: Any? { self }
  /// The map that an untyped value is, or one of its entries.
  public static func _fromAny(_ value: Any?) -> Self? {
    if let map = instance(value, of: Self.self) { return map }
    guard let entries = untypedEntries(value) else { return nil }
    let map = Self()
    for (key, value) in entries {
      guard let element = Value._elementFromAny(unwrapped(value)) else { return nil }
      map.updateValue(element, forKey: Key(_text: key.text))
    }
    return map
  }
  /// Whether the value is a dictionary of what can be values.
  public static func _accepts(_ value: Any?) -> Bool {
    if instance(value, of: Self.self) != nil { return true }
    guard let entries = untypedEntries(value) else { return false }
    return entries.values.allSatisfy { Value._acceptsElement(unwrapped($0)) }
  }
  /// Writes the entries that an untyped value holds into a row.
  public static func _storeAny(_ value: Any?, to row: inout _RowWriter, _ column: Int) -> Bool {
    guard let entries = untypedEntries(value) else { return false }
    row.setEntries(column, entries.lazy.map { (key: $0.key.text, value: $0.value) }) {
      Value._writeAnyElement(unwrapped($0), to: $1)
    }
    return true
  }
  /// Not a key.
  public var _primaryKeyValue: _PrimaryKeyValue { .integer(nil) }
  /// The functions that move values of this type.
  public static var _codec: _PropertyCodec { .make(Map.self) }
  /// The map now shows what the file holds.
  public func _becomeManaged(_ object: ObjectBase, _ column: Int32) {
    becomeManaged(CollectionCell(object, column, Value._rlmObjectClass))
  }

  /// Replaces the content of an unmanaged map by that of another one.
  public func _takeContent(of other: Map) -> Bool {
    if self !== other {
      storage = .unmanaged(other.entries)
      place = nil
    }
    return true
  }

  /// The entries by key.
  var entries: [StoredText: Value] {
    Dictionary(
      uniqueKeysWithValues: asKeyValueSequence().map { (StoredText($0.key._text), $0.value) })
  }

  /// Replaces all entries.
  func replaceAll(with other: Map) {
    // Taken first: the values may depend on what is removed.
    let entries = Array(other.asKeyValueSequence())
    guard let cell, Value._rlmType == .any else {
      removeAll()
      for (key, value) in entries { updateValue(value, forKey: key) }
      return
    }
    let group = cell.requireWriting()
    setEntries(entries, in: cell) {
      group.removeAllElements(cell.storedTable, cell.key, cell.column)
    }
  }

  /// Sets the values of several keys of a managed map; they may be inside of what is there.
  ///
  /// - Parameter change: changes the map, between the reading of the values and their writing.
  func setEntries(
    _ entries: [(key: Key, value: Value)], in cell: CollectionCell, behind change: () -> Void
  ) {
    let group = cell.requireWriting()
    var index = 0
    cell.withKeptValues(entries.map { $0.value }, behind: change) { value in
      entries[index].key._text._withBytes {
        _ = group.mapSet(cell.storedTable, cell.key, cell.column, $0, value)
      }
      index += 1
    }
    cell.changed()
  }
}

extension Map: _UntypedEntries {
  var _untypedEntries: [StoredText: Any?] { entries.mapValues { $0._anyElement } }
}

extension Map: Encodable where Value: Encodable {
  /// Encodes the entries as a dictionary.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: MapCodingKey.self)
    for (key, value) in asKeyValueSequence() {
      try container.encode(value, forKey: MapCodingKey(stringValue: key._text))
    }
  }
}

extension Map: Decodable where Value: Decodable {
  /// Decodes a map, that belongs to no Realm, from a dictionary.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    let container = try decoder.container(keyedBy: MapCodingKey.self)
    for key in container.allKeys {
      updateValue(
        try container.decode(Value.self, forKey: key), forKey: Key(_text: key.stringValue))
    }
  }
}

/// A key of a map in coded form.
private struct MapCodingKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { return nil }
}
