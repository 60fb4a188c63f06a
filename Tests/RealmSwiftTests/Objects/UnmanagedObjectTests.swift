// Objects that belong to no Realm are plain Swift objects.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct UnmanagedObjectTests {
  @Test func startsWithDefaults() {
    let sample = Sample()
    #expect(sample.key == "")
    #expect(sample.bool == false)
    #expect(sample.int == 0 && sample.int8 == 0 && sample.int16 == 0)
    #expect(sample.int32 == 0 && sample.int64 == 0)
    #expect(sample.float == 0 && sample.double == 0)
    #expect(sample.string == "" && sample.data == Data())
    // When it was made, whenever one asks.
    #expect(abs(sample.date.timeIntervalSinceNow) < 600 && sample.date == sample.date)
    #expect(sample.optionalInt == nil && sample.optionalString == nil)
    #expect(sample.optionalDate == nil && sample.optionalBool == nil)
    let dog = Dog()
    #expect(dog.name == "Rex" && dog.age == 3 && dog.weight == nil)
  }

  @Test func keepsWhatIsSet() {
    let sample = Sample()
    sample.string = "héllo"
    sample.optionalInt8 = -128
    sample.float = .pi
    sample.data = Data([1, 2, 3])
    #expect(sample.string == "héllo")
    #expect(sample.optionalInt8 == -128)
    #expect(sample.float == .pi)
    #expect(sample.data == Data([1, 2, 3]))
    sample.optionalInt8 = nil
    #expect(sample.optionalInt8 == nil)
    sample.int += 4
    #expect(sample.int == 4)
  }

  @Test func belongsToNoRealm() {
    let dog = Dog()
    #expect(dog.realm == nil)
    #expect(!dog.isInvalidated)
    #expect(!dog.isFrozen)
    #expect(dog == dog)
    #expect(dog != Dog())
    #expect(dog.isSameObject(as: dog))
    #expect(!dog.isSameObject(as: Dog()))
    #expect(!dog.isSameObject(as: nil))
    #expect(Set([dog, dog, Dog()]).count == 2)
  }

  @Test func isMadeFromADictionary() {
    let person = Person(value: ["id": 7, "name": "Ann", "score": 2, "extra": "ignored"])
    #expect(person.id == 7 && person.name == "Ann" && person.score == 2 && person.age == 0)
    let dog = Dog(value: ["weight": NSNull(), "age": Int16(4)] as [String: Any])
    #expect(dog.weight == nil && dog.age == 4 && dog.name == "Rex")
  }

  @Test func isMadeFromAnArray() {
    let person = Person(value: [7, "Ann", 30])
    #expect(person.id == 7 && person.name == "Ann" && person.age == 30)
    let nothing: Int? = nil
    let dog = Dog(value: ["Bo", 2, nothing as Any])
    #expect(dog.name == "Bo" && dog.weight == nil)
  }

  @Test func isMadeFromAnotherObject() {
    let person = Person(value: ["id": 1, "name": "Ann"])
    let copy = Person(value: person)
    #expect(copy.id == 1 && copy.name == "Ann" && copy != person)
    // Another class gives what has the same name.
    let dog = Dog(value: person)
    #expect(dog.name == "Ann" && dog.age == 0)
  }

  @Test func keyValueCoding() {
    let person = Person()
    person["name"] = "Bob"
    person.setValue(12, forKey: "age")
    #expect(person["name"] as? String == "Bob")
    #expect(person.value(forKey: "age") as? Int == 12)
    let sample = Sample()
    sample["optionalInt"] = 3
    #expect(sample.optionalInt == 3)
    sample["optionalInt"] = nil
    #expect(sample.optionalInt == nil && sample["optionalInt"] == nil)
  }

  @Test func numbersAreConverted() {
    let sample = Sample(value: [
      "int8": 5, "float": 1.5, "double": Float(2.5), "optionalDouble": 3, "bool": 1,
      "int64": NSNumber(value: 9),
    ])
    #expect(sample.int8 == 5 && sample.float == 1.5 && sample.double == 2.5)
    #expect(sample.optionalDouble == 3 && sample.bool && sample.int64 == 9)
  }

  @Test func describesItself() {
    let dog = Dog(value: ["weight": 5])
    #expect(dog.description == "Dog {\n\tname = Rex;\n\tage = 3;\n\tweight = 5;\n}")
    #expect(Dog().description.contains("weight = (null);"))
  }

  @Test func movesBetweenThreads() {
    let dog = Carried(Dog())
    onThread { dog.value.name = "Far" }
    #expect(dog.value.name == "Far")
  }

  // MARK: - Stops

  @Test func stopsOnAValueOfTheWrongType() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Person(value: ["age": "old"])
    }
    expectStop(result, "Invalid value 'old' of type 'String' for 'int' property 'Person.age'.")
    let tooLarge = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Sample(value: ["int8": 300])
    }
    expectStop(tooLarge, "Invalid value '300' of type 'Int' for 'int' property 'Sample.int8'.")
    let missing = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Person().setValue(nil, forKey: "name")
    }
    expectStop(missing, "Invalid value 'nil' for 'string' property 'Person.name'.")
  }

  @Test func stopsOnWrongInput() async {
    let long = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog(value: ["a", 1, 2, 3])
    }
    expectStop(long, "Invalid array input: more values (4) than properties (3).")
    let number = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog(value: 5)
    }
    expectStop(number, "Invalid value '5' to initialize object of type 'Dog'")
    let name = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog()["wings"]
    }
    expectStop(name, "Invalid property name 'wings' for class 'Dog'.")
  }

  @Test func cannotBeFrozenOrThawed() async {
    let frozen = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog().freeze()
    }
    expectStop(frozen, "Unmanaged objects cannot be frozen.")
    let thawed = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog().thaw()
    }
    expectStop(thawed, "Unmanaged objects cannot be thawed.")
  }
}
