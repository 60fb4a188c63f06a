// Figures of conditions with many constants, and of indexes that tell little: texts that begin
// alike, and columns of few values. Each stands beside the same without an index, or beside the
// same in plain Swift.
import Foundation
import Platform
import RealmSwift

/// An object that is found by an address, a word or a state.
final class Page: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var word: String
  @Persisted(indexed: true) var indexedWord: String
  @Persisted var address: String
  @Persisted(indexed: true) var indexedAddress: String
  @Persisted var state: String
  @Persisted(indexed: true) var indexedState: String
  @Persisted var level: Int
  @Persisted(indexed: true) var indexedLevel: Int
  @Persisted var size: Int
  @Persisted var next: Page?
}

private let names = [
  "swift-filter-by-set", "in-text", "in-indexed-text", "in-int", "in-key", "not-in-text",
  "in-linked-text", "in-address", "in-indexed-address", "in-2000-addresses",
  "in-2000-indexed-addresses", "in-2000-numbers", "in-2000-keys", "begins-address",
  "begins-indexed-address", "or-5000-texts", "equal-address",
  "equal-indexed-address", "equal-indexed-word", "state-count", "state-indexed-count",
  "state-first", "state-indexed-first", "state-sum", "state-indexed-sum", "level-count",
  "level-indexed-count", "level-first", "level-indexed-first", "level-sum", "level-indexed-sum",
  "or-5000-pairs", "or-5000-indexed-pairs", "or-5000-number-pairs", "work-queue",
  "work-queue-indexed", "work-queue-by-owner",
].map { "constants-" + $0 }

nonisolated(unsafe) private var sink = 0

