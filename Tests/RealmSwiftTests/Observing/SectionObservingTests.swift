// What observers of sections are told.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

extension Hound {
  /// Reads one property of a hound without values, and another one of those that have some.
  fileprivate var size: String {
    guard let weight else { return "none" }
    if age > 5 { return "old" }
    return weight > 9 ? "big" : "small"
  }
}

@Suite(.ownThreads) struct SectionObservingTests {
  /// Hounds in sections by the first letter of their names.
  private static func sections(_ realm: Realm) -> SectionedResults<String, Hound> {
    realm.objects(Hound.self).sectioned(
      by: { String($0.name.prefix(1)) }, sortDescriptors: [SortDescriptor(keyPath: "name")])
  }

  @Test func elementsAndSections() async {
    let watched = await WatchedRealm()
    await watched.write { realm in
      for name in ["Ada", "Alf", "Bob"] { realm.add(Hound(name)) }
    }
    await watched.run { watched in
      watched.tokens.append(
        Self.sections(watched.realm).observe { [unowned watched] in watched.note(text($0)) })
    }
    await watched.expectTold(["initial A2 B1"], afterCalls: 1)
    await watched.write { $0.hound("Alf").age = 5 }
    await watched.expectTold(["~0.1 | A2 B1"], afterCalls: 2)
    await watched.write { $0.add(Hound("Abe")) }
    await watched.expectTold(["+0.0 | A3 B1"], afterCalls: 3)
    await watched.write { $0.add(Hound("Cid")) }
    await watched.expectTold(["+2.0 +[2] | A3 B1 C1"], afterCalls: 4)
    // From one section to another one, which is new; the old one goes with its only element.
    await watched.write { $0.hound("Bob").name = "Dan" }
    await watched.expectTold(["-1.0 +2.0 -[1] +[2] | A3 C1 D1"], afterCalls: 5)
    // Inside of the section, and over to one that is there.
    await watched.write { realm in
      realm.hound("Abe").name = "Axe"
      realm.hound("Cid").name = "Dag"
    }
    await watched.expectTold(["-0.0 -1.0 +0.2 +1.0 -[1] | A3 D2"], afterCalls: 6)
    await watched.write { $0.deleteAll() }
    await watched.expectTold(["-0.0 -0.1 -0.2 -1.0 -1.1 -[0, 1] | "], afterCalls: 7)
    await watched.write { $0.add(Hound("Eve")) }
    await watched.expectTold(["+0.0 +[0] | E1"], afterCalls: 8)
    // Several commits of others.
    watched.writeElsewhere { $0.add(Hound("Fay")) }
    watched.writeElsewhere { realm in
      realm.hound("Eve").age = 1
      realm.add(Hound("Fee"))
    }
    await watched.run { $0.realm.refresh() }
    let calls = await watched.told()
    #expect(calls.last?.hasSuffix("| E1 F2") == true)
  }

  @Test func sectionsThatMove() async {
    let watched = await WatchedRealm()
    await watched.write { realm in
      for (age, name) in ["Ada", "Bob", "Cid"].enumerated() { realm.add(Hound(name, age)) }
    }
    await watched.run { watched in
      // In the order of the ages, so that a section moves with its first element.
      let sections = watched.realm.objects(Hound.self).sectioned(
        by: { String($0.name.prefix(1)) }, sortDescriptors: [SortDescriptor(keyPath: "age")])
      watched.tokens.append(sections.observe { [unowned watched] in watched.note(text($0)) })
    }
    await watched.expectTold(["initial A1 B1 C1"], afterCalls: 1)
    await watched.write { $0.hound("Ada").age = 9 }
    await watched.expectTold(["-0.0 +2.0 -[0] +[2] | B1 C1 A1"], afterCalls: 2)
  }

