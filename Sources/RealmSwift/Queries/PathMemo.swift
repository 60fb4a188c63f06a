// What a search found behind objects that it came to, so that it goes on from each of them once. A
// path through several collections can lead to one object in as many ways as there are paths: twice
// as many with each step, where each object is twice in a list.
internal import ObjectStore

/// What the conditions of one search have found out, at one version; each has slots of its own.
final class PlanMemos {
  private var ways: [Int: PathMemo] = [:]
  private var answers: [Int: KeyAnswers] = [:]

  /// What is known of a path's ways.
  ///
  /// - Parameter levels: see `PlanPath.memoLevels`.
  func way(_ slot: Int, levels: Int) -> PathMemo {
    if let way = ways[slot] { return way }
    let way = PathMemo(levels: levels)
    ways[slot] = way
    return way
  }

  /// Whether an object fulfils the condition of a sub-query, which speaks of nothing else.
  func answer(_ slot: Int, _ key: ObjectKey, _ ask: () -> Bool) -> Bool {
    if let known = answers[slot]?[key] { return known }
    let answer = ask()
    answers[slot, default: KeyAnswers()][key] = answer
    return answer
  }
}

/// What is known of the ways from objects on to the end of one path.
///
/// For a body that answers equal values alike. It may count them here, and nowhere else.
final class PathMemo {
  /// How many values were counted.
  private(set) var count: Int64 = 0
  /// Whether the way from an object went on behind its last value, by the number of hops that led
  /// to the object, less one.
  private var goesOn: [KeyAnswers]
  /// How many values were counted on the way, where there were any.
  private var counts: [[Int64: Int64]] = []

  init(levels: Int) { goesOn = Array(repeating: KeyAnswers(), count: levels) }

  func startCounting() {
    count = 0
    if counts.isEmpty { counts = Array(repeating: [:], count: goesOn.count) }
  }

  /// Counts values; a number that is too large is the largest there is.
  func add(_ number: Int64) {
    let (sum, isTooLarge) = count.addingReportingOverflow(number)
    count = isTooLarge ? .max : sum
  }

  /// Whether the way from an object goes on behind its last value.
  ///
  /// - Parameters:
  ///   - hops: how many led to the object.
  ///   - follow: goes the way; not called for an object from which it was gone.
  func goesOn(from key: ObjectKey, after hops: Int, _ follow: () -> Bool) -> Bool {
    let level = hops - 1
    guard level < goesOn.count else { return follow() }
    if let known = goesOn[level][key] {
      if !counts.isEmpty, let number = counts[level][key.rawValue] { add(number) }
      return known
    }
    let before = count
    if !counts.isEmpty { count = 0 }
    let answer = follow()
    goesOn[level][key] = answer
    if !counts.isEmpty {
      let number = count
      if number > 0 { counts[level][key.rawValue] = number }
      count = before
      add(number)
    }
    return answer
  }
}

/// Yes, no or nothing yet, for each of some keys; little more than two bits where keys are close.
struct KeyAnswers {
  /// Two bits for each of 32 keys: whether there is an answer, and whether it is yes.
  private var words: [Int64: UInt64] = [:]

  subscript(key: ObjectKey) -> Bool? {
    get {
      guard let word = words[key.rawValue >> 5] else { return nil }
      let bits = word >> UInt64(2 * (key.rawValue & 31))
      return bits & 1 == 0 ? nil : bits & 2 != 0
    }
    set {
      let place = UInt64(2 * (key.rawValue & 31))
      let bits: UInt64 = newValue.map { $0 ? 3 : 1 } ?? 0
      let word = words[key.rawValue >> 5, default: 0]
      words[key.rawValue >> 5] = word & ~(3 << place) | bits << place
    }
  }
}

extension PlanPath {
  /// What is known of the ways where the same is asked of all values of one subject.
  var passingMemo: PathMemo? {
    let levels = memoLevels
    return levels > 0 ? PathMemo(levels: levels) : nil
  }

  /// After how many hops there may be several values on from an object: so far it is worth knowing
  /// what was found behind objects.
  var memoLevels: Int {
    switch end {
    case .aggregate, .elements, .mapKeys, .mapValues: return hops.count
    case .inside(let element, _): return ending(element).memoLevels
    case .subject, .column, .element, .mapValue, .nested: break
    }
    let last = hops.lastIndex { hop in
      switch hop {
      case .link, .element, .mapValue: false
      case .elements, .mapValues, .backlinks: true
      }
    }
    return last ?? 0
  }
}
