// The form that the workload migration-under-load gives to BenchmarkObject.
internal import Foundation
internal import RealmSwift

/// A BenchmarkObject with one property renamed, one of another type, one removed and one added.
final class MigratedObject: Object {
  override class func _realmObjectName() -> String? { BenchmarkObject.className() }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var id: Int
  /// Was called `name`.
  @Persisted var title: String
  /// Was an integer.
  @Persisted var age: Double
  @Persisted var payload: Data
  @Persisted var balance: Int
  @Persisted var changes: Int
  @Persisted var stamp: Int
  /// New: follows from name and age.
  @Persisted var label: String

  static func migrate(_ migration: Migration) {
    let name = BenchmarkObject.className()
    migration.renameProperty(onType: name, from: "name", to: "title")
    migration.enumerateObjects(ofType: name) { old, new in
      guard let old, let new, let title = old["name"] as? String, let age = old["age"] as? Int
      else { return }
      new["age"] = Double(age)
      new["label"] = MigratedRow.label(name: title, age: age)
    }
  }

  func copy(into migrated: inout MigratedRow) {
    migrated.row.id = id
    migrated.row.name = title
    migrated.row.age = Int(age)
    migrated.row.payload = payload
    migrated.row.balance = balance
    migrated.row.changes = changes
    migrated.row.stamp = stamp
    migrated.label = label
  }
}
