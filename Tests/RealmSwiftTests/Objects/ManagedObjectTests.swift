// Objects in a Realm: values, identity, adding, making, updating, deleting.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ManagedObjectTests {
  private func fill(_ sample: Sample) {
    sample.bool = true
    sample.int = .min
    sample.int8 = -128
    sample.int16 = 32767
    sample.int32 = .min
    sample.int64 = .max
    sample.float = -1.5
    sample.double = .leastNonzeroMagnitude
    sample.string = "grüße 👋"
    sample.data = Data([0, 255, 1])
    sample.date = Date(timeIntervalSince1970: 1_700_000_000.123456)
    sample.optionalBool = false
    sample.optionalInt = 0
    sample.optionalInt8 = -1
    sample.optionalInt16 = 300
    sample.optionalInt32 = 70_000
    sample.optionalInt64 = .min
    sample.optionalFloat = .infinity
    sample.optionalDouble = -0.0
    sample.optionalString = ""
    sample.optionalData = Data()
    sample.optionalDate = .distantPast
  }

  private func expectFilled(_ sample: Sample, _ location: SourceLocation = #_sourceLocation) {
    #expect(sample.bool && sample.int == .min && sample.int8 == -128, sourceLocation: location)
    #expect(sample.int16 == 32767 && sample.int32 == .min, sourceLocation: location)
    #expect(sample.int64 == .max && sample.float == -1.5, sourceLocation: location)
    #expect(sample.double == .leastNonzeroMagnitude, sourceLocation: location)
    #expect(sample.string == "grüße 👋", sourceLocation: location)
    #expect(sample.data == Data([0, 255, 1]), sourceLocation: location)
    let date = Date(timeIntervalSince1970: 1_700_000_000.123456)
    #expect(sample.date == date, sourceLocation: location)
    #expect(sample.optionalBool == false && sample.optionalInt == 0, sourceLocation: location)
    #expect(sample.optionalInt8 == -1 && sample.optionalInt16 == 300, sourceLocation: location)
    #expect(sample.optionalInt32 == 70_000, sourceLocation: location)
    #expect(sample.optionalInt64 == .min, sourceLocation: location)
    #expect(sample.optionalFloat == .infinity, sourceLocation: location)
    #expect(sample.optionalDouble?.sign == .minus, sourceLocation: location)
    #expect(sample.optionalString == "", sourceLocation: location)
    #expect(sample.optionalData == Data(), sourceLocation: location)
    #expect(sample.optionalDate == .distantPast, sourceLocation: location)
  }

  @Test func everyTypeIsAddedInPlace() throws {
    let realm = try memoryRealm()
    let sample = Sample(value: ["key": "a"])
    fill(sample)
    try realm.write { realm.add(sample) }
    #expect(sample.realm == realm)
    expectFilled(sample)
    expectFilled(realm.object(ofType: Sample.self, forPrimaryKey: "a")!)
  }

  @Test func everyTypeIsSetOnALiveObject() throws {
    let realm = try memoryRealm()
    let sample = Sample()
    try realm.write { realm.add(sample) }
    #expect(sample.optionalInt == nil && sample.string == "" && !sample.bool)
    try realm.write { fill(sample) }
    expectFilled(sample)
    try realm.write {
      sample.optionalString = nil
      sample.optionalDate = nil
      sample.optionalBool = nil
      sample.optionalData = nil
      sample.int += 1
    }
    #expect(sample.optionalString == nil && sample.optionalDate == nil)
    #expect(sample.optionalBool == nil && sample.optionalData == nil)
    #expect(sample.int == .min + 1)
  }

  @Test func longValues() throws {
    let realm = try memoryRealm()
    let sample = Sample(value: ["key": "long"])
    let text = String(repeating: "0123456789", count: 50_000)
    let data = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
    try realm.write {
      sample.string = text
      realm.add(sample)
      sample.data = data
    }
    #expect(sample.string == text)
    #expect(sample.data == data)
    try realm.write { sample.string = "short" }
    #expect(sample.string == "short" && sample.data == data)
  }

  @Test func defaultsOfTheClassAreStored() throws {
    let realm = try memoryRealm()
    try realm.write { realm.add(Dog()) }
    let dog = realm.objects(Dog.self).first
    #expect(dog?.name == "Rex" && dog?.age == 3)
    let made = try realm.write { realm.create(Dog.self, value: ["age": 9]) }
    #expect(made.name == "Rex" && made.age == 9)
  }

  @Test func inheritedPropertiesAndOtherFields() throws {
    let realm = try memoryRealm([Employee.self, Person.self])
    let employee = Employee(value: ["id": 1, "name": "Ann", "salary": 100])
    employee.note = "mine"
    try realm.write { realm.add(employee) }
    #expect(employee.note == "mine")
    #expect(realm.objects(Employee.self).first?.salary == 100)
    #expect(realm.objects(Employee.self).first?.note == "not stored")
    #expect(realm.objects(Person.self).isEmpty)
    try realm.write { for id in 2..<5 { realm.create(Employee.self, value: ["id": id]) } }
    for (index, object) in realm.objects(Employee.self).enumerated() {
      #expect(object.note == "not stored")
      object.note = "seen \(index)"
    }
  }

  @Test func storedNames() throws {
    let folder = TemporaryFolder()
    do {
      let realm = try Realm(configuration: folder.configuration("a.realm", [Renamed.self]))
      try realm.write { realm.create(Renamed.self, value: ["swiftName": 4, "plain": 5]) }
    }
    enum Other {
      class StoredRenamed: Object {
        @Persisted var stored_name: Int
        @Persisted var plain: Int
      }
    }
    let realm = try Realm(
      configuration: folder.configuration("a.realm", [Other.StoredRenamed.self]))
    let object = realm.objects(Other.StoredRenamed.self).first
    #expect(object?.stored_name == 4 && object?.plain == 5)
  }

  @Test func columnsInAnotherOrder() throws {
    let folder = TemporaryFolder()
    enum Before {
      class Shuffled: Object {
        @Persisted var a: Int
        @Persisted var b: String
        @Persisted var c: Double
      }
    }
    enum After {
      class Shuffled: Object {
        @Persisted var c: Double
        @Persisted var a: Int
        @Persisted var b: String
      }
    }
    do {
      let realm = try Realm(configuration: folder.configuration("a.realm", [Before.Shuffled.self]))
      try realm.write { realm.create(Before.Shuffled.self, value: [1, "two", 3.0]) }
    }
    let realm = try Realm(configuration: folder.configuration("a.realm", [After.Shuffled.self]))
    let object = realm.objects(After.Shuffled.self).first!
    #expect(object.a == 1 && object.b == "two" && object.c == 3)
    try realm.write { realm.add(After.Shuffled(value: [6.0, 4, "five"])) }
    #expect(realm.objects(After.Shuffled.self).last?.b == "five")
    #expect(realm.objects(After.Shuffled.self).last?.a == 4)
  }

  @Test func keyValueCoding() throws {
    let realm = try memoryRealm()
    try realm.write {
      for age in 0..<5 { realm.add(Dog(value: ["age": age])) }
      realm.objects(Dog.self).setValue("All", forKey: "name")
      realm.objects(Dog.self)[2]["weight"] = 7
    }
    #expect(realm.objects(Dog.self).allSatisfy { $0.name == "All" })
    let weights = realm.objects(Dog.self).value(forKey: "weight")
    #expect(weights as? [Int?] == [nil, nil, 7, nil, nil])
    #expect(realm.objects(Dog.self)[2].value(forKey: "age") as? Int == 2)
  }

  // MARK: - Identity

  @Test func equality() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.create(Person.self, value: ["id": 1])
      realm.create(Person.self, value: ["id": 2])
      realm.add(Dog())
    }
    let first = realm.object(ofType: Person.self, forPrimaryKey: 1)!
    let again = realm.object(ofType: Person.self, forPrimaryKey: 1)!
    let second = realm.object(ofType: Person.self, forPrimaryKey: 2)!
    #expect(first !== again && first == again && first != second)
    #expect(first.isSameObject(as: again) && !first.isSameObject(as: second))
    #expect(Set([first, again, second]).count == 2)
    // Without a primary key only the accessor itself is equal.
    let dog = realm.objects(Dog.self)[0]
    let sameDog = realm.objects(Dog.self)[0]
    #expect(dog != sameDog && dog == dog)
    #expect(dog.isSameObject(as: sameDog))
    #expect(Set([dog, sameDog]).count == 2)
    #expect(first != Person(value: ["id": 1]))
    #expect(first.freeze() != first)
    #expect(first.freeze() == again.freeze())
  }

  @Test func describesItself() throws {
    let realm = try memoryRealm()
    let dog = Dog()
    try realm.write { realm.add(dog) }
    #expect(dog.description == "Dog {\n\tname = Rex;\n\tage = 3;\n\tweight = (null);\n}")
    try realm.write { realm.delete(dog) }
    #expect(dog.description == "[invalid object]")
  }

  // MARK: - Adding and making

  @Test func addingAgainDoesNothing() throws {
    let realm = try memoryRealm()
    let dog = Dog()
    try realm.write {
      realm.add(dog)
      realm.add(dog)
      realm.add(realm.objects(Dog.self))
    }
    #expect(realm.objects(Dog.self).count == 1)
  }

  @Test func addUpdates() throws {
    let realm = try memoryRealm()
    let old = Person(value: ["id": 1, "name": "Old", "age": 5])
    try realm.write { realm.add(old) }
    let new = Person(value: ["id": 1, "name": "New"])
    try realm.write { realm.add(new, update: .all) }
    #expect(old.name == "New" && old.age == 0)
    #expect(new.isSameObject(as: old))
    try realm.write {
      realm.add(
        [Person(value: ["id": 1, "name": "Newer"]), Person(value: ["id": 2])], update: .modified)
    }
    #expect(old.name == "Newer" && realm.objects(Person.self).count == 2)
  }

  @Test func createUpdatesWhatIsGiven() throws {
    let realm = try memoryRealm()
    for policy in [Realm.UpdatePolicy.all, .modified] {
      let person = try realm.write {
        realm.create(Person.self, value: ["id": 1, "name": "Ann", "age": 5], update: policy)
      }
      let same = try realm.write {
        realm.create(Person.self, value: ["id": 1, "age": 6], update: policy)
      }
      #expect(same.isSameObject(as: person))
      #expect(person.name == "Ann" && person.age == 6)
    }
    #expect(realm.objects(Person.self).count == 1)
  }

  @Test func createCopiesObjects() throws {
    let realm = try memoryRealm()
    let other = try memoryRealm()
    let person = Person(value: ["id": 1, "name": "Ann", "payload": Data([1])])
    try other.write { other.add(person) }
    let copy = try realm.write { realm.create(Person.self, value: person) }
    #expect(copy.realm == realm && copy.name == "Ann" && copy.payload == Data([1]))
  }

  @Test func keysThatMayBeNil() throws {
    let realm = try memoryRealm([Badge.self, Ticket.self])
    try realm.write {
      realm.create(Badge.self, value: ["code": "a", "level": 1])
      realm.create(Badge.self, value: ["level": 2])
      realm.create(Ticket.self, value: ["number": 0, "title": "zero"])
      realm.create(Ticket.self, value: ["title": "none"])
      realm.create(Badge.self, value: ["code": "", "level": 3])
    }
    #expect(realm.object(ofType: Badge.self, forPrimaryKey: "a")?.level == 1)
    #expect(realm.object(ofType: Badge.self, forPrimaryKey: String?.none)?.level == 2)
    #expect(realm.object(ofType: Badge.self, forPrimaryKey: "")?.level == 3)
    #expect(realm.object(ofType: Ticket.self, forPrimaryKey: 0)?.title == "zero")
    #expect(realm.object(ofType: Ticket.self, forPrimaryKey: NSNull())?.title == "none")
    #expect(realm.object(ofType: Badge.self, forPrimaryKey: "b") == nil)
    #expect(realm.object(ofType: Ticket.self, forPrimaryKey: 1) == nil)
  }

  // MARK: - Deleting

  @Test func deletes() throws {
    let realm = try memoryRealm()
    let people = (0..<10).map { Person(value: ["id": $0]) }
    try realm.write { realm.add(people) }
    try realm.write {
      realm.delete(people[3])
      realm.delete([people[5], people[0]])
    }
    #expect(people[3].isInvalidated && people[5].isInvalidated && people[0].isInvalidated)
    #expect(realm.objects(Person.self).map(\.id) == [1, 2, 4, 6, 7, 8, 9])
    #expect(realm.object(ofType: Person.self, forPrimaryKey: 3) == nil)
    #expect(people[4].id == 4)
    try realm.write {
      realm.add(Dog())
      realm.delete(realm.objects(Person.self))
    }
    #expect(realm.objects(Person.self).isEmpty && realm.objects(Dog.self).count == 1)
    #expect(people[4].isInvalidated)
    try realm.write { realm.deleteAll() }
    #expect(realm.isEmpty)
  }

  // MARK: - Stops

  @Test func primaryKeyRules() async {
    let changed = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.create(Person.self, value: ["id": 1]).id = 2 }
    }
    expectStop(changed, "Primary key can't be changed after an object is inserted.")
    let twice = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.add([Person(value: ["id": 7]), Person(value: ["id": 7])]) }
    }
    expectStop(
      twice,
      "Attempting to create an object of type 'Person' with an existing primary key value '7'.")
    let update = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.add(Dog(), update: .modified) }
    }
    expectStop(update, "'Dog' does not have a primary key and can not be updated")
    let lookUp = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().object(ofType: Dog.self, forPrimaryKey: 1)
    }
    expectStop(lookUp, "'Dog' does not have a primary key")
    let wrongType = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().object(ofType: Person.self, forPrimaryKey: "one")
    }
    expectStop(
      wrongType, "Invalid value 'one' of type 'String' for 'int' property 'Person.id'.")
  }

  @Test func ownershipRules() async {
    let foreign = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let other = try memoryRealm()
      let dog = Dog()
      try other.write { other.add(dog) }
      try realm.write { realm.add(dog) }
    }
    expectStop(
      foreign,
      "Object is already managed by another Realm. Use create instead to copy it into this Realm.")
    let frozen = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      try realm.write { realm.add(dog.freeze()) }
    }
    expectStop(frozen, "Object is already managed by another Realm.")
    let unmanaged = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.delete(Dog()) }
    }
    expectStop(unmanaged, "Can only delete an object from the Realm it belongs to.")
    let foreignResults = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let other = try memoryRealm()
      try realm.write { realm.delete(other.objects(Dog.self)) }
    }
    expectStop(foreignResults, "Can only delete an object from the Realm it belongs to.")
    let unknown = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().objects(Badge.self)
    }
    expectStop(unknown, "Object type 'Badge' is not managed by the Realm.")
    let addUnknown = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.add(Badge()) }
    }
    expectStop(addUnknown, "Object type 'Badge' is not managed by the Realm.")
  }

  @Test func deletedObjectsStop() async {
    let read = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      try realm.write { realm.delete(dog) }
      _ = dog.name
    }
    expectStop(read, "Object has been deleted or invalidated.")
    let write = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write {
        realm.add(dog)
        realm.delete(dog)
        dog.age = 3
      }
    }
    expectStop(write, "Object has been deleted or invalidated.")
    let again = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write {
        realm.add(dog)
        realm.delete(dog)
        realm.delete(dog)
      }
    }
    expectStop(
      again,
      "Can only delete an object from the Realm it belongs to. Object has been deleted or invalidated."
    )
    let added = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write {
        realm.add(dog)
        realm.delete(dog)
        realm.add(dog)
      }
    }
    expectStop(added, "Adding a deleted or invalidated object to a Realm is not permitted")
    let invalidated = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      realm.invalidate()
      _ = dog.age
    }
    expectStop(invalidated, "Object has been deleted or invalidated.")
  }

  @Test func valuesThatAreTooLongStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.create(Sample.self, value: ["data": Data(count: 17 << 20)]) }
    }
    expectStop(result, "The value of 'Sample.data' has 17825792 bytes")
  }
}
