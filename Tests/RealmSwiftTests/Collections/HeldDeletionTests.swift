// Deleting objects that large lists and maps hold, one after the other in one transaction: where
// their links are is noted then, and follows whatever else happens to the collections.
import ObjectStore
import Platform
import TestSupport
import Testing

@testable import RealmSwift

private final class Bead: Object {
  @Persisted(primaryKey: true) var id: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class Necklace: Object {
  @Persisted var beads: List<Bead>
  @Persisted var byName: Map<String, Bead?>
  @Persisted var mixed: List<AnyRealmValue>
  @Persisted var mixedByName: Map<String, AnyRealmValue>
  @Persisted var mixedSet: MutableSet<AnyRealmValue>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A necklace, and what it has to hold.
private struct HeldBeads {
  let realm: Realm
  let necklace: Necklace
  var random: RandomGenerator
  var nextId = 0
  var living: [Int] = []
  var beads: [Int] = []
  var byName: [String: Int?] = [:]
  /// Ids in each value; nil for what is no link, or none any more.
  var mixed: [[Int?]] = []
  var mixedByName: [String: Int?] = [:]
  var mixedSet: Set<Int> = []

  mutating func number(_ bound: Int) -> Int { Int(random.next(upperBound: UInt64(bound))) }

  func bead(_ id: Int) -> Bead { realm.object(ofType: Bead.self, forPrimaryKey: id)! }

  mutating func livingId() -> Int { living[number(living.count)] }

  mutating func addBead() {
    realm.create(Bead.self, value: ["id": nextId])
    living.append(nextId)
    nextId += 1
  }

  mutating func delete() {
    if living.count < 3 { return }
    let id = livingId()
    realm.delete(bead(id))
    living.removeAll { $0 == id }
    beads.removeAll { $0 == id }
    for (key, value) in byName where value == id { byName[key] = .some(nil) }
    mixed = mixed.map { $0.map { $0 == id ? nil : $0 } }
    for (key, value) in mixedByName where value == id { mixedByName[key] = .some(nil) }
    mixedSet.remove(id)
  }

  mutating func change() {
    switch number(20) {
    case 0...6: delete()
    case 7, 8: addBead()
    case 9: append()
    case 10:
      let (id, position) = (livingId(), number(beads.count + 1))
      necklace.beads.insert(bead(id), at: position)
      beads.insert(id, at: position)
    case 11 where !beads.isEmpty:
      let position = number(beads.count)
      necklace.beads.remove(at: position)
      beads.remove(at: position)
    case 12 where !beads.isEmpty:
      let (from, to) = (number(beads.count), number(beads.count))
      necklace.beads.move(from: from, to: to)
      beads.insert(beads.remove(at: from), at: to)
    case 13 where !beads.isEmpty:
      let (id, position) = (livingId(), number(beads.count))
      necklace.beads[position] = bead(id)
      beads[position] = id
    case 14:
      let (key, id) = ("\(number(30))", livingId())
      necklace.byName[key] = bead(id)
      byName[key] = id
    case 15:
      let key = "\(number(30))"
      necklace.byName.removeObject(for: key)
      byName[key] = nil
    case 16:
      let position = number(mixed.count + 1)
      let (value, ids) = mixedValue()
      necklace.mixed.insert(value, at: position)
      mixed.insert(ids, at: position)
    case 17 where !mixed.isEmpty:
      let position = number(mixed.count)
      necklace.mixed.remove(at: position)
      mixed.remove(at: position)
    case 18:
      let (key, id) = ("\(number(30))", livingId())
      necklace.mixedByName[key] = .object(bead(id))
      mixedByName[key] = id
    case 19:
      let id = livingId()
      necklace.mixedSet.insert(.object(bead(id)))
      mixedSet.insert(id)
    default: append()
    }
  }

  private mutating func append() {
    let id = livingId()
    necklace.beads.append(bead(id))
    beads.append(id)
  }

  private mutating func mixedValue() -> (AnyRealmValue, [Int?]) {
    let (first, second) = (livingId(), livingId())
    return switch number(4) {
    case 0: (.int(7), [nil])
    case 1:
      (.fromArray([.object(bead(first)), .int(1), .object(bead(second))]), [first, nil, second])
    default: (.object(bead(first)), [first])
    }
  }

  func check() {
    #expect(necklace.beads.map(\.id) == beads)
    #expect(necklace.byName.count == byName.count)
    for (key, id) in byName { #expect(necklace.byName[key]??.id == id, "\(key)") }
    #expect(necklace.mixed.map { Self.ids($0) } == mixed)
    for (key, id) in mixedByName {
      #expect(necklace.mixedByName[key]?.object(Bead.self)?.id == id, "\(key)")
    }
    #expect(Set(necklace.mixedSet.map { $0.object(Bead.self)?.id }) == Set(mixedSet))
  }

  private static func ids(_ value: AnyRealmValue) -> [Int?] {
    if let list = value.listValue { return list.map { $0.object(Bead.self)?.id } }
    return [value.object(Bead.self)?.id]
  }
}

@Suite(.ownThreads) struct HeldDeletionTests {
  @Test(arguments: seedsInTurn(1...8))
  func deletionsFindTheirLinks(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let realm = try memoryRealm([Bead.self, Necklace.self])
      let necklace = try realm.write { realm.create(Necklace.self) }
      var held = HeldBeads(realm: realm, necklace: necklace, random: random)
      for round in 0..<6 {
        realm.beginWrite()
        // Positions are noted at the second look, or never.
        if round > 0 {
          realm.confined.writing!.group.linkSearchLimits = .init(
            countMin: 1, looksMax: round % 3, mixedLooksMax: round % 2)
        }
        for _ in 0..<12 { held.addBead() }
        for step in 0..<120 {
          held.change()
          if step % 10 == 0 { held.check() }
        }
        held.check()
        try realm.commitWrite()
        held.check()
      }
    }
  }

  @Test func manyObjectsOfALargeListGoOneByOne() throws {
    let realm = try memoryRealm([Bead.self, Necklace.self])
    let necklace = try realm.write {
      let necklace = realm.create(Necklace.self)
      // In no order, and some twice.
      for index in 0..<3_000 {
        necklace.beads.append(realm.create(Bead.self, value: ["id": index * 1_009 % 3_000]))
      }
      for index in 0..<500 { necklace.beads.append(necklace.beads[index * 3]) }
      for bead in necklace.beads { necklace.byName["\(bead.id)"] = bead }
      return necklace
    }
    var truth = Array(necklace.beads.map(\.id))
    try realm.write {
      for id in 0..<2_500 {
        realm.delete(realm.object(ofType: Bead.self, forPrimaryKey: id)!)
      }
      truth.removeAll { $0 < 2_500 }
      #expect(Array(necklace.beads.map(\.id)) == truth)
    }
    #expect(Array(necklace.beads.map(\.id)) == truth)
    #expect(necklace.byName.count == 3_000)
    #expect(necklace.byName.filter { $0.value != nil }.count == 500)
  }
}
