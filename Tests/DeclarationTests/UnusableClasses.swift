// Classes that cannot be stored. Processes of tests let them into the default list; all others
// leave them out, since the tests of all targets are one program.
import Foundation
import RealmSwift

/// Which unusable classes the default list has, by their names.
enum DefaultList {
  // Set by the process of an exit test, before anything reads it.
  nonisolated(unsafe) static var names: Set<String> = []
}

/// A class that is in the default list when a test says so.
class Chosen: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool {
    DefaultList.names.contains(String(describing: self))
  }
}

class Goal: Chosen {
  @Persisted var name: String
}

class RequiredLink: Chosen {
  @Persisted var goal: Goal
}

class OptionalList: Chosen {
  @Persisted var goals: List<Goal?>
}

class OptionalSet: Chosen {
  @Persisted var goals: MutableSet<Goal?>
}

class RequiredMap: Chosen {
  @Persisted var goals: Map<String, Goal>
}

class TwoKeys: Chosen {
  @Persisted(primaryKey: true) var first: Int
  @Persisted(primaryKey: true) var second: String
}

class MissingKey: Chosen {
  @Persisted var id: Int
  override class func primaryKey() -> String? { "key" }
}

/// A key of a type that is none.
class DoubleKey: Chosen {
  @Persisted var id: Double
  override class func primaryKey() -> String? { "id" }
}

class DataIndex: Chosen {
  @Persisted var data: Data
  override class func indexedProperties() -> [String] { ["data"] }
}

class NoOrigin: Chosen {
  @Persisted var goals: LinkingObjects<Goal>
}

class WrongOrigin: Chosen {
  @Persisted(originProperty: "nothing") var goals: LinkingObjects<Goal>
}

class SameColumn: Chosen {
  @Persisted var first: Int
  @Persisted var second: Int
  override class func propertiesMapping() -> [String: String] { ["first": "c", "second": "c"] }
}

class NamelessColumn: Chosen {
  @Persisted var first: Int
  override class func propertiesMapping() -> [String: String] { ["first": ""] }
}

class Nameless: Chosen {
  @Persisted var first: Int
  override class func _realmObjectName() -> String? { "" }
}

/// An enum without cases, as left behind by a generator or conditional compilation.
struct Nothing: PersistableEnum {
  let rawValue: Int
  init?(rawValue: Int) { return nil }
  static var allCases: [Nothing] { [] }
}

class CaselessEnum: Chosen {
  @Persisted var choice: Nothing
}

/// Links to a class that is in no list: generic classes are left out.
class GenericGoal<Content>: Object {
  @Persisted var value: Int
}

class LinksToGeneric: Chosen {
  @Persisted var goal: GenericGoal<Int>?
}

/// Keeps a private property of the name that its subclass uses too.
class PrivateBase: Chosen {
  @Persisted private var value: Int
}

enum FirstHouse {
  class Twin: Chosen {
    @Persisted var first: Int
  }
}

enum SecondHouse {
  class Twin: Chosen {
    @Persisted var second: Int
  }
}

class KeyedInside: EmbeddedObject {
  @Persisted(primaryKey: true) var id: Int
  override class func shouldIncludeInDefaultSchema() -> Bool {
    DefaultList.names.contains("KeyedInside")
  }
}

class OwnerOfKeyed: Chosen {
  @Persisted var inside: KeyedInside?
}
