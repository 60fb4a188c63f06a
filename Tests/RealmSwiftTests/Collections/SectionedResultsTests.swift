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
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Band: Object {
  @Persisted var name: String
  @Persisted var songs: List<Song>
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
