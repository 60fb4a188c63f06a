// Figures of observers: from a commit's return to the end of the callback. The Realm's own commit
// is told by `refresh()`, so that no run loop is part of the figure.
import Foundation
import Platform
import RealmSwift

/// A row with a link, of the observed results.
final class Watched: Object {
  @Persisted var number: Int
  @Persisted var name: String
  @Persisted var partner: Watched?
}

func notificationRows(_ report: inout Report) throws {
  let names = [
    "notify-results-1k", "notify-results-100k", "notify-linked-100k", "notify-filtered-100k",
    "notify-sorted-100k", "notify-moved-100k", "notify-half-100k", "notify-objects-1k",
    "write-unobserved",
  ]
  guard names.contains(where: { report.wants($0) }) else { return }
  for count in [1_000, 100_000] {
    var settings = configuration("watched-\(count).realm", .memory)
    settings.objectTypes = [Watched.self]
    let realm = try Realm(configuration: settings)
    let rows = (0..<count).map { number in
      let row = Watched()
      row.number = number * 10
      row.name = "row \(number)"
      return row
    }
    try realm.write {
      realm.add(rows)
      for (number, row) in rows.enumerated() { row.partner = rows[(number * 7919 + 1) % count] }
    }
    let all = realm.objects(Watched.self)
    if count == 1_000 {
      try notify(realm, rows, all, "notify-results-1k", &report) { $0.number += 1 }
      try notifyObjects(realm, rows, &report)
      continue
    }
    try notify(realm, rows, all, "notify-results-100k", &report) { $0.number += 1 }
    try notify(realm, rows, all, "notify-linked-100k", &report) { $0.partner!.name = "linked" }
    let filtered = all.where { $0.number >= 0 && $0.partner.number >= 0 }
    try notify(realm, rows, filtered, "notify-filtered-100k", &report) { $0.name = "filtered" }
    let sorted = all.sorted(byKeyPath: "number")
    try notify(realm, rows, sorted, "notify-sorted-100k", &report) { $0.name = "sorted" }
    try notify(realm, rows, sorted, "notify-moved-100k", &report) {
      $0.number = $0.number < 500_000 ? 2_000_000 : -1
    }
    try notifyMany(realm, rows, sorted, &report)
    try writeUnobserved(realm, rows, &report)
    realm.invalidate()
  }
}

/// One changed row of observed results.
private func notify(
  _ realm: Realm, _ rows: [Watched], _ results: Results<Watched>, _ name: String,
  _ report: inout Report, _ change: (Watched) -> Void
) throws {
  guard report.wants(name) else { return }
  var told = 0
  let token = results.observe { change in
    if case .update(_, let deletions, let insertions, let modifications) = change {
      told += deletions.count + insertions.count + modifications.count
    }
  }
  realm.refresh()
  try measure(realm, name, &report) { change(rows[($0 * 7919) % rows.count]) }
  precondition(told > 0, "nothing was told")
  token.invalidate()
}

/// Every second row of sorted results moves in one commit.
private func notifyMany(
  _ realm: Realm, _ rows: [Watched], _ results: Results<Watched>, _ report: inout Report
) throws {
  guard report.wants("notify-half-100k") else { return }
  var told = 0
  let token = results.observe { change in
    if case .update(_, let deletions, _, _) = change { told += deletions.count }
  }
  realm.refresh()
  let clock = MonotonicClock()
  var samples: [Double] = []
  for repetition in 0..<repetitions {
    try realm.write {
      for index in stride(from: 0, to: rows.count, by: 2) {
        rows[index].number = (index * 7919 + repetition * 104_729) % 1_000_000
      }
    }
    let start = clock.nanoseconds()
    realm.refresh()
    samples.append(Double(clock.nanoseconds() - start) / 1000)
  }
  precondition(told > 0, "nothing was told")
  report.add("notify-half-100k", unit: "us", samples)
  token.invalidate()
}

/// One changed object of a thousand that are observed.
private func notifyObjects(_ realm: Realm, _ rows: [Watched], _ report: inout Report) throws {
  guard report.wants("notify-objects-1k") else { return }
  var told = 0
  let tokens = rows.map { $0.observe { (_: ObjectChange<Watched>) in told += 1 } }
  realm.refresh()
  try measure(realm, "notify-objects-1k", &report) { rows[$0 % rows.count].number += 1 }
  precondition(told > 0, "nothing was told")
  for token in tokens { token.invalidate() }
}

/// A median of many commits.
private func measure(
  _ realm: Realm, _ name: String, _ report: inout Report, _ change: (Int) -> Void
) throws {
  let clock = MonotonicClock()
  var medians: [Double] = []
  for repetition in 0..<repetitions {
    var times: [UInt64] = []
    for call in 0..<300 {
      try realm.write { change(repetition * 300 + call) }
      let start = clock.nanoseconds()
      realm.refresh()
      times.append(clock.nanoseconds() - start)
    }
    times.sort()
    medians.append(Double(times[times.count / 2]) / 1000)
  }
  report.add(name, unit: "us", medians)
}

/// What a change costs in a transaction while nobody observes: the test for a recorder is part of
/// it.
private func writeUnobserved(_ realm: Realm, _ rows: [Watched], _ report: inout Report) throws {
  let calls = 100_000
  try realm.write {
    report.time("write-unobserved", repetitions: repetitions, calls: calls) {
      for call in 0..<calls { rows[call % 256].number = call }
    }
  }
}
