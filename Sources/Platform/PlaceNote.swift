// Who keeps something, in one word: noted in a nanosecond, turned into words when somebody asks.

/// A thread, or the name of another place where code runs: a queue, an actor.
@usableFromInline
package struct PlaceNote: Equatable, Sendable {
  private static let nameBit: UInt64 = 1 << 63
  /// Names are never forgotten, so there must be an end.
  private static let namesMax = 4_096
  private static let names = Monitor((numbers: [String: UInt64](), names: [String]()))

  /// 0: nobody; with the top bit the number of a name, else the number of a thread.
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let nobody = PlaceNote(rawValue: 0)

  package init(_ thread: ThreadNumber) { rawValue = thread.rawValue }

  /// A place by its name, as in `queue 'label'`.
  ///
  /// - Complexity: a look-up in a table.
  package init(name: String) {
    rawValue = Self.names.withLock { table in
      if let number = table.numbers[name] { return number | Self.nameBit }
      guard table.names.count < Self.namesMax else { return 0 }
      let number = UInt64(table.names.count)
      table.numbers[name] = number
      table.names.append(name)
      return number | Self.nameBit
    }
  }

  /// Nil for nobody.
  package var description: String? {
    if rawValue == 0 { return nil }
    if rawValue & Self.nameBit == 0 { return ThreadNumber(rawValue: rawValue).description }
    return Self.names.withLock { $0.names[Int(rawValue & ~Self.nameBit)] }
  }
}
