// What a commit costs with many observers: 20,000 items in 100 crates, with links both ways, and
// from 1 to 1,000 observers of all kinds on one Realm. A sample is the refresh that tells all of
// them of one commit, which changes one item, from another Realm.
import Foundation
import Platform
import RealmSwift

/// An object in a crate, which it leads to as the crate leads to it.
final class Item: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var number: Int
  @Persisted var group: Int
  @Persisted var name: String
  @Persisted var isOpen: Bool
  @Persisted var crate: Crate?
  @Persisted var next: Item?
}

/// Holds items in each way.
final class Crate: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var items: List<Item>
  @Persisted var set: MutableSet<Item>
  @Persisted var map: Map<String, Item?>
  @Persisted var neighbour: Crate?
  @Persisted(originProperty: "crate") var content: LinkingObjects<Item>
}

/// Holds items in values of any type.
final class Wagon: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var list: List<AnyRealmValue>
  @Persisted var dictionary: AnyRealmValue
}

/// The observed Realm, and how often its observers were called.
private final class Warehouse {
  static let crates = 100
  let realm: Realm
  let writer: Realm
  let items: Int
  var calls = 0
  var tokens: [NotificationToken] = []
  private let thread = DispatchQueue(label: "writer")

  init(items: Int) throws {
    self.items = items
    var settings = Realm.Configuration(inMemoryIdentifier: "warehouse-\(UUID().uuidString)")
    settings.objectTypes = [Item.self, Crate.self, Wagon.self]
    realm = try Realm(configuration: settings)
    let queue = thread
    writer = try queue.sync { try Realm(configuration: settings, queue: queue) }
    try realm.write {
      let crates = (0..<Self.crates).map { Crate(value: ["id": $0]) }
      realm.add(crates)
      for crate in crates { crate.neighbour = crates[(crate.id + 1) % Self.crates] }
      var last: Item?
      for id in 0..<items {
        let item = Item()
        item.id = id
        item.number = id * 7 % items
        item.group = id % 50
        item.name = "item \(id % 1_000)"
        item.isOpen = id % 2 == 0
        let crate = crates[id % Self.crates]
        item.crate = crate
        item.next = last
        last = item
        realm.add(item)
        crate.items.append(item)
        crate.set.insert(item)
        crate.map["\(id)"] = item
      }
      for crate in crates {
        let wagon = realm.create(Wagon.self, value: ["id": crate.id])
        wagon.list.append(objectsIn: crate.items.map { .object($0) })
        let pairs = crate.items.map { (String($0.id), AnyRealmValue.object($0)) }
        wagon.dictionary = .fromDictionary(Dictionary(uniqueKeysWithValues: pairs))
      }
    }
  }

  /// One commit of the other Realm.
  func commit(_ change: (Realm) -> Void) throws {
    try thread.sync { try writer.write { change(writer) } }
  }

  func changeItem(_ random: inout RandomGenerator) throws {
    let id = Int(random.next() % UInt64(items))
    let number = Int(random.next() % UInt64(items))
    try commit { $0.object(ofType: Item.self, forPrimaryKey: id)?.number = number }
  }

  private func called() { calls += 1 }

  /// Observes one thing; which, its number tells.
  ///
  /// - Parameter keyPaths: nil: also what objects lead to.
  func observe(_ number: Int, _ keyPaths: [String]?) {
    observe(kind: number % 10, number / 10, keyPaths)
  }

  /// - Parameter other: which of the things of a kind.
  func observe(kind: Int, _ other: Int, _ keyPaths: [String]? = nil) {
    let crate = realm.object(ofType: Crate.self, forPrimaryKey: other % Self.crates)!
    let wagon = realm.object(ofType: Wagon.self, forPrimaryKey: crate.id)!
    let items = realm.objects(Item.self)
    let token: NotificationToken
    switch kind {
    case 0:
      token = realm.object(ofType: Item.self, forPrimaryKey: other * 37 % self.items)!
        .observe(keyPaths: keyPaths) { [unowned self] (_: ObjectChange<Item>) in called() }
    case 1: token = crate.items.observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    case 2:
      token = items.where { $0.number >= other * 17 }
        .observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    case 3:
      token = items.where { $0.group == other % 50 }.sorted(byKeyPath: "number")
        .observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    case 4:
      token = items.where { $0.id >= other }.distinct(by: ["name"])
        .observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    case 5: token = crate.content.observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    case 6: token = crate.map.observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    case 7: token = crate.set.observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    case 8:
      token = crate.items.where { $0.isOpen }.sorted(byKeyPath: "name")
        .observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    case 10:
      token = items.where { $0.crate == crate }
        .observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    case 11: token = wagon.list.observe { [unowned self] _ in called() }
    case 12: token = wagon.dictionary.dictionaryValue!.observe { [unowned self] _ in called() }
    default:
      token = items.where { $0.crate.id == other % Self.crates }
        .observe(keyPaths: keyPaths) { [unowned self] _ in called() }
    }
    tokens.append(token)
  }
}

