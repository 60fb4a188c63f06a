// Figures of objects through the public API: bulk insert, reads, commits, freeze, growth under
// pins.
import Foundation
import Platform
import RealmSwift
import Storage

func makePerson(_ id: Int, _ random: inout RandomGenerator) -> Person {
  let person = Person()
  person.id = id
  person.name = "name-\(1_000_000 + id)"
  person.age = Int(random.next() % 100)
  person.score = Double(id) * 1.5
  person.payload = payload
  return person
}

private let payload = Data((0..<100).map { UInt8($0) })

func configuration(_ name: String, _ durability: Realm.Durability)
  -> Realm.Configuration
{
  var configuration = Realm.Configuration(
    fileURL: folder.appendingPathComponent(name), objectTypes: [Person.self])
  configuration.durability = durability
  return configuration
}

func objectRows(_ report: inout Report) throws {
  let names = [
    "bulk-insert", "bytes-per-object", "lookup", "read-held", "iterate", "sum", "count-equal",
    "filter-and-prefix", "sum-filtered", "freeze", "refresh",
    "commit-durable", "open", "open-cold", "lookup-cold", "lookup-tight",
    "open-after-exit", "open-after-crash",
  ]
  guard names.contains(where: { report.wants($0) }) else { return }
  let clock = MonotonicClock()
  let settings = configuration("objects.realm", .full)
  var random = RandomGenerator(seed: 3)
  var rates: [Double] = []
  for _ in 0..<(!report.wants("bulk-insert") ? 1 : isQuick ? 2 : 3) {
    _ = try Realm.deleteFiles(for: settings)
    let realm = try Realm(configuration: settings)
    let people = (0..<objectCount).map { makePerson($0, &random) }
    let start = clock.nanoseconds()
    try realm.write { realm.add(people) }
    rates.append(Double(objectCount) * 1e9 / Double(clock.nanoseconds() - start))
  }
  report.add("bulk-insert", unit: "objects/s", rates)
  try openRow(settings, &report)
  try coldRows(settings, &report)
  try crashRows(settings, &report)
  let realm = try Realm(configuration: settings)
  let live = try realm.storeStatistics().liveBytes
  report.add("bytes-per-object", unit: "bytes", [Double(live) / Double(objectCount)])
  readRows(realm, &report, &random)
  try commitRows("commit-durable", realm, &report, calls: isQuick ? 100 : 400)
  realm.invalidate()
}

/// Opens the file, which nobody has open, reads one object and closes it.
private func openRow(_ settings: Realm.Configuration, _ report: inout Report) throws {
  try report.latency("open", repetitions: repetitions, calls: 200) { _ in
    let realm = try Realm(configuration: settings)
    precondition(realm.object(ofType: Person.self, forPrimaryKey: 7)!.age >= 0)
  }
}

private func readRows(_ realm: Realm, _ report: inout Report, _ random: inout RandomGenerator) {
  var sum = 0
  let lookups = 2_000_000
  report.time("lookup", repetitions: repetitions, calls: lookups) {
    for _ in 0..<lookups {
      let id = Int(random.next() % UInt64(objectCount))
      sum &+= realm.object(ofType: Person.self, forPrimaryKey: id)!.age
    }
  }
  let held = realm.object(ofType: Person.self, forPrimaryKey: objectCount / 2)!
  let reads = 10_000_000
  report.time("read-held", repetitions: repetitions, calls: reads) {
    for _ in 0..<reads { sum &+= held.age }
  }
  report.time("iterate", repetitions: repetitions, calls: objectCount) {
    for person in realm.objects(Person.self) { sum &+= person.age }
  }
  queryRows(realm, &report)
  let freezes = 1_000_000
  report.time("freeze", repetitions: repetitions, calls: freezes) {
    for _ in 0..<freezes { _ = realm.freeze() }
  }
  let refreshes = 5_000_000
  report.time("refresh", repetitions: repetitions, calls: refreshes) {
    for _ in 0..<refreshes { if realm.refresh() { sum += 1 } }
  }
  precondition(sum != 1, "keeps the reads")
}

/// Queries and aggregates of all objects, by the object.
private func queryRows(_ realm: Realm, _ report: inout Report) {
  let people = realm.objects(Person.self)
  var sum = 0
  report.time("sum", repetitions: repetitions, calls: objectCount) {
    sum &+= people.sum(of: \.age)
  }
  report.time("count-equal", repetitions: repetitions, calls: objectCount) {
    sum &+= people.where { $0.age == 42 }.count
  }
  report.time("filter-and-prefix", repetitions: repetitions, calls: objectCount) {
    sum &+= people.where { $0.age > 90 && $0.name.starts(with: "name-11") }.count
  }
  report.time("sum-filtered", repetitions: repetitions, calls: objectCount) {
    sum &+= people.where { $0.age > 90 }.sum(of: \.id)
  }
  precondition(sum != 1, "keeps the reads")
}

private func commitRows(
  _ name: String, _ realm: Realm, _ report: inout Report, calls: Int
) throws {
  var random = RandomGenerator(seed: 4)
  try report.latency(name, repetitions: repetitions, calls: calls) { call in
    let id = Int(random.next() % UInt64(objectCount))
    let person = realm.object(ofType: Person.self, forPrimaryKey: id)!
    try realm.write { person.age = call % 100 }
  }
}

/// Growth and commit time without syncs at 0, 1 and 100 pins; 100,000 objects.
func growthRows(_ report: inout Report) throws {
  let count = 100_000
  let commits = isQuick ? 4_000 : 20_000
  for pinCount in [0, 1, 100]
  where report.wants("commit-memory-\(pinCount)-pins") || report.wants("growth-\(pinCount)-pins") {
    let settings = configuration("growth-\(pinCount).realm", .memory)
    let realm = try Realm(configuration: settings)
    var random = RandomGenerator(seed: 5)
    try realm.write { for id in 0..<count { realm.add(makePerson(id, &random)) } }
    var pins: [Realm] = []
    func commit(_ number: Int) throws {
      let id = Int(random.next() % UInt64(count))
      let person = realm.object(ofType: Person.self, forPrimaryKey: id)!
      try realm.write { person.age = number % 100 }
    }
    // Warm: recycled space and, with one pin, everything overwritten since.
    if pinCount == 1 { pins.append(realm.freeze()) }
    for number in 0..<commits { try commit(number) }
    let before = try realm.storeStatistics().fileBytes
    var times: [UInt64] = []
    let clock = MonotonicClock()
    for number in 0..<commits {
      if pinCount == 100, number % (commits / 100) == 0 { pins.append(realm.freeze()) }
      let start = clock.nanoseconds()
      try commit(number)
      times.append(clock.nanoseconds() - start)
    }
    times.sort()
    report.add("commit-memory-\(pinCount)-pins", unit: "ns", [Double(times[times.count / 2])])
    let after = try realm.storeStatistics()
    report.add(
      "growth-\(pinCount)-pins", unit: "bytes/commit",
      [(Double(after.fileBytes) - Double(before)) / Double(commits)])
    if pinCount == 100 {
      pins = []
      // The Realm itself pins the version before the first pass: it has to move on once.
      try realm.runMaintenance()
      _ = realm.refresh()
      try realm.runMaintenance()
      let settled = try realm.storeStatistics()
      report.add(
        "file-over-live-after-pins", unit: "ratio",
        [Double(settled.fileBytes) / Double(settled.liveBytes)])
    }
    withExtendedLifetime(pins) {}
  }
}
