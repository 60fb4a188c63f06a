// Conditions on what belongs to no Realm, each beside the answer of a Realm's query.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Hub: Object {
  @Persisted var id: Int
  @Persisted var kids: List<Hub>
  @Persisted var byName: Map<String, Hub?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct PlainConditionTests {
  /// An object that is linked to itself, with something in every property that the formats name.
  private func filled() -> Asked {
    let object = Asked()
    object.id = 1
    object.text = "abc"
    object.optionalText = "x"
    object.int = 5
    object.double = 6.5
    object.optionalDouble = 2.5
    object.decimal = "1.50"
    object.any = .string("any")
    object.link = object
    object.links.append(objectsIn: [object, object])
    object.ints.append(objectsIn: [1, 2])
    object.texts.append(objectsIn: ["x", "yz"])
    object.optionalInts.append(objectsIn: [nil, 4])
    object.doubleSet.insert(1)
    object.intMap["k"] = 1
    object.textMap["k"] = "v"
    object.linkMap["me"] = object
    object.part = AskedPart(value: ["size": 2, "text": "t"])
    object.parts.append(AskedPart(value: ["size": 3]))
    object.anyMap["z"] = .int(1)
    object.anyList.append(.double(1.5))
    return object
  }

  private static var formats: [(String, [Any])] {
    [
      ("1 == id", []), ("id == 1 OR NOT id == 2", []), ("NOT NOT id == 2", []),
      ("id IN {}", []), ("NOT id IN {}", []), ("id IN %@", [[1, 2]]), ("%K == %d", ["id", 1]),
      ("id BETWEEN {0, 1}", []), ("id BETWEEN {2, 3}", []), ("id == 1.0", []), ("int8 > -0.5", []),
      ("double == 6.5", []), ("double > int AND double < 7", []), ("double BETWEEN {6, 7}", []),
      ("bool == YES", []), ("bool == 0", []), ("NOT bool == true", []), ("optionalBool == nil", []),
      ("optionalInt == nil", []), ("optionalInt > 0", []), ("optionalInt != 3", []),
      ("optionalText IN {'x', nil}", []), ("optionalDate == %@", [NSNull()]),
      ("date <= %@", [Date(timeIntervalSince1970: 1)]), ("uuid == %@", [UUID()]),
      ("data == %@", [Data()]), ("decimal == 1.5", []), ("decimal < '1.51'", []),
      ("decimal == %@", [Decimal128("1.5")]), ("identifier != %@", [ObjectId.generate()]),
      ("text == 'ABC'", []), ("text ==[c] 'ABC'", []), ("text CONTAINS[c] 'B'", []),
      ("text BEGINSWITH 'ab' AND text ENDSWITH 'c'", []), ("text LIKE 'a?c'", []),
      ("text LIKE[c] '*B*'", []), ("text > 'abb'", []), ("'abc' CONTAINS text", []),
      ("text CONTAINS optionalText", []), ("text IN[c] {'ABC'}", []),
      ("letter == 'a'", []), ("letter == %@", [AskedLetter.b]),
      ("number IN %@", [[AskedNumber.one]]),
      ("label == 'x'", []), ("label == %@", [AskedLabel("x")]), ("optionalLabel == nil", []),
      ("%K == 'any'", ["any"]), ("%K == 1", ["any"]),
      ("#any CONTAINS[c] 'A'", []), ("anyMap['z'] == 1", []),
      ("ANY anyList > 1", []),
      ("link.id == 1", []), ("link.link.text == 'abc'", []), ("link == nil", []),
      ("link == SELF", []),
      ("ANY links == SELF", []), ("ANY links.int == 5", []), ("ALL links.int > 5", []),
      ("NONE links.int > 5", []), ("ANY links.ints == 2", []), ("ANY links.link.id == id", []),
      ("part.size == 2", []), ("part.inner == nil", []), ("part.inner.size == 2", []),
      ("ANY parts.size == 3", []), ("parts[0].size == 3", []), ("partMap['none'] == nil", []),
      ("ints.@count == 2", []), ("ints.@sum == 3 AND ints.@avg == 1.5", []),
      ("ints.@min == 1 AND ints.@max == 2", []), ("letters.@count == 0", []),
      ("links.@sum.int == 10", []), ("links.@avg.optionalDouble == 2.5", []),
      ("links.@max.id == links.@min.id", []), ("dates.@max == nil", []),
      ("ANY ints IN {2, 3}", []), ("2 IN ints", []), ("%@ IN ints", [3]), ("ALL ints > 0", []),
      ("ALL letters == 'a'", []), ("ANY letters == 'a'", []), ("ANY texts BEGINSWITH[c] 'Y'", []),
      ("ANY optionalInts == nil", []), ("ANY doubleSet == 1", []), ("ints[0] == 1", []),
      ("ints[LAST] == 2", []), ("ints[SIZE] == 2", []), ("ints[9] == nil", []),
      ("intMap['k'] == 1", []), ("intMap[%@] > 1", ["k"]), ("intMap['none'] == nil", []),
      ("ANY intMap.@allKeys BEGINSWITH 'k'", []), ("ANY intMap.@allValues > 0", []),
      ("'k' IN textMap.@allKeys", []), ("intMap.@sum == 1 AND intMap.@count == 1", []),
      ("ANY linkMap.int == 5", []), ("linkMap['me'].id == 1", []),
      ("SUBQUERY(links, $x, $x.int == 5 AND $x.id == 1).@count == 2", []),
      ("SUBQUERY(links, $x, SUBQUERY($x.links, $y, $y.id == 1).@count > 1).@count == 2", []),
      ("TRUEPREDICATE AND NOT FALSEPREDICATE", []), ("SELF IN %@", [[Asked]()]),
    ]
  }

  @Test func findWhatQueriesFind() throws {
    let realm = try memoryRealm(askedClasses)
    let (plain, managed) = (filled(), filled())
    try realm.write { realm.add(managed) }
    var found = 0
    for (format, arguments) in Self.formats {
      let predicate = NSPredicate(format: format, argumentArray: arguments)
      let isFound = !realm.objects(Asked.self).filter(predicate).isEmpty
      #expect(predicate.evaluate(with: plain) == isFound, "\(format)")
      #expect(predicate.evaluate(with: managed) == isFound, "\(format)")
      if isFound { found += 1 }
    }
    // Both answers are among the cases.
    #expect(found > 50 && found < Self.formats.count - 10)
  }

  @Test func positionsInUnmanagedLists() {
    let numbers = List<Int>()
    numbers.append(objectsIn: [3, 1, 2])
    #expect(numbers.index(matching: "SELF == 2") == 2)
    #expect(numbers.index(matching: "SELF > %@", 9) == nil)
    #expect(numbers.index(matching: NSPredicate(format: "SELF IN {2, 1}")) == 1)
    #expect(numbers.index(matching: { $0 < 3 }) == 1)
    #expect(numbers.index(matching: { $0.contains(2...2) }) == 2)
    #expect(AnyRealmCollection(numbers).index(matching: "SELF == 2") == 2)
    let list = List<Asked>()
    let object = filled()
    list.append(objectsIn: [Asked(), object])
    let conditions: [((Query<Asked>) -> Query<Bool>, Int?)] = [
      ({ $0.text == "abc" }, 1), ({ !$0.bool }, 0), ({ $0.bool }, nil), ({ $0.links.id == 1 }, 1),
      ({ ($0.links.id == 1 && $0.links.text == "abc").count == 2 }, 1),
      ({ $0.part.size == 2 }, 1), ({ $0.letter == .b }, nil), ({ $0.link == object }, 1),
      ({ $0.label == AskedLabel("x") }, 0), ({ $0.parts.size.max == 3 }, 1),
      ({ $0.intMap["k"] == 1 }, 1), ({ $0.any == .string("any") }, 1), ({ $0.link == nil }, 0),
      ({ $0.optionalText.contains("X", options: .caseInsensitive) }, 1),
    ]
    for (number, (condition, position)) in conditions.enumerated() {
      #expect(list.index(matching: condition) == position, "condition \(number)")
    }
    #expect(Asked().linkedFrom.index(matching: "id == 1") == nil)
  }

  @Test func predicatesOfArrays() {
    let objects = (0..<4).map { Asked(value: ["id": $0, "text": "t\($0)"]) }
    let one = NSPredicate(format: "id > 1"), other = NSPredicate(format: "text == 't3'")
    #expect(objects.filter { one.evaluate(with: $0) }.map(\.id) == [2, 3])
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [one, other])
    #expect(objects.filter { both.evaluate(with: $0) }.map(\.id) == [3])
    let text = NSPredicate(format: "SELF BEGINSWITH[c] 'X'")
    #expect(["abc", "xyz"].filter { text.evaluate(with: $0) } == ["xyz"])
  }

  @Test func dictionaries() {
    let isOld = NSPredicate(format: "age > 3"), hasNone = NSPredicate(format: "age == nil")
    #expect(isOld.evaluate(with: ["age": 5]))
    #expect(!isOld.evaluate(with: ["age": 2]))
    #expect(!hasNone.evaluate(with: ["age": 5]))
    #expect(hasNone.evaluate(with: ["name": "x"]))
    let row: [String: Any] = ["name": "x", "owner": ["name": "Ann", "age": 7] as [String: Any]]
    #expect(NSPredicate(format: "name == 'x' AND owner.age == 7").evaluate(with: row))
    #expect(!NSPredicate(format: "owner.name == 'x'").evaluate(with: row))
    #expect(NSPredicate(format: "owner.nobody.age == nil").evaluate(with: row))
    #expect(isOld.evaluate(with: NSDictionary(dictionary: ["age": 5])))
    // Numbers as JSON has them: each can be cast to every type of number, some to Bool.
    let numbers = [
      "one": NSNumber(value: 1), "two": NSNumber(value: 2), "most": NSNumber(value: Int.max),
      "isOn": NSNumber(value: true),
    ]
    #expect(NSPredicate(format: "one < two AND two < most").evaluate(with: numbers))
    #expect(NSPredicate(format: "most > %@", Int.max - 1).evaluate(with: numbers))
    #expect(!NSPredicate(format: "most > %@", Int.max).evaluate(with: numbers))
    #expect(NSPredicate(format: "isOn == true AND one == 1").evaluate(with: numbers))
  }

  /// To go each of the ways through these lists by itself would take years.
  @Test func askEachObjectOnce() {
    let hops = 40
    for name in ["kids", "byName"] {
      let end = Hub()
      end.id = 7
      var top = end
      for _ in 0..<hops {
        let next = Hub()
        next.kids.append(objectsIn: [top, top])
        next.byName["a"] = top
        next.byName["b"] = top
        top = next
      }
      let path = Array(repeating: name, count: hops).joined(separator: ".")
      #expect(NSPredicate(format: "ANY \(path).id == 7").evaluate(with: top))
      #expect(!NSPredicate(format: "ANY \(path).id == 8").evaluate(with: top))
      #expect(NSPredicate(format: "ALL \(path).id == 7").evaluate(with: top))
      let count = NSPredicate(format: "SUBQUERY(\(path), $x, $x.id == 7).@count == %d", 1 << hops)
      #expect(count.evaluate(with: top))
    }
    let (leaf, top) = (Hub(), Hub())
    top.kids.append(objectsIn: [leaf, leaf, top, leaf])
    let counted = NSPredicate(format: "SUBQUERY(kids, $x, $x.id == 0).@count == 4")
    #expect(counted.evaluate(with: top))
  }

  @Test func stops() async {
    let unknown = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = NSPredicate(format: "wings == 2").evaluate(with: Asked()) }
    expectStop(unknown, "Invalid property name 'wings' for class 'Asked'.")
  }
}
