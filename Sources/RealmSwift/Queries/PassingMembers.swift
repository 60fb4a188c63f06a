// The elements of a list, set or map that a running transaction edits, for PassingElements: each
// has a rank that stays while others come and go.
internal import ObjectStore

/// The objects or values of a collection, in its order.
///
/// Positions of elements change with each edit; ranks do not, and lie in the order of the elements.
struct PassingMembers {
  /// How far apart the ranks of the first elements are: between two of them others find room.
  private static let spacing: Int64 = 1 << 36
  /// How far an element is put from the one that came before it at the same place.
  private static let step: Int64 = 1 << 16
  /// Of a map's value that links to nothing.
  private static let nothing = Int64.min

  /// The ranks, in the order of the collection.
  private var order: OrderedChunks
  /// The objects of the multiples of `spacing`.
  private var firsts: [Int64]
  /// Those of all other ranks.
  private var others: [Int64: Int64] = [:]
  /// The first rank of each object.
  private var rankByObject: [Int64: Int64] = [:]
  /// The further ones of those that are there several times.
  private var furtherRanks: [Int64: [Int64]] = [:]
  /// The rank that was given last.
  private var last: Int64?

  /// - Parameter elements: objects; nil for none.
  init(_ elements: ElementReader?) {
    var keys: [Int64?] = []
    elements?.forEach { _, value in
      keys.append(value.asLink?.rawValue)
      return true
    }
    self.init(keys)
  }

  /// - Parameter keys: the objects; nil for a value that links to nothing.
  init(_ keys: [Int64?]) {
    firsts = keys.map { $0 ?? Self.nothing }
    order = OrderedChunks(firsts.indices.map { Int64($0) * Self.spacing })
    rankByObject.reserveCapacity(firsts.count)
    for (index, key) in firsts.enumerated() { note(Int64(index) * Self.spacing, key) }
  }

  /// - Parameter count: how many values there are, which have no keys.
  init(values count: Int) {
    firsts = []
    order = OrderedChunks((0..<count).map { Int64($0) * Self.spacing })
  }

  /// All ranks, in order.
  var ranks: [Int64] { order.all }

  /// Where the element of a rank is now; nil when nobody has the rank any more.
  func position(of rank: Int64) -> Int? { order.position(of: rank) { $0 < rank } }

  /// The same of many, which have to be there.
  func positions(of ranks: [Int64]) -> [Int] { order.positions(of: ranks) }

  /// The rank of the element at a position, which has to be there.
  func rank(at position: Int) -> Int64 { order[position] }

  private static func index(_ rank: Int64, _ count: Int) -> Int? {
    rank >= 0 && rank % spacing == 0 && rank / spacing < count ? Int(rank / spacing) : nil
  }

  private func stored(_ rank: Int64) -> Int64 {
    Self.index(rank, firsts.count).map { firsts[$0] } ?? others[rank] ?? Self.nothing
  }

  /// The object of a rank; nil when nobody has the rank any more, there is none, or of values.
  func object(_ rank: Int64) -> Int64? {
    let key = stored(rank)
    return key == Self.nothing ? nil : key
  }

  /// The ranks of an object.
  func ranks(of key: Int64) -> [Int64] {
    rankByObject[key].map { [$0] + (furtherRanks[key] ?? []) } ?? []
  }

  // MARK: - Editing

  private mutating func note(_ rank: Int64, _ key: Int64) {
    if key == Self.nothing { return }
    if rankByObject[key] == nil {
      rankByObject[key] = rank
    } else {
      furtherRanks[key, default: []].append(rank)
    }
  }

  private mutating func set(_ rank: Int64, _ key: Int64) {
    if let index = Self.index(rank, firsts.count) {
      firsts[index] = key
    } else if key == Self.nothing {
      others[rank] = nil
    } else {
      others[rank] = key
    }
    note(rank, key)
  }

  private mutating func forget(_ rank: Int64) {
    let key = stored(rank)
    set(rank, Self.nothing)
    if key == Self.nothing { return }
    var further = furtherRanks[key] ?? []
    if rankByObject[key] == rank {
      rankByObject[key] = further.popLast()
    } else {
      further.removeAll { $0 == rank }
    }
    furtherRanks[key] = further.isEmpty ? nil : further
  }

  /// Does what was done to the collection.
  ///
  /// - Returns: the rank of the element that went, and of the one that came, which is the same for
  ///   one that was assigned; nil when the ranks have to be made anew.
  mutating func apply(_ edit: CollectionEdit) -> (gone: Int64?, come: Int64?)? {
    switch edit {
    case .removed(let position):
      guard position < order.count else { return nil }
      let rank = order[position]
      order.remove(rank) { $0 < rank }
      forget(rank)
      return (rank, nil)
    case .assigned(let position, let key):
      guard position < order.count else { return nil }
      let rank = order[position]
      forget(rank)
      set(rank, key?.rawValue ?? Self.nothing)
      return (rank, rank)
    case .inserted(let position, let key):
      guard position <= order.count,
        let rank = rank(
          between: position > 0 ? order[position - 1] : nil,
          position < order.count ? order[position] : nil)
      else { return nil }
      order.insert(rank) { $0 < rank }
      set(rank, key?.rawValue ?? Self.nothing)
      last = rank
      return (nil, rank)
    }
  }

  /// A rank that nobody has; nil when there is no room.
  private func rank(between before: Int64?, _ after: Int64?) -> Int64? {
    guard let before else { return after.map { $0 - Self.spacing } ?? 0 }
    guard let after else { return before + Self.spacing }
    let half = (after - before) / 2
    if half == 0 { return nil }
    // Who puts in one after the other goes on beside the last one, and halves the room only once.
    if before == last { return before + min(half, Self.step) }
    return after == last ? after - min(half, Self.step) : before + half
  }
}
