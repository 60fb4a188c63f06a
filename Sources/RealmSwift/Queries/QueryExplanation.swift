// How a query is answered, in words: which way its search goes, what it costs by the estimate that
// chose it, and what it took. For people who ask why a query is slow; nothing here decides
// anything.
internal import Foundation
internal import ObjectStore
internal import Platform

/// What a search took, in numbers; nil where nothing was searched.
package struct QueryFigures: Equatable, Sendable {
  package internal(set) var found: Int?
  package internal(set) var lookedAt: Int?
  /// Clusters in which something was found.
  package internal(set) var clusters: Int?
  /// Choosing the way, and finding the keys of a way by keys.
  package internal(set) var planNanoseconds: UInt64?
  package internal(set) var searchNanoseconds: UInt64?
}

/// What the search of a query looks at.
package struct QueryExplanation: Sendable {
  package private(set) var lines: [String] = []
  package internal(set) var figures = QueryFigures()

  mutating func add(_ line: String, depth: Int = 0) {
    lines.append(String(repeating: "  ", count: depth) + line)
  }

  var text: String { lines.joined(separator: "\n") }
}

/// Names for the positions that a plan has.
struct PlanNames {
  private let bindings: [TableBinding]

  init(_ realm: ConfinedRealm) { bindings = realm.bindings }

  /// The name of a class.
  func name(_ table: Int) -> String {
    table >= 0 && table < bindings.count ? bindings[table].schema.name : "value"
  }

  /// The name of a property by its column.
  func name(_ table: Int, _ column: Int) -> String {
    guard table >= 0, table < bindings.count,
      let position = bindings[table].columns.firstIndex(of: column)
    else { return "column \(column)" }
    return bindings[table].schema.properties[position].name
  }
}

extension PlanCondition {
  /// What is looked at, for each part a line.
  func explain(_ names: PlanNames, _ table: Int, _ depth: Int, into text: inout QueryExplanation) {
    switch self {
    case .constant(let value): text.add(value ? "always true" : "never true", depth: depth)
    case .and(let parts), .or(let parts):
      if case .and = self {
        text.add("all of", depth: depth)
      } else {
        text.add("any of", depth: depth)
      }
      for part in parts { part.explain(names, table, depth + 1, into: &text) }
    case .not(let part):
      text.add("not", depth: depth)
      part.explain(names, table, depth + 1, into: &text)
    case .nested(let nested):
      text.add("deep inside of each other", depth: depth)
      for part in nested.conditions { part.explain(names, table, depth + 1, into: &text) }
    case .column(let test):
      let way =
        switch test.cost {
        case .packed: "a leaf at a time"
        case .bytes: "bytes in place"
        case .values: "value by value"
        }
      text.add(
        "\(names.name(table, test.column)) \(test.test.comparator.rawValue), \(way)", depth: depth)
    case .linked(let test):
      let property = names.name(table, test.column)
      switch test.form {
      case .objects(let keys, let isNegated):
        text.add(
          "\(property) leads to \(isNegated ? "none" : "one") of \(keys.count) objects",
          depth: depth)
      case .related(let condition):
        text.add(
          "\(property) leads to a \(names.name(test.target)), found once, for which", depth: depth)
        condition.explain(names, test.target, depth + 1, into: &text)
      }
    case .values: text.add("values of a path, object by object", depth: depth)
    }
  }
}

extension KeySource {
  /// What gives the keys.
  func explained(_ names: PlanNames, _ table: Int) -> String {
    switch self {
    case .keys(let keys): return "primary key, \(keys.count) found"
    case .orders(let column, let orders):
      let isOne = orders.ranges.allSatisfy { $0.lowerBound == $0.upperBound }
      return "index on \(names.name(table, column)), \(orders.ranges.count) "
        + (isOne ? "values" : "ranges")
    case .links(let column, let targets, _):
      return "backlinks by \(names.name(table, column)) of \(targets.count) objects"
    case .union(let sources):
      return "any of: " + sources.map { $0.explained(names, table) }.joined(separator: "; ")
    case .intersection(let sources):
      return "all of: " + sources.map { $0.explained(names, table) }.joined(separator: "; ")
    }
  }
}

extension QueryPlan {
  /// How objects of a table are found: the way, what else was thought of, and what it took.
  func explain(_ realm: ConfinedRealm, _ table: Int, into text: inout QueryExplanation) {
    let names = PlanNames(realm)
    let readers = readers(realm, and: table)
    guard let reader = readers[table], reader.count > 0 else {
      text.add("no objects")
      return
    }
    let clock = MonotonicClock()
    text.add("\(reader.count) objects of \(names.name(table))")
    let start = clock.nanoseconds()
    let choice = KeyChoice(condition, readers, table, reader)
    let scanCost = KeyChoice.scanCost(condition, reader, nil, 0)
    guard let run = run(realm, table) else { return }
    let planned = clock.nanoseconds()
    if let choice {
      text.add(
        "way by keys: \(choice.source.explained(names, table)), at most \(choice.count) objects, "
          + "about \(Self.shown(choice.cost(reader, limit: nil)))")
    }
    text.add("way by a scan: about \(Self.shown(scanCost))")
    switch run.access {
    case .nothing: text.add("taken: none, nothing can fulfil the condition")
    case .scan: text.add("taken: the scan, every object is asked")
    case .stream, .keys:
      text.add(
        "taken: the keys" + (choice?.isExact == true ? ", nothing else is asked" : ", asked"))
    }
    if case .constant(true) = run.asked {} else { run.asked.explain(names, table, 1, into: &text) }
    if let count = exactCount(realm, table) {
      text.add("count: \(count), known without a search")
    }
    var found = 0
    var clusters = 0
    run.forEachCluster { _, rows in
      found += rows.count
      clusters += 1
      return true
    }
    let searched = clock.nanoseconds()
    let looked: Int
    switch run.access {
    case .nothing: looked = 0
    case .scan: looked = reader.count
    case .stream, .keys: looked = choice?.count ?? 0
    }
    text.figures = QueryFigures(
      found: found, lookedAt: looked, clusters: clusters, planNanoseconds: planned - start,
      searchNanoseconds: searched - planned)
    text.add(
      "found \(found) objects, looked at \(looked) in \(clusters) clusters")
    text.add(
      "time: plan and keys \(Self.shown(Double(planned - start))), search "
        + "\(Self.shown(Double(searched - planned)))")
  }

  /// A time with its unit.
  private static func shown(_ nanoseconds: Double) -> String {
    if nanoseconds < 1e4 { return "\(Int(nanoseconds)) ns" }
    if nanoseconds < 1e7 { return "\(Int(nanoseconds / 1e3)) us" }
    // An estimate of very many conditions may be no integer any more.
    return "\(Int(min(nanoseconds / 1e6, 1e15))) ms"
  }
}

extension Results {
  /// How the results are found: by which index, links or scan, and how long that takes.
  ///
  /// Tells how many objects are looked at too. For people: the wording may change. Runs the query
  /// anew; stops where the results may not be used.
  public func explain() -> String { explanation().text }

  /// The same with its figures as numbers.
  package func explanation() -> QueryExplanation {
    var text = QueryExplanation()
    if let source = source as? QuerySource<Element> {
      source.explain(into: &text)
    } else {
      text.add("\(count) elements, known without a search")
    }
    return text
  }
}
