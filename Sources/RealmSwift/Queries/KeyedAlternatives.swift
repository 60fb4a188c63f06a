// Many alternatives that each ask for a value of their own and for something else: `(name == "a"
// AND age == 1) OR (name == "b" AND age == 2) OR ...`. To ask each of them of each object takes the
// product of both. So they are put into groups inside of groups, each behind the question whether
// the value is one of the group's: the logic stays the same, and an object is asked few of them.
internal import Foundation

/// How many alternatives are worth it: fewer are asked a leaf at a time.
private let alternativesMin = 32

/// One alternative, and what it asks of a path that all of them ask.
private struct Alternative {
  let comparison: PredicateComparison
  let values: [Any?]
  var condition: PredicateTree
}

extension [PredicateTree] {
  /// The same alternatives, where many of them ask for values of one path as one condition.
  func groupedByValues() -> [PredicateTree] {
    if count < alternativesMin { return self }
    let questions = map(\.questions)
    guard let path = Self.mostTellingPath(questions) else { return self }
    var alternatives: [Alternative] = []
    var others: [PredicateTree] = []
    /// Those that ask for one value alone, by it.
    var places: [ConstantBytes: (place: Int, alternatives: [(PredicateTree, part: Int)])] = [:]
    var repeated: [ConstantBytes] = []
    for (tree, questions) in zip(self, questions) {
      guard let question = questions.first(where: { $0.group == path }) else {
        others.append(tree)
        continue
      }
      if question.values.count == 1, let bytes = question.firstValue {
        if let known = places[bytes] {
          if known.alternatives.count == 1 { repeated.append(bytes) }
          places[bytes]!.alternatives.append((tree, question.part))
          continue
        }
        places[bytes] = (alternatives.count, [(tree, question.part)])
      }
      alternatives.append(
        Alternative(
          comparison: question.comparison, values: question.values, condition: tree))
    }
    if alternatives.count < alternativesMin { return self }
    for bytes in repeated {
      let (place, same) = places[bytes]!
      let rests = PredicateTree.or(same.map { $0.without($1) }).joiningComparisons()
      alternatives[place].condition = .and([.comparison(alternatives[place].comparison), rests])
    }
    // Few enough in each group, and groups few deep inside of each other.
    let width = Int(cbrt(Double(alternatives.count)).rounded(.up))
    return [alternatives[...].grouped(path, width: width)] + others
  }

  /// The path of which most different values are asked; nil when these are few.
  private static func mostTellingPath(_ questions: [[PredicateTree.Question]]) -> ComparisonGroup? {
    var values: [ComparisonGroup: Set<ConstantBytes>] = [:]
    for question in questions.joined() {
      if let bytes = question.firstValue { values[question.group, default: []].insert(bytes) }
    }
    // Of equal ones the first by name, so that plans are the same in each process.
    let best = values.max {
      ($0.value.count, $1.key.path.text) < ($1.value.count, $0.key.path.text)
    }
    return best.flatMap { $0.value.count >= ConstantSet.countMin ? $0.key : nil }
  }
}

extension ArraySlice<Alternative> {
  /// One condition, behind the question for the values of all.
  fileprivate func grouped(_ path: ComparisonGroup, width: Int) -> PredicateTree {
    let question = first!.comparison.joined(path, flatMap(\.values))
    if count <= width { return .and([.comparison(question), .or(map(\.condition))]) }
    let size = (count + width - 1) / width
    let groups = stride(from: startIndex, to: endIndex, by: size).map { start in
      self[start..<Swift.min(start + size, endIndex)].grouped(path, width: width)
    }
    return .and([.comparison(question), .or(groups)])
  }
}

extension PredicateTree {
  /// What a part of a condition asks of a path: for one of some values.
  fileprivate struct Question {
    let group: ComparisonGroup
    let values: [Any?]
    let comparison: PredicateComparison
    /// Which part of the condition it is.
    let part: Int
    let firstValue: ConstantBytes?
  }

  /// What an AND of several parts asks for by values.
  fileprivate var questions: [Question] {
    guard case .joined(let join) = self, join.joint == .and else { return [] }
    return join.parts.enumerated().compactMap { position, part in
      guard case .comparison(let comparison) = part, let found = part.joinable,
        found.group.comparator == .isIn, !found.values.isEmpty
      else { return nil }
      return Question(
        group: found.group, values: found.values, comparison: comparison, part: position,
        firstValue: ConstantBytes(found.values[0]))
    }
  }

  /// The other parts of an AND.
  fileprivate func without(_ part: Int) -> PredicateTree {
    guard case .joined(let join) = self else { return self }
    var rest = join.parts
    rest.remove(at: part)
    return rest.count == 1 ? rest[0] : .and(rest)
  }
}
