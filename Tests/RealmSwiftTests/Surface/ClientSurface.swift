// Client code that only has to compile: objects, values and constraints, in the forms in which
// programs write them. Nothing here is run; the suites beside test what it does.
import Foundation
import RealmSwift

/// Declarations and calls of a client.
enum ClientSurface {
  enum Mood: String, PersistableEnum { case good, bad }
  enum Rank: Int, PersistableEnum { case low, high }
  struct Wrap: CustomPersistable {
    typealias PersistedType = String
    init(persistedValue: String) { v = persistedValue }
    var v: String
    var persistableValue: String { v }
  }
  struct Fail: FailableCustomPersistable {
    typealias PersistedType = Int
    init?(persistedValue: Int) { v = persistedValue }
    var v: Int
    var persistableValue: Int { v }
  }

  class Home: EmbeddedObject {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var street: String?
    @Persisted var city: String = "x"
    @Persisted(originProperty: "address") var owners: LinkingObjects<Owner>
    // As in GeoJSON.
    @Persisted var type: String = "Point"
    @Persisted var coordinates: List<Double>
  }
  class Animal: Object, ObjectKeyIdentifiable {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name = ""
    @Persisted var age: Int
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Owner>
  }
  class Owner: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    @Persisted(primaryKey: true) var id: UUID
    @Persisted(indexed: true) var name: String = "a"
    @Persisted(wrappedValue: 5, indexed: true) var five: Int
    @Persisted var mood: Mood = .good
    @Persisted var rank: Rank?
    @Persisted var wrap: Wrap
    @Persisted var fail: Fail?
    @Persisted var any: AnyRealmValue
    @Persisted var dogs: List<Animal>
    @Persisted var best: Animal?
    @Persisted var address: Home?
    @Persisted var addresses: List<Home>
    @Persisted var set: MutableSet<String>
    @Persisted var map: Map<String, Int>
    @Persisted var dogMap: Map<String, Animal?>
    @Persisted var dec: Decimal128
    @Persisted var f: Float
    @Persisted var date = Date()
    @Persisted var data: Data?
    @Persisted var ints: List<Int>
    @Persisted var optInts: List<Int?>
    @Persisted var moods: List<Mood>
    @Persisted var wraps: MutableSet<Wrap>
    @Persisted var i8: Int8
    @Persisted var i16: Int16?
    @Persisted var oid: ObjectId?
  }

  static func members(_ realm: Realm, _ p: Owner, _ d: Animal, _ e: Home) throws {
    _ = ObjectBase.className()
    _ = Owner.shouldIncludeInDefaultSchema()
    _ = Owner.propertiesMapping()
    _ = Owner._realmObjectName()
    _ = p.isEqual(d)
    _ = p.isInvalidated
    _ = Owner(value: ["name": "x"])
    let r: Realm? = p.realm
    _ = r
    let s: ObjectSchema = p.objectSchema
    _ = s
    _ = p.description
    _ = p["name"]
    p["name"] = "b"
    _ = p.value(forKey: "name")
    _ = p.value(forKeyPath: "best.name")
    p.setValue("c", forKey: "name")
    p.setValue("c", forKeyPath: "best.name")
    _ = Owner.primaryKey()
    _ = Owner.ignoredProperties()
    _ = Owner.indexedProperties()
    _ = p.isSameObject(as: p)
    _ = p.isFrozen
    let fr: Owner = p.freeze()
    let th: Owner? = p.thaw()
    _ = (fr, th)
    let dl: List<DynamicObject> = p.dynamicList("dogs")
    let ds: MutableSet<DynamicObject> = p.dynamicMutableSet("x")
    let dm: Map<String, DynamicObject?> = p.dynamicMap("dogMap")
    _ = (dl, ds, dm)
    _ = p == p
    _ = p.hashValue
    let _: RealmSwiftObject.Type = RealmSwiftObject.self
    let _: RealmSwiftEmbeddedObject.Type = RealmSwiftEmbeddedObject.self
    _ = e.isSameObject(as: e)
    _ = e.freeze()
    _ = e.thaw()
    _ = e.realm
    _ = e.objectSchema
    _ = e["street"]
    e.setValue("x", forKey: "street")
    _ = Home(value: ["street": "s"])
    _ = e.isFrozen
    let dy: DynamicObject = realm.dynamicCreate("Animal", value: [:], update: .modified)
    _ = dy.name
    dy.name = "x"
    _ = dy["name"]
    let m: MigrationObject = dy
    _ = m
    _ = realm.dynamicObjects("Animal")
    _ = realm.dynamicObject(ofType: "Animal", forPrimaryKey: 1)
    _ = try JSONEncoder().encode(p.ints)
    _ = try JSONDecoder().decode(List<Int>.self, from: Data())
    _ = try JSONDecoder().decode(Map<String, Int>.self, from: Data())
    _ = try JSONDecoder().decode(MutableSet<Int>.self, from: Data())
    _ = _name(for: \Owner.name)
    let x: Int = dynamicBridgeCast(fromObjectiveC: 5)
    let y: Any = dynamicBridgeCast(fromSwift: 5)
    _ = (x, y)
    let av: AnyRealmValue = .init()
    _ = av.intValue
    _ = av.boolValue
    _ = av.floatValue
    _ = av.doubleValue
    _ = av.stringValue
    _ = av.dataValue
    _ = av.dateValue
    _ = av.objectIdValue
    _ = av.decimal128Value
    _ = av.uuidValue
    _ = av.object(Animal.self)
    _ = av.dynamicObject
    _ = av.dictionaryValue
    _ = av.listValue
    _ = AnyRealmValue.fromArray([.int(1)])
    _ = AnyRealmValue.fromDictionary(["a": .none])
    _ = AnyRealmValue.object(d)
    _ = ObjectId()
    _ = ObjectId.generate()
    _ = try ObjectId(string: "x")
    _ = ObjectId("507f1f77bcf86cd799439011")
    let o = ObjectId(timestamp: Date(), machineId: 1, processId: 2)
    _ = o.timestamp
    _ = o.stringValue
    _ = o < o
    _ = Decimal128()
    _ = Decimal128(value: 1)
    _ = Decimal128(number: 1)
    _ = try Decimal128(string: "1")
    _ = Decimal128(exactly: 1)
    var dd: Decimal128 = 1.5
    dd = "2"
    dd = 3
    dd += 1
    dd -= 1
    dd *= 2
    _ = dd / 2
    _ = Decimal128.min
    _ = Decimal128.max
    _ = dd.isNaN
    _ = dd.isSignaling
    _ = dd.isSignalingNaN
    _ = dd.magnitude
    dd.negate()
    _ = dd.distance(to: 1)
    _ = dd.advanced(by: 1)
    _ = dd.doubleValue
    _ = dd.stringValue
    _ = dd < dd
  }
  static func opaque(_ realm: Realm) -> some RealmCollection<Animal> { realm.objects(Animal.self) }
  static func existential(_ realm: Realm) -> any RealmCollection<Animal> { opaque(realm) }
  static func generic1<T: RealmCollectionValue>(_: T.Type) {}
  static func generic2<T: _RealmCollectionValueInsideOptional>(_: T.Type) {}
  static func generic3<T: _HasPersistedType>(_: T.Type)
  where T.PersistedType: MinMaxType & AddableType & SortableType {}
  static func generic4<T: _Persistable & _RealmSchemaDiscoverable>(_: T.Type) {}
  static func generic5<T: KeypathSortable>(_: T.Type) {}
  static func generic6<T: RealmFetchable>(_: T.Type) {}
  static func generic7<T: _MapKey>(_: T.Type) {}
  static func generic8<T: OptionalProtocol>(_: T.Type) {}
  static func generic9<T: _QueryNumeric>(_: T.Type) {}
  static func generic10<T: _QueryString & _QueryBinary>(_: T.Type) {}
  static func generic11<T: ThreadConfined>(_: T.Type) {}
  static func generic12<T: RealmEnum>(_: T.Type) {}
  static func use() {
    generic1(Int.self)
    generic1(Animal.self)
    generic1(Int?.self)
    generic1(Animal?.self)
    generic2(Int.self)
    generic3(Int.self)
    generic4(Int.self)
    generic5(Int.self)
    generic6(Animal.self)
    generic7(String.self)
    generic8(Int?.self)
    generic9(Int.self)
    generic9(Int?.self)
    generic11(List<Int>.self)
    generic12(Mood.self)
    generic3(Double.self)
    generic3(Decimal128.self)
    _ = Mood.good < Mood.bad
  }
}
