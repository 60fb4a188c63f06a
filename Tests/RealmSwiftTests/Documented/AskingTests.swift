// Queries, orders and aggregates as the documentation shows them.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AskingTests {
  private func isbns(_ results: Results<Volume>) -> [String] { results.map(\.isbn) }

  // MARK: - Texts of predicates

  @Test func placeholdersOfNamesAndValues() throws {
    let (realm, _) = try libraryRealm()
    let all = realm.objects(Volume.self)
    #expect(isbns(all.filter("%K BEGINSWITH[cd] %@", "title", "ECO")) == ["1", "2"])
    #expect(isbns(all.filter("%K.name == %@ AND year > %d", "author", "Änna", 1955)) == ["2"])
    #expect(isbns(all.filter("%K == %@", "author.name", "bert")) == ["3"])
    #expect(isbns(all.filter("author == %@", all[2].author!)) == ["3"])
    #expect(isbns(all.filter("author == nil OR author.born == nil")) == ["3", "4"])
    #expect(isbns(all.filter("year IN %@", [1960, 1970])) == ["2", "4"])
    #expect(isbns(all.filter("year IN {1960, 1970} AND NOT title CONTAINS 'app'")) == ["2"])
    #expect(isbns(all.filter("year BETWEEN {1950, 1960}")) == ["1", "2", "3"])
    #expect(isbns(all.filter("year BETWEEN %@", [1951, 1970])) == ["2", "4"])
    #expect(isbns(all.filter("isbn IN %@", [String]())) == [])
    #expect(isbns(all.filter("genre == 'novel' && rating != nil")) == ["1"])
    #expect(isbns(all.filter("price > 0.15 AND price <= %@", Decimal128(9.90))) == ["1", "4"])
    #expect(isbns(all.filter("cost == %d", 1970)) == ["4"])
    #expect(isbns(all.filter("TRUEPREDICATE")).count == 4)
    #expect(isbns(all.filter("!(year == 1950)")) == ["2", "4"])
    #expect(isbns(all.filter("title LIKE[c] '?COLE' OR title ==[cd] 'ÉCOLE'")) == ["1", "2"])
  }

  @Test func collectionsInTexts() throws {
    let (realm, library) = try libraryRealm()
    let libraries = realm.objects(Library.self)
    #expect(libraries.filter("ANY volumes.year > 1965").count == 1)
    #expect(libraries.filter("ALL volumes.year > 1965").isEmpty)
    #expect(libraries.filter("NONE volumes.year > 1975").count == 1)
    #expect(libraries.filter("volumes.@count == 4 AND labels.@count > 1").count == 1)
    #expect(libraries.filter("volumes.@sum.year == 7830 AND volumes.@min.year == 1950").count == 1)
    #expect(libraries.filter("volumes.@avg.rating > 3.7").count == 1)
    #expect(
      libraries.filter(
        "SUBQUERY(volumes, $v, $v.year == 1950 AND $v.author.name == 'bert').@count == 1"
      ).count == 1)
    #expect(libraries.filter("SUBQUERY(volumes, $v, ANY $v.tags == 't3').@count > 0").count == 1)
    #expect(libraries.filter("'quiet' IN labels").count == 1)
    #expect(libraries.filter("ANY labels ==[c] 'QUIET'").count == 1)
    #expect(libraries.filter("%@ IN volumes", library.volumes[1]).count == 1)
    #expect(libraries.filter("counts['seats'] == 12").count == 1)
    #expect(libraries.filter("ANY counts.@allKeys == 'desks'").count == 1)
    #expect(libraries.filter("ANY counts.@allValues > 11").count == 1)
    #expect(libraries.filter("counts.@max < 12").isEmpty)
    #expect(realm.objects(Volume.self).filter("ANY libraries.name == 'main'").count == 4)
    #expect(realm.objects(Author.self).filter("volumes.@count == 2").first?.name == "Änna")
  }

  // MARK: - Queries by key paths

  @Test func optionalsAndNegation() throws {
    let (realm, _) = try libraryRealm()
    let all = realm.objects(Volume.self)
    #expect(isbns(all.where { $0.rating == nil }) == ["2", "4"])
    #expect(isbns(all.where { !($0.rating > 4) }) == ["2", "3", "4"])
    #expect(isbns(all.where { $0.rating.in([4.5, nil]) }) == ["1", "2", "4"])
    #expect(isbns(all.where { $0.author.born == nil }) == ["3", "4"])
    #expect(isbns(all.where { $0.rating != nil && $0.year == 1950 }) == ["1", "3"])
    #expect(isbns(all.where { $0.author != nil && !($0.author.name == "bert") }) == ["1", "2"])
  }

  @Test func enumsAndOwnTypes() throws {
    let (realm, _) = try libraryRealm()
    let all = realm.objects(Volume.self)
    #expect(isbns(all.where { $0.genre == .novel }) == ["1", "4"])
    #expect(isbns(all.where { $0.genre.in([.essay, .poetry]) }) == ["2", "3"])
    #expect(isbns(all.where { $0.genre != .novel }) == ["2", "3"])
    #expect(isbns(all.where { $0.genre.rawValue.starts(with: "po") }) == ["3"])
    #expect(isbns(all.where { $0.cost == Money(cents: 1960) }) == ["2"])
    #expect(isbns(all.where { $0.cost.persistableValue > 1955 }) == ["2", "4"])
  }

  @Test func textsWithOptions() throws {
    let (realm, _) = try libraryRealm()
    let all = realm.objects(Volume.self)
    let both: StringOptions = [.caseInsensitive, .diacriticInsensitive]
    #expect(isbns(all.where { $0.title.equals("ecole", options: both) }) == ["1", "2"])
    #expect(isbns(all.where { $0.title.contains("COL", options: .caseInsensitive) }) == ["1", "2"])
    #expect(
      isbns(all.where { $0.title.starts(with: "e", options: .diacriticInsensitive) }) == ["2"])
    #expect(isbns(all.where { $0.title.ends(with: "LE", options: .caseInsensitive) }).count == 3)
    #expect(isbns(all.where { $0.title.like("*p?le") }) == ["4"])
    #expect(isbns(all.where { $0.title.notEquals("ECOLE", options: both) }) == ["3", "4"])
    #expect(isbns(all.where { $0.author.name.equals("ANNA", options: both) }) == ["1", "2"])
  }

  @Test func rangesAndDates() throws {
    let (realm, _) = try libraryRealm()
    let all = realm.objects(Volume.self)
    func date(_ year: Int) -> Date { Date(timeIntervalSince1970: Double(year) * 1000) }
    #expect(isbns(all.where { $0.year.contains(1950..<1960) }) == ["1", "3"])
    #expect(isbns(all.where { $0.year.contains(1950...1960) }) == ["1", "2", "3"])
    #expect(isbns(all.where { $0.added.contains(date(1955)...date(1970)) }) == ["2", "4"])
    #expect(isbns(all.where { $0.added > date(1960) }) == ["4"])
    #expect(isbns(all.filter("added BETWEEN {%@, %@}", date(1950), date(1960))) == ["1", "2", "3"])
    #expect(isbns(all.filter("added IN %@", [date(1960)])) == ["2"])
    #expect(
      all.max(of: \.added) == date(1970) && all.min(ofProperty: "added") as Date? == date(1950))
  }

  @Test func collectionsByKeyPaths() throws {
    let (realm, library) = try libraryRealm()
    let libraries = realm.objects(Library.self)
    let volumes = realm.objects(Volume.self)
    #expect(libraries.where { $0.volumes.year > 1965 }.count == 1)
    #expect(libraries.where { $0.volumes.count == 4 && $0.volumes.year.sum == 7830 }.count == 1)
    #expect(libraries.where { $0.volumes.rating.avg > 3.7 && $0.volumes.year.max < 1970 }.isEmpty)
    #expect(libraries.where { $0.labels.contains("quiet") }.count == 1)
    #expect(libraries.where { $0.labels.containsAny(in: ["x", "old"]) }.count == 1)
    #expect(libraries.where { $0.volumes.contains(library.volumes[0]) }.count == 1)
    #expect(
      libraries.where { ($0.volumes.year == 1950 && $0.volumes.genre == .poetry).count == 1 }.count
        == 1)
    #expect(libraries.where { $0.counts["seats"] == 12 && $0.counts.keys == "desks" }.count == 1)
    #expect(libraries.where { $0.counts.values > 12 }.isEmpty)
    #expect(volumes.where { $0.tags == "t2" }.map(\.isbn) == ["2"])
    #expect(volumes.where { $0.libraries.name == "main" }.count == 4)
    #expect(realm.objects(Author.self).where { $0.volumes.count >= 2 }.map(\.name) == ["Änna"])
    #expect(
      realm.objects(Author.self).where { $0.volumes.title == "Zebra" }.map(\.name) == ["bert"])
  }

  // MARK: - Orders

  @Test func severalDescriptors() throws {
    let (realm, _) = try libraryRealm()
    let all = realm.objects(Volume.self)
    let byYear = SortDescriptor(keyPath: "year", ascending: false)
    #expect(isbns(all.sorted(by: [byYear, "title"])) == ["4", "2", "3", "1"])
    #expect(
      isbns(all.sorted(by: [byYear, SortDescriptor(keyPath: \Volume.rating)])) == [
        "4", "2", "3", "1",
      ])
    #expect(isbns(all.sorted(by: ["author.name", "year"])) == ["4", "3", "1", "2"])
    #expect(isbns(all.sorted(byKeyPath: "rating")) == ["2", "4", "3", "1"])
    #expect(isbns(all.sorted(by: \.price, ascending: false)) == ["3", "1", "4", "2"])
    #expect(isbns(all.sorted(byKeyPath: "title")).last == "1")
    #expect(
      isbns(all.sorted(byKeyPath: "year").sorted(byKeyPath: "isbn", ascending: false))
        == ["4", "3", "2", "1"])
    #expect(isbns(all.sorted(byKeyPath: "genre")) == ["2", "1", "4", "3"])
  }

  @Test func distinctKeepsTheFirst() throws {
    let (realm, _) = try libraryRealm()
    let all = realm.objects(Volume.self)
    #expect(isbns(all.distinct(by: ["year"])) == ["1", "2", "4"])
    #expect(
      isbns(all.sorted(byKeyPath: "isbn", ascending: false).distinct(by: ["year"])) == [
        "4", "3", "2",
      ])
    #expect(isbns(all.distinct(by: [\Volume.genre])) == ["1", "2", "3"])
    #expect(isbns(all.distinct(by: ["year", "genre"])).count == 4)
    #expect(isbns(all.distinct(by: ["author.name"])) == ["1", "3", "4"])
    #expect(isbns(all.distinct(by: ["year"]).where { $0.genre == .poetry }) == ["3"])
  }

  // MARK: - Aggregates

  @Test func aggregatesLeaveNilOut() throws {
    let (realm, library) = try libraryRealm()
    let all = realm.objects(Volume.self)
    #expect(all.average(of: \.rating) == 3.75 && all.sum(of: \.rating) == 7.5)
    #expect(all.min(of: \.rating) == 3 && all.max(ofProperty: "rating") as Double? == 4.5)
    let none = all.where { $0.rating == nil }
    #expect(none.average(of: \.rating) == nil && none.sum(of: \.rating) == 0)
    #expect(none.max(of: \.rating) == nil)
    #expect(library.counts.sum() == 15 && library.counts.max() == 12)
    #expect(library.volumes.sum(ofProperty: "year") as Int == 7830)
  }

  @Test func decimalsAreExact() throws {
    let (realm, _) = try libraryRealm()
    let all = realm.objects(Volume.self)
    let tenth = try Decimal128(string: "0.1")
    #expect(tenth + 0.2 == (try Decimal128(string: "0.30")))
    #expect(tenth * 3 - 0.3 == 0 && (tenth / 3) * 3 < tenth)
    #expect(all.sum(of: \.price) == (try Decimal128(string: "30.20")))
    #expect(all.average(of: \.price) == (try Decimal128(string: "7.55")))
    #expect(isbns(all.where { $0.price == (tenth + tenth) }) == ["4"])
    #expect(isbns(all.where { $0.price.contains(0.1...0.2) }) == ["2", "4"])
  }

  // MARK: - Results

  @Test func resultsAreCollections() throws {
    let (realm, library) = try libraryRealm()
    let all = realm.objects(Volume.self)
    #expect(all.index(of: library.volumes[2]) == 2 && all.index(matching: "year == 1970") == 3)
    #expect(all.index(matching: { $0.title == "none" }) == nil)
    #expect(all[1...2].map(\.isbn) == ["2", "3"] && all.reversed().first?.isbn == "4")
    #expect(all.objects(at: [0, 3]).map(\.isbn) == ["1", "4"])
    #expect(all.first { $0.year > 1955 }?.isbn == "2" && all.last?.isbn == "4")
    let live = all.where { $0.year == 1950 }.sorted(byKeyPath: "title")
    let frozen = live.freeze()
    try realm.write { realm.add(Volume("5", "AAA", 1950)) }
    #expect(isbns(live) == ["5", "3", "1"] && isbns(frozen) == ["3", "1"])
    #expect(isbns(live.filter("title != 'Zebra'")) == ["5", "1"])
    #expect(Array(library.volumes.where { $0.year == 1950 }.prefix(1)).map(\.isbn) == ["1"])
  }
}
