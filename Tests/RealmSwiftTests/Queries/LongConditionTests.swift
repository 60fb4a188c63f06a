// Conditions of very many parts, and of parts deep inside of each other, on threads with little
// stack: the number of parts costs time and memory with it, and no stack.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// A condition on a number, to be asked of Swift, of `where`, of a format and of a predicate.
private indirect enum Shape {
  case weight(Int)
  case and([Shape])
  case or([Shape])
  case not(Shape)

  func holds(_ value: Int) -> Bool {
    switch self {
    case .weight(let remainder): return value % 7 == remainder
    case .and(let parts): return parts.allSatisfy { $0.holds(value) }
    case .or(let parts): return parts.contains { $0.holds(value) }
    case .not(let part): return !part.holds(value)
    }
  }

  func query(_ dog: Query<Dog>) -> Query<Bool> {
    switch self {
    case .weight(let remainder): return dog.weight == remainder
    case .and(let parts):
      return parts.dropFirst().reduce(parts[0].query(dog)) { $0 && $1.query(dog) }
    case .or(let parts):
      return parts.dropFirst().reduce(parts[0].query(dog)) { $0 || $1.query(dog) }
    case .not(let part): return !part.query(dog)
    }
  }

  var format: String {
    switch self {
    case .weight(let remainder): return "weight == \(remainder)"
    case .and(let parts): return parts.map { "(\($0.format))" }.joined(separator: " AND ")
    case .or(let parts): return parts.map { "(\($0.format))" }.joined(separator: " OR ")
    case .not(let part): return "NOT (\(part.format))"
    }
  }

  var predicate: NSPredicate {
    switch self {
    case .weight(let remainder): return NSPredicate(format: "weight == %d", remainder)
    case .and(let parts):
      return NSCompoundPredicate(andPredicateWithSubpredicates: parts.map(\.predicate))
    case .or(let parts):
      return NSCompoundPredicate(orPredicateWithSubpredicates: parts.map(\.predicate))
    case .not(let part): return NSCompoundPredicate(notPredicateWithSubpredicate: part.predicate)
    }
  }

  static func random(_ depth: Int, _ generator: inout some RandomNumberGenerator) -> Shape {
    if depth == 0 { return .weight(.random(in: 0..<7, using: &generator)) }
    // One of the parts is deep, the others need not be.
    let others = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
      random(.random(in: 0...1, using: &generator) * min(depth - 1, 2), &generator)
    }
    let parts = ([random(depth - 1, &generator)] + others).shuffled(using: &generator)
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: return .and(parts)
    case 1: return .or(parts)
    default: return .not(parts[0])
    }
  }
}

/// A Realm with dogs whose weights are the remainders of their ages by seven.
private func realmOfDogs(_ count: Int = 100) throws -> Realm {
  let realm = try memoryRealm()
  try realm.write {
    for age in 0..<count { realm.create(Dog.self, value: ["age": age, "weight": age % 7]) }
  }
  return realm
}

@Suite(.ownThreads) struct LongConditionTests {
  private static let many = amount(100_000, debug: 30_000)

