// Which elements of a query may have come, gone, moved or changed in a step, found from what
// changed in it.
internal import ObjectStore

/// The elements that have to be looked at, as they were and as they are.
///
/// Elements of the older version are candidates exactly where those that they have become are.
struct KeyedCandidates {
  /// By older ranks; some are no elements of the query's source.
  var old: [KeyedElement] = []
  /// By newer ranks; those of the query's source, before its condition.
  var new: [KeyedElement] = []
  /// How often an element of the newer version is there, if not once; by key.
  var copies: [Int64: Int] = [:]
  /// How ranks have changed; nil when they have not.
  var shift: RankShift?
}

/// How positions of a list's elements have changed, by what its change set says.
struct RankShift {
  /// Where a run of kept or assigned elements began, and how far it went.
  private var starts: [Int] = [0]
  private var moves: [Int] = [0]
  /// The same by newer positions.
  private var newStarts: [Int] = [0]
  private var deleted: [Range<Int>] = []
  private var inserted: [Range<Int>] = []

  /// Nil when positions are what they were.
  init?(_ changes: ElementChanges) {
    changes.forEach { kind, old, new, count in
      switch kind {
      case .kept, .modified: break
      case .deleted:
        deleted.append(old..<old + count)
        add(old + count, new - old - count)
      case .inserted:
        inserted.append(new..<new + count)
        add(old, new + count - old)
      }
    }
    if deleted.isEmpty && inserted.isEmpty { return nil }
  }

  private mutating func add(_ start: Int, _ move: Int) {
    if starts.last == start {
      moves[moves.count - 1] = move
      newStarts[newStarts.count - 1] = start + move
    } else {
      starts.append(start)
      moves.append(move)
      newStarts.append(start + move)
    }
  }

  private static func contains(_ ranges: [Range<Int>], _ position: Int) -> Bool {
    let next = ranges.lowerBound { $0.upperBound <= position }
    return next < ranges.count && ranges[next].contains(position)
  }

  /// The newer rank; nil when the element was taken out.
  func newer(_ rank: Int64) -> Int64? {
    let position = Int(rank)
    if Self.contains(deleted, position) { return nil }
    let run = starts.lowerBound { $0 <= position } - 1
    return rank + Int64(moves[run])
  }

  /// Makes all ranks the newer ones; those of elements that were taken out mean nothing then.
  func shift(_ ranks: inout [Int64]) {
    // Of few runs: to go through all ranks for each, with nothing but an addition, takes less than
    // to look for the run of each.
    if starts.count > 5 {
      for index in ranks.indices { ranks[index] = newer(ranks[index]) ?? ranks[index] }
      return
    }
    ranks.withUnsafeMutableBufferPointer { ranks in
      for run in starts.indices.reversed() {
        let start = Int64(starts[run])
        let move = Int64(moves[run] - (run > 0 ? moves[run - 1] : 0))
        if move == 0 { continue }
        for index in ranks.indices {
          ranks[index] &+= ranks[index] >= start ? move : 0
        }
      }
    }
  }

  /// The older rank; nil when the element was put in.
  func older(_ rank: Int64) -> Int64? {
    let position = Int(rank)
    if Self.contains(inserted, position) { return nil }
    let run = newStarts.lowerBound { $0 <= position } - 1
    return rank - Int64(moves[run])
  }
}

extension KeyedQuery {
  /// What a step may have changed.
  ///
  /// - Parameters:
  ///   - affected: objects that may have come, gone, moved or changed by their values.
  ///   - known: all that were elements, or from which they were chosen.
  /// - Returns: nil when that cannot be told.
  func candidates(
    _ step: VersionStep, affected: ChangedObjects, known: () -> [KeyedElement]
  ) -> KeyedCandidates? {
    switch source {
    case .table: tableCandidates(step, affected, known)
    case .backlinks(let target, let column):
      linkingCandidates(step, affected, target, column, known)
    case .cell(let cell): cellCandidates(step, affected, cell)
    case .values(let cell): valueCandidates(step, cell)
    }
  }

