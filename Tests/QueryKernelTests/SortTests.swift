// Sorted and distinct results, whole and in part, against plain Swift.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct SortTests {
  /// Some keys and directions by chance.
  private func someKeys(_ count: Int, _ random: inout RandomGenerator) -> [(
    key: SortCase, isAscending: Bool
  )] {
    (0..<count).map { _ in
      (
        SortCase.all[Int(random.next() % UInt64(SortCase.all.count))], random.next() % 2 == 0
      )
    }
  }

  private func descriptors(_ keys: [(key: SortCase, isAscending: Bool)]) -> [RealmSwift
    .SortDescriptor]
  {
    keys.map { RealmSwift.SortDescriptor(keyPath: $0.key.path, ascending: $0.isAscending) }
  }

  private func name(_ keys: [(key: SortCase, isAscending: Bool)]) -> Comment {
    Comment(rawValue: keys.map { "\($0.key.path) \($0.isAscending)" }.joined(separator: ", "))
  }

  @Test(arguments: [0, 1, 2, 19, 60, 700])
  func sortsLikePlainSwift(_ count: Int) async {
    await withSeeds(2) { random in
      let realm = try filledRealm(count, &random)
      let all = realm.objects(Entry.self)
      let plain = Array(all)
      for key in SortCase.all where count < 200 || random.next() % 3 == 0 {
        for isAscending in [true, false] {
          let keys = [(key: key, isAscending: isAscending)]
          let sorted = all.sorted(byKeyPath: key.path, ascending: isAscending)
          #expect(
            sorted.ids == SortCase.sorted(plain, keys).ids, name(keys))
        }
      }
      for length in [2, 2, 2, 3, 4] {
        let keys = someKeys(length, &random)
        let expected = SortCase.sorted(plain, keys).ids
        #expect(all.sorted(by: descriptors(keys)).ids == expected, name(keys))
        // Several orders, the last of which counts first.
        let one = keys.reversed().reduce(all) {
          $0.sorted(byKeyPath: $1.key.path, ascending: $1.isAscending)
        }
        #expect(one.ids == expected, name(keys))
        #expect(all.freeze().sorted(by: descriptors(keys)).ids == expected, name(keys))
      }
    }
  }

  @Test func sortsWhatIsFilteredListedAndLinked() async {
    await withSeeds(4) { random in
      let realm = try filledRealm(900, &random)
      let all = realm.objects(Entry.self)
      let owner = all[0]
      try realm.write {
        for _ in 0..<300 { owner.friends.append(all[Int(random.next() % UInt64(all.count))]) }
      }
      let place = realm.objects(Place.self)[3]
      for _ in 0..<12 {
        let keys = someKeys(1 + Int(random.next() % 2), &random)
        let filtered = all.where { $0.small > 0 }
        #expect(
          filtered.sorted(by: descriptors(keys)).ids
            == SortCase.sorted(filtered.map { $0 }, keys).ids, name(keys))
        #expect(
          owner.friends.sorted(by: descriptors(keys)).ids
            == SortCase.sorted(owner.friends.map { $0 }, keys).ids, name(keys))
        #expect(
          place.entries.sorted(by: descriptors(keys)).ids
            == SortCase.sorted(place.entries.map { $0 }, keys).ids, name(keys))
        #expect(
          filtered.sorted(by: descriptors(keys)).where { $0.bool == true }.ids
            == SortCase.sorted(filtered.filter { $0.bool }, keys).ids, name(keys))
      }
    }
  }

  @Test func sortsMixedValues() async {
    await withSeeds(4) { random in
      let realm = try filledRealm(400, &random)
      let sorted = realm.objects(Entry.self).sorted(byKeyPath: "mixed")
      @Sendable func rank(_ value: AnyRealmValue) -> Int {
        switch value {
        case .none: 0
        case .bool: 1
        case .int, .double: 2
        case .string: 3
        default: 5
        }
      }
      @Sendable func number(_ value: AnyRealmValue) -> Double {
        switch value {
        case .bool(let value): value ? 1 : 0
        case .int(let value): Double(value)
        case .double(let value): value
        case .date(let value): value.timeIntervalSinceReferenceDate
        default: 0
        }
      }
      @Sendable func text(_ value: AnyRealmValue) -> [UInt8] {
        if case .string(let text) = value { return Array(text.utf8) }
        return []
      }
      let key = SortCase(path: "mixed") { left, right in
        let order = SortCase.compare(rank(left.mixed), rank(right.mixed))
        if order != 0 { return order }
        let numbers = SortCase.compare(number(left.mixed), number(right.mixed))
        return numbers != 0 ? numbers : SortCase.compareBytes(text(left.mixed), text(right.mixed))
      }
      for isAscending in [true, false] {
        let expected = SortCase.sorted(
          Array(realm.objects(Entry.self)), [(key: key, isAscending: isAscending)])
        #expect(
          realm.objects(Entry.self).sorted(byKeyPath: "mixed", ascending: isAscending)
            .ids == expected.ids)
      }
      #expect(sorted.count == realm.objects(Entry.self).count)
    }
  }

  @Test func sortsValues() async {
    await withSeeds(4) { random in
      let realm = try filledRealm(5, &random)
      let entry = realm.objects(Entry.self)[0]
      try realm.write {
        for _ in 0..<700 {
          entry.numbers.append(Int(truncatingIfNeeded: random.next() >> (random.next() % 60)))
          let index = Int(random.next() % UInt64(texts.count + 1))
          entry.words.append(index == texts.count ? nil : texts[index])
        }
      }
      #expect(Array(entry.numbers.sorted()) == Array(entry.numbers).sorted())
      #expect(
        Array(entry.numbers.sorted(ascending: false))
          == Array(Array(entry.numbers).sorted().reversed()))
      let words = Array(entry.words).sorted {
        SortCase.compare($0, $1) { SortCase.compareBytes(Array($0.utf8), Array($1.utf8)) } < 0
      }
      #expect(Array(entry.words.sorted(byKeyPath: "self")) == words)
      var seen = Set<Int>()
      #expect(Array(entry.numbers.distinct()) == entry.numbers.filter { seen.insert($0).inserted })
    }
  }

  // MARK: - In part

  /// The order of many, in which numbers and positions do not have room in one word.
  @Test(arguments: ["wide", "double", "text", "optText", "small", "place.name"])
  func sortsMany(_ path: String) async {
    await withSeeds { random in
      let realm = try filledRealm(5_000, &random)
      let all = realm.objects(Entry.self)
      let key = SortCase.all.first { $0.path == path }!
      let expected = SortCase.sorted(Array(all), [(key: key, isAscending: false)]).ids
      #expect(all.sorted(byKeyPath: path, ascending: false).ids == expected)
    }
  }

  @Test func firstElementsAreThoseOfTheWholeOrder() async {
    await withSeeds { random in
      let realm = try filledRealm(5_500, &random)
      let all = realm.objects(Entry.self)
      let plain = Array(all)
      for round in 0..<9 {
        // Few values of the first key: ties decide.
        var keys = someKeys(1 + round % 3, &random)
        if round % 3 > 0 { keys[0].key = SortCase.all[[0, 1, 16, 18][round % 4]] }
        let isFiltered = round % 2 == 0
        let source = isFiltered ? all.where { $0.wide > 0 } : all
        let expected = SortCase.sorted(isFiltered ? plain.filter { $0.wide > 0 } : plain, keys)
          .ids
        func sorted() -> Results<Entry> { source.sorted(by: descriptors(keys)) }
        #expect(sorted().first?.id == expected[0], name(keys))
        #expect(sorted().prefix(20).ids == Array(expected.prefix(20)), name(keys))
        for position in [0, 7, 63, 64, 200, 1_023, 1_024, 2_000] {
          #expect(sorted()[position].id == expected[position], name(keys))
        }
        let held = sorted()
        #expect(held[5].id == expected[5], name(keys))
        #expect(held[70].id == expected[70], name(keys))
        #expect(held.last?.id == expected.last, name(keys))
        var stopped: [Int] = []
        for entry in sorted() {
          stopped.append(entry.id)
          if stopped.count == 90 { break }
        }
        #expect(stopped == Array(expected.prefix(90)), name(keys))
        #expect(sorted().ids == expected, name(keys))
        #expect(sorted().count == expected.count, name(keys))
        #expect(sorted().freeze().prefix(9).ids == Array(expected.prefix(9)), name(keys))
      }
    }
  }

  @Test func iterationsThatChangeWhatTheyAreSortedBySeeEachElementOnce() async {
    await withSeeds { random in
      let realm = try filledRealm(5_000, &random)
      let all = realm.objects(Entry.self)
      let sorted = all.sorted(byKeyPath: "small")
      let expected = SortCase.sorted(Array(all), [(key: SortCase.all[1], isAscending: true)])
        .ids
      var seen: [Int] = []
      for entry in sorted {
        seen.append(entry.id)
        if seen.count % 40 == 0 { try realm.write { entry.small = 100 - entry.small } }
      }
      #expect(seen == expected)
      try realm.write {
        var seen = 0
        for entry in all.sorted(byKeyPath: "small") {
          entry.small = -entry.small
          seen += 1
        }
        #expect(seen == expected.count)
      }
    }
  }

  @Test func positionsBehindTheLastStop() async throws {
    await #expect(processExitsWith: .failure) {
      var random = RandomGenerator(seed: 1)
      let realm = try filledRealm(5_000, &random)
      _ = realm.objects(Entry.self).where { $0.id < 10 }.sorted(byKeyPath: "small")[30]
    }
  }

  // MARK: - Distinct values and sections

  @Test(arguments: [1, 50, amount(900, debug: 500)])
  func choosesTheFirstOfEqualElements(_ count: Int) async {
    await withSeeds(amount(2, debug: 1)) { random in
      let realm = try filledRealm(count, &random)
      let all = realm.objects(Entry.self)
      let plain = Array(all)
      func firsts(_ entries: [Entry], _ keys: [SortCase]) -> [Int] {
        var chosen: [Entry] = []
        var groups: [String: [Entry]] = [:]
        for entry in entries {
          // Groups of one key's hash are enough; what is equal is compared.
          let group = "\(entry.bool)"
          let rivals = groups[group] ?? []
          if !rivals.contains(where: { rival in keys.allSatisfy { $0.order(rival, entry) == 0 } }),
            !chosen.contains(where: { rival in keys.allSatisfy { $0.order(rival, entry) == 0 } })
          {
            chosen.append(entry)
            groups[group, default: []].append(entry)
          }
        }
        return chosen.ids
      }
      let few = SortCase.all.filter {
        !["wide", "double"].contains($0.path) && (count < 100 || $0.path != "text")
      }
      for key in few {
        #expect(
          all.distinct(by: [key.path]).ids == firsts(plain, [key]),
          Comment(rawValue: key.path))
      }
      for _ in 0..<4 {
        let keys = (0..<2).map { _ in few[Int(random.next() % UInt64(few.count))] }
        #expect(
          all.distinct(by: keys.map(\.path)).ids == firsts(plain, keys),
          Comment(rawValue: "\(keys.map(\.path))"))
        let order = few[Int(random.next() % UInt64(few.count))]
        let sorted = SortCase.sorted(plain, [(key: order, isAscending: false)])
        #expect(
          all.sorted(byKeyPath: order.path, ascending: false).distinct(by: keys.map(\.path))
            .ids == firsts(sorted, keys))
      }
      #expect(Set(all.distinct(by: ["wide"]).map { $0.wide }) == Set(plain.map { $0.wide }))
    }
  }

  @Test func sectionsAreThoseOfPlainSwift() async {
    await withSeeds(2) { random in
      let realm = try filledRealm(1_500, &random)
      let all = realm.objects(Entry.self)
      func check<Key: Hashable>(
        _ sections: SectionedResults<Key, Entry>, _ entries: [Entry], _ key: (Entry) -> Key
      ) {
        // Texts are told apart by their bytes, as in a file.
        func identity(_ key: Key) -> AnyHashable {
          (key as? String).map { AnyHashable(Array($0.utf8)) } ?? AnyHashable(key)
        }
        var keys: [AnyHashable] = []
        var groups: [AnyHashable: [Int]] = [:]
        for entry in entries {
          let identity = identity(key(entry))
          if groups[identity] == nil { keys.append(identity) }
          groups[identity, default: []].append(entry.id)
        }
        #expect(sections.allKeys.map(identity) == keys)
        for section in sections { #expect(section.ids == groups[identity(section.key)]) }
      }
      func sorted(_ path: String, _ isAscending: Bool) -> [Entry] {
        let key = SortCase.all.first { $0.path == path }!
        return SortCase.sorted(Array(all), [(key: key, isAscending: isAscending)])
      }
      check(all.sectioned(by: \.small), sorted("small", true)) { $0.small }
      check(all.sectioned(by: \.text, ascending: false), sorted("text", false)) { $0.text }
      check(all.sectioned(by: \.optInt), sorted("optInt", true)) { $0.optInt }
      check(all.sectioned(by: \.kind), sorted("kind", true)) { $0.kind }
      check(
        all.sectioned(
          by: { String($0.text.prefix(1)) },
          sortDescriptors: [RealmSwift.SortDescriptor(keyPath: "text")]),
        sorted("text", true)
      ) { String($0.text.prefix(1)) }
    }
  }

  @Test func valuesOfAPropertyAreThoseOfTheElements() async {
    await withSeeds(2) { random in
      let realm = try filledRealm(700, &random)
      let results = [
        realm.objects(Entry.self), realm.objects(Entry.self).where { $0.small > 1 },
        realm.objects(Entry.self).sorted(byKeyPath: "double"),
      ]
      for results in results {
        let entries = Array(results)
        func check<Value: Equatable>(_ name: String, _ value: (Entry) -> Value?) {
          let values = results.value(forKey: name) as? [Any?]
          #expect(
            values?.map { $0 as? Value } == entries.map(value), Comment(rawValue: name))
        }
        check("id") { $0.id }
        check("bool") { $0.bool }
        check("small") { $0.small }
        check("float") { $0.float }
        check("double") { $0.double }
        check("date") { $0.date }
        check("text") { $0.text }
        check("data") { $0.data }
        check("uuid") { $0.uuid }
        check("objectId") { $0.objectId }
        check("decimal") { $0.decimal }
        check("optInt") { $0.optInt }
        check("optBool") { $0.optBool }
        check("optDate") { $0.optDate }
        check("optText") { $0.optText }
        let texts = results.value(forKeyPath: "place.name") as? [Any?]
        #expect(texts?.map { $0 as? String } == entries.map { $0.place?.name })
      }
    }
  }
}
