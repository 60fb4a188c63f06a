// Sorted and distinct results: the values of some paths, read once for all elements.
internal import ObjectStore

/// An order of results, or the choice of one of several equal elements.
struct PlanOrdering {
  enum Kind {
    /// By the paths' values, the first path first.
    case sort(ascending: [Bool])
    /// The first element of each combination of values.
    case distinct
  }

  let kind: Kind
  let paths: [PlanPath]
  /// The Realm's classes that the paths look at, by position.
  let tables: Set<Int>

  var isDistinct: Bool {
    if case .distinct = kind { return true }
    return false
  }

  func apply(to items: [Int64], of origin: any QueryOrigin) -> [Int64] {
    let readers = PlanReaders(origin.realm, tables)
    let subjects = SubjectReader(origin)
    let columns = paths.map { path in
      var column = OrderColumn(path.type)
      column.reserveCapacity(items.count)
      for item in items {
        let isThere: Void? = subjects.withSubject(item) { subject in
          let isEmpty = path.forEach(subject, readers) { value in
            column.append(value)
            return false
          }
          if isEmpty { column.append(.null) }
        }
        if isThere == nil { column.append(.null) }
      }
      return column
    }
    switch kind {
    case .sort(let ascending): return Self.sorted(items, columns, ascending)
    case .distinct: return Self.distinct(items, columns)
    }
  }

  private static func sorted(
    _ items: [Int64], _ columns: [OrderColumn], _ ascending: [Bool]
  ) -> [Int64] {
    let directed = Array(zip(columns, ascending))
    let positions = items.indices.sorted { left, right in
      for (column, isAscending) in directed {
        switch column.order(left, right) {
        case .less: return isAscending
        case .greater: return !isAscending
        case .equal: continue
        }
      }
      // Equal elements stay in the order that they had.
      return left < right
    }
    return positions.map { items[$0] }
  }

  private static func distinct(_ items: [Int64], _ columns: [OrderColumn]) -> [Int64] {
    var seen = Set<[UInt8]>()
    return items.indices.filter { position in
      var identity: [UInt8] = []
      for column in columns { column.appendIdentity(position, to: &identity) }
      return seen.insert(identity).inserted
    }.map { items[$0] }
  }
}

/// The values of one path, one an element.
private struct OrderColumn {
  private let isPacked: Bool
  /// Packed values by an integer of the same order.
  private var keys: [Int64] = []
  private var nulls: [Bool] = []
  private var values: [PlanConstant] = []

  init(_ type: PropertyType) {
    isPacked = [.int, .bool, .float, .double, .date].contains(type)
  }

  mutating func reserveCapacity(_ count: Int) {
    if isPacked {
      keys.reserveCapacity(count)
      nulls.reserveCapacity(count)
    } else {
      values.reserveCapacity(count)
    }
  }

  mutating func append(_ value: PlanValue) {
    guard isPacked else {
      values.append(PlanConstant(value))
      return
    }
    switch value {
    case .integer(let integer): keys.append(integer)
    case .bool(let bool): keys.append(bool ? 1 : 0)
    case .number(let number), .date(let number):
      keys.append(OrderKey.integer(number._packed, .double))
    default: keys.append(0)
    }
    if case .null = value { nulls.append(true) } else { nulls.append(false) }
  }

  /// The order of two elements' values; null comes first.
  func order(_ left: Int, _ right: Int) -> PlanOrder {
    if isPacked {
      if nulls[left] != nulls[right] { return nulls[left] ? .less : .greater }
      if keys[left] == keys[right] { return .equal }
      return keys[left] < keys[right] ? .less : .greater
    }
    let (first, second) = (values[left], values[right])
    if first.isNull != second.isNull { return first.isNull ? .less : .greater }
    return first.withValue { first in second.withValue { first.order($0) } } ?? .equal
  }

  /// Adds bytes that are the same for equal values only.
  func appendIdentity(_ position: Int, to bytes: inout [UInt8]) {
    func append(_ integer: Int64) {
      withUnsafeBytes(of: integer) { bytes.append(contentsOf: $0) }
    }
    if isPacked {
      bytes.append(nulls[position] ? 0 : 1)
      append(keys[position])
      return
    }
    switch values[position] {
    case .null: bytes.append(0)
    case .bool(let value): bytes += [1, value ? 1 : 0]
    case .integer(let value):
      bytes.append(2)
      append(value)
    case .number(let value), .date(let value):
      bytes.append(3)
      append(value._packed)
    case .text(let text), .bytes(_, let text):
      bytes.append(4)
      append(Int64(text.count))
      bytes += text
    case .link(let table, let key):
      bytes.append(5)
      append(Int64(table))
      append(key.rawValue)
    }
  }
}

// MARK: - Resolving

extension QuerySource {
  /// The order of sort descriptors; stops when one cannot be sorted by.
  func sorted(by descriptors: [SortDescriptor]) -> QuerySource {
    let paths = descriptors.map { orderPath($0.keyPath, "sort") }
    return ordered(
      PlanOrdering(
        kind: .sort(ascending: descriptors.map(\.ascending)), paths: paths.map(\.path),
        tables: tables(paths)))
  }

  /// One element of each combination of values; stops when a key path cannot be used.
  func distinct(by keyPaths: [String]) -> QuerySource {
    let paths = keyPaths.map { orderPath($0, "distinct") }
    return ordered(PlanOrdering(kind: .distinct, paths: paths.map(\.path), tables: tables(paths)))
  }

  private func tables(_ paths: [(path: PlanPath, tables: Set<Int>)]) -> Set<Int> {
    paths.reduce(origin.tables) { $0.union($1.tables) }
  }

  private func orderPath(_ keyPath: String, _ verb: String) -> (path: PlanPath, tables: Set<Int>) {
    check()
    guard let binding = origin.table?.pointee.binding else {
      guard keyPath == "self" else {
        misuse(
          .argument,
          "Cannot \(verb) on key path '\(keyPath)': arrays of \(origin.type) can only be sorted on "
            + "'self'.")
      }
      return (PlanPath(end: .subject, type: origin.type), [])
    }
    let path = PropertyPath(
      steps: keyPath.split(separator: ".", omittingEmptySubsequences: false).map {
        .property(String($0))
      })
    checkOrderPath(path, binding, keyPath, verb)
    return PlanResolver.path(path, realm, binding)
  }

  /// Stops with a message of its own, before the resolver would with another one.
  private func checkOrderPath(
    _ path: PropertyPath, _ binding: TableBinding, _ keyPath: String, _ verb: String
  ) {
    var binding: TableBinding? = binding
    for (index, step) in path.steps.enumerated() {
      guard case .property(let name) = step, let schema = binding?.schema else { return }
      let place = "Cannot \(verb) on key path '\(keyPath)': property '\(schema.name).\(name)'"
      guard let position = schema.index(ofProperty: name) else {
        misuse(.argument, "\(place) does not exist.")
      }
      let codec = schema.properties[position].codec
      let isLast = index == path.steps.count - 1
      if codec.collection != .none || codec.type == .linkingObjects {
        misuse(.argument, "\(place) is of unsupported type '\(codec.collection)'.")
      }
      if isLast && codec.type == .object && verb == "sort" {
        misuse(
          .argument,
          "\(place) of type '\(codec.type)' cannot be the final property in the key path.")
      }
      if !isLast && codec.type != .object {
        misuse(
          .argument,
          "\(place) of type '\(codec.type)' may only be the final property in the key path.")
      }
      binding = codec.objectClass.map { realm.requireTable(of: $0).pointee.binding }
    }
  }
}
