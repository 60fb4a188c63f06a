// Reading and writing by name: objects, collections, dynamic objects; texts; coding.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct KeyValueCodingTests {
  @Test func resultsSetAPropertyOfAll() throws {
    let (realm, library) = try libraryRealm()
    try realm.write {
      realm.objects(Volume.self).where { $0.year == 1950 }.setValue("fifties", forKey: "title")
      library.volumes.setValue(nil, forKey: "rating")
      realm.objects(Volume.self).setValue(Genre.essay.rawValue, forKey: "genre")
    }
    #expect(library.volumes.map(\.title) == ["fifties", "ecole", "fifties", "apple"])
    #expect(library.volumes.allSatisfy { $0.rating == nil && $0.genre == .essay })
  }

  /// The condition holds no longer for those that have been set.
  @Test func settingWhatTheResultsAreChosenBy() throws {
    let (realm, _) = try libraryRealm()
    let results = realm.objects(Volume.self).where { $0.year < 1965 }
    try realm.write { results.setValue(2000, forKey: "year") }
    #expect(results.isEmpty && realm.objects(Volume.self).where { $0.year == 2000 }.count == 3)
  }

  @Test func operatorsOfKeyPaths() throws {
    let (_, library) = try libraryRealm()
    #expect(
      library.volumes.value(forKey: "title") as? [String] == ["École", "ecole", "Zebra", "apple"])
    #expect(library.volumes.value(forKeyPath: "@count") as? Int == 4)
    #expect(library.volumes.value(forKeyPath: "@sum.year") as? Int == 7830)
    #expect(library.volumes.value(forKeyPath: "@max.rating") as? Double == 4.5)
    #expect(library.value(forKeyPath: "volumes.@avg.year") as? Double == 1957.5)
    let names = library.volumes.value(forKeyPath: "@distinctUnionOfObjects.author.name")
    #expect(names as? [String] == ["Änna", "bert"])
    let nested = library.value(forKeyPath: "volumes.author.name") as? [Any?]
    #expect(nested?.map { $0 as? String } == ["Änna", "Änna", "bert", nil])
  }

  @Test func pathsThroughLinksAreSet() throws {
    let (realm, library) = try libraryRealm()
    let volume = library.volumes[0]
    try realm.write {
      volume["title"] = "by name"
      volume["tags"] = ["x", "y"]
      volume.setValue(1921, forKeyPath: "author.born")
      library["volumes"] = [library.volumes[1], library.volumes[0]]
      library.setValue(["a": 1], forKey: "counts")
    }
    #expect(volume.title == "by name" && Array(volume.tags) == ["x", "y"])
    #expect(volume.author?.born == 1921 && library.volumes.map(\.isbn) == ["2", "1"])
    #expect(library.counts.count == 1 && library.counts["a"] == 1)
  }

  @Test func mappedNamesAreThoseOfSwift() throws {
    let realm = try memoryRealm(libraryClasses)
    try realm.write {
      let one = realm.create(
        Mapped.self,
        value: ["key": 1, "firstName": "A", "friends": [["key": 2, "firstName": "B"]]]
          as [String: Any])
      realm.create(Mapped.self, value: ["key": 3, "best": one] as [String: Any])
    }
    let all = realm.objects(Mapped.self)
    #expect(all.where { $0.firstName == "B" }.map(\.key) == [2])
    #expect(all.filter("firstName == 'A'").count == 1)
    #expect(all.where { $0.friends.firstName == "B" }.first?.key == 1)
    #expect(all.where { $0.best.firstName == "A" }.first?.key == 3)
    #expect(all.filter("ANY friends.firstName == 'B'").first?.key == 1)
    #expect(all.where { $0.admirers.count == 1 }.first?.key == 1)
    #expect(all.sorted(byKeyPath: "firstName", ascending: false).map(\.key) == [2, 1, 3])
    #expect(all[0]["firstName"] as? String == "A" && all[0].description.contains("firstName = A"))
    #expect(realm.schema["Mapped"]?["firstName"]?.columnName == "first_name")
    #expect(all.first?.admirers.first?.key == 3)
  }

  @Test func dynamicObjects() throws {
    let (realm, _) = try libraryRealm()
    try realm.write {
      let library = realm.dynamicCreate(
        "Library",
        value: [
          "id": 5, "volumes": [["isbn": "d", "title": "dyn"]],
          "address": ["city": "X", "rooms": 2],
          "counts": ["a": 1], "labels": ["l"],
        ] as [String: Any])
      library.dynamicList("volumes").append(
        realm.dynamicObject(ofType: "Volume", forPrimaryKey: "1")!)
      library["name"] = "dynamic"
      library.extra = AnyRealmValue.int(3)
    }
    let library = realm.object(ofType: Library.self, forPrimaryKey: 5)!
    #expect(library.name == "dynamic" && library.volumes.map(\.isbn) == ["d", "1"])
    #expect(library.address?.rooms == 2 && library.counts["a"] == 1 && library.labels.contains("l"))
    #expect(library.extra == .int(3))
    let volumes = realm.dynamicObjects("Volume").filter("year BETWEEN {1950, 1960}")
    #expect(volumes.sorted(byKeyPath: "title").map { $0["isbn"] as! String } == ["3", "2", "1"])
    #expect(volumes.max(ofProperty: "year") as Int? == 1960)
    let author = volumes.first?["author"] as? Object
    #expect(author?["name"] as? String == "Änna" && author?["born"] as? Int == 1920)
  }

  @Test func objectsAreDecodedWithWhatTheyHold() throws {
    let text = """
      {"name": "json", "code": 3, "owner": {"name": "o"}, "parts": [{"name": "p"}, {"name": "q"}],
       "scores": [1, 2], "marks": {"a": 1.5}, "kind": "poetry"}
      """
    let decoded = try JSONDecoder().decode(Decoded.self, from: Data(text.utf8))
    #expect(decoded.parts.map(\.name) == ["p", "q"] && decoded.owner?.name == "o")
    #expect(Array(decoded.scores) == [1, 2] && decoded.marks["a"] == 1.5 && decoded.note == nil)
    let realm = try memoryRealm([Decoded.self, DecodedPart.self])
    try realm.write { realm.add(decoded) }
    #expect(decoded.kind == .poetry && realm.objects(DecodedPart.self).count == 3)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let parts = try encoder.encode(decoded.scores)
    #expect(String(decoding: parts, as: UTF8.self) == "[1,2]")
  }

  @Test func textsOfCollections() throws {
    let (realm, library) = try libraryRealm()
    let results = realm.objects(Author.self).description
    #expect(results.hasPrefix("Results<Author> <0x") && results.contains("[1] Author {"))
    let numbers = library.volumes[0].tags.description
    #expect(numbers.hasPrefix("List<string> <0x") && numbers.contains("[0] t1"))
    #expect(library.volumes[3].description.contains("rating = (null);"))
  }

  @Test func equalityAndIdentity() throws {
    let (realm, library) = try libraryRealm()
    let first = realm.object(ofType: Volume.self, forPrimaryKey: "1")!
    let again = library.volumes[0]
    #expect(first == again && first.isSameObject(as: again) && Set([first, again]).count == 1)
    #expect(library.volumes.index(of: first) == 0 && library.volumes.contains(first))
    #expect(first.freeze() != first && first.freeze().isSameObject(as: first) == false)
    #expect(Volume("1", "", 0) != Volume("1", "", 0))
  }
}

class Decoded: Object, Codable {
  @Persisted var name: String
  @Persisted var code: Int
  @Persisted var note: String?
  @Persisted var kind: Genre
  @Persisted var owner: DecodedPart?
  @Persisted var parts: List<DecodedPart>
  @Persisted var scores: List<Int>
  @Persisted var marks: Map<String, Double>
}

class DecodedPart: Object, Codable {
  @Persisted var name: String
}
