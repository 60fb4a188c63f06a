// What queries find, against the same conditions in plain Swift on the same objects.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct QueryTests {
  /// A Realm with random things, some of them deleted again, over several clusters.
  private func filled(_ count: Int, _ random: inout RandomGenerator) throws -> Realm {
    let realm = try memoryRealm([Thing.self])
    var things: [Thing] = []
    for id in 0..<count { things.append(Thing.random(id, &random)) }
    try realm.write { realm.add(things) }
    try realm.write {
      for thing in things where random.next() % 5 == 0 { realm.delete(thing) }
    }
    return realm
  }

  private func check(_ cases: [QueryCase<Thing>], _ realm: Realm) {
    let all = realm.objects(Thing.self)
    for item in cases {
      let expected = Array(all.filter(item.plain).map(\.id))
      let typed = Array(all.where(item.typed).map(\.id))
      #expect(typed == expected, "where: \(item.format)")
      #expect(typed.count == expected.count)
      let predicate = NSPredicate(format: item.format, argumentArray: item.arguments)
      #expect(Array(all.filter(predicate).map(\.id)) == expected, "filter: \(item.format)")
      // The text of the type-safe form means the same.
      let (format, arguments) = item.typed(Query<Thing>._constructForTesting())
        ._constructPredicate()
      let again = NSPredicate(format: format, argumentArray: arguments)
      #expect(Array(all.filter(again).map(\.id)) == expected, "text: \(format)")
      #expect(all.index(matching: predicate) == all.firstIndex(where: item.plain))
    }
  }

  @Test func findWhatSwiftFinds() async throws {
    await withSeeds(3) { random in
      let realm = try filled(700, &random)
      check(QueryCase<Thing>.all, realm)
    }
  }

  @Test func findInSmallAndEmptyTables() async throws {
    await withSeeds(2) { random in
      for count in [0, 1, 3] { check(QueryCase<Thing>.all, try filled(count, &random)) }
    }
  }

  @Test func findInChangesOfARunningTransaction() async throws {
    await withSeeds(2) { random in
      let realm = try filled(300, &random)
      realm.beginWrite()
      for thing in realm.objects(Thing.self) where random.next() % 3 == 0 {
        let other = Thing.random(0, &random)
        thing.int = other.int
        thing.optInt = other.optInt
        thing.string = other.string
        thing.double = other.double
      }
      check(QueryCase<Thing>.all, realm)
      realm.cancelWrite()
      check(QueryCase<Thing>.all, realm)
    }
  }

  @Test func randomCombinations() async throws {
    await withSeeds(5) { random in
      let realm = try filled(400, &random)
      let all = realm.objects(Thing.self)
      let cases = QueryCase<Thing>.all
      for _ in 0..<60 {
        var typed = cases[0].typed
        var plain = cases[0].plain
        for _ in 0..<Int(random.next() % 5) {
          let item = cases[Int(random.next() % UInt64(cases.count))]
          let (leftTyped, leftPlain) = (typed, plain)
          switch random.next() % 3 {
          case 0:
            typed = { leftTyped($0) && item.typed($0) }
            plain = { leftPlain($0) && item.plain($0) }
          case 1:
            typed = { leftTyped($0) || item.typed($0) }
            plain = { leftPlain($0) || item.plain($0) }
          default:
            typed = { !(leftTyped($0) || !item.typed($0)) }
            plain = { !(leftPlain($0) || !item.plain($0)) }
          }
        }
        let (format, _) = typed(Query<Thing>._constructForTesting())._constructPredicate()
        let expected = Array(all.filter(plain).map(\.id))
        #expect(Array(all.where(typed).map(\.id)) == expected, "\(format)")
        // A chain of conditions is their conjunction.
        let next = cases[Int(random.next() % UInt64(cases.count))]
        #expect(
          Array(all.where(typed).where(next.typed).map(\.id))
            == Array(all.filter { plain($0) && next.plain($0) }.map(\.id)),
          "\(format) + \(next.format)")
      }
    }
  }

  @Test func constants() throws {
    let realm = try memoryRealm()
    try realm.write { realm.add([Dog(), Dog()]) }
    let dogs = realm.objects(Dog.self)
    #expect(dogs.filter("TRUEPREDICATE").count == 2)
    #expect(dogs.filter("FALSEPREDICATE").isEmpty)
    #expect(dogs.filter(NSPredicate(value: true)).count == 2)
    #expect(dogs.filter(NSPredicate(value: false)).isEmpty)
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSPredicate(format: "name == %@", "Rex"), NSPredicate(format: "age > 2"),
    ])
    #expect(dogs.filter(both).count == 2)
    #expect(
      dogs.filter(NSCompoundPredicate(notPredicateWithSubpredicate: both)).isEmpty)
  }

  @Test func integersAndFractions() throws {
    let realm = try memoryRealm()
    try realm.write { realm.add((0..<5).map { Dog(value: ["age": $0]) }) }
    let dogs = realm.objects(Dog.self)
    #expect(dogs.filter("age > 2.5").map(\.age).elementsEqual([3, 4]))
    #expect(dogs.filter("age == 2.5").isEmpty)
    #expect(dogs.filter("age == %@", 2.0).map(\.age).elementsEqual([2]))
    #expect(dogs.filter("age != 2.5").count == 5)
    #expect(dogs.filter("age < 1e30").count == 5)
    #expect(dogs.filter("%@ < age", 3).map(\.age).elementsEqual([4]))
  }
}
