// Declarations beyond the usual ones: several properties of a line, observers, lazy fields, words
// of Swift as names.
import Foundation
import RealmSwift
import TestSupport
import Testing

class OddBaseModel: Object {
  @Persisted(primaryKey: true) var id: UUID = UUID()
  required init() { super.init() }
}
class OddDerived: OddBaseModel {
  @Persisted var title: String
  @Persisted var children: List<OddDerived>
  @Persisted(originProperty: "children") var parent: LinkingObjects<OddDerived>
  var parentOne: OddDerived? { parent.first }
  init(title: String) {
    super.init()
    self.title = title
  }
  required init() { super.init() }
  static func == (l: OddDerived, r: OddDerived) -> Bool { l.id == r.id }
}
final class OddWithLazy: Object {
  @Persisted var raw: String = "x"
  lazy var cached: Int = raw.count
  private(set) lazy var other = "o"
  var transient: [String] = []
  let constant = 5
  static let shared = "s"
  weak var delegate: AnyObject?
  var closure: (() -> Void)?
  var kind: Kind {
    get { Kind(rawValue: rawKind) ?? .a }
    set { rawKind = newValue.rawValue }
  }
  @Persisted private var rawKind: Int = 0
  enum Kind: Int { case a, b }
  @Persisted private(set) var readonly: Int = 3
  func bump() { readonly += 1 }
}
class OddMulti: Object {
  @Persisted var a: Int
  @Persisted var b: Int
  @Persisted var x: Double = 1
  @Persisted var y: Double = 2
  @Persisted(indexed: true) var date: Date = .init()
  @Persisted var opt: String? = "d"
  @Persisted var arr = List<Int>()
  @Persisted var set = MutableSet<String>()
  @Persisted var map = Map<String, Int>()
  @Persisted var link: OddMulti? = nil
  @Persisted var any: AnyRealmValue = .int(3)
  @Persisted var dec: Decimal128 = 1.5
  @Persisted var oid = ObjectId.generate()
  @Persisted var data = Data()
  @Persisted var uuid: UUID? = UUID()
}
@dynamicMemberLookup class OddDyn: Object {
  @Persisted var name = "n"
  subscript(dynamicMember m: String) -> String { m }
}
class OddOuter: Object {
  class Inner: EmbeddedObject {
    @Persisted var v: Int = 0
    enum E: String, PersistableEnum { case one }
    @Persisted var e: E = .one
  }
  @Persisted var inner: Inner?
  @Persisted var inners: List<Inner>
}
class OddObs: Object {
  @Persisted var value = 0 { didSet { changes += 1 } }
  var changes = 0
  @Persisted var name: String = "" { willSet { last = newValue } }
  var last = ""
}
extension OddMulti {
  @discardableResult func with(_ f: (OddMulti) -> Void) -> Self {
    f(self)
    return self
  }
  static var example: OddMulti {
    let m = OddMulti()
    m.a = 1
    return m
  }
}
class OddTimestamped: Object {
  @Persisted var createdAt: Date
  @Persisted var str: String
  @Persisted var bool: Bool
  @Persisted var dbl: Double
  @Persisted var uuid: UUID
  @Persisted var oid: ObjectId
  @Persisted var data: Data
  @Persisted var e: OddTE
  @Persisted var any: AnyRealmValue
  @Persisted var oi: Int?
  @Persisted var dec: Decimal128
}
enum OddTE: Int, PersistableEnum { case z = 9, y }
protocol OddHasID {
  associatedtype ID: Hashable
  var id: ID { get }
}
extension OddBaseModel: OddHasID {}
class OddIdentifiableModel: Object, Identifiable { @Persisted(primaryKey: true) var id: Int }
class OddNames: Object {
  @Persisted var type = "t"
  @Persisted var description_ = ""
  @Persisted var `class` = "c"
  @Persisted var self_ = 1
  @Persisted var `default`: Int = 2
  @Persisted var in_ = 1
  @Persisted var größe = 3
  @Persisted var a_b = 1
  @Persisted var A = 1
}
class OddCodableModel: Object, Codable {
  @Persisted(primaryKey: true) var _id: String = ""
  @Persisted var n: Int?
  @Persisted var list: List<Int>
  @Persisted var sub: OddCodableSub?
  @Persisted var subs: List<OddCodableSub>
  @Persisted var e: OddTE2 = .a
  @Persisted var m: Map<String, String>
  @Persisted var s: MutableSet<Int>
  @Persisted var d: Decimal128
  @Persisted var o: ObjectId
  @Persisted var u: UUID
  enum CodingKeys: String, CodingKey { case _id = "id", n, list, sub, subs, e }
  required init(from decoder: any Decoder) throws {
    super.init()
    let c = try decoder.container(keyedBy: CodingKeys.self)
    _id = try c.decode(String.self, forKey: ._id)
    n = try c.decodeIfPresent(Int.self, forKey: .n)
    list = try c.decodeIfPresent(List<Int>.self, forKey: .list) ?? List()
    sub = try c.decodeIfPresent(OddCodableSub.self, forKey: .sub)
    let a = try c.decodeIfPresent([OddCodableSub].self, forKey: .subs) ?? []
    subs.append(objectsIn: a)
    e = try c.decodeIfPresent(OddTE2.self, forKey: .e) ?? .b
  }
  func encode(to encoder: any Encoder) throws {
    var c = encoder.container(keyedBy: CodingKeys.self)
    try c.encode(_id, forKey: ._id)
    try c.encode(n, forKey: .n)
    try c.encode(list, forKey: .list)
    try c.encode(subs.map { OddCodableSub(value: $0) }, forKey: .subs)
    try c.encodeIfPresent(sub.map { OddCodableSub(value: $0) }, forKey: .sub)
    try c.encode(e, forKey: .e)
  }
  required init() { super.init() }
}
class OddCodableSub: EmbeddedObject, Codable {
  @Persisted var v: String = ""
  @Persisted var when: Date?
}
enum OddTE2: String, PersistableEnum, Codable { case a, b }

