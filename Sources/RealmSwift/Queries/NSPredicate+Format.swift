// Predicates as objects. Foundation on Linux has the class but no formats: a predicate made here
// answers a question of its own with its condition, and evaluates it on anything else.
public import Foundation

extension NSPredicate {
  /// A condition in the format that `filter` takes.
  ///
  /// Stops when the format cannot be read.
  public convenience init(format: String, _ arguments: Any...) {
    self.init(PredicateParser.parse(format, arguments.map { unwrapped($0) }))
  }

  /// A condition in the format that `filter` takes.
  ///
  /// Stops when the format cannot be read.
  public convenience init(format: String, argumentArray arguments: [Any]?) {
    self.init(PredicateParser.parse(format, (arguments ?? []).map { unwrapped($0) }))
  }

  private convenience init(_ tree: PredicateTree) {
    // Never changed; the values in it are what the client gave, which is how predicates are.
    let carried = Carried(tree)
    self.init { question, _ in
      guard let question = question as? PredicateQuestion else {
        return PlainCondition(subject: question).holds(carried.value)
      }
      question.tree = carried.value
      return true
    }
  }
}

/// Asks a predicate for its condition.
private final class PredicateQuestion {
  var tree: PredicateTree?
}

extension PredicateTree {
  /// The condition of a predicate; stops when it is a closure of the client's.
  init(_ predicate: NSPredicate) {
    if let compound = predicate as? NSCompoundPredicate {
      let parts = compound.subpredicates.map { PredicateTree($0) }
      switch compound.compoundPredicateType {
      case .and: self = .and(parts)
      case .or: self = .or(parts)
      case .not: self = .not(parts[0])
      }
      return
    }
    // Its own constants are all that Foundation can make besides closures.
    if type(of: predicate) == NSPredicate.self, predicate == NSPredicate(value: true) {
      self = .constant(true)
      return
    }
    if type(of: predicate) == NSPredicate.self, predicate == NSPredicate(value: false) {
      self = .constant(false)
      return
    }
    let question = PredicateQuestion()
    _ = predicate.evaluate(with: question)
    guard let tree = question.tree else {
      misuse(
        .argument, "Predicates made of closures cannot be used: use a format, or Swift's filter.")
    }
    self = tree
  }
}
