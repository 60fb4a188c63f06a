// Figures of objects with keys of text and UUIDs, and of look-ups in large maps and sets, in random
// order: the rows that issue 5 names.
import Foundation
import Platform
import RealmSwift

/// Its key is a text.
final class TextKeyed: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted var value: Int
}

/// Its key is a UUID.
final class IdentifierKeyed: Object {
  @Persisted(primaryKey: true) var key: UUID
  @Persisted var value: Int
}

/// Holds a large map and a large set.
final class Drawer: Object {
  @Persisted var map: Map<String, Int>
  @Persisted var set: MutableSet<Int>
}

private func mixed(_ number: Int) -> UInt64 {
  var random = RandomGenerator(seed: UInt64(number))
  return random.next()
}

private func textKey(_ number: Int) -> String { "object-\(mixed(number))" }

private func identifier(_ number: Int) -> UUID {
  withUnsafeBytes(of: (mixed(number), mixed(number + 1 << 40))) { $0.load(as: UUID.self) }
}

func keyRows(_ report: inout Report) throws {
  let keyed = ["text-key-insert", "text-key-insert-bulk", "text-key-lookup", "uuid-lookup"]
  let random = ["map-random", "set-random"]
  guard report.wants(anyOf: keyed + random) else { return }
  var settings = configuration("keys.realm", .memory)
  settings.objectTypes = [TextKeyed.self, IdentifierKeyed.self, Drawer.self]
  let realm = try Realm(configuration: settings)
  var generator = RandomGenerator(seed: 9)
  let wanted = (0..<100_000).map { _ in Int(generator.next() % UInt64(objectCount)) }
  if report.wants(anyOf: keyed.filter { $0 != "uuid-lookup" }) {
    try textRows(realm, wanted, &report)
  }
  if report.wants("uuid-lookup") { try identifierRow(realm, wanted, &report) }
  if report.wants(anyOf: random) { try randomRows(realm, wanted, &report) }
  realm.invalidate()
}

private func textRows(_ realm: Realm, _ wanted: [Int], _ report: inout Report) throws {
  let keys = (0..<objectCount).map(textKey)
  if report.wants("text-key-insert-bulk") {
    let objects = keys.map { key in
      let object = TextKeyed()
      object.key = key
      return object
    }
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    try realm.write { realm.add(objects) }
    report.add(
      "text-key-insert-bulk", unit: "ns",
      [Double(clock.nanoseconds() - start) / Double(keys.count)])
    try realm.write { realm.deleteAll() }
  }
  var times: [Double] = []
  for round in 0..<(report.wants("text-key-insert") ? repetitions : 1) {
    if round > 0 { try realm.write { realm.deleteAll() } }
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    try realm.write {
      for (value, key) in keys.enumerated() {
        let object = TextKeyed()
        object.key = key
        object.value = value
        realm.add(object)
      }
    }
    times.append(Double(clock.nanoseconds() - start) / Double(keys.count))
  }
  report.add("text-key-insert", unit: "ns", times)
  // Made anew, as by a client that looks something up: not strings from all over the memory.
  let texts = wanted.map(textKey)
  var sum = 0
  report.time("text-key-lookup", repetitions: 2 * repetitions, calls: texts.count) {
    for key in texts { sum &+= realm.object(ofType: TextKeyed.self, forPrimaryKey: key)!.value }
  }
  precondition(sum != 1, "keeps the reads")
}

private func identifierRow(_ realm: Realm, _ wanted: [Int], _ report: inout Report) throws {
  try realm.write {
    for number in 0..<objectCount {
      let object = IdentifierKeyed()
      object.key = identifier(number)
      object.value = number
      realm.add(object)
    }
  }
  let keys = wanted.map(identifier)
  var sum = 0
  report.time("uuid-lookup", repetitions: 2 * repetitions, calls: keys.count) {
    for key in keys {
      sum &+= realm.object(ofType: IdentifierKeyed.self, forPrimaryKey: key)!.value
    }
  }
  precondition(sum != 1, "keeps the reads")
}

private func randomRows(_ realm: Realm, _ wanted: [Int], _ report: inout Report) throws {
  let drawer = Drawer()
  let mapCount = objectCount / 10
  try realm.write {
    realm.add(drawer)
    if report.wants("map-random") {
      for number in 0..<mapCount { drawer.map["key-\(number)"] = number }
    }
    if report.wants("set-random") {
      drawer.set.insert(
        objectsIn: (0..<objectCount).map { Int(mixed($0) % UInt64(objectCount)) })
    }
  }
  let keys = wanted.map { "key-\($0 % mapCount)" }
  let (map, set) = (drawer.map, drawer.set)
  var sum = 0
  report.time("map-random", repetitions: 2 * repetitions, calls: keys.count) {
    for key in keys { sum &+= map[key] ?? -1 }
  }
  report.time("set-random", repetitions: 2 * repetitions, calls: wanted.count) {
    for number in wanted { sum &+= set.contains(number) ? 1 : 0 }
  }
  precondition(sum != 1, "keeps the reads")
}
