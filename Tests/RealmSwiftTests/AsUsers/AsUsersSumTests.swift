// Sums that do not fit into the type of what is summed up: of integers the low bits remain, as of
// an `NSNumber`; floating point numbers become infinite. Alike in a file and in memory.
import RealmSwift
import Testing

private final class Amounts: Object {
  @Persisted var tiny: Int8 = 100
  @Persisted var tinyOrNil: Int8? = 100
  @Persisted var small = Int32.max
  @Persisted var wide = 1e300
  @Persisted var tinyList: List<Int8>
  @Persisted var tinyOrNilList: List<Int8?>
  @Persisted var tinySet: MutableSet<Int8>
  @Persisted var tinyMap: Map<String, Int8>
  @Persisted var singleList: List<Float>
  @Persisted var singleSet: MutableSet<Float>
  @Persisted var singleMap: Map<String, Float>
  @Persisted var wideList: List<Double>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  static func filled() -> Amounts {
    let amounts = Amounts()
    amounts.tinyList.append(objectsIn: [100, 100])
    amounts.tinyOrNilList.append(objectsIn: [100, nil, 100])
    amounts.tinySet.insert(objectsIn: [100, 101])
    amounts.tinyMap["a"] = 100
    amounts.tinyMap["b"] = 100
    amounts.singleList.append(objectsIn: [.greatestFiniteMagnitude, .greatestFiniteMagnitude])
    amounts.singleSet.insert(objectsIn: [.greatestFiniteMagnitude, 0x1p127])
    amounts.singleMap["a"] = .greatestFiniteMagnitude
    amounts.singleMap["b"] = .greatestFiniteMagnitude
    amounts.wideList.append(objectsIn: [1e300, 1e300])
    return amounts
  }
}

struct AsUsersSumTests {
  private let managed: Amounts
  private let realm: Realm

  init() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "AsUsersSumTests", objectTypes: [Amounts.self]))
    let amounts = Amounts.filled()
    try realm.write {
      realm.deleteAll()
      realm.add(amounts)
      realm.add(Amounts())
    }
    managed = amounts
    self.realm = realm
  }

  @Test func ofValues() {
    for amounts in [managed, Amounts.filled()] {
      #expect(amounts.tinyList.sum() == -56)
      #expect(amounts.tinyOrNilList.sum() == -56)
      #expect(amounts.tinySet.sum() == -55)
      #expect(amounts.tinyMap.sum() == -56)
      #expect(AnyRealmCollection(amounts.tinyList).sum() == -56)
      #expect(amounts.tinyList.min() == 100 && amounts.tinyList.max() == 100)
      #expect(amounts.tinyList.average() as Double? == 100)
      #expect(amounts.tinyList.average() as Int8? == 100)
    }
  }

  @Test func ofProperties() {
    let stored = realm.objects(Amounts.self)
    #expect(stored.sum(of: \.tiny) == -56 && stored.sum(of: \.tinyOrNil) == -56)
    #expect(stored.sum(of: \.small) == -2)
    #expect(stored.sum(ofProperty: "small") as Int32 == -2)
    #expect(stored.sum(ofProperty: "small") as Int == 2 * Int(Int32.max))
    #expect(AnyRealmCollection(stored).sum(of: \.small) == -2)
    #expect(stored.sum(ofProperty: "wide") as Int == Int.max)
    let list = List<Amounts>()
    list.append(objectsIn: [Amounts(), Amounts()])
    #expect(list.sum(of: \.tiny) == -56 && list.sum(of: \.small) == -2)
    #expect(list.sum(ofProperty: "tinyOrNil") as Int8 == -56)
    #expect(list.sum(ofProperty: "tiny") as Int == 200)
    #expect(list.sum(ofProperty: "wide") as Int == Int.max)
  }

  @Test func ofFloatingPointNumbers() {
    for amounts in [managed, Amounts.filled()] {
      #expect(amounts.singleList.sum() == .infinity)
      #expect(amounts.singleSet.sum() == .infinity)
      #expect(amounts.singleMap.sum() == .infinity)
      #expect(amounts.wideList.average() as Float? == .infinity)
      #expect(amounts.singleList.average() as Float? == .greatestFiniteMagnitude)
    }
  }
}
