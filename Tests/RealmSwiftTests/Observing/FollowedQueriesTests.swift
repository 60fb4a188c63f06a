// Queries of every kind are followed by what changed alone, however much that is: their observers'
// copies are edited by what they are told, and no element is looked for anew. Orders by mixed
// values and decimals, queries of values, several choices of distinct elements, steps that change
// all.
import Foundation
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@testable import RealmSwift

final class Specimen: Object {
  @Persisted var number: Int
  @Persisted var mixed: AnyRealmValue
  @Persisted var weight: Decimal128
  @Persisted var kin: Specimen?
  @Persisted(originProperty: "specimens") var drawers: LinkingObjects<Drawer>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class Drawer: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var specimens: List<Specimen>
  @Persisted var numbers: List<Int>
  @Persisted var mixed: List<AnyRealmValue>
  @Persisted var decimals: List<Decimal128?>
  @Persisted var texts: MutableSet<String>
  @Persisted var sizes: Map<String, Int>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Changes of one drawer and of what is in it.
private struct DrawerChanges {
  let realm: Realm
  let drawer: Drawer
  var random: RandomGenerator

  mutating func number(_ bound: Int) -> Int { Int(random.next(upperBound: UInt64(bound))) }

  mutating func specimen() -> Specimen? {
    let all = realm.objects(Specimen.self)
    return all.isEmpty ? nil : all[number(all.count)]
  }

  private static let decimals = [
    "NaN", "-0", "0", "1E+3", "1000", "2.5", "2.50", "-7", "Infinity", "-Infinity", "0.1", "7",
  ].map { try! Decimal128(string: $0) }

  mutating func decimal() -> Decimal128 { Self.decimals[number(Self.decimals.count)] }

  mutating func mixedValue() -> AnyRealmValue {
    switch number(13) {
    case 0: .none
    case 1, 2: .int(number(9))
    case 3: .double([.nan, -0.0, 2.5, 1_000, .infinity][number(5)])
    case 4: .float(0.1)
    case 5: .bool(number(2) == 0)
    case 6: .string("text \(number(4))")
    case 7: .data(Data([UInt8(number(3))]))
    case 8: .date(Date(timeIntervalSince1970: Double(number(3))))
    case 9: .decimal128(decimal())
    case 10: .uuid(UUID(uuidString: "00000000-0000-0000-0000-00000000000\(number(3))")!)
    case 11: .fromArray([.int(number(3)), .string("inside")])
    default: specimen().map { .object($0) } ?? .none
    }
  }

  mutating func fill(_ specimen: Specimen) {
    specimen.number = number(20)
    specimen.mixed = mixedValue()
    specimen.weight = decimal()
    specimen.kin = self.specimen()
  }

  /// - Parameter amount: how many changes there are, more or less.
  mutating func change(_ amount: Int) {
    switch number(14) {
    case 0:
      realm.delete(realm.objects(Specimen.self))
      drawer.numbers.removeAll()
    case 1: for _ in 0..<amount { if let specimen = specimen() { realm.delete(specimen) } }
    case 2, 3:
      for _ in 0..<amount where realm.objects(Specimen.self).count < 300 {
        let specimen = Specimen()
        realm.add(specimen)
        fill(specimen)
      }
    case 4, 5: for _ in 0..<amount { if let specimen = specimen() { fill(specimen) } }
    case 6: for _ in 0..<amount { specimen()?.mixed = mixedValue() }
    default: for _ in 0..<amount { changeCollections() }
    }
  }

  private mutating func changeCollections() {
    switch number(8) {
    case 0:
      if let specimen = specimen() {
        drawer.specimens.insert(specimen, at: number(drawer.specimens.count + 1))
      }
    case 1: edit(drawer.specimens) { $0.specimen() }
    case 2, 3: edit(drawer.numbers) { $0.number(9) }
    case 4: edit(drawer.mixed) { $0.mixedValue() }
    case 5: edit(drawer.decimals) { $0.number(5) == 0 ? .some(nil) : $0.decimal() }
    case 6:
      let text = "text \(number(40))"
      if number(2) == 0 { drawer.texts.insert(text) } else { drawer.texts.remove(text) }
    default:
      let key = "key \(number(40))"
      if number(2) == 0 {
        drawer.sizes[key] = number(9)
      } else {
        drawer.sizes.removeObject(for: key)
      }
    }
  }

  private mutating func edit<Element>(
    _ list: List<Element>, _ make: (inout DrawerChanges) -> Element?
  ) {
    switch number(list.count < 60 ? 6 : 4) {
    case 0 where !list.isEmpty: list.remove(at: number(list.count))
    case 1 where !list.isEmpty: list.move(from: number(list.count), to: number(list.count))
    case 2, 3:
      if !list.isEmpty, let element = make(&self) { list[number(list.count)] = element }
    default: if let element = make(&self) { list.insert(element, at: number(list.count + 1)) }
    }
  }

