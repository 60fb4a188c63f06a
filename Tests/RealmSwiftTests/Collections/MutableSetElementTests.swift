// Elements of sets that belong to no Realm: found by equality alone, and with the same effort
// however many there are.
import Foundation
import RealmSwift
import Testing

private final class Stone: Object {
  @Persisted(primaryKey: true) var id: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  convenience init(_ id: Int) {
    self.init()
    self.id = id
  }
}

private final class Pebble: Object {
  @Persisted var weight: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  // Pebbles of one weight are one.
  override func isEqual(_ object: Any?) -> Bool { (object as? Pebble)?.weight == weight }
  override var hash: Int { weight }

  convenience init(_ weight: Int) {
    self.init()
    self.weight = weight
  }
}

/// A number that counts how often it is asked for what is stored.
private struct CountedElement: CustomPersistable, Hashable {
  static let lock = NSLock()
  nonisolated(unsafe) static var asked = 0

  let number: Int
  init(_ number: Int) { self.number = number }
  init(persistedValue: Int) { number = persistedValue }
  var persistableValue: Int {
    Self.lock.withLock { Self.asked += 1 }
    return number
  }
}

@Suite(.serialized) struct MutableSetElementTests {
  @Test func valuesAreNotLookedAtAgain() {
    func asked(_ count: Int) -> Int {
      let before = CountedElement.lock.withLock { CountedElement.asked }
      let set = MutableSet<CountedElement>()
      for number in 0..<count { set.insert(CountedElement(number)) }
      while let first = set.first { set.remove(first) }
      return CountedElement.lock.withLock { CountedElement.asked } - before
    }
    #expect(asked(2000) <= 2 * asked(1000) + 100)
  }

  /// What takes one time each may take 40 times as long for 10 times as many: it took 100 times.
  @Test func manyElements() {
    func time(_ count: Int) -> Duration {
      let clock = ContinuousClock()
      return clock.measure {
        let numbers = MutableSet<Int>()
        for number in 0..<count { numbers.insert(number) }
        while let first = numbers.first { numbers.remove(first) }
        let stones = MutableSet<Stone>()
        for number in 0..<count { stones.insert(Stone(number)) }
        while let first = stones.first { stones.remove(first) }
        let mixed = MutableSet<AnyRealmValue>()
        for number in 0..<count { mixed.insert(.object(Stone(number))) }
      }
    }
    let (few, many) = (time(2000), time(20_000))
    #expect(many < few * 40)
  }

  @Test func orderOfArrival() {
    let set = MutableSet<Int>()
    set.insert(objectsIn: [5, 3, 9, 3, 1])
    #expect(Array(set) == [5, 3, 9, 1])
    set.remove(5)
    #expect(Array(set) == [1, 3, 9])
    let stones = [Stone(5), Stone(3), Stone(9)]
    let other = MutableSet<Stone>()
    other.insert(objectsIn: stones + stones)
    #expect(other.map(\.id) == [5, 3, 9])
    other.remove(stones[0])
    #expect(other.map(\.id) == [9, 3] && !other.contains(stones[0]) && other.contains(stones[2]))
  }

  @Test func objectsThatBecomeManaged() throws {
    let realm = try memoryRealm([Stone.self])
    let set = MutableSet<Stone>()
    let mixed = MutableSet<AnyRealmValue>()
    let stones = (0..<50).map { Stone($0) }
    for stone in stones {
      set.insert(stone)
      mixed.insert(.object(stone))
    }
    try realm.write { realm.add(stones) }
    let found = realm.objects(Stone.self)
    #expect(found.allSatisfy { set.contains($0) && mixed.contains(.object($0)) })
    set.insert(objectsIn: found)
    for stone in found { mixed.insert(.object(stone)) }
    #expect(set.count == 50 && mixed.count == 50)
    for stone in found where stone.id % 2 == 0 { set.remove(stone) }
    #expect(set.count == 25 && found.allSatisfy { set.contains($0) == ($0.id % 2 == 1) })
    let late = Stone(100)
    set.insert(late)
    #expect(!set.contains(Stone(100)) && set.contains(late))
    try realm.write { realm.add(late) }
    let accessor = try #require(realm.object(ofType: Stone.self, forPrimaryKey: 100))
    #expect(set.contains(accessor))
    set.remove(accessor)
    #expect(set.count == 25 && !set.contains(late))
  }

  @Test func objectsWithAnEqualityOfTheirOwn() {
    let set = MutableSet<Pebble>()
    set.insert(objectsIn: [Pebble(1), Pebble(2), Pebble(1)])
    #expect(set.count == 2 && set.contains(Pebble(2)) && !set.contains(Pebble(3)))
    set.remove(Pebble(1))
    #expect(set.map(\.weight) == [2])
  }
}
