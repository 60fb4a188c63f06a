// Many objects added by one call: new files and filled ones, mixtures of classes, sequences of all
// kinds.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct AddingManyTests {
  private func people(_ ids: some Sequence<Int>) -> [Person] {
    ids.map { Person(value: ["id": $0, "name": "person \($0)"]) }
  }

  private func expectPeople(_ realm: Realm, _ ids: Range<Int>) throws {
    #expect(realm.objects(Person.self).count == ids.count)
    for id in ids {
      #expect(realm.object(ofType: Person.self, forPrimaryKey: id)?.name == "person \(id)")
    }
    #expect(realm.object(ofType: Person.self, forPrimaryKey: ids.upperBound) == nil)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func severalBulksInOneFile() throws {
    let realm = try memoryRealm()
    var next = 0
    for count in [300, 3_000, 1, 500] {
      let added = people(next..<next + count)
      try realm.write { realm.add(added) }
      next += count
      try expectPeople(realm, 0..<next)
      // The objects that were added are live.
      #expect(added.allSatisfy { $0.realm == realm && !$0.isInvalidated })
    }
    try realm.write { realm.delete(realm.objects(Person.self).where { $0.id >= 100 }) }
    try expectPeople(realm, 0..<100)
  }

  @Test func everyKindOfSequence() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.add(people(0..<400)[0..<300])
      realm.add(ContiguousArray(people(300..<600)))
      realm.add((600..<900).lazy.map { Person(value: ["id": $0, "name": "person \($0)"]) })
      realm.add(Set(people(900..<1_200)))
      realm.add(AnySequence(people(1_200..<1_500)))
      realm.add([Person]())
    }
    try expectPeople(realm, 0..<1_500)
  }

  @Test func aMixtureOfClasses() throws {
    let realm = try memoryRealm()
    var all: [Object] = people(0..<300)
    all.append(contentsOf: (0..<300).map { Dog(value: ["name": "dog \($0)"]) as Object })
    all.append(contentsOf: people(300..<400))
    try realm.write { realm.add(all) }
    try expectPeople(realm, 0..<400)
    #expect(realm.objects(Dog.self).count == 300)
    // Those that are there are left alone, also when they are the first.
    let more = Array(all.reversed()) + people(400..<800)
    try realm.write { realm.add(more) }
    try expectPeople(realm, 0..<800)
    #expect(realm.objects(Dog.self).count == 300)
  }

  @Test func aRollbackAfterABulkLeavesNothing() throws {
    let realm = try memoryRealm()
    try realm.write { realm.add(people(0..<10)) }
    realm.beginWrite()
    realm.add(people(10..<2_000))
    realm.cancelWrite()
    try expectPeople(realm, 0..<10)
    try realm.write { realm.add(people(10..<2_000)) }
    try expectPeople(realm, 0..<2_000)
  }

  @Test func aKeyThatIsThereStopsABulk() async {
    let twice = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let people = (0..<500).map { Person(value: ["id": $0 % 400]) }
      try realm.write { realm.add(people) }
    }
    expectStop(
      twice,
      "Attempting to create an object of type 'Person' with an existing primary key value '0'.")
  }
}
