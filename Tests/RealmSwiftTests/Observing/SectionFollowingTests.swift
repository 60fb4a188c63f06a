// Sections that are observed, whatever makes them: after each change of the Realm they are what a
// loop over the results finds, and what their observers were told leads there from what they knew.
import Dispatch
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

private class SortedPiece: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var letter: String
  @Persisted var rank: Int
  @Persisted var isOpen: Bool
  @Persisted var tag: PieceTag?
  @Persisted var next: SortedPiece?
  @Persisted(originProperty: "pieces") var boxes: LinkingObjects<PieceBox>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PieceTag: Object {
  @Persisted var name: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PieceBox: Object {
  @Persisted var name: String
  @Persisted var pieces: List<SortedPiece>
  @Persisted var numbers: List<Int>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Sections of one kind, as text: of each section the key, and what tells its elements apart.
private struct SectionedThing {
  typealias Content = [(key: String, elements: [String])]

  let name: String
  /// What the sections are.
  let content: () -> Content
  /// What they have to be.
  let expected: () -> Content
  /// Observes them.
  let observe: ([String]?, @escaping (Told) -> Void) -> NotificationToken

  /// What an observer is told.
  struct Told {
    let isFirst: Bool
    var deletions: [IndexPath] = []
    var insertions: [IndexPath] = []
    var modifications: [IndexPath] = []
    var came = IndexSet()
    var went = IndexSet()
  }

  init<Key: _Persistable & Hashable, Element: RealmCollectionValue>(
    _ name: String, _ sections: SectionedResults<Key, Element>, of elements: some Sequence<Element>,
    isOrdered: ((Key, Key) -> Bool)? = nil, _ text: @escaping (Element) -> String,
    _ key: @escaping (Element) -> Key
  ) {
    self.name = name
    content = { sections.map { section in ("\(section.key)", section.map(text)) } }
    expected = {
      var keys: [Key] = []
      var found: [Key: [String]] = [:]
      for element in elements {
        let key = key(element)
        if found[key] == nil { keys.append(key) }
        found[key, default: []].append(text(element))
      }
      if let isOrdered { keys.sort(by: isOrdered) }
      return keys.map { ("\($0)", found[$0]!) }
    }
    observe = { keyPaths, note in
      sections.observe(keyPaths: keyPaths) { change in
        switch change {
        case .initial: note(Told(isFirst: true))
        case .update(_, let deletions, let insertions, let modifications, let came, let went):
          note(
            Told(
              isFirst: false, deletions: deletions, insertions: insertions,
              modifications: modifications, came: came, went: went))
        }
      }
    }
  }

  /// Sections of all kinds.
  static func all(_ realm: Realm, _ box: PieceBox) -> [SectionedThing] {
    let pieces = realm.objects(SortedPiece.self)
    let byLetter = [SortDescriptor(keyPath: "letter"), SortDescriptor(keyPath: "rank")]
    let byRank = [SortDescriptor(keyPath: "rank"), SortDescriptor(keyPath: "id")]
    let id: (SortedPiece) -> String = { "\($0.id)" }
    let letter: (SortedPiece) -> String = { $0.letter }
    let remainder: (SortedPiece) -> Int = { $0.id % 5 }
    let tag: (SortedPiece) -> String? = { $0.tag?.name }
    let nextLetters: (SortedPiece) -> String = {
      ($0.next?.letter ?? "-") + ($0.next?.next?.letter ?? "-")
    }
    let boxes: (SortedPiece) -> Int = { $0.boxes.count }
    let boxNames: (SortedPiece) -> String = { $0.boxes.map(\.name).sorted().joined() }
    let third: (Int) -> Int = { $0 % 3 }
    let open = pieces.where { $0.isOpen }
    let numbers = box.numbers
    return [
      SectionedThing(
        "one after the other", pieces.sectioned(by: letter, sortDescriptors: byLetter),
        of: pieces.sorted(by: byLetter), id, letter),
      SectionedThing(
        "among each other", pieces.sectioned(by: letter, sortDescriptors: byRank),
        of: pieces.sorted(by: byRank), id, letter),
      SectionedThing(
        "by what never changes", open.sectioned(by: remainder, sortDescriptors: byRank),
        of: open.sorted(by: byRank), id, remainder),
      SectionedThing(
        "in the order of keys", pieces.sectioned(by: letter), of: pieces, isOrdered: <, id, letter),
      SectionedThing(
        "in the order of keys, downwards", open.sectioned(by: remainder, ascending: false),
        of: open, isOrdered: >, id, remainder),
      SectionedThing(
        "by a property", open.sectioned(by: \.letter), of: open.sorted(byKeyPath: "letter"), id,
        letter),
      SectionedThing(
        "by an open property", pieces.sectioned(by: \.isOpen, ascending: false),
        of: pieces.sorted(byKeyPath: "isOpen", ascending: false), id, { $0.isOpen }),
      SectionedThing(
        "by a link", pieces.sectioned(by: tag, sortDescriptors: byRank),
        of: pieces.sorted(by: byRank), id, tag),
      SectionedThing(
        "by links among the elements", pieces.sectioned(by: nextLetters), of: pieces, isOrdered: <,
        id, nextLetters),
      SectionedThing(
        "by the number of boxes", pieces.sectioned(by: boxes, sortDescriptors: byRank),
        of: pieces.sorted(by: byRank), id, boxes),
      SectionedThing(
        "by the names of boxes", pieces.sectioned(by: boxNames), of: pieces, isOrdered: <, id,
        boxNames),
      SectionedThing(
        "of a list", box.pieces.sectioned(by: letter), of: box.pieces, isOrdered: <, id, letter),
      SectionedThing(
        "of numbers", numbers.sectioned(by: third), of: numbers.sorted(byKeyPath: "self"),
        isOrdered: nil, { "\($0)" }, third),
    ]
  }
}

/// What an observer knows by what it was told.
private final class SectionMirror {
  let thing: SectionedThing
  let keyPaths: [String]?
  private(set) var known: [[String]] = []
  private(set) var token: NotificationToken?

  init(_ thing: SectionedThing, _ keyPaths: [String]?) {
    (self.thing, self.keyPaths) = (thing, keyPaths)
    token = thing.observe(keyPaths) { [unowned self] in note($0) }
  }

  private func note(_ told: SectionedThing.Told) {
    let now = thing.content().map(\.elements)
    if told.isFirst {
      known = now
      return
    }
    for path in told.deletions.reversed() { known[path[0]].remove(at: path[1]) }
    for section in told.went.reversed() {
      #expect(known[section] == [])
      known.remove(at: section)
    }
    for section in told.came { known.insert([], at: section) }
    for path in told.insertions { known[path[0]].insert(now[path[0]][path[1]], at: path[1]) }
    for path in told.modifications { known[path[0]][path[1]] = now[path[0]][path[1]] }
  }

  /// Knows what is there now.
  func look() { known = thing.content().map(\.elements) }

  func end() { token?.invalidate() }
}

@Suite(.ownThreads) struct SectionFollowingTests {
  @Test(arguments: seedsInTurn(1...8))
  func areWhatALoopFinds(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let queue = DispatchQueue(label: "sections")
      try queue.sync { try Self.follow(on: queue, &random) }
    }
  }

  private func content(_ sections: SectionedResults<String, SortedPiece>) -> [String: [Int]] {
    Dictionary(uniqueKeysWithValues: sections.map { ($0.key, $0.map(\.id)) })
  }

  /// An element that leads to a changed one has another key.
  @Test func areFoundAnewByLinksInATransaction() throws {
    let realm = try memoryRealm([SortedPiece.self, PieceTag.self, PieceBox.self])
    try realm.write {
      let pieces = (0..<4).map { realm.create(SortedPiece.self, value: ["id": $0, "letter": "a"]) }
      for (piece, next) in zip(pieces, pieces.dropFirst()) { piece.next = next }
      let sections = realm.objects(SortedPiece.self).sectioned { $0.next?.next?.letter ?? "-" }
      #expect(content(sections) == ["a": [0, 1], "-": [2, 3]])
      pieces[2].letter = "b"
      #expect(content(sections) == ["b": [0], "a": [1], "-": [2, 3]])
      pieces[3].letter = "b"
      #expect(content(sections) == ["b": [0, 1], "-": [2, 3]])
      pieces[1].next = nil
      #expect(content(sections) == ["-": [0, 1, 2, 3]])
    }
  }

  /// What one transaction has told says nothing of the next one.
  @Test func areNotThoseOfAnEarlierTransaction() throws {
    let realm = try memoryRealm([SortedPiece.self, PieceTag.self, PieceBox.self])
    try realm.write {
      for id in 0..<4 { realm.create(SortedPiece.self, value: ["id": id, "letter": "a"]) }
    }
    let pieces = realm.objects(SortedPiece.self)
    let sections = pieces.sectioned { $0.letter }
    var expected = ["a": [0, 1, 2, 3]]
    for letter in ["b", "c", "d", "e"] {
      try realm.write {
        #expect(content(sections) == expected)
        pieces[0].rank += 1
        _ = content(sections)
        pieces[1].letter = letter
      }
      try realm.write {
        pieces[2].rank += 1
        pieces[3].rank += 1
        expected = ["a": [0, 2, 3], letter: [1]]
        #expect(content(sections) == expected)
      }
    }
  }

  private static func follow(on queue: DispatchQueue, _ random: inout RandomGenerator) throws {
    let configuration = memoryConfiguration([SortedPiece.self, PieceTag.self, PieceBox.self])
    let realm = try Realm(configuration: configuration, queue: queue)
    let other = try Realm(configuration: configuration, queue: queue)
    let box = try realm.write {
      for name in ["x", "y"] { realm.create(PieceTag.self, value: ["name": name]) }
      _ = realm.create(PieceBox.self, value: ["name": "other"])
      return realm.create(PieceBox.self, value: ["name": "main"])
    }
    let things = SectionedThing.all(realm, box)
    // Nobody observes these.
    let alone = SectionedThing.all(realm, box)
    let mirrors = things.flatMap { thing in
      let isOfObjects = thing.name != "of numbers"
      let paths: [[String]?] = isOfObjects ? [nil, [], ["rank"], nil] : [nil, []]
      return paths.map { SectionMirror(thing, $0) }
    }
    defer { mirrors.forEach { $0.end() } }
    realm.refresh()
    var nextID = 0
    for round in 0..<amount(120, debug: 24) {
      let isOther = random.next() % 3 == 0
      let writer = isOther ? other : realm
      var skipped: [SectionMirror] = []
      if !isOther, random.next() % 6 == 0 {
        skipped = mirrors.filter { _ in random.next() % 3 == 0 }
      }
      try writer.write(withoutNotifying: skipped.compactMap(\.token)) {
        let count = random.next() % 8 == 0 ? 60 : 1 + random.next() % 4
        let areAsked = !isOther && random.next() % 4 == 0
        for _ in 0..<count {
          change(writer, &nextID, &random)
          // In the running transaction, too.
          if areAsked, random.next() % 2 == 0 {
            compare(things + alone, "in round \(round)")
          }
        }
      }
      realm.refresh()
      if random.next() % 2 == 0 { compare(things + alone, "after round \(round)") }
      for mirror in mirrors {
        let now = mirror.thing.expected().map(\.elements)
        // Who is not told of it is told of the next change only.
        if skipped.contains(where: { $0 === mirror }) { mirror.look() }
        let keyPaths = mirror.keyPaths ?? ["all"]
        #expect(mirror.known == now, "\(mirror.thing.name), \(keyPaths), after round \(round)")
      }
    }
  }

  private static func compare(_ things: [SectionedThing], _ place: String) {
    for thing in things {
      let (content, expected) = (thing.content(), thing.expected())
      #expect(content.map(\.key) == expected.map(\.key), "\(thing.name) \(place)")
      #expect(content.map(\.elements) == expected.map(\.elements), "\(thing.name) \(place)")
    }
  }

  private static func change(
    _ realm: Realm, _ nextID: inout Int, _ random: inout RandomGenerator
  ) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let pieces = realm.objects(SortedPiece.self)
    let piece = pieces.isEmpty ? nil : pieces[number(pieces.count)]
    let tags = realm.objects(PieceTag.self)
    let boxes = realm.objects(PieceBox.self)
    let box = boxes[number(boxes.count)]
    let letters = ["a", "b", "c", "d"]
    if number(8) == 0 { piece?.next = number(4) == 0 ? nil : pieces[number(pieces.count)] }
    switch number(16) {
    case 0...2:
      nextID += 1
      let new = realm.create(SortedPiece.self, value: ["id": nextID])
      (new.letter, new.rank, new.isOpen) = (letters[number(4)], number(20), number(2) == 0)
    case 3: if let piece { realm.delete(piece) }
    case 4, 5: piece?.letter = letters[number(4)]
    case 6, 7: piece?.rank = number(20)
    case 8: piece?.isOpen.toggle()
    case 9: piece?.tag = number(3) == 0 ? nil : tags[number(tags.count)]
    case 10: tags[number(tags.count)].name = ["x", "y", "z"][number(3)]
    case 11: if let piece { box.pieces.insert(piece, at: number(box.pieces.count + 1)) }
    case 12: if !box.pieces.isEmpty { box.pieces.remove(at: number(box.pieces.count)) }
    case 13: box.name = ["main", "other", "third"][number(3)]
    case 14:
      box.numbers.insert(number(30), at: number(box.numbers.count + 1))
      if box.numbers.count > 8 { box.numbers.remove(at: number(8)) }
    default:
      if number(10) == 0 { realm.delete(pieces) }
      if number(10) == 0 { box.pieces.removeAll() }
    }
  }
}
