// What has to hold of the classes of a Realm: each can be stored and stores something, no two have
// one stored name, links lead to classes that are there, linking objects come from links that
// exist.

extension RealmSchema {
  /// What is wrong with the classes, each by itself and together, a line each; none when they can
  /// be stored.
  static func errors(of classes: [ClassSchema]) -> [String] {
    let superclasses = Set(classes.flatMap { Self.superclasses(of: $0.objectClass) })
    let own = classes.flatMap { schema in
      // A class that others derive from need not store anything itself.
      let isDerivedFrom = superclasses.contains(ObjectIdentifier(schema.objectClass))
      return (schema.faults + (isDerivedFrom ? [] : schema.emptiness))
        .map { "\(String(reflecting: schema.objectClass)): \($0)" }
    }
    return own + clashes(of: classes) + errorsTogether(of: classes)
  }

  private static func superclasses(of objectClass: AnyClass) -> [ObjectIdentifier] {
    guard let superclass = _getSuperclass(objectClass) else { return [] }
    return [ObjectIdentifier(superclass)] + superclasses(of: superclass)
  }

  /// Which classes have one stored name.
  private static func clashes(of classes: [ClassSchema]) -> [String] {
    var owners: [String: ClassSchema] = [:]
    return classes.compactMap { schema in
      guard let other = owners[schema.name] else {
        owners[schema.name] = schema
        return nil
      }
      return "Classes '\(String(reflecting: other.objectClass))' and "
        + "'\(String(reflecting: schema.objectClass))' are both stored as '\(schema.name)'. "
        + "Pick one by `objectTypes`, or rename one by `_realmObjectName()`."
    }
  }

  private static func errorsTogether(of classes: [ClassSchema]) -> [String] {
    let byName = Dictionary(classes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return classes.flatMap { classSchema in
      var errors: [String] = []
      if classSchema.isEmbedded, classSchema.primaryKey != nil {
        errors.append("Embedded object type '\(classSchema.name)' cannot have a primary key.")
      }
      for property in classSchema.properties {
        errors += self.errors(of: property, in: classSchema, byName)
      }
      return errors
    }
  }

  private static func errors(
    of property: PropertyDescription, in classSchema: ClassSchema, _ byName: [String: ClassSchema]
  ) -> [String] {
    guard let targetName = property.objectClassName else { return [] }
    let name = "\(classSchema.name).\(property.name)"
    guard let target = byName[targetName] else {
      return [
        "Property '\(name)' of type '\(property.codec.type)' has unknown object type '\(targetName)'"
      ]
    }
    guard let origin = property.originProperty else { return [] }
    let place =
      "Property '\(targetName).\(origin)' declared as origin of linking objects property '\(name)'"
    guard let index = target.index(ofProperty: origin) else { return ["\(place) does not exist"] }
    let source = target.properties[index]
    guard source.codec.type == .object, let linked = source.objectClassName else {
      return ["\(place) is not a link"]
    }
    return linked == classSchema.name ? [] : ["\(place) links to type '\(linked)'"]
  }
}
