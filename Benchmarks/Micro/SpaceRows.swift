// Figures of commits that change whole objects, of the versions that they leave behind, and of two
// processes that write one file. Not only medians: what happens once in a hundred commits is in
// `mean` and `p99`.
import Foundation
import Glibc
import Platform
import RealmSwift

private let clock = MonotonicClock()

func spaceRows(_ report: inout Report) throws {
  try wholeObjectRows(&report)
  try pinRows(&report)
  try processRows(&report)
}

/// Changes all properties but the key of some objects in one transaction.
private func rewrite(
  _ realm: Realm, _ count: Int, _ random: inout RandomGenerator, objects: Int
) throws {
  try realm.write {
    for _ in 0..<count {
      let number = Int(random.next() % UInt64(objects))
      let person = realm.object(ofType: Person.self, forPrimaryKey: number)!
      let value = Int(random.next() % 1_000_000)
      person.name = "name-\(1_000_000 + value)"
      person.age = value % 100
      person.score = Double(value) * 1.5
      person.payload = payload(value)
    }
  }
}

private func payload(_ value: Int) -> Data { Data(repeating: UInt8(value & 255), count: 100) }

private func filled(_ name: String, _ durability: Realm.Durability, _ count: Int) throws -> Realm {
  let settings = configuration(name, durability)
  _ = try Realm.deleteFiles(for: settings)
  var random = RandomGenerator(seed: 8)
  let realm = try Realm(configuration: settings)
  try realm.write { for id in 0..<count { realm.add(makePerson(id, &random)) } }
  return realm
}

/// Times of calls, and the rows that are made of them.
private struct Calls {
  var times: [UInt64] = []

  mutating func time(_ body: () throws -> Void) rethrows {
    let start = clock.nanoseconds()
    try body()
    times.append(clock.nanoseconds() - start)
  }

  static func names(_ name: String) -> [String] {
    ["mean", "p50", "p99", "longest"].map { "\(name)-\($0)" }
  }

  func add(_ name: String, to report: inout Report) {
    let sorted = times.sorted()
    let mean = Double(sorted.reduce(0, +)) / Double(sorted.count)
    let values = [
      mean, Double(sorted[sorted.count / 2]), Double(sorted[sorted.count * 99 / 100]),
      Double(sorted[sorted.count - 1]),
    ]
    for (name, value) in zip(Self.names(name), values) {
      report.add(name, unit: "ns", [value])
    }
  }
}

// MARK: - Whole objects

/// All properties of 1 to 1,000 objects of 100,000 a transaction, with a sync and without.
private func wholeObjectRows(_ report: inout Report) throws {
  let objects = 100_000
  for (durability, prefix) in [(Realm.Durability.full, "durable"), (.memory, "memory")] {
    for count in [1, 10, 100, 1000] {
      let name = "whole-\(prefix)-\(count)"
      guard report.wants(anyOf: Calls.names(name)) else { continue }
      let realm = try filled("whole.realm", durability, objects)
      var random = RandomGenerator(seed: 77)
      var calls = Calls()
      // The first commits find a file without holes.
      for _ in 0..<max(2000 / count, 20) { try rewrite(realm, count, &random, objects: objects) }
      for _ in 0..<max((isQuick ? 2000 : 10_000) / count, 40) {
        try calls.time { try rewrite(realm, count, &random, objects: objects) }
      }
      calls.add(name, to: &report)
    }
  }
}

// MARK: - Kept versions

/// Commits of 1 or 10 whole objects while up to 10,000 versions of different ages are kept, and
/// commits while all of them go at once, or one after the other in any order.
private func pinRows(_ report: inout Report) throws {
  for (pins, count) in [0, 1, 10, 100, 300, 1000, 10_000].flatMap({ [($0, 1), ($0, 10)] }) {
    let name = "kept-\(pins)-whole-\(count)"
    let atOnce = "released-\(pins)-at-once-\(count)"
    let oneByOne = "released-\(pins)-one-by-one-\(count)"
    guard report.wants(anyOf: Calls.names(name) + Calls.names(atOnce) + Calls.names(oneByOne))
    else { continue }
    let realm = try filled("kept.realm", .memory, objectCount)
    var random = RandomGenerator(seed: 78)
    var kept: [Realm] = []
    let commits = (isQuick ? 30_000 : 100_000) / count
    // So that the last of them has come when half of the commits are made.
    let interval = max(commits / 2 / max(pins, 1), 1)
    var calls = Calls()
    for number in 0..<max(commits, 2 * pins) {
      if pins > 0, number % interval == 0 {
        if kept.count < pins {
          kept.append(realm.freeze())
        } else {
          kept[Int(random.next() % UInt64(pins))] = realm.freeze()
        }
      }
      try calls.time { try rewrite(realm, count, &random, objects: objectCount) }
    }
    calls.times.removeFirst(calls.times.count / 2)
    calls.add(name, to: &report)
    guard pins > 0 else { continue }
    calls = Calls()
    kept.shuffle(using: &random)
    for _ in 0..<(pins / 2) {
      kept.removeLast()
      try calls.time { try rewrite(realm, count, &random, objects: objectCount) }
    }
    if pins > 1 { calls.add(oneByOne, to: &report) }
    calls = Calls()
    kept = []
    for _ in 0..<1000 {
      try calls.time { try rewrite(realm, count, &random, objects: objectCount) }
    }
    calls.add(atOnce, to: &report)
  }
}

