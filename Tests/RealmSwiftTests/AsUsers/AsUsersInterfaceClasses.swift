// Classes with properties of every kind of stored type: values, optionals, enumerations, own types,
// and collections of all of them; for the suites of the public interface.
import Foundation
import RealmSwift

enum Step: Int, PersistableEnum { case one = 1, two, three }
enum Tone: String, PersistableEnum { case low, middle, high }
enum Weight: Double, PersistableEnum { case light = 1.5, heavy = 2 }

struct Cents: CustomPersistable, Comparable {
  var number: Int
  init(persistedValue: Int) { number = persistedValue }
  init(_ number: Int) { self.number = number }
  var persistableValue: Int { number }
  static func < (left: Cents, right: Cents) -> Bool { left.number < right.number }
}

struct Label: CustomPersistable {
  var text: String
  init(persistedValue: String) { text = persistedValue }
  init(_ text: String) { self.text = text }
  var persistableValue: String { text }
}

struct Fraction: CustomPersistable {
  var number: Double
  init(persistedValue: Double) { number = persistedValue }
  init(_ number: Double) { self.number = number }
  var persistableValue: Double { number }
}

struct Spot: CustomPersistable {
  var x: Int
  init(persistedValue: SpotObject) { x = persistedValue.x }
  init(_ x: Int) { self.x = x }
  var persistableValue: SpotObject { SpotObject(value: ["x": x]) }
}

class SpotObject: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  @Persisted var x = 0
}

class EveryForm: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  @Persisted var name = ""
  @Persisted var whole = 0
  @Persisted var whole8: Int8 = 0
  @Persisted var wholeOrNil: Int?
  @Persisted var single: Float
  @Persisted var time = Date(timeIntervalSince1970: 0)
  @Persisted var data = Data()
  @Persisted var textOrNil: String?
  @Persisted var decimal: Decimal128
  @Persisted var any: AnyRealmValue
  @Persisted var step: Step
  @Persisted var stepOrNil: Step?
  @Persisted var tone: Tone
  @Persisted var toneOrNil: Tone?
  @Persisted var weight: Weight
  @Persisted var cents: Cents
  @Persisted var centsOrNil: Cents?
  @Persisted var label: Label
  @Persisted var labelOrNil: Label?
  @Persisted var ratio: Fraction
  @Persisted var spot: Spot
  @Persisted var link: EveryForm?
  @Persisted var links: List<EveryForm>
  @Persisted var wholes: List<Int>
  @Persisted var wholesOrNil: List<Int?>
  @Persisted var times: List<Date>
  @Persisted var texts: List<String>
  @Persisted var textsOrNil: List<String?>
  @Persisted var bytes: List<Data>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var steps: List<Step>
  @Persisted var stepsOrNil: List<Step?>
  @Persisted var tones: List<Tone>
  @Persisted var weights: List<Weight>
  @Persisted var centsList: List<Cents>
  @Persisted var centsOrNils: List<Cents?>
  @Persisted var labels: List<Label>
  @Persisted var spots: List<Spot>
  @Persisted var wholeSet: MutableSet<Int?>
  @Persisted var stepSet: MutableSet<Step>
  @Persisted var centsSet: MutableSet<Cents>
  @Persisted var wholeMap: Map<String, Int>
  @Persisted var wholeOrNilMap: Map<String, Int?>
  @Persisted var textMap: Map<String, String>
  @Persisted var stepMap: Map<String, Step>
  @Persisted var stepOrNilMap: Map<String, Step?>
  @Persisted var toneMap: Map<String, Tone>
  @Persisted var centsMap: Map<String, Cents>
  @Persisted var centsOrNilMap: Map<String, Cents?>
  @Persisted var labelMap: Map<String, Label>
  @Persisted var spotMap: Map<String, Spot>
  @Persisted var linkMap: Map<String, EveryForm?>
}

/// A Realm with two objects: "a" with values in everything, and "empty" with defaults; "b" is
/// linked by "a".
func everyFormRealm() throws -> Realm {
  let realm = try memoryRealm([EveryForm.self, SpotObject.self])
  try realm.write {
    let b = realm.create(EveryForm.self, value: ["name": "b", "whole": 7, "step": 3, "cents": 70])
    let a = realm.create(EveryForm.self, value: ["name": "a"])
    a.whole = 2
    a.whole8 = 2
    a.wholeOrNil = 3
    a.single = 1.5
    a.time = Date(timeIntervalSince1970: 10)
    a.data = Data([1, 2, 3])
    a.textOrNil = "Äpfel"
    a.decimal = 2.5
    a.any = .string("hello")
    a.step = .two
    a.stepOrNil = .two
    a.tone = .middle
    a.toneOrNil = .high
    a.weight = .heavy
    a.cents = Cents(20)
    a.centsOrNil = Cents(30)
    a.label = Label("blue")
    a.labelOrNil = Label("green")
    a.ratio = Fraction(0.5)
    a.spot = Spot(4)
    a.link = b
    a.links.append(objectsIn: [a, b])
    a.wholes.append(objectsIn: [1, 2, 4])
    a.wholesOrNil.append(objectsIn: [1, nil, 4])
    a.times.append(objectsIn: [Date(timeIntervalSince1970: 5), Date(timeIntervalSince1970: 9)])
    a.texts.append(objectsIn: ["apple", "Pear"])
    a.textsOrNil.append(objectsIn: ["apple", nil])
    a.bytes.append(objectsIn: [Data([2]), Data([1]), Data([1])])
    a.anys.append(objectsIn: [.int(1), .double(2.5)])
    a.steps.append(objectsIn: [.one, .three])
    a.stepsOrNil.append(objectsIn: [.one, nil, .two])
    a.tones.append(objectsIn: [.low, .high])
    a.weights.append(objectsIn: [.light, .heavy])
    a.centsList.append(objectsIn: [Cents(10), Cents(20), Cents(60)])
    a.centsOrNils.append(objectsIn: [Cents(10), nil, Cents(20)])
    a.labels.append(objectsIn: [Label("red"), Label("blue")])
    a.spots.append(objectsIn: [Spot(1), Spot(2)])
    a.wholeSet.insert(objectsIn: [1, nil, 5])
    a.stepSet.insert(objectsIn: [.one, .two])
    a.centsSet.insert(objectsIn: [Cents(10), Cents(20)])
    a.wholeMap.merge(["x": 1, "y": 3]) { $1 }
    a.wholeOrNilMap.merge(["x": 1, "y": nil]) { $1 }
    a.textMap.merge(["x": "apple", "y": "Pear"]) { $1 }
    a.stepMap.merge(["x": .one, "y": .three]) { $1 }
    a.stepOrNilMap.merge(["x": .one, "y": nil]) { $1 }
    a.toneMap.merge(["x": .low]) { $1 }
    a.centsMap.merge(["x": Cents(10), "y": Cents(20)]) { $1 }
    a.centsOrNilMap.merge(["x": Cents(10), "y": nil]) { $1 }
    a.labelMap.merge(["x": Label("red")]) { $1 }
    a.spotMap.merge(["x": Spot(3)]) { $1 }
    a.linkMap.merge(["x": b]) { $1 }
    realm.create(EveryForm.self, value: ["name": "empty"])
  }
  return realm
}
