// Figures of quick writes: a write through a binding next to the same by hand, a wrapper that is
// read again, and what many wrappers add to a commit that concerns none of them. Commits wait for
// no disk. Rows that are compared take turns in short samples, so that what else the machine does
// meets all of them.
import Foundation
import Observation
import Platform
import RealmSwift

/// Has a list, which wrappers show.
final class WatchedGroup: Object {
  @Persisted var title: String
  @Persisted var items: List<WatchedItem>
}

final class WatchedItem: Object {
  @Persisted var name: String
  @Persisted var count: Int
}

@MainActor
func quickWriteRows(_ report: inout Report) throws {
  try writeRows(&report)
  try commitRows(&report)
  try durableCommitRows(&report)
}

/// A write, by hand and by a binding; and a wrapper's read.
@MainActor
private func writeRows(_ report: inout Report) throws {
  let names = ["write-by-hand", "quick-write", "wrapper-read"]
  guard report.wants(anyOf: names) else { return }
  let (realm, groups) = try makeGroups(1, "quick-writes.realm")
  let item = groups[0].items[0]
  let count = item.bind(\.count)
  let calls = isQuick ? 100 : 500
  let rounds = isQuick ? 10 : 20 * repetitions
  report.turns(
    rounds, calls: calls,
    [
      ("write-by-hand", { for _ in 0..<calls { try! realm.write { item.count += 1 } } }),
      ("quick-write", { for _ in 0..<calls { count.wrappedValue += 1 } }),
    ])
  @ObservedRealmObject var shown = item
  report.turns(
    rounds, calls: 10 * calls,
    [("wrapper-read", { for _ in 0..<10 * calls { _ = shown } })])
}

/// A commit that concerns no wrapper, on a Realm that has one, and on others that have 10,000: of
/// objects of the class that is changed, of lists of other objects of it, and of what bindings
/// have read.
@MainActor
private func commitRows(_ report: inout Report) throws {
  let names = [
    "commit-no-wrapper", "commit-1-wrapper", "commit-10k-wrappers", "commit-10k-list-wrappers",
    "commit-10k-readings",
  ]
  guard report.wants(anyOf: names) else { return }
  let calls = isQuick ? 50 : 200
  var held: [Any] = []
  func body(
    _ name: String, _ wrap: ([WatchedGroup]) -> [Any]
  ) throws -> (String, () -> Void) {
    let (realm, groups) = try makeGroups(10_001, "\(name).realm")
    held.append(wrap(Array(groups[..<10_000])))
    let other = groups[10_000]
    return (
      name,
      {
        for number in 0..<calls {
          try! realm.write {
            other.title = "other \(number)"
            other.items[0].count += 1
          }
          // Tells what is owed.
          realm.refresh()
        }
      }
    )
  }
  let rows = [
    try body(names[0]) { _ in [] },
    try body(names[1]) { groups in
      let wrapper = ObservedRealmObject(wrappedValue: groups[0])
      _ = wrapper.wrappedValue
      return [wrapper]
    },
    try body(names[2]) { groups in
      groups.map {
        let wrapper = ObservedRealmObject(wrappedValue: $0)
        _ = wrapper.wrappedValue
        return wrapper
      }
    },
    try body(names[3]) { groups in
      groups.map {
        let wrapper = ObservedRealmObject(wrappedValue: $0.items)
        _ = wrapper.wrappedValue
        return wrapper
      }
    },
    try body(names[4]) { groups in
      withObservationTracking {
        for group in groups { _ = group.bind(\.items).wrappedValue }
      } onChange: {
        fatalError("a reading is told of what was not read")
      }
      return []
    },
  ]
  report.turns(isQuick ? 5 : 8 * repetitions, calls: calls, rows)
  withExtendedLifetime(held) {}
}

/// The same with commits that survive a power cut, as they do by default.
@MainActor
private func durableCommitRows(_ report: inout Report) throws {
  let counts = [
    ("commit-durable-no-wrapper", 0), ("commit-durable-1-wrapper", 1),
    ("commit-durable-10k-wrappers", 10_000),
  ]
  guard report.wants(anyOf: counts.map(\.0)) else { return }
  let calls = isQuick ? 5 : 20
  var held: [Any] = []
  let rows = try counts.map { name, count in
    let (realm, groups) = try makeGroups(10_001, "\(name).realm", .full)
    held += groups[..<count].map {
      let wrapper = ObservedRealmObject(wrappedValue: $0)
      _ = wrapper.wrappedValue
      return wrapper
    }
    let other = groups[10_000]
    return (
      name,
      {
        for number in 0..<calls {
          try! realm.write { other.title = "other \(number)" }
          realm.refresh()
        }
      }
    )
  }
  report.turns(isQuick ? 5 : 20 * repetitions, calls: calls, rows)
  withExtendedLifetime(held) {}
}

/// Groups with one item each.
@MainActor
private func makeGroups(
  _ count: Int, _ file: String, _ durability: Realm.Durability = .memory
) throws -> (Realm, [WatchedGroup]) {
  var settings = configuration(file, durability)
  settings.objectTypes = [WatchedGroup.self, WatchedItem.self]
  let realm = try Realm(configuration: settings)
  let groups = (0..<count).map { number in
    WatchedGroup(value: ["title": "group \(number)", "items": [["name": "item", "count": 0]]])
  }
  try realm.write { realm.add(groups) }
  return (realm, groups)
}
