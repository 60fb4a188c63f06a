// Figures of issue 6 about many at once: frozen versions, freezing without end, open Realms.
import Foundation
import Platform
import RealmSwift
import Storage

func frozenRows(_ report: inout Report) throws {
  let versions = ["frozen-version-memory", "frozen-version-file", "frozen-version-commit"]
  let endless = "freeze-thaw-million-resident"
  let thousand = ["make-realms-1000-each", "open-realms-1000-memory-each"]
  let openings = ["realm-not-open", "realm-close", "realm-not-open-nothing-kept"]
  if report.wants(anyOf: openings) { try openingRows(&report) }
  guard report.wants(anyOf: [endless] + versions + thousand) else { return }
  let settings = configuration("frozen.realm", .memory)
  try fill(settings, count: 100_000)
  if report.wants(anyOf: versions) { try versionRows(settings, &report) }
  if report.wants(endless) { try endlessRow(settings, &report) }
  if report.wants(anyOf: thousand) { try openRealmRows(&report) }
}

/// A file that nobody has open, in the page cache: from opening it to the first value, and its
/// closing; and when nothing is left of the last opening.
private func openingRows(_ report: inout Report) throws {
  let settings = configuration("opened.realm", .full)
  try fill(settings, count: 100_000)
  let (opened, closed) = try openAndClose(settings) {}
  report.add("realm-not-open", unit: "ns", opened)
  report.add("realm-close", unit: "ns", closed)
  guard report.wants("realm-not-open-nothing-kept") else { return }
  let (anew, _) = try openAndClose(settings) { Spares.drop() }
  report.add("realm-not-open-nothing-kept", unit: "ns", anew)
}

private func openAndClose(
  _ settings: Realm.Configuration, before: () -> Void
) throws -> (opened: [Double], closed: [Double]) {
  let clock = MonotonicClock()
  var opened: [Double] = []
  var closed: [Double] = []
  for _ in 0..<repetitions {
    var openTimes: [UInt64] = []
    var closeTimes: [UInt64] = []
    for call in 0..<200 {
      before()
      let start = clock.nanoseconds()
      var realm: Realm? = try Realm(configuration: settings)
      precondition(realm!.object(ofType: Person.self, forPrimaryKey: call)!.age >= 0)
      let end = clock.nanoseconds()
      realm = nil
      openTimes.append(end - start)
      closeTimes.append(clock.nanoseconds() - end)
    }
    opened.append(Double(openTimes.sorted()[100]))
    closed.append(Double(closeTimes.sorted()[100]))
  }
  return (opened, closed)
}

private func fill(_ settings: Realm.Configuration, count: Int) throws {
  let realm = try Realm(configuration: settings)
  var random = RandomGenerator(seed: 8)
  try realm.write { for id in 0..<count { realm.add(makePerson(id, &random)) } }
}

/// Memory of the process that is no file's.
private func anonymousBytes() -> Double {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
  let number = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Double($0) }
  return (number ?? 0) * 1024
}

/// A thousand frozen versions with a commit each: what each keeps in memory and in the file.
private func versionRows(_ settings: Realm.Configuration, _ report: inout Report) throws {
  let clock = MonotonicClock()
  let count = 1_000
  var memory: [Double] = []
  var file: [Double] = []
  var commits: [Double] = []
  let realm = try Realm(configuration: settings)
  var random = RandomGenerator(seed: 9)
  func commit(_ number: Int) throws {
    let id = Int(random.next() % 100_000)
    let person = realm.object(ofType: Person.self, forPrimaryKey: id)!
    try realm.write { person.age = number % 100 }
  }
  for _ in 0..<repetitions {
    for number in 0..<count { try commit(number) }
    var frozen: [Realm] = []
    frozen.reserveCapacity(count)
    var times: [UInt64] = []
    times.reserveCapacity(count)
    let memoryBefore = anonymousBytes()
    let fileBefore = Double(try realm.storeStatistics().fileBytes)
    for number in 0..<count {
      frozen.append(realm.freeze())
      let start = clock.nanoseconds()
      try commit(number)
      times.append(clock.nanoseconds() - start)
    }
    memory.append((anonymousBytes() - memoryBefore) / Double(count))
    file.append((Double(try realm.storeStatistics().fileBytes) - fileBefore) / Double(count))
    commits.append(Double(times.sorted()[count / 2]))
    withExtendedLifetime(frozen) {}
    frozen = []
    try realm.runMaintenance()
    _ = realm.refresh()
    try realm.runMaintenance()
  }
  report.add("frozen-version-memory", unit: "bytes", memory)
  report.add("frozen-version-file", unit: "bytes", file)
  report.add("frozen-version-commit", unit: "ns", commits)
}

/// What a million freezes and thaws leave behind.
private func endlessRow(_ settings: Realm.Configuration, _ report: inout Report) throws {
  let realm = try Realm(configuration: settings)
  let person = realm.object(ofType: Person.self, forPrimaryKey: 7)!
  func turn(_ count: Int) { for _ in 0..<count { precondition(person.freeze().thaw() != nil) } }
  turn(10_000)
  let before = anonymousBytes()
  turn(1_000_000)
  report.add("freeze-thaw-million-resident", unit: "bytes", [anonymousBytes() - before])
}

/// A thousand files, made with one commit each, whose Realms stay open.
private func openRealmRows(_ report: inout Report) throws {
  let clock = MonotonicClock()
  let before = anonymousBytes()
  let start = clock.nanoseconds()
  var realms: [Realm] = []
  for number in 0..<1_000 {
    let realm = try Realm(configuration: configuration("open-\(number).realm", .memory))
    try realm.write { _ = realm.create(Person.self, value: ["id": number]) }
    realms.append(realm)
  }
  report.add(
    "make-realms-1000-each", unit: "us",
    [Double(clock.nanoseconds() - start) / 1e3 / Double(realms.count)])
  report.add(
    "open-realms-1000-memory-each", unit: "bytes",
    [(anonymousBytes() - before) / Double(realms.count)])
  precondition(realms.allSatisfy { $0.objects(Person.self).count == 1 })
}
