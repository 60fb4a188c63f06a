// Changes of elements by position: noted one by one, composed, found by comparing; against arrays.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct ElementChangesTests {
  /// An element that is told from all others, and how often it was assigned.
  private struct Element: Equatable {
    let number: Int
    var assignments = 0
  }

  /// Makes `new` of `old`: kept elements have to be the same, assigned ones to stand in for each
  /// other.
  private static func check(
    _ changes: ElementChanges, _ old: [Element], _ new: [Element], tells isExact: Bool
  ) {
    var (left, right) = (0, 0)
    for run in changes.runs {
      for _ in 0..<run.count {
        switch run.kind {
        case .kept: #expect(old[left] == new[right], "\(changes.runs)")
        case .modified:
          if isExact {
            #expect(old[left].number == new[right].number)
            #expect(old[left].assignments < new[right].assignments)
          }
        case .inserted: #expect(!isExact || !old.contains { $0.number == new[right].number })
        case .deleted: #expect(!isExact || !new.contains { $0.number == old[left].number })
        }
        if run.kind.isInOld { left += 1 }
        if run.kind.isInNew { right += 1 }
      }
    }
    #expect(Array(old[left...]) == Array(new[right...]), "\(changes.runs)")
    for (first, second) in zip(changes.runs, changes.runs.dropFirst()) {
      #expect(first.kind != second.kind)
      #expect(!(first.kind == .inserted && second.kind == .deleted))
    }
    #expect(changes.runs.last?.kind != .kept && !changes.runs.contains { $0.count <= 0 })
  }

  @Test func notesComposeExactly() async {
    await withSeeds(40) { random in
      var next = 0
      func made() -> Element {
        defer { next += 1 }
        return Element(number: next)
      }
      let start = (0..<Int.random(in: 0...12, using: &random)).map { _ in made() }
      var elements = start
      var all = ElementChanges()
      var merged = ElementChanges()
      for _ in 0..<8 {
        let before = elements
        var part = ElementChanges()
        for _ in 0..<Int.random(in: 0...6, using: &random) {
          let place = Int.random(in: 0...elements.count, using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0, 1:
            let count = Int.random(in: 1...3, using: &random)
            elements.insert(contentsOf: (0..<count).map { _ in made() }, at: place)
            part.insert(at: place, count: count)
            all.insert(at: place, count: count)
          case 2:
            let end = min(place + Int.random(in: 0...3, using: &random), elements.count)
            elements.removeSubrange(place..<end)
            part.remove(place..<end)
            all.remove(place..<end)
          default:
            if place == elements.count { continue }
            elements[place].assignments += 1
            part.modify(at: place)
            all.modify(at: place)
          }
        }
        Self.check(part, before, elements, tells: true)
        merged.merge(part)
        Self.check(merged, start, elements, tells: true)
        #expect(merged == all)
      }
      for (position, element) in start.enumerated() {
        #expect(
          all.newPosition(ofOld: position) == elements.firstIndex { $0.number == element.number })
      }
      let positions = (0..<start.count + 3).shuffled(using: &random)
      #expect(
        all.newPositions(ofOld: positions) == positions.map { all.newPosition(ofOld: $0) })
    }
  }

  @Test func aMoveIsARemovalAndAnInsertion() {
    var changes = ElementChanges()
    changes.move(from: 1, to: 3)
    var told: [[Int]] = []
    changes.forEach { kind, old, new, count in told.append([Int(kind.rawValue), old, new, count]) }
    #expect(told == [[3, 1, 1, 1], [2, 4, 3, 1]])
  }

  /// Each copied all runs: with many changes of a large set that took for ever.
  @Test func appendingCopiesNoRuns() {
    var changes = ElementChanges()
    var places: [UnsafeRawPointer?] = []
    for number in 0..<4_000 {
      changes.append(number % 2 == 0 ? .deleted : .kept, 1)
      let place = changes.runs.withUnsafeBytes { $0.baseAddress }
      if places.last != place { places.append(place) }
    }
    #expect(changes.runs.count == 4_000)
    // As often as an array has to grow.
    #expect(places.count < 40, "\(places.count) copies")
  }

  @Test func listsAreComparedWithFewChanges() async {
    await withSeeds(30) { random in
      let schema = TableSchema(
        name: "Lists",
        columns: [
          ColumnSchema(
            name: "texts", type: .string, isOptional: true, isIndexed: false, collection: .list),
          ColumnSchema(
            name: "numbers", type: .int, isOptional: true, isIndexed: false, collection: .list),
        ], primaryKey: nil, isEmbedded: false)
      let editor = BlockEditor.inMemory()
      let group = GroupTransaction(editor, root: .none)
      group.createTable(schema)
      let table = group.schema.tables[0]
      let (first, second) = (group.insert(table), group.insert(table))
      let kinds = Int.random(in: 2...40, using: &random)
      var old = (0..<Int.random(in: 0...600, using: &random)).map { _ in
        Int.random(in: 0..<kinds, using: &random)
      }
      if random.oneIn(5) { old = [] }
      var new = old
      for _ in 0..<Int.random(in: 0...(random.oneIn(4) ? 400 : 6), using: &random) {
        let place = Int.random(in: 0...new.count, using: &random)
        if random.oneIn(2) {
          new.insert(Int.random(in: 0..<kinds, using: &random), at: place)
        } else if place < new.count {
          new.remove(at: place)
        }
      }
      for (key, values) in [(first, old), (second, new)] {
        for value in values {
          [UInt8]("text \(value)".utf8).withUnsafeBytes {
            group.listAppend(table, key, 0, value == 0 ? .null : .bytes($0))
          }
          group.listAppend(table, key, 1, value == 0 ? .null : .integer(Int64(value)))
        }
      }
      // Two objects of one version stand for one object of two versions.
      let reader = group.reader(table)
      let pair = (reader.locate(first)!, reader.locate(second)!)
      for column in [0, 1] {
        let changes = ElementChanges.between(
          reader.elements(pair.0, column), reader.elements(pair.1, column), .list)
        Self.check(
          changes, old.map { Element(number: $0) }, new.map { Element(number: $0) }, tells: false)
        if old == new { #expect(changes.isEmpty) }
      }
    }
  }
}
