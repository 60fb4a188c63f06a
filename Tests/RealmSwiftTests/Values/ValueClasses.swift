// Classes that the tests of value types store.
import Foundation
import RealmSwift

/// Identified by an `ObjectId`.
class Note: Object {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var text: String
  @Persisted(indexed: true) var author: ObjectId?
}

/// Identified by a `UUID`.
class Device: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var name: String
  @Persisted(indexed: true) var owner: UUID?
  @Persisted var group: UUID
}

/// Keys that may be nil.
class OptionalNote: Object {
  @Persisted(primaryKey: true) var id: ObjectId?
  @Persisted var text: String
}

/// Decimal numbers.
class Price: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var amount: Decimal128
  @Persisted var discount: Decimal128?
}

enum Suit: String, PersistableEnum {
  case spades, hearts
  case clubs = "♣"
}

enum Level: Int, PersistableEnum {
  case low = 1
  case high = 100
}

enum Small: Int8, PersistableEnum { case one = 1, minusOne = -1 }
enum Short: Int16, PersistableEnum { case one = 1, large = 30_000 }
enum Medium: Int32, PersistableEnum { case one = 1, large = 2_000_000_000 }
enum Long: Int64, PersistableEnum { case one = 1, large = 9_000_000_000 }
enum Ratio: Double, PersistableEnum { case half = 0.5, quarter = 0.25 }
enum Share: Float, PersistableEnum { case half = 0.5, quarter = 0.25 }

/// Enums of every raw type.
class Card: Object {
  @Persisted(primaryKey: true) var suit: Suit
  @Persisted(indexed: true) var level: Level
  @Persisted var small: Small
  @Persisted var short: Short
  @Persisted var medium: Medium
  @Persisted var long: Long
  @Persisted var ratio: Ratio
  @Persisted var share = Share.quarter
  @Persisted var optionalSuit: Suit?
  @Persisted(indexed: true) var optionalLevel: Level?
  @Persisted var optionalRatio: Ratio?
}

/// Enums as elements.
class Deck: Object {
  @Persisted var suits: List<Suit>
  @Persisted var optionalLevels: List<Level?>
}

/// The same columns as plain values.
class RawCard: Object {
  @Persisted(primaryKey: true) var suit: String
  @Persisted(indexed: true) var level: Int
  @Persisted var small: Int8
  @Persisted var short: Int16
  @Persisted var medium: Int32
  @Persisted var long: Int64
  @Persisted var ratio: Double
  @Persisted var share: Float
  @Persisted var optionalSuit: String?
  @Persisted(indexed: true) var optionalLevel: Int?
  @Persisted var optionalRatio: Double?

  override class func _realmObjectName() -> String? { "Card" }
  // Two classes of one name do not fit into one schema.
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Keyed by an enum that may be nil.
class Door: Object {
  @Persisted(primaryKey: true) var level: Level?
  @Persisted var name: String
}

/// A number with a unit.
struct Celsius: CustomPersistable {
  var degrees: Double
  init(degrees: Double) { self.degrees = degrees }
  init(persistedValue: Double) { degrees = persistedValue }
  var persistableValue: Double { degrees }
}

/// An identifier of its own type.
struct SensorID: CustomPersistable {
  typealias PersistedType = UUID
  let uuid: UUID
  init(persistedValue: UUID) { uuid = persistedValue }
  var persistableValue: UUID { uuid }
}

/// An address, which not every text is.
struct Address: FailableCustomPersistable {
  let host: String
  init?(persistedValue: String) {
    guard !persistedValue.isEmpty, !persistedValue.contains(" ") else { return nil }
    host = persistedValue
  }
  var persistableValue: String { host }
}

/// Stored in an object of its own.
struct Position: CustomPersistable {
  var latitude: Double
  var longitude: Double
  init(latitude: Double, longitude: Double) {
    (self.latitude, self.longitude) = (latitude, longitude)
  }
  init(persistedValue: StoredPosition) {
    (latitude, longitude) = (persistedValue.latitude, persistedValue.longitude)
  }
  var persistableValue: StoredPosition {
    StoredPosition(value: [latitude, longitude])
  }
}

class StoredPosition: EmbeddedObject {
  @Persisted var latitude: Double
  @Persisted var longitude: Double
}

/// The client's own types.
class Sensor: Object {
  @Persisted(primaryKey: true) var id: SensorID
  @Persisted var temperature: Celsius
  @Persisted var limit: Celsius?
  @Persisted(indexed: true) var address = Address(persistedValue: "localhost")!
  @Persisted var fallback: Address?
}

/// The client's own types, stored as embedded objects and as elements.
class Site: Object {
  @Persisted var position: Position
  @Persisted var target: Position?
  @Persisted var history: List<Celsius>
  @Persisted var hosts: List<Address?>
}

/// The same columns as plain values.
class RawSensor: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var temperature: Double
  @Persisted var limit: Double?
  @Persisted(indexed: true) var address: String
  @Persisted var fallback: String?

  override class func _realmObjectName() -> String? { "Sensor" }
  // Two classes of one name do not fit into one schema.
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Values of any type.
class ValueBox: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: AnyRealmValue
  @Persisted(indexed: true) var label: AnyRealmValue
  @Persisted var started = AnyRealmValue.string("start")
  @Persisted var values: List<AnyRealmValue>
}

/// Identifiers and decimal numbers as elements.
class Ledger: Object {
  @Persisted var ids: List<ObjectId>
  @Persisted var uuids: List<UUID>
  @Persisted var amounts: List<Decimal128?>
}