  // MARK: - Followers

  private static let orders: [(String, @Sendable (Results<Specimen>) -> Results<Specimen>)] = [
    ("some", { $0.filter("number < 12") }),
    ("by number", { $0.sorted(byKeyPath: "number") }),
    ("by mixed", { $0.sorted(byKeyPath: "mixed") }),
    ("by mixed down", { $0.filter("number > 5").sorted(byKeyPath: "mixed", ascending: false) }),
    ("by weight", { $0.sorted(byKeyPath: "weight") }),
    ("by kin", { $0.sorted(byKeyPath: "kin.mixed").sorted(byKeyPath: "kin.weight") }),
    ("distinct", { $0.sorted(byKeyPath: "weight").distinct(by: ["mixed"]) }),
    (
      "distinct twice",
      {
        $0.sorted(byKeyPath: "mixed").distinct(by: ["number", "weight"])
          .sorted(byKeyPath: "weight", ascending: false).distinct(by: ["number"])
      }
    ),
  ]

  func followers() -> [Follower] {
    let (realm, drawer) = (realm, drawer)
    var followers: [Follower] = []
    for (name, query) in Self.orders {
      followers.append(
        .collection(name, ["number"], isSorted: true, Self.image) {
          query(realm.objects(Specimen.self))
        })
      followers.append(
        .collection("list \(name)", [], isSorted: true, { TrackerImages.key($0) }) {
          query(drawer.specimens.filter("TRUEPREDICATE"))
        })
    }
    return followers + valueFollowers()
  }

  private static func image(_ specimen: Specimen) -> String {
    "\(specimen._key.rawValue) \(specimen.number)"
  }

  private static func image(_ value: AnyRealmValue) -> String {
    if case .object(let object) = value { return "object \(object._key.rawValue)" }
    if case .data(let data) = value { return "data \(Array(data))" }
    if case .list(let list) = value { return "list of \(list.count) \(list[0])" }
    return "\(value)"
  }

  private func valueFollowers() -> [Follower] {
    let drawer = drawer
    func values<Element: RealmCollectionValue>(
      _ name: String, _ image: @escaping (Element) -> String = { "\($0)" },
      _ make: @escaping () -> Results<Element>
    ) -> Follower { .collection(name, nil, isSorted: true, image, make) }
    return [
      values("numbers") { drawer.numbers.filter("SELF > 3") },
      values("sorted numbers") { drawer.numbers.sorted(ascending: false) },
      values("some sorted numbers") { drawer.numbers.where { $0 < 7 }.sorted(ascending: true) },
      values("distinct numbers") { drawer.numbers.distinct(by: ["self"]) },
      values("sorted distinct numbers") {
        drawer.numbers.sorted(ascending: true).distinct(by: ["self"])
      },
      values("mixed", Self.image) { drawer.mixed.sorted(ascending: true) },
      values("distinct mixed", Self.image) {
        drawer.mixed.distinct(by: ["self"]).sorted(byKeyPath: "self", ascending: false)
      },
      values("decimals") { drawer.decimals.sorted(ascending: true) },
      values("texts") { drawer.texts.sorted(ascending: false) },
      values("some texts") { drawer.texts.filter("SELF > 'text 2'") },
      values("sizes") { drawer.sizes.sorted(byKeyPath: "self") },
      values("distinct sizes") { drawer.sizes.filter("SELF > 2").distinct(by: ["self"]) },
    ]
  }
}

@Suite(.ownThreads) struct FollowedQueriesTests {
  @Test(arguments: seedsInTurn(1...4))
  func nothingIsFoundAnew(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let realm = try memoryRealm([Specimen.self, Drawer.self])
      let drawer = try realm.write { realm.create(Drawer.self, value: ["id": 1]) }
      var changes = DrawerChanges(realm: realm, drawer: drawer, random: random)
      try realm.write { for _ in 0..<4 { changes.change(200) } }
      let followers = changes.followers()
      let history = realm.confined.history
      // By turns recorded and compared.
      var reader: ChangeHistory.Reader?
      for step in 0..<32 {
        if step % 8 == 0 {
          reader =
            step % 16 == 0
            ? history.register(standingOn: realm.confined.currentSnapshot().version) : nil
        }
        let old = realm.confined.frozen()
        for _ in 0...changes.number(2) {
          try realm.write {
            for _ in 0..<1 + changes.number(3) {
              changes.change([1, 5, 40, 200][changes.number(4)])
            }
          }
        }
        let taken = VersionStep(from: old, to: realm.confined)
        for follower in followers { #expect(follower.advance(taken, reader == nil)) }
        reader?.stand(on: realm.confined.currentSnapshot().version)
      }
      for follower in followers {
        #expect((follower.tracker as? QueryTracker)?.findings == 0, "\(follower.name)")
      }
    }
  }
}
