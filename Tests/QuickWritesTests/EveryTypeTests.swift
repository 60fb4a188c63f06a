// A binding writes a property of every type, and what is in a collection of every type: each value
// once, and not again while it is the same.
import EditingProcess
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

enum Level: Int8, PersistableEnum { case low, high }

struct Celsius: CustomPersistable, Equatable {
  var degrees: Double
  init(degrees: Double) { self.degrees = degrees }
  init(persistedValue: Double) { degrees = persistedValue }
  var persistableValue: Double { degrees }
}

/// Stored as an object.
struct Spot: CustomPersistable, Equatable {
  var street: String
  init(street: String) { self.street = street }
  init(persistedValue: Address) { street = persistedValue.street }
  var persistableValue: Address { Address(value: ["street": street]) }
}

class Everything: Object, ObjectKeyIdentifiable {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var _id: Int
  @Persisted var bool: Bool
  @Persisted var int8: Int8
  @Persisted var int16: Int16
  @Persisted var int32: Int32
  @Persisted var int64: Int64
  @Persisted var int: Int
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var string: String
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var uuid: UUID
  @Persisted var objectId: ObjectId
  @Persisted var decimal: Decimal128
  @Persisted var level = Level.low
  @Persisted var celsius: Celsius
  @Persisted var spot: Spot
  @Persisted var mixed: AnyRealmValue
  @Persisted var optionalBool: Bool?
  @Persisted var optionalInt8: Int8?
  @Persisted var optionalInt: Int?
  @Persisted var optionalFloat: Float?
  @Persisted var optionalDouble: Double?
  @Persisted var optionalData: Data?
  @Persisted var optionalDate: Date?
  @Persisted var optionalUuid: UUID?
  @Persisted var optionalObjectId: ObjectId?
  @Persisted var optionalDecimal: Decimal128?
  @Persisted var optionalLevel: Level?
  @Persisted var optionalCelsius: Celsius?
  @Persisted var optionalSpot: Spot?
  let legacyInt = RealmProperty<Int?>()
  @Persisted var levels: List<Level>
  @Persisted var optionalInts: List<Int?>
  @Persisted var mixedList: List<AnyRealmValue>
  @Persisted var celsiusSet: MutableSet<Celsius>
  @Persisted var decimals: MutableSet<Decimal128>
  @Persisted var optionalDates: Map<String, Date?>
  @Persisted var mixedMap: Map<String, AnyRealmValue>
  @Persisted var levelMap: Map<String, Level>
  /// Not stored.
  var plain = 0
}

extension Celsius: Hashable {}

@MainActor
@Suite(.serialized, .ownThreads) struct EveryTypeTests {
  private let folder = TemporaryFolder()
  private let realm: Realm
  private let everything: Everything

