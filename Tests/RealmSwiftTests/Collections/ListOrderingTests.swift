// Lists that are sorted, reversed and shuffled: of every kind as an array would be, also those of
// embedded objects, which can only be moved.
import Platform
import RealmSwift
import TestSupport
import Testing

private final class RouteStep: EmbeddedObject {
  @Persisted var number: Int

  override static func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class RouteStop: Object {
  @Persisted var number: Int

  override static func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class OrderedRoute: Object {
  @Persisted var numbers: List<Int>
  @Persisted var steps: List<RouteStep>
  @Persisted var stops: List<RouteStop>
  @Persisted var values: List<AnyRealmValue>
  @Persisted var content: AnyRealmValue

  override static func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct ListOrderingTests {
  private func route() throws -> (Realm, OrderedRoute) {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "ordering-\(systemRandom())",
        objectTypes: [OrderedRoute.self, RouteStep.self, RouteStop.self]))
    return (realm, try realm.write { realm.create(OrderedRoute.self) })
  }

  /// Random orders of one list, beside those of an array.
  private func compare<Element: RealmCollectionValue>(
    _ realm: Realm, _ list: List<Element>, _ random: inout RandomGenerator,
    _ make: (Int) -> Element, _ number: (Element) -> Int
  ) throws {
    var list = list
    for count in [0, 1, 2, 7, 40] {
      var model = (0..<count).map { _ in Int.random(in: 0..<20, using: &random) }
      try realm.write {
        list.removeAll()
        list.append(objectsIn: model.map(make))
      }
      for _ in 0..<6 {
        try realm.write {
          switch Int.random(in: 0..<5, using: &random) {
          case 0:
            list.sort { number($0) < number($1) }
            model.sort()
          case 1:
            list.reverse()
            model.reverse()
          case 2:
            var other = random
            list.shuffle(using: &random)
            model.shuffle(using: &other)
          case 3:
            // Equal ones stay in their order.
            list.sort { number($0) / 5 > number($1) / 5 }
            model.sort { $0 / 5 > $1 / 5 }
          default:
            list.shuffle()
            let shuffled = list.map(number)
            #expect(shuffled.sorted() == model.sorted())
            model = shuffled
          }
        }
        #expect(list.map(number) == model)
      }
    }
  }

  @Test func everyKindIsOrderedAsAnArray() async {
    await withSeeds { random in
      let (realm, route) = try route()
      try compare(realm, route.numbers, &random, { $0 }, { $0 })
      try compare(realm, route.stops, &random, { RouteStop(value: [$0]) }, { $0.number })
      try compare(realm, route.steps, &random, { RouteStep(value: [$0]) }, { $0.number })
      try compare(realm, route.values, &random, { .int($0) }, { $0.intValue! })
      try realm.write { route.content = .fromArray([]) }
      let nested = try #require(route.content.listValue)
      try compare(realm, nested, &random, { .int($0) }, { $0.intValue! })
      try compare(realm, List<Int>(), &random, { $0 }, { $0 })
    }
  }

  /// The objects are the same ones afterwards: who holds one, and what observes it, goes on.
  @Test func embeddedObjectsAreMoved() throws {
    let (realm, route) = try route()
    try realm.write { route.steps.append(objectsIn: [3, 1, 2].map { RouteStep(value: [$0]) }) }
    let three = route.steps[0]
    try realm.write { route.steps.sort { $0.number < $1.number } }
    #expect(route.steps.map(\.number) == [1, 2, 3])
    #expect(!three.isInvalidated && route.steps[2].isSameObject(as: three))
    try realm.write { route.steps.reverse() }
    #expect(route.steps[0].isSameObject(as: three))
  }

  @Test func nothingHasChangedAfterAnError() throws {
    struct Refused: Error {}
    let (realm, route) = try route()
    try realm.write {
      route.numbers.append(objectsIn: [3, 1, 2])
      var calls = 0
      #expect(throws: Refused.self) {
        try route.numbers.sort { left, right in
          calls += 1
          if calls == 2 { throw Refused() }
          return left < right
        }
      }
    }
    #expect(Array(route.numbers) == [3, 1, 2])
  }
}
