// A property of an object, or of a projection, as the place of a binding's value.

/// A property of what another location leads to.
final class PropertyLocation<Root: ThreadConfined, Value>: DerivedLocation<Root, Value> {
  private let keyPath: ReferenceWritableKeyPath<Root, Value>

  init(_ base: BindingLocation<Root>, _ keyPath: ReferenceWritableKeyPath<Root, Value>) {
    self.keyPath = keyPath
    super.init(base)
  }

  override func read() -> Value? {
    guard let root = base.read(), !root.isInvalidated else { return nil }
    return root[keyPath: keyPath]
  }

  override func readable() -> Value { base.readable()[keyPath: keyPath] }

  override func write(_ value: Value) {
    let keyPath = keyPath
    guard let root = base.read() else { return logDeleted(Root.self) }
    let isChanged = quickWrite(to: root) { live in
      // Nothing of the value is looked at before the place is known to be the right one.
      !StoredBits.areEqual(live[keyPath: keyPath], value)
    } _: { live in
      live[keyPath: keyPath] = liveForm(of: value, for: live.realm)
    }
    if isChanged { base.didWrite() }
  }

  override func register(isWay: Bool) {
    base.register(isWay: true)
    let root = base.readable()
    if let object = root as? ObjectBase {
      Reading.register(object, slot) { paths(of: object, isWay: isWay) }
    } else if let projection = root as? any ProjectionObservable {
      Reading.register(projection.rootObject, slot) { projectedPaths(projection) }
    }
  }

  /// Nil when the key path leads through something else than persisted properties.
  private func paths(of object: ObjectBase, isWay: Bool) -> [String]? {
    guard let names = KeyPathNames.find(keyPath) else { return nil }
    let path = names.joined(separator: ".")
    // Who reads an object or a collection of some reads their properties, too.
    let schema = object.classSchema
    guard !isWay, names.count == 1, let index = schema.index(ofProperty: path),
      schema.properties[index].codec.type == .object
    else { return [path] }
    return [path, path + ".*"]
  }

  private func projectedPaths<Projected: ProjectionObservable>(_ root: Projected) -> [String]? {
    ((keyPath as AnyKeyPath) as? PartialKeyPath<Projected>).map { [Projected.path(of: $0)] }
  }
}

/// An object that a binding was made of.
final class ObjectLocation<Value>: BindingLocation<Value> {
  private let value: Value
  init(_ value: Value) { self.value = value }
  override func read() -> Value? { value }
  override func readable() -> Value { value }
  // The place is a variable that the client has no access to.
  override func write(_ value: Value) {}
}
