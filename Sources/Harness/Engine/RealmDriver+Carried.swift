// What leaves a session of the real engine: frozen Realms, frozen values and references.
internal import Foundation
internal import RealmSwift

extension Sequence<BenchmarkObject> {
  /// Reads all properties of all objects.
  func copy(into rows: inout [Row]) {
    var count = 0
    for object in self {
      if count == rows.count { rows.append(Row()) }
      object.copy(.all, into: &rows[count])
      count += 1
    }
    rows.removeLast(rows.count - count)
  }
}

/// A frozen value, which any thread may use.
package struct RealmCopy: EngineCopy, @unchecked Sendable {
  // @unchecked: frozen values never change; their types cannot be Sendable, since live ones are
  // not.
  enum Value {
    case object(BenchmarkObject)
    case list(List<BenchmarkObject>)
    case results(Results<BenchmarkObject>)
  }

  private let value: Value
  private let realm: Realm

  init(_ value: Value) {
    self.value = value
    let realm =
      switch value {
      case .object(let object): object.realm
      case .list(let list): list.realm
      case .results(let results): results.realm
      }
    guard let realm, realm.isFrozen else {
      preconditionFailure("only a frozen value may leave its place")
    }
    self.realm = realm
  }

  package var version: UInt64 { realm.currentVersion }

  package func read(into rows: inout [Row]) {
    switch value {
    case .object(let object): CollectionOfOne(object).copy(into: &rows)
    case .list(let list): list.copy(into: &rows)
    case .results(let results): results.copy(into: &rows)
    }
  }
}

/// A reference that is resolved once.
package struct RealmReference: EngineReference {
  enum Value: Sendable {
    case object(ThreadSafeReference<BenchmarkObject>)
    case list(ThreadSafeReference<List<BenchmarkObject>>)
    case results(ThreadSafeReference<Results<BenchmarkObject>>)
  }

  let value: Value

  init(_ value: Value) { self.value = value }

  package var isResolved: Bool {
    switch value {
    case .object(let reference): reference.isInvalidated
    case .list(let reference): reference.isInvalidated
    case .results(let reference): reference.isInvalidated
    }
  }
}

/// A frozen Realm, which any thread may use.
package struct RealmPin: EnginePin, @unchecked Sendable {
  // @unchecked: a frozen Realm never changes; Realm itself cannot be Sendable, since live ones are
  // not.
  private let realm: Realm

  init(_ realm: Realm) {
    precondition(realm.isFrozen, "only a frozen Realm may leave its thread")
    self.realm = realm
  }

  package var version: UInt64 { realm.currentVersion }

  package func read(_ key: Int, into row: inout Row) -> Bool {
    guard let object = realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key) else {
      return false
    }
    object.copy(.all, into: &row)
    return true
  }

  package func total() -> TableTotal { realm.benchmarkTotal() }
}
