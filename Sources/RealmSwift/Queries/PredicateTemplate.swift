// Formats that were read before: a program asks with the same few texts again and again, so each is
// read once and only its arguments are put in.
internal import Platform

/// What a format means, with places for its arguments.
struct PredicateTemplate {
  fileprivate let tree: PredicateTree
  fileprivate let argumentCount: Int

  /// Stands for an argument in a template.
  struct Argument {
    fileprivate let index: Int
  }

  /// How many formats are kept.
  private static let keptMost = 512
  /// Longer ones were made for one question, and would take much memory.
  private static let keptLength = 16_384

  /// Templates by their format; nil for formats whose meaning depends on the arguments' values.
  private struct Known: @unchecked Sendable {
    // @unchecked: the values in a template are numbers and texts of its format, which nobody
    // changes.
    var templates: [StoredText: PredicateTemplate?] = [:]
  }

  private static let known = Monitor(Known())

  /// The condition of a format, if arguments fit it; nil where it has to be read with them.
  static func condition(_ format: String, _ arguments: [Any?]) -> PredicateTree? {
    if format.utf8.count > keptLength { return nil }
    let found: PredicateTemplate?
    // Byte by byte: texts that Swift calls equal may be told apart by a condition.
    let key = StoredText(format)
    if let before = known.withLock({ $0.templates[key] }) {
      found = before
    } else {
      found = PredicateParser.template(format)
      known.withLock {
        if $0.templates.count >= keptMost { $0.templates.removeAll() }
        $0.templates[key] = .some(found)
      }
    }
    guard let found, found.argumentCount <= arguments.count else { return nil }
    return found.tree.bound(arguments)
  }

  init(_ tree: PredicateTree, argumentCount: Int) {
    self.tree = tree
    self.argumentCount = argumentCount
  }

  /// Arguments that stand for those to come.
  static func arguments(_ count: Int) -> [Any?] { (0..<count).map { Argument(index: $0) } }
}

extension PredicateTree {
  /// The condition with its arguments; nil where they change more than values.
  fileprivate func bound(_ arguments: [Any?]) -> PredicateTree? {
    var isBound = true
    let tree = mapped { leaf in
      guard isBound, case .comparison(let comparison) = leaf else { return leaf }
      if let found = comparison.bound(arguments) { return .comparison(found) }
      isBound = false
      return leaf
    }
    return isBound ? tree : nil
  }
}

extension PredicateComparison {
  fileprivate func bound(_ arguments: [Any?]) -> PredicateComparison? {
    guard let left = left.bound(arguments), let right = right.bound(arguments) else { return nil }
    var comparison = self
    if case .value(let value) = comparison.right, value is PredicateTemplate.Argument,
      comparison.comparator == .isIn || comparison.comparator == .between
    {
      // An area, or no collection: rare enough to be read with its value.
      guard case .value(let given) = right,
        let values = comparison.comparator == .isIn ? listedValues(given) : boundValues(given)
      else { return nil }
      comparison.right = .values(values)
    } else {
      comparison.right = right
    }
    comparison.left = left
    return comparison
  }
}

extension PredicateOperand {
  fileprivate func bound(_ arguments: [Any?]) -> PredicateOperand? {
    switch self {
    case .path: return self
    case .value(let value): return .value(Self.bound(value, arguments))
    case .values(let values): return .values(values.map { Self.bound($0, arguments) })
    case .subquery(let subquery):
      guard let condition = subquery.condition.bound(arguments) else { return nil }
      return .subquery(
        Subquery(
          collection: subquery.collection, variable: subquery.variable, condition: condition))
    }
  }

  private static func bound(_ value: Any?, _ arguments: [Any?]) -> Any? {
    guard let place = value as? PredicateTemplate.Argument else { return value }
    return unwrapped(arguments[place.index])
  }
}
