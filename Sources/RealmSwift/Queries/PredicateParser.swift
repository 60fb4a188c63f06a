// Conditions from text: a subset of NSPredicate's format, with placeholders. What is not understood
// stops with a message that says what and where.
internal import Foundation

/// Reads a predicate's format, once from front to end.
///
///     or         = and { ("OR" | "||") and }
///     and        = not { ("AND" | "&&") not }
///     not        = ("NOT" | "!") not | "(" or ")" | "TRUEPREDICATE" | "FALSEPREDICATE" | comparison
///     comparison = [ "ANY" | "SOME" | "ALL" | "NONE" ] operand comparator [ "[cd]" ] operand
///     operand    = value | placeholder | path | subquery | "{" operand { "," operand } "}"
///     path       = [ "$" variable | "SELF" ] { "." name | "[" place "]" | ".@count" ... }
///     place      = key | position | "FIRST" | "LAST" | "SIZE" | "*"
///     subquery   = "SUBQUERY" "(" path "," variable "," or ")" ".@count"
struct PredicateParser {
  private let tokens: [(token: PredicateToken, position: Int)]
  private let arguments: [Any?]
  /// Where brackets open that are around an operand, not around a condition.
  private let operandBrackets: Set<Int>
  private var index = 0
  private var nextArgument = 0
  /// How many sub-queries the place that is read is inside of.
  private var subqueryDepth = 0

  /// The condition that a format describes; stops when it describes none.
  static func parse(_ format: String, _ arguments: [Any?]) -> PredicateTree {
    if let tree = PredicateTemplate.condition(format, arguments) { return tree }
    do throws(PredicateSyntaxError) {
      var tokenizer = PredicateTokenizer(format)
      var parser = PredicateParser(tokens: try tokenizer.tokens(), arguments: arguments)
      return try parser.parseAll()
    } catch {
      misuse(.argument, "Unable to parse the format string \"\(format)\": \(error.message).")
    }
  }

  /// What a format means whatever its arguments are; nil when it depends on them, or cannot be
  /// read.
  static func template(_ format: String) -> PredicateTemplate? {
    do throws(PredicateSyntaxError) {
      var tokenizer = PredicateTokenizer(format)
      let tokens = try tokenizer.tokens()
      let count = tokens.count { $0.token == .placeholder }
      var parser = PredicateParser(
        tokens: tokens, arguments: PredicateTemplate.arguments(count))
      return PredicateTemplate(try parser.parseAll(), argumentCount: count)
    } catch {
      return nil
    }
  }

  private init(tokens: [(token: PredicateToken, position: Int)], arguments: [Any?]) {
    self.tokens = tokens
    self.arguments = arguments
    operandBrackets = Self.operandBrackets(tokens)
  }

  /// Where the brackets open that a comparison follows: none follows brackets around a condition.
  private static func operandBrackets(
    _ tokens: [(token: PredicateToken, position: Int)]
  ) -> Set<Int> {
    var open: [Int] = []
    var found: Set<Int> = []
    for (place, item) in tokens.enumerated() {
      if item.token == .sign("(") {
        open.append(place)
      } else if item.token == .sign(")"), let start = open.popLast(), place + 1 < tokens.count,
        beginsComparison(tokens[place + 1].token)
      {
        found.insert(start)
      }
    }
    return found
  }

  private static func beginsComparison(_ token: PredicateToken) -> Bool {
    switch token {
    case .sign(let sign): return comparators[sign] != nil
    case .word(let word):
      let keyword = word.uppercased()
      return comparators[keyword] != nil || keyword == "NOT" || keyword == "MATCHES"
    default: return false
    }
  }

  private mutating func parseAll() throws(PredicateSyntaxError) -> PredicateTree {
    let tree = try parseCondition()
    guard token == .end else { throw unexpected("AND, OR or the end") }
    // Arguments that no placeholder asks for are not looked at.
    return tree
  }

  // MARK: - Tokens

  private var token: PredicateToken { tokens[index].token }

  private mutating func advance() { if index < tokens.count - 1 { index += 1 } }

  private func isKeyword(_ words: String...) -> Bool {
    guard case .word(let word) = token else { return false }
    return words.contains(word.uppercased())
  }

  private mutating func takeKeyword(_ words: String...) -> Bool {
    guard case .word(let word) = token, words.contains(word.uppercased()) else { return false }
    advance()
    return true
  }

