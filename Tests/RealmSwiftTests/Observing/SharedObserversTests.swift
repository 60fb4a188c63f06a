// Many observers of all kinds on one Realm beside observers that have a Realm for themselves, on a
// queue of their own: after each commit both were told the same, letter for letter.
import Dispatch
import Platform
import TestSupport
import Testing

@testable import RealmSwift

/// What an observer was told and not asked for yet.
private final class Told: Sendable {
  private let texts = Monitor<[String]>([])

  func add(_ text: String) { texts.withLock { $0.append(text) } }

  func take() -> [String] {
    texts.withLock { texts in
      defer { texts = [] }
      return texts
    }
  }
}

/// Something that can be observed in each Realm of a file.
private struct ObservedThing: Sendable {
  let name: String
  /// Nil when it is not there.
  let observe: @Sendable (Realm, Told) -> NotificationToken?

  typealias KeyPaths = (name: String, hound: [String]?, kennel: [String]?)

  private static let keyPaths: [KeyPaths] = [
    ("", nil, nil), (" itself", [], []), (" by a value", ["age"], ["name"]),
    (" by a link", ["friend.name"], ["hounds.age"]),
  ]

  private static let houndQueries: [@Sendable (Results<Hound>) -> Results<Hound>] = [
    { $0 },
    { $0.filter("age > 3") },
    { $0.filter("friend.age > 3 OR name == 'name 1'") },
    { $0.filter("ANY kennels.id < 3") },
    { $0.sorted(byKeyPath: "age") },
    { $0.filter("age < 7").sorted(byKeyPath: "name", ascending: false) },
    { $0.sorted(byKeyPath: "friend.age") },
    { $0.sorted(byKeyPath: "name").distinct(by: ["age"]) },
    { $0.distinct(by: ["name"]).sorted(byKeyPath: "age") },
    // What was frozen and is live again.
    { $0.filter("age > 3").sorted(byKeyPath: "age").freeze().thaw()! },
  ]

  /// - Parameter number: gives one of few numbers at random.
  static func any(_ number: (Int) -> Int) -> ObservedThing {
    let paths = keyPaths[number(keyPaths.count)]
    let (kind, query, id) = (number(12), number(houndQueries.count), number(6))
    let chosen = houndQueries[query]
    switch kind {
    case 0...3:
      return ObservedThing(name: "hounds by query \(query)\(paths.name)") { realm, told in
        chosen(realm.objects(Hound.self)).observe(keyPaths: paths.hound) { told.add(text($0)) }
      }
    case 4:
      return ObservedThing(name: "sections\(paths.name)") { realm, told in
        realm.objects(Hound.self).sectioned(by: \.name)
          .observe(keyPaths: paths.hound) { told.add(text($0)) }
      }
    case 5:
      return ObservedThing(name: "kennels\(paths.name)") { realm, told in
        realm.objects(Kennel.self).filter("hounds.@count > 0")
          .observe(keyPaths: paths.kennel) { told.add(text($0)) }
      }
    default:
      return ObservedThing(name: "of kennel \(id), \(kind)\(paths.name)") { realm, told in
        guard let kennel = realm.object(ofType: Kennel.self, forPrimaryKey: id) else { return nil }
        return observe(kind, of: kennel, paths, chosen, told)
      }
    }
  }

  private static func observe(
    _ kind: Int, of kennel: Kennel, _ paths: KeyPaths,
    _ chosen: (Results<Hound>) -> Results<Hound>, _ told: Told
  ) -> NotificationToken? {
    switch kind {
    case 6: kennel.hounds.observe(keyPaths: paths.hound) { told.add(text($0)) }
    case 7:
      chosen(kennel.hounds.filter("TRUEPREDICATE"))
        .observe(keyPaths: paths.hound) { told.add(text($0)) }
    case 8: kennel.houndSet.observe(keyPaths: paths.hound) { told.add(text($0)) }
    case 9: kennel.houndMap.observe(keyPaths: paths.hound) { told.add(text($0)) }
    case 10:
      kennel.guardian?.kennels.observe(keyPaths: paths.kennel) { told.add(text($0)) }
    default:
      kennel.observe(keyPaths: paths.kennel) { (change: ObjectChange<Kennel>) in
        told.add(text(change))
      }
    }
  }

  private static func text<Elements>(_ change: RealmCollectionChange<Elements>) -> String {
    switch change {
    case .initial: "initial"
    case .update(_, let deletions, let insertions, let modifications):
      "deleted \(deletions) inserted \(insertions) modified \(modifications)"
    case .error(let error): "\(error)"
    }
  }

  private static func text<Key, Value>(_ change: RealmMapChange<Map<Key, Value>>) -> String {
    func text(_ keys: [Key]) -> [String] { keys.map { "\($0)" }.sorted() }
    return switch change {
    case .initial: "initial"
    case .update(_, let deletions, let insertions, let modifications):
      "deleted \(text(deletions)) inserted \(text(insertions)) modified \(text(modifications))"
    case .error(let error): "\(error)"
    }
  }

  private static func text<Sections>(_ change: SectionedResultsChange<Sections>) -> String {
    switch change {
    case .initial: "initial"
    case .update(_, let deletions, let insertions, let modifications, let came, let went):
      "deleted \(deletions) inserted \(insertions) modified \(modifications) "
        + "came \(Array(came)) went \(Array(went))"
    }
  }

  private static func text(_ change: ObjectChange<Kennel>) -> String {
    switch change {
    case .change(_, let properties): "changed \(properties.map(\.name).sorted())"
    case .deleted: "deleted"
    case .error(let error): "\(error)"
    }
  }
}

