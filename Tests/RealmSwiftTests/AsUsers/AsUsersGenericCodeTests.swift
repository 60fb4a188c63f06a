// Generic functions and types around objects and collections.
import Foundation
import RealmSwift
import TestSupport
import Testing

// Typed surface a user may write: explicit formedClasses and protocols
class Formed: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var name = "n"
  @Persisted var count = 0
  @Persisted var list: List<Formed>
  @Persisted var link: Formed?
  @Persisted var map: Map<String, Int>
  @Persisted var set: MutableSet<String>
  @Persisted var any: AnyRealmValue
  @Persisted var e: FormedPart?
  @Persisted var es: List<FormedPart>
  @Persisted(originProperty: "link") var back: LinkingObjects<Formed>
}
class FormedPart: EmbeddedObject {
  @Persisted var v = 0
  @Persisted var l: List<String>
}
class FormedPlain: Object {
  @Persisted var v = 0
  @Persisted var a: Formed?
}
let formedClasses: [ObjectBase.Type] = [Formed.self, FormedPart.self, FormedPlain.self]
struct FormedPresenter {
  var items: Results<Formed>
  var token: NotificationToken?
  let realm: Realm
  init(realm: Realm) {
    self.realm = realm
    items = realm.objects(Formed.self).sorted(byKeyPath: "name")
  }
  func item(at indexPath: IndexPath) -> Formed { items[indexPath.row] }
}
final class FormedModel {
  private var items: Results<Formed>!
  private(set) var list: RealmSwift.List<Formed>
  var any: AnyRealmCollection<Formed>?
  lazy var r: Realm = try! memoryRealm(formedClasses)
  init() { list = RealmSwift.List<Formed>() }
  func load() {
    items = r.objects(Formed.self)
    any = AnyRealmCollection(items)
  }
}
func generic<T: Object, K>(_ t: T.Type, key: K, in r: Realm) -> T? {
  r.object(ofType: t, forPrimaryKey: key)
}
func count<C: RealmCollection>(_ c: C) -> Int where C.Element: Object {
  c.filter("TRUEPREDICATE").count
}
func names<C: RealmCollection>(_ c: C) -> [String] where C.Element == Formed { c.map(\.name) }
func describe(_ o: ObjectBase) -> String { "\(type(of: o))" }
func confined<T: ThreadConfined>(_ t: T) -> Bool { t.isFrozen || t.isInvalidated || t.realm == nil }
func ids<T: ObjectKeyIdentifiable>(_ a: [T]) -> Int { Set(a.map(\.id)).count }
func save<S: Sequence>(_ s: S, _ r: Realm) throws where S.Element: Object {
  try r.write { r.add(s, update: .all) }
}
func any(_ v: any RealmCollectionValue) -> String { "\(v)" }
func answers<M: RealmKeyedCollection>(_ map: M) -> [Int] where M.Key == String {
  [
    map.filter("SELF > %@", 1).count, map.filter(NSPredicate(format: "SELF > 0")).count,
    map.sorted(byKeyPath: "self", ascending: true).count,
    map.sorted(by: [RealmSwift.SortDescriptor(keyPath: "self")]).count,
    map.min(ofProperty: "self")!, map.max(ofProperty: "self")!, map.sum(ofProperty: "self"),
    map.average(ofProperty: "self")!, map.contains { key, _ in key == "b" } ? 1 : 0,
  ]
}
func watched<M: RealmKeyedCollection>(
  _ map: M, _ body: @escaping (RealmMapChange<M>) -> Void
) -> NotificationToken {
  map.observe(keyPaths: nil, on: DispatchQueue(label: "maps"), body)
}

@Suite(.ownThreads) struct AsUsersGenericCodeTests {
  @Test func functionsOverAnyMap() throws {
    let realm = try memoryRealm(formedClasses)
    let map = try realm.write {
      let formed = realm.create(Formed.self)
      formed.map.merge(["a": 1, "b": 3]) { $1 }
      return formed.map
    }
    #expect(answers(map) == [1, 2, 2, 2, 1, 3, 4, 2, 1])
    let told = Event()
    let token = watched(map) { if case .initial = $0 { told.happen() } }
    told.wait()
    token.invalidate()
  }

