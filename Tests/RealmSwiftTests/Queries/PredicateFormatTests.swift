// The whole grammar of string predicates, each beside the same condition in Swift.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Knot: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var n: Int?
  @Persisted var d: Double
  @Persisted var s: String?
  @Persisted var when: Date?
  @Persisted var flag: Bool
  @Persisted var price: Decimal128
  @Persisted var list: List<Int>
  @Persisted var words: List<String?>
  @Persisted var kids: List<Knot>
  @Persisted var link: Knot?
  @Persisted(originProperty: "kids") var parents: LinkingObjects<Knot>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class NamedWithEmoji: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var 🐶: Int
  @Persisted var big🐶s: Int
  @Persisted var 👩‍🚒: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct PredicateFormatTests {
  private typealias Case = (format: String, arguments: [Any], fits: (Knot) -> Bool)

  private func knots() throws -> Results<Knot> {
    let realm = try memoryRealm([Knot.self])
    try realm.write {
      let texts: [String?] = ["a", "Ab", nil, "Zoë", "it's", "zoe b", "", "a*c"]
      for id in 0..<16 {
        let knot = realm.create(Knot.self, value: ["id": id])
        knot.n = id % 5 == 0 ? nil : id % 4
        knot.d = Double(id) / 2
        knot.s = texts[id % texts.count]
        knot.when = id % 3 == 0 ? nil : Date(timeIntervalSince1970: Double(id))
        knot.flag = id % 2 == 0
        knot.price = Decimal128(integerLiteral: Int64(id)) / 4
        knot.list.append(objectsIn: (0..<(id % 4)).map { ($0 * id) % 5 })
        knot.words.append(objectsIn: texts.prefix(id % 5))
      }
      let all = realm.objects(Knot.self)
      for knot in all {
        knot.kids.append(objectsIn: all.where { $0.id > knot.id && $0.id <= knot.id + knot.id % 4 })
        knot.link = knot.id % 3 == 0 ? nil : all[(knot.id * 7) % 16]
      }
    }
    return realm.objects(Knot.self)
  }

  private func check(_ cases: [Case]) throws {
    let knots = try knots()
    for (format, arguments, fits) in cases {
      let expected = knots.filter { fits($0) }.map(\.id)
      let found = knots.filter(NSPredicate(format: format, argumentArray: arguments)).map(\.id)
      #expect(Array(found) == Array(expected), "\(format)")
    }
  }

  @Test func valuesAndComparators() throws {
    try check([
      ("n == 1", [], { $0.n == 1 }), ("n = 1", [], { $0.n == 1 }),
      ("n != 1", [], { $0.n != 1 }), ("n <> 1", [], { $0.n != 1 }),
      ("1 < n", [], { $0.n.map { $0 > 1 } ?? false }),
      ("n => 2", [], { $0.n.map { $0 >= 2 } ?? false }),
      ("n =< 2", [], { $0.n.map { $0 <= 2 } ?? false }),
      ("n == nil", [], { $0.n == nil }), ("n != NULL", [], { $0.n != nil }),
      ("n == %@", [NSNull()], { $0.n == nil }),
      ("n == %lu AND d < %f", [1, 3.5], { $0.n == 1 && $0.d < 3.5 }),
      ("n == id", [], { $0.n == $0.id }), ("d >= 1.5e0", [], { $0.d >= 1.5 }),
      ("%K == %@", ["s", "a"], { $0.s == "a" }),
      ("%K.%K == 1", ["link", "n"], { $0.link?.n == 1 }),
      ("flag == YES", [], { $0.flag }), ("flag == false", [], { !$0.flag }),
      ("price > 2.25", [], { $0.price > 2.25 }),
      ("price == %@", [Decimal128(1)], { $0.price == 1 }),
      (
        "when > %@", [Date(timeIntervalSince1970: 5)], { ($0.when?.timeIntervalSince1970 ?? 0) > 5 }
      ),
      ("id BETWEEN {3, 5}", [], { (3...5).contains($0.id) }),
      ("id BETWEEN %@", [[3, 5]], { (3...5).contains($0.id) }),
      ("n IN {1, NULL}", [], { $0.n == 1 || $0.n == nil }),
      ("n IN %@", [[1, 2]], { $0.n == 1 || $0.n == 2 }),
      ("n NOT IN {1, 2}", [], { $0.n != 1 && $0.n != 2 }),
      ("NOT s IN {'a', 'Ab'}", [], { $0.s != "a" && $0.s != "Ab" }),
      ("n IN {}", [], { _ in false }),
    ])
  }

  @Test func texts() throws {
    func folded(_ text: String?) -> String {
      (text ?? "?").folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
    try check([
      ("s == 'it\\'s'", [], { $0.s == "it's" }), ("s == \"it's\"", [], { $0.s == "it's" }),
      ("s ==[c] 'AB'", [], { $0.s?.lowercased() == "ab" }),
      ("s BEGINSWITH[cd] 'zOe'", [], { folded($0.s).hasPrefix("zoe") }),
      ("s CONTAINS 'b'", [], { $0.s?.contains("b") ?? false }),
      ("s CONTAINS[c] 'B'", [], { $0.s?.lowercased().contains("b") ?? false }),
      ("s ENDSWITH 'b'", [], { $0.s?.hasSuffix("b") ?? false }),
      ("s LIKE 'a?c'", [], { $0.s == "a*c" }), ("s LIKE '*'", [], { $0.s != nil }),
      ("s LIKE[c] 'A*'", [], { $0.s?.lowercased().hasPrefix("a") ?? false }),
      ("s > 'a'", [], { $0.s.map { $0 > "a" } ?? false }), ("s == ''", [], { $0.s == "" }),
      ("ANY words == 'Ab'", [], { $0.words.contains("Ab") }),
      ("ANY words == nil", [], { $0.words.contains(nil) }),
      (
        "ANY words BEGINSWITH[c] 'A'", [],
        {
          $0.words.contains { $0?.lowercased().hasPrefix("a") ?? false }
        }
      ),
    ])
  }

  /// A mark that combines with a quote is a part of the text.
  @Test func textsThatBeginOrEndWithAMark() throws {
    let realm = try memoryRealm([Knot.self])
    let text = "\u{301}x\u{301}"
    try realm.write {
      realm.create(Knot.self, value: ["id": 1, "s": text])
      realm.create(Knot.self, value: ["id": 2, "s": "x"])
    }
    let knots = realm.objects(Knot.self)
    for format in ["s == '\(text)'", "s == \"\(text)\"", "s == '\\\(text)'", "'\(text)' == s"] {
      #expect(Array(knots.filter(format).map(\.id)) == [1], "\(format)")
    }
  }

  /// Foundation's placeholders: what they stand for follows from the argument.
  @Test(arguments: [
    "@", "d", "D", "i", "u", "U", "x", "X", "o", "O", "hd", "hhd", "hu", "hx", "ld", "lu", "lx",
    "lld", "llu", "llx", "qd", "qu", "qx", "zd", "zu", "td", "jd", "f", "e", "g", "a", "lf", "Lf",
  ])
  func placeholders(_ form: String) throws {
    try check([
      ("n == %\(form)", [1], { $0.n == 1 }),
      (
        "n IN {%\(form),%\(form)}AND d<%f", [1, 2, 3.5], { ($0.n == 1 || $0.n == 2) && $0.d < 3.5 }
      ),
    ])
  }

  /// Formats are kept by their bytes: of two that Swift calls equal each finds its own.
  @Test func formatsThatSwiftCallsEqual() throws {
    let knots = try knots()
    try #require(knots.realm).write {
      knots[0].s = "\u{e9}"
      knots[1].s = "e\u{301}"
    }
    for _ in 0..<2 {
      #expect(knots.filter("s == '\u{e9}'").map { $0.id } == [0])
      #expect(knots.filter("s == 'e\u{301}'").map { $0.id } == [1])
    }
  }

  @Test func connectives() throws {
    try check([
      ("id > 1 && id < 3 || id == 5", [], { $0.id == 2 || $0.id == 5 }),
      ("id > 1 AND (id < 3 OR id == 5)", [], { $0.id == 2 || $0.id == 5 }),
      ("!(id == 1)", [], { $0.id != 1 }),
      ("NOT (id == 1 OR id == 2)", [], { $0.id != 1 && $0.id != 2 }),
      ("not id == 1 and not id == 2", [], { $0.id != 1 && $0.id != 2 }),
      ("TRUEPREDICATE", [], { _ in true }), ("FALSEPREDICATE OR id == 1", [], { $0.id == 1 }),
      ("TRUEPREDICATE AND id == 1", [], { $0.id == 1 }),
    ])
  }

  @Test func bracketsAroundOperands() throws {
    try check([
      ("(n) == 1", [], { $0.n == 1 }), ("((n)) == ((1))", [], { $0.n == 1 }),
      ("((n) == 1)", [], { $0.n == 1 }), ("(1) < (n)", [], { $0.n.map { $0 > 1 } ?? false }),
      ("(%K) == %@", ["s", "a"], { $0.s == "a" }),
      (
        "NOT (n) == 1 AND (id > 3 OR (s) == 'a')", [],
        { $0.n != 1 && ($0.id > 3 || $0.s == "a") }
      ),
      ("(n) NOT IN {1, 2}", [], { $0.n != 1 && $0.n != 2 }),
      ("(s) BEGINSWITH 'a'", [], { $0.s?.hasPrefix("a") ?? false }),
      ("(list.@count) == 0", [], { $0.list.isEmpty }),
      ("ANY (list) > 2", [], { $0.list.contains { $0 > 2 } }),
      (
        "((SUBQUERY(list, $x, ($x) > 1).@count) == 1)", [], { $0.list.count { $0 > 1 } == 1 }
      ),
    ])
  }

  @Test func namesWithEmoji() throws {
    let realm = try memoryRealm([NamedWithEmoji.self])
    try realm.write {
      for id in 0..<3 {
        let object = NamedWithEmoji()
        object.id = id
        object.🐶 = id
        object.big🐶s = id * 2
        object.👩‍🚒 = id * 3
        realm.add(object)
      }
    }
    let objects = realm.objects(NamedWithEmoji.self)
    #expect(Array(objects.filter("🐶 > 1").map(\.id)) == [2])
    #expect(Array(objects.filter("#🐶==1").map(\.id)) == [1])
    #expect(Array(objects.filter("big🐶s == 2").map(\.id)) == [1])
    #expect(Array(objects.filter("👩‍🚒 == 6 OR id == 0").map(\.id)) == [0, 2])
  }

  @Test func collections() throws {
    try check([
      ("ANY list > 2", [], { $0.list.contains { $0 > 2 } }),
      ("SOME list == 2", [], { $0.list.contains(2) }),
      ("ALL list < 3", [], { $0.list.allSatisfy { $0 < 3 } }),
      ("NONE list == 0", [], { !$0.list.contains(0) }),
      ("ANY list BETWEEN {2, 3}", [], { $0.list.contains { (2...3).contains($0) } }),
      ("ANY list IN {2, 4}", [], { $0.list.contains { $0 == 2 || $0 == 4 } }),
      ("2 IN list", [], { $0.list.contains(2) }),
      (
        "n IN list", [],
        { knot in
          knot.n.map { knot.list.contains($0) } ?? false
        }
      ),
      ("list.@count == 0", [], { $0.list.isEmpty }),
      (
        "list.@count > n", [],
        { knot in
          knot.n.map { knot.list.count > $0 } ?? false
        }
      ),
      ("list.@sum > 3", [], { $0.list.reduce(0, +) > 3 }),
      ("list.@min == 0", [], { $0.list.min() == 0 }),
      ("list.@max == 4", [], { $0.list.max() == 4 }),
      ("list.@avg == 0", [], { !$0.list.isEmpty && $0.list.allSatisfy { $0 == 0 } }),
    ])
  }

  @Test func links() throws {
    try check([
      ("link == nil", [], { $0.link == nil }), ("link.link.n == 1", [], { $0.link?.link?.n == 1 }),
      ("link.n == n", [], { $0.link?.n == $0.n }),
      ("ANY kids.n == 2", [], { $0.kids.contains { $0.n == 2 } }),
      ("ALL kids.n > 0", [], { $0.kids.allSatisfy { ($0.n ?? 0) > 0 } }),
      ("NONE kids.s == 'a'", [], { !$0.kids.contains { $0.s == "a" } }),
      ("kids.@count > 1", [], { $0.kids.count > 1 }),
      ("kids.@max.n == 3", [], { $0.kids.compactMap(\.n).max() == 3 }),
      ("kids.@sum.d > 8", [], { $0.kids.reduce(0) { $0 + $1.d } > 8 }),
      (
        "kids.@avg.d > 5", [],
        {
          !$0.kids.isEmpty && $0.kids.reduce(0) { $0 + $1.d } / Double($0.kids.count) > 5
        }
      ),
      ("kids.@min.price < 1", [], { ($0.kids.map(\.price).min() ?? 9) < 1 }),
      ("link.kids.@count == 2", [], { $0.link?.kids.count == 2 }),
      ("ANY kids.link.n == 1", [], { $0.kids.contains { $0.link?.n == 1 } }),
      ("ANY kids.list == 2", [], { $0.kids.contains { $0.list.contains(2) } }),
      ("ANY parents.id == 3", [], { $0.parents.contains { $0.id == 3 } }),
      ("parents.@count == 2", [], { $0.parents.count == 2 }),
      (
        "ANY parents.parents.id > 0", [],
        { $0.parents.contains { $0.parents.contains { $0.id > 0 } } }
      ),
      (
        "SUBQUERY(kids, $k, $k.n > 0 AND $k.flag == true).@count > 0", [],
        {
          $0.kids.contains { ($0.n ?? 0) > 0 && $0.flag }
        }
      ),
      (
        "SUBQUERY(kids, $k, $k.n == 1 OR $k.s == 'a').@count == 1", [],
        {
          $0.kids.count { $0.n == 1 || $0.s == "a" } == 1
        }
      ),
      (
        "SUBQUERY(kids, $k, ANY $k.list == 2).@count >= 1", [],
        {
          $0.kids.contains { $0.list.contains(2) }
        }
      ),
      (
        "SUBQUERY(kids, $k, SUBQUERY($k.kids, $j, $j.n == 1).@count > 0).@count > 0", [],
        {
          $0.kids.contains { $0.kids.contains { $0.n == 1 } }
        }
      ),
      ("SUBQUERY(list, $x, $x > 1).@count == 1", [], { $0.list.count { $0 > 1 } == 1 }),
      ("SUBQUERY(parents, $p, $p.id > 4).@count > 1", [], { $0.parents.count { $0.id > 4 } > 1 }),
    ])
  }

  @Test func objectsAsValues() throws {
    let knots = try knots()
    let three = knots[3]
    #expect(
      knots.filter("%@ IN kids", three).map(\.id)
        == knots.filter { $0.kids.contains(three) }.map(\.id))
    #expect(knots.filter("ANY kids == %@", three).count == three.parents.count)
    #expect(
      knots.filter("link == %@", three).map(\.id) == knots.filter { $0.link == three }.map(\.id))
    #expect(
      knots.filter("link IN %@", [three, knots[5]]).count
        == knots.filter {
          $0.link == three || $0.link == knots[5]
        }.count)
    #expect(three.kids.filter("SELF == %@", knots[5]).count == 1)
  }
}
