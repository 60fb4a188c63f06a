// Figures of the work that queries do on whole columns: sorting, first elements of a sort, string
// conditions, sets of numbers, distinct values, sections, and results that are held through a
// change.
import Foundation
import Platform
import RealmSwift

/// The object that is sorted and searched.
final class Article: Object {
  @Persisted var small: Int
  @Persisted var wide: Int
  @Persisted var other: Int
  @Persisted var score: Double
  @Persisted var when: Date
  @Persisted var name: String
  @Persisted var code: String
  @Persisted var city: String
  @Persisted var note: String?
  @Persisted var rank: Int?
  @Persisted var maker: Maker?
}

/// What articles link to.
final class Maker: Object {
  @Persisted var age: Int
}

private let syllables = [
  "an", "bel", "cor", "dra", "el", "fin", "gar", "hol", "in", "jo", "kar", "lin", "mar", "no", "ol",
]

private let names = [
  "sort-int", "sort-wide", "sort-double", "sort-date", "sort-text", "sort-code", "sort-two",
  "sort-link", "sort-filtered", "top-int", "top-double", "top-text", "top-filtered", "top-element",
  "held-sorted", "held-filtered", "frozen-again", "contains", "contains-folded",
  "begins", "ends", "like", "text-equal", "null-text", "in-numbers", "in-texts", "or-of-ten",
  "columns", "distinct-int", "distinct-text", "distinct-wide", "sections", "values-int",
  "values-text",
].map { "query-" + $0 }

func queryKernelRows(_ report: inout Report) throws {
  guard report.wants(anyOf: names) else { return }
  var settings = configuration("kernels.realm", .memory)
  settings.objectTypes = [Article.self, Maker.self]
  let realm = try Realm(configuration: settings)
  try addArticles(realm)
  sortRows(realm, &report)
  conditionRows(realm, &report)
  groupRows(realm, &report)
  try heldRows(realm, &report)
  realm.invalidate()
}

private func addArticles(_ realm: Realm) throws {
  var random = RandomGenerator(seed: 22)
  func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
  func word() -> String { (0..<3).map { _ in syllables[number(syllables.count)] }.joined() }
  let makers = (0..<objectCount / 10).map { _ in
    let maker = Maker()
    maker.age = number(100)
    return maker
  }
  try realm.write { realm.add(makers) }
  let stored = Array(realm.objects(Maker.self))
  for start in stride(from: 0, to: objectCount, by: 50_000) {
    let articles = (start..<start + 50_000).map { _ in
      let article = Article()
      article.small = number(1_000)
      article.wide = Int(truncatingIfNeeded: random.next())
      article.other = number(1_000)
      article.score = Double(number(1 << 40)) / 1e6
      article.when = Date(timeIntervalSinceReferenceDate: Double(number(1 << 30)))
      article.name = "\(word()) \(word())"
      article.code = "article-" + String(format: "%07d", number(10_000_000))
      article.city = "city \(number(500))"
      if number(2) == 0 { article.note = word() }
      if number(2) == 0 { article.rank = number(100) }
      article.maker = stored[number(stored.count)]
      return article
    }
    try realm.write { realm.add(articles) }
  }
}

private func sortRows(_ realm: Realm, _ report: inout Report) {
  let all = realm.objects(Article.self)
  /// All elements are asked for their order: element in the middle.
  func sort(_ name: String, _ make: () -> Results<Article>) {
    report.time("query-sort-" + name, repetitions: repetitions, calls: objectCount) {
      let results = make()
      precondition(!results[results.count / 2].isInvalidated)
    }
  }
  sort("int") { all.sorted(byKeyPath: "small") }
  sort("wide") { all.sorted(byKeyPath: "wide", ascending: false) }
  sort("double") { all.sorted(byKeyPath: "score") }
  sort("date") { all.sorted(byKeyPath: "when") }
  sort("text") { all.sorted(byKeyPath: "name") }
  sort("code") { all.sorted(byKeyPath: "code") }
  sort("two") {
    all.sorted(by: [
      SortDescriptor(keyPath: "city"), SortDescriptor(keyPath: "score", ascending: false),
    ])
  }
  sort("link") { all.sorted(byKeyPath: "maker.age") }
  sort("filtered") { all.where { $0.small < 500 }.sorted(byKeyPath: "score") }
  func top(_ name: String, _ body: () -> Int) {
    report.time("query-top-" + name, repetitions: repetitions, calls: objectCount) {
      precondition(body() != 1)
    }
  }
  func sum(_ results: Results<Article>) -> Int {
    results.prefix(20).reduce(2) { $0 | $1.small << 2 }
  }
  top("int") { sum(all.sorted(byKeyPath: "small")) }
  top("double") { sum(all.sorted(byKeyPath: "score", ascending: false)) }
  top("text") { sum(all.sorted(byKeyPath: "name")) }
  top("filtered") { sum(all.where { $0.small < 500 }.sorted(byKeyPath: "score")) }
  top("element") { all.sorted(byKeyPath: "score")[7].small << 2 }
}