/// A Realm at a queue of its own, and perhaps an observer.
private final class LoneRealm: Sendable {
  private let queue = DispatchQueue(label: "alone")
  let told = Told()
  // Only jobs of the queue touch these.
  nonisolated(unsafe) private var realm: Realm?
  nonisolated(unsafe) private var token: NotificationToken?

  init(_ configuration: Realm.Configuration) throws {
    try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
  }

  func observe(_ thing: ObservedThing) {
    queue.sync { token = thing.observe(realm!, told) }
    // The first call is made by a job.
    refresh()
  }

  func refresh() { queue.sync { _ = realm!.refresh() } }

  /// Changes something in one commit of this Realm.
  func write(_ random: RandomGenerator, asynchronously: Bool) throws {
    if !asynchronously {
      return try queue.sync { try realm!.write { Self.change(realm!, random) } }
    }
    let done = DispatchSemaphore(value: 0)
    queue.sync {
      _ = realm!.writeAsync {
        Self.change(self.realm!, random)
      } onComplete: { error in
        if let error { Issue.record(error) }
        done.signal()
      }
    }
    #expect(done.wait(timeout: .now() + 60) == .success)
  }

  static func change(_ realm: Realm, _ random: RandomGenerator) {
    var changes = KennelChanges(realm: realm, random: random)
    for _ in 0..<1 + changes.number(6) { changes.change() }
  }

  func end() {
    queue.sync {
      token?.invalidate()
      token = nil
      realm = nil
    }
  }
}

@Suite(.ownThreads) struct SharedObserversTests {
  /// Observers of one thing in the shared Realm, and one that is alone.
  private struct Group {
    let thing: ObservedThing
    let alone: LoneRealm
    var shared: [(token: NotificationToken, told: Told)] = []
  }

  @Test(arguments: seedsInTurn(1...6))
  func allAreToldWhatALoneObserverIsTold(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      // Observers need a place where they can be called.
      let queue = DispatchQueue(label: "shared")
      try queue.sync { try Self.compare(on: queue, &random) }
    }
  }

  private static func compare(on queue: DispatchQueue, _ random: inout RandomGenerator) throws {
    let configuration = memoryConfiguration(kennelClasses)
    let realm = try Realm(configuration: configuration, queue: queue)
    let writer = try LoneRealm(configuration)
    var groups: [Group] = []
    defer {
      for group in groups { group.alone.end() }
      writer.end()
    }
    var compared = 0
    for round in 0..<amount(60, debug: 30) {
      while groups.count < 12 {
        let thing = ObservedThing.any { Int(random.next() % UInt64($0)) }
        var group = Group(thing: thing, alone: try LoneRealm(configuration))
        for _ in 0...random.next() % 3 {
          let told = Told()
          if let token = thing.observe(realm, told) { group.shared.append((token, told)) }
        }
        if group.shared.isEmpty {
          group.alone.end()
          break
        }
        group.alone.observe(thing)
        groups.append(group)
      }
      realm.refresh()
      for group in groups {
        _ = group.alone.told.take()
        for observer in group.shared { _ = observer.told.take() }
      }
      // Some are not told of a commit of their own Realm.
      var skipped: [NotificationToken] = []
      switch random.next() % 5 {
      case 0: try writer.write(RandomGenerator(seed: random.next()), asynchronously: false)
      case 1: try writer.write(RandomGenerator(seed: random.next()), asynchronously: true)
      case 2:
        for group in groups {
          for observer in group.shared where random.next() % 3 == 0 {
            skipped.append(observer.token)
          }
        }
        fallthrough
      default:
        let random = RandomGenerator(seed: random.next())
        try realm.write(withoutNotifying: skipped) { LoneRealm.change(realm, random) }
      }
      realm.refresh()
      for group in groups {
        group.alone.refresh()
        let expected = group.alone.told.take()
        compared += expected.count
        for observer in group.shared {
          let isSkipped = skipped.contains { $0 === observer.token }
          #expect(
            observer.told.take() == (isSkipped ? [] : expected),
            "\(group.thing.name) in round \(round)")
        }
      }
      // Some end, alone or with all of their kind.
      for index in groups.indices.reversed() {
        if random.next() % 6 == 0 { groups[index].shared.removeFirst().token.invalidate() }
        if groups[index].shared.isEmpty || random.next() % 12 == 0 {
          let group = groups.remove(at: index)
          for observer in group.shared { observer.token.invalidate() }
          group.alone.end()
        }
      }
    }
    #expect(compared > 0)
  }

  @Test func whatObserversShareIsFreedWithThem() throws {
    let queue = DispatchQueue(label: "observers")
    try queue.sync {
      try Self.endObservers(
        of: Realm(configuration: memoryConfiguration(kennelClasses), queue: queue))
    }
  }

  private static func endObservers(of realm: Realm) throws {
    try realm.write { for age in 0..<50 { realm.add(Hound("name", age)) } }
    weak var elements: KnownElements?
    do {
      let results = realm.objects(Hound.self).filter("age > 3").sorted(byKeyPath: "age")
      let tokens = (0..<3).map { _ in results.observe { _ in } }
      realm.refresh()
      try realm.write { realm.objects(Hound.self).first!.age = 60 }
      realm.refresh()
      let tracker = CollectionTracker.make(results, keyPaths: nil) as! QueryTracker
      elements = tracker.elements
      #expect(elements != nil)
      for token in tokens { token.invalidate() }
    }
    #expect(elements == nil)
  }
}
