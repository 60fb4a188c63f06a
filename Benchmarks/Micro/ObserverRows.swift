// Figures of observers: from the begin of a transaction that changes one object to the callback on
// another thread's queue. Commits wait for no disk, so that what is left is the engine's and the
// hop's.
import Dispatch
import Foundation
import Platform
import RealmSwift

/// Observers on a queue, and how often one of them was called.
private final class Observed: @unchecked Sendable {
  // @unchecked: the Realm and the tokens are touched only by blocks of the queue.
  private let queue = DispatchQueue(label: "observers")
  private let called = DispatchSemaphore(value: 0)
  private var realm: Realm?
  private var tokens: [NotificationToken] = []

  /// Runs a body that observes, and waits for so many first calls.
  func begin(
    _ settings: Realm.Configuration, firstCalls: Int,
    _ body: @escaping @Sendable (Realm, _ signal: @escaping () -> Void) -> [NotificationToken]
  ) throws {
    let result = queue.sync {
      Result {
        let realm = try Realm(configuration: settings, queue: queue)
        self.realm = realm
        tokens = body(realm) { [called] in called.signal() }
      }
    }
    try result.get()
    for _ in 0..<firstCalls { called.wait() }
  }

  func wait() { called.wait() }

  func end() {
    queue.sync {
      tokens = []
      realm = nil
    }
  }
}

func observerRows(_ report: inout Report) throws {
  try hopRow(&report)
  for (name, count) in [("1k", 1_000), ("100k", 100_000)] {
    try row("notify-1-of-\(name)", objects: count, firstCalls: 1, &report) { realm, signal in
      [realm.objects(Person.self).observe { _ in signal() }]
    }
    try row("notify-1-of-\(name)-sorted", objects: count, firstCalls: 1, &report) {
      realm, signal in
      [realm.objects(Person.self).sorted(byKeyPath: "name").observe { _ in signal() }]
    }
  }
  try row("notify-1-of-1k-object-observers", objects: 1_000, firstCalls: 0, &report) {
    realm, signal in
    realm.objects(Person.self).map { person in
      person.observe { (_: ObjectChange<Person>) in signal() }
    }
  }
}

/// What the hop to the queue takes alone.
private func hopRow(_ report: inout Report) throws {
  guard report.wants("notify-bare-hop") else { return }
  let queue = DispatchQueue(label: "bare")
  let called = DispatchSemaphore(value: 0)
  report.latency("notify-bare-hop", repetitions: repetitions, calls: isQuick ? 500 : 2_000) { _ in
    queue.async { called.signal() }
    called.wait()
  }
}

private func row(
  _ name: String, objects: Int, firstCalls: Int, _ report: inout Report,
  _ observe: @escaping @Sendable (Realm, @escaping () -> Void) -> [NotificationToken]
) throws {
  guard report.wants(name) else { return }
  let settings = configuration("\(name).realm", .memory)
  var random = RandomGenerator(seed: 5)
  let realm = try Realm(configuration: settings)
  let people = (0..<objects).map { makePerson($0, &random) }
  try realm.write { realm.add(people) }
  let observed = Observed()
  try observed.begin(settings, firstCalls: firstCalls, observe)
  try report.latency(name, repetitions: repetitions, calls: isQuick ? 200 : 1_000) { call in
    let person = people[Int(random.next() % UInt64(objects))]
    try realm.write { person.age = call }
    observed.wait()
  }
  observed.end()
}
