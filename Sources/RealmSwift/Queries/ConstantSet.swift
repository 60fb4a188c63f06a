// The constants of `IN`, found by hashing: to ask whether a value is one of many takes as long as
// to compare it with a few. What is equal here is what `PlanValue.order` calls equal.
internal import ObjectStore

/// Constants that a value may be one of.
final class ConstantSet: Sendable {
  /// From how many constants on comparisons with one each are joined, and packed values are hashed.
  static let countMin = 9

  let hasNull: Bool
  private let bools: Set<Bool>
  /// Integers, and the numbers that are whole.
  private let integers: Set<Int64>
  /// The other numbers, by their bits.
  private let fractions: Set<Int64>
  private let dates: Set<Int64>
  /// Decimal numbers, by the bits of their shortest forms.
  private let decimals: Set<UInt128>
  /// All numbers as decimal ones; only where values can be decimal.
  private let allAsDecimals: Set<UInt128>
  private let texts: ByteStringSet
  private let bytes: [PropertyType: ByteStringSet]
  private let links: Set<Link>

  private struct Link: Hashable {
    /// Whether it is that of a mixed value, which has another kind of table.
    let isMixed: Bool
    let table: UInt64
    let key: Int64
  }

  /// - Parameter type: of the values that are looked for.
  init(_ constants: [PlanConstant], _ type: PropertyType) {
    var (hasNull, bools) = (false, Set<Bool>())
    var (integers, fractions, dates) = (Set<Int64>(), Set<Int64>(), Set<Int64>())
    var (decimals, allAsDecimals) = (Set<UInt128>(), Set<UInt128>())
    var (texts, bytes) = (ByteStringSet(), [PropertyType: ByteStringSet]())
    var links = Set<Link>()
    for constant in constants {
      switch constant {
      case .null: hasNull = true
      case .bool(let value): bools.insert(value)
      case .integer(let value): integers.insert(value)
      case .number(let value): Self.add(value, &integers, &fractions)
      case .single(let value): Self.add(Double(value), &integers, &fractions)
      case .date(let value): if !value.isNaN { dates.insert(Self.bits(value)) }
      case .decimal(let value): if !value.isNaN { decimals.insert(value.reduced.bits) }
      case .text(let value): value.withUnsafeBytes { texts.insert($0) }
      case .bytes(let type, let value):
        value.withUnsafeBytes { bytes[type, default: ByteStringSet()].insert($0) }
      case .link(let table, let key):
        links.insert(
          Link(isMixed: false, table: UInt64(bitPattern: Int64(table)), key: key.rawValue))
      case .mixedLink(let table, let key):
        links.insert(Link(isMixed: true, table: table, key: key.rawValue))
      }
      if type == .decimal128 || type == .any {
        let decimal = constant.withValue { $0.asDecimal }
        if let decimal, !decimal.isNaN { allAsDecimals.insert(decimal.reduced.bits) }
      }
    }
    (self.hasNull, self.bools, self.integers, self.fractions) = (
      hasNull, bools, integers, fractions
    )
    (self.dates, self.decimals, self.allAsDecimals) = (dates, decimals, allAsDecimals)
    (self.texts, self.bytes, self.links) = (texts, bytes, links)
  }

  private static func add(
    _ number: Double, _ integers: inout Set<Int64>, _ fractions: inout Set<Int64>
  ) {
    if let whole = Int64(exactly: number) {
      integers.insert(whole)
    } else if !number.isNaN {
      fractions.insert(bits(number))
    }
  }

  /// Both zeros have the same.
  private static func bits(_ number: Double) -> Int64 { OrderKey.integer(number._packed, .double) }

  func contains(_ value: PlanValue) -> Bool {
    switch value {
    case .null: hasNull
    case .bool(let value): bools.contains(value)
    case .integer(let integer): integers.contains(integer) || containsAsDecimal(value)
    case .number(let number): contains(number) || containsAsDecimal(value)
    case .single(let number): contains(Double(number)) || containsAsDecimal(value)
    case .date(let date): dates.contains(Self.bits(date))
    case .decimal(let number): allAsDecimals.contains(number.reduced.bits)
    case .text(let text): texts.contains(text)
    case .bytes(let type, let content): bytes[type]?.contains(content) ?? false
    case .link(let table, let key):
      links.contains(
        Link(isMixed: false, table: UInt64(bitPattern: Int64(table)), key: key.rawValue))
    case .mixedLink(let table, let key):
      links.contains(Link(isMixed: true, table: table, key: key.rawValue))
    }
  }

  private func contains(_ number: Double) -> Bool {
    if let whole = Int64(exactly: number) { return integers.contains(whole) }
    return fractions.contains(Self.bits(number))
  }

  private func containsAsDecimal(_ value: PlanValue) -> Bool {
    !decimals.isEmpty && value.asDecimal.map { decimals.contains($0.reduced.bits) } ?? false
  }

  /// The texts, or the bytes of values of a type; nil when values of the type have other forms.
  func byteStrings(_ type: PropertyType) -> ByteStringSet? {
    switch type {
    case .string: texts
    case .data, .objectId, .UUID: bytes[type] ?? ByteStringSet()
    default: nil
    }
  }

  /// Packed values of a type, by their order keys; nil when values of the type are not packed, or
  /// constants have another form.
  func packed(_ type: PropertyType) -> Set<Int64>? {
    if !decimals.isEmpty { return nil }
    return switch type {
    case .int: integers
    case .bool: Set(bools.map { $0 ? 1 : 0 })
    case .date: dates
    case .double:
      // An integer between two numbers is none of them.
      Set(integers.filter { Int64(exactly: Double($0)) == $0 }.map { Self.bits(Double($0)) })
        .union(fractions)
    case .float: floatOrders
    default: nil
    }
  }

  /// The order keys of the numbers as values of type `Float`.
  private var floatOrders: Set<Int64> {
    var numbers: [Double] = integers.map { Double($0) }
    numbers += fractions.map { Double(_packed: $0 < 0 ? $0 ^ .max : $0) }
    var orders = Set<Int64>()
    for number in numbers where !number.isTooLargeForFloat {
      orders.insert(OrderKey.integer(Float(number)._packed, .float))
    }
    return orders
  }
}
