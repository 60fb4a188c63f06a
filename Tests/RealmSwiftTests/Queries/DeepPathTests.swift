// Conditions on paths through many collections, where each object is reached in very many ways: to
// go all of them would take longer than the tests may, and finds no more.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

private final class DeepStep: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var label = 0
  @Persisted var kids: List<DeepStep>
  @Persisted var marks: List<Int>
  @Persisted(originProperty: "kids") var parents: LinkingObjects<DeepStep>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct DeepPathTests {
  /// So many ways, 2 to the power of it, lead from the last object to the first.
  private static let depth = 60

  /// Objects that each have the one before them twice.
  private func diamonds() throws -> Results<DeepStep> {
    let realm = try memoryRealm([DeepStep.self])
    try realm.write {
      var last: DeepStep?
      for id in 0...Self.depth {
        let step = realm.create(DeepStep.self, value: ["id": id, "label": id, "marks": [id]])
        if let last { step.kids.append(objectsIn: [last, last]) }
        last = step
      }
    }
    return realm.objects(DeepStep.self)
  }

  private func kids(_ depth: Int) -> String { String(repeating: "kids.", count: depth) }

  @Test func eachObjectIsAskedOnce() throws {
    let steps = try diamonds()
    func ids(_ format: String) -> [Int] { Array(steps.filter(format).map(\.id)) }
    for depth in [3, 8, 9, 30, Self.depth] {
      let path = kids(depth)
      let reached = Array(depth...Self.depth)
      #expect(ids("ANY \(path)id >= 0") == reached)
      #expect(ids("ANY \(path)id == 0") == [depth])
      #expect(ids("ANY \(path)id == 300") == [])
      #expect(ids("NONE \(path)id == 300") == Array(0...Self.depth))
      #expect(ids("ALL \(path)id >= 0") == Array(0...Self.depth))
      #expect(ids("ALL \(path)id > 0") == (0...Self.depth).filter { $0 != depth })
      #expect(ids("ANY \(path)marks == 0") == [depth])
      #expect(ids("ANY \(path)label == label") == [])
      #expect(ids("ANY \(path)kids.@count == 0") == [depth])
    }
    let backwards = String(repeating: "parents.", count: Self.depth)
    #expect(ids("ANY \(backwards)id == \(Self.depth)") == [0])
  }

  @Test func nestedSubqueriesAskEachObjectOnce() throws {
    let steps = try diamonds()
    let depth = 30
    var text = "$x\(depth).id == 0"
    for level in (0..<depth).reversed() {
      let collection = level == 0 ? "kids" : "$x\(level).kids"
      text = "SUBQUERY(\(collection), $x\(level + 1), \(text)).@count > 0"
    }
    #expect(Array(steps.filter(text).map(\.id)) == [depth])
  }

  @Test func subqueriesCountEachWay() throws {
    let steps = try diamonds()
    for depth in [1, 2, 5, 40] {
      let collection = kids(depth).dropLast()
      let counted = steps.filter(
        "SUBQUERY(\(collection), $x, $x.id >= 0).@count == %d", 1 << depth)
      #expect(Array(counted.map(\.id)) == Array(depth...Self.depth))
    }
  }

  @Test func manyHoldersOfOneCollection() throws {
    let realm = try memoryRealm([DeepStep.self])
    let count = 3_000
    try realm.write {
      let hub = realm.create(DeepStep.self, value: ["id": -1])
      for id in 0..<count {
        let step = realm.create(DeepStep.self, value: ["id": id])
        step.kids.append(hub)
        hub.kids.append(step)
      }
    }
    let steps = realm.objects(DeepStep.self)
    // The hub's kids are gone through once, not once for each that has the hub.
    #expect(steps.filter("ANY kids.kids.kids.label > 0").isEmpty)
    #expect(steps.filter("ALL kids.kids.kids.label == 0").count == count + 1)
    let fits = steps.filter("SUBQUERY(kids.kids, $x, $x.label == 0).@count == %d", count)
    // The hub, too: each of its kids has it.
    #expect(fits.count == count + 1)
  }

  private func number(_ random: inout RandomGenerator, _ end: Int) -> Int {
    Int.random(in: 0..<end, using: &random)
  }

  @Test func randomGraphs() async throws {
    await withSeeds(5) { random in
      let realm = try memoryRealm([DeepStep.self])
      try realm.write {
        for id in 0..<30 {
          realm.create(DeepStep.self, value: ["id": id, "label": number(&random, 6)])
        }
        let all = Array(realm.objects(DeepStep.self))
        for step in all {
          for _ in 0..<number(&random, 4) { step.kids.append(all[number(&random, all.count)]) }
          for _ in 0..<number(&random, 3) { step.marks.append(number(&random, 6)) }
        }
      }
      let all = realm.objects(DeepStep.self)
      for depth in 1...4 {
        func ends(_ step: DeepStep) -> [DeepStep] {
          (0..<depth).reduce([step]) { steps, _ in steps.flatMap { Array($0.kids) } }
        }
        let wanted = number(&random, 6)
        let path = kids(depth)
        let cases: [(String, (DeepStep) -> Bool)] = [
          ("ANY \(path)label == \(wanted)", { ends($0).contains { $0.label == wanted } }),
          ("NONE \(path)label == \(wanted)", { !ends($0).contains { $0.label == wanted } }),
          ("ALL \(path)label > \(wanted)", { ends($0).allSatisfy { $0.label > wanted } }),
          (
            "ANY \(path)marks > \(wanted)",
            { ends($0).contains { $0.marks.contains { $0 > wanted } } }
          ),
          (
            "ANY \(path)label == label",
            { step in ends(step).contains { $0.label == step.label } }
          ),
          (
            "SUBQUERY(\(path.dropLast()), $x, $x.label == \(wanted)).@count > 2",
            { ends($0).count { $0.label == wanted } > 2 }
          ),
          (
            "SUBQUERY(\(path.dropLast()), $x, ANY $x.kids.label == \(wanted)).@count == 1",
            { ends($0).count { $0.kids.contains { $0.label == wanted } } == 1 }
          ),
        ]
        for (format, plain) in cases {
          let expected = Array(all.filter(plain).map(\.id))
          #expect(Array(all.filter(format).map(\.id)) == expected, "\(format)")
          let first = all.filter("id >= 0").index(matching: NSPredicate(format: format))
          #expect(first == all.firstIndex(where: plain), "\(format)")
        }
      }
    }
  }
}
