// What the documentation of quick writes shows, as it shows it: the views without their bodies.
import Foundation
import RealmSwift
import TestSupport
import Testing

class DogToy: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name = ""
}

class FamilyDog: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: UUID
  @Persisted var name = ""
  @Persisted var breed = ""
  @Persisted var favoriteToy: DogToy?
}

class DogOwner: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var firstName = ""
  @Persisted var dogs: List<FamilyDog>
}

class StaffMember: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name = ""
  @Persisted var dogs: List<FamilyDog>
}

class Company: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var companyName = ""
  @Persisted var employees: List<StaffMember>
  @Persisted var dogs: List<FamilyDog>
}

@MainActor
private struct EditDogDetails {
  @ObservedRealmObject var dog: FamilyDog
  func type(_ text: String) { $dog.name.wrappedValue = text }
}

@MainActor
private struct AddDogToPersonView {
  @ObservedRealmObject var person: DogOwner
  @Binding var isInAddDogView: Bool
  var name = ""

  func save() {
    let dog = FamilyDog(value: ["name": name])
    $person.dogs.append(dog)
    isInAddDogView.toggle()
  }
}

@MainActor
private final class Flag {
  var isOn = true
  var binding: Binding<Bool> { Binding(get: { self.isOn }, set: { self.isOn = $0 }) }
}

@MainActor
@Suite(.ownThreads) struct DocumentedTests {
  private let folder = TemporaryFolder()
  private let configuration: Realm.Configuration
  private let realm: Realm

  init() throws {
    configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("dogs.realm")),
      objectTypes: [FamilyDog.self, DogToy.self, DogOwner.self, StaffMember.self, Company.self])
    realm = try Realm(configuration: configuration)
  }

  @Test func updateAnObjectsProperties() throws {
    let dog = try realm.write { realm.create(FamilyDog.self, value: ["name": "Rex"]) }
    let view = EditDogDetails(dog: dog)
    view.type("Max")
    #expect(dog.name == "Max" && view.dog.name == "Max" && !realm.isInWriteTransaction)
  }

  @Test func addOrRemoveObjectsInObservedResults() {
    @ObservedResults(FamilyDog.self, configuration: configuration) var dogs
    let onDelete: (IndexSet) -> Void = $dogs.remove
    $dogs.append(FamilyDog(value: ["name": "Bandido"]))
    $dogs.append(FamilyDog(value: ["name": "Rex"]))
    #expect(dogs.map(\.name) == ["Bandido", "Rex"])
    onDelete([0])
    #expect(realm.objects(FamilyDog.self).map(\.name) == ["Rex"])
  }

  @Test func appendAnObjectToAList() throws {
    let person = try realm.write { realm.create(DogOwner.self) }
    let flag = Flag()
    AddDogToPersonView(person: person, isInAddDogView: flag.binding, name: "Rex").save()
    #expect(person.dogs.map(\.name) == ["Rex"] && !flag.isOn)
  }

  @Test func useCreateToCopyAnObjectIntoTheRealm() throws {
    let person = try realm.write { realm.create(DogOwner.self) }
    @ObservedRealmObject var frozenPerson = person
    var other = configuration
    other.fileURL = URL(fileURLWithPath: folder.file("toys.realm"))
    let toys = try Realm(configuration: other)
    let wubba = try toys.write { toys.create(DogToy.self, value: ["name": "wubba"]) }
    let thawedPersonRealm = try #require(frozenPerson.thaw()?.realm)
    try thawedPersonRealm.write {
      let dog = thawedPersonRealm.create(
        FamilyDog.self, value: ["name": "Maui", "favoriteToy": wubba], update: .modified)
      $frozenPerson.dogs.append(dog)
    }
    #expect(person.dogs[0].favoriteToy?._id == wubba._id)
    #expect(person.dogs[0].favoriteToy?.realm == realm)
  }

  @Test func performAnExplicitWrite() throws {
    let company = try realm.write {
      realm.create(
        Company.self,
        value: [
          "employees": [["name": "Dachary"], ["name": "Ann"]],
          "dogs": [["name": "Maui"], ["name": "Rex"]],
        ])
    }
    @ObservedRealmObject var frozenCompany = company
    #expect(frozenCompany.isFrozen && frozenCompany.realm?.isFrozen == true)
    try performAnExplicitWrite(
      company: frozenCompany, employeeName: "Dachary", dogName: "Maui")
    #expect(frozenCompany.employees[0].dogs.map(\.name) == ["Maui"])
  }

  private func performAnExplicitWrite(
    company: Company, employeeName: String, dogName: String
  ) throws {
    let realm = company.realm!.thaw()
    let thawedCompany = company.thaw()!
    let thisEmployee = thawedCompany.employees.where { $0.name == employeeName }.first!
    let thisDog = thawedCompany.dogs.where { $0.name == dogName }.first!
    try realm.write { thisEmployee.dogs.append(thisDog) }
  }
}
