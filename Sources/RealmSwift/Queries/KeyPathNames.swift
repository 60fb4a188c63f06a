// From Swift key paths to names of properties: the key path is read on an object whose persisted
// properties note that they were touched.
internal import Platform

/// The names that a key path goes through, one a step.
enum KeyPathNames {
  // @unchecked: key paths are immutable, and those to persisted properties capture nothing.
  private struct Known: @unchecked Sendable {
    var names: [AnyKeyPath: [String]] = [:]
  }

  private static let known = Monitor<Known>(Known())

  /// The names of a key path; stops when it leads to anything but a persisted property.
  ///
  /// - Complexity: some microseconds the first time, then one look-up.
  static func of(_ keyPath: AnyKeyPath) -> [String] {
    if let names = find(keyPath) { return names }
    misuse(
      .argument,
      "Cannot apply a keypath to '\(type(of: keyPath).rootType)': \(keyPath) does not lead to a "
        + "persisted property.")
  }

  /// The names of a key path; nil when it leads to anything but a persisted property.
  static func find(_ keyPath: AnyKeyPath) -> [String]? {
    if let names = known.withLock({ $0.names[keyPath] }) { return names }
    // Outside of the lock: it runs the class's initializer.
    guard let names = KeyPathRecording.names(keyPath) else { return nil }
    let carried = Carried(keyPath)
    known.withLock { $0.names[carried.value] = names }
    return names
  }
}

/// What one reading of a key path touched.
final class KeyPathRecording: @unchecked Sendable {
  // @unchecked: used only by the thread that reads the key path, while it does.
  private var names: [String] = []
  /// The object that the next step has to be read on.
  private var next: ObjectBase?
  private var isSound = true
  /// The class of the elements of the collection that was read last.
  private var elements: ObjectBase.Type?

  @TaskLocal static var current: KeyPathRecording?

  /// The names of a key path; nil when it leads to anything but a persisted property.
  static func names(_ keyPath: AnyKeyPath) -> [String]? {
    guard let root = type(of: keyPath).rootType as? ObjectBase.Type else { return nil }
    return record(root) { $0[keyPath: keyPath] }
  }

  /// The names of what is read from an object, with dots; nil when that is no persisted property.
  ///
  /// Of projected values with the property of the elements at the end.
  static func path(of root: ObjectBase.Type, _ read: (ObjectBase) -> Any) -> String? {
    var last: [String] = []
    let names = record(root) { object in
      let value = read(object)
      last = (value as? any _ProjectedCollection).map { [$0.elementProperty] } ?? []
      return value
    }
    return names.map { ($0 + last).joined(separator: ".") }
  }

  private static func record(
    _ root: ObjectBase.Type, _ read: (ObjectBase) -> Any?
  ) -> [String]? {
    let recording = KeyPathRecording()
    let object = prototype(of: root)
    recording.next = object
    return $current.withValue(recording) {
      recording.noteConstant(read(object))
      return recording.isSound && !recording.names.isEmpty ? recording.names : nil
    }
  }

  /// An object whose properties note that they are read.
  private static func prototype(of objectClass: ObjectBase.Type) -> ObjectBase {
    let object = objectClass.init()
    for (index, property) in ClassSchema.of(objectClass).properties.enumerated() {
      property.codec.record(object.pointer(to: property), Int32(index))
    }
    return object
  }

  /// Notes that a property was read; returns the object that a link leads to.
  func note(_ owner: ObjectBase, _ property: Int, linksTo target: ObjectBase.Type?) -> ObjectBase? {
    // A key path to a computed property reads several of one object, or objects of its own.
    isSound = isSound && next === owner
    names.append(ClassSchema.of(type(of: owner)).properties[property].name)
    next = target.map { Self.prototype(of: $0) }
    elements = nil
    return next
  }

  /// Notes that a constant of an older class was read, which cannot note it itself.
  private func noteConstant(_ value: Any?) {
    guard let owner = next, let read = (value as? any _ConstantProperty)?._ownObject else { return }
    let property = ClassSchema.of(type(of: owner)).properties.first {
      $0.constantType?.ownObject(at: owner.pointer(to: $0)) === read
    }
    guard let property else { return }
    names.append(property.name)
    next = nil
    elements = property.codec.objectClass
  }

  /// Notes that the elements of the collection that was read last may be read next.
  fileprivate func note(elements: ObjectBase.Type?) { self.elements = elements }

  /// An element of the collection that a key path goes through; nil outside of one.
  static func element<Element: RealmCollectionValue>(
    of _: Element.Type, in collection: @autoclosure () -> Any
  ) -> Element? {
    guard let recording = current else { return nil }
    recording.noteConstant(collection())
    if let wanted = Element._rlmObjectClass {
      guard recording.elements == wanted else { return nil }
      recording.elements = nil
      let object = prototype(of: wanted)
      recording.next = object
      if let optional = Element.self as? any OptionalProtocol.Type {
        return optional._wrappedType is ObjectBase.Type ? object as? Element : nil
      }
      return object as? Element
    }
    return (Element.self as? any _Persistable.Type)?._defaultValue() as? Element
  }
}

/// The value of a property of a recording object.
@usableFromInline @inline(never)
func readRecorded<Value: _Persistable>(_ owner: ObjectBase, _ property: Int32) -> Value {
  let linked = Value._rlmType == .object && Value._rlmCollection == .none
  let target = KeyPathRecording.current?.note(
    owner, Int(property), linksTo: linked ? Value._rlmObjectClass : nil)
  if Value._rlmCollection != .none || Value._rlmType == .linkingObjects {
    KeyPathRecording.current?.note(elements: Value._rlmObjectClass)
  }
  return target as? Value ?? Value._defaultValue()
}

/// The name in the file of the property that a key path leads to; names of several steps have dots.
public func _name<Root: ObjectBase>(for keyPath: PartialKeyPath<Root>) -> String {
  KeyPathNames.of(keyPath).joined(separator: ".")
}
