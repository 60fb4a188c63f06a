// Checkers of asynchronous commits, frozen copies and references; like the others pure judgements
// on what was observed.

/// I12: blocks run in the order of the requests, and each commit completes once, in that order.
package struct CompletionCheck: Sendable {
  private var nextBegin = 0
  private var nextCompletion = 0
  private var newestVersion: UInt64 = 0

  package init() {}

  /// The block of a request has begun.
  package mutating func began(_ request: Int, _ place: String) -> Violation? {
    defer { nextBegin = request + 1 }
    guard request != nextBegin else { return nil }
    return Violation(
      .completion, "The blocks of asynchronous writes ran in another order than asked for.",
      witness: ["\(place): block \(request) began when block \(nextBegin) was next"])
  }

  /// A commit has completed without an error.
  package mutating func committed(
    _ request: Int, version: UInt64, _ place: String
  ) -> Violation? {
    defer { newestVersion = version }
    guard version <= newestVersion else { return nil }
    return Violation(
      .completion, "An asynchronous commit made no newer version.",
      witness: ["\(place): commit \(request) made version \(version) after \(newestVersion)"])
  }

  /// A completion was called.
  package mutating func completed(_ request: Int, _ place: String) -> Violation? {
    defer { nextCompletion = request + 1 }
    if request == nextCompletion { return nil }
    let sentence =
      request < nextCompletion
      ? "A completion was called twice." : "A completion was left out, or came too early."
    return Violation(
      .completion, sentence,
      witness: ["\(place): completion of \(request) came when \(nextCompletion) was next"])
  }

  /// Nothing has happened for long.
  package static func silence(_ left: Int, seconds: Double, place: String) -> Violation {
    Violation(
      .completion, "An asynchronous write was forgotten.",
      witness: [
        "\(place): \(left) are on their way, and none has ended for \(decimal(seconds, places: 1)) s"
      ])
  }
}

/// I6: what is acknowledged is durable.
package enum DurablePrefixCheck {
  /// `visible` was asked for after the completion of `version` was called; others see only what is
  /// durable.
  package static func judge(_ version: UInt64, visible: UInt64, place: String) -> Violation? {
    guard visible < version else { return nil }
    return Violation(
      .durablePrefix, "A commit was acknowledged before it was durable.",
      witness: [
        "\(place): the completion of version \(version) was called while \(visible) was the newest "
          + "durable one"
      ])
  }
}

/// I5: a frozen copy stays what its source was.
package enum FrozenCheck {
  package static func version(_ copy: UInt64, source: UInt64, place: String) -> Violation? {
    guard copy != source else { return nil }
    return Violation(
      .frozenImmutability, "A frozen copy is of another version than its source.",
      witness: ["\(place): the source stood on version \(source), its copy on \(copy)"])
  }

  package static func content(
    first: [Row], again: [Row], of content: Content, version: UInt64, place: String
  ) -> Violation? {
    // Words are made only where something is wrong: they take longer than the comparison.
    var what: String { "\(place), version \(version), \(content)" }
    guard first.count == again.count else {
      return Violation(
        .frozenImmutability, "A frozen collection changed its size.",
        witness: ["\(what): first \(first.count) objects, then \(again.count)"])
    }
    for position in first.indices {
      guard let difference = first[position].difference(from: again[position]) else { continue }
      return Violation(
        .frozenImmutability, "A frozen value changed.",
        witness: ["\(what), position \(position): first and now it has \(difference)"])
    }
    return nil
  }

  /// Whether the objects and the transactions that wrote them are the same: what is looked at where
  /// the whole content is not.
  package static func isSameBriefly(first: [Row], again: [Row]) -> Bool {
    guard first.count == again.count else { return false }
    for position in first.indices
    where first[position].id != again[position].id || first[position].stamp != again[position].stamp
    {
      return false
    }
    return true
  }

  /// A copy's list shows the members that follow from its group's stamp.
  package static func members(
    _ rows: [Row], expected: [Int], group: Int, version: UInt64, place: String
  ) -> Violation? {
    let found = rows.map(\.id)
    guard found != expected else { return nil }
    return Violation(
      .atomicity, "A list has other members than the transaction that set it has given it.",
      witness: ["\(place), version \(version), group \(group): \(found), expected \(expected)"])
  }
}

/// I9: references.
package enum ReferenceCheck {
  package static func version(
    _ version: UInt64, reference: UInt64, place: String
  ) -> Violation? {
    guard version < reference else { return nil }
    return Violation(
      .references, "A reference was resolved at an older version than its own.",
      witness: ["\(place): version \(version), the reference was made at \(reference)"])
  }

  package static func once(isResolved: Bool, place: String) -> Violation? {
    guard !isResolved else { return nil }
    return Violation(
      .references, "A reference can be resolved again.",
      witness: ["\(place): it was resolved and does not say so"])
  }

  /// An object by its key and how often it was changed: a replaced one counts one more.
  package static func object(
    found: Row?, key: Int, changes: Int, current: Row?, version: UInt64, place: String
  ) -> Violation? {
    var what: String { "\(place), version \(version), object \(key)" }
    if let found {
      if found.id == key && found.changes == changes { return nil }
      return Violation(
        .references, "A reference was resolved to another object.",
        witness: [
          "\(what) with \(changes) changes was referred to, object \(found.id) with "
            + "\(found.changes) came"
        ])
    }
    guard let current, current.changes == changes else { return nil }
    return Violation(
      .references, "A reference was resolved to nil though its object is there.",
      witness: [what])
  }

  package static func members(
    _ found: [Int]?, expected: [Int], of content: Content, version: UInt64, place: String
  ) -> Violation? {
    guard found != expected else { return nil }
    return Violation(
      .references, "A reference was resolved to another collection.",
      witness: [
        "\(place), version \(version), \(content): \(found.map { "\($0)" } ?? "nil"), expected "
          + "\(expected)"
      ])
  }
}