@Suite(.ownThreads) struct AsUsersUnusualClassTests {
  @Test func behaveLikeOthers() throws {
    let realm = try memoryRealm([
      OddBaseModel.self, OddDerived.self, OddWithLazy.self, OddMulti.self, OddDyn.self,
      OddOuter.self, OddOuter.Inner.self, OddObs.self, OddTimestamped.self,
      OddIdentifiableModel.self, OddNames.self, OddCodableModel.self, OddCodableSub.self,
    ])
    let d = OddDerived(title: "t")
    d.children.append(OddDerived(title: "u"))
    let w = OddWithLazy()
    w.transient = ["a"]
    let m = OddMulti.example.with { $0.b = 5 }
    try realm.write {
      realm.add([d, w, m])
      realm.add(OddDyn())
      realm.add(OddOuter(value: ["inner": ["v": 3]]))
      w.bump()
      w.kind = .b
    }
    #expect(d.children[0].parentOne?.title == "t")
    #expect(w.cached == 1)
    #expect(w.transient == ["a"])
    #expect(w.readonly == 4)
    #expect(w.kind == .b)
    #expect(realm.objects(OddWithLazy.self).first!.transient == [])
    #expect(m.b == 5)
    #expect(m.x == 1)
    #expect(m.y == 2)
    #expect(realm.objects(OddMulti.self)[0].any == .int(3))
    #expect(realm.objects(OddOuter.self)[0].inner?.e == .one)
    let o = OddObs()
    o.value = 1
    o.name = "q"
    #expect(o.changes == 1)
    #expect(o.last == "q")
    try realm.write {
      realm.add(o)
      o.value = 5
      o.name = "z"
    }
    #expect(o.changes == 2)
    #expect(o.last == "z")
    #expect(o.value == 5)
    let t = OddTimestamped()
    #expect(t.str == "")
    #expect(t.bool == false)
    #expect(t.dbl == 0)
    #expect(t.e == .z)
    #expect(t.any == .none)
    #expect(t.dec == 0)
    #expect(t.data == Data())
    #expect(abs(t.createdAt.timeIntervalSinceNow) < 600)
    let t2 = OddTimestamped()
    #expect(t2.uuid != t.uuid)
    #expect(t2.oid != t.oid)
    let n = OddNames()
    try realm.write {
      realm.add(n)
      n.class = "k"
      n.größe = 5
    }
    #expect(realm.objects(OddNames.self).filter("größe == 5 AND class == 'k'").count == 1)
    #expect(
      realm.objects(OddNames.self).where { $0.type == "t" && $0.class == "k" && $0.default == 2 }
        .count == 1)
    #expect(realm.objects(OddNames.self).sorted(byKeyPath: "default").count == 1)
    #expect(realm.objects(OddNames.self).filter("type == 't'").count == 1)
    let c = try JSONDecoder().decode(
      OddCodableModel.self,
      from: Data(#"{"id":"i","list":[1,2],"sub":{"v":"s"},"subs":[{"v":"q","when":5}]}"#.utf8))
    #expect(c.sub?.v == "s")
    #expect(c.subs.count == 1)
    #expect(c.e == .b)
    try realm.write { realm.add(c) }
    let e = String(decoding: try JSONEncoder().encode(c), as: UTF8.self)
    #expect(e.contains("\"id\":\"i\""))
    try realm.write { realm.add(OddIdentifiableModel(value: ["id": 4])) }
    #expect(realm.objects(OddIdentifiableModel.self).map(\.id) == [4])
    let dyn = realm.objects(OddDyn.self)[0]
    #expect(dyn.name == "n")
    #expect(dyn.foo == "foo")
  }

}
