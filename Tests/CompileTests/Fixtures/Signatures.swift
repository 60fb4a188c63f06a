// swift-format-ignore-file Signatures as the vendor's documentation has them, in the forms in which

// programs call them: queries on every kind of property, aggregates, constraints, names of old.
// Compiled in both language modes; what the calls do is tested by the AsUsers suites.
import Foundation
import RealmSwift

enum EI: Int, PersistableEnum { case a = 1, b, c }
enum ES: String, PersistableEnum { case a, b, c }
enum ED: Double, PersistableEnum { case a = 1.5, b = 2 }
enum EF: Float, PersistableEnum { case a = 1.5, b = 2 }
enum EI8: Int8, PersistableEnum { case a = 1, b = 2 }
struct WI: CustomPersistable {
  typealias PersistedType = Int; var v: Int; init(persistedValue: Int) { v = persistedValue };
  var persistableValue: Int { v }
}
struct WS: CustomPersistable {
  typealias PersistedType = String; var v: String;
  init(persistedValue: String) { v = persistedValue }; var persistableValue: String { v }
}
struct WD: CustomPersistable {
  typealias PersistedType = Double; var v: Double;
  init(persistedValue: Double) { v = persistedValue }; var persistableValue: Double { v }
}
struct WDate: CustomPersistable {
  typealias PersistedType = Date; var v: Date; init(persistedValue: Date) { v = persistedValue };
  var persistableValue: Date { v }
}
struct WData: CustomPersistable {
  typealias PersistedType = Data; var v: Data; init(persistedValue: Data) { v = persistedValue };
  var persistableValue: Data { v }
}
struct WDec: CustomPersistable {
  typealias PersistedType = Decimal128; var v: Decimal128;
  init(persistedValue: Decimal128) { v = persistedValue }; var persistableValue: Decimal128 { v }
}
struct WIC: CustomPersistable, Comparable {
  typealias PersistedType = Int; var v: Int; init(persistedValue: Int) { v = persistedValue };
  var persistableValue: Int { v }; static func < (a: WIC, b: WIC) -> Bool { a.v < b.v }
}
struct WE: CustomPersistable {
  typealias PersistedType = Em; var v: Int; init(persistedValue: Em) { v = persistedValue.n };
  var persistableValue: Em { Em(value: ["n": v]) }
}
class Em: EmbeddedObject { @Persisted var n = 0; @Persisted var s = ""; @Persisted var inner: Em2? }
class Em2: EmbeddedObject { @Persisted var n = 0 }
class O: Object {
  @Persisted var i: Int; @Persisted var io: Int?; @Persisted var i8: Int8; @Persisted var s: String;
  @Persisted var so: String?
  @Persisted var d: Double; @Persisted var dt: Date; @Persisted var dto: Date?;
  @Persisted var data: Data; @Persisted var datao: Data?
  @Persisted var dec: Decimal128; @Persisted var deco: Decimal128?;
  @Persisted var any: AnyRealmValue; @Persisted var oid: ObjectId; @Persisted var uuid: UUID;
  @Persisted var b: Bool; @Persisted var bo: Bool?
  @Persisted var f: Float
  @Persisted var ei: EI; @Persisted var eio: EI?; @Persisted var es: ES; @Persisted var eso: ES?;
  @Persisted var ed: ED; @Persisted var ef: EF
  @Persisted var wi: WI; @Persisted var wio: WI?; @Persisted var ws: WS; @Persisted var wso: WS?;
  @Persisted var wd: WD; @Persisted var wic: WIC; @Persisted var wdate: WDate;
  @Persisted var wdata: WData; @Persisted var wdec: WDec; @Persisted var we: WE;
  @Persisted var weo: WE?
  @Persisted var em: Em?; @Persisted var ems: List<Em>; @Persisted var emm: Map<String, Em?>
  @Persisted var o: O?; @Persisted var os: List<O>; @Persisted var oset: MutableSet<O>;
  @Persisted var om: Map<String, O?>
  @Persisted var li: List<Int>; @Persisted var lio: List<Int?>; @Persisted var ls: List<String>;
  @Persisted var lso: List<String?>; @Persisted var ld: List<Double>;
  @Persisted var ldt: List<Date>; @Persisted var ldto: List<Date?>;
  @Persisted var ldata: List<Data>; @Persisted var ldec: List<Decimal128>;
  @Persisted var lany: List<AnyRealmValue>; @Persisted var lb: List<Bool>
  @Persisted var lei: List<EI>; @Persisted var leio: List<EI?>; @Persisted var les: List<ES>;
  @Persisted var leso: List<ES?>; @Persisted var led: List<ED>
  @Persisted var lwi: List<WI>; @Persisted var lwio: List<WI?>; @Persisted var lws: List<WS>;
  @Persisted var lwso: List<WS?>; @Persisted var lwic: List<WIC>; @Persisted var lwd: List<WD>;
  @Persisted var lwdate: List<WDate>; @Persisted var lwe: List<WE>
  @Persisted var si: MutableSet<Int>; @Persisted var sio: MutableSet<Int?>;
  @Persisted var ss: MutableSet<String>; @Persisted var sei: MutableSet<EI>;
  @Persisted var seio: MutableSet<EI?>; @Persisted var ses: MutableSet<ES>;
  @Persisted var swi: MutableSet<WI>; @Persisted var swio: MutableSet<WI?>;
  @Persisted var sws: MutableSet<WS>
  @Persisted var mi: Map<String, Int>; @Persisted var mio: Map<String, Int?>;
  @Persisted var ms: Map<String, String>; @Persisted var mso: Map<String, String?>;
  @Persisted var mei: Map<String, EI>; @Persisted var meio: Map<String, EI?>;
  @Persisted var mes: Map<String, ES>; @Persisted var meso: Map<String, ES?>;
  @Persisted var mwi: Map<String, WI>; @Persisted var mwio: Map<String, WI?>;
  @Persisted var mws: Map<String, WS>; @Persisted var mwso: Map<String, WS?>;
  @Persisted var md: Map<String, Double>; @Persisted var mdt: Map<String, Date>;
  @Persisted var mwe: Map<String, WE>
  @Persisted(originProperty: "o") var back: LinkingObjects<O>
}
func check(_ c: (Query<O>) -> Query<Bool>) {}
func all() {
  let w1 = WI(persistedValue: 1), w2 = WI(persistedValue: 2), x1 = WIC(persistedValue: 1),
    x2 = WIC(persistedValue: 2), s1 = WS(persistedValue: "a")
  // plain optional columns
  check { $0.io.contains(1..<3) }
  check { $0.io.contains(1...3) }
  check { $0.dto.contains(Date()...Date()) }
  check { $0.deco.contains(1...3) }
  check { $0.io > 1 }
  check { $0.io == nil }
  check { $0.io.in([1, nil]) }
  check { $0.io.in([1, 2]) }
  check { $0.so.contains("a") }
  check { $0.so.like("a*") }
  check { $0.so.starts(with: "a", options: [.caseInsensitive]) }
  check { $0.so.equals("a", options: [.caseInsensitive]) }
  check { $0.so.equals(nil) }
  check { $0.so.notEquals(nil) }
  check { $0.s.contains($0.so) }
  check { $0.so.like($0.s) }
  check { $0.datao.contains(Data()) }
  check { $0.datao.equals(Data()) }
  check { $0.datao.starts(with: Data()) }
  check { $0.any.contains(.string("a"), options: [.caseInsensitive]) }
  check { $0.any.starts(with: .string("a")) }
  check { $0.any.like(.string("a*")) }
  check { $0.any.in([.int(1)]) }
  check { $0.b && $0.o.b }
  check { !$0.b }
  check { $0.bo == true }
  check { $0.bo == nil }
  // enum
  check { $0.ei > .a }
  check { $0.ei.contains(.a ... .c) }
  check { $0.ei.contains(.a ..< .c) }
  check { $0.eio.contains(.a ... .c) }
  check { $0.eio > .a }
  check { $0.eio.in([.a]) }
  check { $0.eio.in([nil, .a]) }
  check { $0.ei.rawValue.contains(1...3) }
  check { $0.eio.rawValue.contains(1...3) }
  check { $0.eio.rawValue == nil }
  check { $0.eio.rawValue > 1 }
  check { $0.es.contains(.a) }
  check { $0.es.contains(.a, options: [.caseInsensitive]) }
  check { $0.es.starts(with: .a) }
  check { $0.es.ends(with: .a) }
  check { $0.es.like(.a) }
  check { $0.es.like(.a, caseInsensitive: true) }
  check { $0.es.equals(.a) }
  check { $0.es.notEquals(.a) }
  check { $0.es < .b }
  check { $0.eso.contains(.a) }
  check { $0.eso.starts(with: .a) }
  check { $0.eso.ends(with: .a) }
  check { $0.eso.like(.a) }
  check { $0.eso.equals(.a) }
  check { $0.es.rawValue.like("a*") }
  check { $0.es.rawValue.contains("a") }
  check { $0.eso.rawValue.contains("a") }
  check { $0.eso.rawValue.starts(with: "a") }
  check { $0.eso.rawValue.ends(with: "a") }
  check { $0.eso.rawValue.like("a") }
  check { $0.eso.rawValue.equals("a") }
  check { $0.ed.contains(.a ... .b) }
  check { $0.ef > .a }
  // own
  check { $0.wi > w1 }
  check { $0.wi == w1 }
  check { $0.wio > w1 }
  check { $0.wio == nil }
  check { $0.wic.contains(x1...x2) }
  check { $0.wic.contains(x1..<x2) }
  check { $0.wi.in([w1, w2]) }
  check { $0.wio.in([w1, nil]) }
  check { $0.wi.persistableValue.contains(1...3) }
  check { $0.wio.persistableValue.contains(1...3) }
  check { $0.wio.persistableValue == nil }
  check { $0.ws.contains(s1) }
  check { $0.ws.starts(with: s1) }
  check { $0.ws.ends(with: s1) }
  check { $0.ws.like(s1) }
  check { $0.ws.equals(s1, options: [.diacriticInsensitive]) }
  check { $0.wso.contains(s1) }
  check { $0.wso.like(s1) }
  check { $0.ws.persistableValue.like("a") }
  check { $0.wso.persistableValue.like("a") }
  check { $0.wso.persistableValue.contains("a") }
  check { $0.ws < s1 }
  check { $0.wdata.contains(WData(persistedValue: Data())) }
  check { $0.wdate.persistableValue.contains(Date()...Date()) }
  check { $0.we == WE(persistedValue: Em()) }
  check { $0.weo == nil }
  check { $0.we.persistableValue.n == 1 }
  check { $0.weo.persistableValue.n == 1 }
  check { $0.ws.contains($0.s) }
  check { $0.ws == $0.ws }
  check { $0.es == $0.es }
  check { $0.es.starts(with: $0.s) }
  check { $0.s.contains($0.es) }
  check { $0.s.contains($0.ws) }
  check { $0.es.like($0.ws) }
}
func collections() {
  let w1 = WI(persistedValue: 1), w2 = WI(persistedValue: 2), x1 = WIC(persistedValue: 1),
    x2 = WIC(persistedValue: 2), s1 = WS(persistedValue: "a")
  check { $0.li.contains(1...3) }
  check { $0.li.contains(1..<3) }
  check { $0.lio.contains(1...3) }
  check { $0.lio.contains(1..<3) }
  check { $0.ldt.contains(Date()...Date()) }
  check { $0.ldto.contains(Date()...Date()) }
  check { $0.ldec.contains(1...2) }
  check { $0.lio.contains(nil) }
  check { $0.lio.containsAny(in: [1, nil]) }
  check { $0.lio.min == 1 }
  check { $0.lio.max > 1 }
  check { $0.lio.sum == 1 }
  check { $0.lio.avg == 1 }
  check { $0.lio.avg == nil }
  check { $0.lio.min == nil }
  check { $0.lio > 1 }
  check { $0.ldt.min == Date() }
  check { $0.ldto.max == Date() }
  check { $0.lany.min == .int(1) }
  check { $0.lei.contains(.a) }
  check { $0.lei.contains(.a ... .c) }
  check { $0.lei.contains(.a ..< .c) }
  check { $0.leio.contains(.a ... .c) }
  check { $0.lei.containsAny(in: [.a]) }
  check { $0.leio.containsAny(in: [.a, nil]) }
  check { $0.lei == .a }
  check { $0.lei > .a }
  check { $0.leio > .a }
  check { $0.lei.rawValue.contains(1) }
  check { $0.lei.rawValue == 1 }
  check { $0.lei.rawValue > 1 }
  check { $0.lei.rawValue.contains(1...3) }
  check { $0.lei.rawValue.contains(1..<3) }
  check { $0.leio.rawValue.contains(1...3) }
  check { $0.leio.rawValue.contains(nil) }
  check { $0.lei.rawValue.containsAny(in: [1]) }
  check { $0.lei.rawValue.sum == 1 }
  check { $0.lei.rawValue.avg == 1 }
  check { $0.lei.rawValue.min == 1 }
  check { $0.lei.rawValue.max == 1 }
  check { $0.leio.rawValue.sum == 1 }
  check { $0.leio.rawValue.avg == 1 }
  check { $0.leio.rawValue.min == 1 }
  check { $0.lei.sum == .a }
  check { $0.lei.min == .a }
  check { $0.lei.max == .a }
  check { $0.lei.avg == 1 }
  check { $0.leio.min == .a }
  check { $0.lei.count > 1 }
  check { $0.lei.rawValue.count > 1 }
  check { $0.les.rawValue.contains("a") }
  check { $0.les.rawValue == "a" }
  check { $0.les.rawValue.starts(with: "a") }
  check { $0.les.rawValue.like("a*") }
  check { $0.leso.rawValue == nil }
  check { $0.leso.contains(nil) }
  check { $0.led.rawValue.avg == 1 }
  check { $0.led.rawValue.sum > 1.5 }
  check { $0.ls.contains("a") }
  check { $0.lso.contains("a") }
  check { $0.ls.starts(with: "a") }
  check { $0.ls.like("a*") }
  check { $0.ls.ends(with: "a", options: [.caseInsensitive]) }
  check { $0.lso.like("a*") }
  check { $0.lwi.contains(w1) }
  check { $0.lwi == w1 }
  check { $0.lwi > w1 }
  check { $0.lwic.contains(x1...x2) }
  check { $0.lwi.containsAny(in: [w1, w2]) }
  check { $0.lwio.containsAny(in: [w1, nil]) }
  check { $0.lwi.persistableValue.contains(1...3) }
  check { $0.lwi.persistableValue.contains(1) }
  check { $0.lwi.persistableValue == 1 }
  check { $0.lwi.persistableValue.sum == 1 }
  check { $0.lwi.persistableValue.avg == 1 }
  check { $0.lwi.persistableValue.min == 1 }
  check { $0.lwi.persistableValue.max == 1 }
  check { $0.lwio.persistableValue.contains(1...3) }
  check { $0.lwio.persistableValue.sum == 1 }
  check { $0.lwio.persistableValue.avg == 1 }
  check { $0.lwio.persistableValue.contains(nil) }
  check { $0.lwi.min == w1 }
  check { $0.lwi.max == w1 }
  check { $0.lwi.sum == w1 }
  check { $0.lwi.avg == 1 }
  check { $0.lwio.min == w1 }
  check { $0.lwio.sum == w1 }
  check { $0.lws.persistableValue.contains("a") }
  check { $0.lws.persistableValue.starts(with: "a") }
  check { $0.lws == s1 }
  check { $0.lwdate.max == WDate(persistedValue: Date()) }
  check { $0.lwd.persistableValue.avg > 1 }
  check { $0.lwe.persistableValue.n == 1 }
  check { $0.lwe.count == 1 }
  // sets
  check { $0.si.contains(1...3) }
  check { $0.sio.contains(1...3) }
  check { $0.sei.contains(.a ... .c) }
  check { $0.sei.rawValue.contains(1...3) }
  check { $0.seio.rawValue.sum == 1 }
  check { $0.ses.rawValue.contains("a") }
  check { $0.swi.persistableValue.sum == 1 }
  check { $0.swio.persistableValue.sum == 1 }
  check { $0.swi.contains(w1) }
  check { $0.sws.persistableValue.contains("a") }
  // maps
  check { $0.mi.contains(1...3) }
  check { $0.mi.contains(1..<3) }
  check { $0.mio.contains(1...3) }
  check { $0.mio.contains(nil) }
  check { $0.mio.sum == 1 }
  check { $0.mio.avg == 1 }
  check { $0.mio.min == 1 }
  check { $0.mio == 1 }
  check { $0.mio.values > 1 }
  check { $0.mio["a"] == nil }
  check { $0.mio["a"] > 1 }
  check { $0.mi["a"].contains(1...3) }
  check { $0.ms["a"].contains("x") }
  check { $0.ms["a"].starts(with: "x") }
  check { $0.ms["a"].like("x*") }
  check { $0.mso["a"].like("x*") }
  check { $0.ms.keys.contains("a") }
  check { $0.ms.keys.starts(with: "a") }
  check { $0.ms.keys.like("a*", caseInsensitive: true) }
  check { $0.ms.keys.ends(with: "a", options: [.caseInsensitive, .diacriticInsensitive]) }
  check { $0.ms.keys == "a" }
  check { $0.ms.keys.equals("a") }
  check { $0.ms.keys.notEquals("a") }
  check { $0.ms.values.contains("a") }
  check { $0.ms.values.like("a*") }
  check { $0.mso.values.like("a*") }
  check { $0.ms.keys.in(["a"]) }
  check { $0.ms.values.in(["a"]) }
  check { $0.ms.containsAny(in: ["a"]) }
  check { $0.mi.values.in([1]) }
  check { $0.mi.values.contains(1...3) }
  check { $0.mei.contains(.a) }
  check { $0.mei.contains(.a ... .c) }
  check { $0.mei.rawValue.contains(1...3) }
  check { $0.mei.rawValue.contains(1) }
  check { $0.mei.rawValue.sum == 1 }
  check { $0.mei.rawValue.avg == 1 }
  check { $0.mei.rawValue.min == 1 }
  check { $0.mei.rawValue["a"] == 1 }
  check { $0.mei["a"].rawValue == 1 }
  check { $0.mei["a"] == .a }
  check { $0.mei.values == .a }
  check { $0.meio.rawValue.contains(1...3) }
  check { $0.meio.rawValue.sum == 1 }
  check { $0.meio["a"] == nil }
  check { $0.mes.rawValue.contains("a") }
  check { $0.mes.rawValue["a"].contains("b") }
  check { $0.mes.values.rawValue.starts(with: "b") }
  check { $0.mes.values.starts(with: .a) }
  check { $0.mwi.persistableValue.contains(1...3) }
  check { $0.mwi.persistableValue.sum == 1 }
  check { $0.mwi.persistableValue["a"] == 1 }
  check { $0.mwi["a"].persistableValue == 1 }
  check { $0.mwi["a"] > w1 }
  check { $0.mwi.values.persistableValue == 1 }
  check { $0.mwio.persistableValue.sum == 1 }
  check { $0.mwio.contains(nil) }
  check { $0.mwi.min == w1 }
  check { $0.mwi.sum == w1 }
  check { $0.mws.persistableValue.contains("a") }
  check { $0.mws["a"].contains(s1) }
  check { $0.mwe.persistableValue.n == 1 }
  check { $0.mwe["a"].persistableValue.n == 1 }
  check { $0.md.avg > 1 }
  check { $0.mdt.max > Date() }
  check { $0.om.contains(O()) }
  check { $0.om["a"].i == 1 }
  check { $0.om.i > 1 }
  check { $0.om.keys == "a" }
  check { $0.emm.n == 1 }
  // through links
  check { $0.os.ei == .a }
  check { $0.os.ei.rawValue == 1 }
  check { $0.os.ei.in([.a]) }
  check { $0.os.ei.rawValue.in([1]) }
  check { $0.os.wi.persistableValue > 1 }
  check { $0.os.i.sum == 1 }
  check { $0.os.i.min == 1 }
  check { $0.os.io.min == 1 }
  check { $0.os.io.sum == 1 }
  check { $0.os.io.avg == 1 }
  check { $0.os.ei.min == .a }
  check { $0.os.ei.rawValue.min == 1 }
  check { $0.os.wi.sum == w1 }
  check { $0.os.wi.persistableValue.sum == 1 }
  check { $0.os.dt.max > Date() }
  check { $0.os.s.contains("a") }
  check { $0.os.so.contains("a") }
  check { $0.os.es.contains(.a) }
  check { $0.os.es.rawValue.contains("a") }
  check { $0.os.i.contains(1...3) }
  check { $0.os.io.contains(1...3) }
  check { $0.os.li.count > 0 }
  check { $0.os.li.contains(1) }
  check { $0.os.li == 1 }
  check { $0.os.o.i == 1 }
  check { $0.back.i == 1 }
  check { $0.back.count == 1 }
  check { $0.back.contains(O()) }
  check { $0.os.contains(O()) }
  check { $0.os.containsAny(in: [O()]) }
  check { $0.oset.containsAny(in: [O()]) }
  check { $0.om.containsAny(in: [O()]) }
  check { $0.o.in([O(), nil]) }
  check { $0.o.in([O()]) }
  check { $0.em == Em() }
  check { $0.em != Em() }
  check { $0.em.in([Em()]) }
  check { $0.ems.contains(Em()) }
  check { $0.em.inner.n == 1 }
  check { $0.ems.inner.n == 1 }
  check { ($0.os.i > 1 && $0.os.io == nil).count == 2 }
  check { $0.li == $0.i }
  check { $0.i == $0.li }
  check { $0.li.count == $0.i }
  check { $0.li.max == $0.i }
  check { $0.lio.max == $0.io }
  check { $0.i < $0.li.min }
  check { $0.io < $0.i }
  check { $0.io == $0.i }
  check { $0.i == $0.io }
  check { $0.i < $0.d }
  check { $0.s < $0.s }
  check { $0.s < "b" }
  check { $0.data < Data() }
  check { $0.oid < ObjectId() }
  check { $0.uuid == UUID() }
  check { $0.any < .int(1) }
  check { $0.dec < 1.5 }
  check { $0.li.avg == $0.li.avg }
  let _: Query<AnyRealmCollection<Int>> = Query<O>._constructForTesting().lei.rawValue
  let _: Query<AnyRealmCollection<Int?>> = Query<O>._constructForTesting().leio.rawValue
  let _: Query<AnyRealmCollection<Int>> = Query<O>._constructForTesting().lwi.persistableValue
  let _: Query<Map<String, Int>> = Query<O>._constructForTesting().mei.rawValue
}
func results(
  _ r: Results<EI>, _ ri: Results<Int>, _ rio: Results<Int?>, _ rw: Results<WI>,
  _ rs: Results<String>
) {
  _ = r.where { $0 == .a }
  _ = r.where { $0 > .a }
  _ = r.where { $0.rawValue == 1 }
  _ = ri.where { $0.contains(1...3) }
  _ = rio.where { $0 == nil }
  _ = rio.where { $0.contains(1...3) }
  _ = rw.where { $0.persistableValue > 1 }
  _ = rs.where { $0.like("a*") }
}
// aggregates
func agg<C: RealmCollection>(_ c: C) where C.Element == O {
  let _: EI? = c.min(ofProperty: "ei")
  let _: WI? = c.max(ofProperty: "wi")
  let _: WI = c.sum(ofProperty: "wi")
  let _: WI? = c.average(ofProperty: "wi")
  let _: WD? = c.average(ofProperty: "wd")
  let _: NSNumber? = c.min(ofProperty: "i")
  let _: NSNumber? = c.average(ofProperty: "i")
  let _: NSNumber = c.sum(ofProperty: "i")
  let _: NSDate? = c.max(ofProperty: "dt")
  let _: AnyRealmValue? = c.max(ofProperty: "any")
  let _: AnyRealmValue = c.sum(ofProperty: "any")
  let _: Decimal128 = c.sum(ofProperty: "any")
  let _: Decimal128? = c.average(ofProperty: "dec")
  let _: Int8? = c.min(ofProperty: "i8")
  let _: Int = c.sum(ofProperty: "i8")
  let _: Double? = c.average(ofProperty: "i8")
  let _: Int? = c.sum(ofProperty: "io")
  let _: Int = c.sum(ofProperty: "io")
  let _: Float? = c.max(ofProperty: "f")
  let _: Int? = c.max(ofProperty: "ei")
  // key paths
  let _: Int? = c.min(of: \.i); let _: Int? = c.min(of: \.io); let _: EI? = c.min(of: \.ei);
  let _: EI? = c.max(of: \.eio)
  let _: WI? = c.min(of: \.wi); let _: WI? = c.min(of: \.wio); let _: WI = c.sum(of: \.wi);
  let _: WI = c.sum(of: \.wio)
  let _: WI? = c.average(of: \.wi); let _: WD? = c.average(of: \.wd);
  let _: Double? = c.average(of: \.i); let _: Double? = c.average(of: \.io)
  let _: Date? = c.max(of: \.dt); let _: Date? = c.max(of: \.dto);
  let _: AnyRealmValue? = c.max(of: \.any); let _: Decimal128? = c.average(of: \.dec)
  _ = c.min(of: \.i); _ = c.max(of: \.io); _ = c.sum(of: \.i)
  _ = c.sum(of: \.io)
  let _: EI = c.sum(of: \.ei)
  let _: Int? = c.min(of: \.o!.i)
  // sort
  _ = c.sorted(by: \.i); _ = c.sorted(by: \.io); _ = c.sorted(by: \.ei); _ = c.sorted(by: \.eio);
  _ = c.sorted(by: \.wi); _ = c.sorted(by: \.wio); _ = c.sorted(by: \.s); _ = c.sorted(by: \.so);
  _ = c.sorted(by: \.data); _ = c.sorted(by: \.datao); _ = c.sorted(by: \.dt);
  _ = c.sorted(by: \.dto); _ = c.sorted(by: \.oid); _ = c.sorted(by: \.uuid);
  _ = c.sorted(by: \.any); _ = c.sorted(by: \.b); _ = c.sorted(by: \.bo); _ = c.sorted(by: \.dec)
  _ = c.sorted(by: \.o?.i, ascending: false)
  _ = c.sorted(by: [SortDescriptor(keyPath: \O.i), SortDescriptor(keyPath: \O.wi)])
  _ = c.distinct(by: [\.i, \.wi])
  _ = c.distinct(by: ["i"])
  _ = c.sectioned(by: \.ei); _ = c.sectioned(by: \.eio); _ = c.sectioned(by: \.wi);
  _ = c.sectioned(by: \.io); _ = c.sectioned(by: \.data)
  let _: Int? = c.value(forKeyPath: "@max.i") as? Int
}
func aggv(_ o: O) {
  let _: Int? = o.li.min(); let _: Int? = o.lio.min(); let _: Int = o.lio.sum();
  let _: Double? = o.lio.average(); let _: Int? = o.lio.average()
  let _: EI? = o.lei.min(); let _: EI? = o.leio.max(); let _: EI = o.lei.sum();
  let _: Double? = o.lei.average()
  let _: WI? = o.lwi.min(); let _: WI = o.lwi.sum(); let _: WI = o.lwio.sum();
  let _: WI? = o.lwi.average(); let _: WI? = o.lwio.average(); let _: Double? = o.lwio.average()
  let _: Date? = o.ldt.max(); let _: Date? = o.ldto.max(); let _: Decimal128 = o.ldec.sum();
  let _: AnyRealmValue? = o.lany.max(); let _: AnyRealmValue = o.lany.sum();
  let _: AnyRealmValue? = o.lany.average(); let _: Decimal128? = o.lany.average()
  _ = o.lio.min(); _ = o.lio.sum(); _ = o.si.max(); _ = o.sio.max(); _ = o.mio.max();
  _ = o.mio.sum()
  let _: Int? = o.mi.min(); let _: Int = o.mio.sum(); let _: Double? = o.mio.average();
  let _: EI? = o.mei.max(); let _: WI = o.mwi.sum(); let _: WI = o.mwio.sum()
  _ = o.li.sorted(); _ = o.lio.sorted(); _ = o.lei.sorted(); _ = o.leio.sorted();
  _ = o.lwi.sorted(); _ = o.lwio.sorted(); _ = o.ls.sorted(); _ = o.ldata.sorted();
  _ = o.lany.sorted(); _ = o.ldto.sorted(ascending: false); _ = o.lb.sorted()
  let _: Results<Int> = o.li.sorted(); let _: Results<Int?> = o.lio.sorted();
  let _: Results<WI> = o.lwi.sorted(); let _: Results<EI> = o.sei.sorted()
  _ = o.li.distinct(); _ = o.lio.distinct(); _ = o.lei.distinct(); _ = o.lwi.distinct();
  _ = o.ldata.distinct(); _ = o.mi.distinct(); _ = o.mi.sorted(); _ = o.mio.sorted();
  _ = o.mei.sorted()
  let _: Int? = o.om.min(of: \.i); let _: Int = o.om.sum(of: \.i);
  let _: Double? = o.om.average(of: \.i); let _: EI? = o.om.max(of: \.ei)
  let _: WI? = o.om.min(ofProperty: "wi"); let _: EI? = o.om.min(ofProperty: "ei");
  let _: NSNumber? = o.om.max(ofProperty: "i")
  let _: Results<O?> = o.om.sorted(by: \.i)
  _ = o.om.object(forKey: "a")
  _ = o.mi.object(forKey: "a" as AnyObject)
}
func con<T: MinMaxType>(_: T.Type) {}
func conA<T: AddableType>(_: T.Type) {}
func conS<T: SortableType>(_: T.Type) {}
func constraints() {
  con(NSNumber.self); con(NSDate.self); con(Int?.self); con(Date?.self); con(Decimal128.self);
  con(AnyRealmValue.self); con(Double.self); con(Float?.self); con(Int8.self)
  conA(NSNumber.self); conA(Int?.self); conA(Double.self); conA(Decimal128?.self);
  conA(AnyRealmValue.self)
  conS(Data.self); conS(Int?.self); conS(String?.self); conS(NSNumber.self); conS(NSDate.self);
  conS(UUID.self); conS(ObjectId.self); conS(AnyRealmValue.self); conS(Bool.self); conS(Date.self);
  conS(Decimal128.self)
  func k<T: KeypathSortable>(_: T.Type) {}
  k(Data.self); k(NSNumber.self); k(Int?.self); k(NSDate.self)
  func p<T: _HasPersistedType>(_: T.Type) where T.PersistedType: SortableType {}
  p(Int?.self); p(EI.self); p(WI?.self); p(Data?.self)
}
func generic<T: MinMaxType>(_ c: Results<O>, _: T.Type) -> T? { c.min(ofProperty: "i") }
func genericA<T: AddableType>(_ c: Results<O>, _: T.Type) -> T { c.sum(ofProperty: "i") }
func genericH<T: _HasPersistedType>(_ c: Results<O>, _: T.Type) -> T?
where T.PersistedType: MinMaxType { c.min(ofProperty: "i") }
// geo
func geo(_ r: Results<O>) {
  let d: Distance = .kilometers(1)!
  let _: Double = d.radians
  let _: Distance = Distance.radians(0.1)!
  let _: Double = d.asKilometers()
  _ = Distance.degrees(1.0)
  _ = Distance.miles(3)?.asMiles()
  _ = GeoCircle(center: (1, 2), radius: .kilometers(1)!)
  func g<G: _Geospatial>(_ shape: G) {}
  func any(_ a: any _Geospatial) {}
}
func tokens(_ o: O, _ r: Results<O>) {
  let t = r.observe { _ in }
  let b: Bool = t.invalidate()
  _ = b
  t.invalidate()
  let t2: NotificationToken? = o.observe { (_: ObjectChange<O>) in }
  t2?.invalidate()
}
func schemas(_ o: O) {
  let s: ObjectSchema? = O.sharedSchema()
  _ = s?.className
  _ = O.sharedSchema()?.primaryKeyProperty?.name
  _ = Em.sharedSchema()
  _ = o.objectSchema["a"]?.description
  _ = O.className()
}
func dec() {
  let c: Decimal128 = 3
  c.negate()
  _ = Decimal128(1) as Decimal128
  let _: Decimal128 = -c
  _ = Decimal128(value: Decimal(1)); _ = Decimal128(number: NSDecimalNumber(value: 1));
  _ = try? Decimal128(string: "a")
  _ = c.isNaN; _ = Decimal128.min; _ = Decimal128.max; _ = Decimal128.minimumDecimalNumber;
  _ = Decimal128.maximumDecimalNumber
  _ = c.isGreaterThan(c); _ = c.isLessThan(c); _ = c.isGreaterThanOrEqual(to: c);
  _ = c.isLessThanOrEqual(to: c)
  _ = c.decimalNumber(byAdding: c); _ = c.decimalNumber(byDividingBy: c);
  _ = c.decimalNumber(bySubtracting: c); _ = c.decimalNumber(byMultiplyingBy: c)
}
struct Box: Codable { var v: AnyRealmValue }
func cod() throws {
  let d = try JSONEncoder().encode(AnyRealmValue.int(1))
  _ = try JSONDecoder().decode(AnyRealmValue.self, from: d)
  _ = try JSONEncoder().encode(Box(v: .none))
}
final class CO: Object, Codable {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var any: AnyRealmValue
  @Persisted var l: List<AnyRealmValue>
  @Persisted var m: Map<String, AnyRealmValue>
  @Persisted var e: ClientEnum
  @Persisted var w: MutableSet<String>
  @Persisted var io: Int?
  @Persisted var d: Decimal128
}
enum ClientEnum: String, PersistableEnum, Codable { case x, y }
