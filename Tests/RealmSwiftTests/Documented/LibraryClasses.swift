// The model of the tests in this folder, which check what the public documentation tells users to
// rely on.
import Foundation
import RealmSwift

enum Genre: String, PersistableEnum, Codable {
  case novel, poetry, essay
}

/// An amount of money, stored as its number of cents.
struct Money: CustomPersistable, Equatable {
  var cents: Int
  init(cents: Int) { self.cents = cents }
  init(persistedValue: Int) { cents = persistedValue }
  var persistableValue: Int { cents }
}

/// What authors and readers have in common; an abstract class in the client's eyes.
class Human: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var born: Int?
}

class Author: Human {
  @Persisted(originProperty: "author") var volumes: LinkingObjects<Volume>
  @Persisted var home: Residence?
}

class Reader: Human {
  @Persisted var lent: List<Volume>
}

class Residence: EmbeddedObject {
  @Persisted var city: String
  @Persisted var rooms: Int

  convenience init(_ city: String, _ rooms: Int = 1) {
    self.init()
    self.city = city
    self.rooms = rooms
  }
}

class Volume: Object {
  @Persisted(primaryKey: true) var isbn: String
  @Persisted var title: String
  @Persisted var year: Int
  @Persisted var price: Decimal128
  @Persisted var rating: Double?
  @Persisted var genre: Genre
  @Persisted var cost: Money
  @Persisted var added: Date?
  @Persisted var author: Author?
  @Persisted var tags: List<String>
  @Persisted(originProperty: "volumes") var libraries: LinkingObjects<Library>

  convenience init(_ isbn: String, _ title: String, _ year: Int, _ genre: Genre = .novel) {
    self.init()
    self.isbn = isbn
    self.title = title
    self.year = year
    self.genre = genre
  }
}

class Library: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var volumes: List<Volume>
  @Persisted var labels: MutableSet<String>
  @Persisted var byCode: Map<String, Volume?>
  @Persisted var counts: Map<String, Int>
  @Persisted var address: Residence?
  @Persisted var branches: List<Residence>
  @Persisted var rooms: Map<String, Residence?>
  @Persisted var extra: AnyRealmValue
  @Persisted var extras: List<AnyRealmValue>
  @Persisted var extraSet: MutableSet<AnyRealmValue>
  @Persisted var extraMap: Map<String, AnyRealmValue>
}

/// Other names in the file than in Swift.
class Mapped: Object {
  @Persisted(primaryKey: true) var key: Int
  @Persisted var firstName: String
  @Persisted var friends: List<Mapped>
  @Persisted var best: Mapped?
  @Persisted(originProperty: "best") var admirers: LinkingObjects<Mapped>

  override class func propertiesMapping() -> [String: String] {
    ["firstName": "first_name", "friends": "friend_list", "best": "best_friend"]
  }
}

let libraryClasses: [ObjectBase.Type] = [
  Author.self, Reader.self, Residence.self, Volume.self, Library.self, Mapped.self,
]

/// A Realm in memory with a library of four volumes by two authors.
func libraryRealm() throws -> (realm: Realm, library: Library) {
  let realm = try memoryRealm(libraryClasses)
  let library = try realm.write { () -> Library in
    let anna = realm.create(Author.self, value: ["name": "Änna", "born": 1920] as [String: Any])
    let bert = realm.create(Author.self, value: ["name": "bert"])
    let rows: [(String, String, Int, Genre, String, Double?, Author?)] = [
      ("1", "École", 1950, .novel, "9.90", 4.5, anna),
      ("2", "ecole", 1960, .essay, "0.10", nil, anna),
      ("3", "Zebra", 1950, .poetry, "20", 3, bert), ("4", "apple", 1970, .novel, "0.20", nil, nil),
    ]
    let volumes = try rows.map { row -> Volume in
      let volume = Volume(row.0, row.1, row.2, row.3)
      volume.price = try Decimal128(string: row.4)
      volume.rating = row.5
      volume.author = row.6
      volume.cost = Money(cents: row.2)
      volume.added = Date(timeIntervalSince1970: Double(row.2) * 1000)
      volume.tags.append(objectsIn: ["t\(row.0)", "all"])
      return volume
    }
    let library = Library()
    library.id = 1
    library.name = "main"
    library.volumes.append(objectsIn: volumes)
    library.labels.insert(objectsIn: ["quiet", "old"])
    for volume in volumes { library.byCode["c" + volume.isbn] = volume }
    library.counts["seats"] = 12
    library.counts["desks"] = 3
    realm.add(library)
    return library
  }
  return (realm, library)
}
