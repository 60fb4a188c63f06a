// The text form of a condition, in the grammar that PredicateParser reads: every value is a
// placeholder with an argument of its own, null being `NSNull`.
internal import Foundation

/// Writes conditions as text and arguments.
struct PredicateText {
  private(set) var text = ""
  private(set) var arguments: [Any] = []
  /// How many sub-queries are written.
  private var subqueryCount = 0
  /// What the text calls the elements of the sub-queries that are around here.
  private var names: [String: String] = [:]

  init(_ tree: PredicateTree) { write(tree) }

  private mutating func write(_ tree: PredicateTree) {
    var walk = PredicateWalk(tree, merges: false)
    var joints: [PredicateJoin.Joint] = []
    var isFirst = true
    while let step = walk.next() {
      if case .end(let joint) = step {
        joints.removeLast()
        if joint != .not { text += ")" }
        isFirst = false
        continue
      }
      if !isFirst { text += joints.last == .or ? " || " : " && " }
      isFirst = false
      switch step {
      case .begin(let joint):
        text += joint == .not ? "NOT " : "("
        joints.append(joint)
        isFirst = true
      case .leaf(.constant(let value)): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
      case .leaf(.comparison(let comparison)): write(comparison)
      case .leaf(.joined), .end: break
      }
    }
  }

  private mutating func write(_ comparison: PredicateComparison) {
    if comparison.isTruth, case .value(let value as Bool) = comparison.right {
      if let quantifier = comparison.quantifier { text += quantifier.rawValue + " " }
      write(comparison.left)
      text += " == \(value)"
      return
    }
    text += "("
    if let quantifier = comparison.quantifier { text += quantifier.rawValue + " " }
    write(comparison.left)
    let isArea = comparison.comparator == .geoWithin
    text += " " + (isArea ? PredicateComparator.isIn : comparison.comparator).rawValue
    if !comparison.options.isEmpty {
      text += "["
      if comparison.options.contains(.caseInsensitive) { text += "c" }
      if comparison.options.contains(.diacriticInsensitive) { text += "d" }
      text += "]"
    }
    text += " "
    if comparison.comparator == .between, case .values(let values) = comparison.right {
      text += "{"
      for (index, value) in values.enumerated() {
        if index > 0 { text += ", " }
        write(.value(value))
      }
      text += "}"
    } else {
      write(comparison.right)
    }
    text += ")"
  }

  private mutating func write(_ operand: PredicateOperand) {
    switch operand {
    case .value(let value): writeArgument(value)
    case .values(let values):
      text += "%@"
      arguments.append(values.map { $0 ?? NSNull() })
    case .path(let path): write(path)
    case .subquery(let subquery):
      text += "SUBQUERY("
      write(subquery.collection)
      // Each has a name of its own in the whole text.
      subqueryCount += 1
      let outer = names.updateValue("col\(subqueryCount)", forKey: subquery.variable)
      text += ", $col\(subqueryCount), "
      write(subquery.condition)
      names[subquery.variable] = outer
      text += ").@count"
    }
  }

  private mutating func writeArgument(_ value: Any?) {
    text += "%@"
    arguments.append(value ?? NSNull())
  }

  private mutating func write(_ path: PropertyPath) {
    var isFirst = true
    func separator() -> String {
      defer { isFirst = false }
      return isFirst ? "" : "."
    }
    if let variable = path.variable {
      text += "$" + (names[variable] ?? variable)
      isFirst = false
    } else if path.steps.isEmpty {
      text += "SELF"
    }
    for step in path.steps {
      switch step {
      case .property(let name): text += separator() + PredicateToken.escaped(name)
      case .key(let key):
        text += "["
        writeArgument(key)
        text += "]"
      case .index(let index):
        text += "["
        writeArgument(index)
        text += "]"
      case .last: text += "[LAST]"
      case .anyElement: text += "[*]"
      case .mapKeys: text += separator() + "@allKeys"
      case .mapValues: text += separator() + "@allValues"
      case .aggregate(let aggregate): text += separator() + aggregate.rawValue
      }
    }
  }
}
