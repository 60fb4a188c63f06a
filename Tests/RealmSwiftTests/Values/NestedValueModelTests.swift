// Lists and dictionaries inside of mixed values, changed at random through many handles and
// compared with plain values.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private class Paper: Object {
  @Persisted var content: AnyRealmValue
  @Persisted var rows: List<AnyRealmValue>
  @Persisted var fields: Map<String, AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A mixed value as Swift would hold it.
private indirect enum Plain: Equatable {
  case none
  case number(Int)
  case text(String)
  case list([Plain])
  case map([String: Plain])

  init(_ value: AnyRealmValue) {
    switch value {
    case .int(let number): self = .number(number)
    case .string(let text): self = .text(text)
    case .list(let list): self = .list(list.map { Plain($0) })
    case .dictionary(let map):
      self = .map(
        Dictionary(uniqueKeysWithValues: map.asKeyValueSequence().map { ($0.0, Plain($0.1)) }))
    default: self = .none
    }
  }

  var mixed: AnyRealmValue {
    switch self {
    case .none: .none
    case .number(let number): .int(number)
    case .text(let text): .string(text)
    case .list(let values): .fromArray(values.map(\.mixed))
    case .map(let entries): .fromDictionary(entries.mapValues(\.mixed))
    }
  }

  var isCollection: Bool { elements != nil || entries != nil }
  var elements: [Plain]? { if case .list(let values) = self { values } else { nil } }
  var entries: [String: Plain]? { if case .map(let entries) = self { entries } else { nil } }

  static let keys = ["", "a", "ab", "b", "ä", "key", "a much longer key than the others"]

  static func random(_ random: inout some RandomNumberGenerator, depth: Int) -> Plain {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
    case 0: .none
    case 1, 2: .number(.random(in: 0..<5, using: &random))
    case 3: .text(String(repeating: "t", count: .random(in: 0..<40, using: &random)))
    // Long enough to be stored apart from its row.
    case 4: .text(String(repeating: "long", count: .random(in: 0..<400, using: &random)))
    case 5, 6:
      .list(
        (0..<Int.random(in: 0..<5, using: &random)).map { _ in
          Plain.random(&random, depth: depth - 1)
        })
    default:
      .map(
        Dictionary(
          (0..<Int.random(in: 0..<5, using: &random)).map { _ in
            (keys.randomElement(using: &random)!, Plain.random(&random, depth: depth - 1))
          }, uniquingKeysWith: { $1 }))
    }
  }

  /// What is at a path; nil when there is nothing.
  subscript(path: ArraySlice<PlainStep>) -> Plain? {
    get {
      guard let step = path.first else { return self }
      switch (step, self) {
      case (.index(let index), .list(let values)) where index < values.count:
        return values[index][path.dropFirst()]
      case (.key(let key), .map(let entries)): return entries[key]?[path.dropFirst()]
      default: return nil
      }
    }
    set {
      guard let step = path.first else {
        self = newValue!
        return
      }
      switch (step, self) {
      case (.index(let index), .list(var values)):
        values[index][path.dropFirst()] = newValue
        self = .list(values)
      case (.key(let key), .map(var entries)):
        entries[key]![path.dropFirst()] = newValue
        self = .map(entries)
      default: break
      }
    }
  }
}

private enum PlainStep: Hashable {
  case index(Int)
  case key(String)
}

/// A collection that the client keeps, and what leads to it.
private struct Handle {
  let path: [PlainStep]
  let value: AnyRealmValue

  var isInvalidated: Bool { value.listValue?.isInvalidated ?? value.dictionaryValue!.isInvalidated }
  var frozen: AnyRealmValue {
    value.listValue.map { .list($0.freeze()) } ?? .dictionary(value.dictionaryValue!.freeze())
  }
}

/// One object, and the same as a plain value: a dictionary of its three properties.
private final class Model {
  let realm: Realm
  let paper: Paper
  private(set) var plain = Plain.map([
    "content": .none, "rows": .list([]), "fields": .map([:]),
  ])
  private var handles: [Handle] = []
  private var frozen: [(value: AnyRealmValue, plain: Plain)] = []
  private var calls = 0

  init() throws {
    realm = try memoryRealm([Paper.self])
    let realm = realm
    paper = try realm.write { realm.create(Paper.self) }
  }

