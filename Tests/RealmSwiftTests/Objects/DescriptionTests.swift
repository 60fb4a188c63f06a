// The text of objects that hold others, and of values that have no usual text.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Node: Object {
  @Persisted var name: String
  @Persisted var next: Node?
  @Persisted var numbers: List<Int>
  @Persisted var nodes: List<Node>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Dated: Object {
  @Persisted var dates: List<Date>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var named: Map<String, Date>
  @Persisted var set: MutableSet<Date>
  @Persisted var any: AnyRealmValue
  @Persisted var optional: Date?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct DescriptionTests {
  /// The text without addresses.
  private func text(_ value: Any) -> String {
    "\(value)".replacing(/<0x[0-9a-f]+>/, with: "<address>")
  }

  @Test func linkedObjectsAreIndented() {
    let node = Node()
    node.name = "a"
    node.next = Node(value: ["name": "b"])
    node.numbers.append(1)
    #expect(
      text(node) == """
        Node {
        \tname = a;
        \tnext = Node {
        \t\tname = b;
        \t\tnext = (null);
        \t\tnumbers = List<int> <address> (
        \t\t
        \t\t);
        \t\tnodes = List<Node> <address> (
        \t\t
        \t\t);
        \t};
        \tnumbers = List<int> <address> (
        \t\t[0] 1
        \t);
        \tnodes = List<Node> <address> (
        \t
        \t);
        }
        """)
  }

  @Test func elementsStandLineByLine() {
    let (truths, marks) = (List<Bool>(), Map<String, Int>())
    #expect(text(truths) == "List<bool> <address> (\n\n)")
    truths.append(objectsIn: [true, false])
    #expect(text(truths) == "List<bool> <address> (\n\t[0] 1,\n\t[1] 0\n)")
    #expect(text(marks) == "Map<string, int> <address> (\n\n)")
    marks["a"] = 1
    #expect(text(marks) == "Map<string, int> <address> (\n\t[a]: 1\n)")
    #expect(truths.description == truths.description)
  }

  @Test func cyclesEnd() {
    let node = Node()
    node.name = "a"
    node.next = node
    node.nodes.append(node)
    let description = node.description
    #expect(description.contains("<Maximum depth exceeded>"))
    #expect(node.nodes.description.contains("<Maximum depth exceeded>"))
  }

  @Test func longValuesAreCut() {
    let node = Node()
    node.name = String(repeating: "x", count: 2_000)
    #expect(node.description.contains(String(repeating: "x", count: 1_000) + "...;"))
    #expect(!node.description.contains(String(repeating: "x", count: 1_001)))
  }

  /// Seconds of dates, most of which Foundation ends the process for.
  private static let seconds: [Double] = [
    .nan, .infinity, -.infinity, .greatestFiniteMagnitude, 1e300, -1e300, 1e19, -1e19,
    9.3e18, 1e16, -1e16, 1e15, -1e15, 1e12, .leastNonzeroMagnitude,
    Date.distantPast.timeIntervalSinceReferenceDate,
    Date.distantFuture.timeIntervalSinceReferenceDate,
  ]

  @Test(arguments: seconds) func datesOfAllKindsHaveTexts(seconds: Double) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    let realm = try memoryRealm([Sample.self, Dated.self])
    let dates = Dated()
    dates.dates.append(date)
    dates.anys.append(.date(date))
    dates.named["a"] = date
    dates.set.insert(date)
    dates.any = .fromArray([.date(date), .fromDictionary(["a": .date(date)])])
    dates.optional = date
    let sample = Sample(value: ["key": "a", "date": date])
    var texts = [dates.description, sample.description, dates.any.debugDescription]
    try realm.write { realm.add([dates, sample] as [Object]) }
    texts += [
      dates.description, sample.description, "\(dates.any)", dates.dates.description,
      dates.named.description, dates.set.description, dates.anys.description,
      "\(AnyRealmValue.date(date))", "\([AnyRealmValue.date(date)])",
      realm.objects(Sample.self).description, realm.objects(Dated.self).description,
      realm.objects(Sample.self).sectioned(by: \.date).description,
      dates.freeze().description, dates.dates.sorted().description,
    ]
    let box = RealmProperty<AnyRealmValue>()
    box.value = .date(date)
    texts.append(box.description)
    if !seconds.isFinite || abs(seconds) > 1e15 {
      for text in texts { #expect(text.contains("\(seconds)"), "\(text)") }
    }
    let found = realm.objects(Sample.self).filter("date == %@", date)
    #expect(found.explain().contains("found"))
    #expect(realm.objects(Sample.self).where { $0.date == date }.explain().contains("found"))
    let object = ObjectId(timestamp: date, machineId: 1, processId: 2)
    #expect(object.stringValue.count == 24)
  }

  @Test func messagesNameDatesOfAllKinds() async {
    let message = "Invalid value '[Date(timeIntervalSinceReferenceDate: nan)]'"
    let byName = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Sample().setValue([Date(timeIntervalSinceReferenceDate: .nan)], forKey: "int")
    }
    expectStop(byName, message)
    let argument = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let date = Date(timeIntervalSinceReferenceDate: .infinity)
      _ = try memoryRealm().objects(Sample.self).filter("int == %@", date)
    }
    expectStop(argument, "but received: Date(timeIntervalSinceReferenceDate: inf)")
    let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let date = Date(timeIntervalSinceReferenceDate: -.infinity)
      _ = try memoryRealm().objects(Sample.self).filter("int IN %@", date)
    }
    expectStop(list, "IN needs several values, not 'Date(timeIntervalSinceReferenceDate: -inf)'")
    let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Map<String, Int>().setValue(
        AnyRealmValue.date(Date(timeIntervalSince1970: .nan)), forKey: "a")
    }
    expectStop(key, "Date(timeIntervalSinceReferenceDate: nan)")
  }
}
