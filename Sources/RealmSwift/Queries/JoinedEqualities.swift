// Comparisons of one path with many values, joined by OR: they are one comparison with `IN`, which
// takes as long as a few of them.

extension PredicateTree {
  /// The same condition, with equalities of one path and many values as one `IN`.
  func joiningEqualities() -> PredicateTree {
    folded({ $0 }) { joint, parts in
      guard joint == .or else { return .joined(PredicateJoin(joint, parts)) }
      let joined = parts.joiningEqualities()
      return joined.count == 1 ? joined[0] : .or(joined)
    }
  }
}

extension [PredicateTree] {
  /// The same alternatives, with those that are the equality of one path and a value as one `IN`,
  /// where there are many.
  fileprivate func joiningEqualities() -> [PredicateTree] {
    guard count >= ConstantSet.countMin else { return self }
    var joined: [EqualityGroup: (first: Int, values: [Any?])] = [:]
    var groups: [EqualityGroup?] = []
    for (position, tree) in enumerated() {
      let equality = tree.equality
      groups.append(equality?.group)
      if let equality {
        joined[equality.group, default: (position, [])].values.append(contentsOf: equality.values)
      }
    }
    return enumerated().compactMap { position, tree in
      guard let group = groups[position], let (first, values) = joined[group],
        values.count >= ConstantSet.countMin, case .comparison(var comparison) = tree
      else { return tree }
      if first != position { return nil }
      if case .value = comparison.left { swap(&comparison.left, &comparison.right) }
      comparison.comparator = .isIn
      comparison.right = .values(values)
      comparison.isTruth = false
      return .comparison(comparison)
    }
  }
}

/// What equalities have in common that can be joined.
private struct EqualityGroup: Hashable {
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
}

extension PredicateTree {
  /// The path and the values of which one has to equal what the path leads to; nil for any other
  /// condition.
  fileprivate var equality: (group: EqualityGroup, values: [Any?])? {
    guard case .comparison(let comparison) = self, comparison.quantifier != .all else { return nil }
    let values: [Any?]
    let path: PropertyPath
    switch (comparison.comparator, comparison.left, comparison.right) {
    case (.equal, .path(let left), .value(let value)), (.equal, .value(let value), .path(let left)):
      (path, values) = (left, [value])
    case (.isIn, .path(let left), .values(let list)): (path, values) = (left, list)
    default: return nil
    }
    // An embedded object stands for its members.
    if values.contains(where: { !isPlain($0) && $0 is EmbeddedObject }) { return nil }
    let group = EqualityGroup(
      path: StoredText(path.identity), collections: path.collections,
      options: comparison.options.rawValue,
      quantifier: comparison.quantifier)
    return (group, values)
  }
}
