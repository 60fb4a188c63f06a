// Random transactions against plain dictionaries: one dictionary a version, frozen snapshots
// compared with the dictionary of their version, rollbacks, refreshes on another Realm, and
// reopening.
import Foundation
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

/// What the model knows of a `Person`, by primary key.
private struct Expected: Equatable {
  var name = ""
  var age = 0
  var score = 0.0
  var payload = Data()
}

/// A Realm and what it has to hold.
private struct Model {
  let configuration: Realm.Configuration
  var realm: Realm
  var current: [Int: Expected] = [:]
  /// Keys in the order in which they were added.
  var order: [Int] = []
  /// Dogs have no key: a list in the order of adding.
  var dogs: [String] = []
  var frozen: [(realm: Realm, state: [Int: Expected], order: [Int], dogs: [String])] = []
  /// Accessors that were kept from earlier, by key.
  var held: [Int: Person] = [:]

  init(_ configuration: Realm.Configuration) throws {
    self.configuration = configuration
    realm = try Realm(configuration: configuration)
  }

  // MARK: - Steps

  mutating func step(_ random: inout RandomGenerator) throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<12: try transaction(&random, commits: true)
    case 12..<15: try transaction(&random, commits: false)
    case 15, 16:
      frozen.append((realm.freeze(), current, order, dogs))
      if frozen.count > 6 { frozen.remove(at: Int.random(in: 0..<6, using: &random)) }
    case 17: try changeElsewhere(&random)
    case 18: try reopen(&random)
    default:
      for version in frozen {
        try expect(version.realm, version.state, version.order, version.dogs)
      }
    }
  }

  private mutating func transaction(_ random: inout RandomGenerator, commits: Bool) throws {
    let before = (current, order, dogs, held)
    realm.beginWrite()
    for _ in 0..<Int.random(in: 1...60, using: &random) { change(realm, &random) }
    if Int.random(in: 0..<4, using: &random) == 0 { try expect(realm, current, order, dogs) }
    if commits {
      try realm.commitWrite()
    } else {
      realm.cancelWrite()
      // Objects added by the transaction are gone, those that it deleted are back.
      (current, order, dogs, held) = before
    }
    for (key, person) in held {
      #expect(person.isInvalidated == (current[key] == nil))
      if person.isInvalidated {
        held[key] = nil
      } else if let expected = current[key] {
        #expect(person.id == key && person.name == expected.name && person.age == expected.age)
      }
    }
    try expect(realm, current, order, dogs)
  }

  private mutating func change(_ realm: Realm, _ random: inout RandomGenerator) {
    let id = Int.random(in: -300..<300, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<35:
      guard current[id] == nil else { return }
      let expected = Self.someValues(&random)
      let person = Person()
      person.id = id
      person.name = expected.name
      person.age = expected.age
      person.score = expected.score
      person.payload = expected.payload
      realm.add(person)
      if Int.random(in: 0..<10, using: &random) == 0 { held[id] = person }
      current[id] = expected
      order.append(id)
    case 35..<60:
      guard var expected = current[id] else { return }
      let person = realm.object(ofType: Person.self, forPrimaryKey: id)!
      let values = Self.someValues(&random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: (person.name, expected.name) = (values.name, values.name)
      case 1: (person.age, expected.age) = (values.age, values.age)
      case 2: (person.score, expected.score) = (values.score, values.score)
      default: (person.payload, expected.payload) = (values.payload, values.payload)
      }
      current[id] = expected
      if Int.random(in: 0..<10, using: &random) == 0 { held[id] = person }
    case 60..<72:
      let values = Self.someValues(&random)
      let update: Realm.UpdatePolicy = Bool.random(using: &random) ? .all : .modified
      realm.create(
        Person.self, value: ["id": id, "name": values.name, "age": values.age], update: update)
      var expected = current[id] ?? Expected()
      if current[id] == nil { order.append(id) }
      (expected.name, expected.age) = (values.name, values.age)
      current[id] = expected
    case 72..<88:
      guard let person = realm.object(ofType: Person.self, forPrimaryKey: id) else {
        #expect(current[id] == nil)
        return
      }
      realm.delete(person)
      held[id] = nil
      current[id] = nil
      order.removeAll { $0 == id }
    case 88..<94:
      let name = "dog \(id)"
      realm.create(
        Dog.self, value: ["name": name, "weight": id % 3 == 0 ? NSNull() : id] as [String: Any])
      dogs.append(name)
    case 94..<98:
      guard !dogs.isEmpty else { return }
      let position = Int.random(in: 0..<dogs.count, using: &random)
      realm.delete(realm.objects(Dog.self)[position])
      dogs.remove(at: position)
    default:
      guard Int.random(in: 0..<10, using: &random) == 0 else { return }
      realm.delete(realm.objects(Person.self))
      current = [:]
      order = []
      held = [:]
    }
  }

  /// A commit by another thread; this Realm must not see it before it refreshes.
  private mutating func changeElsewhere(_ random: inout RandomGenerator) throws {
    var copy = self
    copy.held = [:]
    let before = (current, order, dogs)
    let seed = random.next()
    let box = Carried(copy)
    let result = Monitor<Carried<Model>?>(nil)
    onThread {
      var model = box.value
      var random = RandomGenerator(seed: seed)
      let realm = try! Realm(configuration: model.configuration)
      try! realm.write {
        for _ in 0..<20 { model.change(realm, &random) }
      }
      model.held = [:]
      let changed = Carried(model)
      result.withLock { $0 = changed }
    }
    try expect(realm, before.0, before.1, before.2)
    let changed = result.withLock { $0 }!.value
    #expect(realm.refresh())
    (current, order, dogs) = (changed.current, changed.order, changed.dogs)
    try expect(realm, current, order, dogs)
    for (key, person) in held where person.isInvalidated {
      #expect(current[key] == nil || person.isInvalidated)
      held[key] = nil
    }
  }

  private mutating func reopen(_ random: inout RandomGenerator) throws {
    held = [:]
    if Bool.random(using: &random) { frozen = [] }
    // The file is closed only if nothing frozen keeps it open.
    realm = try Realm(configuration: memoryConfiguration())
    realm = try Realm(configuration: configuration)
    try expect(realm, current, order, dogs)
  }

  private static func someValues(_ random: inout RandomGenerator) -> Expected {
    let lengths = [0, 3, 12, 100, 1200, 20_000]
    let length = lengths[min(5, Int.random(in: 0..<60, using: &random) / 10)]
    return Expected(
      name: String(repeating: "n", count: Int.random(in: 0...20, using: &random)),
      age: Bool.random(using: &random)
        ? Int.random(in: 0..<100, using: &random) : Int(truncatingIfNeeded: random.next()),
      score: Double.random(in: -1...1, using: &random),
      payload: Data((0..<length).map { UInt8(truncatingIfNeeded: $0) }))
  }

  // MARK: - Comparing

  func expect(
    _ realm: Realm, _ state: [Int: Expected], _ order: [Int], _ dogs: [String]
  ) throws {
    let people = realm.objects(Person.self)
    try #require(people.count == state.count)
    var found: [Int: Expected] = [:]
    var keys: [Int] = []
    for person in people {
      keys.append(person.id)
      found[person.id] = Expected(
        name: person.name, age: person.age, score: person.score, payload: person.payload)
    }
    try #require(keys == order)
    for (id, expected) in state { try #require(found[id] == expected, "person \(id)") }
    try #require(realm.objects(Dog.self).map(\.name) == dogs)
    for id in [-300, -1, 0, 17, 299] {
      try #require(
        realm.object(ofType: Person.self, forPrimaryKey: id)?.name == state[id]?.name)
    }
  }
}

@Suite(.ownThreads) struct ModelTests {
  @Test func inMemory() async {
    await withSeeds(5) { random in
      var model = try Model(memoryConfiguration())
      let keeper = model.realm.freeze()
      for _ in 0..<120 { try model.step(&random) }
      #expect(try model.realm.checkInvariants().findings == [])
      #expect(keeper.isEmpty)
    }
  }

  @Test func inAFile() async {
    await withSeeds(3) { random in
      let folder = TemporaryFolder()
      var configuration = folder.configuration()
      configuration.durability = .memory
      var model = try Model(configuration)
      for _ in 0..<120 { try model.step(&random) }
      #expect(try model.realm.checkInvariants().findings == [])
    }
  }
}