  private mutating func takeSign(_ signs: String...) -> Bool {
    guard case .sign(let sign) = token, signs.contains(sign) else { return false }
    advance()
    return true
  }

  private mutating func requireSign(_ sign: String) throws(PredicateSyntaxError) {
    if !takeSign(sign) { throw unexpected("'\(sign)'") }
  }

  private func unexpected(_ expected: String) -> PredicateSyntaxError {
    PredicateSyntaxError(
      message: "found \(token.shown) at position \(tokens[index].position), expected \(expected)")
  }

  private var placeholders: Int {
    tokens.count { $0.token == .placeholder || $0.token == .namePlaceholder }
  }

  /// What has most likely happened to an array whose first value alone is there.
  private var wordsOnArray: String {
    arguments.count <= placeholders
      ? ""
      : "; there are \(arguments.count) arguments for \(placeholders) placeholders: Swift takes an "
        + "array of type [Any] apart, unless it is given as 'array as Any'"
  }

  private mutating func takeArgument() throws(PredicateSyntaxError) -> Any? {
    advance()
    nextArgument += 1
    if nextArgument > arguments.count {
      throw PredicateSyntaxError(
        message: "\(arguments.count) arguments for \(placeholders) placeholders")
    }
    return arguments[nextArgument - 1]
  }

  // MARK: - Conditions

  /// The conditions between two brackets, as far as they are read.
  private struct Level {
    /// Joined by OR.
    private var alternatives: [PredicateTree] = []
    /// Joined by AND: the last alternative so far.
    private var parts: [PredicateTree] = []
    /// How many NOTs stand in front of the next part.
    var negations = 0

    mutating func add(_ part: PredicateTree) {
      var part = part
      for _ in 0..<negations { part = .not(part) }
      negations = 0
      parts.append(part)
    }

    mutating func beginAlternative() {
      alternatives.append(parts.count == 1 ? parts[0] : .and(parts))
      parts = []
    }

    mutating func finish() -> PredicateTree {
      beginAlternative()
      return alternatives.count == 1 ? alternatives[0] : .or(alternatives)
    }
  }

  /// Reads `or` of the grammar; brackets inside of brackets are a list, not calls of this.
  private mutating func parseCondition() throws(PredicateSyntaxError) -> PredicateTree {
    var level = Level()
    var outer: [Level] = []
    while true {
      while takeKeyword("NOT") || takeSign("!") { level.negations += 1 }
      if !operandBrackets.contains(index), takeSign("(") {
        outer.append(level)
        level = Level()
        continue
      }
      level.add(try parseSingle())
      while true {
        if takeKeyword("AND") || takeSign("&&") { break }
        if takeKeyword("OR") || takeSign("||") {
          level.beginAlternative()
          break
        }
        if outer.isEmpty { return level.finish() }
        try requireSign(")")
        let tree = level.finish()
        // Taken, not copied: it grows with each bracket in it.
        level = outer.removeLast()
        level.add(tree)
      }
    }
  }

  private mutating func parseSingle() throws(PredicateSyntaxError) -> PredicateTree {
    if takeKeyword("TRUEPREDICATE") { return .constant(true) }
    if takeKeyword("FALSEPREDICATE") { return .constant(false) }
    return try parseComparison()
  }

  private mutating func parseComparison() throws(PredicateSyntaxError) -> PredicateTree {
    var quantifier: PredicateQuantifier?
    var isNegated = false
    if takeKeyword("ANY", "SOME") {
      quantifier = .any
    } else if takeKeyword("ALL") {
      quantifier = .all
    } else if takeKeyword("NONE") {
      quantifier = .any
      isNegated = true
    }
    let left = try parseOperand()
    if isKeyword("NOT") {
      advance()
      guard isKeyword("IN") else { throw unexpected("IN") }
      isNegated.toggle()
    }
    var comparator = try parseComparator()
    let options = try parseOptions()
    var right = try parseOperand()
    // An area is written as if it were a collection of places.
    if comparator == .isIn, case .value(let value as any _Geospatial) = right {
      comparator = .geoWithin
      right = .value(value)
    }
    if comparator == .between || comparator == .isIn {
      right = try listed(right, comparator)
    } else if case .values = right {
      throw PredicateSyntaxError(
        message: "several values in braces can only stand behind IN and BETWEEN")
    }
    if case .values = left {
      throw PredicateSyntaxError(
        message: "several values in braces cannot stand in front of a comparison")
    }
    let tree = PredicateTree.comparison(
      PredicateComparison(
        left: left, comparator: comparator, right: right, options: options,
        quantifier: quantifier))
    return isNegated ? .not(tree) : tree
  }