  private func tableCandidates(
    _ step: VersionStep, _ affected: ChangedObjects, _ known: () -> [KeyedElement]
  ) -> KeyedCandidates {
    let changes = step.changes(table)
    var result = KeyedCandidates()
    if changes?.isCleared == true {
      result.old = known()
    } else {
      for key in affected.keys where changes?.isNew(key) != true {
        result.old.append(Self.element(key))
        result.new.append(Self.element(key))
      }
      changes?.deleted.forEach { result.old.append(Self.element($0)) }
    }
    step.forEachNew(table) {
      result.new.append(Self.element($0))
      return true
    }
    return result
  }

  private static func element(_ key: ObjectKey) -> KeyedElement {
    KeyedElement(key: key.rawValue, rank: key.rawValue)
  }

  private func linkingCandidates(
    _ step: VersionStep, _ affected: ChangedObjects,
    _ target: (table: TablePointer, key: ObjectKey), _ column: Int,
    _ known: () -> [KeyedElement]
  ) -> KeyedCandidates? {
    guard let targetTable = target.table.pointee.binding.table else { return nil }
    let links = step.reader(table).backlinks(column, target.key, in: targetTable)
    var objects = affected.keys
    if let changes = step.changes(table) {
      if changes.isCleared { objects = Set(known().map { ObjectKey(rawValue: $0.key) }) }
      let columnKey = step.schema.tables[table].columnKeys[column]
      for (key, columns) in changes.modified where columns.contains(columnKey) {
        objects.insert(key)
      }
      // Those that are new come behind all others.
      for position in links.count(before: changes.firstNewKey)..<links.count {
        objects.insert(links.key(at: position))
      }
      for key in changes.deleted { objects.insert(key) }
    }
    var result = KeyedCandidates()
    for key in objects {
      let element = Self.element(key)
      let count = links.count(of: key)
      result.old.append(element)
      if count > 0 { result.new.append(element) }
      if count > 1 { result.copies[key.rawValue] = count }
    }
    return result
  }

  private func cellCandidates(
    _ step: VersionStep, _ affected: ChangedObjects, _ cell: CollectionCell
  ) -> KeyedCandidates? {
    var result = KeyedCandidates()
    var old: Set<Int64> = []
    var new: Set<Int64> = []
    if let elements = step.elementChanges(cell.storedTable.index, cell.key, cell.column) {
      result.shift = RankShift(elements)
      elements.forEach { kind, first, now, count in
        if kind.isInOld { old.formUnion((first..<first + count).map { Int64($0) }) }
        if kind.isInNew { new.formUnion((now..<now + count).map { Int64($0) }) }
      }
    }
    for position in cell.positions(of: affected, in: step) {
      let rank = Int64(position)
      new.insert(rank)
      if let shift = result.shift {
        if let before = shift.older(rank) { old.insert(before) }
      } else {
        old.insert(rank)
      }
    }
    guard let elements = cell.elements(in: step, isOld: false) else { return nil }
    for rank in new {
      guard let key = elements.link(at: Int(rank)) else { continue }
      result.new.append(KeyedElement(key: key.rawValue, rank: rank))
    }
    if old.isEmpty { return result }
    guard let before = cell.elements(in: step, isOld: true) else { return nil }
    for rank in old {
      guard let key = before.link(at: Int(rank)) else { continue }
      result.old.append(KeyedElement(key: key.rawValue, rank: rank))
    }
    return result
  }

  /// Positions are keys and ranks; those that only move are no candidates.
  private func valueCandidates(_ step: VersionStep, _ cell: CollectionCell) -> KeyedCandidates {
    var result = KeyedCandidates()
    guard let elements = step.elementChanges(cell.storedTable.index, cell.key, cell.column) else {
      return result
    }
    result.shift = RankShift(elements)
    elements.forEach { kind, first, now, count in
      if kind.isInOld {
        result.old += (first..<first + count).map { Self.element(ObjectKey(rawValue: Int64($0))) }
      }
      if kind.isInNew {
        result.new += (now..<now + count).map { Self.element(ObjectKey(rawValue: Int64($0))) }
      }
    }
    return result
  }

  /// The positions of values that were assigned, as keys.
  func assignedValues(_ step: VersionStep) -> Set<ObjectKey> {
    guard case .values(let cell) = source else { return [] }
    var keys: Set<ObjectKey> = []
    step.elementChanges(cell.storedTable.index, cell.key, cell.column)?.forEach {
      kind, _, now, count in
      if kind == .modified {
        keys.formUnion((now..<now + count).map { ObjectKey(rawValue: Int64($0)) })
      }
    }
    return keys
  }
}