  private func expect(_ isTrue: Bool, _ text: String) {
    if !isTrue { Issue.record("\(text)") }
  }

  // MARK: - Steps

  /// A transaction of some changes, which is cancelled now and then.
  func transaction(_ random: inout some RandomNumberGenerator) throws {
    let before = plain
    let observed = handles.isEmpty ? nil : observe(handles.randomElement(using: &random)!)
    // The initial call, if it is due.
    realm.refresh()
    let hasInitial = observed?.told.hasInitial ?? false
    realm.beginWrite()
    for _ in 0..<Int.random(in: 1..<8, using: &random) {
      change(&random)
      if Int.random(in: 0..<3, using: &random) == 0 { check() }
    }
    check()
    checkQueries()
    if Int.random(in: 0..<4, using: &random) == 0 {
      realm.cancelWrite()
      plain = before
    } else {
      try realm.commitWrite()
    }
    check()
    realm.refresh()
    observed?.token.invalidate()
    if let observed, hasInitial, let old = before[observed.handle.path[...]] {
      let new = plain[observed.handle.path[...]]
      // The end of an empty collection takes nothing away.
      let isOver = (new?.elements == nil) != (old.elements == nil)
      let isEmptyEnd =
        (isOver || new?.isCollection != true) && (old == .list([]) || old == .map([:]))
      expect(
        observed.told.count > 0 || new == old || isEmptyEnd,
        "nobody told of the change at \(observed.handle.path) from \(old) to \(String(describing: new))"
      )
    }
    for handle in handles where plain[handle.path[...]] != nil && !handle.isInvalidated {
      if Int.random(in: 0..<4, using: &random) == 0 {
        frozen.append((handle.frozen, plain[handle.path[...]]!))
      }
    }
    if frozen.count > 12 { frozen.removeFirst(6) }
    for copy in frozen { expect(Plain(copy.value) == copy.plain, "a frozen copy has changed") }
    // Those that lead to nothing stay for a while: something may come there again.
    if handles.count > 12 { handles.removeFirst(4) }
  }

  private func change(_ random: inout some RandomNumberGenerator) {
    if Int.random(in: 0..<4, using: &random) == 0 { return changeRoot(&random) }
    let usable = handles.filter { !$0.isInvalidated }
    let handle: Handle
    if !usable.isEmpty, Int.random(in: 0..<3, using: &random) > 0 {
      handle = usable.randomElement(using: &random)!
    } else {
      guard let found = newHandle(&random) else { return changeRoot(&random) }
      handle = found
      handles.append(found)
    }
    if let list = handle.value.listValue {
      var values = plain[handle.path[...]]!.elements!
      Self.change(list, &values, &random)
      plain[handle.path[...]] = .list(values)
    } else if let map = handle.value.dictionaryValue {
      var entries = plain[handle.path[...]]!.entries!
      Self.change(map, &entries, &random)
      plain[handle.path[...]] = .map(entries)
    }
  }

