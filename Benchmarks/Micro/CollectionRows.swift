// Figures of links and collections through the public API.
import Foundation
import Platform
import RealmSwift

/// Has ten children in the figures.
final class Owner: Object {
  @Persisted var name: String
  @Persisted var favourite: Child?
  @Persisted var children: List<Child>
}

/// A child of one owner.
final class Child: Object {
  @Persisted var age: Int
  @Persisted(originProperty: "children") var owners: LinkingObjects<Owner>
}

/// Holds the large collections.
final class Shelf: Object {
  @Persisted var numbers: List<Int>
  @Persisted var links: List<Child>
  @Persisted var set: MutableSet<Int>
  @Persisted var map: Map<String, Int>
}

private let childrenPerOwner = 10

func collectionRows(_ report: inout Report) throws {
  let names = [
    "owners-bulk", "link-hop", "backlinks-10", "list-bulk-append", "list-append",
    "list-insert-middle", "list-in-order", "list-random", "list-of-links", "map-insert",
    "map-look-up", "set-contains", "delete-scattered",
  ]
  guard names.contains(where: { report.wants($0) }) else { return }
  var settings = configuration("collections.realm", .memory)
  settings.objectTypes = [Owner.self, Child.self, Shelf.self]
  let realm = try Realm(configuration: settings)
  let owners = try ownerRows(realm, &report)
  linkRows(realm, owners, &report)
  let shelf = Shelf()
  try realm.write { realm.add(shelf) }
  try listRows(realm, shelf, &report)
  try keyedRows(realm, shelf, &report)
  try deleteRow(realm, &report)
  realm.invalidate()
}

/// Adds owners with ten children each; a rate counts all objects.
private func ownerRows(_ realm: Realm, _ report: inout Report) throws -> Int {
  let count = objectCount / (childrenPerOwner + 1)
  let owners = (0..<count).map { number in
    let owner = Owner()
    owner.name = "owner \(number)"
    owner.children.append(
      objectsIn: (0..<childrenPerOwner).map { age in
        let child = Child()
        child.age = age
        return child
      })
    owner.favourite = owner.children[3]
    return owner
  }
  let clock = MonotonicClock()
  let start = clock.nanoseconds()
  try realm.write { realm.add(owners) }
  let seconds = Double(clock.nanoseconds() - start) / 1e9
  report.add(
    "owners-bulk", unit: "objects/s", [Double(count * (childrenPerOwner + 1)) / seconds])
  return count
}

private func linkRows(_ realm: Realm, _ count: Int, _ report: inout Report) {
  var sum = 0
  report.time("link-hop", repetitions: repetitions, calls: count) {
    for owner in realm.objects(Owner.self) { sum &+= owner.favourite!.age }
  }
  let child = realm.objects(Child.self).first!
  try? realm.write {
    for owner in realm.objects(Owner.self).prefix(9) { owner.children.append(child) }
  }
  let calls = 100_000
  report.time("backlinks-10", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { for owner in child.owners { sum &+= owner.isInvalidated ? 1 : 0 } }
  }
  precondition(sum != 1, "keeps the reads")
}

private func listRows(_ realm: Realm, _ shelf: Shelf, _ report: inout Report) throws {
  let count = objectCount
  let values = Array(0..<count)
  var sum = 0
  try realm.write {
    report.time("list-bulk-append", repetitions: repetitions, calls: count) {
      shelf.numbers.removeAll()
      shelf.numbers.append(objectsIn: values)
    }
    if shelf.numbers.isEmpty { shelf.numbers.append(objectsIn: values) }
    let single = 100_000
    report.time("list-append", repetitions: repetitions, calls: single) {
      for number in 0..<single { shelf.numbers.append(number) }
      shelf.numbers.removeLast(single)
    }
    report.time("list-insert-middle", repetitions: repetitions, calls: 10_000) {
      for number in 0..<10_000 { shelf.numbers.insert(number, at: count / 2) }
      shelf.numbers.removeSubrange(count / 2..<count / 2 + 10_000)
    }
    shelf.links.append(objectsIn: realm.objects(Child.self))
  }
  let list = shelf.numbers
  report.time("list-in-order", repetitions: repetitions, calls: count) {
    for number in list { sum &+= number }
  }
  var random = RandomGenerator(seed: 6)
  let reads = 1_000_000
  report.time("list-random", repetitions: repetitions, calls: reads) {
    for _ in 0..<reads { sum &+= list[Int(random.next() % UInt64(count))] }
  }
  report.time("list-of-links", repetitions: repetitions, calls: shelf.links.count) {
    for child in shelf.links { sum &+= child.age }
  }
  precondition(sum != 1, "keeps the reads")
}

private func keyedRows(_ realm: Realm, _ shelf: Shelf, _ report: inout Report) throws {
  let count = isQuick ? 10_000 : 100_000
  let keys = (0..<count).map { "key \($0 &* 7919 % count)" }
  var found = 0
  try realm.write {
    report.time("map-insert", repetitions: repetitions, calls: count) {
      shelf.map.removeAll()
      for (number, key) in keys.enumerated() { shelf.map[key] = number }
    }
    shelf.set.insert(objectsIn: (0..<count).map { $0 * 3 })
  }
  let (map, set) = (shelf.map, shelf.set)
  report.time("map-look-up", repetitions: repetitions, calls: count) {
    for key in keys { if map[key] != nil { found += 1 } }
  }
  report.time("set-contains", repetitions: repetitions, calls: count) {
    for number in 0..<count { if set.contains(number) { found += 1 } }
  }
  precondition(found != 1, "keeps the look-ups")
}

/// Deletes every tenth child, each linked from a list or two.
private func deleteRow(_ realm: Realm, _ report: inout Report) throws {
  let doomed = realm.objects(Child.self).enumerated().filter { $0.offset % 10 == 0 }.map(\.element)
  let clock = MonotonicClock()
  let start = clock.nanoseconds()
  try realm.write {
    realm.objects(Shelf.self).first!.links.removeAll()
    realm.delete(doomed)
  }
  report.add(
    "delete-scattered", unit: "ns",
    [Double(clock.nanoseconds() - start) / Double(doomed.count)])
}
