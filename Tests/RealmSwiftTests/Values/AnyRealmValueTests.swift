// AnyRealmValue: comparing, access by type, properties.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AnyRealmValueTests {
  /// One value of each type that is no object and no collection, edges among them.
  private func samples() -> [AnyRealmValue] {
    [
      .none, .int(0), .int(.max), .int(.min), .bool(true), .bool(false), .float(1.5),
      .float(-.infinity), .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude),
      .string(""), .string("grüße 👋"), .string(String(repeating: "long ", count: 20_000)),
      .data(Data()), .data(Data([0, 255])), .date(Date(timeIntervalSince1970: 1.25)),
      .date(.distantPast), .objectId(ObjectId("507f1f77bcf86cd799439011")),
      .decimal128("12.50"), .decimal128(.max), .uuid(UUID()),
    ]
  }

  @Test func accessByType() {
    #expect(AnyRealmValue() == .none && AnyRealmValue.int(5).intValue == 5)
    #expect(AnyRealmValue.bool(true).boolValue == true)
    #expect(AnyRealmValue.float(2.5).floatValue == 2.5)
    #expect(AnyRealmValue.double(2.5).doubleValue == 2.5)
    #expect(AnyRealmValue.string("a").stringValue == "a")
    #expect(AnyRealmValue.data(Data([1])).dataValue == Data([1]))
    let date = Date(timeIntervalSince1970: 3)
    #expect(AnyRealmValue.date(date).dateValue == date)
    let id = ObjectId.generate()
    #expect(AnyRealmValue.objectId(id).objectIdValue == id)
    #expect(AnyRealmValue.decimal128(1.5).decimal128Value == 1.5)
    let uuid = UUID()
    #expect(AnyRealmValue.uuid(uuid).uuidValue == uuid)
    let dog = Dog()
    #expect(AnyRealmValue.object(dog).object(Dog.self) === dog)
    #expect(AnyRealmValue.object(dog).object(Person.self) == nil)
    #expect(AnyRealmValue.object(dog).dynamicObject == nil)
    #expect(
      AnyRealmValue.fromArray([.int(1), .none]).listValue.map { Array($0) } == [.int(1), .none])
    // No conversions.
    #expect(AnyRealmValue.int(5).doubleValue == nil && AnyRealmValue.double(5).intValue == nil)
    #expect(AnyRealmValue.none.intValue == nil && AnyRealmValue.string("5").intValue == nil)
    #expect(AnyRealmValue.int(1).boolValue == nil && AnyRealmValue.bool(true).intValue == nil)
  }

  @Test func numbersAreEqualWithinTheirType() {
    let ones: [AnyRealmValue] = [.int(1), .float(1), .double(1), .decimal128(1), .bool(true)]
    for (index, left) in ones.enumerated() {
      for (other, right) in ones.enumerated() { #expect((left == right) == (index == other)) }
    }
    #expect(Set(ones).count == ones.count)
    #expect(AnyRealmValue.decimal128(1) == .decimal128("1.0"))
    #expect(AnyRealmValue.decimal128(1).hashValue == AnyRealmValue.decimal128("1.0").hashValue)
    #expect(AnyRealmValue.double(0) == .double(-0.0))
    #expect(AnyRealmValue.double(.nan) != .double(.nan))
    let unmanaged = MutableSet<AnyRealmValue>()
    unmanaged.insert(objectsIn: ones + ones)
    #expect(unmanaged.count == ones.count)
  }

  @Test func onlyEqualValuesAreEqual() {
    let values = samples()
    for (index, left) in values.enumerated() {
      for (other, right) in values.enumerated() {
        #expect((left == right) == (index == other), "\(index), \(other)")
      }
    }
    #expect(Set(values).count == values.count)
    #expect(AnyRealmValue.fromArray([.int(1)]) == .fromArray([.int(1)]))
    #expect(AnyRealmValue.fromArray([.int(1)]) != .fromArray([.double(1)]))
    #expect(AnyRealmValue.fromArray([.int(1)]) != .fromArray([.int(1), .none]))
    #expect(
      AnyRealmValue.fromArray([.int(1)]).hashValue == AnyRealmValue.fromArray([.int(1)]).hashValue
    )
  }

  @Test func startsWithNone() {
    let box = ValueBox()
    #expect(box.value == .none && box.label == .none && box.started == .string("start"))
    #expect(box["value"] == nil && box.description.contains("value = (null);"))
    #expect(
      box.objectSchema["value"]?.type == .any && box.objectSchema["value"]?.isOptional == true)
    #expect(box.objectSchema["label"]?.isIndexed == true)
  }

  @Test func everyTypeIsStored() throws {
    let folder = TemporaryFolder()
    let values = samples()
    try onEachOpening(folder.configuration("any.realm", [ValueBox.self])) { realm in
      try realm.write {
        for (id, value) in values.enumerated() {
          realm.create(ValueBox.self, value: ["id": id, "value": value] as [String: Any])
        }
        let box = ValueBox(value: ["id": 1000])
        realm.add(box)
        for value in values {
          box.value = value
          #expect(box.value == value)
        }
        box.started = .none
      }
    } second: { realm in
      for (id, value) in values.enumerated() {
        let box = realm.object(ofType: ValueBox.self, forPrimaryKey: id)
        #expect(box?.value == value && box?.label == AnyRealmValue.none, "\(id)")
        #expect(type(of: box?.value._anyValue) == type(of: value._anyValue))
        #expect(box?.started == .string("start"))
      }
      let box = realm.object(ofType: ValueBox.self, forPrimaryKey: 1000)
      #expect(box?.value == values.last && box?.started == AnyRealmValue.none)
    }
  }

  @Test func nestedLists() throws {
    let folder = TemporaryFolder()
    let nested = AnyRealmValue.fromArray([
      .int(1), .none, .fromArray([]), .fromArray([.string("deep"), .fromArray([.bool(true)])]),
    ])
    try onEachOpening(folder.configuration("any.realm", [ValueBox.self])) { realm in
      try realm.write {
        let box = realm.create(ValueBox.self, value: ["value": nested])
        #expect(box.value == nested)
      }
    } second: { realm in
      let box = try #require(realm.objects(ValueBox.self).first)
      #expect(box.value == nested)
      #expect(box.value.listValue?[3].listValue?[0] == .string("deep"))
      let copy = ValueBox(value: box)
      copy.value.listValue?.append(.int(2))
      #expect(copy.value.listValue?.count == 5 && box.value == nested)
    }
  }

  @Test func untypedValues() throws {
    let realm = try memoryRealm([ValueBox.self])
    let box = try realm.write {
      realm.create(ValueBox.self, value: ["value": 5, "label": "text"] as [String: Any])
    }
    #expect(box.value == .int(5) && box.label.stringValue == "text")
    let date = Date()
    let cases: [(Any?, AnyRealmValue)] = [
      (nil, .none), (true, .bool(true)), (UInt8(3), .int(3)), (2.5, .double(2.5)),
      (Float(2.5), .float(2.5)), (NSNumber(value: true), .bool(true)),
      (NSNumber(value: 1), .int(1)), (NSNumber(value: 1.5), .double(1.5)), (date, .date(date)),
      ([1, "a", NSNull()] as [Any], .fromArray([.int(1), .string("a"), .none])),
      (Suit.clubs, .string("♣")), (Celsius(degrees: 3), .double(3)), (NSNull(), .none),
      (AnyRealmValue.int(9), .int(9)),
    ]
    try realm.write {
      for (value, expected) in cases {
        box.setValue(value, forKey: "value")
        #expect(box.value == expected)
        #expect(type(of: box.value._anyValue) == type(of: expected._anyValue))
      }
      box["value"] = 7
    }
    #expect(box["value"] as? Int == 7)
    #expect(ValueBox(value: box).value == .int(7))
  }

  @Test func elementsOfUnmanagedLists() {
    let box = ValueBox(value: ["values": [1, NSNull(), "a"]])
    #expect(Array(box.values) == [.int(1), .none, .string("a")])
    #expect(box.values.index(of: .int(1)) == 0 && box.values.index(of: .double(1)) == nil)
  }

  @Test func aValueThatNoRealmHoldsStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = ValueBox(value: ["value": DateInterval()])
    }
    expectStop(result, "of type 'DateInterval' for 'mixed?' property 'ValueBox.value'.")
    let large = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      ValueBox().setValue(UInt64.max, forKey: "value")
    }
    expectStop(large, "Invalid value '18446744073709551615' of type 'UInt64'")
  }
}
