// Creating and updating graphs of objects, as the documentation of the update policies tells.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct UpsertTests {
  @Test func modifiedTouchesOnlyWhatIsGivenAtEveryLevel() throws {
    let (realm, library) = try libraryRealm()
    try realm.write {
      realm.create(
        Library.self,
        value: [
          "id": 1,
          "volumes": [
            ["isbn": "1", "title": "New", "author": ["name": "Änna", "home": ["city": "Rome"]]],
            ["isbn": "9", "title": "Ninth"],
          ] as [[String: Any]],
        ] as [String: Any], update: .modified)
    }
    #expect(library.name == "main" && library.labels.count == 2)
    #expect(library.volumes.map(\.isbn) == ["1", "9"])
    let first = library.volumes[0]
    #expect(first.title == "New" && first.year == 1950 && first.rating == 4.5)
    #expect(first.author?.born == 1920 && first.author?.home?.city == "Rome")
    #expect(realm.objects(Volume.self).count == 5 && realm.objects(Author.self).count == 2)
    #expect(library.volumes[1].genre == .novel && library.volumes[1].year == 0)
  }

  @Test func allTakesEveryPropertyOfAnObject() throws {
    let (realm, library) = try libraryRealm()
    let volume = Volume("1", "Bare", 2000)
    try realm.write { realm.add(volume, update: .all) }
    let stored = library.volumes[0]
    #expect(stored.isSameObject(as: volume) && stored.title == "Bare")
    #expect(stored.rating == nil && stored.author == nil && stored.tags.isEmpty)
    #expect(stored.added == nil && stored.libraries.count == 1)
  }

  @Test func oneObjectTwiceInAGraph() throws {
    let (realm, _) = try libraryRealm()
    let author = Author()
    author.name = "new"
    let reader = Reader()
    reader.name = "r"
    for isbn in ["20", "21", "20"] {
      let volume = Volume(isbn, "t" + isbn, 1)
      volume.author = author
      reader.lent.append(volume)
    }
    try realm.write { realm.add(reader, update: .modified) }
    #expect(reader.lent.count == 3 && reader.lent[0].isSameObject(as: reader.lent[2]))
    #expect(author.volumes.count == 2 && realm.objects(Author.self).count == 3)
  }

  @Test func nullInADictionaryIsNil() throws {
    let (realm, library) = try libraryRealm()
    try realm.write {
      realm.create(
        Volume.self,
        value: ["isbn": "1", "rating": NSNull(), "author": NSNull(), "added": NSNull()]
          as [String: Any], update: .modified)
    }
    let volume = library.volumes[0]
    #expect(volume.rating == nil && volume.author == nil && volume.added == nil)
    #expect(volume.title == "École")
  }

  @Test func numbersOfOtherTypesAreTaken() throws {
    let (realm, _) = try libraryRealm()
    let volume = try realm.write {
      realm.create(
        Volume.self,
        value: [
          "isbn": "n", "year": NSNumber(value: 7), "rating": 3, "price": 2.5, "genre": "essay",
          "cost": 99,
        ] as [String: Any])
    }
    #expect(volume.year == 7 && volume.rating == 3 && volume.price == 2.5)
    #expect(volume.genre == .essay && volume.cost == Money(cents: 99))
  }

  @Test func arraysInPropertyOrder() throws {
    let (realm, _) = try libraryRealm()
    let author = try realm.write {
      // The superclass's properties come first.
      realm.create(Author.self, value: ["Zoe", 1990, ["Oslo", 3] as [Any]] as [Any])
    }
    #expect(author.name == "Zoe" && author.born == 1990)
    #expect(author.home?.city == "Oslo" && author.home?.rooms == 3)
  }

  @Test func anObjectOfTheSameRealmIsLinkedNotCopied() throws {
    let (realm, library) = try libraryRealm()
    let anna = realm.object(ofType: Author.self, forPrimaryKey: "Änna")!
    let volume = try realm.write {
      realm.create(Volume.self, value: ["isbn": "x", "author": anna] as [String: Any])
    }
    #expect(volume.author!.isSameObject(as: anna) && realm.objects(Author.self).count == 2)
    let other = try realm.write {
      realm.create(Library.self, value: ["id": 2, "volumes": library.volumes] as [String: Any])
    }
    #expect(other.volumes.count == 4 && other.volumes[3].isSameObject(as: library.volumes[3]))
    #expect(library.volumes[0].libraries.count == 2)
  }

  @Test func graphsAreCopiedToAnotherRealm() throws {
    let (realm, library) = try libraryRealm()
    try realm.write {
      library.address = Residence("Bonn", 4)
      library.branches.append(Residence("Köln"))
      library.rooms["a"] = Residence("a")
      library.extra = .object(library.volumes[1])
    }
    let other = try memoryRealm(libraryClasses)
    let copy = try other.write { other.create(Library.self, value: library, update: .modified) }
    #expect(copy.volumes.map(\.title) == library.volumes.map(\.title))
    #expect(copy.volumes[0].author?.name == "Änna" && copy.byCode["c3"]??.title == "Zebra")
    #expect(copy.address?.city == "Bonn" && copy.branches.first?.city == "Köln")
    #expect(copy.rooms["a"]??.city == "a" && copy.labels.contains("old"))
    #expect(copy.extra.object(Volume.self)?.isbn == "2" && copy.counts["desks"] == 3)
    #expect(other.objects(Volume.self).count == 4 && other.objects(Author.self).count == 2)
    #expect(realm.objects(Volume.self).count == 4)
    // Once more: nothing is there twice.
    try other.write { _ = other.create(Library.self, value: library, update: .all) }
    #expect(other.objects(Volume.self).count == 4 && copy.volumes.count == 4)
  }

  @Test func aCopyIsChangedAndPutBack() throws {
    let (realm, library) = try libraryRealm()
    let copy = Volume(value: library.volumes[2])
    copy.title = "Zoo"
    copy.tags.append("new")
    #expect(library.volumes[2].title == "Zebra" && copy.realm == nil)
    try realm.write { realm.add(copy, update: .modified) }
    #expect(library.volumes[2].title == "Zoo" && library.volumes[2].tags.count == 3)
    #expect(library.volumes[2].author?.name == "bert")
  }

  @Test func whatAQueryFindsIsTheValueOfAList() throws {
    let (realm, library) = try libraryRealm()
    let found = realm.objects(Volume.self).sorted(byKeyPath: "isbn", ascending: false)
    let isbns = ["4", "3", "2", "1"]
    try realm.write {
      let other = realm.create(Library.self, value: ["id": 2, "volumes": found] as [String: Any])
      #expect(other.volumes.map(\.isbn) == isbns)
      library.setValue(AnyRealmCollection(found), forKey: "volumes")
    }
    #expect(library.volumes.map(\.isbn) == isbns && realm.objects(Volume.self).count == 4)
  }

  @Test func errorPolicyStopsAtANestedKeyThatIsThere() async {
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let (realm, _) = try libraryRealm()
        try realm.write {
          realm.create(
            Reader.self, value: ["name": "r", "lent": [["isbn": "1"]]] as [String: Any])
        }
      }, "existing primary key value '1'")
  }

  @Test func openingAgainRunsNoInitializer() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration("count.realm", [Counted.self])
    _ = try Realm(configuration: configuration).write { 0 }
    let before = Counted.made.withLock { $0 }
    for _ in 0..<3 {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Counted.self).isEmpty)
      #expect(realm.freeze().objects(Counted.self).isEmpty)
    }
    #expect(Counted.made.withLock { $0 } == before)
  }
}

/// Counts how often it is made.
class Counted: Object {
  @Persisted var number = Counted.count()
  @Persisted var numbers: List<Int>

  static let made = Monitor(0)

  private static func count() -> Int {
    made.withLock { made in
      made += 1
      return made
    }
  }
}
