// Where the elements of sections are among the results, and what becomes of that when elements come
// and go: the others are moved, and not looked at.

/// Where the elements of sections are among the results.
enum SectionPlaces: Equatable {
  /// One section after the other: where each begins, and where the last one ends.
  case runs([Int])
  /// Sections whose elements lie among those of others.
  case listed(ListedSections)

  /// An element that is put among others.
  struct Added {
    /// The position that it has afterwards.
    let position: Int
    let section: Int
  }

  /// The elements of all sections.
  var count: Int {
    switch self {
    case .runs(let starts): starts[starts.count - 1]
    case .listed(let listed): listed.sections.count
    }
  }

  subscript(section: Int) -> SectionPositions {
    switch self {
    case .runs(let starts): .run(starts[section]..<starts[section + 1])
    case .listed(let listed): .listed(listed.positions[section])
    }
  }

  /// The place of an element, given by its position among all.
  func place(of position: Int) -> SectionPlace {
    switch self {
    case .runs(let starts):
      let section = starts.lowerBound { $0 <= position } - 1
      return SectionPlace(section: section, item: position - starts[section])
    case .listed(let listed):
      let section = Int(listed.sections[position])
      return SectionPlace(
        section: section, item: listed.positions[section].lowerBound { $0 < UInt32(position) })
    }
  }

  /// The section of an element, and up to where the elements behind it are known to be in it too.
  ///
  /// - Parameter section: that of an element before it, or 0.
  func stretch(at position: Int, behind section: Int) -> (section: Int, end: Int) {
    switch self {
    case .runs(let starts):
      var section = section
      while starts[section + 1] <= position { section += 1 }
      return (section, starts[section + 1])
    case .listed(let listed): return (Int(listed.sections[position]), position + 1)
    }
  }

  // MARK: - Finding

  /// Begins a section with the positions behind all others, up to `end`.
  mutating func beginSection(end: Int) {
    switch self {
    case .runs(var starts):
      self = .runs([])
      starts.append(end)
      self = .runs(starts)
    case .listed(var listed):
      self = .runs([])
      // There is one of them: what is found by runs is never listed.
      listed.sections.append(UInt32(listed.positions.count))
      listed.positions.append([UInt32(end - 1)])
      self = .listed(listed)
    }
  }

  /// Adds the position behind all others to a section.
  mutating func add(_ position: Int, to section: Int) {
    switch self {
    case .runs(var starts) where section == starts.count - 2:
      self = .runs([])
      starts[section + 1] = position + 1
      self = .runs(starts)
    case .runs(let starts):
      let sections = 0..<starts.count - 1
      self = .listed(
        ListedSections(Self.pieces(starts, in: sections), sections: sections.count))
      add(position, to: section)
    case .listed(var listed):
      self = .runs([])
      listed.sections.append(UInt32(section))
      listed.positions[section].append(UInt32(position))
      self = .listed(listed)
    }
  }

  /// Puts the sections in another order.
  mutating func reorder(_ order: [Int]) {
    var listed =
      switch self {
      case .runs(let starts):
        ListedSections(Self.pieces(starts, in: 0..<starts.count - 1), sections: order.count)
      case .listed(let listed): listed
      }
    self = .runs([])
    listed.arrange(order)
    self = .listed(listed)
  }

  // MARK: - Editing

  /// Takes elements out, and puts others in.
  ///
  /// - Parameters:
  ///   - removed: the positions that they had, ascending.
  ///   - added: by their positions, ascending.
  ///   - sections: how many there are, with those that are new.
  ///   - isBefore: the order of the sections; nil for that of their first elements.
  /// - Returns: the sections that have elements, in their order, which is their number from now on.
  /// - Complexity: O(sections) for sections that lie one after the other, of which those behind the
  ///   edits are moved and only those around these are looked at; else O(elements).
  mutating func edit(
    _ removed: [Int], _ added: [Added], sections: Int, _ isBefore: ((Int, Int) -> Bool)?
  ) -> SectionOrder {
    var listed: ListedSections
    let known: Int
    switch self {
    case .runs(let starts):
      known = starts.count - 1
      if let edited = Self.editedRuns(starts, removed, added, sections, isBefore) {
        self = .runs(edited.starts)
        return edited.order
      }
      listed = ListedSections(
        Self.pieces(starts, in: 0..<known, without: removed, with: added), sections: sections)
    case .listed(let before):
      known = before.positions.count
      listed = before
      self = .runs([])
      listed.edit(removed, added, sections: sections)
    }
    let order = listed.order(isBefore)
    listed.arrange(order)
    self = listed.runs.map { .runs($0) } ?? .listed(listed)
    return SectionOrder(order, of: known)
  }

  /// Elements that lie one after the other, all of one section.
  fileprivate struct Piece {
    let section: Int
    var count: Int
  }

