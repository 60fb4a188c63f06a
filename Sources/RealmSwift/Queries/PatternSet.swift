// Beginnings, ends or parts of texts of which one is to fit: to ask a text takes one search among
// all of them, and not a comparison with each.

/// Patterns without special characters, made once and asked often.
struct PatternSet: Sendable {
  /// Where a text has a pattern.
  enum Place {
    case start, end, anywhere
  }

  private let place: Place
  /// The patterns one behind the other in their order; backwards where they are ends.
  private var bytes: [UInt8] = []
  /// Where each pattern begins, and the end of the last.
  private var starts = [0]

  init(_ place: Place, _ patterns: [[UInt8]]) {
    self.place = place
    let ordered = (place == .end ? patterns.map { $0.reversed() } : patterns)
      .sorted { $0.lexicographicallyPrecedes($1) }
    var last: [UInt8]?
    for pattern in ordered {
      // What begins like the one before fits where that does.
      if let last, pattern.starts(with: last) { continue }
      bytes += pattern
      starts.append(bytes.count)
      last = pattern
    }
  }

  /// Whether one of the patterns fits.
  func fits(_ text: UnsafeRawBufferPointer) -> Bool {
    if place != .anywhere { return fits(text, from: 0) }
    // An empty one fits an empty text, too.
    return (0...text.count).contains { fits(text, from: $0) }
  }

  /// Whether a text, from some byte on, begins with a pattern: of none that begins like another
  /// only the last one that does not come behind the text can be its beginning.
  private func fits(_ text: UnsafeRawBufferPointer, from start: Int) -> Bool {
    var (low, high) = (0, starts.count - 1)
    while low < high {
      let middle = (low + high) / 2
      switch order(middle, text, start) {
      case .beginning: return true
      case .before: low = middle + 1
      case .behind: high = middle
      }
    }
    return false
  }

  private enum Order {
    case before, behind, beginning
  }

  /// How a pattern lies to a text.
  private func order(_ number: Int, _ text: UnsafeRawBufferPointer, _ start: Int) -> Order {
    let (first, count) = (starts[number], starts[number + 1] - starts[number])
    for index in 0..<count {
      let position = start + index
      if position == text.count { return .behind }
      let byte = place == .end ? text[text.count - 1 - position] : text[position]
      if bytes[first + index] != byte { return bytes[first + index] < byte ? .before : .behind }
    }
    return .beginning
  }
}

extension PatternSet {
  /// Nil for a comparison that is none with many patterns.
  init?(_ comparator: PredicateComparator, _ constants: [PlanConstant]) {
    guard constants.count > 1 else { return nil }
    let place: Place
    switch comparator {
    case .beginsWith: place = .start
    case .endsWith: place = .end
    case .contains: place = .anywhere
    default: return nil
    }
    self.init(
      place,
      constants.compactMap { if case .text(let bytes) = $0 { bytes } else { nil } })
  }
}
