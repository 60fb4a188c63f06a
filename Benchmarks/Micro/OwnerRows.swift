// Figures of owners and their children as scripts/peers measures them: random objects of many, so
// that each access goes to memory.
import Foundation
import Platform
import RealmSwift

/// Owns ten members, who link back.
final class Household: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age: Int
  @Persisted var members: List<Member>
  @Persisted(originProperty: "household") var linking: LinkingObjects<Member>
}

/// Belongs to a household.
final class Member: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: Int
  @Persisted var household: Household?
}

private let membersPerHousehold = 10

func ownerRows(_ report: inout Report) throws {
  let names = [
    "owners-each", "link-hop-random", "backlinks-random", "list-of-ten-links", "reduce-ten-links",
    "reduce-ten-backlinks", "delete-linked",
  ]
  guard names.contains(where: { report.wants($0) }) else { return }
  var settings = configuration("owners.realm", .memory)
  settings.objectTypes = [Household.self, Member.self]
  let count = objectCount / membersPerHousehold
  let clock = MonotonicClock()
  var rates: [Double] = []
  for _ in 0..<(report.wants("owners-each") ? repetitions : 1) {
    _ = try Realm.deleteFiles(for: settings)
    let realm = try Realm(configuration: settings)
    let start = clock.nanoseconds()
    try insert(count, realm)
    let seconds = Double(clock.nanoseconds() - start) / 1e9
    rates.append(Double(count * (membersPerHousehold + 1)) / seconds)
  }
  report.add("owners-each", unit: "objects/s", rates)
  let realm = try Realm(configuration: settings)
  readRandomly(realm, count, &report)
  try deletionRow(settings, count, &report)
  realm.invalidate()
}

/// A tenth of all members, one in ten, by key; the households' lists and the members' links with
/// them.
private func deletionRow(
  _ settings: Realm.Configuration, _ count: Int, _ report: inout Report
) throws {
  guard report.wants("delete-linked") else { return }
  let doomed = stride(from: 3, to: count * membersPerHousehold, by: membersPerHousehold)
  let clock = MonotonicClock()
  var times: [Double] = []
  for _ in 0..<repetitions {
    let realm = try Realm(configuration: settings)
    try realm.write { realm.deleteAll() }
    try insert(count, realm)
    let start = clock.nanoseconds()
    try realm.write {
      realm.delete(doomed.map { realm.object(ofType: Member.self, forPrimaryKey: $0)! })
    }
    times.append(Double(clock.nanoseconds() - start) / Double(count))
  }
  report.add("delete-linked", unit: "ns", times)
}

private func insert(_ count: Int, _ realm: Realm) throws {
  try realm.write {
    var number = 0
    for id in 0..<count {
      let household = Household()
      household.id = id
      household.age = id % 100
      for _ in 0..<membersPerHousehold {
        let member = Member()
        member.id = number
        member.value = number &* 7919 % 1_000_003
        member.household = household
        household.members.append(member)
        number += 1
      }
      realm.add(household)
    }
  }
}

private func readRandomly(_ realm: Realm, _ count: Int, _ report: inout Report) {
  var random = RandomGenerator(seed: 21)
  let members = (0..<100_000).map { _ in
    let id = Int(random.next() % UInt64(count * membersPerHousehold))
    return realm.object(ofType: Member.self, forPrimaryKey: id)!
  }
  let households = (0..<10_000).map { _ in
    realm.object(ofType: Household.self, forPrimaryKey: Int(random.next() % UInt64(count)))!
  }
  var sum = 0
  report.time("link-hop-random", repetitions: repetitions, calls: members.count) {
    for member in members { sum &+= member.household!.age }
  }
  report.time("backlinks-random", repetitions: repetitions, calls: households.count) {
    for household in households { for member in household.linking { sum &+= member.value } }
  }
  report.time(
    "list-of-ten-links", repetitions: repetitions, calls: households.count * membersPerHousehold
  ) {
    for household in households { for member in household.members { sum &+= member.value } }
  }
  report.time(
    "reduce-ten-links", repetitions: repetitions, calls: households.count * membersPerHousehold
  ) {
    for household in households { sum = household.members.reduce(sum) { $0 &+ $1.value } }
  }
  report.time("reduce-ten-backlinks", repetitions: repetitions, calls: households.count) {
    for household in households { sum = household.linking.reduce(sum) { $0 &+ $1.value } }
  }
  precondition(sum != 1, "keeps the reads")
}