  @Test func functionsOverAnyClass() throws {
    let realm = try memoryRealm(formedClasses)
    let p = FormedPresenter(realm: realm)
    _ = p
    try save([Formed(), Formed()], realm)
    try save(Set([Formed()]), realm)
    try save([Formed(), Formed()].lazy.filter { _ in true }, realm)
    #expect(count(realm.objects(Formed.self)) == 5)
    #expect(names(realm.objects(Formed.self)).count == 5)
    let l = List<Formed>()
    l.append(Formed())
    try realm.write { realm.add(l) }
    #expect(realm.objects(Formed.self).count == 6)
    let first = realm.objects(Formed.self).first!
    #expect(generic(Formed.self, key: first.id, in: realm) == first)
    #expect(generic(Formed.self, key: ObjectId(), in: realm) == nil)
    #expect(p.item(at: IndexPath(row: 0, section: 0)).name == "n")
    #expect(describe(first) == "Formed")
    #expect(!confined(first))
    #expect(ids(Array(realm.objects(Formed.self))) == 6)
    #expect(any(5) == "5")
    let vm = FormedModel()
    vm.load()
    vm.list.append(Formed())
    #expect(vm.any?.count == 0)
    let o: Object = first
    #expect(o is any ObjectKeyIdentifiable)
    #expect((o as? Formed)?.name == "n")
    // Linking objects are not stored.
    #expect(o.objectSchema.properties.count == 10)
    #expect(o.objectSchema["name"]?.type == .string)
    #expect(o.objectSchema.primaryKeyProperty?.name == "id")
    let t: Object.Type = Formed.self
    let made = t.init()
    #expect(made is Formed)
    #expect(t.className() == "Formed")
    let dict = Dictionary(uniqueKeysWithValues: realm.objects(Formed.self).map { ($0.id, $0) })
    #expect(dict.count == 6)
    #expect(Set(realm.objects(Formed.self)).count == 6)
    realm.beginWrite()
    realm.add(Formed())
    realm.cancelWrite()
    #expect(realm.objects(Formed.self).count == 6)
    try realm.write {
      realm.add(Formed())
      realm.cancelWrite()
    }
    #expect(realm.objects(Formed.self).count == 6)
    struct Boom: Error {}
    do {
      try realm.write {
        realm.add(Formed())
        throw Boom()
      }
    } catch is Boom {}
    #expect(realm.objects(Formed.self).count == 6)
    let x = try realm.write { () -> Formed in
      let a = Formed()
      realm.add(a)
      return a
    }
    #expect(x.realm == realm)
    do {
      try realm.write { realm.delete(x) }
      #expect(x.isInvalidated)
    }
    try realm.write { realm.delete(realm.objects(Formed.self).prefix(2)) }
    #expect(realm.objects(Formed.self).count == 4)
    try realm.write {
      realm.delete([realm.objects(Formed.self)[0]])
      realm.delete(realm.objects(Formed.self).filter { $0.count > 5 })
    }
    #expect(realm.objects(Formed.self).count == 3)
    let same = try Realm(configuration: realm.configuration)
    #expect(same == realm)
    #expect(!realm.isInWriteTransaction && !realm.isFrozen && !realm.isEmpty)
    #expect(
      realm.schema.objectSchema.map(\.className).sorted() == [
        "Formed", "FormedPart", "FormedPlain",
      ])
    #expect(realm.schema["FormedPart"]!.isEmbedded)
  }

  @Test func copiesInAnotherRealm() throws {
    let r1 = try memoryRealm(formedClasses), r2 = try memoryRealm(formedClasses)
    let a = Formed(
      value: [
        "name": "x", "link": ["name": "y"], "list": [["name": "p"]], "e": ["v": 4], "map": ["a": 1],
        "set": ["s"], "any": 4,
      ] as [String: Any])
    try r1.write { r1.add(a) }
    let b = try r2.write { r2.create(Formed.self, value: a) }
    #expect(b.name == "x")
    #expect(b.link?.name == "y")
    #expect(b.list.count == 1)
    #expect(b.e?.v == 4)
    #expect(b.map["a"] == 1)
    #expect(Array(b.set) == ["s"])
    #expect(b.any == .int(4))
    #expect(b.id == a.id)
    #expect(b.realm == r2 && b != a)
    #expect(r2.objects(Formed.self).count == 3)
    try r2.write { _ = r2.create(Formed.self, value: a, update: .modified) }
    #expect(r2.objects(Formed.self).count == 3)
    try r1.write {
      a.list.append(a)
      a.link = a
    }
    try r2.write { _ = r2.create(Formed.self, value: a, update: .all) }
    #expect(b.link == b)
    #expect(b.list.count == 2)
  }

}
