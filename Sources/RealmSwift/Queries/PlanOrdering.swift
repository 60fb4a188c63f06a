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

  /// Some elements in one order after the other.
  static func apply(
    _ orderings: [PlanOrdering], to items: [Int64], of origin: any QueryOrigin
  ) -> [Int64] {
    var items = items
    var rest = orderings[...]
    while let next = rest.first {
      // Several orders in a row are one.
      let sorts = rest.prefix { !$0.isDistinct }
      if let paths = sortPaths(sorts) {
        let tables = sorts.reduce(into: Set<Int>()) { $0.formUnion($1.tables) }
        let order = SortOrder(paths, tables, origin)
        items = items.withUnsafeBufferPointer { order.sorted($0) }
        rest = rest.dropFirst(sorts.count)
      } else {
        items = next.firsts(of: items, origin)
        rest = rest.dropFirst()
      }
    }
    return items
  }

  /// The paths that some orders in a row sort by, the first one first; nil without one, and when
  /// one of them chooses distinct elements.
  static func sortPaths(_ orderings: some Collection<PlanOrdering>) -> SortOrder.Paths? {
    var paths: SortOrder.Paths = []
    // The last order counts first; equal elements stay in the order that they had.
    for ordering in orderings {
      guard case .sort(let ascending) = ordering.kind else { return nil }
      paths = zip(ordering.paths, ascending).map { ($0, $1) } + paths
    }
    return paths.isEmpty ? nil : paths
  }

  /// The first one of each group of equal elements.
  private func firsts(of items: [Int64], _ origin: any QueryOrigin) -> [Int64] {
    let order = SortOrder(paths.map { ($0, true) }, tables, origin)
    return items.withUnsafeBufferPointer { items in
      DistinctElements.firsts(items, paths.indices.map { order.column($0, items) })
    }
  }

  /// What is the same for elements of equal values only; nil when there is no such element.
  func group(of item: Int64, _ readers: PlanReaders, _ subjects: SubjectReader) -> [UInt8]? {
    subjects.withSubject(item) { subject in
      var identity: [UInt8] = []
      for path in paths {
        var isNull = true
        path.forEach(subject, readers) { value in
          if path.type.isOrderedPacked, let key = value.orderKey {
            // Numbers that are close may be one as decimals.
            identity.append(1)
            withUnsafeBytes(of: key) { identity.append(contentsOf: $0) }
          } else {
            value.appendIdentity(to: &identity)
          }
          isNull = false
          return false
        }
        if isNull { PlanValue.null.appendIdentity(to: &identity) }
      }
      return identity
    }
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

extension PlanValue {
  /// A packed value as an integer of the same order; nil for others.
  var orderKey: Int64? {
    switch self {
    case .integer(let integer): integer
    case .bool(let bool): bool ? 1 : 0
    case .number(let number), .date(let number): OrderKey.integer(number._packed, .double)
    default: nil
    }
  }

  /// Adds bytes that are the same for equal values only.
  func appendIdentity(to bytes: inout [UInt8]) {
    func append(_ integer: Int64) {
      withUnsafeBytes(of: integer) { bytes.append(contentsOf: $0) }
    }
    bytes.append(sortRank)
    switch self {
    case .null: break
    case .bool(let value): bytes.append(value ? 1 : 0)
    case .integer, .number, .single, .decimal:
      // The same number in any form is one value; all that are none are, too.
      let number = asDecimal!
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

// MARK: - Resolving

/// An order as it was asked for.
enum QueryOrder {
  case sort([SortDescriptor])
  case distinct([String])
}

extension [QueryOrder] {
  /// These orders and then another one, without those that it leaves nothing to do: a chain of many
  /// is no longer than there are properties.
  func followed(by order: QueryOrder) -> [QueryOrder] {
    switch order {
    // By no property nothing is in another order, and all elements are kept.
    case .sort(let descriptors) where descriptors.isEmpty: return self
    case .distinct(let keyPaths) where keyPaths.isEmpty: return self
    case .distinct(let keyPaths):
      // Elements that are distinct stay so in any order.
      let isKnown = contains { order in
        if case .distinct(let known) = order { known == keyPaths } else { false }
      }
      return isKnown ? self : self + [order]
    case .sort(let descriptors):
      // Elements that an order tells apart are in no other one, and all others are equal by its
      // properties. What is in front of distinct ones chooses them.
      let paths = Set(descriptors.map { StoredText($0.keyPath) })
      let start = (lastIndex { if case .distinct = $0 { true } else { false } } ?? -1) + 1
      let rest = self[start...].compactMap { earlier -> QueryOrder? in
        guard case .sort(let earlier) = earlier else { return nil }
        let left = earlier.filter { !paths.contains(StoredText($0.keyPath)) }
        return left.isEmpty ? nil : .sort(left)
      }
      return self[..<start] + rest + [order]
    }
  }
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
    tables = found.reduce(into: []) { $0.formUnion($1.tables) }
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
  ///
  /// Stops for a class that the Realm does not hold.
  func position(of binding: TableBinding) -> Int {
    if binding.isForeign {
      misuse(
        .schema,
        "Objects of class '\(binding.schema.name)' cannot be searched, because the Realm does not "
          + "hold the class. Add `\(binding.schema.name)` to `objectTypes` of its configuration.")
    }
    return binding.index % bindings.count
  }
}

extension PlanValue {
  /// Where values of its sort stand when mixed values are sorted: null, Bool, numbers, texts, data,
  /// dates, object ids, UUIDs, objects, collections.
  fileprivate var sortRank: UInt8 {
    switch self {
    case .null: return 0
    case .bool: return 1
    case .integer, .number, .single, .decimal: return 2
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
  /// Values without an order to each other go by their sorts, what is not a number comes before all
  /// numbers, and objects go by their classes. Columns of doubles go by `OrderKey` instead, where
  /// it stands at the ends.
  func sortOrder(_ other: PlanValue) -> PlanOrder {
    if let order = order(other) { return order }
    let (left, right) =
      sortRank == other.sortRank
      ? (sortDetail, other.sortDetail) : (UInt64(sortRank), UInt64(other.sortRank))
    return left == right ? .equal : left < right ? .less : .greater
  }

  /// The order of two values that are not null in a sorted column.
  func columnOrder(_ other: PlanValue, _ type: PropertyType) -> PlanOrder {
    guard type.isOrderedPacked, let left = columnKey, let right = other.columnKey else {
      return sortOrder(other)
    }
    return left == right ? .equal : left < right ? .less : .greater
  }

  private var columnKey: Int64? {
    if case .single(let number) = self { return OrderKey.integer(Double(number)._packed, .double) }
    return orderKey
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
