// Objects whose properties are known by name only: those of migrations, and of classes that the
// program has no Swift class for at hand.
internal import ObjectStore

/// An object whose properties are read and written by name.
///
/// `object["name"]` and `object.name` are the value as `Any?`; lists, sets and maps come as
/// collections of their element type, links as dynamic objects. An unknown name stops.
@dynamicMemberLookup
public final class DynamicObject: Object {
  /// The value of a property.
  public subscript(dynamicMember member: String) -> Any? {
    get { value(forKey: member) }
    set { setValue(newValue, forKey: member) }
  }

  /// False: it is no class of its own.
  public override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// An object in a migration.
public typealias MigrationObject = DynamicObject

extension ObjectBase {
  /// The properties of the object: its class's, or those of the table of a dynamic object.
  final var classSchema: ClassSchema {
    _table?.pointee.binding.schema ?? ClassSchema.of(type(of: self))
  }

  /// Whether the object lives inside of another one.
  ///
  /// Of a dynamic object its table says so, not its class in Swift.
  final var isEmbedded: Bool { _table?.pointee.isEmbedded ?? (self is EmbeddedObject) }
}

extension ObjectBase {
  /// The same object with its properties by name; nil when it belongs to no Realm.
  var dynamicForm: DynamicObject? {
    if let dynamic = self as? DynamicObject { return dynamic }
    guard let realm = _realm, let table = _table else { return nil }
    let dynamicTable = realm.table(realm.classes.dynamicBinding(of: table.pointee.binding))
    return realm.accessor(dynamicTable, lastingKey).map {
      unsafeDowncast($0, to: DynamicObject.self)
    }
  }
}

// MARK: - Collections by name

extension ObjectBase {
  /// A list of objects by its property's name, as dynamic objects.
  ///
  /// Stops when there is no such list, and when the object belongs to no Realm; here and below.
  public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
    List(requireCell(propertyName, .list))
  }

  /// A set of objects by its property's name, as dynamic objects.
  public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
    MutableSet(requireCell(propertyName, .set))
  }

  /// A map of objects by its property's name, as dynamic objects.
  public final func dynamicMap<Key: _MapKey>(_ propertyName: String) -> Map<Key, DynamicObject?> {
    Map(requireCell(propertyName, .map))
  }

  private func requireCell(_ name: String, _ kind: _CollectionKind) -> CollectionCell {
    guard let table = _table else {
      misuse(.ownership, "An object's collections by name are only there in a Realm.")
    }
    requireReadable()
    let binding = table.pointee.binding
    guard let position = binding.schema.index(ofProperty: name) else {
      misuse(.argument, "Invalid property name '\(name)' for class '\(binding.schema.name)'.")
    }
    let codec = binding.schema.properties[position].codec
    guard codec.collection == kind, codec.type == .object else {
      misuse(
        .argument,
        "Property '\(binding.schema.name).\(name)' is no \(kind.typeName) of objects.")
    }
    return CollectionCell(self, Int32(binding.columns[position]), DynamicObject.self)
  }
}

extension ConfinedRealm {
  /// The class in Swift of an object of any Realm; of a dynamic one the class of that name here.
  ///
  /// Stops when the Realm does not hold a dynamic object's class.
  func ownClass(of object: ObjectBase) -> ObjectBase.Type {
    guard object is DynamicObject, let table = object._table else { return type(of: object) }
    // To link to an object of a class that the Realm does not hold, no other class is needed.
    if object._realm === self, table.pointee.binding.isForeign { return type(of: object) }
    noteLookup()
    let name = object.classSchema.name
    guard let binding = classes.binding(storedName: name) else { stopForUnknown(name) }
    return binding.schema.objectClass
  }

  /// The shared state of dynamic accessors of a class; nil when the Realm does not hold it.
  func dynamicTable(named name: String) -> TablePointer? {
    guard let binding = classes.binding(named: name) else { return nil }
    return table(classes.dynamicBinding(of: binding))
  }

  /// The same; stops when the Realm does not hold the class.
  func requireDynamicTable(named name: String) -> TablePointer {
    noteLookup()
    if let table = dynamicTable(named: name) { return table }
    stopForUnknown(name)
  }

  private func stopForUnknown(_ name: String) -> Never {
    misuse(
      .schema,
      "Object type '\(name)' is not managed by the Realm. If using a custom `objectTypes` array in "
        + "your configuration, add `\(name)` to it.")
  }

  /// The table that links of a column lead to; `type` is their class in Swift.
  @inline(__always)
  func targetTable(of type: ObjectBase.Type, _ table: TablePointer, _ column: Int) -> TablePointer {
    // A collection of a class can be asked for as one of dynamic objects, too.
    if _slowPath(type == DynamicObject.self) { return dynamicTarget(table, column) }
    if let known = table.pointee.targets[column] { return known }
    let target = requireLinkedTable(of: type)
    table.pointee.targets[column] = target
    return target
  }

  private func dynamicTarget(_ table: TablePointer, _ column: Int) -> TablePointer {
    let declared = table.pointee.binding.table!.schema.columns[column]
    // Noted as a lookup only on the way to the stop.
    let name = declared.target ?? ""
    if table.pointee.binding.isForeign, let target = foreignTable(named: name) { return target }
    return dynamicTable(named: name) ?? requireDynamicTable(named: name)
  }
}
