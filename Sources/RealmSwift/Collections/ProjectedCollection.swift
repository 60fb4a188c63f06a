// One property of all objects of a list or set, as a collection: `person.dogs.projectTo.name`.

public import Foundation

/// The values of one property of all objects of a collection, always as they are now.
public struct ProjectedCollection<Value: RealmCollectionValue>: RandomAccessCollection,
  LazyCollectionProtocol, CustomStringConvertible, ThreadConfined
{
  let base: any ProjectionBase<Value>

  init<Base: RealmCollection>(_ base: Base, _ keyPath: KeyPath<Base.Element, Value>)
  where Base.Element: ObjectBase {
    self.base = PropertyOfElements(base: base, keyPath: keyPath)
  }

  private init(_ base: any ProjectionBase<Value>) { self.base = base }

  /// The Realm that the objects belong to.
  public var realm: Realm? { base.realm }
  /// Whether the collection can no longer be used.
  public var isInvalidated: Bool { base.isInvalidated }
  /// Whether the values never change and may be used from any thread.
  public var isFrozen: Bool { base.isFrozen }
  /// Position of the first value.
  public var startIndex: Int { 0 }
  /// Position behind the last value.
  public var endIndex: Int { base.count }
  /// The number of values.
  public var count: Int { base.count }
  /// The value at a position; stops when it is out of bounds, or set though the property cannot be.
  public subscript(position: Int) -> Value {
    get { base.value(at: position) }
    nonmutating set { base.setValue(newValue, at: position) }
  }
  /// The first position of a value; nil when no object has it.
  public func index(of value: Value) -> Int? { firstIndex(of: value) }
  /// The position of the first object that a predicate holds for; nil when there is none.
  public func index(matching predicate: NSPredicate) -> Int? { base.index(matching: predicate) }
  /// The values as they are now, immutable and usable from any thread.
  public func freeze() -> ProjectedCollection { ProjectedCollection(base.frozen()) }
  /// The live form of frozen values; nil when what the objects hang on was deleted.
  public func thaw() -> ProjectedCollection? { base.thawed().map { ProjectedCollection($0) } }
  /// The type, and the first hundred values.
  public var description: String {
    var text = "ProjectedCollection<\(CollectionDescription.name(Value.self))> ("
    for (index, value) in prefix(100).enumerated() {
      text += "\(index == 0 ? "" : ",")\n\t[\(index)] "
      text += ObjectDescription.text(of: value._anyElement)
    }
    return text + "\n)"
  }
}

@available(*, unavailable)
extension ProjectedCollection: Sendable {}

/// Makes `ProjectedCollection`s: its members are the properties of the elements.
@dynamicMemberLookup
public struct CollectionElementMapper<Base: RealmCollection> where Base.Element: ObjectBase {
  private let base: Base

  init(_ base: Base) { self.base = base }

  /// The values of a property of all elements.
  public subscript<Value>(
    dynamicMember member: KeyPath<Base.Element, Value>
  ) -> ProjectedCollection<Value> {
    ProjectedCollection(base, member)
  }
}

extension List where Element: ObjectBase {
  /// The properties of the list's objects, each as a collection.
  public var projectTo: CollectionElementMapper<List> { CollectionElementMapper(self) }
}

extension MutableSet where Element: ObjectBase {
  /// The properties of the set's objects, each as a collection.
  public var projectTo: CollectionElementMapper<MutableSet> { CollectionElementMapper(self) }
}

/// A collection of objects and the key path to one of their properties, without their types.
protocol ProjectionBase<Value> {
  associatedtype Value
  var realm: Realm? { get }
  var isInvalidated: Bool { get }
  var isFrozen: Bool { get }
  var count: Int { get }
  /// The name of the property.
  var name: String { get }
  /// The class of the objects.
  var elementTable: TablePointer? { get }
  func value(at position: Int) -> Value
  func setValue(_ value: Value, at position: Int)
  func index(matching predicate: NSPredicate) -> Int?
  func frozen() -> Self
  func thawed() -> Self?
  /// Follows the collection of objects.
  func makeTracker(keyPaths: [String]) -> CollectionTracker
}

private struct PropertyOfElements<Base: RealmCollection, Value>: ProjectionBase
where Base.Element: ObjectBase {
  let base: Base
  let keyPath: KeyPath<Base.Element, Value>

  var realm: Realm? { base.realm }
  var isInvalidated: Bool { base.isInvalidated }
  var isFrozen: Bool { base.isFrozen }
  var count: Int { base.count }
  var name: String { _name(for: keyPath) }
  var elementTable: TablePointer? { base.elementTable }
  func value(at position: Int) -> Value { base[position][keyPath: keyPath] }
  func setValue(_ value: Value, at position: Int) {
    guard let keyPath = keyPath as? ReferenceWritableKeyPath<Base.Element, Value> else {
      misuse(.argument, "KeyPath is not writable")
    }
    base[position][keyPath: keyPath] = value
  }
  func index(matching predicate: NSPredicate) -> Int? { base.index(matching: predicate) }
  func frozen() -> Self { Self(base: base.freeze(), keyPath: keyPath) }
  func thawed() -> Self? { base.thaw().map { Self(base: $0, keyPath: keyPath) } }
  func makeTracker(keyPaths: [String]) -> CollectionTracker {
    CollectionTracker.make(base, keyPaths: keyPaths)
  }
}
