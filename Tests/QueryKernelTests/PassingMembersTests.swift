// The ranks of a collection's objects, against an array that is edited alike.
import ObjectStore
import Platform
import TestSupport
import Testing

@testable import RealmSwift

@Suite struct PassingMembersTests {
  @Test(arguments: [3, 40, 1_000])
  func ranksFollowTheOrderOfTheElements(objects: Int) async {
    await withSeeds { random in Self.follow(objects, &random) }
  }

  private static func follow(_ objects: Int, _ random: inout RandomGenerator) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    func object() -> Int64? { number(10) == 0 ? nil : Int64(number(objects)) }
    var model = (0..<number(60)).map { _ in object() }
    var members = PassingMembers(model)
    // Where the next one is put in: most often beside the last one.
    var place = 0
    for step in 0..<600 {
      place = min([place, place + 1, place, number(model.count + 1)][number(4)], model.count)
      let key = object()
      let edit: CollectionEdit
      switch number(5) {
      case 0 where place < model.count:
        edit = .removed(at: place)
        model.remove(at: place)
      case 1 where place < model.count:
        edit = .assigned(at: place, key.map { ObjectKey(rawValue: $0) })
        model[place] = key
      default:
        edit = .inserted(at: place, key.map { ObjectKey(rawValue: $0) })
        model.insert(key, at: place)
      }
      // Without room for a rank they are made anew.
      if members.apply(edit) == nil { members = PassingMembers(model) }
      if step % 60 == 0 { compare(members, model) }
    }
    compare(members, model)
  }

  private static func compare(_ members: PassingMembers, _ model: [Int64?]) {
    let ranks = members.ranks
    #expect(ranks.map(members.object) == model)
    #expect(zip(ranks, ranks.dropFirst()).allSatisfy { $0 < $1 })
    #expect(members.positions(of: ranks) == Array(ranks.indices))
    #expect(ranks.map(members.position) == Array(ranks.indices))
    for key in Set(model.compactMap(\.self)) {
      #expect(members.ranks(of: key).sorted() == zip(ranks, model).filter { $1 == key }.map(\.0))
    }
    #expect(members.ranks(of: -1).isEmpty)
  }

  /// Always in the middle of the last two: the room between ranks ends, and is never used twice.
  @Test func roomThatEndsIsNoticed() {
    var members = PassingMembers([1, 2])
    var edits = 0
    // By turns before and behind the last one, so that none goes on beside another.
    while members.apply(.inserted(at: 1 + edits / 2, ObjectKey(rawValue: 3))) != nil, edits < 1_000
    {
      edits += 1
    }
    #expect(edits > 10 && edits < 1_000)
    #expect(members.ranks.count == edits + 2)
    #expect(Set(members.ranks).count == edits + 2)
  }

  /// Who fills a list at one place does not run out of room.
  @Test(arguments: [0, 1])
  func manyElementsAtOnePlace(step: Int) {
    var members = PassingMembers([1, 2])
    for index in 0..<50_000 {
      let edit = CollectionEdit.inserted(at: 1 + index * step, ObjectKey(rawValue: 3))
      guard members.apply(edit) != nil else {
        Issue.record("no room after \(index)")
        return
      }
    }
    #expect(members.ranks.count == 50_002)
  }
}
