// Projections: objects under other names, with only some of their properties. A projection holds an
// object and reads through it; nothing of its own is in the file.
internal import Platform

/// A view of an object: some of its properties, those of objects that it links to among them.
///
///     class PersonName: Projection<Person> {
///       @Projected(\Person.firstName) var first
///       @Projected(\Person.address?.city) var city
///       @Projected(\Person.friends.projectTo.firstName) var friends: ProjectedCollection<String>
///     }
nonisolated open class Projection<Root: ObjectBase & RealmCollectionValue & ThreadConfined>:
  ThreadConfined,
  RealmFetchable, CustomStringConvertible
{
  /// Stored as the object.
  public typealias PersistedType = Root

  /// The object that is shown.
  public let rootObject: Root

  /// The view of an object.
  ///
  /// Stops when a projected property is none of the object's.
  public required init(projecting object: Root) {
    rootObject = object
    ProjectedProperties.check(self)
  }

  /// The Realm that the object belongs to.
  public var realm: Realm? { rootObject.realm }
  /// Whether the object can no longer be used.
  public var isInvalidated: Bool { rootObject.isInvalidated }
  /// Whether the object never changes and may be used from any thread.
  public var isFrozen: Bool { rootObject.isFrozen }

  /// A view of the object as it is now, immutable and usable from any thread.
  public func freeze() -> Self { Self(projecting: rootObject.freeze()) }

  /// A view of the live form of a frozen object; nil when it was deleted.
  public func thaw() -> Self? { rootObject.thaw().map { Self(projecting: $0) } }

  /// Whether both show the same object in the same way.
  public static func == (left: Projection, right: Projection) -> Bool {
    type(of: left) == type(of: right) && left.rootObject == right.rootObject
  }

  /// Hashes the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(rootObject as ObjectBase) }

  /// The class, and the name and value of each projected property.
  public var description: String {
    var text = "\(Self.className())<\(Root.className())> {\n"
    for (name, property) in ProjectedProperties.of(self) {
      let value = property.untypedValue(of: rootObject)
      text += "\t\(name) = \(indented(ObjectDescription.text(of: value)));\n"
    }
    return text + "}"
  }

  // MARK: - As an element of results

  /// The last part of its Swift name.
  public static func className() -> String { String(describing: self) }
  /// The class of the objects that are shown.
  public static var _fetchedClass: ObjectBase.Type { Root.self }
  /// An object.
  public static var _rlmType: PropertyType { .object }
  /// Never nil.
  public static var _rlmOptional: Bool { false }
  /// The class of the objects that are shown.
  public static var _rlmObjectClass: ObjectBase.Type? { Root.self }
  /// A view of an element of a managed collection.
  public static func _readElement(_ source: _ElementSource, _ position: Int) -> Self {
    Self(projecting: Root._readElement(source, position))
  }
  /// Gives the object to a managed collection.
  public func _writeElement(to sink: _ElementSink) { rootObject._writeElement(to: sink) }
  /// The view of an object.
  public static func _elementFromAny(_ value: Any?) -> Self? {
    (value as? Root).map { Self(projecting: $0) }
  }
  /// The object.
  public var _anyElement: Any? { rootObject }
}

@available(*, unavailable)
extension Projection: Sendable {}

/// A projection of any class.
public protocol _AnyProjection {
  /// The object that is shown.
  var _projectedObject: ObjectBase { get }
}

extension Projection: _AnyProjection {
  /// The object that is shown.
  public var _projectedObject: ObjectBase { rootObject }
}

/// A property of a projection: what a key path leads to from its object.
@propertyWrapper
public struct Projected<T: ObjectBase & RealmCollectionValue & ThreadConfined, Value> {
  fileprivate let keyPath: KeyPath<T, Value>

  /// The property that a key path leads to.
  public init(_ projectedKeyPath: KeyPath<T, Value>) { keyPath = projectedKeyPath }

  /// Not for use: a projected property works only inside of a projection.
  @available(*, unavailable, message: "@Projected can only be used as a property of a Projection")
  public var wrappedValue: Value {
    get { fatalError("@Projected can only be used as a property of a Projection") }
    // A setter makes the property settable for the compiler.
    // swift-format-ignore
    set { fatalError("@Projected can only be used as a property of a Projection") }
  }

  /// The value of the object's property; it is set where the key path can be written.
  public static subscript<Owner: Projection<T>>(
    _enclosingInstance owner: Owner,
    wrapped valuePath: ReferenceWritableKeyPath<Owner, Value>,
    storage storagePath: ReferenceWritableKeyPath<Owner, Self>
  ) -> Value {
    get { owner.rootObject[keyPath: owner[keyPath: storagePath].keyPath] }
    set {
      guard let path = owner[keyPath: storagePath].keyPath as? ReferenceWritableKeyPath<T, Value>
      else { misuse(.argument, "KeyPath is not writable") }
      owner.rootObject[keyPath: path] = newValue
    }
  }
}

/// A projected property without its types.
protocol AnyProjected {
  func untypedValue(of object: ObjectBase) -> Any?
  /// The names that the key path goes through; nil when it leads to no property.
  var names: [String]? { get }
  /// The same with dots; of projected values with the property of the elements at the end.
  var path: String? { get }
}

extension Projected: AnyProjected {
  func untypedValue(of object: ObjectBase) -> Any? {
    (object as? T).flatMap { unwrapped($0[keyPath: keyPath]) }
  }

  var names: [String]? {
    // A collection of projected values is checked where its elements are read.
    Value.self is any _ProjectedCollection.Type ? [] : KeyPathRecording.names(keyPath)
  }

  var path: String? {
    KeyPathRecording.path(of: T.self) { unsafeDowncast($0, to: T.self)[keyPath: keyPath] }
  }
}

/// Tells projected collections from values.
protocol _ProjectedCollection {
  /// The property of the elements that is shown.
  var elementProperty: String { get }
}

extension ProjectedCollection: _ProjectedCollection {
  var elementProperty: String { base.name }
}

/// The projected properties of a class.
enum ProjectedProperties {
  private static let checked = Monitor<Set<ObjectIdentifier>>([])

  /// Names and properties, those of superclasses first.
  static func of(_ projection: AnyObject) -> [(name: String, property: any AnyProjected)] {
    var mirrors = [Mirror(reflecting: projection)]
    while let above = mirrors.last?.superclassMirror { mirrors.append(above) }
    return mirrors.reversed().flatMap(\.children).compactMap { child in
      guard let property = child.value as? any AnyProjected, let label = child.label else {
        return nil
      }
      // A wrapper's storage has the property's name behind an underscore.
      return (String(label.dropFirst()), property)
    }
  }

  /// Stops, the first time that one of the class is made, when a property is none of the object's.
  static func check(_ projection: AnyObject) {
    let identifier = ObjectIdentifier(type(of: projection))
    if checked.withLock({ $0.contains(identifier) }) { return }
    for (name, property) in of(projection) where property.names == nil {
      misuse(.schema, "@Projected property '\(name)' must be a part of Realm object")
    }
    checked.withLock { _ = $0.insert(identifier) }
  }
}
