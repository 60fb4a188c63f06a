// AnyRealmValue as the value of properties and as an element: stored as bytes; none is null.
internal import Foundation
internal import ObjectStore

extension AnyRealmValue: MinMaxType, AddableType, SortableType {}

extension AnyRealmValue: _Persistable, RealmCollectionValue, _Indexable {
  /// Stored as itself.
  public typealias PersistedType = AnyRealmValue
  /// A value of any type.
  public static var _rlmType: PropertyType { .any }
  /// None is among the values.
  public static var _rlmOptional: Bool { true }
  /// None.
  public static func _defaultValue() -> AnyRealmValue { .none }

  // MARK: - Properties

  /// Reads a managed property.
  public static func _get(_ object: ObjectBase, _ column: Int32) -> AnyRealmValue {
    let location = object.requireLocation()
    let realm = object._realm.unsafelyUnwrapped
    let table = object._table.unsafelyUnwrapped
    return table.pointee.reader.unsafelyUnwrapped.withBytes(location, Int(column)) { bytes in
      guard let bytes else { return .none }
      return realm.anyValue(bytes) { MixedPlace(CollectionCell(object, column, nil), []) }
    }
  }

  /// Writes a managed property; an object that belongs to no Realm is added to the property's.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: AnyRealmValue) {
    let group = requireWritable(object, column).takeUnretainedValue()
    let realm = object._realm.unsafelyUnwrapped
    let table = object._table.unsafelyUnwrapped
    let links = LinkInsertion(realm, .error)
    let bytes = value.bytes(links)
    if let bytes { checkLength(bytes.count, table.pointee.binding, column) }
    withBuffer(bytes) {
      group.setBytes(table.pointee.binding.table!, object._key, Int(column), $0)
    }
    links.finish()
    table.pointee.bump()
    realm.bumpChangedTables()
  }

  /// Writes the value into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) {
    let bytes = bytes(row.links)
    Self.withBuffer(bytes) { row.setBytes($0, column) }
  }

  /// The value without its wrapping; nil for none.
  public var _anyValue: Any? {
    switch self {
    case .none: return nil
    case .int(let value): return value
    case .bool(let value): return value
    case .float(let value): return value
    case .double(let value): return value
    case .string(let value): return value
    case .data(let value): return value
    case .date(let value): return value
    case .object(let value): return value
    case .objectId(let value): return value
    case .decimal128(let value): return value
    case .uuid(let value): return value
    case .list(let value): return value
    case .dictionary(let value): return value
    }
  }

  /// The value that an untyped one is; nil for what a Realm cannot hold.
  ///
  /// Collections are copied.
  public static func _fromAny(_ value: Any?) -> AnyRealmValue? { fromAny(value, inside: 0) }

  /// - Parameter depth: how many collections the value is inside of.
  private static func fromAny(_ value: Any?, inside depth: Int) -> AnyRealmValue? {
    guard let value else { return AnyRealmValue.none }
    if isUntypedCollection(value) { return collection(value, inside: depth) }
    // A number of Foundation's can be cast to every other, a truth value too.
    if type(of: value) is NSNumber.Type { return number(value as! NSNumber) }
    if let object = objectValue(value) { return (object as? Object).map { .object($0) } }
    switch value {
    case let value as AnyRealmValue:
      switch value {
      case .list(let list): return collection(list, inside: depth)
      case .dictionary(let map): return collection(map, inside: depth)
      default: return value
      }
    case let value as Bool: return .bool(value)
    case let value as any BinaryInteger: return Int(exactly: value).map { .int($0) }
    case let value as Float: return .float(value)
    case let value as Double: return .double(value)
    case let value as any BinaryFloatingPoint: return .double(Double(value))
    case let value as String: return .string(value)
    case let value as Substring: return .string(String(value))
    case is Decimal: return Decimal128._fromAny(value).map { .decimal128($0) }
    case let value as Data: return .data(value)
    case let value as Date: return .date(value)
    case let value as ObjectId: return .objectId(value)
    case let value as Decimal128: return .decimal128(value)
    case let value as UUID: return .uuid(value)
    case let value as any PersistableEnum: return fromAny(value._anyValue, inside: depth)
    case let value as any _CustomPersistable: return fromAny(value._anyValue, inside: depth)
    case let value as any _UntypedHolder: return fromAny(value._untyped, inside: depth)
    default: return collection(value, inside: depth)
    }
  }

  private static func number(_ value: NSNumber) -> AnyRealmValue? {
    // As Swift's `Decimal`, with all its digits.
    if let value = value as? NSDecimalNumber { return .decimal128(Decimal128(number: value)) }
    switch String(cString: value.objCType) {
    case "c", "B": return .bool(value.boolValue)
    case "f": return .float(value.floatValue)
    case "d": return .double(value.doubleValue)
    case "Q": return Int(exactly: value.uint64Value).map { .int($0) }
    default: return .int(value.intValue)
    }
  }

  /// A list or dictionary in memory of what an untyped collection holds; stops when that is deeper
  /// than a Realm can hold.
  private static func collection(_ value: Any, inside depth: Int) -> AnyRealmValue? {
    if depth == MixedPlace.depthMax { MixedPlace.stopForDepth() }
    if let values = untypedElements(value) {
      let list = List<AnyRealmValue>()
      for value in values {
        guard let element = fromAny(unwrapped(value), inside: depth + 1) else { return nil }
        list.append(element)
      }
      return .list(list)
    }
    guard let entries = untypedEntries(value) else { return nil }
    let map = Map<String, AnyRealmValue>()
    for (key, value) in entries {
      guard let element = fromAny(unwrapped(value), inside: depth + 1) else { return nil }
      map[key.text] = element
    }
    return .dictionary(map)
  }

  /// Not a key.
  public var _primaryKeyValue: _PrimaryKeyValue { .integer(nil) }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.mixed()

  // MARK: - Elements

  /// Reads an element of a managed collection.
  public static func _readElement(_ source: _ElementSource, _ position: Int) -> AnyRealmValue {
    if source.isNull(position) { return .none }
    return source.withBytes(position) { bytes in
      source.realm.anyValue(bytes) {
        CollectionCell(source.realm, source.owner).place(ofElement: position)
      }
    }
  }

  /// Gives the value to a managed collection.
  public func _writeElement(to sink: _ElementSink) {
    if sink.kind == .set, let form = formInSet {
      form._writeElement(to: sink)
      // A look-up also finds what earlier versions may have written.
      if sink.links != nil { return }
    }
    if let links = sink.links {
      if sink.kind == .set, isCollection {
        misuse(.argument, "A set cannot hold values that are lists or dictionaries.")
      }
      guard let bytes = bytes(links) else { return sink.null() }
      Self.withBuffer(bytes) { sink.bytes($0!) }
    } else if case .object(let object) = self {
      // A look-up: what is not in the Realm is not in the collection.
      guard let key = sink.realm.key(of: object) else { return }
      var writer = AnyValueWriter { _ in (sink.realm.tableKey(of: object), key) }
      writer.append(self)
      Self.withBuffer(writer.bytes) { sink.bytes($0!) }
    } else if case .none = self {
      sink.null()
    } else {
      var writer = AnyValueWriter { object in (sink.realm.tableKey(of: object), object._key) }
      writer.append(self)
      Self.withBuffer(writer.bytes) { sink.bytes($0!) }
    }
  }

  // MARK: - Bytes

  /// The bytes to store, nil for none; what the value links to is added to the Realm.
  private func bytes(_ links: LinkInsertion) -> [UInt8]? {
    if case .none = self { return nil }
    var writer = AnyValueWriter(links)
    writer.append(self)
    // So is a link that cannot be copied.
    return writer.bytes.first == AnyTag.none.rawValue ? nil : writer.bytes
  }

  /// Whether several stored forms are this one value.
  var hasSeveralForms: Bool {
    switch self {
    case .float(let value): return value == 0
    case .double(let value): return value == 0
    case .date(let value): return value.timeIntervalSinceReferenceDate == 0
    case .decimal128: return true
    default: return false
    }
  }

  /// The form of the value in which a set holds it, once; nil when it has that form.
  var formInSet: AnyRealmValue? {
    switch self {
    case .float(let value) where value == 0 && value.sign == .minus: return .float(0)
    case .double(let value) where value == 0 && value.sign == .minus: return .double(0)
    case .date(let value):
      let seconds = value.timeIntervalSinceReferenceDate
      guard seconds == 0, seconds.sign == .minus else { return nil }
      return .date(Date(timeIntervalSinceReferenceDate: 0))
    case .decimal128(let value):
      let canonical = value.inSet
      return canonical.bits == value.bits ? nil : .decimal128(canonical)
    default: return nil
    }
  }

  private var isCollection: Bool {
    switch self {
    case .list, .dictionary: return true
    default: return false
    }
  }

  private static func withBuffer(
    _ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Void
  ) {
    guard let bytes else { return body(nil) }
    bytes.withUnsafeBytes { body($0) }
  }
}