  /// A placeholder's collection as several values.
  private func listed(
    _ operand: PredicateOperand, _ comparator: PredicateComparator
  ) throws(PredicateSyntaxError) -> PredicateOperand {
    var operand = operand
    if case .value(let value) = operand {
      if value is PredicateTemplate.Argument { return operand }
      guard let values = comparator == .between ? boundValues(value) : listedValues(value) else {
        throw PredicateSyntaxError(
          message: comparator == .between
            ? "BETWEEN needs two values in their order, or a closed range"
            : wordsOnLongRange(value)
              ?? "\(comparator.rawValue) needs several values, not '\(ValueText.of(value))'"
              + wordsOnArray)
      }
      operand = .values(values)
    }
    if comparator == .between {
      guard case .values(let values) = operand, values.count == 2 else {
        throw PredicateSyntaxError(message: "BETWEEN needs two values")
      }
    }
    return operand
  }

  private static let comparators: [String: PredicateComparator] = [
    "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual,
    "=<": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    "BETWEEN": .between, "IN": .isIn, "CONTAINS": .contains, "BEGINSWITH": .beginsWith,
    "ENDSWITH": .endsWith, "LIKE": .like, "GEOWITHIN": .geoWithin,
  ]

  private mutating func parseComparator() throws(PredicateSyntaxError) -> PredicateComparator {
    switch token {
    case .sign(let sign):
      if let comparator = Self.comparators[sign] {
        advance()
        return comparator
      }
    case .word(let word):
      if let comparator = Self.comparators[word.uppercased()] {
        advance()
        return comparator
      }
      if word.uppercased() == "MATCHES" {
        throw PredicateSyntaxError(message: "MATCHES is not supported; use LIKE with * and ?")
      }
    default: break
    }
    throw unexpected("a comparison such as ==, <, IN or CONTAINS")
  }

