// Many comparisons of one path, joined by OR or AND, and orders one after the other: they find what
// each finds by itself, and take no more steps than a few.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Compared: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var int: Int?
  @Persisted(indexed: true) var indexed: Int
  @Persisted var double: Double
  @Persisted var text: String?
  @Persisted(indexed: true) var name: String
  @Persisted var mixed: AnyRealmValue
  @Persisted var friend: Compared?
  @Persisted var texts: List<String>
  @Persisted var ints: List<Int>
  @Persisted var doubles: List<Double>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let words = (0..<30).map { "w\($0 % 2 == 0 ? "\u{e9}" : "E")\($0)" }

@Suite(.ownThreads) struct ManyComparisonsTests {
  private func filled() throws -> Results<Compared> {
    let realm = try memoryRealm([Compared.self])
    try realm.write {
      for id in 0..<120 {
        let object = realm.create(Compared.self, value: ["id": id])
        object.int = id % 7 == 0 ? nil : id % 40
        object.indexed = id % 40
        object.double = id % 9 == 0 ? .nan : Double(id % 40)
        object.text = id % 11 == 0 ? nil : id % 13 == 0 ? "" : "x\(words[id % 30])y"
        object.name = "\(words[id % 30])\(id)"
        object.mixed =
          switch id % 4 {
          case 0: .int(id % 40)
          case 1: .string(words[id % 30])
          case 2: .data(Data(words[id % 30].utf8))
          default: .none
          }
        if id % 3 != 0 {
          object.friend = realm.object(ofType: Compared.self, forPrimaryKey: id / 2)
        }
        object.texts.append(objectsIn: [words[id % 30], words[(id + 7) % 30]])
        object.ints.append(objectsIn: [id % 40, (id + 1) % 40])
      }
    }
    return realm.objects(Compared.self)
  }