private func conditionRows(_ realm: Realm, _ report: inout Report) {
  let all = realm.objects(Article.self)
  func count(_ name: String, _ make: () -> Results<Article>) {
    report.time("query-" + name, repetitions: repetitions, calls: objectCount) {
      precondition(make().count >= 0)
    }
  }
  count("contains") { all.where { $0.name.contains("lin mar") } }
  count("contains-folded") { all.where { $0.name.contains("LIN mar", options: .caseInsensitive) } }
  count("begins") { all.where { $0.name.starts(with: "mar") } }
  count("ends") { all.where { $0.name.ends(with: "mar") } }
  count("like") { all.where { $0.name.like("*lin*mar?n*") } }
  count("text-equal") { all.where { $0.city == "city 77" } }
  count("null-text") { all.where { $0.note == nil } }
  let numbers = (0..<100).map { $0 * 7 }
  count("in-numbers") { all.where { $0.small.in(numbers) } }
  let texts = (0..<20).map { "city \($0 * 9)" }
  count("in-texts") { all.where { $0.city.in(texts) } }
  count("or-of-ten") {
    all.filter((0..<10).map { "small == \($0 * 70)" }.joined(separator: " OR "))
  }
  count("columns") { all.where { $0.small > $0.other } }
}

private func groupRows(_ realm: Realm, _ report: inout Report) {
  let all = realm.objects(Article.self)
  func time(_ name: String, _ body: () -> Int) {
    report.time("query-" + name, repetitions: repetitions, calls: objectCount) {
      precondition(body() > 0)
    }
  }
  time("distinct-int") { all.distinct(by: ["small"]).count }
  time("distinct-text") { all.distinct(by: ["city"]).count }
  time("distinct-wide") { all.distinct(by: ["wide"]).count }
  time("sections") { all.sectioned(by: \.city).count }
  time("values-int") { (all.value(forKey: "small") as! [Any?]).count }
  time("values-text") { (all.value(forKey: "name") as! [Any?]).count }
}

/// One number changes in a transaction; the results are asked for an element before and after.
private func heldRows(_ realm: Realm, _ report: inout Report) throws {
  let all = realm.objects(Article.self)
  let victim = all[objectCount / 3]
  var value = 0
  func held(_ name: String, _ results: Results<Article>) throws {
    guard report.wants("query-" + name) else { return }
    precondition(!results[results.count / 2].isInvalidated)
    let clock = MonotonicClock()
    var samples: [Double] = []
    for _ in 0..<repetitions * 20 {
      value = (value + 37) % 1_000
      try realm.write { victim.small = value }
      let start = clock.nanoseconds()
      precondition(!results[results.count / 2].isInvalidated)
      samples.append(Double(clock.nanoseconds() - start))
    }
    report.add("query-" + name, unit: "ns", samples)
  }
  try held("held-sorted", all.where { $0.small < 900 }.sorted(byKeyPath: "small"))
  try held("held-filtered", all.where { $0.small < 500 })
  let frozen = all.where { $0.small < 500 }.sorted(byKeyPath: "score").freeze()
  let calls = 100_000
  let middle = frozen.count / 2
  report.time("query-frozen-again", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { precondition(frozen.count > middle) }
  }
}