  /// What lies one after the other when elements have gone from some runs, and others have come to
  /// them.
  private static func pieces(
    _ starts: [Int], in sections: Range<Int>, without removed: [Int] = [], with added: [Added] = []
  ) -> [Piece] {
    var pieces: [Piece] = []
    func append(_ section: Int, _ count: Int) {
      if count == 0 { return }
      if let last = pieces.last, last.section == section {
        pieces[pieces.count - 1].count += count
      } else {
        pieces.append(Piece(section: section, count: count))
      }
    }
    // How many of those that stay are in the pieces.
    var staying = starts[sections.lowerBound]
    var (nextRemoved, nextAdded) = (0, 0)
    for section in sections {
      var end = staying + starts[section + 1] - starts[section]
      while nextRemoved < removed.count, removed[nextRemoved] < starts[section + 1] {
        (end, nextRemoved) = (end - 1, nextRemoved + 1)
      }
      while nextAdded < added.count, added[nextAdded].position - nextAdded < end {
        let gap = added[nextAdded].position - nextAdded
        append(section, gap - staying)
        append(added[nextAdded].section, 1)
        (staying, nextAdded) = (gap, nextAdded + 1)
      }
      append(section, end - staying)
      staying = end
    }
    for element in added[nextAdded...] { append(element.section, 1) }
    return pieces
  }

  /// Runs after an edit; nil when sections are none then, or in another order.
  private static func editedRuns(
    _ starts: [Int], _ removed: [Int], _ added: [Added], _ sections: Int,
    _ isBefore: ((Int, Int) -> Bool)?
  ) -> (starts: [Int], order: SectionOrder)? {
    let known = starts.count - 1
    let around = sectionsAround(starts, removed, added)
    let pieces = pieces(starts, in: around, without: removed, with: added)
    var isThere = Array(repeating: false, count: around.count + sections - known)
    for piece in pieces {
      guard piece.section >= known || around.contains(piece.section) else { return nil }
      let index =
        piece.section - (piece.section < known ? around.lowerBound : known - around.count)
      if isThere[index] { return nil }
      isThere[index] = true
    }
    let order = pieces.map(\.section)
    if let isBefore {
      let before = around.lowerBound > 0 ? [around.lowerBound - 1] : []
      let behind = around.upperBound < known ? [around.upperBound] : []
      if !(before + order + behind).isAscending(isBefore) { return nil }
    }
    var ends: [Int] = []
    for piece in pieces { ends.append((ends.last ?? starts[around.lowerBound]) + piece.count) }
    var edited = starts
    let distance = (ends.last ?? starts[around.lowerBound]) - starts[around.upperBound]
    if distance != 0 {
      edited.withUnsafeMutableBufferPointer { starts in
        for section in around.upperBound + 1..<starts.count { starts[section] += distance }
      }
    }
    edited.replaceSubrange(around.lowerBound + 1..<around.upperBound + 1, with: ends)
    return (edited, SectionOrder(replaced: around, sections: order, count: known))
  }

  /// The sections to which elements come or from which they go, with one before and one behind
  /// them.
  private static func sectionsAround(
    _ starts: [Int], _ removed: [Int], _ added: [Added]
  ) -> Range<Int> {
    let (known, count) = (starts.count - 1, starts[starts.count - 1])
    if known == 0 { return 0..<0 }
    let rest = OtherPositions(count, without: removed)
    /// Where the element is that was before, or will be behind, one that comes.
    func place(_ index: Int) -> Int? {
      if index < 0 || index >= added.count { return nil }
      let gap = added[index].position - index
      return gap < rest.count ? rest[gap] : count
    }
    let positions = [removed.first, removed.last, place(0), place(added.count - 1)].compactMap {
      $0
    }
    func section(_ position: Int) -> Int {
      starts.lowerBound { $0 <= min(position, count - 1) } - 1
    }
    return max(0, section(positions.min()!) - 1)..<min(known, section(positions.max()!) + 2)
  }
}

/// Which sections have elements after an edit, in their order.
struct SectionOrder {
  /// The sections of before in whose place others are: those before and behind them stay.
  let replaced: Range<Int>
  /// Those in their place: by their numbers of before; new ones have numbers behind all of these.
  let sections: [Int]
  /// How many there were before.
  let count: Int

  init(replaced: Range<Int>, sections: [Int], count: Int) {
    (self.replaced, self.sections, self.count) = (replaced, sections, count)
  }

  /// - Parameters:
  ///   - order: all sections that have elements.
  ///   - count: how many there were before.
  init(_ order: [Int], of count: Int) {
    let most = min(order.count, count)
    let first = (0..<most).first { order[$0] != $0 } ?? most
    let last =
      (0..<most - first).first { order[order.count - 1 - $0] != count - 1 - $0 } ?? most - first
    replaced = first..<count - last
    sections = Array(order[first..<order.count - last])
    self.count = count
  }

  /// Whether all sections of before have their places, and no new one is among them.
  var isUnchanged: Bool { sections.elementsEqual(replaced) }
}

/// Sections whose elements lie among those of others.
struct ListedSections: Equatable {
  // 32 bits: there is no memory for results with so many elements.
  /// The positions of each section's elements, ascending.
  fileprivate(set) var positions: [[UInt32]]
  /// The section of each element.
  fileprivate(set) var sections: [UInt32] = []

