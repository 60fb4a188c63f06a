// Comparisons of one path with many values, joined by OR, and their opposites, joined by AND: they
// are one comparison with all of the values, which takes as long as a few of them.

extension PredicateTree {
  /// The same condition, with comparisons of one path and many values as one.
  ///
  /// Equalities are one `IN`. Beginnings, ends and parts of texts are one comparison with several
  /// values, which only plans know.
  func joiningComparisons() -> PredicateTree {
    folded({ $0 }) { joint, parts in
      if joint == .not || parts.count < ConstantSet.countMin {
        return .joined(PredicateJoin(joint, parts))
      }
      var joined = parts.joined(areOpposites: joint == .and)
      if joint == .or { joined = joined.groupedByValues() }
      return joined.count == 1 ? joined[0] : .joined(PredicateJoin(joint, joined))
    }
  }
}

extension [PredicateTree] {
  /// The same parts, with those that compare one path with a value as one, where there are many.
  ///
  /// - Parameter areOpposites: they are joined by AND, and the opposites of comparisons are joined.
  fileprivate func joined(areOpposites: Bool) -> [PredicateTree] {
    var joined: [ComparisonGroup: (first: Int, values: [Any?])] = [:]
    var groups: [ComparisonGroup?] = []
    for (position, tree) in enumerated() {
      let found = areOpposites ? tree.opposite : tree.joinable
      groups.append(found?.group)
      if let found {
        joined[found.group, default: (position, [])].values.append(contentsOf: found.values)
      }
    }
    return enumerated().compactMap { position, tree in
      guard let group = groups[position], let (first, values) = joined[group],
        values.count >= ConstantSet.countMin, let alone = tree.negatedComparison
      else { return tree }
      if first != position { return nil }
      let comparison = alone.joined(group, values)
      return areOpposites ? .not(.comparison(comparison)) : .comparison(comparison)
    }
  }
}

/// What comparisons have in common that can be joined.
struct ComparisonGroup: Hashable {
  /// Of all of them as one.
  let comparator: PredicateComparator
  /// The path with the variable that it starts from.
  let path: StoredText
  let collections: [Int]
  let options: Int8
  let quantifier: PredicateQuantifier?
}

extension PropertyPath {
  /// A text that no other path has.
  fileprivate var identity: String {
    steps.reduce(into: variable ?? "") { text, step in
      switch step {
      case .property(let name): text += ".\(name.utf8.count):\(name)"
      case .key(let key): text += "[\(key.utf8.count):\(key)"
      case .index(let index): text += "#\(index)"
      case .last: text += "!"
      case .anyElement: text += "*"
      case .mapKeys: text += "k"
      case .mapValues: text += "v"
      case .aggregate(let aggregate): text += aggregate.rawValue
      }
    }
  }

  /// Whether there is a value, null or not, for every object: a mixed value may have nothing at a
  /// place.
  fileprivate var alwaysHasValue: Bool {
    steps.allSatisfy { if case .property = $0 { true } else { false } }
  }
}

extension PredicateTree {
  /// A comparison or what one is the opposite of; nil for others.
  fileprivate var negatedComparison: PredicateComparison? {
    switch self {
    case .comparison(let comparison): return comparison
    case .joined(let join) where join.joint == .not:
      if case .comparison(let comparison) = join.parts[0] { return comparison }
      return nil
    default: return nil
    }
  }

  /// The path and the values of which one has to fit what the path leads to; nil for any other
  /// condition.
  var joinable: (group: ComparisonGroup, values: [Any?])? {
    guard case .comparison(let comparison) = self else { return nil }
    return comparison.joinable
  }

  /// The same of a condition that holds where none of the values fits.
  fileprivate var opposite: (group: ComparisonGroup, values: [Any?])? {
    switch self {
    case .joined(let join) where join.joint == .not: return join.parts[0].joinable
    case .comparison(var comparison) where comparison.comparator == .notEqual:
      guard case .path(let path) = comparison.path else { return nil }
      switch comparison.quantifier {
      case .all: comparison.quantifier = .any
      // One of several values may differ from each.
      case .any: return nil
      case nil: if !path.alwaysHasValue { return nil }
      }
      comparison.comparator = .equal
      return comparison.joinable
    default: return nil
    }
  }
}

extension PredicateComparison {
  /// The side that is a path, of a comparison with a value.
  fileprivate var path: PredicateOperand {
    if case .value = left { return right }
    return left
  }

  /// The comparison of the same path with several values.
  func joined(_ group: ComparisonGroup, _ values: [Any?]) -> PredicateComparison {
    var joined = self
    if case .value = left { swap(&joined.left, &joined.right) }
    joined.comparator = group.comparator
    joined.quantifier = group.quantifier
    joined.right = .values(values)
    joined.isTruth = false
    return joined
  }

  fileprivate var joinable: (group: ComparisonGroup, values: [Any?])? {
    if quantifier == .all { return nil }
    let values: [Any?]
    let path: PropertyPath
    let joined: PredicateComparator
    switch (comparator, left, right) {
    case (.equal, .path(let left), .value(let value)), (.equal, .value(let value), .path(let left)):
      (path, values, joined) = (left, [value], .isIn)
    case (.isIn, .path(let left), .values(let list)): (path, values, joined) = (left, list, .isIn)
    case (.beginsWith, .path(let left), .value(let value)),
      (.endsWith, .path(let left), .value(let value)),
      (.contains, .path(let left), .value(let value)):
      guard let value, plainText(value) != nil else { return nil }
      (path, values, joined) = (left, [value], comparator)
    default: return nil
    }
    // An embedded object stands for its members.
    if values.contains(where: { !isPlain($0) && $0 is EmbeddedObject }) { return nil }
    let group = ComparisonGroup(
      comparator: joined, path: StoredText(path.identity), collections: path.collections,
      options: options.rawValue, quantifier: quantifier)
    return (group, values)
  }
}
