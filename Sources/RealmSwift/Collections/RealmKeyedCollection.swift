// What maps offer, as a protocol, and the types that their entries come in.
public import Dispatch
public import Foundation

/// A type that can be the key of a `Map`: `String`.
public protocol _MapKey: Hashable {
  /// The key as text.
  var _text: String { get }
  /// The key of a text.
  init(_text: String)
}

extension String: _MapKey {
  /// Itself.
  public var _text: String { self }
  /// Itself.
  public init(_text: String) { self = _text }
}

/// A collection of a Realm whose values have keys.
public protocol RealmKeyedCollection: Sequence, ThreadConfined, CustomStringConvertible {
  /// What the values are found by.
  associatedtype Key: _MapKey
  /// The values.
  associatedtype Value: RealmCollectionValue
  /// The number of entries.
  var count: Int { get }
  /// The keys.
  var keys: [Key] { get }
  /// The values, in the order of `keys`.
  var values: [Value] { get }
  /// The value of a key; setting nil removes the key.
  subscript(key: Key) -> Value? { get set }
  /// Sets the value of a key.
  func updateValue(_ value: Value, forKey key: Key)
  /// Removes a key and its value.
  func removeObject(for key: Key)
  /// Removes all entries.
  func removeAll()
  /// The value of a key, or what a key that begins with "@" asks of all values.
  func value(forKey key: String) -> Any?
  /// What a path leads to from the value of a key; or what an operator makes of all values.
  func value(forKeyPath keyPath: String) -> Any?
  /// Sets the value of a key.
  func setValue(_ value: Any?, forKey key: String)
  /// Whether an entry fulfils a condition.
  func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool

  // MARK: Conditions, orders and aggregates

  /// The values that fulfil a condition in `NSPredicate`'s format.
  func filter(_ predicateFormat: String, _ arguments: Any...) -> Results<Value>
  /// The values that fulfil a predicate.
  func filter(_ predicate: NSPredicate) -> Results<Value>
  /// The values sorted by a property.
  func sorted(byKeyPath keyPath: String, ascending: Bool) -> Results<Value>
  /// The values sorted by several properties, the first one first.
  func sorted<Descriptors: Sequence>(by descriptors: Descriptors) -> Results<Value>
  where Descriptors.Element == RealmSwift.SortDescriptor
  /// The smallest value of a property; nil when there is none.
  func min<T: MinMaxType>(ofProperty property: String) -> T?
  /// The largest value of a property; nil when there is none.
  func max<T: MinMaxType>(ofProperty property: String) -> T?
  /// The sum of a property's values; zero when there is none.
  func sum<T: AddableType>(ofProperty property: String) -> T
  /// The mean of a property's values; nil when there is none.
  func average<T: AddableType>(ofProperty property: String) -> T?

  // MARK: Observing

  /// Has a block called with the map at first, and then with each change.
  func observe(
    keyPaths: [String]?, on queue: DispatchQueue?,
    _ block: @escaping @isolated(any) (RealmMapChange<Self>) -> Void
  ) -> NotificationToken
}

/// A key and its value.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: Hashable {
  /// The key.
  public let key: Key
  /// The value.
  public let value: Value
}

/// Goes through the entries of a map.
///
/// It shows the entries that were there when it began.
public struct RLMMapIterator<Element>: IteratorProtocol {
  private let cursor: ElementCursor<Element>

  init(_ cursor: ElementCursor<Element>) { self.cursor = cursor }

  /// The next entry.
  public mutating func next() -> Element? { cursor.next() }
}

/// The entries of a map as pairs.
public struct MapKeyValueSequence<Key: _MapKey, Value: RealmCollectionValue>: Sequence {
  private let map: Map<Key, Value>

  init(_ map: Map<Key, Value>) { self.map = map }

  /// Goes through the entries that are in the map now.
  public func makeIterator() -> RLMMapIterator<(key: Key, value: Value)> {
    RLMMapIterator(map.makeCursor { (key: $0, value: $1) })
  }
}
