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
    // Compounds inside of compounds are a list, not calls inside of calls.
    var open: [(compound: NSCompoundPredicate, parts: [PredicateTree])] = []
    var next = predicate
    while true {
      var tree: PredicateTree
      if let compound = next as? NSCompoundPredicate {
        if let first = compound.subpredicates.first {
          open.append((compound, []))
          next = first
          continue
        }
        if compound.compoundPredicateType == .not {
          misuse(.argument, "A compound predicate of the type NOT needs a predicate.")
        }
        tree = .joined(PredicateJoin(.init(compound), []))
      } else {
        tree = PredicateTree(single: next)
      }
      while true {
        guard !open.isEmpty else {
          self = tree
          return
        }
        let last = open.count - 1
        open[last].parts.append(tree)
        let (compound, count) = (open[last].compound, open[last].parts.count)
        // NOT has one part.
        if count < compound.subpredicates.count, compound.compoundPredicateType != .not {
          next = compound.subpredicates[count]
          break
        }
        tree = .joined(PredicateJoin(.init(compound), open.removeLast().parts))
      }
    }
  }

  /// The condition of a predicate that is no compound of others.
  private init(single predicate: NSPredicate) {
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

extension PredicateJoin.Joint {
  fileprivate init(_ compound: NSCompoundPredicate) {
    switch compound.compoundPredicateType {
    case .and: self = .and
    case .or: self = .or
    case .not: self = .not
    }
  }
}