// MARK: - Two processes

/// Commits of two processes together, as fast as they can and strictly by turns, without syncs;
/// also while one of them keeps 300 versions.
private func processRows(_ report: inout Report) throws {
  for pins in [0, 300] {
    let suffix = pins == 0 ? "" : "-\(pins)-kept"
    let names = ["processes-2-commits-a-second" + suffix, "processes-2-turn" + suffix]
    let wantsTurns = report.wants(anyOf: Calls.names(names[1]))
    guard report.wants(anyOf: [names[0]]) || wantsTurns else { continue }
    let count = 100_000
    let realm = try filled("processes.realm", .memory, count)
    var random = RandomGenerator(seed: 79)
    var kept: [Realm] = []
    for number in 0..<(pins * 10) {
      if number % 10 == 0 { kept.append(realm.freeze()) }
      try rewrite(realm, 1, &random, objects: count)
    }
    let path = realm.configuration.fileURL!.path
    if report.wants(names[0]) {
      let child = try SpaceChild(path: path, mode: "fast")
      child.say("s")
      child.hear()
      let end = clock.nanoseconds() + SpaceChild.nanoseconds
      var commits = 0
      while clock.nanoseconds() < end {
        try SpaceChild.commit(realm, commits, count)
        commits += 1
      }
      let others = Int(child.hear().dropFirst())!
      let seconds = Double(SpaceChild.nanoseconds) / 1e9
      report.add(names[0], unit: "1/s", [Double(commits + others) / seconds])
      child.end()
    }
    if wantsTurns {
      let child = try SpaceChild(path: path, mode: "turns")
      var calls = Calls()
      for number in 0..<(isQuick ? 2000 : 10_000) {
        child.say("s")
        child.hear()
        try calls.time { try SpaceChild.commit(realm, number, count) }
      }
      calls.add(names[1], to: &report)
      child.end()
    }
    withExtendedLifetime(kept) {}
  }
}

/// A process that writes the same file, told by lines when to.
private struct SpaceChild {
  static let nanoseconds: UInt64 = 3_000_000_000
  let process = Process()
  let input = Pipe()
  let output = Pipe()

  init(path: String, mode: String) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--space-child", path, mode]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  func say(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

  @discardableResult func hear() -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output.fileHandleForReading.fileDescriptor, &byte, 1) == 1, byte != 10 {
      line.append(byte)
    }
    return String(decoding: line, as: UTF8.self)
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    precondition(process.terminationStatus == 0)
  }

  static func commit(_ realm: Realm, _ number: Int, _ count: Int) throws {
    try realm.write {
      realm.object(ofType: Person.self, forPrimaryKey: number &* 7919 % count)!.age = number % 100
    }
  }
}

/// The child of these rows.
func runSpaceChild(path: String, mode: String) throws {
  var settings = Realm.Configuration(
    fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self])
  settings.durability = .memory
  let realm = try Realm(configuration: settings)
  let count = realm.objects(Person.self).count
  func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
  var number = 31
  while readLine() != nil {
    if mode == "fast" {
      try SpaceChild.commit(realm, number, count)
      say("b")
      let end = clock.nanoseconds() + SpaceChild.nanoseconds
      var commits = 0
      while clock.nanoseconds() < end {
        try SpaceChild.commit(realm, number + commits, count)
        commits += 1
      }
      say("n\(commits)")
    } else {
      try SpaceChild.commit(realm, number, count)
      number += 1
      say("b")
    }
  }
}