func manyObserverRows(_ report: inout Report) throws {
  for (name, keyPaths) in [("", nil), ("-own-properties", ["number"])] as [(String, [String]?)] {
    for count in [1, 10, 100, 1_000] {
      try measure("observers-all-kinds\(name)-\(count)", &report) { warehouse in
        for number in 0..<count { warehouse.observe(number, keyPaths) }
      }
    }
  }
  let kinds = [
    "object", "list", "filtered", "sorted", "distinct", "linking", "map", "set", "filtered-list",
    "filtered-by-link", "filtered-by-object", "mixed-list", "mixed-dictionary",
  ]
  for (kind, name) in kinds.enumerated() {
    for count in [1, 100] {
      try measure("observers-different-\(name)-\(count)", &report) { warehouse in
        for number in 0..<count { warehouse.observe(kind: kind, number) }
      }
      try measure("observers-same-\(name)-\(count)", &report) { warehouse in
        for _ in 0..<count { warehouse.observe(kind: kind, 0) }
      }
    }
  }
  for count in [1, 100] {
    try measure("observers-same-all-\(count)", &report) { warehouse in
      for _ in 0..<count {
        warehouse.tokens.append(
          warehouse.realm.objects(Item.self).observe { [unowned warehouse] _ in
            warehouse.calls += 1
          })
      }
    }
    try measure("observers-same-sections-\(count)", &report) { warehouse in
      for _ in 0..<count {
        warehouse.tokens.append(
          warehouse.realm.objects(Item.self)
            .sectioned(by: { $0.group }, sortDescriptors: [SortDescriptor(keyPath: "group")])
            .observe { [unowned warehouse] _ in warehouse.calls += 1 })
      }
    }
    try measure("observers-same-sections-by-key-path-\(count)", &report) { warehouse in
      for _ in 0..<count {
        warehouse.tokens.append(
          warehouse.realm.objects(Item.self).sectioned(by: \.group)
            .observe { [unowned warehouse] _ in warehouse.calls += 1 })
      }
    }
  }
}

private func measure(
  _ name: String, _ report: inout Report, _ observe: (Warehouse) throws -> Void
) throws {
  let rows = ["mean", "p50", "p99", "max"].map { "\(name)-\($0)" } + ["\(name)-calls"]
  guard report.wants(anyOf: rows) else { return }
  let warehouse = try Warehouse(items: isQuick ? 2_000 : 20_000)
  try observe(warehouse)
  warehouse.realm.refresh()
  let clock = MonotonicClock()
  var random = RandomGenerator(seed: 17)
  // The first commits find what is kept later.
  for _ in 0..<3 {
    try warehouse.changeItem(&random)
    warehouse.realm.refresh()
  }
  warehouse.calls = 0
  var times: [UInt64] = []
  let begin = clock.nanoseconds()
  while times.count < (isQuick ? 50 : 200), clock.nanoseconds() - begin < 5_000_000_000 {
    try warehouse.changeItem(&random)
    let start = clock.nanoseconds()
    warehouse.realm.refresh()
    times.append(clock.nanoseconds() - start)
  }
  let calls = Double(warehouse.calls) / Double(times.count)
  for token in warehouse.tokens { token.invalidate() }
  let mean = Double(times.reduce(0, +)) / Double(times.count)
  times.sort()
  report.add("\(name)-mean", unit: "ns", [mean])
  report.add("\(name)-p50", unit: "ns", [Double(times[times.count / 2])])
  report.add("\(name)-p99", unit: "ns", [Double(times[times.count * 99 / 100])])
  report.add("\(name)-max", unit: "ns", [Double(times[times.count - 1])])
  report.add("\(name)-calls", unit: "calls", [calls])
}
