// By what results are sorted.

/// A key path and a direction to sort by.
public struct SortDescriptor: Sendable, Equatable {
  /// The property to sort by; links on the way are separated by dots.
  public let keyPath: String
  /// Whether the smallest value comes first.
  public let ascending: Bool

  /// Sorts by the property of a name.
  public init(keyPath: String, ascending: Bool = true) {
    self.keyPath = keyPath
    self.ascending = ascending
  }

  /// Sorts by a property.
  public init<Element: ObjectBase>(keyPath: PartialKeyPath<Element>, ascending: Bool = true) {
    self.init(keyPath: _name(for: keyPath), ascending: ascending)
  }

  /// The same property in the other direction.
  public func reversed() -> SortDescriptor {
    SortDescriptor(keyPath: keyPath, ascending: !ascending)
  }
}

extension SortDescriptor: CustomStringConvertible {
  /// The key path and the direction.
  public var description: String {
    "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
  }
}

extension SortDescriptor: ExpressibleByStringLiteral {
  /// Sorts by the property of a name, the smallest value first.
  public init(stringLiteral value: String) { self.init(keyPath: value) }
}
