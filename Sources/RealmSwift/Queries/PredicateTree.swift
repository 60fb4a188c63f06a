// A condition as it was written: names of properties and values without types. `Query` and the
// parser both make it, `QueryPlan` gives it a meaning for one class. Nothing here knows a schema.

/// A condition on one object, or on one element of a collection.
enum PredicateTree {
  case constant(Bool)
  indirect case comparison(PredicateComparison)
  /// Several conditions as one: made by `and`, `or` and `not`.
  case joined(PredicateJoin)
}

/// Two operands and how they are compared.
struct PredicateComparison {
  var left: PredicateOperand
  var comparator: PredicateComparator
  var right: PredicateOperand
  var options: StringOptions = []
  /// How many of the values that the left path leads to have to fit.
  ///
  /// Nil: there is one value. `NONE` is `not` around `any`.
  var quantifier: PredicateQuantifier?
  /// Whether only the left side was written, by itself or behind `!`: it is compared with true or
  /// false.
  var isTruth = false
}

/// How many of several values have to fit.
enum PredicateQuantifier: String {
  case any = "ANY"
  case all = "ALL"
}

/// How two operands are compared.
enum PredicateComparator: String {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  /// Between two values, both included.
  case between = "BETWEEN"
  /// One of several values, or of the elements of a collection.
  case isIn = "IN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  /// With `*` for any text and `?` for one character.
  case like = "LIKE"
  /// Inside of an area on the globe.
  case geoWithin = "GEOWITHIN"

  /// The comparator that says the same with its operands exchanged; nil when there is none.
  var mirrored: PredicateComparator? {
    switch self {
    case .equal, .notEqual: return self
    case .less: return .greater
    case .lessOrEqual: return .greaterOrEqual
    case .greater: return .less
    case .greaterOrEqual: return .lessOrEqual
    case .between, .isIn, .contains, .beginsWith, .endsWith, .like, .geoWithin: return nil
    }
  }
}

/// One side of a comparison.
enum PredicateOperand {
  /// A value; nil for null.
  case value(Any?)
  /// Several values.
  case values([Any?])
  case path(PropertyPath)
  case subquery(Subquery)
}

/// How many elements of a collection fulfil a condition.
struct Subquery {
  /// So many can be inside of each other: to ask one of an object asks all.
  static let depthMax = 50

  var collection: PropertyPath
  /// What the condition calls the element, without `$`.
  var variable: String
  let condition: PredicateTree
  /// How many sub-queries are inside of each other, with this one.
  private(set) var depth: Int
  /// Tells the sub-query from all with another condition.
  let identity = Identity()

  /// A place in memory that is nobody else's.
  final class Identity: Sendable {}

  /// Stops when there are too many sub-queries inside of each other.
  init(collection: PropertyPath, variable: String, condition: PredicateTree) {
    self.collection = collection
    self.variable = variable
    self.condition = condition
    depth = condition.subqueryDepth + 1
    if depth > Self.depthMax {
      misuse(
        .argument, "At most \(Self.depthMax) sub-queries can be inside of each other.")
    }
  }
}

/// The way from an object to a value, or to several.
struct PropertyPath {
  /// What the path starts from: a subquery's element, by name; nil for the object itself.
  var variable: String?
  var steps: [PathStep] = []
  /// How many steps lead to each collection on the way, where the writer of the path knew its
  /// types.
  var collections: [Int] = []

  /// So many steps can lead to a value.
  static let stepsMax = 1_000

  /// Stops when the path has too many steps.
  func checkLength() {
    if steps.count <= Self.stepsMax { return }
    misuse(
      .argument,
      "A key path can have at most \(Self.stepsMax) steps; this one begins with "
        + "'\(PropertyPath(variable: variable, steps: Array(steps.prefix(4))).text)'.")
  }

  func appending(_ step: PathStep, isCollection: Bool = false) -> PropertyPath {
    checkLength()
    var path = self
    path.steps.append(step)
    if isCollection { path.collections.append(path.steps.count) }
    return path
  }

  /// The path to one element of the collection that it leads to: no longer to several values.
  func single(_ place: PathStep) -> PropertyPath {
    var path = appending(place)
    if path.collections.last == steps.count { path.collections.removeLast() }
    return path
  }
}

/// One step of a path.
enum PathStep: Hashable {
  case property(String)
  /// The value of a key of a map.
  case key(String)
  /// The element at a position of a list, also of one inside of a mixed value.
  case index(Int)
  /// The last element of a list, also of one inside of a mixed value.
  case last
  /// Every element, whatever its place, inside of a mixed value.
  case anyElement
  case mapKeys
  case mapValues
  case aggregate(PredicateAggregate)
}

/// One value made of all values of a collection.
enum PredicateAggregate: String {
  case count = "@count"
  case min = "@min"
  case max = "@max"
  case sum = "@sum"
  case average = "@avg"
}

/// How strings are compared.
public struct StringOptions: OptionSet, Sendable {
  /// The options as bits.
  public let rawValue: Int8

  /// Options of bits.
  public init(rawValue: Int8) { self.rawValue = rawValue }

  /// Upper and lower case are the same.
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// A letter is the same with and without accents.
  public static let diacriticInsensitive = StringOptions(rawValue: 2)
}