func constantRows(_ report: inout Report) throws {
  guard report.wants(anyOf: names) else { return }
  var settings = configuration("constants.realm", .memory)
  settings.objectTypes = [Page.self]
  let realm = try Realm(configuration: settings)
  let count = min(objectCount, 40_000)
  var random = RandomGenerator(seed: 29)
  try realm.write {
    var last: Page?
    for id in 0..<count {
      let number = Int(random.next() % UInt64(count))
      let page = Page()
      page.id = id
      page.word = "\(number) word"
      page.indexedWord = page.word
      page.address = "https://www.example.org/pages/\(number)"
      page.indexedAddress = page.address
      page.state = "state \(number % 10)"
      page.indexedState = page.state
      page.level = number % 10
      page.indexedLevel = page.level
      page.size = number
      page.next = last
      last = page
      realm.add(page)
    }
  }
  let pages = realm.objects(Page.self)
  func repeated(_ name: String, _ calls: Int, _ body: () -> Int) {
    report.time("constants-" + name, repetitions: repetitions, calls: calls) {
      for _ in 0..<calls { sink &+= body() }
    }
  }
  let words = (0..<count).map { "\($0) word" }
  let addresses = (0..<count).map { "https://www.example.org/pages/\($0)" }
  let numbers = Array(0..<count)
  let wordSet = Set(words)
  repeated("swift-filter-by-set", 1) { pages.filter { wordSet.contains($0.word) }.count }
  repeated("in-text", 1) { pages.where { $0.word.in(words) }.count }
  repeated("in-indexed-text", 1) { pages.where { $0.indexedWord.in(words) }.count }
  repeated("in-int", 1) { pages.where { $0.size.in(numbers) }.count }
  repeated("in-key", 1) { pages.where { $0.id.in(numbers) }.count }
  repeated("not-in-text", 1) { pages.where { !$0.word.in(words) }.count }
  repeated("in-linked-text", 1) { pages.where { $0.next.word.in(words) }.count }
  let hundred = Array(addresses.prefix(100))
  repeated("in-address", 10) { pages.where { $0.address.in(hundred) }.count }
  repeated("in-indexed-address", 10) { pages.where { $0.indexedAddress.in(hundred) }.count }
  // As many as are looked up in an index at most.
  let thousands = Array(addresses.prefix(2_000))
  repeated("in-2000-addresses", 1) { pages.where { $0.address.in(thousands) }.count }
  repeated("in-2000-indexed-addresses", 1) { pages.where { $0.indexedAddress.in(thousands) }.count }
  let keys = Array(numbers.prefix(2_000))
  repeated("in-2000-numbers", 1) { pages.where { $0.size.in(keys) }.count }
  repeated("in-2000-keys", 1) { pages.where { $0.id.in(keys) }.count }
  let beginning = "https://www.example.org/pages/77"
  repeated("begins-address", 10) { pages.where { $0.address.starts(with: beginning) }.count }
  repeated("begins-indexed-address", 10) {
    pages.where { $0.indexedAddress.starts(with: beginning) }.count
  }
  let alternatives = words.prefix(5_000).map { "word == '\($0)'" }.joined(separator: " OR ")
  repeated("or-5000-texts", 1) { pages.filter(alternatives).count }
  // Alternatives that ask for a value of their own and for something else.
  func pairs(_ format: String, _ values: [Any]) -> NSPredicate {
    NSCompoundPredicate(
      orPredicateWithSubpredicates: values.prefix(5_000).enumerated().map {
        NSPredicate(format: format, argumentArray: [$0.element, $0.offset % 10])
      })
  }
  let textPairs = pairs("word == %@ AND level == %@", words)
  repeated("or-5000-pairs", 1) { pages.filter(textPairs).count }
  let indexedPairs = pairs("indexedWord == %@ AND level == %@", words)
  repeated("or-5000-indexed-pairs", 1) { pages.filter(indexedPairs).count }
  let numberPairs = pairs("size == %@ AND level == %@", numbers)
  repeated("or-5000-number-pairs", 1) { pages.filter(numberPairs).count }
  let wanted = addresses[count / 2]
  repeated("equal-address", 10) { pages.where { $0.address == wanted }.count }
  repeated("equal-indexed-address", 10) { pages.where { $0.indexedAddress == wanted }.count }
  repeated("equal-indexed-word", 100) { pages.where { $0.indexedWord == words[7] }.count }
  repeated("state-count", 10) { pages.where { $0.state == "state 3" }.count }
  repeated("state-indexed-count", 10) { pages.where { $0.indexedState == "state 3" }.count }
  repeated("state-first", 100) { pages.where { $0.state == "state 3" }.first!.id }
  repeated("state-indexed-first", 100) { pages.where { $0.indexedState == "state 3" }.first!.id }
  repeated("state-sum", 10) { pages.where { $0.state == "state 3" }.sum(of: \.size) }
  repeated("state-indexed-sum", 10) {
    pages.where { $0.indexedState == "state 3" }.sum(of: \.size)
  }
  repeated("level-count", 10) { pages.where { $0.level == 3 }.count }
  repeated("level-indexed-count", 10) { pages.where { $0.indexedLevel == 3 }.count }
  repeated("level-first", 100) { pages.where { $0.level == 3 }.first!.id }
  repeated("level-indexed-first", 100) { pages.where { $0.indexedLevel == 3 }.first!.id }
  repeated("level-sum", 10) { pages.where { $0.level == 3 }.sum(of: \.size) }
  repeated("level-indexed-sum", 10) { pages.where { $0.indexedLevel == 3 }.sum(of: \.size) }
  // A queue of work: the first that waits is taken, and waits no longer.
  realm.beginWrite()
  repeated("work-queue", 100) {
    let page = pages.where { $0.state == "state 5" }.first!
    page.state = "state 6"
    return page.id
  }
  repeated("work-queue-indexed", 100) {
    let page = pages.where { $0.indexedState == "state 5" }.first!
    page.indexedState = "state 6"
    return page.id
  }
  // The same of those that belong to one object.
  let owner = pages.first!
  for page in pages where page.id % 2 == 0 { page.next = owner }
  repeated("work-queue-by-owner", 100) {
    let page = pages.where { $0.next == owner }.first!
    page.next = nil
    return page.id
  }
  realm.cancelWrite()
  realm.invalidate()
}
