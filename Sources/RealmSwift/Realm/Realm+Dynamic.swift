// Objects by the name of their class, for programs that learn the classes while they run.
internal import ObjectStore

extension Realm {
  /// All objects of a class, as dynamic objects.
  ///
  /// Stops when the Realm does not hold the class.
  public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
    confined.check()
    return Results(TableSource(confined, confined.requireDynamicTable(named: typeName)))
  }

  /// The object of a primary key as a dynamic object, if there is one.
  ///
  /// Stops when the Realm does not hold the class, and when that has no primary key.
  public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
    confined.check()
    return confined.dynamicObject(confined.requireDynamicTable(named: typeName), key)
  }

  /// Makes an object in the Realm; see `create`.
  ///
  /// - Parameters:
  ///   - typeName: the name of the class.
  ///   - value: a dictionary by property name, an array in property order, or another object.
  ///   - update: what to do when the primary key is there already.
  @discardableResult
  public func dynamicCreate(
    _ typeName: String, value: Any = [:], update: UpdatePolicy = .error
  ) -> DynamicObject {
    confined.dynamicCreate(typeName, value, update)
  }
}

extension ConfinedRealm {
  func dynamicObject(_ table: TablePointer, _ key: Any) -> DynamicObject? {
    let schema = table.pointee.binding.schema
    guard let position = schema.primaryKey else {
      misuse(.schema, "'\(schema.name)' does not have a primary key and can not be looked up.")
    }
    let property = schema.properties[position]
    guard let keyValue = property.codec.keyOfAny(unwrapped(key)) else {
      stopForValue(key, property, className: schema.name)
    }
    guard let found = reader(of: table)?.find(keyValue) else { return nil }
    return unsafeDowncast(accessor(table, found.key, at: found.location), to: DynamicObject.self)
  }

  /// Makes an object of the Swift class, with its defaults, and gives a dynamic accessor of it.
  func dynamicCreate(
    _ typeName: String, _ value: Any, _ update: Realm.UpdatePolicy
  ) -> DynamicObject {
    _ = requireWriting()
    let table = requireDynamicTable(named: typeName)
    let objectClass = classes.binding(named: typeName)!.schema.objectClass
    if objectClass is EmbeddedObject.Type {
      misuse(.argument, "Embedded objects cannot be created directly")
    }
    let made = withInsertion(update, copies: true) { $0.create(objectClass, value) }
    return unsafeDowncast(accessor(table, made._key)!, to: DynamicObject.self)
  }
}
