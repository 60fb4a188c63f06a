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
