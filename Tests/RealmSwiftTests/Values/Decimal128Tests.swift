// Decimal128 by itself; its arithmetic is in DecimalCasesTests.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct Decimal128Tests {
  private func read(_ text: String) throws -> Decimal128 { try Decimal128(string: text) }

  @Test func literals() {
    let integer: Decimal128 = -7
    let fraction: Decimal128 = 0.1
    let text: Decimal128 = "1.50"
    #expect(integer.stringValue == "-7" && fraction.stringValue == "0.1")
    #expect(text.description == "1.50" && text == 1.5)
    #expect(Decimal128() == 0 && Decimal128().stringValue == "0")
    #expect(0.1 as Decimal128 + 0.2 == 0.3)
  }

  @Test func values() throws {
    #expect(Decimal128(value: 5).stringValue == "5")
    #expect(Decimal128(value: UInt64.max).stringValue == "18446744073709551615")
    #expect(Decimal128(value: Int8(-3)).stringValue == "-3")
    #expect(Decimal128(value: 2.5).stringValue == "2.5")
    #expect(Decimal128(value: Float(0.1)).stringValue == "0.1")
    #expect(Decimal128(value: "1e3").stringValue == "1E+3")
    #expect(Decimal128(value: Decimal(string: "12.25")!).stringValue == "12.25")
    #expect(Decimal128(value: Decimal128("7")).stringValue == "7")
    #expect(Decimal128(value: NSNumber(value: 1.25)).stringValue == "1.25")
    #expect(Decimal128(number: NSNumber(value: UInt64.max)).stringValue == "18446744073709551615")
    #expect(Decimal128(number: -12).stringValue == "-12")
    #expect(Decimal128(number: NSDecimalNumber(string: "0.30")) == 0.3)
    #expect(Decimal128(value: Double.infinity).stringValue == "Infinity")
    #expect(Decimal128(value: -Double.infinity) < Decimal128.min)
    #expect(Decimal128(value: Double.nan).isNaN)
    #expect(Decimal128(value: -0.0).stringValue == "-0")
  }

  /// The least integer, which has no counterpart above zero, was refused.
  @Test func allIntegersAreTakenFromDecimals() throws {
    for whole in [Int.min, Int.min + 1, -1, 0, 7_000_000_000_000_000_000, Int.max] {
      #expect(Dog(value: ["age": Decimal(whole)]).age == whole)
      #expect(Dog(value: ["age": Decimal128(value: whole)]).age == whole)
    }
  }

  @Test func doublesStayApart() async {
    #expect(Decimal128(value: 0x1p62).stringValue == "4611686018427387904")
    #expect(Decimal128(value: 1e300).stringValue == "1E+300")
    await withSeeds(20) { random in
      for _ in 0..<100 {
        let double = Double(bitPattern: random.next())
        guard double.isFinite else { continue }
        #expect(Decimal128(value: double).doubleValue == double, "\(double)")
      }
    }
  }

  @Test func exactIntegers() {
    #expect(Decimal128(exactly: Int64.min)?.stringValue == "-9223372036854775808")
    #expect(Decimal128(exactly: UInt8(255)) == 255)
    let digits = UInt128(9_999_999_999_999_999) * 1_000_000_000_000_000_000
    #expect(Decimal128(exactly: digits)?.stringValue == "\(digits)")
    #expect(Decimal128(exactly: digits * 1000) != nil)
    #expect(Decimal128(exactly: UInt128.max) == nil)
    #expect(Decimal128(exactly: digits * 100 + 1) == nil)
  }

  @Test func limits() {
    #expect(
      Decimal128.max.stringValue == String("9." + String(repeating: "9", count: 33)) + "E+6144")
    #expect(Decimal128.min == -Decimal128.max && Decimal128.min < 0)
    #expect((Decimal128.max * 10).stringValue == "Infinity")
    #expect(Decimal128.max.magnitude == Decimal128.min.magnitude)
  }

  @Test func notANumber() throws {
    let quiet = try read("NaN")
    let signaling = try read("sNaN5")
    #expect(quiet.isNaN && !quiet.isSignaling && !quiet.isSignalingNaN)
    #expect(signaling.isNaN && signaling.isSignaling && signaling.isSignalingNaN)
    #expect(!(1 as Decimal128).isNaN && !(1 as Decimal128).isSignaling)
    #expect(quiet != quiet && !(quiet < 1) && !(quiet >= 1))
    #expect((signaling + 1).stringValue == "NaN5" && !(signaling + 1).isSignaling)
    #expect(quiet.doubleValue.isNaN && signaling.doubleValue.isNaN)
  }

  @Test func sameNumberInOtherForms() throws {
    let forms = try ["1000", "1000.00", "1E+3", "10.0E2"].map(read)
    #expect(Set(forms).count == 1)
    #expect(Set(forms.map(\.stringValue)).count == 4)
    #expect(try read("0") == read("-0") && read("0E+5").hashValue == read("-0E-5").hashValue)
    #expect(try read("1000") != read("1001"))
  }

  @Test func changesInPlace() {
    var number: Decimal128 = 5
    let same = number
    number += 2
    number *= 3
    number -= 1
    number /= 8
    #expect(number == 2.5 && same == 5)
    number.negate()
    #expect(number == -2.5 && number.magnitude == 2.5)
    let zero: Decimal128 = 0
    zero.negate()
    #expect(zero.stringValue == "-0")
    #expect((2 as Decimal128).distance(to: 5) == 3 && (2 as Decimal128).advanced(by: 0.5) == 2.5)
    #expect(Array(stride(from: 0.1 as Decimal128, to: 0.4, by: 0.1)) == [0.1, 0.2, 0.3])
    #expect([0.1, 0.2, 0.3].reduce(0 as Decimal128, +) == 0.6)
    #expect([3, 1, 2].map { $0 as Decimal128 }.max() == 3)
  }

  @Test func isCodedAsText() throws {
    let numbers: [Decimal128] = ["1.50", "-1E+6000"]
    let text = try JSONEncoder().encode(numbers)
    #expect(String(decoding: text, as: UTF8.self) == #"["1.50","-1E+6000"]"#)
    let copies = try JSONDecoder().decode([Decimal128].self, from: text)
    #expect(copies.map(\.stringValue) == ["1.50", "-1E+6000"])
    let plain = try JSONDecoder().decode([Decimal128].self, from: Data("[12, 0.5]".utf8))
    #expect(plain == [12, 0.5])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([Decimal128].self, from: Data(#"["x"]"#.utf8))
    }
  }

  @Test func formsThatNoNumberHas() {
    // Coefficient 10^34, the short form of exponents, and a NaN with 34 digits.
    for (high, low, text) in [
      (0x3041_ed09_bead_87c0, 0x378d_8e64_0000_0000, "0"),
      (0x6c10_0000_0000_0000, 0x1, "0"),
      (0xe000_0000_0000_0000, 0x1, "-0E-6176"),
      (0x7c00_3fff_ffff_ffff, UInt64.max, "NaN"),
      (0xf9ff_ffff_ffff_ffff, 0x5, "-Infinity"),
    ] as [(UInt64, UInt64, String)] {
      let bits = (low.littleEndian, high.littleEndian)
      let number = withUnsafeBytes(of: bits) { Decimal128(_bytes: $0) }
      #expect(number.stringValue == text)
    }
  }

  @Test func refusesOtherText() async {
    do {
      _ = try read("1,5")
      Issue.record("read a comma")
    } catch {
      #expect((error as? Realm.Error)?.code == .invalidInput)
      #expect((error as NSError).localizedDescription == "'1,5' is not a decimal number")
    }
    #expect(throws: Realm.Error.self) { try read("1_000") }
    #expect(throws: Realm.Error.self) { try read(" 1") }
    #expect(throws: Realm.Error.self) { try read("٣") }
    let literal = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = "twelve" as Decimal128
    }
    expectStop(literal, "'twelve' is not a decimal number")
    let value = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Decimal128(value: [1])
    }
    expectStop(value, "Cannot convert value '[1]' of type 'Array<Int>' to decimal128")
  }

  @Test func properties() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration("prices.realm", [Price.self])
    try onEachOpening(configuration) { realm in
      let price = Price(value: ["amount": "12.50", "id": 1] as [String: Any])
      #expect(price.amount.stringValue == "12.50" && price.discount == nil)
      try realm.write {
        realm.add(price)
        realm.create(Price.self, value: [2, 0.25, 3] as [Any])
        realm.create(Price.self, value: ["id": 3])
      }
      #expect(price.amount.stringValue == "12.50" && price.discount == nil)
      try realm.write {
        price.amount += 0.25
        price.discount = Decimal128.min
      }
    } second: { realm in
      let prices = Array(realm.objects(Price.self))
      #expect(prices.map(\.amount) == [12.75, 0.25, 0] as [Decimal128])
      #expect(prices.map(\.discount) == [Decimal128.min, 3, nil])
      try realm.write {
        prices[1].discount = nil
        prices[0].setValue(NSNumber(value: 4), forKey: "amount")
      }
      #expect(prices[1].discount == nil && prices[0].value(forKey: "amount") as? Decimal128 == 4)
      #expect(Price().objectSchema["amount"]?.type == .decimal128)
    }
  }
}