  init() throws {
    realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.file("all.realm")),
        objectTypes: [Everything.self, Address.self, Item.self, ItemGroup.self]))
    everything = try realm.write { [realm] in realm.create(Everything.self, value: ["_id": 1]) }
  }

  /// Writes a value by a wrapper's binding, by one of the object and by one of its frozen form.
  private func check<Value: Equatable>(
    _ keyPath: ReferenceWritableKeyPath<Everything, Value>, _ values: Value...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    @ObservedRealmObject var shown = everything
    let bindings = [
      $shown[dynamicMember: keyPath], everything.bind(keyPath), everything.freeze().bind(keyPath),
    ]
    for (binding, value) in zip(bindings, values) {
      let isSame = everything[keyPath: keyPath] == value
      #expect(
        realm.versions { binding.wrappedValue = value } == (isSame ? 0 : 1), "\(value)",
        sourceLocation: sourceLocation)
      #expect(
        realm.versions { binding.wrappedValue = value } == 0, "\(value) again",
        sourceLocation: sourceLocation)
      #expect(everything[keyPath: keyPath] == value, sourceLocation: sourceLocation)
      #expect(shown[keyPath: keyPath] == value, sourceLocation: sourceLocation)
      #expect(bindings[0].wrappedValue == value, sourceLocation: sourceLocation)
    }
  }

  @Test func properties() {
    let (date, uuid, id) = (Date(timeIntervalSince1970: 1.5), UUID(), ObjectId.generate())
    check(\.bool, true, false, true)
    check(\.int8, .min, .max, 0)
    check(\.int16, .min, .max, 0)
    check(\.int32, .min, .max, 0)
    check(\.int64, .min, .max, 0)
    check(\.int, .min, .max, 0)
    check(\.float, 1.5, -.infinity, .leastNonzeroMagnitude)
    check(\.double, 1.5, -.infinity, .leastNonzeroMagnitude)
    check(\.string, "a", "", "e\u{301}\u{0}")
    check(\.data, Data([0, 1]), Data(), Data(repeating: 7, count: 5000))
    check(\.date, date, .distantPast, .distantFuture)
    check(\.uuid, uuid, UUID(), uuid)
    check(\.objectId, id, .generate(), id)
    check(\.decimal, 1.5, Decimal128(number: -3), 0)
    check(\.level, .high, .low, .high)
    check(\.celsius, Celsius(degrees: 1), Celsius(degrees: -1), Celsius(degrees: 0))
    check(\.mixed, .int(1), .string("a"), .none)
    check(\.mixed, .date(date), .uuid(uuid), .objectId(id))
    check(\.mixed, .data(Data([1])), .decimal128(1.5), .float(1))
  }

  @Test func optionalProperties() {
    let (date, uuid, id) = (Date(timeIntervalSince1970: 1.5), UUID(), ObjectId.generate())
    check(\.optionalBool, true, nil, false)
    check(\.optionalInt8, .min, nil, 0)
    check(\.optionalInt, .min, nil, 0)
    check(\.optionalFloat, 1.5, nil, 0)
    check(\.optionalDouble, 1.5, nil, 0)
    check(\.optionalData, Data(), nil, Data([1]))
    check(\.optionalDate, date, nil, .distantPast)
    check(\.optionalUuid, uuid, nil, UUID())
    check(\.optionalObjectId, id, nil, .generate())
    check(\.optionalDecimal, 1.5, nil, 0)
    check(\.optionalLevel, .high, nil, .low)
    check(\.optionalCelsius, Celsius(degrees: 1), nil, Celsius(degrees: 0))
    check(\.legacyInt.value, 1, nil, 0)
  }

  /// What is stored as an object is that object anew: whether it is the same cannot be told.
  @Test func valuesThatAreStoredAsObjects() {
    @ObservedRealmObject var shown = everything
    $shown.spot.wrappedValue = Spot(street: "Main")
    #expect(everything.spot.street == "Main" && shown.spot.street == "Main")
    $shown.spot.street.wrappedValue = "Side"
    #expect(everything.spot.street == "Side" && $shown.spot.street.wrappedValue == "Side")
    $shown.optionalSpot.wrappedValue = Spot(street: "Back")
    #expect(shown.optionalSpot?.street == "Back")
    $shown.optionalSpot.wrappedValue = nil
    #expect(everything.optionalSpot == nil)
  }

  /// A part of a value is written with the whole value.
  @Test func partsOfValues() {
    @ObservedRealmObject var shown = everything
    $shown.celsius.degrees.wrappedValue = 21
    #expect(everything.celsius == Celsius(degrees: 21))
    #expect(realm.versions { $shown.celsius.degrees.wrappedValue = 21 } == 0)
    $shown.string.wrappedValue.append("x")
    #expect(shown.string == "x")
  }

  @Test func collections() {
    @ObservedRealmObject var shown = everything
    let date = Date(timeIntervalSince1970: 1.5)
    $shown.levels.append(objectsIn: [.low, .high, .low])
    $shown.levels.move(fromOffsets: [1], toOffset: 0)
    $shown.levels.remove(at: 2)
    #expect(Array(shown.levels) == [.high, .low])
    $shown.optionalInts.append(nil)
    $shown.optionalInts.append(3)
    $shown.optionalInts.insert(nil, at: 0)
    $shown.optionalInts.remove(atOffsets: [1])
    #expect(Array(shown.optionalInts) == [nil, 3])
    $shown.mixedList.append(.int(1))
    $shown.mixedList.append(.none)
    $shown.mixedList.append(.fromArray([.int(2)]))
    $shown.mixedList.move(fromOffsets: [2], toOffset: 0)
    #expect(shown.mixedList[0].listValue.map(Array.init) == [.int(2)])
    $shown.celsiusSet.insert(Celsius(degrees: 1))
    $shown.celsiusSet.insert(Celsius(degrees: 1))
    $shown.celsiusSet.insert(Celsius(degrees: 2))
    $shown.celsiusSet.remove(Celsius(degrees: 1))
    #expect(Array(shown.celsiusSet) == [Celsius(degrees: 2)])
    $shown.decimals.insert(1.5)
    #expect(realm.versions { $shown.decimals.insert(1.5) } == 0)
    #expect(realm.versions { $shown.decimals.remove(2.5) } == 0)
    #expect(Array(shown.decimals) == [1.5])
    $shown.optionalDates.set(object: date, for: "a")
    $shown.optionalDates.set(object: .some(nil), for: "b")
    #expect(realm.versions { $shown.optionalDates.set(object: date, for: "a") } == 0)
    #expect(realm.versions { $shown.optionalDates.set(object: .some(nil), for: "b") } == 0)
    #expect(shown.optionalDates["a"] == date && shown.optionalDates.count == 2)
    $shown.mixedMap.set(object: .fromDictionary(["x": .int(1)]), for: "a")
    #expect(shown.mixedMap["a"]?.dictionaryValue?["x"] == .int(1))
    $shown.levelMap.set(object: .high, for: "a")
    #expect(realm.versions { $shown.levelMap.set(object: .high, for: "a") } == 0)
    #expect(shown.levelMap["a"] == .high)
  }

  /// Of a place in a collection, as SwiftUI has it of arrays.
  @Test func placesInCollections() {
    let group = try! realm.write {
      realm.create(ItemGroup.self, value: ["items": [["name": "A"], ["name": "B"]]])
    }
    @ObservedRealmObject var shown = group
    $shown.items[1].name.wrappedValue = "C"
    #expect(group.items[1].name == "C" && $shown.items[1].name.wrappedValue == "C")
    $shown.numbers.append(1)
    $shown.numbers[0].wrappedValue += 4
    #expect(shown.numbers[0] == 5)
    $shown.prices["a"].wrappedValue = 3
    #expect(shown.prices["a"] == 3 && $shown.prices["a"].wrappedValue == 3)
    #expect(realm.versions { $shown.prices["a"].wrappedValue = 3 } == 0)
    $shown.prices["a"].wrappedValue = nil
    #expect(shown.prices.isEmpty)
    group.bind(\.itemByName)["x"].wrappedValue = group.items[0].freeze()
    #expect(group.itemByName["x"]??.name == "A")
  }

  /// What is not stored belongs to the instance: to that of a wrapper's, which comes and goes.
  @Test func propertiesThatAreNotStored() {
    everything.bind(\.plain).wrappedValue = 3
    #expect(everything.plain == 3)
    let own = Everything()
    @StateRealmObject var state = own
    $state.plain.wrappedValue = 4
    #expect(state.plain == 4 && own.plain == 4)
  }
}
