// Results in sections: by properties and by closures, live and frozen.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Song: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var title: String
  @Persisted var year: Int?
  @Persisted var band: Band?
  @Persisted var live: Bool
  @Persisted var plays: List<Int>
  var letter: String { title.prefix(1).uppercased() }
  var isLong: Bool { title.count > 4 }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Band: Object {
  @Persisted var name: String
  @Persisted var songs: List<Song>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Errand: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var due: Int?
  @Persisted var isDone: Bool
  @Persisted var helper: Errand?
  /// Reads one property of an errand without values, and others of one that has some.
  var group: String {
    guard let due else { return "none" }
    if isDone { return "done" }
    return helper.map { "of \($0.id)" } ?? "day \(due % 3)"
  }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct SectionedResultsTests {
  private func songs() throws -> Results<Song> {
    let realm = try memoryRealm([Song.self, Band.self])
    try realm.write {
      let titles = ["Beta", "alpha", "Gamma", "Bravo", "apple", "Alto"]
      for (id, title) in titles.enumerated() {
        let song = realm.create(
          Song.self, value: ["id": id, "title": title, "live": id % 2 == 0] as [String: Any])
        song.year = id == 3 ? nil : 1990 + id / 2
        song.plays.append(objectsIn: [id, id * 10, 5])
      }
      let band = realm.create(Band.self, value: ["name": "B"])
      band.songs.append(objectsIn: realm.objects(Song.self).filter("id < 3"))
      for song in band.songs { song.band = band }
    }
    return realm.objects(Song.self)
  }

  /// The keys come from another class, which changes inside of the transaction.
  @Test func keysThatChangeInATransaction() throws {
    let songs = try songs()
    let realm = try #require(songs.realm)
    let sections = songs.sectioned(by: { $0.band?.name ?? "" })
    try realm.write {
      #expect(sections.allKeys == ["", "B"])
      realm.objects(Band.self)[0].name = "C"
      #expect(sections.allKeys == ["", "C"] && sections[1].key == "C")
    }
  }

  @Test func byProperties() throws {
    let songs = try songs()
    let years = songs.sectioned(by: \.year)
    #expect(years.allKeys == [nil, 1990, 1991, 1992] && years.count == 4)
    #expect(years.map { $0.map(\.id) } == [[3], [0, 1], [2], [4, 5]])
    #expect(years[1].key == 1990 && years[1].id == 1990 && years[1].count == 2)
    #expect(years[IndexPath(item: 1, section: 3)].id == 5)
    #expect(songs.sectioned(by: \.year, ascending: false).allKeys == [1992, 1991, 1990, nil])
    let sorted = songs.sectioned(
      by: \.year, sortDescriptors: ["year", SortDescriptor(keyPath: "title", ascending: false)])
    #expect(sorted.map { $0.map(\.title) }[1] == ["alpha", "Beta"])
    #expect(songs.sectioned(by: \.band?.name).allKeys == [nil, "B"])
  }

  @Test func byClosures() throws {
    let songs = try songs()
    let letters = songs.sectioned(
      by: { String($0.title.prefix(1)).lowercased() },
      sortDescriptors: [SortDescriptor(keyPath: "title")])
    #expect(letters.allKeys == ["a", "b", "g"])
    #expect(
      letters.map { $0.map(\.title) } == [
        ["Alto", "alpha", "apple"], ["Beta", "Bravo"], ["Gamma"],
      ])
    #expect(
      songs.sectioned(by: { $0.live }, ascending: false).map { $0.map(\.id) }
        == [[0, 2, 4], [1, 3, 5]])
    #expect(songs.where { $0.id > 3 }.sectioned(by: { $0.year }).allKeys == [1992])
    let parity = songs[3].plays.sectioned(by: { $0 % 2 == 0 ? "even" : "odd" })
    #expect(parity.allKeys == ["odd", "even"] && parity.map { Array($0) } == [[3, 5], [30]])
    let band = try #require(songs[0].band)
    #expect(band.songs.sectioned(sortDescriptors: ["title"]) { $0.live }.allKeys == [true, false])
  }

  /// The order is that of the property, so that elements of one section may be apart.
  @Test func byComputedProperties() throws {
    let songs = try songs()
    let realm = try #require(songs.realm)
    let letters = songs.sectioned(by: \.letter)
    func titles() -> [[String]] { letters.map { $0.map(\.title) } }
    #expect(letters.allKeys == ["A", "B", "G"])
    #expect(titles() == [["Alto", "alpha", "apple"], ["Beta", "Bravo"], ["Gamma"]])
    try realm.write {
      // In order: Alto, Apex, Beta, Bravo, Gamma, alpha, apple.
      realm.create(Song.self, value: ["id": 6, "title": "Apex"] as [String: Any])
      #expect(titles() == [["Alto", "Apex", "alpha", "apple"], ["Beta", "Bravo"], ["Gamma"]])
      realm.delete(songs.where { $0.title.in(["Apex", "Beta", "Bravo"]) })
      #expect(titles() == [["Alto", "alpha", "apple"], ["Gamma"]])
      realm.create(Song.self, value: ["id": 7, "title": "Aa"] as [String: Any])
    }
    // In order: Aa, Alto, Gamma, alpha, apple.
    #expect(letters.allKeys == ["A", "G"])
    #expect(titles() == [["Aa", "Alto", "alpha", "apple"], ["Gamma"]])
    let lengths = songs.sectioned(by: \.isLong, ascending: false)
    #expect(lengths.map { $0.map(\.title) } == [["apple", "alpha", "Gamma"], ["Alto", "Aa"]])
    let again = songs.freeze().sectioned(by: \.letter, sortDescriptors: ["title"])
    #expect(again.map { $0.map(\.title) } == titles())
  }

  /// What is computed may depend on more properties than the one that orders the results, in large
  /// results too, which go on by what has changed.
  @Test(arguments: [20, 2_000])
  func computedFromSeveralProperties(count: Int) throws {
    let realm = try memoryRealm([Errand.self])
    try realm.write {
      for id in 0..<count {
        let due = id % 10 == 9 ? NSNull() as Any : id as Any
        realm.create(Errand.self, value: ["id": id, "due": due] as [String: Any])
      }
    }
    let errands = realm.objects(Errand.self)
    let groups = errands.sectioned(by: \.group)
    func ids(_ key: String) -> [Int] { groups.first { $0.key == key }?.map(\.id) ?? [] }
    #expect(groups.allKeys == ["none", "day 0", "day 1", "day 2"])
    #expect(ids("none").prefix(2) == [9, 19] && ids("day 1").prefix(3) == [1, 4, 7])
    let errand = try #require(realm.object(ofType: Errand.self, forPrimaryKey: 4))
    try realm.write { errand.isDone = true }
    #expect(ids("done") == [4] && ids("day 1").prefix(2) == [1, 7])
    try realm.write {
      errand.isDone = false
      #expect(ids("done") == [] && ids("day 1").prefix(3) == [1, 4, 7])
      errand.helper = errands[0]
      #expect(ids("of 0") == [4])
    }
    #expect(ids("of 0") == [4] && ids("day 1").prefix(2) == [1, 7])
    #expect(groups.reduce(0) { $0 + $1.count } == count)
  }

  /// The sections of one version are found once.
  @Test func frozenOneByOne() throws {
    let songs = try songs()
    let realm = try #require(songs.realm)
    nonisolated(unsafe) var calls = 0
    let sections = songs.sectioned(by: { (song: Song) -> Int in
      calls += 1
      return song.id
    })
    #expect(sections.count == 6)
    calls = 0
    let frozen = sections.map { $0.freeze() }
    let ids = frozen.map { Array($0.map(\.id)) }
    #expect(ids == [[0], [1], [2], [3], [4], [5]] && calls == 6)
    #expect(frozen[1] == sections.freeze()[1])
    try realm.write { songs[0].title = "new" }
    #expect(frozen[1] != sections.freeze()[1] && frozen[0].first?.title == "Beta")
  }

  @Test func followChanges() throws {
    let songs = try songs()
    let realm = try #require(songs.realm)
    let years = songs.sectioned(by: \.year)
    let first = years[0]
    let frozen = years.freeze()
    try realm.write {
      songs[3].year = 2000
      realm.delete(songs[2])
    }
    #expect(years.allKeys == [1990, 1992, 2000] && first.isEmpty && first.key == nil)
    #expect(frozen.allKeys == [nil, 1990, 1991, 1992] && frozen.isFrozen && frozen[0].isFrozen)
    #expect(frozen[0].thaw()?.isEmpty == true && frozen.thaw()?.allKeys == years.allKeys)
    #expect(years == years && years != songs.sectioned(by: \.year) && years.realm == realm)
    let carried = Carried(frozen)
    onThread { #expect(carried.value[1].map(\.id) == [0, 1]) }
  }

  @Test func stops() async {
    let none = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try SectionedResultsTests().songs().sectioned(by: \.year, sortDescriptors: []) }
    expectStop(none, "There must be at least one SortDescriptor when using SectionedResults.")
    let other = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try SectionedResultsTests().songs().sectioned(by: \.year, sortDescriptors: ["title"]) }
    expectStop(other, "The section key path must match the primary sort descriptor.")
  }
}
