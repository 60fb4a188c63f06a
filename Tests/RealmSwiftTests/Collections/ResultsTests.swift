// Results as a live random-access collection.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ResultsTests {
  private func realm(_ count: Int) throws -> Realm {
    let realm = try memoryRealm()
    try realm.write { realm.add((0..<count).map { Person(value: ["id": $0, "age": $0 % 7]) }) }
    return realm
  }

  @Test(arguments: [0, 1, 2, 255, 256, 257, 1000])
  func isACollection(_ count: Int) throws {
    let people = try realm(count).objects(Person.self)
    #expect(people.count == count)
    #expect(people.isEmpty == (count == 0))
    #expect(people.startIndex == 0 && people.endIndex == count)
    #expect(people.first?.id == (count == 0 ? nil : 0))
    #expect(people.last?.id == (count == 0 ? nil : count - 1))
    #expect(people.map(\.id) == Array(0..<count))
    #expect(people.reversed().map(\.id) == (0..<count).reversed())
    #expect(people.indices.map { people[$0].id } == Array(0..<count))
    #expect(people.prefix(3).map(\.id) == Array((0..<count).prefix(3)))
    #expect(people.filter { $0.age == 3 }.count == (0..<count).count { $0 % 7 == 3 })
    #expect(people.objects(at: IndexSet(0..<count)).map(\.id) == Array(0..<count))
    for position in people.indices where position % 37 == 0 {
      #expect(people.index(of: people[position]) == position)
    }
  }

  @Test(arguments: [0, 1, 257, 1000])
  func closuresSeeWhatALoopSees(_ count: Int) throws {
    let realm = try realm(count)
    for people in [realm.objects(Person.self), realm.objects(Person.self).where { $0.age < 5 }] {
      var looped: [Int] = []
      for person in people { looped.append(person.id) }
      var seen: [Int] = []
      people.forEach { seen.append($0.id) }
      #expect(seen == looped)
      #expect(people.reduce(0) { $0 + $1.id } == looped.reduce(0, +))
      #expect(people.reduce(into: []) { $0.append($1.id) } == looped)
      // Whoever keeps an object keeps that one.
      let kept = people.reduce(into: [Person]()) { $0.append($1) }
      #expect(kept.map(\.id) == looped)
      #expect(Set(kept.map { ObjectIdentifier($0) }).count == looped.count)
    }
    struct Enough: Error {}
    if count > 0 {
      #expect(throws: Enough.self) {
        try realm.objects(Person.self).forEach { _ in throw Enough() }
      }
    }
    try realm.write {
      realm.objects(Person.self).forEach { if $0.id % 3 == 0 { realm.delete($0) } }
    }
    #expect(realm.objects(Person.self).map(\.id) == (0..<count).filter { $0 % 3 != 0 })
  }

  @Test func isLive() throws {
    let realm = try realm(3)
    let people = realm.objects(Person.self)
    try realm.write {
      realm.create(Person.self, value: ["id": 10])
      #expect(people.count == 4)
      realm.delete(people[1])
      #expect(people.map(\.id) == [0, 2, 10])
    }
    #expect(people.map(\.id) == [0, 2, 10])
    realm.beginWrite()
    realm.deleteAll()
    #expect(people.isEmpty)
    realm.cancelWrite()
    #expect(people.count == 3)
  }

  @Test func keptElementsStayThemselves() throws {
    let people = try realm(600).objects(Person.self)
    let kept = Array(people)
    #expect(kept.map(\.id) == Array(0..<600))
    #expect(Set(kept.map { ObjectIdentifier($0) }).count == 600)
    var every: [Person] = []
    for person in people where person.id % 100 == 5 { every.append(person) }
    #expect(every.map(\.id) == [5, 105, 205, 305, 405, 505])
    // A weak reference keeps its object too, or becomes nil; it never shows another one.
    weak var weakly: Person?
    var seen = 0
    for person in people {
      if person.id == 3 { weakly = person }
      if let weakly { #expect(weakly.id == 3) }
      seen += 1
    }
    #expect(seen == 600)
  }

  @Test func changesWhileIterating() throws {
    let realm = try realm(600)
    let people = realm.objects(Person.self)
    try realm.write {
      // Added objects are not visited.
      var seen = 0
      for person in people {
        seen += 1
        realm.create(Person.self, value: ["id": 1000 + person.id])
      }
      #expect(seen == 600 && people.count == 1200)
      // Deleting the visited one is fine.
      for person in people where person.id % 2 == 0 { realm.delete(person) }
      #expect(people.count == 600)
      for person in people { person.age = -1 }
    }
    #expect(people.allSatisfy { $0.age == -1 && $0.id % 2 == 1 })
  }

  @Test func survivesARefreshWhileIterating() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add((0..<600).map { Person(value: ["id": $0]) }) }
    let carried = Carried(configuration)
    var seen: [Int] = []
    for person in realm.objects(Person.self) {
      seen.append(person.id)
      if person.id == 10 {
        onThread {
          let realm = try! Realm(configuration: carried.value)
          try! realm.write {
            realm.delete(realm.objects(Person.self).filter { $0.id < 300 && $0.id != 20 })
          }
        }
        #expect(realm.refresh())
      }
    }
    #expect(seen == Array(0...10) + [20] + Array(300..<600))
  }

  @Test func equalityAndRealm() throws {
    let realm = try realm(1)
    #expect(realm.objects(Person.self) == realm.objects(Person.self))
    #expect(realm.objects(Person.self).realm == realm)
    #expect(try realm.objects(Person.self) != self.realm(1).objects(Person.self))
    #expect(!realm.objects(Person.self).isInvalidated && !realm.objects(Person.self).isFrozen)
    #expect(realm.objects(Person.self).index(of: Person()) == nil)
  }

  @Test func describesItself() throws {
    let realm = try memoryRealm()
    try realm.write { realm.add([Dog(), Dog(value: ["name": "Bo"])]) }
    let text = realm.objects(Dog.self).description
    #expect(text.hasPrefix("Results<Dog> <0x"))
    #expect(text.contains("\n\t[0] Dog {\n\t\tname = Rex;\n\t\tage = 3;\n"))
    #expect(text.contains(",\n\t[1] Dog {\n\t\tname = Bo;"))
    #expect(text.hasSuffix("\n)"))
    try realm.write { realm.add((0..<150).map { _ in Dog() }) }
    #expect(realm.objects(Dog.self).description.contains("... 52 objects skipped."))
  }

  // MARK: - Stops

  @Test func positionsOutOfBoundsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.add([Dog(), Dog(), Dog()]) }
      _ = realm.objects(Dog.self)[3]
    }
    expectStop(result, "Index 3 is out of bounds (must be less than 3).")
    let negative = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().objects(Dog.self)[-1]
    }
    expectStop(negative, "Cannot pass a negative value for 'index'.")
    let set = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().objects(Dog.self).objects(at: [0, 4])
    }
    expectStop(set, "Indexes for collection are out of bounds.")
  }

  @Test func invalidatedResultsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dogs = realm.objects(Dog.self)
      realm.invalidate()
      _ = dogs.count
    }
    expectStop(result, "Access to invalidated Results objects")
  }
}