  /// Joined by OR and by AND, and the same of the opposites, conditions find what each finds.
  private func check(
    _ all: Results<Compared>, _ parts: [NSPredicate], _ name: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let found = parts.map { Set(all.filter($0).map(\.id)) }
    let everything = Set(all.map(\.id))
    let any = found.reduce(Set()) { $0.union($1) }
    let every = found.reduce(everything) { $0.intersection($1) }
    let opposites = parts.map { NSCompoundPredicate(notPredicateWithSubpredicate: $0) }
    func ids(_ joint: NSCompoundPredicate.LogicalType, _ parts: [NSPredicate]) -> Set<Int> {
      Set(all.filter(NSCompoundPredicate(type: joint, subpredicates: parts)).map(\.id))
    }
    #expect(ids(.or, parts) == any, "\(name), OR", sourceLocation: sourceLocation)
    #expect(ids(.and, parts) == every, "\(name), AND", sourceLocation: sourceLocation)
    #expect(
      ids(.and, opposites) == everything.subtracting(any), "\(name), AND NOT",
      sourceLocation: sourceLocation)
    #expect(
      ids(.or, opposites) == everything.subtracting(every), "\(name), OR NOT",
      sourceLocation: sourceLocation)
  }

  @Test func differencesFindWhatEachFinds() throws {
    let all = try filled()
    let own = ["int", "indexed", "double", "mixed"]
    for path in own + ["friend.int", "friend.mixed", "friend.friend.int"] {
      for format in ["\(path) != %@", "\(path) == %@", "%@ != \(path)"] {
        let parts = (0..<20).map { NSPredicate(format: format, $0 as NSNumber) }
        check(all, parts, format)
        check(all, parts + [NSPredicate(format: "\(path) != nil")], "\(format) and nil")
        check(all, parts + [NSPredicate(format: "id > 50")], "\(format) and another path")
      }
    }
    for quantifier in ["ANY", "ALL", "NONE"] {
      for path in ["ints", "friend.ints"] {
        for comparator in ["!=", "=="] {
          let format = "\(quantifier) \(path) \(comparator) %@"
          check(all, (0..<20).map { NSPredicate(format: format, $0 as NSNumber) }, format)
        }
      }
    }
  }

  @Test func partsOfTextsFindWhatEachFinds() throws {
    let all = try filled()
    for path in ["text", "name", "mixed", "friend.text", "ANY texts", "ALL texts"] {
      for comparator in ["BEGINSWITH", "ENDSWITH", "CONTAINS", "CONTAINS[c]", "BEGINSWITH[cd]"] {
        let starts = words.prefix(12).map { String($0.prefix(3)) }
        let ends = words.prefix(12).map { String($0.suffix(2)) }
        let inside = words.prefix(12).map { "x\($0)" }
        for values in [starts, ends, inside + [""], starts + words, ["W", "E1", "e"] + inside] {
          let format = "\(path) \(comparator) %@"
          check(all, values.map { NSPredicate(format: format, argumentArray: [$0]) }, format)
        }
      }
    }
  }

  /// Alternatives that ask for a value of their own and for something else.
  @Test func pairsFindWhatEachFinds() throws {
    let all = try filled()
    let numbers: [Any] = Array(0..<40)
    let doubles: [Any] = (0..<40).map { Double($0) }
    let inside: [Any] = words.map { "x\($0)y" }
    let named: [Any] = words.enumerated().map { "\($0.element)\($0.offset)" }
    let mixed: [Any] = numbers + words.map { $0 as Any }
    let friends: [Any] = Array(all.prefix(40))
    let firsts: [(path: String, values: [Any])] = [
      ("int", numbers), ("indexed", numbers), ("double", doubles), ("text", inside),
      ("name", named), ("mixed", mixed), ("friend.int", numbers), ("ANY ints", numbers),
      ("NONE ints", numbers), ("ALL texts", words), ("friend", friends),
    ]
    let seconds = [
      "indexed < %@", "NOT id > %@", "int == %@", "friend.int == %@", "ANY ints == %@",
    ]
    for (index, (path, values)) in firsts.enumerated() {
      // Each value once, and several alternatives of each.
      for repetitions in [1, 4] {
        let second = seconds[(index + repetitions) % seconds.count]
        let parts: [NSPredicate] = (0..<40 * repetitions).map { (number: Int) -> NSPredicate in
          let value = values[number % values.count]
          let other: Any = number % 17 * repetitions
          if number % 3 == 0 {
            return NSPredicate(
              format: "\(second) AND \(path) == %@", argumentArray: [other, value])
          }
          return NSPredicate(format: "\(path) == %@ AND \(second)", argumentArray: [value, other])
        }
        // Among them some that ask otherwise, and an object without a value.
        let others = [
          NSPredicate(format: "int == nil AND id < 30"), NSPredicate(format: "id == 77"),
          NSPredicate(format: "\(path) == nil AND id > 60"),
        ]
        check(all, parts + others, "\(path) and \(second), \(repetitions)")
      }
    }
  }

  private func lines(_ results: Results<Compared>) -> Int {
    results.explain().split(separator: "\n").count
  }

  /// The way of a search names what it looks at: many comparisons are one.
  @Test func manyAreOne() throws {
    let all = try filled()
    func lines(_ format: String, _ joint: NSCompoundPredicate.LogicalType) -> Int {
      let parts = (0..<40).map { NSPredicate(format: format, argumentArray: ["\($0)"]) }
      let found = all.filter(NSCompoundPredicate(type: joint, subpredicates: parts))
      return self.lines(found)
    }
    for path in ["text", "name", "friend.text"] {
      #expect(lines("\(path) != %@", .and) < 12)
      #expect(lines("NOT \(path) == %@", .and) < 12)
      for comparator in ["BEGINSWITH", "ENDSWITH", "CONTAINS"] {
        #expect(lines("\(path) \(comparator) %@", .or) < 12)
        #expect(lines("NOT \(path) \(comparator) %@", .and) < 12)
      }
    }
  }

  @Test func ordersOneAfterTheOther() throws {
    let all = try filled()
    func ids(_ results: Results<Compared>) -> [Int] { Array(results.map(\.id)) }
    let two = all.sorted(by: ["int", "id"])
    // An order by the same again decides alone; what it leaves equal stays as it was.
    #expect(ids(all.sorted(byKeyPath: "id").sorted(byKeyPath: "int")) == ids(two))
    #expect(
      ids(all.sorted(byKeyPath: "int", ascending: false).sorted(by: ["id"]).sorted(by: ["int"]))
        == ids(two))
    // What chooses among equal elements stays in front of the choice.
    let last = all.sorted(byKeyPath: "id", ascending: false).distinct(by: ["indexed"])
    #expect(ids(last.sorted(byKeyPath: "id")) == Array(80..<120))
    #expect(ids(last.sorted(by: ["id"]).distinct(by: ["indexed"])) == Array(80..<120))
    let other = last.sorted(byKeyPath: "id").distinct(by: ["name"]).sorted(by: ["indexed"])
    #expect(ids(other) == Array(80..<120))
    var (many, few) = (all.sorted(by: ["int"]), all.sorted(by: ["int"]))
    for number in 0..<100 {
      many = many.sorted(byKeyPath: number % 2 == 0 ? "int" : "text", ascending: number % 3 == 0)
      if number >= 98 {
        few = few.sorted(byKeyPath: number % 2 == 0 ? "int" : "text", ascending: number % 3 == 0)
      }
    }
    #expect(ids(many) == ids(few))
    #expect(lines(many) == lines(few))
  }

  /// What is no number is found where it is, in every collection of values.
  @Test func positionsOfWhatIsNoNumber() throws {
    let all = try filled()
    let object = all[0]
    try #require(all.realm).write { object.doubles.append(objectsIn: [1, .nan, 2]) }
    #expect(object.doubles.index(of: .nan) == 1)
    let results = object.doubles.filter("SELF != 7")
    #expect(results.index(of: .nan) == 1 && results.index(of: 2) == 2)
    #expect(results.index(of: 3) == nil)
  }
}