  @Test func oneSection() async {
    let watched = await WatchedRealm()
    let queue = DispatchQueue(label: "elsewhere")
    let log = Log()
    let told = Event()
    await watched.write { realm in
      for name in ["Ada", "Bob", "Ben"] { realm.add(Hound(name)) }
    }
    await watched.run { watched in
      let section = Self.sections(watched.realm)[1]
      watched.tokens = [
        section.observe { [unowned watched] in watched.note(sectionText($0)) },
        section.observe(keyPaths: [\.age]) { [unowned watched] in
          watched.note("age " + sectionText($0))
        },
        section.observe(on: queue) { change in
          log.add(sectionText(change))
          told.happen()
        },
      ]
    }
    await watched.expectTold(["initial B2", "age initial B2"], afterCalls: 2)
    await told.happened(1)
    // Of other sections it hears nothing, but places name it by where it is among them.
    await watched.write { $0.hound("Ada").age = 1 }
    await watched.write { $0.hound("Ada").name = "Cid" }
    await watched.write { $0.hound("Ben").weight = 3 }
    await watched.expectTold(["~0.0 | B2"], afterCalls: 3)
    await told.happened(2)
    await watched.write { $0.hound("Ben").age = 2 }
    await watched.expectTold(["~0.0 | B2", "age ~0.0 | B2"], afterCalls: 5)
    // Who is told on another queue is told once of what it was too slow for.
    await told.happened(3)
    await watched.write { $0.hound("Bob").name = "Dan" }
    await watched.expectTold(["-0.1 | B1", "age -0.1 | B1"], afterCalls: 7)
    await told.happened(4)
    await watched.write { $0.hound("Ben").name = "Eve" }
    await watched.expectTold(["-0.0 -[0] | B0", "age -0.0 -[0] | B0"], afterCalls: 9)
    await told.happened(5)
    await watched.write { $0.add(Hound("Bea")) }
    await watched.expectTold(["+0.0 +[0] | B1", "age +0.0 +[0] | B1"], afterCalls: 11)
    await told.happened(6)
    #expect(log.all.first == "initial B2" && log.all.last == "+0.0 +[0] | B1")
  }

  @Test func keyPathsAndPlaces() async {
    let watched = await WatchedRealm()
    let queue = DispatchQueue(label: "elsewhere")
    let log = Log()
    let told = Event()
    await watched.write { $0.add(Hound("Ada")) }
    await watched.run { watched in
      let sections = watched.realm.objects(Hound.self).sectioned(by: \.name)
      watched.tokens = [
        sections.observe(keyPaths: ["age"]) { [unowned watched] in watched.note("a" + text($0)) },
        sections.observe(keyPaths: [\.weight]) { [unowned watched] in
          watched.note("b" + text($0))
        },
        sections.observe(on: queue) { change in
          dispatchPrecondition(condition: .onQueue(queue))
          log.add(text(change))
          told.happen()
        },
      ]
    }
    await watched.expectTold(["ainitial A1", "binitial A1"], afterCalls: 2)
    await told.happened(1)
    await watched.write { $0.hound("Ada").age = 2 }
    await watched.expectTold(["a~0.0 | A1"], afterCalls: 3)
    await told.happened(2)
    #expect(log.all == ["initial A1", "~0.0 | A1"])
    await watched.run { watched in
      try watched.realm.write(withoutNotifying: [watched.tokens[0]]) {
        watched.realm.add(Hound("Bob"))
      }
    }
    await watched.expectTold(["b+1.0 +[1] | A1 B1"], afterCalls: 4)
    await watched.run { watched in watched.tokens.forEach { $0.invalidate() } }
    await watched.write { $0.add(Hound("Cid")) }
    await watched.expectTold([])
  }

  /// Key paths leave modifications out, not that an element is in another section.
  @Test func otherSectionsInTheSamePlace() async {
    let watched = await WatchedRealm()
    await watched.write { realm in for name in ["Ada", "Bob", "Bob"] { realm.add(Hound(name)) } }
    await watched.run { watched in
      let sections = watched.realm.objects(Hound.self).sectioned(by: \.name)
      let section = sections[1]
      watched.tokens = [
        sections.observe(keyPaths: ["age"]) { [unowned watched] in watched.note("a " + text($0)) },
        sections.observe(keyPaths: [String]()) { [unowned watched] in
          watched.note("b " + text($0))
        },
        section.observe(keyPaths: ["age"]) { [unowned watched] in
          watched.note("c " + sectionText($0))
        },
      ]
    }
    await watched.expectTold(["a initial A1 B2", "b initial A1 B2", "c initial B2"], afterCalls: 3)
    await watched.write { $0.hound("Ada").name = "Abe" }
    let renamed = "-0.0 +0.0 -[0] +[0] | A1 B2"
    await watched.expectTold(["a " + renamed, "b " + renamed], afterCalls: 5)
    await watched.write { $0.objects(Hound.self).last!.name = "Cid" }
    let apart = "-1.1 +2.0 +[2] | A1 B1 C1"
    await watched.expectTold(["a " + apart, "b " + apart, "c -1.1 | B1"], afterCalls: 8)
    await watched.write { realm in
      realm.hound("Abe").name = "Abe"
      realm.hound("Bob").weight = 2
    }
    await watched.write { $0.hound("Bob").age = 1 }
    await watched.expectTold(["a ~1.0 | A1 B1 C1", "c ~1.0 | B1"], afterCalls: 10)
    watched.writeElsewhere { $0.hound("Bob").name = "Bub" }
    await watched.run { $0.realm.refresh() }
    let others = "-1.0 +1.0 -[1] +[1] | A1 B1 C1"
    await watched.expectTold(["a " + others, "b " + others, "c -1.0 -[1] | B0"], afterCalls: 13)
  }

