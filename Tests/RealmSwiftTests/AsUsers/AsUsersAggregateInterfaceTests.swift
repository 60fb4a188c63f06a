// Smallest, largest, sum, mean and order of every type, in every form of the call; the types in
// which results can be had; and small parts of the public interface.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersAggregateInterfaceTests {
  private let realm: Realm
  private var objects: Results<EveryForm> { realm.objects(EveryForm.self) }
  private var a: EveryForm { objects.where { $0.name == "a" }.first! }

  init() throws { realm = try everyFormRealm() }

  @Test func byName() {
    let step: Step? = objects.max(ofProperty: "step")
    #expect(step == .three)
    let least: Step? = objects.min(ofProperty: "stepOrNil")
    #expect(least == .two)
    let cents: Cents = objects.sum(ofProperty: "cents")
    #expect(cents == Cents(90))
    let mean: Cents? = objects.average(ofProperty: "cents")
    #expect(mean == Cents(30))
    let ratio: Fraction? = objects.max(ofProperty: "ratio")
    #expect(ratio == Fraction(0.5))
    let raw: Int? = objects.max(ofProperty: "step")
    #expect(raw == 3)
    let whole8: Int8? = objects.max(ofProperty: "whole8")
    #expect(whole8 == 2)
    let sumOf8: Int = objects.sum(ofProperty: "whole8")
    #expect(sumOf8 == 2)
    let optional: Int? = objects.sum(ofProperty: "wholeOrNil")
    #expect(optional == 3)
    let single: Float? = objects.max(ofProperty: "single")
    #expect(single == 1.5)
    let decimal: Decimal128? = objects.max(ofProperty: "decimal")
    #expect(decimal == 2.5)
    let ofMap: Cents? = a.linkMap.max(ofProperty: "cents")
    #expect(ofMap == Cents(70))
    let ofMapStep: Step? = a.linkMap.min(ofProperty: "step")
    #expect(ofMapStep == .three)
    let ofList: Step? = a.links.min(ofProperty: "step")
    #expect(ofList == .two)
  }

  @Test func typesOfFoundation() {
    let number: NSNumber? = objects.max(ofProperty: "whole")
    #expect(number == 7)
    let sum: NSNumber = objects.sum(ofProperty: "single")
    #expect(sum.doubleValue == 1.5)
    let mean: NSNumber? = objects.average(ofProperty: "whole")
    #expect(mean?.doubleValue == 3)
    let date: NSDate? = objects.max(ofProperty: "time")
    #expect(date == NSDate(timeIntervalSince1970: 10))
    let decimal: Decimal = objects.sum(ofProperty: "decimal")
    #expect(decimal == Decimal(string: "2.5"))
    let list = List<EveryForm>()
    list.append(EveryForm(value: ["whole": 4, "time": Date(timeIntervalSince1970: 3)]))
    let unmanaged: NSNumber? = list.min(ofProperty: "whole")
    #expect(unmanaged == 4)
    let unmanagedDate: NSDate? = list.min(ofProperty: "time")
    #expect(unmanagedDate == NSDate(timeIntervalSince1970: 3))
    let none: NSNumber? = List<EveryForm>().max(ofProperty: "whole")
    #expect(none == nil)
  }

  @Test func byKeyPath() {
    #expect(objects.min(of: \.step) == .one)
    #expect(objects.max(of: \.stepOrNil) == .two)
    #expect(objects.sum(of: \.cents) == Cents(90))
    #expect(objects.sum(of: \.centsOrNil) == Cents(30))
    #expect(objects.max(of: \.time) == Date(timeIntervalSince1970: 10))
    let mean: Double? = objects.average(of: \.wholeOrNil)
    #expect(mean == 3)
    let half: Double? = objects.average(of: \.single)
    #expect(half == 0.5)
    let ratio: Fraction? = objects.average(of: \.ratio)
    #expect((ratio?.number ?? 0) > 0.16)
    #expect(a.linkMap.max(of: \.cents) == Cents(70))
  }

  @Test func elements() {
    #expect(a.wholesOrNil.min() == 1 && a.wholesOrNil.max() == 4 && a.wholesOrNil.sum() == 5)
    #expect(a.steps.min() == .one && a.stepsOrNil.max() == .two)
    #expect(a.centsList.sum() == Cents(90) && a.centsOrNils.sum() == Cents(30))
    #expect(a.centsList.average() == Cents(30) && a.centsOrNils.average() == 15.0)
    #expect(a.wholeSet.sum() == 6 && a.wholeOrNilMap.max() == 1 && a.centsMap.sum() == Cents(30))
    #expect(Array(a.bytes.sorted()) == [Data([1]), Data([1]), Data([2])])
    #expect(Array(a.bytes.distinct()) == [Data([2]), Data([1])])
    #expect(Array(a.stepsOrNil.sorted()) == [nil, .one, .two])
    #expect(Array(a.centsOrNils.sorted(ascending: false)) == [Cents(20), Cents(10), nil])
    #expect(Array(a.stepMap.sorted()) == [.one, .three])
    #expect(objects.sorted(by: \.data, ascending: false).first?.name == "a")
    #expect(objects.sorted(by: \.centsOrNil).last?.name == "a")
    #expect(objects.sectioned(by: \.step).allKeys == [.one, .two, .three])
  }

  @Test func genericCode() {
    func least<T: MinMaxType>(_: T.Type, _ name: String) -> T? { objects.min(ofProperty: name) }
    func total<T: AddableType>(_: T.Type, _ name: String) -> T { objects.sum(ofProperty: name) }
    func most<T: _HasPersistedType>(_: T.Type, _ name: String) -> T?
    where T.PersistedType: MinMaxType {
      objects.max(ofProperty: name)
    }
    #expect(least(Int.self, "whole") == 0)
    #expect(least(NSNumber.self, "whole") == 0)
    #expect(least(Int?.self, "wholeOrNil") == 3)
    #expect(total(Double.self, "single") == 1.5)
    #expect(total(Decimal128.self, "decimal") == 2.5)
    #expect(most(Step.self, "step") == .three)
    #expect(most(Cents.self, "cents") == Cents(70))
  }

  @Test func smallParts() throws {
    #expect(Distance.kilometers(6378.1)?.radians == 1)
    #expect(Distance.radians(0.25)?.radians == 0.25)
    #expect(a.wholeMap.object(forKey: "x") == 1)
    #expect(a.wholeMap.object(forKey: "none") == nil)
    #expect(a.wholeMap.object(forKey: NSString("y")) as? Int == 3)
    #expect(EveryForm.sharedSchema()?.className == "EveryForm")
    #expect(EveryForm.sharedSchema()?["cents"]?.type == .int)
    #expect(SpotObject.sharedSchema()?.isEmbedded == true)
    #expect(Object.sharedSchema() == nil && EmbeddedObject.sharedSchema() == nil)
  }

  @Test @MainActor func tokensTellWhetherTheyHadEnded() throws {
    let token = try everyFormRealm().objects(EveryForm.self).observe { _ in }
    #expect(token.invalidate())
    #expect(!token.invalidate())
  }

  @Test func decimalNumbers() throws {
    let number: Decimal128 = 3.5
    number.negate()
    #expect(number == -3.5)
    let other: Decimal128 = 2
    other.negate()
    other.negate()
    #expect(other == 2 && -other == -2)
    func generic<T: SignedNumeric>(_ value: T) -> T {
      var value = value
      value.negate()
      return value
    }
    #expect(generic(Decimal128(5)) == -5)
    #expect(Decimal128.min < Decimal128.max && Decimal128.minimumDecimalNumber == Decimal128.min)
    Decimal128.max.negate()
    #expect(Decimal128.max > 0)
    #expect(number.isLessThan(other) && other.isGreaterThanOrEqual(to: 2))
    #expect(other.decimalNumber(byDividingBy: 4) == 0.5)
    #expect(other.decimalNumber(byAdding: number) == -1.5)
    a.decimal.negate()
    #expect(a.decimal == 2.5)
    let nan = try Decimal128(string: "NaN")
    nan.negate()
    #expect(nan.isNaN)
  }
}
