// swift-format-ignore-file
// Each line carries what the compiler must say of it.
// What is confined, or not synchronised, and so may not be shared. Each line must be refused.
import RealmSwift

class Dog: Object {
  @Persisted var name: String
}

func requireSendable<Value: Sendable>(_: Value.Type) {}

func whatIsNotSendable() {
  requireSendable(Realm.self)  // error: conformance of 'Realm' to 'Sendable' is unavailable
  requireSendable(Object.self)  // error: conformance of 'ObjectBase' to 'Sendable' is unavailable
  requireSendable(Dog.self)  // error: conformance of 'ObjectBase' to 'Sendable' is unavailable
  requireSendable(EmbeddedObject.self)  // error: conformance of 'ObjectBase' to 'Sendable' is unavailable
  requireSendable(DynamicObject.self)  // error: conformance of 'ObjectBase' to 'Sendable' is unavailable
  requireSendable(Results<Dog>.self)  // error: conformance of 'Results<Element>' to 'Sendable' is unavailable
  requireSendable(LinkingObjects<Dog>.self)  // error: conformance of 'LinkingObjects<Element>' to 'Sendable' is unavailable
  requireSendable(AnyRealmCollection<Dog>.self)  // error: conformance of 'AnyRealmCollection<Element>' to 'Sendable' is unavailable
  requireSendable(AnyRealmValue.self)  // error: conformance of 'AnyRealmValue' to 'Sendable' is unavailable
  requireSendable(List<Dog>.self)  // error: conformance of 'List<Element>' to 'Sendable' is unavailable
  requireSendable(List<Int>.self)  // error: conformance of 'List<Element>' to 'Sendable' is unavailable
  requireSendable(MutableSet<Int>.self)  // error: conformance of 'MutableSet<Element>' to 'Sendable' is unavailable
  requireSendable(Map<String, Int>.self)  // error: conformance of 'Map<Key, Value>' to 'Sendable' is unavailable
  requireSendable(ProjectedCollection<String>.self)  // error: conformance of 'ProjectedCollection<Value>' to 'Sendable' is unavailable
  requireSendable(SectionedResults<String, Dog>.self)  // error: conformance of 'SectionedResults<Key, SectionElement>' to 'Sendable' is unavailable
  requireSendable(ResultsSection<String, Dog>.self)  // error: conformance of 'ResultsSection<Key, Element>' to 'Sendable' is unavailable
  requireSendable(Projection<Dog>.self)  // error: conformance of 'Projection<Root>' to 'Sendable' is unavailable
  requireSendable(RealmOptional<Int>.self)  // error: conformance of 'RealmOptional<Value>' to 'Sendable' is unavailable
  requireSendable(RealmProperty<Int?>.self)  // error: conformance of 'RealmProperty<Value>' to 'Sendable' is unavailable
  requireSendable(PropertyChange.self)  // error: conformance of 'PropertyChange' to 'Sendable' is unavailable
  requireSendable(ObjectChange<Dog>.self)  // error: conformance of 'ObjectChange<T>' to 'Sendable' is unavailable
  requireSendable(RealmCollectionChange<List<Dog>>.self)  // error: conformance of 'RealmCollectionChange<CollectionType>' to 'Sendable' is unavailable
  requireSendable(SectionedResultsChange<SectionedResults<String, Dog>>.self)  // error: conformance of 'SectionedResultsChange<CollectionType>' to 'Sendable' is unavailable
  requireSendable(RealmMapChange<Map<String, Int>>.self)  // error: conformance of 'RealmMapChange<MapType>' to 'Sendable' is unavailable
}