  /// Changes what holds the mixed values.
  private func changeRoot(_ random: inout some RandomNumberGenerator) {
    let value = Plain.random(&random, depth: 4)
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      paper.content = value.mixed
      plain[[.key("content")]] = value
    case 1:
      var rows = plain[[.key("rows")]]!.elements!
      Self.change(paper.rows, &rows, &random)
      plain[[.key("rows")]] = .list(rows)
    default:
      var fields = plain[[.key("fields")]]!.entries!
      Self.change(paper.fields, &fields, &random)
      plain[[.key("fields")]] = .map(fields)
    }
  }

  /// A handle of a random collection.
  private func newHandle(_ random: inout some RandomNumberGenerator) -> Handle? {
    var (path, value): ([PlainStep], AnyRealmValue)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: (path, value) = ([.key("content")], paper.content)
    case 1:
      guard !paper.rows.isEmpty else { return nil }
      let index = Int.random(in: 0..<paper.rows.count, using: &random)
      (path, value) = ([.key("rows"), .index(index)], paper.rows[index])
    default:
      guard let key = paper.fields.keys.randomElement(using: &random) else { return nil }
      (path, value) = ([.key("fields"), .key(key)], paper.fields[key]!)
    }
    while Plain(value).isCollection {
      let handle = Handle(path: path, value: value)
      if Int.random(in: 0..<2, using: &random) == 0 { return handle }
      if let list = value.listValue {
        guard !list.isEmpty else { return handle }
        let index = Int.random(in: 0..<list.count, using: &random)
        guard Plain(list[index]).isCollection else { return handle }
        path.append(.index(index))
        value = list[index]
      } else if let map = value.dictionaryValue {
        guard let key = map.keys.randomElement(using: &random), Plain(map[key]!).isCollection else {
          return handle
        }
        path.append(.key(key))
        value = map[key]!
      }
    }
    return nil
  }

  private static func change(
    _ list: List<AnyRealmValue>, _ values: inout [Plain],
    _ random: inout some RandomNumberGenerator
  ) {
    let new = Plain.random(&random, depth: 2)
    let count = values.count
    func position(_ end: Int) -> Int { .random(in: 0..<end, using: &random) }
    let choice = Int.random(in: 0..<(count == 0 ? 4 : 15), using: &random)
    switch choice {
    case 0, 1:
      list.append(new.mixed)
      values.append(new)
    case 2:
      let index = position(count + 1)
      list.insert(new.mixed, at: index)
      values.insert(new, at: index)
    case 3:
      let added = [new, .number(7), new]
      let index = position(count + 1)
      list.insert(contentsOf: added.map(\.mixed), at: index)
      values.insert(contentsOf: added, at: index)
    case 4:
      list.append(objectsIn: Array(list))
      if list.count > 30 {
        list.removeSubrange(10...)
        values = Array((values + values)[..<10])
      } else {
        values += values
      }
    case 5:
      let index = position(count)
      list[index] = new.mixed
      values[index] = new
    case 6:
      // What is inside of it already.
      let (from, to) = (position(count), position(count))
      list[to] = list[from]
      values[to] = values[from]
    case 7:
      let index = position(count)
      list.remove(at: index)
      values.remove(at: index)
    case 8:
      list.removeFirst()
      values.removeFirst()
    case 9:
      list.removeLast()
      values.removeLast()
    case 10:
      let (first, second) = (position(count), position(count))
      list.move(from: first, to: second)
      values.insert(values.remove(at: first), at: second)
    case 11:
      let (first, second) = (position(count), position(count))
      list.swapAt(first, second)
      values.swapAt(first, second)
    case 12:
      let offsets = IndexSet((0..<3).map { _ in position(count) })
      list.remove(atOffsets: offsets)
      for offset in offsets.reversed() { values.remove(at: offset) }
    case 13:
      let offsets = IndexSet((0..<3).map { _ in position(count) })
      let target = position(count + 1)
      list.move(fromOffsets: offsets, toOffset: target)
      let moved = offsets.map { values[$0] }
      let before = values[..<target].indices.filter { !offsets.contains($0) }.map { values[$0] }
      let behind = values[target...].indices.filter { !offsets.contains($0) }.map { values[$0] }
      values = before + moved + behind
    default:
      let start = position(count)
      let range = start..<start + position(count - start + 1)
      list.replaceSubrange(range, with: [new.mixed])
      values.replaceSubrange(range, with: [new])
    }
  }

  private static func change(
    _ map: Map<String, AnyRealmValue>, _ entries: inout [String: Plain],
    _ random: inout some RandomNumberGenerator
  ) {
    let new = Plain.random(&random, depth: 2)
    let key = Plain.keys.randomElement(using: &random)!
    switch Int.random(in: 0..<9, using: &random) {
    case 0...4:
      map[key] = new.mixed
      entries[key] = new
    case 5, 6:
      map[key] = nil
      entries[key] = nil
    case 7:
      let added = [("a", new), (key, .number(1))]
      map.merge(added.map { ($0.0, $0.1.mixed) }) { $1 }
      for (key, value) in added { entries[key] = value }
    default:
      map.removeAll()
      entries.removeAll()
    }
  }

  // MARK: - Checks

  private func check() {
    expect(Plain(paper.content) == plain[[.key("content")]], "the content differs")
    expect(Plain(.list(paper.rows)) == plain[[.key("rows")]], "the rows differ")
    expect(Plain(.dictionary(paper.fields)) == plain[[.key("fields")]], "the fields differ")
    for handle in handles {
      let there = plain[handle.path[...]]
      let isThere =
        handle.value.listValue == nil ? there?.entries != nil : there?.elements != nil
      expect(handle.isInvalidated != isThere, "\(handle.path) is there: \(isThere)")
      if !isThere || handle.isInvalidated { continue }
      expect(Plain(handle.value) == there, "\(handle.path) differs")
      // One by one, and often enough for what is read to be kept.
      if let list = handle.value.listValue, let values = there?.elements {
        expect(list.count == values.count, "the count of \(handle.path) differs")
        for index in values.indices {
          expect(Plain(list[index]) == values[index], "\(handle.path) differs at \(index)")
        }
      } else if let map = handle.value.dictionaryValue, let entries = there?.entries {
        for key in Plain.keys {
          expect(map[key].map { Plain($0) } == entries[key], "\(handle.path) differs at \(key)")
        }
      }
    }
  }

  private func checkQueries() {
    let content = plain[[.key("content")]]!
    let papers = realm.objects(Paper.self)
    let isNumber = content.entries?["a"] == .number(1)
    expect(
      papers.where { $0.content["a"] == .int(1) }.count == (isNumber ? 1 : 0), "a query for a key")
    let holds = content.elements?.contains(.number(2)) ?? false
    expect(
      papers.filter("content[*] == 2").isEmpty
        != (holds || content.entries?.values.contains(.number(2)) ?? false),
      "a query for an element")
    for handle in handles where !handle.isInvalidated {
      guard let list = handle.value.listValue, let values = plain[handle.path[...]]?.elements else {
        continue
      }
      expect(
        list.filter("self == 3").count == values.filter { $0 == .number(3) }.count,
        "a query of the list \(handle.path)")
    }
  }

  // MARK: - Observers

  private final class Told {
    var old: [Plain]?
    var hasInitial = false
    var count = 0
  }

  private func observe(
    _ handle: Handle
  ) -> (handle: Handle, token: NotificationToken, told: Told)? {
    if handle.isInvalidated { return nil }
    let told = Told()
    if let list = handle.value.listValue {
      told.old = list.map { Plain($0) }
      let token = list.observe { change in
        if case .initial(let list) = change {
          told.hasInitial = true
          told.old = list.map { Plain($0) }
        }
        guard case .update(let list, let deletions, let insertions, let modifications) = change
        else { return }
        told.count += 1
        let new = list.isInvalidated ? [] : list.map { Plain($0) }
        let stayed = told.old!.indices.filter { !deletions.contains($0) }.map { told.old![$0] }
        let places = new.indices.filter { !insertions.contains($0) }
        if stayed.count != places.count {
          Issue.record("\(deletions) \(insertions) do not fit")
          return
        }
        for (old, place) in zip(stayed, places) where !modifications.contains(place) {
          if old != new[place] { Issue.record("nobody told of a change at \(place)") }
        }
        told.old = new
      }
      return (handle, token, told)
    }
    let map = handle.value.dictionaryValue!
    var old = Plain(handle.value).entries!
    let token = map.observe { change in
      if case .initial(let map) = change {
        told.hasInitial = true
        old = Plain(.dictionary(map)).entries!
      }
      guard case .update(let map, let deletions, let insertions, let modifications) = change else {
        return
      }
      told.count += 1
      let new = map.isInvalidated ? [:] : Plain(.dictionary(map)).entries!
      for key in Plain.keys {
        let isRight =
          switch (old[key], new[key]) {
          case (nil, nil): true
          case (nil, _?): insertions.contains(key)
          case (_?, nil): deletions.contains(key)
          case (let before?, let after?): before == after || modifications.contains(key)
          }
        if !isRight { Issue.record("the change of '\(key)' was told wrongly") }
      }
      old = new
    }
    return (handle, token, told)
  }
}

@MainActor @Suite(.ownThreads) struct NestedValueModelTests {
  @Test func nestedValuesEqualPlainOnes() async {
    await withSeeds(amount(40, debug: 8)) { random in
      var generator = random
      try await MainActor.run {
        let model = try Model()
        for _ in 0..<40 { try model.transaction(&generator) }
        #expect(try model.realm.checkInvariants().findings == [])
      }
      random = generator
    }
  }
}
