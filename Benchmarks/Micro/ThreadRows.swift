// Figures of issue 6: asynchronous and grouped commits, freezing, references, opening; next to a
// bare hop to a queue and the raw sync of the same run (see Limits.swift).
import Dispatch
import Foundation
import Platform
import RealmSwift
import Storage

/// A Realm of a serial queue with some objects; only blocks of the queue touch `realm` and
/// `people`.
private final class QueueLoad: @unchecked Sendable {
  // @unchecked: see above; `isDone` locks itself.
  let queue = DispatchQueue(label: "benchmark")
  let isDone = DispatchSemaphore(value: 0)
  var realm: Realm!
  var people: [Person] = []
  var times: [UInt64] = []

  init(_ settings: Realm.Configuration, count: Int) throws {
    try queue.sync {
      realm = try Realm(configuration: settings, queue: queue)
      var random = RandomGenerator(seed: 6)
      try realm.write { for id in 0..<count { realm.add(makePerson(id, &random)) } }
      people = Array(realm.objects(Person.self))
    }
  }

  /// Lets go of the Realm on its queue; a `deinit` may run on the queue itself.
  func end() {
    queue.sync {
      people = []
      realm = nil
    }
  }
}

func threadRows(_ report: inout Report) throws {
  let hops = ["dispatch-async-and-back", "dispatch-async-request-to-block"]
  let handovers = ["dispatch-async-returns", "dispatch-write-sync-and-back"]
  let singles = [
    "async-write-request-to-block", "async-write-request-to-completion", "commit-async-returns",
  ]
  let bursts = [
    "grouped-64-async-commits", "syncs-per-burst-of-64", "grouped-steady-async-commits",
    "syncs-per-grouped-commit",
  ]
  if report.wants(anyOf: hops + handovers + singles + bursts + ["cancel-reverse"]) {
    let load = try QueueLoad(configuration("threads.realm", .full), count: 10_000)
    if report.wants(anyOf: hops) { hopRow(load, &report) }
    if report.wants(anyOf: handovers) { try handoverRows(load, &report) }
    if report.wants(anyOf: singles) { singleRows(load, &report) }
    if report.wants(anyOf: bursts) { try burstRows(load, &report) }
    if report.wants("cancel-reverse") { cancelRow(load, &report) }
    load.end()
  }
  let values = [
    "freeze-read-release", "freeze-object-into-frozen", "reference-object", "reference-results",
    "realm-cached", "realm-another-instance",
  ]
  if report.wants(anyOf: values) { try valueRows(&report) }
}

/// Cancelling 16,000 queued writes, the newest first.
private func cancelRow(_ load: QueueLoad, _ report: inout Report) {
  let count = 16_000
  let clock = MonotonicClock()
  let samples = (0..<repetitions).map { _ in
    load.queue.sync {
      let numbers = (0..<count).map { _ in load.realm.writeAsync {} }
      let start = clock.nanoseconds()
      for number in numbers.reversed() { try! load.realm.cancelAsyncWrite(number) }
      return Double(clock.nanoseconds() - start) / Double(count)
    }
  }
  report.add("cancel-reverse", unit: "ns", samples)
}

/// A block on a queue, from the request to its first instruction.
private func hopRow(_ load: QueueLoad, _ report: inout Report) {
  let clock = MonotonicClock()
  report.latency("dispatch-async-and-back", repetitions: repetitions, calls: 2_000) { _ in
    load.queue.async { load.isDone.signal() }
    load.isDone.wait()
  }
  var samples: [Double] = []
  for _ in 0..<repetitions {
    load.times = []
    for _ in 0..<2_000 {
      let start = clock.nanoseconds()
      load.queue.async {
        load.times.append(clock.nanoseconds() - start)
        load.isDone.signal()
      }
      load.isDone.wait()
    }
    samples.append(median(load.times))
  }
  report.add("dispatch-async-request-to-block", unit: "ns", samples)
}

/// The least that an asynchronous write can be made of: a block hands the writing and syncing of a
/// record and a unit to another queue, whose thread sleeps, and that hands the completion back.
private func handoverRows(_ load: QueueLoad, _ report: inout Report) throws {
  let clock = MonotonicClock()
  let disk = DispatchQueue(label: "disk")
  let file = try LinuxFileSystem().open(folder.path + "/handover", [.writable, .create])
  let page = [UInt8](repeating: 1, count: 4096)
  for index in 0..<4096 {
    try page.withUnsafeBytes { try file.write($0, at: UInt64(index * 4096)) }
  }
  try file.synchronize()
  var random = RandomGenerator(seed: 3)
  var returns: [Double] = []
  var ends: [Double] = []
  for _ in 0..<repetitions {
    var toReturn: [UInt64] = []
    var toEnd: [UInt64] = []
    for call in 0..<300 {
      let place = Int.random(in: 16..<4096, using: &random) * 4096
      load.times = []
      load.queue.async {
        let start = clock.nanoseconds()
        disk.async {
          page.withUnsafeBytes { bytes in
            try! file.write(
              UnsafeRawBufferPointer(rebasing: bytes[..<512]), at: UInt64(place))
            try! file.write(bytes, at: UInt64((2 + call % 4) * 4096))
          }
          try! file.synchronize()
          load.queue.async {
            load.times.append(clock.nanoseconds() - start)
            load.isDone.signal()
          }
        }
        load.times.append(clock.nanoseconds() - start)
      }
      load.isDone.wait()
      toReturn.append(load.times[0])
      toEnd.append(load.times[1])
    }
    returns.append(median(toReturn))
    ends.append(median(toEnd))
  }
  report.add("dispatch-async-returns", unit: "ns", returns)
  report.add("dispatch-write-sync-and-back", unit: "ns", ends)
}

