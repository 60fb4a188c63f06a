// Words, numbers, texts and signs of a predicate's format. The parser asks for one token after
// another.
internal import Foundation

/// What is wrong with a predicate's format.
struct PredicateSyntaxError: Error {
  let message: String
}

/// A piece of a predicate's format.
enum PredicateToken: Equatable {
  /// A keyword or the name of a property.
  case word(String)
  /// A name that is never a keyword: written with `#`.
  case name(String)
  case integer(Int64)
  case double(Double)
  case text(String)
  /// `$name`.
  case variable(String)
  /// `@count` and the like.
  case aggregate(String)
  /// `%@`, `%d` and the like.
  case placeholder
  /// `%K`.
  case namePlaceholder
  /// Anything else: brackets, comparators, separators.
  case sign(String)
  case end

  /// Words that mean something to the parser.
  static let keywords: Set<String> = [
    "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH",
    "ENDSWITH", "LIKE", "MATCHES", "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "FALSE", "YES", "NO",
    "NULL", "NIL", "SELF", "SUBQUERY", "GEOWITHIN",
  ]

  /// A property's name as it can stand in a format.
  static func escaped(_ name: String) -> String {
    keywords.contains(name.uppercased()) ? "#" + name : name
  }

  /// The token in messages.
  var shown: String {
    switch self {
    case .word(let word), .name(let word): return "'\(word)'"
    case .integer(let value): return "'\(value)'"
    case .double(let value): return "'\(value)'"
    case .text(let text): return "the text \"\(text)\""
    case .variable(let name): return "'$\(name)'"
    case .aggregate(let name): return "'@\(name)'"
    case .placeholder: return "a placeholder"
    case .namePlaceholder: return "'%K'"
    case .sign(let sign): return "'\(sign)'"
    case .end: return "the end"
    }
  }
}

/// Cuts a format into tokens.
struct PredicateTokenizer {
  private let characters: [Character]
  private var position = 0

  init(_ format: String) { characters = Array(format) }

  /// All tokens, the last one being `.end`, with the position where each starts.
  mutating func tokens() throws(PredicateSyntaxError) -> [(token: PredicateToken, position: Int)] {
    var result: [(PredicateToken, Int)] = []
    while true {
      while position < characters.count, characters[position].isWhitespace { position += 1 }
      let start = position
      let token = try next()
      result.append((token, start))
      if token == .end { return result }
    }
  }

  private func character(_ offset: Int = 0) -> Character? {
    position + offset < characters.count ? characters[position + offset] : nil
  }

  private mutating func next() throws(PredicateSyntaxError) -> PredicateToken {
    guard let first = character() else { return .end }
    switch first {
    case "'", "\"": return try text(first)
    case "%": return try placeholder()
    case "$":
      position += 1
      return .variable(word())
    case "@":
      position += 1
      return .aggregate(word())
    case "#":
      position += 1
      return .name(word())
    default: break
    }
    if first.isLetter || first == "_" { return .word(word()) }
    let isSigned = first == "-" || first == "+"
    let digit = isSigned ? character(1) : first
    if let digit, digit.isNumber || (digit == "." && character(isSigned ? 2 : 1)?.isNumber == true)
    {
      return try number()
    }
    return try sign(first)
  }

  private mutating func word() -> String {
    let start = position
    while let next = character(), next.isLetter || next.isNumber || next == "_" { position += 1 }
    return String(characters[start..<position])
  }

  private mutating func number() throws(PredicateSyntaxError) -> PredicateToken {
    let start = position
    position += 1
    var isInteger = characters[start] != "."
    while let next = character() {
      let isExponentSign =
        (next == "-" || next == "+") && "eE".contains(characters[position - 1])
      if next == "." || next == "e" || next == "E" {
        isInteger = false
      } else if !next.isNumber && !isExponentSign {
        break
      }
      position += 1
    }
    let text = String(characters[start..<position])
    if isInteger, let value = Int64(text) { return .integer(value) }
    if let value = Double(text) { return .double(value) }
    throw PredicateSyntaxError(message: "'\(text)' is no number")
  }

  private mutating func text(_ quote: Character) throws(PredicateSyntaxError) -> PredicateToken {
    position += 1
    var result = ""
    while let next = character() {
      position += 1
      if next == quote { return .text(result) }
      if next != "\\" {
        result.append(next)
        continue
      }
      guard let escaped = character() else { break }
      position += 1
      switch escaped {
      case "n": result.append("\n")
      case "t": result.append("\t")
      case "r": result.append("\r")
      default: result.append(escaped)
      }
    }
    throw PredicateSyntaxError(message: "a text has no closing \(quote)")
  }

  private mutating func placeholder() throws(PredicateSyntaxError) -> PredicateToken {
    position += 1
    if character() == "K" {
      position += 1
      return .namePlaceholder
    }
    for form in ["@", "lld", "llu", "lli", "ld", "lu", "li", "lf", "d", "i", "u", "f", "g", "s"] {
      if characters[position...].starts(with: form) {
        position += form.count
        return .placeholder
      }
    }
    throw PredicateSyntaxError(
      message: "'%\(character().map { String($0) } ?? "")' is no placeholder; use %@, %K, %d or %f")
  }

  private mutating func sign(_ first: Character) throws(PredicateSyntaxError) -> PredicateToken {
    for sign in ["==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||"] {
      if characters[position...].starts(with: sign) {
        position += 2
        return .sign(sign)
      }
    }
    guard "=<>!(){}[],.*".contains(first) else {
      throw PredicateSyntaxError(message: "the sign '\(first)' has no meaning")
    }
    position += 1
    return .sign(String(first))
  }
}
