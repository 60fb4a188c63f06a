// swift-format-ignore-file
// What older client code declares and this version does not have: refused, with the word to use.
import RealmSwift

class Kept: Object {
  @Persisted var number = 0
  override class func className() -> String { "Other" }
  override static func primaryKey() -> String? { "number" }
  override static func ignoredProperties() -> [String] { [] }
  override static func indexedProperties() -> [String] { [] }
  override class func propertiesMapping() -> [String: String] { ["number": "no"] }
}

class KeptInside: EmbeddedObject {
  @Persisted var number = 0
  override static func ignoredProperties() -> [String] { [] }
  override class func indexedProperties() -> [String] { ["number"] }
}

class Old: Object {
  override class func requiredProperties() -> [String] { [] }  // error: cannot override 'requiredProperties' which has been marked unavailable: Declare the property with a type that is not optional.
  override class func defaultPropertyValues() -> [String: Any]? { nil }  // error: cannot override 'defaultPropertyValues' which has been marked unavailable: Give each property its value: '@Persisted var age = 1'.
  override class func propertyMapping() -> [String: String] { [:] }  // error: 'propertyMapping()' has been renamed to 'propertiesMapping()'
  override class func _realmColumnNames() -> [String: String] { [:] }  // error: '_realmColumnNames()' has been renamed to 'propertiesMapping()'
  override class func linkingObjectsProperties() -> [String: Any] { [:] }  // error: cannot override 'linkingObjectsProperties' which has been marked unavailable: Declare '@Persisted(originProperty: "name") var owners: LinkingObjects<Owner>' instead.
}

class Sent: AsymmetricObject {  // error: 'AsymmetricObject' is unavailable: There is no synchronisation. Use 'Object'.
}