  fileprivate init(_ pieces: [SectionPlaces.Piece], sections count: Int) {
    positions = []
    for piece in pieces {
      sections.append(contentsOf: repeatElement(UInt32(piece.section), count: piece.count))
    }
    findPositions(count)
  }

  private mutating func findPositions(_ count: Int) {
    positions = Array(repeating: [], count: count)
    for (position, section) in sections.enumerated() {
      positions[Int(section)].append(UInt32(position))
    }
  }

  /// Takes elements out, and puts others in; sections may be empty then.
  fileprivate mutating func edit(
    _ removed: [Int], _ added: [SectionPlaces.Added], sections count: Int
  ) {
    let shifts = PositionShift.of(removed, added.map(\.position), of: sections.count)
    let gone = removed.map { (position: $0, section: Int(sections[$0])) }
    sections.replace(removed, added.map { ($0.position, UInt32($0.section)) })
    if (removed.count + added.count) * count > sections.count { return findPositions(count) }
    for (position, section) in gone {
      positions[section].remove(at: positions[section].lowerBound { $0 < UInt32(position) })
    }
    for section in positions.indices { positions[section].shift(shifts) }
    positions += Array(repeating: [], count: count - positions.count)
    for element in added {
      let place = positions[element.section].lowerBound { $0 < UInt32(element.position) }
      positions[element.section].insert(UInt32(element.position), at: place)
    }
  }

  /// The sections that have elements, in their order.
  fileprivate func order(_ isBefore: ((Int, Int) -> Bool)?) -> [Int] {
    let isBefore = isBefore ?? { positions[$0][0] < positions[$1][0] }
    let order = positions.indices.filter { !positions[$0].isEmpty }
    return order.isAscending(isBefore) ? order : order.sorted(by: isBefore)
  }

  /// Numbers the sections anew, and leaves out those that are not in the order.
  fileprivate mutating func arrange(_ order: [Int]) {
    if order.elementsEqual(positions.indices) { return }
    var numbers = Array(repeating: UInt32(0), count: positions.count)
    for (number, section) in order.enumerated() { numbers[section] = UInt32(number) }
    positions = order.map { positions[$0] }
    for position in sections.indices { sections[position] = numbers[Int(sections[position])] }
  }

  /// Where each section begins, and where the last one ends, if one lies after the other.
  fileprivate var runs: [Int]? {
    var starts = [0]
    for positions in positions {
      let end = starts[starts.count - 1] + positions.count
      guard positions[0] == starts[starts.count - 1], positions[positions.count - 1] == end - 1
      else { return nil }
      starts.append(end)
    }
    return starts
  }
}

/// How far elements move, from a position on up to the next such place, when others come and go.
private struct PositionShift {
  let start: UInt32
  let distance: Int

  /// - Parameters:
  ///   - removed: positions before, ascending.
  ///   - added: positions afterwards, ascending.
  ///   - count: how many elements there were.
  static func of(_ removed: [Int], _ added: [Int], of count: Int) -> [PositionShift] {
    let rest = OtherPositions(count, without: removed)
    var steps = removed.map { (position: $0, distance: -1) }
    for (index, position) in added.enumerated() {
      let gap = position - index
      steps.append((gap < rest.count ? rest[gap] : count, 1))
    }
    steps.sort { $0.position < $1.position }
    var shifts: [PositionShift] = []
    var distance = 0
    for (index, step) in steps.enumerated() {
      distance += step.distance
      if index + 1 < steps.count, steps[index + 1].position == step.position { continue }
      shifts.append(PositionShift(start: UInt32(step.position), distance: distance))
    }
    return shifts
  }
}

extension [UInt32] {
  /// Moves positions, ascending, none of which is one that was removed.
  fileprivate mutating func shift(_ shifts: [PositionShift]) {
    guard let first = shifts.first, let last, last >= first.start else { return }
    withUnsafeMutableBufferPointer { positions in
      var low = positions.lowerBound { $0 < first.start }
      for (index, shift) in shifts.enumerated() {
        let end =
          index + 1 < shifts.count
          ? positions[low...].lowerBound { $0 < shifts[index + 1].start } : positions.count
        let distance = UInt32(truncatingIfNeeded: shift.distance)
        if distance != 0 { for position in low..<end { positions[position] &+= distance } }
        low = end
      }
    }
  }
}

extension [Int] {
  /// Whether each number is before the next one.
  fileprivate func isAscending(_ isBefore: (Int, Int) -> Bool) -> Bool {
    zip(self, dropFirst()).allSatisfy(isBefore)
  }
}

/// Where an element is in sections.
struct SectionPlace: Hashable, Comparable {
  var section: Int
  var item: Int

  static func < (left: SectionPlace, right: SectionPlace) -> Bool {
    (left.section, left.item) < (right.section, right.item)
  }
}

/// The positions of one section's elements among the results.
enum SectionPositions {
  case run(Range<Int>)
  case listed([UInt32])

  var count: Int {
    switch self {
    case .run(let range): range.count
    case .listed(let positions): positions.count
    }
  }

  subscript(item: Int) -> Int {
    switch self {
    case .run(let range): range.lowerBound + item
    case .listed(let positions): Int(positions[item])
    }
  }
}
