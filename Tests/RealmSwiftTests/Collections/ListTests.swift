// Lists: reading, changing, forms; alike in objects with and without a Realm.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ListTests {
  /// Elements that are read from the list while it grows.
  @Test func appendsAndInsertsItsOwnElements() throws {
    try withKennels { kennel in
      let list = kennel.numbers
      list.append(objectsIn: 0..<1000)
      list.append(objectsIn: (0..<1000).lazy.map { list[$0] })
      #expect(Array(list) == Array(0..<1000) + Array(0..<1000))
      list.insert(contentsOf: (0..<700).lazy.map { list[$0] }, at: 0)
      #expect(Array(list.prefix(701)) == Array(0..<700) + [0] && list.count == 2700)
    }
  }

  @Test func isACollection() throws {
    try withKennels { kennel in
      let list = kennel.numbers
      #expect(list.isEmpty && list.first == nil && list.last == nil && Array(list) == [])
      list.append(objectsIn: 0..<600)
      #expect(list.count == 600 && list.endIndex == 600 && !list.isEmpty)
      #expect(list.first == 0 && list.last == 599 && list[300] == 300)
      #expect(Array(list) == Array(0..<600))
      #expect(list.reversed().prefix(2) == [599, 598])
      #expect(list[10..<13].map { $0 } == [10, 11, 12])
      #expect(list.index(of: 577) == 577 && list.index(of: 600) == nil)
      #expect(list.contains(4) && !list.contains(-4))
      #expect(list.objects(at: IndexSet([1, 599])) == [1, 599])
      #expect(kennel.numbers == list && kennel.optionalNumbers.isEmpty)
    }
  }

  @Test func changesOneByOne() throws {
    try withKennels { kennel in
      let names = kennel.names
      names.append("b")
      names.insert("a", at: 0)
      names.insert("c", at: 2)
      #expect(Array(names) == ["a", "b", "c"])
      names[1] = "B"
      names.replace(index: 2, object: "C")
      #expect(Array(names) == ["a", "B", "C"])
      names.remove(at: 1)
      #expect(Array(names) == ["a", "C"])
      names.swapAt(0, 1)
      #expect(Array(names) == ["C", "a"])
      names.removeAll()
      #expect(names.isEmpty)
    }
  }

  @Test func changesManyAtOnce() throws {
    try withKennels { kennel in
      let list = kennel.numbers
      list.append(objectsIn: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      list.insert(contentsOf: [10, 11], at: 5)
      #expect(Array(list) == [0, 1, 2, 3, 4, 10, 11, 5, 6, 7, 8, 9])
      list.removeFirst()
      list.removeFirst(2)
      list.removeLast()
      list.removeLast(2)
      list.removeLast(0)
      #expect(Array(list) == [3, 4, 10, 11, 5, 6])
      list.removeSubrange(1..<3)
      #expect(Array(list) == [3, 11, 5, 6])
      list.removeSubrange(3...)
      #expect(Array(list) == [3, 11, 5])
      list.replaceSubrange(0...1, with: [7, 8, 9])
      #expect(Array(list) == [7, 8, 9, 5])
      list.replaceSubrange(4..<4, with: list)
      #expect(Array(list) == [7, 8, 9, 5, 7, 8, 9, 5])
      list.remove(atOffsets: IndexSet([0, 1, 7]))
      #expect(Array(list) == [9, 5, 7, 8, 9])
      list.append(objectsIn: list)
      #expect(Array(list) == [9, 5, 7, 8, 9, 9, 5, 7, 8, 9])
      list.append(objectsIn: [1, 2, 3].lazy.map { $0 * 2 })
      #expect(list.suffix(3) == [2, 4, 6])
    }
  }

  @Test func moves() throws {
    try withKennels { kennel in
      let list = kennel.numbers
      list.append(objectsIn: 0..<6)
      list.move(from: 0, to: 3)
      #expect(Array(list) == [1, 2, 3, 0, 4, 5])
      list.move(from: 5, to: 0)
      #expect(Array(list) == [5, 1, 2, 3, 0, 4])
      list.move(from: 2, to: 2)
      list.swapAt(1, 4)
      #expect(Array(list) == [5, 0, 2, 3, 1, 4])
      list.swapAt(4, 4)
      var same = list
      same.sort()
      #expect(Array(list) == [0, 1, 2, 3, 4, 5])
      same.reverse()
      #expect(Array(list) == [5, 4, 3, 2, 1, 0])
    }
  }

  /// Every set of positions and every place of five elements, beside the definition.
  @Test func movesFromOffsets() throws {
    try withKennels { kennel in
      let list = kennel.numbers
      for bits in 0..<32 {
        for place in 0...5 {
          list.removeAll()
          list.append(objectsIn: 0..<5)
          let chosen = (0..<5).filter { bits >> $0 & 1 == 1 }
          list.move(fromOffsets: IndexSet(chosen), toOffset: place)
          let front = (0..<place).filter { !chosen.contains($0) }
          let back = (place..<5).filter { !chosen.contains($0) }
          #expect(Array(list) == front + chosen + back, "\(chosen) to \(place)")
        }
      }
    }
  }

  @Test func holdsEveryType() throws {
    func check<Element>(_ list: List<Element>, _ values: [Element]) {
      for value in values { list.append(value) }
      #expect(Array(list) == values)
      list.append(objectsIn: values)
      #expect(Array(list) == values + values)
      list[0] = values[1]
      list.insert(values[2], at: 1)
      #expect(list[0] == values[1] && list[1] == values[2] && list[2] == values[1])
      #expect(list.index(of: values[2]) == 1)
      list.removeSubrange(1..<list.count)
      #expect(Array(list) == [values[1]])
    }
    try withKennels { kennel in
      check(kennel.numbers, [Int.min, 0, Int.max])
      check(kennel.optionalNumbers, [1, nil, -5])
      check(kennel.names, ["", "Ä", String(repeating: "long", count: 2000)])
      check(kennel.optionalNames, ["", nil, "x"])
      check(kennel.bools, [true, false, true])
      check(kennel.floats, [.infinity, -0.5, 1e30])
      check(kennel.doubles, [-.infinity, 0.1, .greatestFiniteMagnitude])
      check(kennel.dates, [.distantPast, Date(timeIntervalSince1970: 0.25), .distantFuture])
      check(kennel.datas, [Data(), Data([0, 255]), Data(repeating: 7, count: 5000)])
      check(kennel.shorts, [.min, 0, .max])
    }
  }

  @Test func holdsObjects() throws {
    try withKennels { kennel in
      let (rex, max) = (Hound("Rex", 3), Hound("Max", 5))
      kennel.hounds.append(rex)
      kennel.hounds.append(objectsIn: [max, rex])
      #expect(kennel.hounds.map(\.name) == ["Rex", "Max", "Rex"])
      #expect(rex.realm == kennel.realm)
      #expect(kennel.hounds[0].isSameObject(as: rex) && kennel.hounds[2].isSameObject(as: rex))
      kennel.hounds[0].age = 4
      #expect(rex.age == 4)
      kennel.hounds.swapAt(0, 1)
      kennel.hounds.removeLast()
      #expect(kennel.hounds.map(\.name) == ["Max", "Rex"])
      kennel.hounds.replace(index: 0, object: Hound("Leo"))
      #expect(kennel.hounds.map(\.name) == ["Leo", "Rex"] && !max.isInvalidated)
    }
  }

  @Test func assignsWholeLists() throws {
    try withKennels { kennel in
      let list = kennel.numbers
      let other = List<Int>()
      other.append(objectsIn: [1, 2, 3])
      kennel.numbers = other
      // The content was copied: the property keeps its list.
      other.append(4)
      #expect(Array(list) == [1, 2, 3] && Array(kennel.numbers) == [1, 2, 3])
      kennel.numbers = kennel.numbers
      #expect(Array(list) == [1, 2, 3])
      let another = Kennel(2)
      another.numbers.append(9)
      kennel.numbers = another.numbers
      #expect(Array(list) == [9] && another.realm == nil)
    }
  }

  @Test func showsElementsOfWhenIterationBegan() throws {
    try withKennels { kennel in
      let list = kennel.numbers
      list.append(objectsIn: 0..<700)
      var seen: [Int] = []
      for number in list {
        seen.append(number)
        if number % 2 == 0 { list.removeFirst() } else { list.append(-1) }
      }
      #expect(seen == Array(0..<700))
      kennel.names.append(objectsIn: ["a", "b", "c"])
      var names: [String] = []
      for name in kennel.names {
        names.append(name)
        kennel.names.removeAll()
      }
      #expect(names == ["a", "b", "c"])
    }
  }

  @Test func hasKeyValueCoding() throws {
    try withKennels { kennel in
      kennel.hounds.append(objectsIn: [Hound("Rex", 3), Hound("Max", 5), Hound("Rex", 4)])
      let hounds = kennel.hounds
      hounds[1].friend = hounds[0]
      #expect(hounds.value(forKey: "name") as? [String] == ["Rex", "Max", "Rex"])
      #expect(hounds.value(forKeyPath: "friend.name") as? [String?] == [nil, "Rex", nil])
      #expect(hounds.value(forKeyPath: "@count") as? Int == 3)
      #expect(hounds.value(forKeyPath: "@sum.age") as? Int == 12)
      #expect(hounds.value(forKeyPath: "@avg.age") as? Double == 4)
      #expect(hounds.value(forKeyPath: "@max.age") as? Int == 5)
      #expect(hounds.value(forKeyPath: "@min.age") as? Int == 3)
      #expect(
        hounds.value(forKeyPath: "@distinctUnionOfObjects.name") as? [String] == ["Rex", "Max"])
      #expect(hounds.value(forKeyPath: "@unionOfObjects.friend.name") as? [String] == ["Rex"])
      #expect(kennel.value(forKeyPath: "hounds.@max.age") as? Int == 5)
      hounds.setValue(7, forKey: "age")
      #expect(hounds.map(\.age) == [7, 7, 7])
      kennel.numbers.append(objectsIn: [4, 6])
      #expect(kennel.numbers.value(forKeyPath: "@avg.self") as? Double == 5)
      #expect(kennel.numbers.value(forKey: "self") as? [Int] == [4, 6])
      kennel.setValue([1, 2], forKey: "numbers")
      #expect(Array(kennel.numbers) == [1, 2])
    }
  }

  @Test func isCodable() throws {
    let list = List<Int?>()
    list.append(objectsIn: [1, nil, 3])
    let data = try JSONEncoder().encode(list)
    #expect(String(decoding: data, as: UTF8.self) == "[1,null,3]")
    #expect(Array(try JSONDecoder().decode(List<Int?>.self, from: data)) == [1, nil, 3])
  }

  @Test func describesItself() throws {
    try withKennels { kennel in
      kennel.numbers.append(objectsIn: 0..<102)
      let text = kennel.numbers.description
      #expect(text.hasPrefix("List<int> <0x"))
      #expect(text.contains("\n\t[0] 0,\n\t[1] 1,") && text.hasSuffix("... 2 objects skipped.\n)"))
      kennel.hounds.append(Hound("Rex", 3))
      #expect(kennel.hounds.description.contains("[0] Hound {\n\t\tname = Rex;\n\t\tage = 3;"))
    }
  }

  @Test func managedListsAreEqualByPlace() throws {
    let realm = try memoryRealm(kennelClasses)
    let kennel = try realm.write { addKennel(realm) }
    #expect(kennel.numbers == kennel.numbers && kennel.numbers.isEqual(kennel.numbers))
    #expect(kennel.numbers != List<Int>() && List<Int>() != kennel.numbers)
  }

  @Test func unmanagedCollectionsAreEqualByContent() {
    let (one, other) = (Kennel(1), Kennel(2))
    #expect(one.numbers == other.numbers && one.numberSet == other.numberSet)
    #expect(one.numberMap == other.numberMap && one.numbers.isEqual(other.numbers))
    let hound = Hound("Rex")
    one.hounds.append(hound)
    #expect(one.hounds != other.hounds)
    other.hounds.append(hound)
    #expect(one.hounds == other.hounds)
    other.hounds[0] = Hound("Rex")
    #expect(one.hounds != other.hounds)
    one.numberSet.insert(objectsIn: [1, 2])
    other.numberSet.insert(objectsIn: [2, 1])
    #expect(one.numberSet == other.numberSet)
    one.numberMap["a"] = 1
    #expect(one.numberMap != other.numberMap && !one.numberMap.isEqual(other.numberMap))
    other.numberMap["a"] = 1
    #expect(one.numberMap == other.numberMap && !one.numberMap.isEqual("a"))
  }

  // MARK: - Stops

  /// Positions are numbers, in every collection.
  @Test func positionsNextToOthers() throws {
    let list = List<Int>()
    #expect(list.index(after: 0) == 1 && list.index(before: 0) == -1)
    let realm = try memoryRealm(kennelClasses)
    let kennel = try realm.write { realm.create(Kennel.self, value: ["id": 1]) }
    #expect(kennel.numbers.index(after: 7) == 8 && kennel.nameSet.index(before: 0) == -1)
    #expect(AnyRealmCollection(kennel.numbers).index(after: 0) == 1)
    #expect(realm.objects(Kennel.self).index(after: 1) == 2)
  }

  @Test func stopsOutOfBounds() async {
    let read = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let list = List<Int>()
      list.append(objectsIn: [1, 2, 3])
      _ = list[3]
    }
    expectStop(read, "Index 3 is out of bounds (must be less than 3).")
    let negative = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      List<Int>().insert(1, at: -1)
    }
    expectStop(negative, "Cannot pass a negative value for 'index'.")
    let many = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let list = List<Int>()
      list.append(1)
      list.removeFirst(2)
    }
    expectStop(
      many,
      "It is not possible to remove more objects (2) from a list than it already contains (1).")
    let range = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let list = List<Int>()
      list.append(1)
      list.removeSubrange(0..<2)
    }
    expectStop(range, "Index 2 is out of bounds (must be less than 2).")
    let closed = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let list = List<Int>()
      list.append(1)
      list.replaceSubrange(0...4, with: [2])
    }
    expectStop(closed, "Index 5 is out of bounds (must be less than 2).")
    let indexes = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = List<Int>().objects(at: IndexSet([0]))
    }
    expectStop(indexes, "Indexes for collection are out of bounds.")
  }

  @Test func unmanagedListsHaveNoOtherForm() async {
    let frozen = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = List<Int>().freeze()
    }
    expectStop(frozen, "Unmanaged lists cannot be frozen.")
    let unknown = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = List<Hound>().value(forKeyPath: "@median.age")
    }
    expectStop(unknown, "Unsupported KVC collection operator found in key path '@median.age'")
  }
}
