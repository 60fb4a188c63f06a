// Collections as users change them: in place, through properties, with themselves, while they
// iterate.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersCollectionTests {
  private let realm: Realm

  init() throws { realm = try openRealm(memoryConfiguration(kennelClasses)) }

  private func kennel(_ hounds: [String] = []) throws -> Kennel {
    try realm.write { addKennel(realm, hounds: hounds) }
  }

  @Test(arguments: [true, false])
  func algorithmsOfTheStandardLibraryInPlace(_ isManaged: Bool) throws {
    let kennel = isManaged ? try kennel() : Kennel(1)
    if isManaged { realm.beginWrite() }
    kennel.numbers.append(objectsIn: [3, 1, 2])
    kennel.numbers.sort()
    #expect(Array(kennel.numbers) == [1, 2, 3])
    kennel.numbers.reverse()
    #expect(Array(kennel.numbers) == [3, 2, 1])
    kennel.numbers.sort(by: <)
    kennel.numbers.swapAt(0, 2)
    #expect(Array(kennel.numbers) == [3, 2, 1])
    kennel.numbers[0] += 10
    kennel.numbers[1] *= 2
    #expect(Array(kennel.numbers) == [13, 4, 1])
    let border = kennel.numbers.partition { $0 > 3 }
    #expect(border == 1 && kennel.numbers[0] == 1)
    kennel.bools.append(false)
    kennel.bools[0].toggle()
    #expect(kennel.bools[0])
    kennel.names.append("a")
    kennel.names[0] += "b"
    kennel.names[0].append("c")
    #expect(kennel.names.first == "abc")
    kennel.numberMap["x", default: 0] += 5
    kennel.numberMap["x"]! += 1
    #expect(kennel.numberMap["x"] == 6)
    var alias = kennel.numbers
    alias.sort(by: >)
    #expect(Array(kennel.numbers) == [13, 4, 1])
    kennel.numbers[1...2] = [7, 8][...].asList[...]
    #expect(Array(kennel.numbers) == [13, 7, 8])
    if isManaged { try realm.commitWrite() }
    #expect(Array(kennel.numbers) == [13, 7, 8])
  }

  @Test(arguments: [true, false])
  func collectionsWithThemselves(_ isManaged: Bool) throws {
    let kennel = isManaged ? try kennel() : Kennel(1)
    if isManaged { realm.beginWrite() }
    kennel.numbers.append(objectsIn: [1, 2])
    kennel.numbers.append(objectsIn: kennel.numbers)
    #expect(Array(kennel.numbers) == [1, 2, 1, 2])
    kennel.numbers.insert(contentsOf: kennel.numbers, at: 1)
    #expect(Array(kennel.numbers) == [1, 1, 2, 1, 2, 2, 1, 2])
    kennel.numbers.replaceSubrange(1..<8, with: kennel.numbers.filter { $0 == 2 })
    #expect(Array(kennel.numbers) == [1, 2, 2, 2, 2])
    // Its own list assigned: nothing may be lost.
    kennel.numbers = kennel.numbers
    #expect(kennel.numbers.count == 5)
    kennel.numberSet.insert(objectsIn: [1, 2, 3])
    kennel.numberSet = kennel.numberSet
    kennel.numberSet.formUnion(kennel.numberSet)
    kennel.numberSet.formIntersection(kennel.numberSet)
    #expect(kennel.numberSet.count == 3 && kennel.numberSet.isSubset(of: kennel.numberSet))
    kennel.numberSet.subtract(kennel.numberSet)
    #expect(kennel.numberSet.isEmpty && !kennel.numberSet.intersects(kennel.numberSet))
    kennel.numberMap.merge(["a": 1, "b": 2]) { $1 }
    kennel.numberMap.merge(kennel.numberMap) { $0 + $1 }
    #expect(kennel.numberMap["a"] == 2 && kennel.numberMap["b"] == 4)
    kennel.numberMap = kennel.numberMap
    #expect(kennel.numberMap.count == 2)
    if isManaged { try realm.commitWrite() }
  }

  @Test func collectionsOfOtherObjectsAssigned() throws {
    let first = try kennel(["a", "b"])
    let second = try realm.write { addKennel(realm, 2, hounds: ["c"]) }
    try realm.write {
      second.hounds = first.hounds
      #expect(second.hounds.map(\.name) == ["a", "b"] && first.hounds.count == 2)
      first.hounds.removeAll()
      #expect(second.hounds.count == 2)
      let fresh = List<Hound>()
      fresh.append(Hound("d"))
      first.hounds = fresh
      #expect(first.hounds.map(\.name) == ["d"] && first.hounds.realm == realm)
      first.hounds.append(second.hounds[0])
      first.boxes.append(Box(1))
      first.numberMap["k"] = 1
      second.numberMap = first.numberMap
    }
    #expect(second.numberMap["k"] == 1 && realm.objects(Hound.self).count == 4)
  }

  @Test func changesWhileIterating() throws {
    let kennel = try kennel(["a", "b", "c"])
    try realm.write {
      for hound in kennel.hounds where hound.name == "b" { realm.delete(hound) }
      #expect(kennel.hounds.map(\.name) == ["a", "c"])
      for hound in realm.objects(Hound.self) { hound.name += "!" }
      for hound in realm.objects(Hound.self).where({ $0.name == "a!" }) { hound.name = "z" }
      #expect(kennel.hounds.map(\.name) == ["z", "c!"])
      for hound in kennel.hounds { kennel.hounds.append(hound) }
      #expect(kennel.hounds.count == 4)
      kennel.numbers.append(objectsIn: 0..<5)
      for number in kennel.numbers where number % 2 == 0 {
        kennel.numbers.remove(at: kennel.numbers.index(of: number)!)
      }
      #expect(Array(kennel.numbers) == [1, 3])
      kennel.numberMap.merge(["a": 1, "b": 2]) { $1 }
      for entry in kennel.numberMap { kennel.numberMap[entry.key] = nil }
      #expect(kennel.numberMap.isEmpty)
      for entry in kennel.hounds.enumerated().reversed() where entry.offset > 0 {
        kennel.hounds.remove(at: entry.offset)
      }
      #expect(kennel.hounds.count == 1)
      while let hound = realm.objects(Hound.self).first { realm.delete(hound) }
      #expect(realm.objects(Hound.self).isEmpty && kennel.hounds.isEmpty)
    }
  }

  @Test func emptyCollections() throws {
    let kennel = try kennel()
    let list = kennel.numbers
    #expect(list.first == nil && list.last == nil && list.min() == nil && list.sum() == 0)
    #expect((list.average() as Double?) == nil && list.sorted().isEmpty && list.distinct().isEmpty)
    #expect(list.index(of: 1) == nil && list.index(matching: "SELF = 1") == nil)
    #expect(list.filter("SELF = 1").first == nil && Array(list) == [])
    #expect(list.objects(at: IndexSet()).isEmpty && list.startIndex == list.endIndex)
    #expect(realm.objects(Hound.self).first == nil && realm.objects(Hound.self).last == nil)
    #expect(realm.objects(Hound.self).max(of: \.age) == nil)
    #expect(realm.objects(Hound.self).sum(of: \.age) == 0)
    #expect((realm.objects(Hound.self).average(ofProperty: "age") as Double?) == nil)
    #expect(kennel.numberMap["none"] == nil && kennel.numberMap.keys == [])
    #expect(kennel.numberMap.values == [] && kennel.numberMap.min() == nil)
    #expect(kennel.numberSet.first == nil && !kennel.numberSet.contains(1))
    try realm.write {
      list.removeAll()
      list.append(objectsIn: [])
      list.removeSubrange(0..<0)
      list.remove(atOffsets: [])
      list.insert(contentsOf: [], at: 0)
      list.removeFirst(0)
      list.removeLast(0)
      kennel.numberSet.remove(5)
      kennel.numberSet.removeAll()
      kennel.numberMap.removeObject(for: "none")
      kennel.numberMap.removeAll()
      realm.delete(kennel.hounds)
      realm.delete(realm.objects(Hound.self))
      realm.delete([] as [Hound])
      realm.add([] as [Hound])
    }
  }

  @Test func sequencesOfTheStandardLibrary() throws {
    let kennel = try kennel(["c", "a", "b"])
    let hounds = realm.objects(Hound.self)
    #expect(hounds.sorted { $0.name < $1.name }.map(\.name) == ["a", "b", "c"])
    #expect(hounds.sorted(by: \.name).map(\.name) == ["a", "b", "c"])
    #expect(hounds[1...].map(\.name) == ["a", "b"])
    #expect(hounds[..<1].first?.name == "c")
    #expect(hounds.prefix(2).last?.name == "a")
    #expect(hounds.dropLast().count == 2)
    #expect(hounds.reversed().map(\.name) == ["b", "a", "c"])
    let ages = hounds.lazy.map(\.age).filter { $0 > 0 }
    #expect(ages.first == 1)
    #expect(Dictionary(grouping: hounds, by: \.age).count == 3)
    #expect(zip(hounds, kennel.hounds).allSatisfy { $0.isSameObject(as: $1) })
    #expect(Set(hounds.map(\.name)) == ["a", "b", "c"])
    #expect(hounds.min { $0.name < $1.name }?.name == "a")
    #expect(hounds.firstIndex { $0.name == "a" } == 1 && hounds.index(matching: "name = 'a'") == 1)
    #expect(hounds.index(matching: { $0.name == "b" }) == 2)
    #expect(hounds.index(of: Hound("stranger")) == nil)
    #expect(hounds.objects(at: [0, 2]).map(\.name) == ["c", "b"])
    #expect(Array(hounds.enumerated()).map(\.offset) == [0, 1, 2])
    let names: String = hounds.reduce(into: "") { $0 += $1.name }
    #expect(names == "cab")
    #expect(hounds.randomElement() != nil && hounds.shuffled().count == 3)
    #expect(hounds.count(where: { $0.age > 0 }) == 2)
    let erased: any Collection<Hound> = hounds
    #expect(erased.count == 3)
    let any = AnyRealmCollection(kennel.hounds)
    #expect(any.map(\.name) == ["c", "a", "b"] && any.realm == realm)
    func first<C: RealmCollection>(_ collection: C) -> C.Element? { collection.first }
    #expect(first(any)?.name == "c" && first(kennel.numbers) == nil)
    #expect(kennel.hounds.projectTo.name.sorted() == ["a", "b", "c"])
    #expect(Array(kennel.hounds.projectTo.age) == [0, 1, 2])
  }

  @Test func embeddedObjectsAndTheirOwners() throws {
    let kennel = try kennel()
    try realm.write {
      kennel.mainBox = Box(1)
      kennel.boxes.append(objectsIn: [Box(2), Box(3)])
      kennel.boxMap["a"] = Box(4)
    }
    let (main, second, mapped) = (kennel.mainBox!, kennel.boxes[1], kennel.boxMap["a"]!!)
    #expect(main.realm == realm && mapped.size == 4)
    try realm.write {
      kennel.mainBox?.size += 10
      kennel.boxes[0] = Box(7)
      kennel.boxes.removeLast()
      kennel.boxMap["a"] = Box(5)
    }
    #expect(main.size == 11 && second.isInvalidated && mapped.isInvalidated)
    #expect(kennel.boxes.map(\.size) == [7] && kennel.boxMap["a"]??.size == 5)
    try realm.write { realm.delete(kennel.mainBox!) }
    #expect(kennel.mainBox == nil && main.isInvalidated)
    let copy = Kennel(value: kennel)
    copy.id = 2
    try realm.write { realm.add(copy) }
    #expect(copy.boxes[0].size == 7 && copy.boxes[0] != kennel.boxes[0])
    try realm.write { realm.delete(kennel) }
    #expect(copy.boxes.count == 1)
  }

  @Test func mapsWithUnusualKeys() throws {
    let kennel = try kennel()
    let keys = ["", " ", "ä", "日本", "a-b", "\u{1F600}", String(repeating: "k", count: 200)]
    try realm.write { for (value, key) in keys.enumerated() { kennel.numberMap[key] = value } }
    for (value, key) in keys.enumerated() { #expect(kennel.numberMap[key] == value) }
    #expect(Set(kennel.numberMap.keys) == Set(keys) && kennel.numberMap.count == keys.count)
    #expect(Set(kennel.numberMap.asKeyValueSequence().map(\.key)) == Set(keys))
    #expect(kennel.numberMap.values.sorted() == Array(keys.indices))
  }

  @Test func aCollectionIsEqualToItself() throws {
    let kennel = try kennel(["a"])
    #expect(kennel.hounds == kennel.hounds && kennel.numberMap == kennel.numberMap)
    #expect(kennel.numberSet == kennel.numberSet)
    #expect(kennel.hounds == realm.objects(Kennel.self).first!.hounds)
    #expect(kennel.hounds != kennel.hounds.freeze())
    let second = try realm.write { addKennel(realm, 2) }
    #expect(kennel.hounds != second.hounds)
    let (a, b) = (List<Int>(), List<Int>())
    a.append(1)
    b.append(1)
    #expect(a == a)
    #expect(Array(a) == Array(b) && a.elementsEqual(b))
  }
}

extension ArraySlice where Element: RealmCollectionValue {
  fileprivate var asList: List<Element> {
    let list = List<Element>()
    list.append(objectsIn: self)
    return list
  }
}
