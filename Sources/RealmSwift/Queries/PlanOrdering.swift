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

  /// What is the same for elements of equal values only; nil when there is no such element.
  func group(of item: Int64, _ readers: PlanReaders, _ subjects: SubjectReader) -> [UInt8]? {
    subjects.withSubject(item) { subject in
      var identity: [UInt8] = []
      for path in paths {
        var column = OrderColumn(path.type)
        let isEmpty = path.forEach(subject, readers) { value in
          column.append(value)
          return false
        }
        if isEmpty { column.append(.null) }
        column.appendIdentity(0, to: &identity)
      }
      return identity
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

extension PropertyType {
  /// Whether all values of the sort have integers of the same order, but for null.
  var isOrderedPacked: Bool {
    switch self {
    case .int, .bool, .float, .double, .date: true
    default: false
    }
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
    isPacked = type.isOrderedPacked
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
    return first.withValue { first in second.withValue { first.sortOrder($0) } }
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
    values[position].withValue { value in
      bytes.append(value.sortRank)
      switch value {
      case .null: break
      case .bool(let value): bytes.append(value ? 1 : 0)
      case .integer, .number, .decimal:
        // The same number in any form is one value; all that are none are, too.
        let number = value.asDecimal!
        let bits = number.isNaN ? UInt128.max : number.isZero ? 0 : number.reduced.bits
        withUnsafeBytes(of: bits) { bytes.append(contentsOf: $0) }
      case .date(let date): append((date == 0 ? 0 : date)._packed)
      case .text(let text), .bytes(_, let text):
        append(Int64(text.count))
        bytes += text
      case .mixedLink(let table, let key):
        append(Int64(bitPattern: table))
        append(key.rawValue)
      case .link(let table, let key):
        append(Int64(table))
        append(key.rawValue)
      }
    }
  }
}

// MARK: - Resolving

/// An order as it was asked for.
enum QueryOrder {
  case sort([SortDescriptor])
  case distinct([String])
}

extension PlanOrdering {
  /// The order in the terms of a schema; stops when a key path cannot be used.
  init(_ order: QueryOrder, _ origin: any QueryOrigin) {
    let found: [(path: PlanPath, tables: Set<Int>)]
    switch order {
    case .sort(let descriptors):
      kind = .sort(ascending: descriptors.map(\.ascending))
      found = descriptors.map { Self.path($0.keyPath, "sort", origin) }
    case .distinct(let keyPaths):
      kind = .distinct
      found = keyPaths.map { Self.path($0, "distinct", origin) }
    }
    paths = found.map(\.path)
    tables = found.reduce(origin.tables) { $0.union($1.tables) }
  }

  private static func path(
    _ keyPath: String, _ verb: String, _ origin: any QueryOrigin
  ) -> (path: PlanPath, tables: Set<Int>) {
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
    check(path, binding, keyPath, verb, origin.realm)
    return PlanResolver.path(path, origin.realm, binding)
  }

  /// Stops with a message of its own, before the resolver would with another one.
  private static func check(
    _ path: PropertyPath, _ binding: TableBinding, _ keyPath: String, _ verb: String,
    _ realm: ConfinedRealm
  ) {
    var binding: TableBinding? = binding
    for (index, step) in path.steps.enumerated() {
      guard case .property(let name) = step, let owner = binding else { return }
      let schema = owner.schema
      let place = "Cannot \(verb) on key path '\(keyPath)': property '\(schema.name).\(name)'"
      guard let position = schema.index(ofProperty: name) else {
        misuse(.argument, "\(place) does not exist.")
      }
      let codec = schema.properties[position].codec
      let isLast = index == path.steps.count - 1
      if codec.collection != .none || codec.type == .linkingObjects {
        misuse(.argument, "\(place) is a collection, which is not supported.")
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
      binding = codec.objectClass.map { realm.target($0, owner, owner.columns[position]) }
    }
  }
}

extension ConfinedRealm {
  /// The class that a link of a column leads to.
  func target(_ type: ObjectBase.Type, _ binding: TableBinding, _ column: Int) -> TableBinding {
    targetTable(of: type, table(binding), column).pointee.binding
  }

  /// The position of a class among the Realm's: also of its dynamic form, which comes behind all.
  func position(of binding: TableBinding) -> Int { binding.index % bindings.count }
}

extension PlanValue {
  /// Where values of its sort stand when mixed values are sorted: null, Bool, numbers, texts, data, dates,
  /// object ids, UUIDs, objects, collections.
  fileprivate var sortRank: UInt8 {
    switch self {
    case .null: return 0
    case .bool: return 1
    case .integer, .number, .decimal: return 2
    case .text: return 3
    case .bytes(.data, _): return 4
    case .date: return 5
    case .bytes(.objectId, _): return 6
    case .bytes(.UUID, _): return 7
    case .link, .mixedLink: return 8
    case .bytes: return 9
    }
  }

  /// A total order, as sorting of mixed values and decimals needs it.
  ///
  /// Values without an order to each other go by their sorts, what is not a number comes before all numbers, and
  /// objects go by their classes. Columns of doubles go by `OrderKey` instead, where it stands at the ends.
  func sortOrder(_ other: PlanValue) -> PlanOrder {
    if let order = order(other) { return order }
    let (left, right) =
      sortRank == other.sortRank
      ? (sortDetail, other.sortDetail) : (UInt64(sortRank), UInt64(other.sortRank))
    return left == right ? .equal : left < right ? .less : .greater
  }

  /// Tells values of one sort apart that have no order.
  private var sortDetail: UInt64 {
    switch self {
    case .mixedLink(let table, _): return table
    case .link(let table, _): return UInt64(table)
    default: return order(self) == nil ? 0 : 1
    }
  }
}
