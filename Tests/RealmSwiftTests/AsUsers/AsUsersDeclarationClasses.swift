// Classes as the documentation declares them, for the tests beside.
public import Foundation
public import RealmSwift

class ParkDog: Object {
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var color: String
  @Persisted var currentCity: String
  @Persisted var citiesVisited: MutableSet<String>
  @Persisted var companion: AnyRealmValue
  @Persisted var favoriteParksByCity: Map<String, String>
  @Persisted(originProperty: "dogs") var owners: LinkingObjects<ParkPerson>
}
class ParkPerson: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = ""
  @Persisted var address: ParkAddress?
  @Persisted var dogs: List<ParkDog>
  @Persisted var email: String?
  @Persisted var birthDate: Date?
  @Persisted var picture: Data? = nil
}
class ParkAddress: EmbeddedObject {
  @Persisted var street: String?
  @Persisted var city: String?
  @Persisted var country: String?
  @Persisted var postalCode: String?
}
class ParkContact: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var address: ParkAddress?
  convenience init(name: String, address: ParkAddress) {
    self.init()
    self.name = name
    self.address = address
  }
}
class ParkBusiness: Object {
  @Persisted var name: String
  @Persisted var addresses: List<ParkAddress>
  convenience init(name: String, addresses: [ParkAddress]) {
    self.init()
    self.name = name
    self.addresses.append(objectsIn: addresses)
  }
}
enum ParkStatus: String, PersistableEnum {
  case notStarted
  case inProgress
  case complete
}
class ParkTask: Object {
  @Persisted var name: String
  @Persisted var owner: String?
  @Persisted var status = ParkStatus.notStarted
  @Persisted var optionalTaskStatusEnum: ParkStatus?
  @Persisted var history: List<ParkStatus>
  @Persisted var optHistory: List<ParkStatus?>
  @Persisted var statusSet: MutableSet<ParkStatus>
  @Persisted var byDay: Map<String, ParkStatus>
  @Persisted var byDayOpt: Map<String, ParkStatus?>
}
enum ParkLevel: Int, PersistableEnum { case low = 1, mid = 5, high = 10 }
enum ParkSmall: Int8, PersistableEnum, Codable { case a = -1, b = 2 }
enum ParkDbl: Double, PersistableEnum { case half = 0.5, one = 1 }
enum ParkFlt: Float, PersistableEnum { case half = 0.5, one = 1 }
class ParkEnums: Object {
  @Persisted(primaryKey: true) var level: ParkLevel
  @Persisted(indexed: true) var small: ParkSmall = .b
  @Persisted var small2: ParkSmall?
  @Persisted var dbl = ParkDbl.one
  @Persisted var flt: ParkFlt? = .half
}
// base class
class ParkBaseEntity: Object {
  @Persisted(primaryKey: true) var id: String = UUID().uuidString
  @Persisted var createdAt = Date()
  @Persisted var updatedAt: Date?
  func touch() { updatedAt = Date() }
}
class ParkCustomer: ParkBaseEntity {
  @Persisted var name: String = ""
  @Persisted var tags: List<String>
  var fullTag: String { tags.joined(separator: ",") }
}
final class ParkVIPCustomer: ParkCustomer {
  @Persisted var level: Int = 1
  override func touch() {
    super.touch()
    level += 1
  }
}
class ParkNotStored: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  @Persisted var a = 1
}
protocol ParkNameable { var name: String { get set } }
extension ParkDog: ParkNameable {}
extension ParkPerson: ParkNameable {}
extension ParkPerson: Identifiable {}
extension ParkDog: Comparable {
  static func < (l: ParkDog, r: ParkDog) -> Bool { l.age < r.age }
}
// CustomPersistable
extension URL: FailableCustomPersistable {
  /// As text.
  public typealias PersistedType = String
  /// Nil for what is no address.
  public init?(persistedValue: String) { self.init(string: persistedValue) }
  /// The whole address.
  public var persistableValue: String { absoluteString }
}
struct ParkDuration: CustomPersistable, Equatable {
  var seconds: Double
  typealias PersistedType = Double
  init(seconds: Double) { self.seconds = seconds }
  init(persistedValue: Double) { seconds = persistedValue }
  var persistableValue: Double { seconds }
}
class ParkLocation: EmbeddedObject {
  @Persisted var latitude: Double
  @Persisted var longitude: Double
  convenience init(lat: Double, lon: Double) {
    self.init()
    latitude = lat
    longitude = lon
  }
}
struct ParkCoordinate: CustomPersistable, Hashable {
  var latitude: Double, longitude: Double
  typealias PersistedType = ParkLocation
  init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
  init(persistedValue: ParkLocation) {
    self.init(latitude: persistedValue.latitude, longitude: persistedValue.longitude)
  }
  var persistableValue: ParkLocation { ParkLocation(lat: latitude, lon: longitude) }
}
class ParkCustom: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var url: URL?
  @Persisted var duration = ParkDuration(seconds: 1)
  @Persisted var optDuration: ParkDuration?
  @Persisted var coordinate: ParkCoordinate
  @Persisted var optCoordinate: ParkCoordinate?
  @Persisted var coordinates: List<ParkCoordinate>
  @Persisted var durations: Map<String, ParkDuration>
  @Persisted var urls: List<URL?>
}
// renamed
class ParkPersonName: Object {
  @Persisted var firstName = ""
  @Persisted(indexed: true) var lastName: String = ""
  @Persisted(wrappedValue: 3, indexed: true) var count: Int
  override class func propertiesMapping() -> [String: String] {
    ["firstName": "first_name", "lastName": "last_name"]
  }
  override class func _realmObjectName() -> String? { "people" }
}
let parkClasses: [ObjectBase.Type] = [
  ParkDog.self, ParkPerson.self, ParkAddress.self, ParkContact.self, ParkBusiness.self,
  ParkTask.self, ParkEnums.self, ParkBaseEntity.self, ParkCustomer.self, ParkVIPCustomer.self,
  ParkNotStored.self, ParkCustom.self, ParkLocation.self, ParkPersonName.self,
]
