// Many observers beside each other, of the same and of different things: each is told exactly what
// one alone would be told, whoever was called before it, and whichever version it knows.
import Dispatch
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

/// Several observers of one thing, each beside one that follows it alone.
private final class ObserverGroup {
  let follower: Follower
  private var observers: [(known: ConfinedRealm, tell: Tell, tellAlone: Tell)] = []

  typealias Tell = (VersionStep) -> String

  init(_ follower: Follower) { self.follower = follower }

  func add(_ realm: Realm) {
    guard let make = follower.makeAnother else { return }
    let sharing = realm.confined.elementSharing
    sharing.isOn = false
    let alone = make()
    sharing.isOn = true
    observers.append((realm.confined.frozen(), make(), alone))
  }

  func removeOne(_ random: inout RandomGenerator) {
    if observers.count > 1 {
      observers.remove(at: Int(random.next(upperBound: UInt64(observers.count))))
    }
  }

  /// Tells most of them, in any order; the others go on knowing what they know.
  func tell(
    _ realm: Realm, _ steps: inout [ObjectIdentifier: VersionStep], _ random: inout RandomGenerator
  ) -> Int {
    var told = 0
    for index in observers.indices where random.next() % 5 != 0 {
      let observer = observers[index]
      let key = ObjectIdentifier(observer.known)
      let step = steps[key] ?? VersionStep(from: observer.known, to: realm.confined)
      steps[key] = step
      let expected = observer.tellAlone(VersionStep(from: observer.known, to: realm.confined))
      let change = observer.tell(step)
      #expect(change == expected, "\(follower.name), observer \(index) of \(observers.count)")
      if change != "nil" { told += 1 }
      observers[index].known = realm.confined.frozen()
    }
    return told
  }
}

