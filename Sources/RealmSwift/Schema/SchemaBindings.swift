// Where the tables of one stored schema keep the objects of a Realm's classes. Made when a Realm is
// opened and when it meets a version with another schema; shared by live and frozen Realms.
internal import ObjectStore
internal import Platform

/// The classes of a Realm, each bound to its table.
final class SchemaBindings: @unchecked Sendable {
  // @unchecked: bindings are immutable; those that are made on demand are guarded by `dynamic`.
  let stored: StoredSchema
  /// In the order of the Realm's classes.
  let bindings: [TableBinding]
  /// By the index of the stored table.
  private let byTable: [TableBinding?]
  private let byClass: [ObjectIdentifier: TableBinding]
  private let byName: [String: TableBinding]
  /// For dynamic accessors, by index; made when first needed.
  private let dynamic = Monitor<[Int: TableBinding]>([:])
  /// Whether dynamic accessors may change primary keys, as in a migration.
  private let changesKeys: Bool

  init(_ classes: [ClassSchema], _ stored: StoredSchema, changesKeys: Bool = false) {
    self.stored = stored
    self.changesKeys = changesKeys
    bindings = classes.enumerated().map { index, schema in
      TableBinding(schema: schema, index: index, table: stored.table(named: schema.name))
    }
    byClass = Dictionary(
      bindings.map { (ObjectIdentifier($0.schema.objectClass), $0) }, uniquingKeysWith: { $1 })
    var byTable = [TableBinding?](repeating: nil, count: stored.tables.count)
    for binding in bindings { if let table = binding.table { byTable[table.index] = binding } }
    self.byTable = byTable
    var names: [String: TableBinding] = [:]
    // A stored name counts more than another class's name in Swift.
    for binding in bindings { names[binding.schema.objectClass.className()] = binding }
    for binding in bindings { names[binding.schema.name] = binding }
    byName = names
    for binding in bindings {
      binding.findOrigins { property in
        property.codec.objectClass.flatMap { byClass[ObjectIdentifier($0)] }
      }
    }
  }

  /// The class whose objects a stored table holds.
  func binding(ofTable index: Int) -> TableBinding? {
    byTable.indices.contains(index) ? byTable[index] : nil
  }

  func binding(of type: ObjectBase.Type) -> TableBinding? { byClass[ObjectIdentifier(type)] }

  /// The class of a stored or Swift name.
  func binding(named name: String) -> TableBinding? { byName[name] }

  /// The class of a stored name; another class's name in Swift does not count.
  func binding(storedName name: String) -> TableBinding? {
    byName[name].flatMap { $0.schema.name == name ? $0 : nil }
  }

  /// The binding, in these classes, of a class that is given by the binding of another Realm; stops
  /// when it is none of them.
  ///
  /// - Complexity: a comparison when the other Realm has the same classes.
  func own(_ binding: TableBinding) -> TableBinding {
    // Without a table when that is gone: its objects are deleted, no reason to stop.
    if binding.isForeign { return ownForeign(binding) ?? foreignBinding(like: binding) }
    let position = binding.index < bindings.count ? binding.index : binding.index - bindings.count
    if bindings.indices.contains(position) {
      // Never the other Realm's own, which ends with that Realm.
      let own = bindings[position]
      if own.schema === binding.schema { return own }
      // Dynamic forms lie behind the classes, at the same distance.
      if binding.schema.isDynamic, binding.index >= bindings.count,
        own.schema.name == binding.schema.name
      {
        return dynamicBinding(of: own)
      }
    }
    if binding.schema.isDynamic {
      if let found = byName[binding.schema.name] { return dynamicBinding(of: found) }
    } else if let found = byClass[ObjectIdentifier(binding.schema.objectClass)] {
      return found
    }
    stopForUnknown(binding)
  }

  private func stopForUnknown(_ binding: TableBinding) -> Never {
    misuse(
      .schema,
      "Object type '\(binding.schema.name)' is not managed by the Realm. If using a custom "
        + "`objectTypes` array in your configuration, add `\(binding.schema.name)` to it.")
  }

  /// The binding of dynamic accessors of a class.
  ///
  /// Its index is that of the class, behind all classes.
  func dynamicBinding(of binding: TableBinding) -> TableBinding {
    if binding.schema.isDynamic { return binding }
    return dynamic.withLock { dynamicBinding(of: binding, in: &$0) }
  }

  private func dynamicBinding(
    of binding: TableBinding, in dynamic: inout [Int: TableBinding]
  ) -> TableBinding {
    if let known = dynamic[binding.index] { return known }
    let made = TableBinding(
      schema: .dynamic(
        binding.table?.schema ?? binding.schema.tableSchema, like: binding.schema,
        changesKeys: changesKeys),
      index: bindings.count + binding.index, table: binding.table)
    // Before its origins are looked for, which may lead back to it.
    dynamic[binding.index] = made
    made.findOrigins { property in
      property.objectClassName.flatMap { byName[$0] }.map { dynamicBinding(of: $0, in: &dynamic) }
    }
    return made
  }

  /// The binding of a foreign class that is kept at an index; made when first needed.
  func keptForeign(at index: Int, _ make: (Int) -> TableBinding) -> TableBinding {
    dynamic.withLock { dynamic in
      if let known = dynamic[index] { return known }
      let made = make(index)
      // The file knows of no linking objects.
      made.findOrigins { _ in nil }
      dynamic[index] = made
      return made
    }
  }

  /// The same classes in another schema of the file.
  func adopting(_ stored: StoredSchema) -> SchemaBindings {
    SchemaBindings(bindings.map(\.schema), stored)
  }

  /// Whether accessors of one form read the same columns in the other.
  func hasSamePlaces(as other: SchemaBindings) -> Bool {
    zip(bindings, other.bindings).allSatisfy { left, right in
      left.table?.index == right.table?.index && left.columns == right.columns
    }
  }

  /// How the file's tables differ from the classes, in words; none when they fit.
  ///
  /// - Parameter onlyReads: whether values are only read, for which less has to fit.
  private func differences(_ onlyReads: Bool) -> [String] {
    bindings.flatMap { binding -> [String] in
      guard let table = binding.table else { return [] }
      return table.schema.changes(to: binding.schema.tableSchema)
        .filter { !onlyReads || $0.concernsReading }
        .compactMap { $0.line(className: binding.schema.name) }
    }
  }

  /// What to say of a Realm that was opened with these classes when the file's tables no longer fit
  /// them; nil when they do.
  func complaint(for configuration: Realm.Configuration) -> String? {
    let differences = differences(configuration.readOnly)
    if differences.isEmpty { return nil }
    return "The classes in '\(configuration.place)' have changed since the Realm was opened:\n"
      + differences.map { "- \($0)" }.joined(separator: "\n")
      + "\nClose every Realm of the file and open it with the new classes."
  }
}
