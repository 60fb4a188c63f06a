// Observing lists and dictionaries inside of mixed values.
import Dispatch
import Foundation
import RealmSwift
import TestSupport
import Testing

@MainActor @Suite(.ownThreads) struct AsUsersNestedObservingTests {
  private let realm: Realm
  private let owner: HomeOwner

  init() throws {
    realm = try memoryRealm(userClasses)
    let realm = realm
    owner = try realm.write {
      let owner = addOwner(realm, chores: 2)
      owner.anything = .fromDictionary([
        "list": .fromArray([.int(1), .string("two"), .fromDictionary(["deep": .int(3)])]),
        "map": .fromDictionary(["a": .int(1), "b": .object(owner.chores[0])]),
        "value": .int(5),
      ])
      return owner
    }
  }

  private var root: Map<String, AnyRealmValue> { owner.anything.dictionaryValue! }
  private var list: List<AnyRealmValue> { root["list"]!.listValue! }
  private var map: Map<String, AnyRealmValue> { root["map"]!.dictionaryValue! }

  private final class Calls {
    var all: [String] = []
    func take() -> [String] {
      defer { all = [] }
      return all
    }
    func note<C>(_ change: RealmCollectionChange<C>) {
      switch change {
      case .initial: all.append("initial")
      case .update(_, let deletions, let insertions, let modifications):
        all.append("\(deletions) \(insertions) \(modifications)")
      case .error: all.append("error")
      }
    }
    func note<M: RealmKeyedCollection>(_ change: RealmMapChange<M>) where M.Key == String {
      switch change {
      case .initial: all.append("initial")
      case .update(_, let deletions, let insertions, let modifications):
        all.append("\(deletions) \(insertions) \(modifications)")
      case .error: all.append("error")
      }
    }
  }

  private func write(_ body: () -> Void) throws {
    try realm.write(body)
    realm.refresh()
  }

  @Test func lists() throws {
    let (list, calls) = (list, Calls())
    let token = list.observe { calls.note($0) }
    realm.refresh()
    #expect(calls.take() == ["initial"])
    try write { list.append(.int(9)) }
    #expect(calls.take() == ["[] [3] []"])
    try write { list[0] = .int(7) }
    #expect(calls.take() == ["[] [] [0]"])
    try write { list.remove(at: 1) }
    #expect(calls.take() == ["[1] [] []"])
    try write { list.insert(.string("new"), at: 0) }
    #expect(calls.take() == ["[] [0] []"])
    try write { list[2].dictionaryValue!["deep"] = .int(4) }
    #expect(calls.take() == ["[] [] [2]"])
    try write { owner.name = "other" }
    try write { map["a"] = .int(2) }
    #expect(calls.take() == [])
    try write {
      list.removeAll()
      list.append(objectsIn: [.int(1), .int(2)])
    }
    #expect(calls.take().count == 1 && list.count == 2)
    try write { root["list"] = nil }
    #expect(calls.take() == ["[0, 1] [] []"] && list.isInvalidated)
    try write { root["list"] = .fromArray([.int(1)]) }
    #expect(calls.take() == [])
    token.invalidate()
  }

  @Test func dictionaries() throws {
    let (map, calls) = (map, Calls())
    let token = map.observe { calls.note($0) }
    realm.refresh()
    #expect(calls.take() == ["initial"])
    try write { map["c"] = .string("new") }
    #expect(calls.take() == [#"[] ["c"] []"#])
    try write { map["a"] = .int(2) }
    #expect(calls.take() == [#"[] [] ["a"]"#])
    try write {
      map["c"] = nil
      map["d"] = .int(1)
    }
    #expect(calls.take() == [#"["c"] ["d"] []"#])
    // An object that a value leads to.
    try write { owner.chores[0].title = "changed" }
    #expect(calls.take() == [#"[] [] ["b"]"#])
    try write { realm.delete(owner) }
    #expect(calls.take() == [#"["a", "b", "d"] [] []"#])
    token.invalidate()
  }

  @Test func theWholeValue() throws {
    let (root, calls) = (root, Calls())
    let token = root.observe { calls.note($0) }
    realm.refresh()
    try write { list.append(.int(9)) }
    try write { root["value"] = .int(6) }
    #expect(calls.take() == ["initial", #"[] [] ["list"]"#, #"[] [] ["value"]"#])
    try write { owner.anything = .none }
    #expect(calls.take() == [#"["list", "map", "value"] [] []"#])
    token.invalidate()
  }

  @Test func withoutFollowingLinks() throws {
    let (map, calls) = (map, Calls())
    let token = map.observe(keyPaths: [String]()) { calls.note($0) }
    realm.refresh()
    try write { owner.chores[0].title = "changed" }
    #expect(calls.take() == ["initial"])
    try write { map["x"] = .int(1) }
    #expect(calls.take() == [#"[] ["x"] []"#])
    token.invalidate()
  }

  @Test func resultsChosenFromOne() throws {
    let (list, calls) = (list, Calls())
    let ints = list.filter("SELF > 0")
    let token = ints.observe { calls.note($0) }
    realm.refresh()
    #expect(calls.take() == ["initial"] && ints.count == 1)
    try write { list.append(.int(4)) }
    #expect(calls.take() == ["[] [1] []"])
    try write { list.append(.string("no number")) }
    #expect(calls.take() == [])
    try write { list.remove(at: 0) }
    #expect(calls.take() == ["[0] [] []"] && ints.count == 1)
    token.invalidate()
  }

  @Test func whatOthersWrite() throws {
    let (list, calls) = (list, Calls())
    let token = list.observe { calls.note($0) }
    realm.refresh()
    let configuration = realm.configuration
    onThread {
      let realm = try! Realm(configuration: configuration)
      let list = realm.objects(HomeOwner.self)[0].anything.dictionaryValue!["list"]!.listValue!
      try! realm.write { list.append(.int(1)) }
      try! realm.write { list.append(.int(2)) }
    }
    realm.refresh()
    #expect(calls.take() == ["initial", "[] [3, 4] []"])
    token.invalidate()
  }

  @Test func inCollectionsOfMixedValues() throws {
    let (nested, calls) = (list[2].dictionaryValue!, Calls())
    let token = nested.observe { calls.note($0) }
    let queue = DispatchQueue(label: "nested")
    let called = Event()
    let other = nested.observe(on: queue) { @Sendable _ in called.happen() }
    realm.refresh()
    called.wait(1)
    try write { nested["more"] = .bool(true) }
    #expect(calls.take() == ["initial", #"[] ["more"] []"#])
    called.wait(2)
    token.invalidate()
    other.invalidate()
  }
}
