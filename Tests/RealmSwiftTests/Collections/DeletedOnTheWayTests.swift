// Loops over collections whose bodies delete objects that the loop has yet to come to, or move them
// elsewhere, in one transaction around it and in transactions of their own.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Stop: EmbeddedObject {
  @Persisted var kilometre: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Stored as an embedded object.
private struct Milestone: CustomPersistable, Hashable {
  typealias PersistedType = Stop
  let kilometre: Int
  init(_ kilometre: Int) { self.kilometre = kilometre }
  init(persistedValue: Stop) { kilometre = persistedValue.kilometre }
  var persistableValue: Stop { Stop(value: [kilometre]) }
}

private class Rider: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var hasArrived: Bool
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Tour: Object {
  @Persisted var milestones: List<Milestone>
  @Persisted var namedMilestones: Map<String, Milestone?>
  @Persisted var stops: Map<String, Stop?>
  @Persisted var riders: List<Rider>
  @Persisted var distances: List<Int>
  @Persisted var ridersByName: Map<String, Rider?>
  @Persisted var anyList: List<AnyRealmValue>
  @Persisted var anySet: MutableSet<AnyRealmValue>
  @Persisted var anyMap: Map<String, AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct DeletedOnTheWayTests {
  private let realm: Realm
  private let tour: Tour

  init() throws {
    let realm = try openRealm(memoryConfiguration([Tour.self, Rider.self, Stop.self]))
    self.realm = realm
    tour = try realm.write {
      let tour = realm.create(Tour.self)
      for number in 0..<6 {
        let rider = realm.create(Rider.self, value: ["number": number])
        tour.distances.append(number)
        tour.milestones.append(Milestone(number))
        tour.namedMilestones["\(number)"] = Milestone(number)
        tour.stops["\(number)"] = Stop(value: [number])
        tour.riders.append(rider)
        tour.ridersByName["\(number)"] = rider
        tour.anyList.append(.object(rider))
        tour.anySet.insert(.object(rider))
        tour.anyMap["\(number)"] = .object(rider)
      }
      return tour
    }
  }

  /// Runs a loop in one transaction, or lets each change have its own.
  private func loop(
    _ isOneTransaction: Bool, _ body: (_ change: (() -> Void) throws -> Void) throws -> Void
  ) throws {
    if isOneTransaction {
      try realm.write { try body { $0() } }
    } else {
      try body { change in try realm.write { change() } }
    }
  }

  private func deleteLast() { realm.delete(realm.objects(Rider.self).where { $0.number > 3 }) }

  @Test(arguments: [true, false])
  func ownTypesAreValues(_ isOneTransaction: Bool) throws {
    var seen: [Int] = []
    try loop(isOneTransaction) { change in
      for milestone in tour.milestones {
        seen.append(milestone.kilometre)
        try change { tour.milestones.remove(at: 0) }
      }
    }
    #expect(seen == [0, 1, 2, 3, 4, 5] && tour.milestones.isEmpty)
    var named: [String: Int?] = [:]
    try loop(isOneTransaction) { change in
      for entry in tour.namedMilestones {
        named[entry.key] = entry.value?.kilometre
        try change { tour.namedMilestones.removeAll() }
      }
    }
    #expect(named == ["0": 0, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5])
  }

  @Test func ownTypesAfterTheirOwner() throws {
    var iterator = tour.milestones.makeIterator()
    #expect(iterator.next() == Milestone(0))
    try realm.write { realm.delete(tour) }
    #expect(iterator.next() == Milestone(1))
  }

  /// The value of a deleted object is nil, whichever version the loop began with.
  @Test(arguments: [true, false])
  func mapsOfObjects(_ isOneTransaction: Bool) throws {
    let all = ["0": 0, "1": 1, "2": 2, "3": 3, "4": nil, "5": nil] as [String: Int?]
    var riders: [String: Int?] = [:]
    var stops: [String: Int?] = [:]
    try loop(isOneTransaction) { change in
      for (name, rider) in tour.ridersByName.asKeyValueSequence() {
        riders.updateValue(rider?.number, forKey: name)
        try change { deleteLast() }
      }
      for entry in tour.stops {
        stops.updateValue(entry.value?.kilometre, forKey: entry.key)
        try change {
          tour.stops["4"] = nil
          tour.stops["5"] = .some(nil)
        }
      }
    }
    #expect(riders == all && stops == all)
    #expect(tour.stops.keys == ["0", "1", "2", "3", "5"])
  }

  /// An object inside of a mixed value that is deleted is none.
  @Test(arguments: [true, false])
  func mixedValues(_ isOneTransaction: Bool) throws {
    var found: [[Int?]] = [[], [], []]
    try loop(isOneTransaction) { change in
      // Three loops that stand on their second element when the objects go.
      var list = tour.anyList.makeIterator()
      var set = tour.anySet.makeIterator()
      var map = tour.anyMap.makeIterator()
      for step in 0..<6 {
        found[0].append(list.next()?.object(Rider.self)?.number)
        found[1].append(set.next()?.object(Rider.self)?.number)
        found[2].append(map.next()?.value.object(Rider.self)?.number)
        if step == 1 { try change { deleteLast() } }
      }
    }
    #expect(found == [[0, 1, 2, 3, nil, nil], [0, 1, 2, 3, nil, nil], [0, 1, 2, 3, nil, nil]])
  }

  /// What an element is when the loop comes to it is not asked: it was there when the loop began.
  @Test(arguments: [true, false])
  func sectionsThatElementsLeave(_ isOneTransaction: Bool) throws {
    let sections = realm.objects(Rider.self).sectioned(by: \.hasArrived)
    var seen: [Int] = []
    try loop(isOneTransaction) { change in
      for rider in sections[0] {
        seen.append(rider.number)
        try change { rider.hasArrived = true }
      }
    }
    #expect(seen == [0, 1, 2, 3, 4, 5] && sections.allKeys == [true])
    seen = []
    try loop(isOneTransaction) { change in
      for rider in sections[0] {
        seen.append(rider.number)
        try change { deleteLast() }
      }
    }
    #expect(seen == [0, 1, 2, 3])
  }

  @Test(arguments: [true, false])
  func sectionsThatGo(_ isOneTransaction: Bool) throws {
    var counts: [Int: Int] = [:]
    try loop(isOneTransaction) { change in
      for section in realm.objects(Rider.self).sectioned(by: \.number) {
        counts[section.key] = section.count
        try change { realm.delete(realm.objects(Rider.self).where { $0.number > 0 }) }
      }
    }
    #expect(counts == [0: 1, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0])
  }

  @Test(arguments: [true, false])
  func resultsOfValues(_ isOneTransaction: Bool) throws {
    var seen: [[Int]] = [[], [], []]
    try loop(isOneTransaction) { change in
      // Three loops that stand on their first element when the values move.
      var filtered = tour.distances.where { $0 > 1 }.makeIterator()
      var sorted = tour.distances.sorted(byKeyPath: "self", ascending: false).makeIterator()
      let sections = tour.distances.sectioned(by: { $0 % 2 })
      var section = sections[1].makeIterator()
      for step in 0..<6 {
        if let distance = filtered.next() { seen[0].append(distance) }
        if let distance = sorted.next() { seen[1].append(distance) }
        if let distance = section.next() { seen[2].append(distance) }
        if step == 0 { try change { tour.distances.removeFirst(4) } }
      }
    }
    #expect(seen == [[2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [1, 3, 5]])
  }

  @Test func resultsOfOptionalOwnTypes() throws {
    let sorted = tour.namedMilestones.sorted(byKeyPath: "kilometre", ascending: false)
    #expect(sorted.first == Milestone(5) && sorted[1] == Milestone(4) && sorted.count == 6)
    #expect(sorted.map { $0?.kilometre } == [5, 4, 3, 2, 1, 0])
    #expect(sorted.index(of: Milestone(3)) == 2 && sorted.index(of: Milestone(9)) == nil)
    #expect(Array(sorted.freeze()) == Array(sorted))
  }
}
