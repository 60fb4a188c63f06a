// Frozen objects, collections and Realms show one version for ever and may be used anywhere. To
// change something, thaw it.
import Dispatch
import Foundation
import RealmSwift

let folder = try useTemporaryFolder()
defer { try? FileManager.default.removeItem(at: folder) }

func run() throws {
  let realm = try Realm()
  try realm.write {
    realm.add(Person(value: ["name": "Timmy"]))
    realm.add(Dog(value: ["name": "Lassie", "age": 3]))
  }

  // An immutable form that every thread may read.
  let frozenRealm = realm.freeze()
  assert(frozenRealm.isFrozen)
  let people = realm.objects(Person.self)
  let frozenPeople = people.freeze()
  assert(frozenPeople.isFrozen && frozenRealm.objects(Person.self).isFrozen)
  let person = people.first!
  assert(!person.realm!.isFrozen)
  let frozenPerson = person.freeze()
  assert(frozenPerson.isFrozen && frozenPerson.realm!.isFrozen)

  try realm.write { person.name = "Tim" }
  // `Frozen` says to the compiler what `isFrozen` says at run time.
  let carried = Frozen(frozenPeople)
  DispatchQueue.concurrentPerform(iterations: 4) { _ in
    assert(carried.value.first!.name == "Timmy")
  }
  print("frozen: \(frozenPerson.name), live: \(person.name)")

  // To change it, thaw it; its Realm is live then too.
  let thawedPerson = frozenPeople.first!.thaw()
  assert(thawedPerson?.isInvalidated == false && thawedPerson!.realm!.isFrozen == false)
  try thawedPerson!.realm!.write { thawedPerson!.name = "John Michael Kane" }
  print("changed: \(person.name)")

  // Thaw the list and what is to be appended.
  let frozenTimmy = frozenRealm.objects(Person.self).where { $0.name == "Timmy" }.first!
  let frozenLassie = frozenRealm.objects(Dog.self).where { $0.name == "Lassie" }.first!
  let thawedTimmy = frozenTimmy.thaw()
  let thawedLassie = frozenLassie.thaw()
  try realm.write { thawedTimmy?.dogs.append(thawedLassie!) }
  print("appended: \(thawedTimmy?.dogs.first?.name ?? "nothing")")

  // Which versions the file keeps, and since when.
  for version in try realm.activeVersions() {
    print("version \(version.version) is kept\(version.isNewest ? ", the newest one" : "")")
  }
  guard thawedTimmy?.dogs.first?.name == "Lassie", frozenTimmy.dogs.isEmpty else { exit(1) }
}

try run()
