// Collections of own types and enums: what is asked of all their values together, as of the plain
// values that they are stored as.
import Foundation
import RealmSwift
import TestSupport
import Testing

private enum Grade: Int, PersistableEnum { case low = 1, middle, high }

private struct Fee: CustomPersistable, Hashable {
  typealias PersistedType = Int
  var cents: Int
  init(_ cents: Int) { self.cents = cents }
  init(persistedValue: Int) { cents = persistedValue }
  var persistableValue: Int { cents }
}

private class Receipt: Object {
  let grade = RealmOptional<Grade>()
  let last = RealmProperty<Grade?>()
  @Persisted var isPaid: Bool
  @Persisted var prices: List<Fee>
  @Persisted var offers: MutableSet<Fee?>
  @Persisted var grades: List<Grade>
  @Persisted var byName: Map<String, Fee>
}

@Suite(.ownThreads) struct AsUsersOwnTypeTests {
  private func realm() throws -> Realm {
    try Realm(configuration: memoryConfiguration([Receipt.self]))
  }

  private func fill(_ receipt: Receipt) {
    receipt.prices.append(objectsIn: [Fee(4), Fee(1), Fee(4)])
    receipt.offers.insert(objectsIn: [Fee(3), nil, Fee(2)])
    receipt.grades.append(objectsIn: [.high, .low])
    receipt.byName.merge(["a": Fee(7), "b": Fee(5)]) { $1 }
  }

  @Test(arguments: [true, false])
  func aggregates(_ isManaged: Bool) throws {
    let realm = try realm()
    let receipt = Receipt()
    fill(receipt)
    if isManaged { try realm.write { realm.add(receipt) } }
    #expect(receipt.prices.min() == Fee(1) && receipt.prices.max() == Fee(4))
    #expect(receipt.prices.sum() == Fee(9) && receipt.prices.average() as Double? == 3)
    #expect(receipt.offers.min() == Fee(2) && receipt.offers.max() == Fee(3))
    #expect(receipt.offers.sum() == Fee(5) && receipt.offers.average() as Double? == 2.5)
    #expect(receipt.grades.min() == .low && receipt.grades.max() == .high)
    #expect(receipt.byName.min() == Fee(5) && receipt.byName.sum() == Fee(12))
    #expect(Receipt().prices.min() == nil && Receipt().prices.sum() == Fee(0))
  }

  @Test func ordersAndDistinctValues() throws {
    let realm = try realm()
    let receipts = (0..<2).map { _ in Receipt() }
    fill(receipts[0])
    receipts[0].isPaid = true
    try realm.write { realm.add(receipts) }
    #expect(receipts[0].prices.sorted().map(\.cents) == [1, 4, 4])
    #expect(Array(receipts[0].prices.distinct()) == [Fee(4), Fee(1)])
    #expect(Array(receipts[0].offers.sorted(ascending: false)) == [Fee(3), Fee(2), nil])
    #expect(Array(receipts[0].grades.sorted(ascending: true)) == [.low, .high])
    #expect(receipts[0].byName.sorted().map(\.cents) == [5, 7])
    #expect(realm.objects(Receipt.self).sorted(by: \.isPaid).map(\.isPaid) == [false, true])
  }

  @Test func enumsInBoxes() throws {
    let realm = try realm()
    let receipt = Receipt()
    #expect(receipt.grade.value == nil)
    receipt.grade.value = .middle
    try realm.write {
      realm.add(receipt)
      receipt.last.value = .high
    }
    #expect(receipt.grade.value == .middle && receipt.last.value == .high)
    #expect(realm.objects(Receipt.self).filter("grade == 2 AND last == 3").count == 1)
    let made = try realm.write { realm.create(Receipt.self, value: ["grade": 3]) }
    #expect(made.grade.value == .high && made.last.value == nil)
  }
}
