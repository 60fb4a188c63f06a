// Projections: objects under other names.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Citizen: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int?
  @Persisted var home: Street?
  @Persisted var friends: List<Citizen>
  var nick: String { "always" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Street: EmbeddedObject {
  @Persisted var city: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class CitizenName: Projection<Citizen>, ObjectKeyIdentifiable {
  @Projected(\Citizen.name) var title
  @Projected(\Citizen.home?.city) var city
  @Projected(\Citizen.friends.projectTo.name) var friends: ProjectedCollection<String>
  @Projected(\Citizen.age) var age
}

private final class Wrong: Projection<Citizen> {
  @Projected(\Citizen.nick) var nick
}

@Suite(.ownThreads) struct ProjectionTests {
  private func citizens() throws -> Results<Citizen> {
    let realm = try memoryRealm([Citizen.self, Street.self])
    try realm.write {
      for (id, name) in ["Ann", "Bob", "Cid"].enumerated() {
        let citizen = realm.create(Citizen.self, value: ["id": id, "name": name])
        if id > 0 { citizen.home = Street(value: ["city": "C\(id)"]) }
        citizen.friends.append(objectsIn: realm.objects(Citizen.self))
      }
    }
    return realm.objects(Citizen.self)
  }

  @Test func showAnObject() throws {
    let citizens = try citizens()
    let realm = try #require(citizens.realm)
    let bob = CitizenName(projecting: citizens[1])
    #expect(bob.title == "Bob" && bob.city == "C1" && bob.age == nil)
    #expect(Array(bob.friends) == ["Ann", "Bob"] && bob.rootObject == citizens[1])
    #expect(CitizenName(projecting: citizens[0]).city == nil)
    try realm.write { bob.title = "Robert" }
    #expect(citizens[1].name == "Robert" && bob.realm == realm && !bob.isFrozen)
    #expect(
      bob == CitizenName(projecting: citizens[1]) && bob.hashValue == bob.freeze().thaw()?.hashValue
    )
    #expect(bob.description.contains("title = Robert;") && bob.description.contains("city = C1;"))
    #expect(bob.id == CitizenName(projecting: citizens[1].freeze()).id)
    let frozen = bob.freeze()
    try realm.write {
      bob.age = 5
      #expect(bob.age == 5)
    }
    #expect(frozen.isFrozen && frozen.age == nil && frozen.thaw()?.age == 5)
    try realm.write { realm.delete(citizens[1]) }
    #expect(bob.isInvalidated && frozen.thaw() == nil)
    let plain = CitizenName(projecting: Citizen(value: ["name": "plain"]))
    #expect(plain.title == "plain" && plain.realm == nil)
  }

  /// Loops and arrays go by an iterator, which other ways of reading do not use.
  @Test func areIterated() throws {
    let realm = try #require(try citizens().realm)
    var titles: [String] = []
    for name in realm.objects(CitizenName.self) { titles.append(name.title) }
    #expect(titles == ["Ann", "Bob", "Cid"])
    let sorted = realm.objects(CitizenName.self).sorted(byKeyPath: "name", ascending: false)
    #expect(Array(sorted).map(\.title) == ["Cid", "Bob", "Ann"])
    #expect(Array(sorted)[1].city == "C1")
  }

  @Test func projectedValuesAreSet() throws {
    let citizens = try citizens()
    let realm = try #require(citizens.realm)
    let friends = CitizenName(projecting: citizens[2]).friends
    try realm.write { friends[1] = "Eve" }
    #expect(Array(friends) == ["Ann", "Eve", "Cid"] && citizens[1].name == "Eve")
    #expect(friends.index(matching: NSPredicate(format: "name == 'Eve'")) == 1)
    let ages = citizens[2].friends.projectTo.age
    try realm.write { for position in ages.indices { ages[position] = position } }
    #expect(citizens.map(\.age) == [0, 1, 2])
  }

  @Test func areFetched() throws {
    let realm = try #require(try citizens().realm)
    let names = realm.objects(CitizenName.self)
    #expect(names.count == 3 && names.map(\.title) == ["Ann", "Bob", "Cid"])
    #expect(names.filter("age == nil AND home.city == 'C2'").first?.title == "Cid")
    #expect(
      names.sorted(byKeyPath: "name", ascending: false).map(\.title) == ["Cid", "Bob", "Ann"])
    #expect(names.index(of: names[2]) == 2 && names.last?.city == "C2")
    let frozen = names.freeze()
    try realm.write { realm.deleteAll() }
    #expect(names.isEmpty && frozen.map(\.title) == ["Ann", "Bob", "Cid"])
    #expect(frozen[0].isFrozen)
  }

  @Test func stops() async {
    let wrong = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Wrong(projecting: Citizen()) }
    expectStop(wrong, "@Projected property 'nick' must be a part of Realm object")
    let fixed = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try #require(try ProjectionTests().citizens().realm)
      try realm.write { realm.objects(CitizenName.self)[1].city = "x" }
      // A key path through an optional link cannot be written.
    }
    expectStop(fixed, "KeyPath is not writable")
  }
}