private func median(_ times: [UInt64]) -> Double { Double(times.sorted()[times.count / 2]) }

/// One asynchronous write at a time.
private func singleRows(_ load: QueueLoad, _ report: inout Report) {
  let clock = MonotonicClock()
  var begins: [Double] = []
  var ends: [Double] = []
  var returns: [Double] = []
  for _ in 0..<repetitions {
    var toBlock: [UInt64] = []
    var toReturn: [UInt64] = []
    var toEnd: [UInt64] = []
    for call in 0..<300 {
      load.times = []
      load.queue.async {
        let start = clock.nanoseconds()
        load.realm.beginAsyncWrite {
          load.times.append(clock.nanoseconds() - start)
          load.people[call].age = call % 100
          let commit = clock.nanoseconds()
          load.realm.commitAsyncWrite { _ in
            load.times.append(clock.nanoseconds() - start)
            load.isDone.signal()
          }
          load.times.append(clock.nanoseconds() - commit)
        }
      }
      load.isDone.wait()
      toBlock.append(load.times[0])
      toReturn.append(load.times[1])
      toEnd.append(load.times[2])
    }
    begins.append(median(toBlock))
    returns.append(median(toReturn))
    ends.append(median(toEnd))
  }
  report.add("async-write-request-to-block", unit: "ns", begins)
  report.add("async-write-request-to-completion", unit: "ns", ends)
  report.add("commit-async-returns", unit: "ns", returns)
}

/// Bursts of 64 grouped commits, and a steady flow of them.
private func burstRows(_ load: QueueLoad, _ report: inout Report) throws {
  let clock = MonotonicClock()
  for (name, burst, bursts) in [("grouped-64", 64, 50), ("grouped-steady", 6_400, 2)] {
    var rates: [Double] = []
    var syncs: [Double] = []
    for _ in 0..<repetitions {
      let before = try load.queue.sync { try load.realm.storeStatistics().syncs }
      let start = clock.nanoseconds()
      for _ in 0..<bursts {
        load.queue.async {
          for number in 0..<burst {
            load.realm.beginAsyncWrite {
              load.people[number % 10_000].age = number % 100
              load.realm.commitAsyncWrite(allowGrouping: true) { _ in
                if number == burst - 1 { load.isDone.signal() }
              }
            }
          }
        }
        load.isDone.wait()
      }
      rates.append(Double(burst * bursts) * 1e9 / Double(clock.nanoseconds() - start))
      let after = try load.queue.sync { try load.realm.storeStatistics().syncs }
      syncs.append(Double(after - before) / Double(burst == 64 ? bursts : burst * bursts))
    }
    report.add("\(name)-async-commits", unit: "commits/s", rates)
    report.add(
      burst == 64 ? "syncs-per-burst-of-64" : "syncs-per-grouped-commit", unit: "syncs", syncs)
  }
}

/// Freezing, references and opening.
private func valueRows(_ report: inout Report) throws {
  let settings = configuration("values.realm", .memory)
  let realm = try Realm(configuration: settings)
  var random = RandomGenerator(seed: 7)
  try realm.write { for id in 0..<1_000 { realm.add(makePerson(id, &random)) } }
  let person = realm.object(ofType: Person.self, forPrimaryKey: 7)!
  let people = realm.objects(Person.self)
  let calls = 300_000
  var sum = 0
  report.time("freeze-read-release", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { sum &+= person.freeze().age }
  }
  let frozen = realm.freeze()
  report.time("freeze-object-into-frozen", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { _ = person.freeze() }
  }
  withExtendedLifetime(frozen) {}
  report.time("reference-object", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { sum &+= realm.resolve(ThreadSafeReference(to: person)) == nil ? 1 : 0 }
  }
  report.time("reference-results", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { sum &+= realm.resolve(ThreadSafeReference(to: people)) == nil ? 1 : 0 }
  }
  try report.time("realm-cached", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { _ = try Realm(configuration: settings) }
  }
  let queue = DispatchQueue(label: "another instance")
  try report.time("realm-another-instance", repetitions: repetitions, calls: calls / 10) {
    try queue.sync {
      for _ in 0..<calls / 10 { _ = try Realm(configuration: settings, queue: queue) }
    }
  }
  precondition(sum != 1, "keeps the reads")
}
