// Decimal numbers of Foundation's on their way into properties: with all their digits. A cast to
// `Double` succeeds for them, and rounds once a digit.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class GivenNumbers: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var price: Decimal128
  @Persisted var discount: Decimal128?
  @Persisted var weight: Double
  @Persisted var factor: Float
  @Persisted var mixed: AnyRealmValue
  @Persisted var prices: List<Decimal128>
  @Persisted var weights: Map<String, Double>
  @Persisted var mixedList: List<AnyRealmValue>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct FoundationNumberTests {
  /// 0.07 was stored as 0.06999999999999999.
  @Test(arguments: ["0.07", "0.14", "0.23", "-1.1", "12345678901234567.89", "0.000001"])
  func decimalNumbersKeepTheirDigits(_ text: String) throws {
    let exact = try Decimal128(string: text)
    let double = try #require(Double(text))
    let decimal = try #require(Decimal(string: text))
    let numbers: [Any] = [NSDecimalNumber(string: text), decimal]
    let isExactDouble = Decimal128(value: double) == exact
    for number in numbers {
      #expect(Decimal128(value: number) == exact)
      let realm = try memoryRealm([GivenNumbers.self])
      let values: [String: Any] = [
        "id": 1, "price": number, "discount": number, "weight": number, "factor": number,
        "mixed": number, "prices": [number], "weights": ["a": number], "mixedList": [number],
      ]
      let object = try realm.write {
        realm.create(GivenNumbers.self, value: ["id": 2])
        return realm.create(GivenNumbers.self, value: values)
      }
      func expectExact(_ object: GivenNumbers, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(object.price == exact && object.discount == exact, sourceLocation: sourceLocation)
        #expect(object.weight == double, sourceLocation: sourceLocation)
        #expect(object.factor == Float(text), sourceLocation: sourceLocation)
        #expect(object.mixed == .decimal128(exact), sourceLocation: sourceLocation)
      }
      expectExact(object)
      #expect(Array(object.prices) == [exact] && object.weights["a"] == double)
      #expect(object.mixedList.first == .decimal128(exact))
      // What is stored is found by the number that it was made of.
      for name in ["price", "discount", "weight", "factor", "mixed"]
      where name != "weight" || isExactDouble {
        let found = realm.objects(GivenNumbers.self).filter("\(name) == %@", number)
        #expect(found.map(\.id) == [1], "\(name)")
      }
      // By name: of a managed object, one of no Realm, and a dynamic one.
      let other = try #require(realm.object(ofType: GivenNumbers.self, forPrimaryKey: 2))
      let plain = GivenNumbers()
      let dynamic = try #require(
        realm.dynamicObject(ofType: GivenNumbers.className(), forPrimaryKey: 1))
      try realm.write {
        for name in ["price", "discount", "weight", "factor", "mixed"] {
          other[name] = number
          plain[name] = number
          dynamic[name] = 0
          dynamic[name] = number
        }
      }
      expectExact(other)
      expectExact(plain)
      expectExact(object)
    }
  }

  @Test func numbersOfOtherTypes() {
    #expect(Decimal128(value: NSNumber(value: Float(0.1))).stringValue == "0.1")
    #expect(Decimal128(value: NSNumber(value: UInt64.max)).stringValue == "18446744073709551615")
    #expect(Decimal128(value: NSNumber(value: true)) == 1)
    #expect(Decimal128(value: CGFloat(0.1)).stringValue == "0.1")
    #expect(Double._fromAny(NSNumber(value: 0.1)) == 0.1)
    #expect(Float._fromAny(NSDecimalNumber(string: "1e60")) == nil)
  }

  /// Only whole numbers are integers, also where the nearest `Double` is one.
  @Test func integersAreExact() {
    #expect(Int._fromAny(NSDecimalNumber(string: "9007199254740993")) == 9_007_199_254_740_993)
    #expect(Int._fromAny(NSDecimalNumber(string: "12345678901234567.89")) == nil)
    #expect(Int._fromAny(Decimal(string: "12345678901234567.89")) == nil)
    #expect(Int8._fromAny(NSNumber(value: 300)) == nil && Int8._fromAny(NSNumber(value: 5)) == 5)
    #expect(Int._fromAny(NSNumber(value: 2.5)) == nil && Int._fromAny(NSNumber(value: 2.0)) == 2)
  }
}