extension AnyValueWriter {
  /// Makes the bytes of values to store; what they link to is added to the Realm.
  init(_ links: LinkInsertion, inside depth: Int = 0) {
    self.init(inside: depth) { object in
      if object.isEmbedded {
        misuse(
          .ownership,
          "An embedded object of class '\(object.classSchema.name)' cannot be in a mixed value: it "
            + "lives inside of its one owner. Store a dictionary of its values instead.")
      }
      if links.copies, links.realm.lacks(object) { return nil }
      // The key first: for an object that cannot be linked to, it says why.
      let key = links.key(of: object)
      return (links.realm.tableKey(of: object), key)
    }
  }
}

extension CollectionCell {
  /// The place of a list or dictionary that is an element; nil in a set, where there is none.
  fileprivate func place(ofElement position: Int) -> MixedPlace? {
    switch kind {
    case .list: return MixedPlace(self, [.index(position)])
    case .map: return MixedPlace(self, [.key(requireKeys().text(at: position))])
    case .none, .set: return nil
    }
  }
}

extension ConfinedRealm {
  /// The value of stored bytes.
  ///
  /// - Parameter place: where the value is; nil when there can be no collection.
  func anyValue(
    _ bytes: UnsafeRawBufferPointer, _ place: () -> MixedPlace?
  ) -> AnyRealmValue {
    withoutActuallyEscaping(place) { place in
      AnyValueReader(object: { self.object(tableKey: $0, $1) }, place: place).value(bytes)
    }
  }

  /// The key of the table that holds an object's class; stops when the Realm has none.
  func tableKey(of object: Object) -> UInt64 {
    let table =
      object._realm === self
      ? object._table! : sameForeign(object)?.table ?? requireTable(of: ownClass(of: object))
    return table.pointee.binding.table!.tableKey
  }

  /// An object of any stored class: of one that the Realm does not hold a dynamic one.
  private func object(tableKey: UInt64, _ key: ObjectKey) -> Object? {
    guard
      let binding = bindings.first(where: { $0.table?.tableKey == tableKey })
        ?? classes.foreignBinding(tableKey: tableKey)
    else { return nil }
    return accessor(table(binding), key) as? Object
  }
}