  /// Runs a body with a Realm of a hundred dogs on a thread with little stack.
  private func withDogs(_ body: @escaping @Sendable (Results<Dog>) throws -> Void) {
    onSmallStack {
      do {
        let realm = try realmOfDogs()
        try body(realm.objects(Dog.self))
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test func joinedOneByOne() {
    withDogs { dogs in
      let any = dogs.where { dog in
        (1..<Self.many).reduce(dog.age == 0) { $0 || dog.age == 2 * $1 }
      }
      #expect(any.count == 50)
      let all = dogs.where { dog in
        (1..<Self.many).reduce(dog.age != 0) { $0 && dog.age != 2 * $1 }
      }
      #expect(all.count == 50 && all.first?.age == 1)
    }
  }

  @Test func joinedFromTheRight() {
    withDogs { dogs in
      let any = dogs.where { dog in
        (1..<Self.many).reduce(dog.age == 0) { dog.age == 2 * $1 || $0 }
      }
      #expect(any.count == 50)
      let halves = dogs.where { dog in
        let left = (0..<1_000).map { dog.age == 3 * $0 }
        let right = (0..<1_000).map { dog.age == 3 * $0 + 1 }
        return left.dropFirst().reduce(left[0]) { $0 || $1 }
          || right.dropFirst().reduce(right[0]) { $0 || $1 }
      }
      #expect(halves.count == 67)
    }
  }

  @Test func textsOfManyParts() {
    withDogs { dogs in
      let terms = (0..<Self.many).map { "age == \(2 * $0)" }.joined(separator: " OR ")
      #expect(dogs.filter(terms).count == 50)
      let brackets =
        String(repeating: "(", count: Self.many) + "age == 3"
        + String(repeating: ")", count: Self.many)
      #expect(dogs.filter(brackets).first?.age == 3)
      #expect(dogs.filter("age == " + brackets.replacing("age == ", with: "")).first?.age == 3)
      // As `_constructPredicate` writes what was joined one by one.
      let (text, arguments) = (1..<Self.many).reduce(Query<Dog>._constructForTesting().age == 0) {
        $0 || Query<Dog>._constructForTesting().age == 2 * $1
      }._constructPredicate()
      #expect(text.hasPrefix("((((((((") && text.hasSuffix(" || (age == %@))"))
      let predicate = NSPredicate(format: text, argumentArray: arguments)
      #expect(dogs.filter(predicate).count == 50)
      let dog = Dog(value: ["age": 12])
      #expect(predicate.evaluate(with: dog))
    }
  }

  /// What is in brackets, one behind the other: each is read once.
  @Test func textsOfManyBrackets() {
    withDogs { dogs in
      for joint in [" AND ", " OR "] {
        let text = (0..<Self.many).map { "(age == \(2 * $0 + 1) OR weight >= 0)" }
          .joined(separator: joint)
        #expect(dogs.filter("age < 50 AND (" + text + ")").count == 50)
        #expect(dogs.filter(text).count == 100, "\(joint)")
      }
    }
  }

  @Test func chainsOfFilters() {
    withDogs { dogs in
      let start = MonotonicClock().nanoseconds()
      let formats = (0..<20_000).reduce(dogs) { $0.filter("age != %@", 2 * $1) }
      #expect(formats.count == 50 && formats.last?.age == 99)
      let closures = (0..<20_000).reduce(dogs) { dogs, index in
        dogs.where { $0.age != 2 * index }
      }
      #expect(closures.sorted(byKeyPath: "age", ascending: false).first?.age == 99)
      // Time that grows with the square of the length would be an hour.
      #expect(MonotonicClock().nanoseconds() - start < 60_000_000_000)
      _ = closures.explain()
    }
  }

  @Test func compoundsInsideOfCompounds() {
    withDogs { dogs in
      var same: NSPredicate = NSPredicate(format: "age == 0")
      for age in 1..<500 {
        same = NSCompoundPredicate(
          orPredicateWithSubpredicates: [NSPredicate(format: "age == %d", 2 * age), same])
      }
      #expect(dogs.filter(same).count == 50)
      let flat = NSCompoundPredicate(
        orPredicateWithSubpredicates: (0..<Self.many).map {
          NSPredicate(format: "age == %d", 2 * $0)
        })
      #expect(dogs.filter(flat).count == 50)
    }
  }

  @Test func asDeepAsAllowed() {
    withDogs { dogs in
      // Every part but the first adds one: AND and OR by turns, then the opposites.
      let alternating = dogs.where { dog in
        (1..<1_000).reduce(dog.age == 0) { index, next in
          next.isMultiple(of: 2) ? index && dog.age != next : index || dog.age == next
        }
      }
      #expect(alternating.count == 51 && alternating.first?.age == 0)
      let opposites = dogs.where { dog in (0..<1_000).reduce(dog.age == 5) { query, _ in !query } }
      #expect(opposites.count == 1)
      #expect(dogs.filter(String(repeating: "NOT ", count: 999) + "age == 5").count == 99)
      let explained = opposites.explain()
      #expect(explained.contains("deep inside of each other"))
    }
  }

  @Test func tooDeep() async {
    let message = "The parts of a condition can be at most 1000 deep inside of each other."
    let closure = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().objects(Dog.self).where { dog in
        (0..<1_001).reduce(dog.age == 5) { query, _ in !query }
      }
    }
    expectStop(closure, message)
    let format = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let text = String(repeating: "NOT (", count: 100_000) + "age == 5"
      _ = try memoryRealm().objects(Dog.self).filter(
        text + String(repeating: ")", count: 100_000))
    }
    expectStop(format, message)
    let compound = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var predicate = NSPredicate(format: "age == 5")
      for _ in 0..<1_001 {
        predicate = NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
      }
      _ = try memoryRealm().objects(Dog.self).filter(predicate)
    }
    expectStop(compound, message)
    let subqueries = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let count = 10_000
      let text = (0..<count).reduce("") { text, index in
        text + "SUBQUERY(\(index == 0 ? "" : "$x\(index - 1).")dogs, $x\(index), "
      }
      _ = try memoryRealm().objects(Dog.self).filter(text)
    }
    expectStop(subqueries, "at most 50 SUBQUERYs can be inside of each other")
    let braces = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().objects(Dog.self).filter(
        "age IN " + String(repeating: "{", count: 100_000))
    }
    expectStop(braces, "only values can stand between { and }")
    let path = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().objects(Dog.self).filter(
        String(repeating: "a.", count: 100_000) + "b == 1")
    }
    expectStop(path, "A key path can have at most 1000 steps")
  }

  @Test func randomShapesFindWhatSwiftFinds() async {
    await withSeeds(3) { random in
      let dogs = try realmOfDogs().objects(Dog.self)
      for depth in [1, 3, 7, 8, 9, 10, 20, 60] {
        let shape = Shape.random(depth, &random)
        let expected = (0..<100).filter { shape.holds($0) }
        #expect(dogs.where { shape.query($0) }.map(\.age) == expected, "depth \(depth)")
        #expect(dogs.filter(shape.format).map(\.age) == expected, "depth \(depth)")
        #expect(dogs.filter(shape.predicate).map(\.age) == expected, "depth \(depth)")
        // One by one: of `contains`, and without a Realm.
        let found = dogs.where { shape.query($0) }
        #expect(dogs.filter { found.contains($0) }.map(\.age) == expected, "depth \(depth)")
        let predicate = NSPredicate(format: shape.format)
        let unmanaged = (0..<100).map { Dog(value: ["weight": $0 % 7]) }
        #expect(
          unmanaged.indices.filter { predicate.evaluate(with: unmanaged[$0]) } == expected,
          "depth \(depth)")
      }
    }
  }
}