  /// What is computed may depend on more properties than the one that orders the results, and on
  /// others than key paths name.
  @Test func computedKeys() async {
    let watched = await WatchedRealm()
    await watched.run { watched in
      let sections = watched.realm.objects(Hound.self).sectioned(by: \.size)
      watched.tokens = [
        sections.observe(keyPaths: ["name"]) { [unowned watched] in watched.note(text($0)) }
      ]
    }
    await watched.expectTold(["initial "], afterCalls: 1)
    await watched.write { realm in
      let hound = Hound("Ada", 1)
      hound.weight = 3
      realm.add(hound)
    }
    await watched.expectTold(["+0.0 +[0] | s1"], afterCalls: 2)
    await watched.write { $0.hound("Ada").age = 9 }
    await watched.expectTold(["-0.0 +0.0 -[0] +[0] | o1"], afterCalls: 3)
  }

  @Test func onAnActor() async throws {
    let log = Log()
    let told = Event()
    let watcher = try await Watcher(memoryConfiguration(kennelClasses))
    let token = await watcher.observe { change in
      log.add(text(change))
      told.happen()
    }
    await told.happened(1)
    try await watcher.add("Ada")
    await told.happened(2)
    #expect(log.all == ["initial ", "+0.0 +[0] | A1"])
    token.invalidate()
  }

  private actor Watcher {
    private var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    func add(_ name: String) async throws {
      try await realm.asyncWrite { realm.add(Hound(name)) }
    }

    func observe(
      _ block: @escaping @Sendable (SectionedResultsChange<SectionedResults<String, Hound>>) -> Void
    ) async -> NotificationToken {
      await SectionObservingTests.sections(realm).observe(on: self) { actor, change in
        actor.assertIsolated()
        block(change)
      }
    }
  }

  /// A block that counts what an element's own collections have makes no object, and its observers
  /// hear of each change of them.
  @Test(arguments: [nil, ["name"]] as [[String]?])
  func keysOfOwnCollections(keyPaths: [String]?) async {
    let watched = await WatchedRealm()
    await watched.write { realm in
      for id in 0..<40 { realm.create(Kennel.self, value: ["id": id]) }
      realm.add(Hound("Ada"))
    }
    await watched.run { watched in
      let kennels = watched.realm.objects(Kennel.self)
      let key: (Kennel) -> Int = { kennel in
        kennel.hounds.count + 2 * kennel.numbers.count + 4 * kennel.numberSet.count
          + 8 * kennel.houndMap.count + 16 * kennel.houndSet.count + 32 * kennel.names.count
      }
      nonisolated(unsafe) var known: [Int: [Int]] = [:]
      watched.tokens.append(
        kennels.sectioned(by: key).observe(keyPaths: keyPaths) { change in
          switch change {
          case .initial(let sections), .update(let sections, _, _, _, _, _):
            known = Dictionary(uniqueKeysWithValues: sections.map { ($0.key, $0.map(\.id)) })
          }
        })
      watched.realm.refresh()
      #expect(known == [0: Array(0..<40)])
      let hound = watched.realm.hound("Ada")
      let changes: [(Kennel) -> Void] = [
        { $0.hounds.append(hound) }, { $0.numbers.append(1) }, { $0.numberSet.insert(1) },
        { $0.houndMap["a"] = hound }, { $0.houndSet.insert(hound) }, { $0.names.append("a") },
        { $0.hounds.removeAll() }, { $0.numbers.removeAll() },
      ]
      for (number, change) in changes.enumerated() {
        let kennel = kennels[number % 3]
        let before = known
        try watched.realm.write { change(kennel) }
        watched.realm.refresh()
        let expected = Dictionary(grouping: kennels.map(\.id)) { key(kennels[$0]) }
        #expect(known == expected, "change \(number)")
        #expect(known != before || number > 5, "change \(number)")
      }
    }
  }