  private mutating func parseOptions() throws(PredicateSyntaxError) -> StringOptions {
    guard takeSign("[") else { return [] }
    guard case .word(let letters) = token else { throw unexpected("c, d or cd") }
    var options: StringOptions = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      default: throw unexpected("c, d or cd")
      }
    }
    advance()
    try requireSign("]")
    return options
  }

  // MARK: - Operands

  private mutating func parseOperand() throws(PredicateSyntaxError) -> PredicateOperand {
    switch token {
    case .integer(let value):
      advance()
      return .value(value)
    case .double(let value):
      advance()
      return .value(value)
    case .text(let text):
      advance()
      return .value(text)
    case .placeholder: return .value(unwrapped(try takeArgument()))
    case .sign("{"): return try parseList()
    case .sign("("):
      var brackets = 0
      while takeSign("(") { brackets += 1 }
      let operand = try parseOperand()
      for _ in 0..<brackets { try requireSign(")") }
      return operand
    case .word:
      if takeKeyword("TRUE", "YES") { return .value(true) }
      if takeKeyword("FALSE", "NO") { return .value(false) }
      if takeKeyword("NULL", "NIL") { return .value(nil) }
      if isKeyword("SUBQUERY") { return try parseSubquery() }
      return .path(try parsePath())
    case .name, .variable, .namePlaceholder, .aggregate: return .path(try parsePath())
    case .sign, .end: throw unexpected("a property or a value")
    }
  }

  private mutating func parseList() throws(PredicateSyntaxError) -> PredicateOperand {
    advance()
    var values: [Any?] = []
    if takeSign("}") { return .values(values) }
    repeat {
      guard let value = try parseValue() else {
        throw PredicateSyntaxError(message: "only values can stand between { and }")
      }
      values.append(value)
    } while takeSign(",")
    try requireSign("}")
    return .values(values)
  }

  /// A value, nil inside for null; nil where something else stands.
  ///
  /// What can have others inside is not read, so that no text leads deep.
  private mutating func parseValue() throws(PredicateSyntaxError) -> Any?? {
    var brackets = 0
    while takeSign("(") { brackets += 1 }
    let isValue: Bool
    switch token {
    case .integer, .double, .text, .placeholder: isValue = true
    case .word: isValue = isKeyword("TRUE", "YES", "FALSE", "NO", "NULL", "NIL")
    default: isValue = false
    }
    guard isValue, case .value(let value) = try parseOperand() else { return nil }
    for _ in 0..<brackets { try requireSign(")") }
    return .some(value)
  }

  private mutating func parseSubquery() throws(PredicateSyntaxError) -> PredicateOperand {
    advance()
    try requireSign("(")
    let collection = try parsePath()
    try requireSign(",")
    guard case .variable(let variable) = token else { throw unexpected("a variable such as $x") }
    advance()
    try requireSign(",")
    // Before it is read: what is inside is read by a call inside of this one.
    subqueryDepth += 1
    if subqueryDepth > Subquery.depthMax {
      throw PredicateSyntaxError(
        message: "at most \(Subquery.depthMax) SUBQUERYs can be inside of each other")
    }
    let condition = try parseCondition()
    subqueryDepth -= 1
    try requireSign(")")
    try requireSign(".")
    guard token == .aggregate("count") else { throw unexpected("@count") }
    advance()
    return .subquery(Subquery(collection: collection, variable: variable, condition: condition))
  }

  private mutating func parsePath() throws(PredicateSyntaxError) -> PropertyPath {
    var path = PropertyPath()
    var needsStep = true
    if case .variable(let variable) = token {
      advance()
      path.variable = variable
      needsStep = false
    } else if takeKeyword("SELF") {
      needsStep = false
    }
    if needsStep { try parseStep(&path) }
    while true {
      if takeSign(".") {
        try parseStep(&path)
      } else if case .sign("[") = token {
        try parseSubscript(&path)
      } else {
        return path
      }
    }
  }

  private mutating func parseStep(_ path: inout PropertyPath) throws(PredicateSyntaxError) {
    switch token {
    case .word(let name), .name(let name):
      advance()
      path.steps.append(.property(name))
    case .namePlaceholder:
      let argument = unwrapped(try takeArgument())
      guard let names = argument as? String else {
        throw PredicateSyntaxError(
          message: "%K needs the name of a property, not '\(ValueText.of(argument))'")
      }
      path.steps += try Self.steps(of: names)
    case .aggregate(let name):
      path.steps.append(try Self.step(ofAggregate: name))
      advance()
    default: throw unexpected("the name of a property")
    }
  }

  /// The steps of a key path as text, such as `a.b.@count`.
  static func steps(of keyPath: String) throws(PredicateSyntaxError) -> [PathStep] {
    var steps: [PathStep] = []
    for name in keyPath.split(separator: ".", omittingEmptySubsequences: false) {
      if name.isEmpty { throw PredicateSyntaxError(message: "'\(keyPath)' is no key path") }
      steps.append(
        name.first == "@"
          ? try step(ofAggregate: String(name.dropFirst())) : .property(String(name)))
    }
    return steps
  }

  private static func step(ofAggregate name: String) throws(PredicateSyntaxError) -> PathStep {
    switch name {
    case "allKeys": return .mapKeys
    case "allValues": return .mapValues
    default: break
    }
    guard let aggregate = PredicateAggregate(rawValue: "@" + name) else {
      throw PredicateSyntaxError(
        message: "'@\(name)' is not supported; use @count, @min, @max, @sum or @avg")
    }
    return .aggregate(aggregate)
  }

  private mutating func parseSubscript(_ path: inout PropertyPath) throws(PredicateSyntaxError) {
    advance()
    if takeSign("*") {
      path.steps.append(.anyElement)
    } else if takeKeyword("FIRST") {
      path.steps.append(.index(0))
    } else if takeKeyword("LAST") {
      path.steps.append(.last)
    } else if takeKeyword("SIZE") {
      path.steps.append(.aggregate(.count))
    } else {
      guard let value = try parseValue() else {
        throw unexpected("a key or a position between [ and ]")
      }
      if let key = value as? String {
        path.steps.append(.key(key))
      } else if let position = Int.exactInteger(value) {
        if position < 0 {
          throw PredicateSyntaxError(message: "Cannot pass a negative value for 'index'.")
        }
        path.steps.append(.index(position))
      } else {
        throw PredicateSyntaxError(message: "'\(ValueText.of(value))' is no key of a map")
      }
    }
    try requireSign("]")
  }
}
