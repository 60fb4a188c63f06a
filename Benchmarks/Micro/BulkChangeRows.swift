// Figures of changes that concern a whole file through the public API: deletions, a change of type,
// copies; and of an encrypted file next to a plain one.
import Foundation
import Glibc
import Platform
import RealmSwift

/// The class before a change of type.
private final class NumberForm: Object {
  override class func _realmObjectName() -> String? { "Form" }
  @Persisted var value: Int
}

/// The class after it.
private final class TextForm: Object {
  override class func _realmObjectName() -> String? { "Form" }
  @Persisted var value: String
}

private let clock = MonotonicClock()

func bulkChangeRows(_ report: inout Report) throws {
  try deletionRows(&report)
  try changeTypeRow(&report)
  try copyRows(&report)
  try encryptionRows(&report)
}

/// Adds people in one transaction.
@discardableResult
private func fill(_ settings: Realm.Configuration) throws -> Realm {
  _ = try Realm.deleteFiles(for: settings)
  var random = RandomGenerator(seed: 8)
  let realm = try Realm(configuration: settings)
  let people = (0..<objectCount).map { makePerson($0, &random) }
  try realm.write { realm.add(people) }
  return realm
}

private func time(_ body: () throws -> Void) rethrows -> Double {
  let start = clock.nanoseconds()
  try body()
  return Double(clock.nanoseconds() - start)
}

/// Writes what is dirty, so that the disk is idle when the clock starts.
private func settleDisk() { sync() }

// MARK: - Deletions

/// A tenth of all objects, one in ten, by key; all objects of another new file.
private func deletionRows(_ report: inout Report) throws {
  guard report.wants(anyOf: ["delete-plain", "delete-all"]) else { return }
  let settings = configuration("deletions.realm", .full)
  var scattered: [Double] = []
  var all: [Double] = []
  for _ in 0..<repetitions {
    if report.wants("delete-plain") {
      let realm = try fill(settings)
      settleDisk()
      let doomed = stride(from: 3, to: objectCount, by: 10)
      let nanoseconds = try time {
        try realm.write {
          realm.delete(doomed.map { realm.object(ofType: Person.self, forPrimaryKey: $0)! })
        }
      }
      scattered.append(nanoseconds / Double(objectCount / 10))
      precondition(realm.objects(Person.self).count == objectCount - objectCount / 10)
    }
    if report.wants("delete-all") {
      let realm = try fill(settings)
      settleDisk()
      all.append(try time { try realm.write { realm.deleteAll() } })
      precondition(realm.objects(Person.self).isEmpty)
    }
  }
  report.add("delete-plain", unit: "ns", scattered)
  report.add("delete-all", unit: "ns", all)
}

// MARK: - Migration

/// Integers to texts, object by object, in a file that was closed.
private func changeTypeRow(_ report: inout Report) throws {
  guard report.wants("change-type") else { return }
  func settings(_ version: UInt64, _ type: Object.Type) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: folder.appendingPathComponent("form.realm"), schemaVersion: version,
      migrationBlock: { migration, _ in
        migration.enumerateObjects(ofType: "Form") { old, new in
          new!["value"] = String(old!["value"] as! Int)
        }
      }, objectTypes: [type])
  }
  var times: [Double] = []
  for _ in 0..<repetitions {
    _ = try Realm.deleteFiles(for: settings(0, NumberForm.self))
    try fillForms(settings(0, NumberForm.self))
    settleDisk()
    times.append(try time { _ = try Realm(configuration: settings(1, TextForm.self)) })
  }
  report.add("change-type", unit: "ns", times)
}

private func fillForms(_ settings: Realm.Configuration) throws {
  let realm = try Realm(configuration: settings)
  try realm.write {
    realm.add(
      (0..<objectCount).map { number in
        let form = NumberForm()
        form.value = number &* 7919 % 1_000_003
        return form
      })
  }
}

// MARK: - Copies

/// `write-copy` to another file and `compact` of a closed one, after some changes.
private func copyRows(_ report: inout Report) throws {
  guard report.wants(anyOf: ["write-copy", "compact"]) else { return }
  let settings = configuration("copied.realm", .full)
  try fill(settings)
  let copy = folder.appendingPathComponent("copy.realm")
  var copies: [Double] = []
  var compactions: [Double] = []
  for _ in 0..<repetitions {
    if report.wants("write-copy") {
      let realm = try Realm(configuration: settings)
      settleDisk()
      copies.append(try time { try realm.writeCopy(toFile: copy) })
      try FileManager.default.removeItem(at: copy)
    }
    if report.wants("compact") {
      Spares.drop()
      settleDisk()
      compactions.append(
        try time {
          let isSmall = try Realm.compact(configuration: settings)
          precondition(isSmall)
        })
    }
  }
  report.add("write-copy", unit: "ns", copies)
  report.add("compact", unit: "ns", compactions)
}

// MARK: - Encryption

/// Going through all objects, or summing a property, in an encrypted file that was just opened;
/// bytes that small durable commits write, in relation to a plain file.
private func encryptionRows(_ report: inout Report) throws {
  let names = ["encrypted-first-scan", "encrypted-first-sum", "encrypted-commit-bytes"]
  guard report.wants(anyOf: names) else { return }
  var sealed = configuration("sealed.realm", .full)
  sealed.encryptionKey = Data((0..<64).map { UInt8($0 * 3) })
  try fill(sealed)
  for (name, body) in [
    ("encrypted-first-scan", { $0.reduce(0) { $0 &+ $1.age } }),
    ("encrypted-first-sum", { $0.sum(of: \.age) }),
  ] as [(String, (RealmSwift.Results<Person>) -> Int)] where report.wants(name) {
    var times: [Double] = []
    for _ in 0..<repetitions {
      let people = try Realm(configuration: sealed).objects(Person.self)
      times.append(time { precondition(body(people) > 0) } / Double(objectCount))
    }
    report.add(name, unit: "ns", times)
  }
  guard report.wants("encrypted-commit-bytes") else { return }
  let plain = configuration("plain.realm", .full)
  try fill(plain)
  let ratio = try commitBytes(sealed) / commitBytes(plain)
  report.add("encrypted-commit-bytes", unit: "ratio", [ratio])
}

/// Bytes that the process gives to write calls for 200 small commits.
private func commitBytes(_ settings: Realm.Configuration) throws -> Double {
  let realm = try Realm(configuration: settings)
  var random = RandomGenerator(seed: 31)
  let before = try writtenBytes()
  for number in 0..<200 {
    let id = Int(random.next() % UInt64(objectCount))
    let person = realm.object(ofType: Person.self, forPrimaryKey: id)!
    try realm.write { person.age = number % 100 }
  }
  return Double(try writtenBytes() - before)
}

private func writtenBytes() throws -> Int {
  let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
  let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
  return Int(line!.dropFirst(7))!
}