@Suite(.ownThreads) struct SharedFollowingTests {
  @Test(arguments: seedsInTurn(1...8))
  func eachIsToldWhatOneAloneWouldBeTold(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let realm = try memoryRealm(kennelClasses)
      var changes = KennelChanges(realm: realm, random: random)
      try realm.write { for _ in 0..<60 { changes.change() } }
      var groups: [ObserverGroup] = []
      var told = 0
      for round in 0..<40 {
        while groups.count < 12, let follower = changes.follower() ?? changes.pathFollower() {
          groups.append(ObserverGroup(follower))
        }
        for group in groups where changes.number(2) == 0 {
          for _ in 0...changes.number(3) { group.add(realm) }
        }
        for _ in 0...changes.number(2) {
          try realm.write { for _ in 0..<1 + changes.number(8) { changes.change() } }
        }
        // Those who know the same version share a step.
        var steps: [ObjectIdentifier: VersionStep] = [:]
        for group in groups { told += group.tell(realm, &steps, &changes.random) }
        for group in groups where changes.number(4) == 0 { group.removeOne(&changes.random) }
        if round % 5 == 4 { groups.remove(at: changes.number(groups.count)) }
        groups.removeAll { $0.follower.owner()?.isInvalidated == true }
      }
      #expect(told > 0)
    }
  }

  @Test func observersOfEqualResultsKnowTheirElementsTogether() throws {
    let realm = try memoryRealm(kennelClasses)
    try realm.write { for age in 0..<50 { realm.add(Hound("name", age)) } }
    func tracker(_ age: Int) -> QueryTracker {
      let results = realm.objects(Hound.self).where { $0.age > age }.sorted(byKeyPath: "age")
      return CollectionTracker.make(results, keyPaths: nil) as! QueryTracker
    }
    let (first, second, other) = (tracker(10), tracker(10), tracker(11))
    #expect(first.knowsSame(as: second))
    #expect(!first.knowsSame(as: other))
    let old = realm.confined.frozen()
    try realm.write { realm.objects(Hound.self).last!.age = 0 }
    let step = VersionStep(from: old, to: realm.confined)
    let told = first.advance(step)
    #expect(told == CollectionChange(deletions: [38]))
    // The second one knows the older version until it is told.
    #expect(second.items.count == 39)
    #expect(second.advance(step) == told)
    #expect(other.advance(step) == CollectionChange(deletions: [37]))
    #expect(first.knowsSame(as: second))
    #expect(second.items.count == 38)
  }

  @Test func sectionsByAPropertyAreFoundOnceForEqualResults() throws {
    let realm = try memoryRealm(kennelClasses)
    try realm.write { for age in 0..<50 { realm.add(Hound("name", age)) } }
    let old = realm.objects(Hound.self).where { $0.age > 10 }
    let made = [
      old.sectioned(by: \.age), old.sectioned(by: \.age),
      old.sectioned(by: \.age, sortDescriptors: [SortDescriptor(keyPath: "age")]),
      old.sectioned(by: \.age, ascending: false), realm.objects(Hound.self).sectioned(by: \.age),
    ]
    func check() {
      let shapes = made.map { $0._observed.source.sections() }
      #expect(shapes[0] === shapes[1] && shapes[0] === shapes[2])
      #expect(shapes[0] !== shapes[3] && shapes[0] !== shapes[4])
      let expected = Set(realm.objects(Hound.self).map(\.age)).sorted()
      for sections in made[..<3] { #expect(sections.allKeys == expected.filter { $0 > 10 }) }
      #expect(made[3].allKeys == expected.filter { $0 > 10 }.reversed())
      #expect(made[4].allKeys == expected)
    }
    check()
    try realm.write {
      realm.objects(Hound.self).last!.age = 11
      check()
      realm.add(Hound("name", 70))
    }
    check()
    // Frozen ones go on by themselves.
    let frozen = made[0].freeze()
    try realm.write { realm.delete(realm.objects(Hound.self).where { $0.age == 70 }) }
    #expect(frozen.allKeys.last == 70 && made[1].allKeys.last != 70)
    check()
  }

  @Test func observersAreToldAlikeWhileOthersEndAndWrite() throws {
    let queue = DispatchQueue(label: "observers")
    try queue.sync {
      try tellObservers(
        of: Realm(configuration: memoryConfiguration(kennelClasses), queue: queue))
    }
  }

  private func tellObservers(of realm: Realm) throws {
    try realm.write { for age in 0..<30 { realm.add(Hound("name", age)) } }
    var copies: [Int: [Int]] = [:]
    var tokens: [Int: NotificationToken] = [:]
    var hasWritten = false
    for number in 0..<20 {
      let results = realm.objects(Hound.self).filter("age < 20").sorted(byKeyPath: "age")
      tokens[number] = results.observe { change in
        switch change {
        case .initial(let results): copies[number] = results.map(\.age)
        case .update(let results, let deletions, let insertions, let modifications):
          var copy = copies[number]!
          for position in deletions.reversed() { copy.remove(at: position) }
          for position in insertions { copy.insert(results[position].age, at: position) }
          for position in modifications { copy[position] = results[position].age }
          #expect(copy == Array(results.map(\.age)), "observer \(number)")
          copies[number] = copy
          // The next ones are told of this too, and one of them never again.
          if number == 3, !hasWritten {
            hasWritten = true
            tokens.removeValue(forKey: 7)?.invalidate()
            try! realm.write { realm.objects(Hound.self).first!.age = 15 }
          }
        case .error(let error): Issue.record(error)
        }
      }
    }
    realm.refresh()
    try realm.write {
      realm.delete(realm.objects(Hound.self).filter("age == 5"))
      realm.add(Hound("new", 8))
    }
    realm.refresh()
    realm.refresh()
    let truth = Array(
      realm.objects(Hound.self).filter("age < 20").sorted(byKeyPath: "age").map(\.age))
    for (number, copy) in copies where number != 7 { #expect(copy == truth, "\(number)") }
    #expect(hasWritten)
  }

  @Test func queriesAreTheSameOnlyBitForBit() throws {
    let realm = try memoryRealm(kennelClasses)
    let hounds = realm.objects(Hound.self)
    func identity(_ format: String, _ arguments: Any...) -> QueryIdentity? {
      hounds.filter(NSPredicate(format: format, argumentArray: arguments)).tracked?.identity
    }
    let same: [(String, [Any])] = [
      ("name == %@", ["a"]), ("name IN %@", [["a", "b"]]), ("age == %@", [1]),
      ("age BETWEEN {1, 2}", []), ("friend.age > 3 OR NOT name CONTAINS[c] 'x'", []),
      ("SUBQUERY(kennels, $k, $k.id == 1).@count > 0", []), ("name == nil", []),
    ]
    for (index, (format, arguments)) in same.enumerated() {
      func made() -> QueryIdentity? {
        hounds.filter(NSPredicate(format: format, argumentArray: arguments)).tracked?.identity
      }
      #expect(made() != nil && made() == made(), "\(format)")
      for other in same[..<index] {
        let otherIdentity = hounds.filter(
          NSPredicate(format: other.0, argumentArray: other.1)
        ).tracked?.identity
        #expect(made() != otherIdentity, "\(format) and \(other.0)")
      }
    }
    #expect(identity("name == %@", "\u{E9}") != identity("name == %@", "e\u{301}"))
    #expect(identity("name IN %@", ["ab"]) != identity("name IN %@", ["a", "b"]))
    #expect(identity("weight == %@", 1.0) != identity("weight == %@", 2.0))
    let sorted = [
      hounds.sorted(byKeyPath: "age"), hounds.sorted(byKeyPath: "age", ascending: false),
      hounds.distinct(by: ["age"]), hounds.sorted(byKeyPath: "name"),
    ].map { $0.tracked?.identity }
    #expect(Set(sorted).count == 4 && !sorted.contains(nil))
  }
}

extension Results {
  fileprivate var tracked: (any TrackedQuery)? { source as? any TrackedQuery }
}
