// Queries through links and collections, against plain Swift; and queries on collections
// themselves.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct LinkQueryTests {
  private func filled(_ count: Int, _ random: inout RandomGenerator) throws -> Realm {
    let realm = try memoryRealm([Keeper.self, Pet.self])
    try realm.addKeepers(count, &random)
    return realm
  }

  private func check(_ cases: [QueryCase<Keeper>], _ realm: Realm) {
    let all = realm.objects(Keeper.self)
    for item in cases {
      let expected = Array(all.filter(item.plain).map(\.id))
      #expect(
        Array(all.where(item.typed).map(\.id)) == expected, "where: \(item.format)")
      let predicate = NSPredicate(format: item.format, argumentArray: item.arguments)
      #expect(Array(all.filter(predicate).map(\.id)) == expected, "filter: \(item.format)")
      let (format, arguments) = item.typed(Query<Keeper>._constructForTesting())
        ._constructPredicate()
      let again = NSPredicate(format: format, argumentArray: arguments)
      #expect(Array(all.filter(again).map(\.id)) == expected, "text: \(format)")
    }
  }

  @Test func throughLinks() async throws {
    await withSeeds(3) { random in
      check(QueryCase<Keeper>.links, try filled(300, &random))
    }
  }

  @Test func throughLists() async throws {
    await withSeeds(3) { random in
      check(QueryCase<Keeper>.lists, try filled(300, &random))
    }
  }

  @Test func valuesOfLists() async throws {
    await withSeeds(3) { random in
      check(QueryCase<Keeper>.values, try filled(300, &random))
    }
  }

  @Test func throughLinkingObjects() async throws {
    await withSeeds(3) { random in
      check(QueryCase<Keeper>.backlinks, try filled(300, &random))
    }
  }

  @Test func objectsAsValues() async throws {
    await withSeeds(2) { random in
      let realm = try filled(60, &random)
      let all = realm.objects(Keeper.self)
      for pet in realm.objects(Pet.self).prefix(10) {
        let favoured = Array(all.filter { $0.favourite?.id == pet.id }.map(\.id))
        #expect(Array(all.where { $0.favourite == pet }.map(\.id)) == favoured)
        #expect(Array(all.filter("favourite == %@", pet).map(\.id)) == favoured)
        #expect(all.where { $0.favourite != pet }.count == all.count - favoured.count)
        let owners = Array(all.filter { $0.pets.contains { $0.id == pet.id } }.map(\.id))
        #expect(Array(all.where { $0.pets.contains(pet) }.map(\.id)) == owners)
        #expect(Array(all.filter("%@ IN pets", pet).map(\.id)) == owners)
        #expect(Array(all.filter("ANY pets == %@", pet).map(\.id)) == owners)
        #expect(Array(all.where { $0.pets.containsAny(in: [pet]) }.map(\.id)) == owners)
      }
    }
  }

  @Test func allElements() async throws {
    await withSeeds(2) { random in
      let all = try filled(200, &random).objects(Keeper.self)
      #expect(
        Array(all.filter("ALL pets.age > 1").map(\.id))
          == Array(all.filter { $0.pets.allSatisfy { $0.age > 1 } }.map(\.id)))
      #expect(
        Array(all.filter("ALL numbers >= 0").map(\.id))
          == Array(all.filter { $0.numbers.allSatisfy { $0 >= 0 } }.map(\.id)))
    }
  }

  @Test func queriesOnCollections() async throws {
    await withSeeds(2) { random in
      let realm = try filled(100, &random)
      for keeper in realm.objects(Keeper.self) {
        #expect(
          Array(keeper.pets.where { $0.age > 2 }.map(\.id))
            == Array(keeper.pets.filter { $0.age > 2 }.map(\.id)))
        #expect(
          Array(keeper.team.filter("name == 'Ann'").map(\.id))
            == Array(keeper.team.filter { $0.name == "Ann" }.map(\.id)))
        #expect(
          Array(keeper.pets.sorted(byKeyPath: "age").map(\.age)) == keeper.pets.map(\.age).sorted())
        #expect(Array(keeper.numbers.sorted(ascending: true)) == Array(keeper.numbers).sorted())
        #expect(
          Array(keeper.numbers.sorted(ascending: false)) == Array(keeper.numbers).sorted(by: >))
        #expect(Set(keeper.numbers.distinct()) == Set(keeper.numbers))
        #expect(keeper.numbers.distinct().count == Set(keeper.numbers).count)
        #expect(
          Array(keeper.numbers.where { $0 > 0 }) == Array(keeper.numbers.filter { $0 > 0 }))
        #expect(
          Array(keeper.numbers.filter("SELF == 2")) == Array(keeper.numbers.filter { $0 == 2 }))
        #expect(keeper.numbers.min() == Array(keeper.numbers).min())
        #expect(keeper.numbers.max() == Array(keeper.numbers).max())
        #expect(keeper.numbers.sum() == Array(keeper.numbers).reduce(0, +))
        #expect(keeper.pets.sum(of: \.age) == keeper.pets.map(\.age).reduce(0, +))
        #expect(keeper.pets.max(ofProperty: "age") == keeper.pets.map(\.age).max())
      }
    }
  }

  @Test func sortedThroughLinks() async throws {
    await withSeeds(3) { random in
      let realm = try filled(200, &random)
      let all = realm.objects(Keeper.self)
      let sorted = all.sorted(by: [
        SortDescriptor(keyPath: "favourite.age", ascending: false), "boss.name",
        SortDescriptor(keyPath: \Keeper.id),
      ])
      let expected = Array(all).sorted { left, right in
        let ages = (left.favourite?.age ?? -1, right.favourite?.age ?? -1)
        if ages.0 != ages.1 { return ages.0 > ages.1 }
        let names = (left.boss?.name, right.boss?.name)
        if names.0 != names.1 {
          guard let first = names.0 else { return true }
          guard let second = names.1 else { return false }
          return isLess(first, second)
        }
        return left.id < right.id
      }
      #expect(Array(sorted.map(\.id)) == expected.map(\.id))
    }
  }

  @Test func followLinkedObjects() throws {
    let realm = try memoryRealm([Keeper.self, Pet.self])
    let happy = realm.objects(Keeper.self).where { $0.favourite.age == 1 }
    let many = realm.objects(Keeper.self).where { $0.pets.count > 1 }
    try realm.write {
      let keeper = realm.create(Keeper.self, value: ["id": 1])
      let pet = realm.create(Pet.self, value: ["id": 1])
      keeper.favourite = pet
      #expect(happy.isEmpty)
      pet.age = 1
      #expect(happy.count == 1)
      keeper.pets.append(pet)
      #expect(many.isEmpty)
      keeper.pets.append(pet)
      #expect(many.count == 1)
      realm.delete(pet)
      #expect(many.isEmpty && happy.isEmpty)
    }
  }
}
