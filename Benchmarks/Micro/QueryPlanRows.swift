// Figures of queries that end early or that an index, the primary key or links answer; "built" rows
// make the query anew each time, as programs do.
import Foundation
import Platform
import RealmSwift

/// The object that is looked for.
final class Parcel: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var weight: Int
  @Persisted(indexed: true) var zone: Int
  @Persisted(indexed: true) var day: Date
  @Persisted(indexed: true) var city: String
  @Persisted var owner: Sender?
}

/// What parcels link to.
final class Sender: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age: Int
  @Persisted(indexed: true) var rank: Int
}

private let names = [
  "first", "is-empty", "first-late", "first-where", "contains", "index-matching", "prefix",
  "indexed-count", "indexed-first", "indexed-each", "indexed-text-count", "text-prefix-count",
  "range-count", "range-first", "in-count", "or-count", "not-count", "joined-count", "date-count",
  "owner-age-count", "owner-age-first", "owner-rank-count", "owner-count", "owner-first",
  "min-indexed", "max-indexed", "empty-class", "parsed", "parsed-links",
].map { "plan-" + $0 }

func queryPlanRows(_ report: inout Report) throws {
  guard report.wants(anyOf: names) else { return }
  var settings = configuration("plans.realm", .memory)
  settings.objectTypes = [Parcel.self, Sender.self, Nothing.self]
  let realm = try Realm(configuration: settings)
  var random = RandomGenerator(seed: 23)
  func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
  let count = objectCount
  try realm.write {
    for id in 0..<count / 10 {
      realm.add(Sender(value: ["id": id, "age": number(100), "rank": number(1_000)]))
    }
  }
  let senders = Array(realm.objects(Sender.self))
  for start in stride(from: 0, to: count, by: 50_000) {
    let parcels = (start..<start + 50_000).map { id in
      let parcel = Parcel()
      parcel.id = id
      parcel.weight = number(1_000)
      parcel.zone = number(count / 100)
      parcel.day = Date(timeIntervalSinceReferenceDate: Double(id))
      parcel.city = "city \(number(5_000))"
      parcel.owner = senders[number(senders.count)]
      return parcel
    }
    try realm.write { realm.add(parcels) }
  }
  earlyRows(realm, &report)
  indexRows(realm, &report)
  linkRows(realm, senders, &report)
  realm.invalidate()
}

/// A class without objects.
final class Nothing: Object {
  @Persisted var value: Int
}

nonisolated(unsafe) private var sink = 0

private func repeated(_ name: String, _ report: inout Report, _ calls: Int, _ body: () -> Int) {
  report.time("plan-" + name, repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { sink &+= body() }
  }
}

private func earlyRows(_ realm: Realm, _ report: inout Report) {
  let all = realm.objects(Parcel.self)
  let last = objectCount - 1
  let one = all[objectCount / 2]
  repeated("first", &report, 1_000) { all.where { $0.weight >= 0 }.first!.id }
  repeated("is-empty", &report, 1_000) { all.where { $0.weight >= 0 }.isEmpty ? 1 : 0 }
  repeated("first-late", &report, 10) { all.where { $0.weight > 1_000 }.first?.id ?? last }
  repeated("first-where", &report, 1_000) { all.where { $0.weight > 5 }.first { $0.id > 3 }!.id }
  repeated("contains", &report, 1_000) { all.where { $0.weight >= 0 }.contains(one) ? 1 : 0 }
  repeated("index-matching", &report, 1_000) { all.index(matching: { $0.weight > 990 })! }
  repeated("prefix", &report, 1_000) {
    all.where { $0.weight > 500 }.prefix(20).reduce(0) { $0 + $1.id }
  }
  let none = realm.objects(Nothing.self)
  repeated("empty-class", &report, 1_000) { none.where { $0.value == 1 }.count }
  repeated("parsed", &report, 1_000) { none.filter("value == %@", 1).count }
  repeated("parsed-links", &report, 1_000) {
    all.filter("owner.age > %@ AND zone IN %@", 5, [1, 2]).first?.id ?? 0
  }
}

private func indexRows(_ realm: Realm, _ report: inout Report) {
  let all = realm.objects(Parcel.self)
  var zone = 0
  func next() -> Int {
    zone = (zone + 7_919) % (objectCount / 100)
    return zone
  }
  repeated("indexed-count", &report, 1_000) {
    let zone = next()
    return all.where { $0.zone == zone }.count
  }
  repeated("indexed-first", &report, 1_000) {
    let zone = next()
    return all.where { $0.zone == zone }.first?.id ?? 0
  }
  repeated("indexed-each", &report, 100) {
    let zone = next()
    return all.where { $0.zone == zone }.reduce(0) { $0 + $1.weight }
  }
  repeated("indexed-text-count", &report, 100) {
    let city = "city \(next() % 5_000)"
    return all.where { $0.city == city }.count
  }
  repeated("text-prefix-count", &report, 100) {
    all.where { $0.city.starts(with: "city 77") }.count
  }
  repeated("range-count", &report, 1_000) {
    let zone = next()
    return all.where { $0.zone > zone && $0.zone < zone + 500 }.count
  }
  repeated("range-first", &report, 100) {
    let zone = next()
    return all.where { $0.zone > zone && $0.zone < zone + 500 }.first?.id ?? 0
  }
  repeated("in-count", &report, 100) {
    let zones = (0..<100).map { _ in next() }
    return all.where { $0.zone.in(zones) }.count
  }
  repeated("or-count", &report, 100) {
    let zone = next()
    return all.where {
      $0.zone == zone || $0.zone == zone + 2 || $0.zone == zone + 4 || $0.zone == zone + 6
    }.count
  }
  repeated("not-count", &report, 1_000) {
    let zone = next()
    return all.where { $0.zone != zone }.count
  }
  repeated("joined-count", &report, 10) {
    let zone = next()
    return all.where { $0.zone > zone && $0.zone < zone + 100 && $0.city == "city 77" }.count
  }
  repeated("date-count", &report, 1_000) {
    let day = Date(timeIntervalSinceReferenceDate: Double(next()))
    return all.where { $0.day >= day && $0.day < day + 10_000 }.count
  }
  repeated("min-indexed", &report, 100) { all.min(of: \.zone)! }
  repeated("max-indexed", &report, 100) { all.max(of: \.zone)! }
}

private func linkRows(_ realm: Realm, _ senders: [Sender], _ report: inout Report) {
  let all = realm.objects(Parcel.self)
  var place = 0
  func next() -> Int {
    place = (place + 7_919) % senders.count
    return place
  }
  repeated("owner-age-count", &report, 1) { all.where { $0.owner.age > 90 }.count }
  repeated("owner-age-first", &report, 100) { all.where { $0.owner.age > 90 }.first!.id }
  repeated("owner-rank-count", &report, 10) {
    let rank = next() % 1_000
    return all.where { $0.owner.rank == rank }.count
  }
  repeated("owner-count", &report, 1_000) {
    let sender = senders[next()]
    return all.where { $0.owner == sender }.count
  }
  repeated("owner-first", &report, 1_000) {
    let sender = senders[next()]
    return all.where { $0.owner == sender }.first?.id ?? 0
  }
}
