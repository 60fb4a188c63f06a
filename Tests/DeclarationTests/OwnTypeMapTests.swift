// Maps whose values are a client's type that is stored as an object.
import Foundation
import RealmSwift
import TestSupport
import Testing

class Coordinates: EmbeddedObject {
  @Persisted var latitude: Double
  @Persisted var longitude: Double
}

/// Stored as an embedded object.
struct Place: CustomPersistable, Equatable {
  var latitude: Double
  var longitude: Double

  init(_ latitude: Double, _ longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  init(persistedValue: Coordinates) {
    self.init(persistedValue.latitude, persistedValue.longitude)
  }

  var persistableValue: Coordinates {
    Coordinates(value: ["latitude": latitude, "longitude": longitude])
  }
}

/// In the default list of every test: it has to be possible.
class Atlas: Object {
  @Persisted var name: String
  @Persisted var places: Map<String, Place>
  @Persisted var perhaps: Map<String, Place?>
  @Persisted var listed: List<Place>
}

/// The form in which the map's values were before there was a type of their own.
class OlderAtlas: Object {
  @Persisted var name: String
  @Persisted var places: Map<String, Coordinates?>
  @Persisted var perhaps: Map<String, Coordinates?>
  @Persisted var listed: List<Coordinates>
  override class func _realmObjectName() -> String? { "Atlas" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class that holds itself.
class Branch: EmbeddedObject {
  @Persisted var label: String
  @Persisted var next: Branch?
  @Persisted var branches: List<Branch>
}

class Trunk: Object {
  @Persisted var root: Branch?
}

@Suite(.ownThreads) struct OwnTypeMapTests {
  @Test func isFoundInTheDefaultList() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString))
    #expect(realm.schema["Atlas"]?["places"]?.isMap == true)
    #expect(realm.schema["Atlas"]?["places"]?.objectClassName == "Coordinates")
  }

  @Test func keepsItsEntries() throws {
    let folder = TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("atlas.realm")),
      objectTypes: [Atlas.self, Coordinates.self])
    try autoreleased {
      let realm = try Realm(configuration: configuration)
      let atlas = Atlas()
      atlas.places["unmanaged"] = Place(1, 2)
      #expect(atlas.places["unmanaged"] == Place(1, 2))
      try realm.write {
        realm.add(atlas)
        atlas.places["a"] = Place(3, 4)
        atlas.places["b"] = Place(5, 6)
        atlas.places["a"] = Place(7, 8)
        atlas.perhaps["none"] = .some(nil)
        atlas.perhaps["one"] = Place(9, 10)
        atlas.places["gone"] = Place(0, 0)
        atlas.places.removeObject(for: "gone")
      }
      try realm.write {
        realm.create(
          Atlas.self,
          value: [
            "name": "made", "places": ["c": ["latitude": 1.5, "longitude": 2.5]],
            "listed": [Place(1, 1)],
          ])
      }
    }
    let realm = try Realm(configuration: configuration)
    let atlas = try #require(realm.objects(Atlas.self).first)
    #expect(atlas.places.keys == ["a", "b", "unmanaged"])
    #expect(atlas.places["a"] == Place(7, 8))
    #expect(atlas.places.values == [Place(7, 8), Place(5, 6), Place(1, 2)])
    #expect(atlas.places["gone"] == nil)
    #expect(atlas.perhaps["none"] == .some(.none) && atlas.perhaps["one"] == Place(9, 10))
    let made = try #require(realm.objects(Atlas.self).where { $0.name == "made" }.first)
    #expect(made.places["c"] == Place(1.5, 2.5))
    #expect(made.listed.first == Place(1, 1))
    #expect(realm.objects(Atlas.self).filter("ANY places.latitude > 6").count == 1)
    let frozen = atlas.freeze()
    try realm.write { atlas.places.removeAll() }
    #expect(atlas.places.isEmpty && frozen.places["b"] == Place(5, 6))
  }

  /// The stored form is that of a map of optional embedded objects, so nothing has to be migrated.
  @Test func takesOverAMapOfObjects() throws {
    let folder = TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("atlas.realm")),
      objectTypes: [OlderAtlas.self, Coordinates.self])
    try autoreleased {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        let atlas = realm.create(OlderAtlas.self)
        atlas.places["a"] = Place(1, 2).persistableValue
      }
    }
    configuration.objectTypes = [Atlas.self, Coordinates.self]
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Atlas.self).first?.places["a"] == Place(1, 2))
  }

  @Test func nilOfAnOlderMapStopsWithTheTypeInTheMessage() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let file = FileManager.default.temporaryDirectory
        .appendingPathComponent("\(UUID().uuidString).realm")
      var configuration = Realm.Configuration(
        fileURL: file, objectTypes: [OlderAtlas.self, Coordinates.self])
      try autoreleased {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(OlderAtlas.self).places["a"] = .some(nil) }
      }
      configuration.objectTypes = [Atlas.self, Coordinates.self]
      _ = try Realm(configuration: configuration).objects(Atlas.self).first?.places["a"]
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains("Failed to convert persisted value 'nil' to type 'Place' in a non-optional"))
  }

  @Test func embeddedClassesMayHoldThemselves() throws {
    let realm = try memoryRealm([Trunk.self, Branch.self])
    try realm.write {
      realm.create(
        Trunk.self,
        value: ["root": ["label": "a", "next": ["label": "b"], "branches": [["label": "c"]]]])
    }
    let root = try #require(realm.objects(Trunk.self).first?.root)
    #expect(root.next?.label == "b" && root.branches.first?.label == "c")
  }
}

/// Lets everything that the body opened go.
@inline(never)
private func autoreleased(_ body: () throws -> Void) rethrows { try body() }