  /// What a block makes keys of.
  enum KeyBlock: String, CaseIterable, Sendable {
    /// The elements' own values.
    case name
    /// A link that none has at first: a block that reads own values alone until then.
    case friend
    case admirers

    func key(_ hound: Hound) -> String {
      switch self {
      case .name: String(hound.name.prefix(1))
      case .friend: String((hound.friend?.name ?? "-").prefix(1))
      case .admirers: "\(hound.admirers.count)"
      }
    }
  }

  /// Who edits a copy by what is told has what is there.
  @Test(arguments: KeyBlock.allCases, [false, true])
  func whatIsToldLeadsToTheTruth(_ block: KeyBlock, listsKeyPaths: Bool) async {
    await withSeeds { random in
      let watched = await WatchedRealm()
      await watched.run { [random] watched in
        var random = random
        func next(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
        nonisolated(unsafe) var copy: [[String]] = []
        nonisolated(unsafe) var updates = 0
        watched.tokens.append(
          watched.realm.objects(Hound.self)
            .sectioned(
              by: { block.key($0) },
              sortDescriptors: [SortDescriptor(keyPath: "age"), SortDescriptor(keyPath: "name")]
            ).observe(keyPaths: listsKeyPaths ? ["name"] : nil) { change in
              switch change {
              case .initial(let sections): copy = sections.map { $0.map(\.name) }
              case .update(
                let sections, let deletions, let insertions, let modifications, let newSections,
                let oldSections):
                updates += 1
                for place in deletions.reversed() { copy[place.section].remove(at: place.item) }
                for section in oldSections.reversed() { #expect(copy.remove(at: section) == []) }
                for section in newSections { copy.insert([], at: section) }
                for place in insertions {
                  copy[place.section].insert(sections[place].name, at: place.item)
                }
                for place in modifications {
                  copy[place.section][place.item] = sections[place].name
                }
                #expect(copy == sections.map { $0.map(\.name) })
              }
            })
        for _ in 0..<150 {
          try watched.realm.write {
            for _ in 0..<next(4) {
              let hounds = watched.realm.objects(Hound.self)
              let letter = String(UnicodeScalar(UInt8(65 + next(4))))
              let name = "\(letter)\(next(20))"
              switch next(6) {
              case 0 where !hounds.isEmpty:
                watched.realm.delete(hounds[next(hounds.count)])
              case 4 where !hounds.isEmpty && updates > 20:
                hounds[next(hounds.count)].friend = hounds[next(hounds.count)]
              case 5 where !hounds.isEmpty: hounds[next(hounds.count)].friend = nil
              case 1 where !hounds.isEmpty: hounds[next(hounds.count)].name = name
              case 2 where !hounds.isEmpty:
                hounds[next(hounds.count)].age = next(9)
              default: watched.realm.add(Hound(name, next(9)))
              }
            }
          }
          watched.realm.refresh()
        }
        #expect(updates > 50)
      }
    }
  }

}

/// A change as text, and the sections after it.
private func text(_ change: SectionedResultsChange<SectionedResults<String, Hound>>) -> String {
  text(change) { sections in sections.map(shape).joined(separator: " ") }
}

private func sectionText(
  _ change: SectionedResultsChange<ResultsSection<String, Hound>>
) -> String {
  text(change, shape)
}

private func shape(_ section: ResultsSection<String, Hound>) -> String {
  "\(section.key.prefix(1))\(section.count)"
}

private func text<Sections>(
  _ change: SectionedResultsChange<Sections>, _ shape: (Sections) -> String
) -> String {
  switch change {
  case .initial(let sections): return "initial " + shape(sections)
  case .update(
    let sections, let deletions, let insertions, let modifications, let newSections,
    let oldSections):
    var parts = deletions.map { "-\($0.section).\($0.item)" }
    parts += insertions.map { "+\($0.section).\($0.item)" }
    parts += modifications.map { "~\($0.section).\($0.item)" }
    if !oldSections.isEmpty { parts.append("-\(Array(oldSections))") }
    if !newSections.isEmpty { parts.append("+\(Array(newSections))") }
    return parts.joined(separator: " ") + " | " + shape(sections)
  }
}
