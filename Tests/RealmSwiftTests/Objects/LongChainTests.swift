// Long chains of objects and values, on threads with little stack: their length costs time, and no
// stack.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

private class Link: Object, Codable {
  @Persisted var number: Int
  @Persisted var next: Link?
  @Persisted var links: List<Link>
  @Persisted var named: Map<String, Link?>
  @Persisted var any: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class OldLink: Object {
  @Persisted var next: OldLink?
  let any = RealmProperty<AnyRealmValue>()
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Of a class that no Realm ever holds.
private class LooseLink: Object {
  @Persisted var next: LooseLink?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  deinit { LooseLink.ended.add(1, ordering: .relaxed) }
  static let ended = Atomic<Int>(0)
}

private class Part: EmbeddedObject {
  @Persisted var number: Int
  @Persisted var part: Part?
}

private class Whole: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var part: Part?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let classes: [ObjectBase.Type] = [Link.self, OldLink.self, Whole.self, Part.self]

@Suite(.ownThreads) struct LongChainTests {
  private static let many = amount(100_000, debug: 30_000)

  /// A chain of unmanaged objects, each of which is put into the next one.
  private func chain(_ join: (_ link: Link, _ rest: Link) -> Void) -> Link {
    (1..<Self.many).reduce(Link()) { rest, number in
      let link = Link()
      link.number = number
      join(link, rest)
      return link
    }
  }

  private func onSmallStackThrowing(_ body: @escaping @Sendable () throws -> Void) {
    onSmallStack {
      do { try body() } catch { Issue.record(error) }
    }
  }

  @Test func chainsInMemoryEnd() {
    onSmallStack {
      var link = chain { $0.next = $1 }
      #expect(link.next?.next?.number == Self.many - 3)
      link = chain { $0.links.append($1) }
      link = chain { $0.named["rest"] = $1 }
      link = chain { $0.any = .object($1) }
      link = chain { $0.any = .fromArray([.int(1), .object($1)]) }
      link = chain { $0.any = .fromDictionary(["rest": .object($1)]) }
      #expect(link.number == Self.many - 1)
      var old = OldLink()
      for _ in 0..<Self.many {
        let next = OldLink()
        next.any.value = .object(old)
        old = next
      }
    }
  }

  @Test func everyObjectOfAChainEndsOnce() {
    onSmallStack {
      func make() -> LooseLink {
        (1..<Self.many).reduce(LooseLink()) { rest, _ in
          let link = LooseLink()
          link.next = rest
          return link
        }
      }
      let before = LooseLink.ended.load(ordering: .relaxed)
      var link: LooseLink? = make()
      let middle = link?.next?.next
      // What somebody else holds stays.
      link = nil
      let ended = LooseLink.ended.load(ordering: .relaxed) - before
      #expect(ended >= 2 && ended <= 3)
      #expect(middle?.next != nil && link == nil)
    }
    // The schema's own instance may be among them.
    #expect([Self.many, Self.many + 1].contains(LooseLink.ended.load(ordering: .relaxed)))
  }

  @Test func nestedMixedValuesEnd() {
    onSmallStack {
      var lists = AnyRealmValue.int(1)
      var copies = AnyRealmValue.int(1)
      for _ in 0..<Self.many {
        lists = .fromArray([lists])
        copies = .fromArray([copies])
      }
      #expect(lists == copies)
      #expect(Set([lists]).contains(copies))
      var maps = AnyRealmValue.int(1)
      var others = AnyRealmValue.int(2)
      for _ in 0..<Self.many {
        maps = .fromDictionary(["a": maps])
        others = .fromDictionary(["a": others])
      }
      #expect(maps != others && maps != lists)
      #expect("\(lists)".count < 1_000)
    }
  }

  @Test func mixedValuesThatAreTooDeep() async {
    let message = "Collections inside of a mixed value can be nested at most 100 deep."
    let stored = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var value = AnyRealmValue.int(1)
      for _ in 0..<100_000 { value = .fromArray([value]) }
      let realm = try memoryRealm([Link.self])
      try realm.write { realm.create(Link.self).any = value }
    }
    expectStop(stored, message)
    let byName = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var value = AnyRealmValue.int(1)
      for _ in 0..<100_000 { value = .fromArray([value]) }
      Link().setValue(value, forKey: "any")
    }
    expectStop(byName, message)
  }

  @Test func chainsAreAddedAndDeleted() {
    onSmallStackThrowing {
      let realm = try memoryRealm(classes)
      let link = chain { $0.next = $1 }
      try realm.write { realm.add(link) }
      #expect(realm.objects(Link.self).count == Self.many)
      try realm.write { realm.add(chain { $0.links.append($1) }) }
      #expect(realm.objects(Link.self).count == 2 * Self.many)
      #expect(link.description.contains("<Maximum depth exceeded>"))
      try realm.write { realm.deleteAll() }
    }
  }

  @Test func embeddedChainsAreAddedAndDeleted() {
    onSmallStackThrowing {
      let realm = try memoryRealm(classes)
      func whole(_ count: Int) -> Whole {
        let whole = Whole()
        for number in 0..<count {
          let part = Part()
          part.number = number
          part.part = whole.part
          whole.part = part
        }
        return whole
      }
      let long = whole(Self.many)
      try realm.write { realm.add(long) }
      #expect(long.part?.part?.number == Self.many - 2)
      try realm.write { realm.delete(long) }
      #expect(realm.objects(Whole.self).isEmpty)
      let again = whole(Self.many)
      try realm.write {
        realm.add(again)
        again.part = nil
      }
      #expect(again.part == nil)
    }
  }

  @Test func copiesOfEmbeddedChains() async throws {
    let realm = try memoryRealm(classes)
    let whole = Whole()
    for number in 0..<900 {
      let part = Part()
      part.number = number
      part.part = whole.part
      whole.part = part
    }
    try realm.write { realm.add(whole) }
    let copy = Whole(value: whole)
    #expect(copy.part?.part?.part?.number == 897 && copy.part?.realm == nil)
    try realm.write { _ = realm.create(Whole.self, value: whole, update: .all) }
    #expect(whole.part?.part?.number == 898)
    let tooDeep = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let realm = try memoryRealm([Whole.self, Part.self])
      let whole = Whole()
      for _ in 0..<20_000 {
        let part = Part()
        part.part = whole.part
        whole.part = part
      }
      try realm.write { realm.add(whole) }
      _ = Whole(value: whole)
    }
    expectStop(
      tooDeep,
      "Embedded objects and collections can be copied at most 1000 deep inside of each other.")
  }

  @Test func encodingALongChainIsAnError() throws {
    let link = chain { $0.next = $1 }
    #expect(throws: EncodingError.self) { _ = try JSONEncoder().encode(link) }
    let end = Link()
    end.next = end
    #expect(throws: EncodingError.self) { _ = try JSONEncoder().encode(end) }
    end.next = nil
    var short = end
    for _ in 0..<100 {
      let next = Link()
      next.next = short
      short = next
    }
    #expect(try JSONDecoder().decode(Link.self, from: JSONEncoder().encode(short)).next != nil)
  }
}
