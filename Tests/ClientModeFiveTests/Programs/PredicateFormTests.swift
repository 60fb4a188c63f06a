// Forms of text predicates as the programs of a manga reader have them, and how many of two books
// each finds.
import Foundation
import RealmSwift
import Testing

class Manga: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var id: String
  @Persisted var title: String
  @Persisted var author: String?
  @Persisted var rating: Double
  @Persisted var chapters: List<Chapter>
  @Persisted var isFavorite: Bool
  @Persisted var updated: Date?
  @Persisted var genres: MutableSet<String>
  @Persisted var meta: Map<String, String>
  @Persisted var cover: Data?
  @Persisted var source: Source?
  @Persisted var uuid: UUID?
  @Persisted var oid: ObjectId?
  @Persisted var price: Decimal128?
}

class Chapter: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var number: Int
  @Persisted var pages: Int
  @Persisted var read: Bool
  @Persisted(originProperty: "chapters") var manga: LinkingObjects<Manga>
}

class Source: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
}

@Suite struct PredicateFormTests {
  private static let date = Date(timeIntervalSince1970: 100)
  private static let uuid = UUID(uuidString: "00000000-0000-0000-0000-000000000001")!

  private static let forms: [(String, [Any], Int)] = [
    ("title == 'One'", [], 1),
    ("title == \"One\"", [], 1),
    ("title = %@", ["One"], 1),
    ("title ==[c] 'one'", [], 1),
    ("title !=[cd] %@", ["öne"], 1),
    ("title <> %@", ["One"], 1),
    ("NOT title == %@", ["One"], 1),
    ("!(title == %@)", ["One"], 1),
    ("title BEGINSWITH[c] %@", ["o"], 1),
    ("title ENDSWITH 'e'", [], 1),
    ("title CONTAINS[cd] %@", ["N"], 1),
    ("title LIKE '*n?'", [], 1),
    ("title LIKE[c] %@", ["O*"], 1),
    ("title IN %@", [["One", "Two"]], 2),
    ("title IN {'One', 'Two'}", [], 2),
    ("rating > 3", [], 2),
    ("rating >= 3.5", [], 2),
    ("rating => 3.5", [], 2),
    ("rating =< 3.5", [], 1),
    ("rating BETWEEN {1, 4}", [], 1),
    ("rating BETWEEN %@", [[1, 4]], 1),
    ("isFavorite == YES", [], 1),
    ("isFavorite == true", [], 1),
    ("isFavorite = NO", [], 1),
    ("isFavorite == %@", [true], 1),
    ("isFavorite == %d", [1], 1),
    ("isFavorite == 1", [], 1),
    ("author == nil", [], 1),
    ("author = NULL", [], 1),
    ("author != nil", [], 1),
    ("author == %@", [NSNull()], 1),
    ("updated > %@", [date], 1),
    ("updated <= %@", [date as NSDate], 0),
    ("updated == nil", [], 1),
    ("chapters.@count > 0", [], 1),
    ("chapters.@count == %d", [2], 1),
    ("chapters.@max.pages > 10", [], 1),
    ("chapters.@min.pages < 10", [], 0),
    ("chapters.@sum.pages == 30", [], 1),
    ("chapters.@avg.pages == 15", [], 1),
    ("chapters.@count BETWEEN {1, 3}", [], 1),
    ("ANY chapters.read == true", [], 1),
    ("SOME chapters.read == true", [], 1),
    ("ALL chapters.read == true", [], 1),
    ("NONE chapters.read == true", [], 1),
    ("SUBQUERY(chapters, $c, $c.read == true AND $c.pages > 15).@count > 0", [], 0),
    ("SUBQUERY(chapters, $x, $x.pages > %d).@count == 1", [15], 1),
    ("ANY genres == %@", ["a"], 1),
    ("'a' IN genres", [], 1),
    ("%@ IN genres", ["a"], 1),
    ("genres.@count == 2", [], 1),
    ("ANY genres IN %@", [["a", "z"]], 1),
    ("meta['k'] == 'v'", [], 1),
    ("ANY meta.@allValues == %@", ["v"], 1),
    ("meta.@count = 1", [], 1),
    ("source.name == %@", ["S"], 1),
    ("source == nil", [], 1),
    ("source.id IN %@", [[1, 2]], 1),
    ("source != NIL", [], 1),
    ("%K == %@", ["title", "One"], 1),
    ("%K.name == %@", ["source", "S"], 1),
    ("%K CONTAINS[c] %@", ["source.name", "s"], 1),
    ("TRUEPREDICATE", [], 2),
    ("FALSEPREDICATE", [], 0),
    ("title == 'One' AND (rating > 3 OR isFavorite == YES)", [], 1),
    ("title == 'One' && rating > 3 || isFavorite == YES", [], 1),
    ("title == 'One' and rating > 3 or not isFavorite == yes", [], 2),
    ("rating == %f", [3.5], 1),
    ("rating > %i", [1], 2),
    ("rating < %lu", [UInt(9)], 2),
    ("rating < %ld AND rating > %lld", [9, 1], 2),
    ("cover == nil", [], 1),
    ("cover == %@", [Data([1])], 1),
    ("uuid == %@", [uuid], 1),
    ("uuid == nil", [], 1),
    ("oid != nil", [], 1),
    ("price > %@", [Decimal128(1)], 1),
    ("price == nil", [], 1),
    ("3.5 == rating", [], 1),
    ("'One' == title", [], 1),
    ("%@ == title", ["One"], 1),
    ("title == author", [], 0),
    ("rating == -1.0e0", [], 0),
    ("title CONTAINS ''", [], 2),
  ]

  private func library(_ name: String = #function) throws -> Realm {
    let realm = try Realm(
      configuration: .init(
        inMemoryIdentifier: "forms-\(name)",
        objectTypes: [Manga.self, Chapter.self, Source.self]))
    try realm.write {
      realm.create(
        Manga.self,
        value: [
          "id": "1", "title": "One", "author": "A", "rating": 3.5,
          "chapters": [[1, 10, true], [2, 20, false]], "isFavorite": true,
          "updated": Date(timeIntervalSince1970: 200), "genres": ["a", "b"], "meta": ["k": "v"],
          "cover": Data([1]), "source": [1, "S"], "uuid": Self.uuid, "oid": ObjectId.generate(),
          "price": 2,
        ] as [String: Any])
      realm.create(Manga.self, value: ["id": "2", "title": "Two", "rating": 5.0] as [String: Any])
    }
    return realm
  }

  @Test func everyFormFindsWhatItSays() throws {
    let books = try library().objects(Manga.self)
    for (format, arguments, count) in Self.forms {
      let predicate = NSPredicate(format: format, argumentArray: arguments)
      #expect(books.filter(predicate).count == count, "\(format)")
      let opposite = NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
      #expect(books.filter(opposite).count == 2 - count, "NOT \(format)")
      let both = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate, predicate])
      #expect(books.filter(both).count == count, "twice \(format)")
    }
  }

  @Test func formsAreSortedAndChained() throws {
    let books = try library().objects(Manga.self)
    for (format, arguments, count) in Self.forms {
      let predicate = NSPredicate(format: format, argumentArray: arguments)
      let sorted = books.sorted(byKeyPath: "rating", ascending: false).filter(predicate)
      #expect(sorted.count == count && books.filter(predicate).filter("id != ''").count == count)
      #expect(
        books.index(matching: predicate) == books.firstIndex { sorted.contains($0) }, "\(format)")
    }
  }
}
