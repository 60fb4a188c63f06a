// Key paths: their names through collections, in observers of projections, in orders through null
// links, in nested subqueries; and how bad ones are refused.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class PathRoot: Object {
  @Persisted var name: String
  @Persisted var number: Int
  @Persisted var link: PathRoot?
  @Persisted var list: List<PathRoot>
  @Persisted var set: MutableSet<PathRoot>
  @Persisted var map: Map<String, PathRoot?>
  @Persisted var part: PathPart?
  @Persisted var parts: List<PathPart>
  @Persisted var ints: List<Int>
  @Persisted var texts: Map<String, String>
  @Persisted(originProperty: "list") var linkedBy: LinkingObjects<PathRoot>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PathPart: EmbeddedObject {
  @Persisted var city: String
  @Persisted var inner: PathInner?
  @Persisted var inners: List<PathInner>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PathInner: EmbeddedObject {
  @Persisted var value: Int
  @Persisted var root: PathRoot?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PathView: Projection<PathRoot> {
  @Projected(\PathRoot.name) var title
  @Projected(\PathRoot.link?.name) var linkedName
  @Projected(\PathRoot.part?.city) var city
  @Projected(\PathRoot.list.projectTo.name) var names: ProjectedCollection<String>
}

private let pathClasses: [ObjectBase.Type] = [PathRoot.self, PathPart.self, PathInner.self]

@Suite(.ownThreads) struct AsUsersKeyPathTests {
  @Test func namesThroughEverything() {
    #expect(_name(for: \PathRoot.name) == "name")
    #expect(_name(for: \PathRoot.link) == "link")
    #expect(_name(for: \PathRoot.link?.name) == "link.name")
    #expect(_name(for: \PathRoot.link?.link?.link?.name) == "link.link.link.name")
    #expect(_name(for: \PathRoot.part?.city) == "part.city")
    #expect(_name(for: \PathRoot.part?.inner?.value) == "part.inner.value")
    #expect(_name(for: \PathRoot.part?.inner?.root?.name) == "part.inner.root.name")
    #expect(_name(for: \PathRoot.list) == "list")
    #expect(_name(for: \PathRoot.list[0].name) == "list.name")
    #expect(_name(for: \PathRoot.list[0].list[3].link?.name) == "list.list.link.name")
    #expect(_name(for: \PathRoot.list.first?.name) == "list.name")
    #expect(_name(for: \PathRoot.list.last?.part?.city) == "list.part.city")
    #expect(_name(for: \PathRoot.set[0].name) == "set.name")
    #expect(_name(for: \PathRoot.set.first?.number) == "set.number")
    #expect(_name(for: \PathRoot.map["a"]??.name) == "map.name")
    #expect(_name(for: \PathRoot.parts[0].city) == "parts.city")
    #expect(_name(for: \PathRoot.parts[0].inners[1].value) == "parts.inners.value")
    #expect(_name(for: \PathRoot.ints[0]) == "ints")
    #expect(_name(for: \PathRoot.texts["a"]) == "texts")
    #expect(_name(for: \PathRoot.linkedBy[0].name) == "linkedBy.name")
    #expect(_name(for: \PathRoot.linkedBy.first?.link?.name) == "linkedBy.link.name")
    let partial: PartialKeyPath<PathRoot> = \PathRoot.list[0].name
    #expect(_name(for: partial) == "list.name")
    // Reading outside of a key path is what it was.
    #expect(PathRoot().list.first == nil && PathRoot().map["a"] == nil)
    #expect(PathRoot().linkedBy.first == nil && PathRoot().set.first == nil)
  }

  @MainActor @Test func observedThroughCollections() async throws {
    let realm = try memoryRealm(pathClasses)
    let root = try realm.write { () -> PathRoot in
      let root = realm.create(PathRoot.self, value: ["name": "root"])
      root.list.append(realm.create(PathRoot.self, value: ["name": "leaf"]))
      root.map["a"] = root.list[0]
      return root
    }
    var calls: [String] = []
    let token = root.observe(keyPaths: [\PathRoot.list[0].name]) { change in
      if case .change(_, let properties) = change {
        calls.append(properties.map(\.name).joined(separator: ","))
      }
    }
    var updates = 0
    let other = realm.objects(PathRoot.self)
      .observe(keyPaths: [\PathRoot.map["a"]??.number]) { change in
        if case .update = change { updates += 1 }
      }
    realm.refresh()
    try realm.write { root.name = "not observed" }
    realm.refresh()
    #expect(calls.isEmpty)
    try realm.write { root.list[0].name = "observed" }
    realm.refresh()
    #expect(calls == ["list"] && updates == 0)
    try realm.write { root.list[0].number = 3 }
    realm.refresh()
    #expect(updates == 1)
    token.invalidate()
    other.invalidate()
  }

  /// A commit that only adds or deletes who links changes no object that was there before.
  @MainActor @Test func elementsByWhoLinksToThem() throws {
    let realm = try memoryRealm(pathClasses)
    let (root, leaf) = try realm.write { () -> (PathRoot, PathRoot) in
      let root = realm.create(PathRoot.self, value: ["name": "root"])
      let leaf = realm.create(PathRoot.self, value: ["name": "leaf"])
      root.link = leaf
      root.list.append(leaf)
      root.set.insert(leaf)
      root.map["a"] = leaf
      return (root, leaf)
    }
    var told: [String] = []
    func note<Elements>(_ name: String, _ change: RealmCollectionChange<Elements>) {
      guard case .update(_, let deletions, let insertions, let modifications) = change else {
        return
      }
      told.append("\(name) \(deletions) \(insertions) \(modifications)")
    }
    let tokens = [
      root.list.observe(keyPaths: ["linkedBy"]) { note("list", $0) },
      root.list.observe(keyPaths: [\PathRoot.linkedBy]) { note("typed", $0) },
      root.list.observe(keyPaths: ["linkedBy.number"]) { note("number", $0) },
      root.set.observe(keyPaths: ["linkedBy"]) { note("set", $0) },
      root.map.observe(keyPaths: ["linkedBy"]) { change in
        if case .update(_, [], [], let keys) = change { told.append("map \(keys)") }
      },
      root.list.observe(keyPaths: ["name"]) { note("name", $0) },
      root.list.filter("name == 'leaf'").observe(keyPaths: ["linkedBy"]) { note("query", $0) },
    ]
    realm.refresh()
    let all = [
      "list [] [] [0]", "typed [] [] [0]", "number [] [] [0]", "set [] [] [0]", "map [\"a\"]",
      "query [] [] [0]",
    ]
    let other = try realm.write {
      realm.create(PathRoot.self, value: ["list": [leaf]] as [String: Any])
    }
    realm.refresh()
    #expect(told == all)
    told = []
    try realm.write { realm.delete(other) }
    realm.refresh()
    #expect(told == all)
    told = []
    // Neither comes from what links to an element.
    try realm.write { realm.create(PathRoot.self, value: ["name": "alone"]) }
    realm.refresh()
    #expect(told == [])
    for token in tokens { token.invalidate() }
  }

  @MainActor @Test func projectionsByTheirOwnProperties() async throws {
    let realm = try memoryRealm(pathClasses)
    let root = try realm.write { () -> PathRoot in
      let root = realm.create(PathRoot.self, value: ["name": "root"])
      root.link = realm.create(PathRoot.self, value: ["name": "linked"])
      root.part = PathPart(value: ["city": "Bern"])
      root.list.append(root.link!)
      return root
    }
    let view = PathView(projecting: root)
    var told: [String] = []
    func note(_ change: ObjectChange<PathView>, _ name: String) {
      guard case .change(_, let properties) = change else { return }
      told.append("\(name): \(properties.map(\.name).sorted().joined(separator: ","))")
    }
    let tokens = [
      view.observe(keyPaths: [\PathView.title]) { note($0, "title") },
      view.observe(keyPaths: [\PathView.linkedName]) { note($0, "linked") },
      view.observe(keyPaths: ["city"]) { note($0, "city") },
      view.observe(keyPaths: [\PathView.names]) { note($0, "names") },
    ]
    var updates: [String] = []
    let views = realm.objects(PathView.self)
    let results = [
      views.observe(keyPaths: [\PathView.linkedName]) {
        if case .update(_, _, _, let changed) = $0 { updates.append("linked \(changed)") }
      },
      views.filter("name == 'root'").observe(keyPaths: [\PathView.title]) {
        if case .update(_, _, _, let changed) = $0 { updates.append("title \(changed)") }
      },
    ]
    realm.refresh()
    try realm.write { root.number = 1 }
    realm.refresh()
    #expect(told.isEmpty && updates.isEmpty)
    try realm.write { root.link!.name = "changed" }
    realm.refresh()
    #expect(told.sorted() == ["linked: linkedName", "names: names"] && updates == ["linked [0]"])
    told = []
    updates = []
    try realm.write { root.part!.city = "Basel" }
    realm.refresh()
    #expect(told == ["city: city"] && updates.isEmpty)
    told = []
    try realm.write { root.name = "root" }
    realm.refresh()
    #expect(told == ["title: title"] && updates == ["title [0]"])
    for token in tokens + results { token.invalidate() }
  }

  @Test func ordersThroughNullLinks() throws {
    let realm = try memoryRealm(pathClasses)
    try realm.write {
      let leaves = ["b", "a", "c"].map {
        realm.create(PathRoot.self, value: ["name": $0, "number": -1])
      }
      for (index, leaf) in [leaves[0], nil, leaves[1], leaves[0], nil, leaves[2]].enumerated() {
        let root = realm.create(PathRoot.self, value: ["name": "r\(index)", "number": index])
        root.link = leaf
        if index % 2 == 0 { root.part = PathPart(value: ["city": "c\(index)"]) }
      }
    }
    let roots = realm.objects(PathRoot.self).where { $0.number >= 0 }
    // Nil comes first, and equal elements stay in their order.
    #expect(roots.sorted(byKeyPath: "link.name").map(\.number) == [1, 4, 2, 0, 3, 5])
    #expect(
      roots.sorted(byKeyPath: "link.name", ascending: false).map(\.number) == [5, 0, 3, 2, 1, 4])
    #expect(roots.sorted(by: \.link?.name).map(\.number) == [1, 4, 2, 0, 3, 5])
    #expect(roots.sorted(by: \.part?.city).map(\.number) == [1, 3, 5, 0, 2, 4])
    #expect(roots.sorted(byKeyPath: "link.link.name").map(\.number) == [0, 1, 2, 3, 4, 5])
    #expect(roots.distinct(by: ["link.name"]).map(\.number) == [0, 1, 2, 5])
    #expect(roots.distinct(by: [\.link?.name]).map(\.number) == [0, 1, 2, 5])
    #expect(roots.distinct(by: ["part.city"]).map(\.number) == [0, 1, 2, 4])
    #expect(roots.distinct(by: ["link.link.name", "part.inner.value"]).map(\.number) == [0])
    #expect(
      roots.sorted(by: ["link.name", SortDescriptor(keyPath: "number", ascending: false)])
        .map(\.number) == [4, 1, 2, 3, 0, 5])
    #expect(
      roots.sorted(byKeyPath: "link.name").distinct(by: ["link.name"]).map(\.number) == [
        1, 2, 0, 5,
      ])
    let sections = roots.sectioned(by: { $0.link?.name ?? "none" })
    #expect(sections.allKeys == ["a", "b", "c", "none"])
    #expect(roots.sectioned(by: \.link?.name, ascending: true).allKeys == [nil, "a", "b", "c"])
  }

  @Test func nestedSubqueries() throws {
    let realm = try memoryRealm(pathClasses)
    try realm.write {
      for index in 0..<3 {
        let root = realm.create(PathRoot.self, value: ["name": "r\(index)", "number": index])
        for inner in 0..<index {
          let child = realm.create(
            PathRoot.self, value: ["name": "c\(inner)", "number": 10 + inner])
          for leaf in 0..<inner {
            child.list.append(realm.create(PathRoot.self, value: ["number": 100 + leaf]))
          }
          root.list.append(child)
        }
      }
    }
    let roots = realm.objects(PathRoot.self)
    let nested =
      "SUBQUERY(list, $c, $c.number > 9 AND "
      + "SUBQUERY($c.list, $l, $l.number > 99).@count > 0).@count > 0"
    #expect(roots.filter(nested).map(\.name) == ["r2"])
    let outer =
      "SUBQUERY(list, $c, SUBQUERY($c.list, $l, $l.number > 5).@count == 1).@count == 1"
    #expect(roots.filter(outer).map(\.name) == ["r2"])
    #expect(roots.filter("SUBQUERY(list, $c, $c.list.@count > 0).@count > 0").count == 1)
    #expect(roots.filter("SUBQUERY(list, $c, ANY $c.list.number == 100).@count > 0").count == 1)
    #expect(
      roots.filter(
        "SUBQUERY(list, $c, NONE $c.list.number == 100 AND $c.name BEGINSWITH 'c').@count == 1"
      )
      .map(\.name) == ["r1", "r2"])
    #expect(
      roots.filter(
        "NOT SUBQUERY(list, $c, SUBQUERY($c.linkedBy, $o, $o.number == 2).@count > 0).@count > 0"
      )
      .count == roots.count - 1)
    #expect(
      roots.where { ($0.list.number > 9 && $0.list.list.number > 99).count > 0 }.map(\.name) == [
        "r2"
      ])
  }

  enum BadPath: String, CaseIterable, Sendable {
    case sort, sortThroughList, sortDescriptors, distinct, filter, filterDeep, observe, observeDeep
    case min, sum, averageDeep, subquery, count, keyPathSort, sectioned, typedName, value,
      objectPath
  }

  @Test(arguments: BadPath.allCases)
  func badOnesAreRefused(_ path: BadPath) async {
    let name = path.rawValue
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name = name as String] in
      let realm = try memoryRealm(pathClasses)
      let root = try realm.write { realm.create(PathRoot.self) }
      let roots = realm.objects(PathRoot.self)
      switch BadPath(rawValue: name)! {
      case .sort: _ = roots.sorted(byKeyPath: "bad").count
      case .sortThroughList: _ = roots.sorted(byKeyPath: "list.bad").count
      case .sortDescriptors: _ = roots.sorted(by: ["name", "link.bad"]).count
      case .distinct: _ = roots.distinct(by: ["link.bad"]).count
      case .filter: _ = roots.filter("bad == 1").count
      case .filterDeep: _ = roots.filter("link.part.bad == 1").count
      case .observe: _ = root.observe(keyPaths: ["bad"]) { (_: ObjectChange<PathRoot>) in }
      case .observeDeep: _ = roots.observe(keyPaths: ["link.part.bad"]) { _ in }
      case .min: _ = roots.min(ofProperty: "bad") as Int?
      case .sum: _ = roots.sum(ofProperty: "bad") as Int
      case .averageDeep: _ = root.list.average(ofProperty: "bad") as Double?
      case .subquery: _ = roots.filter("SUBQUERY(bad, $x, $x.number > 1).@count > 0").count
      case .count: _ = roots.filter("bad.@count > 1").count
      case .keyPathSort: _ = roots.sorted(by: [SortDescriptor(keyPath: "bad")]).count
      case .sectioned: _ = root.list.sorted(byKeyPath: "part.bad").count
      case .typedName: _ = roots.filter("link.bad.name == ''").count
      case .value: _ = root.value(forKeyPath: "link.bad") ?? root["bad"]
      case .objectPath: root.setValue(1, forKeyPath: "bad")
      }
    }
    expectStop(result, "bad")
  }
}
