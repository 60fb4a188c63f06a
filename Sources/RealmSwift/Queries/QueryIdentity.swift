// What tells whether two queries are the same, so that what one finds serves both: what they choose
// from, the condition as text with its constants bit for bit, and the orders.
internal import Foundation
internal import ObjectStore
internal import Storage

/// A query of one Realm as a value; equal ones have the same elements at each version.
struct QueryIdentity: Hashable {
  private enum Source: Hashable {
    case table(UInt64)
    case elements(table: UInt64, ObjectKey, column: UInt64)
    case backlinks(to: UInt64, ObjectKey, from: UInt64, column: UInt64)
  }

  private let source: Source
  /// Text and constants: bytes, because equal texts of Swift may be different ones in a file.
  private let bytes: [UInt8]
  /// Of the bytes, which may be many and are asked for with each look.
  private let bytesHash: Int

  /// Nil when a constant cannot be compared; then the query is like no other.
  init?(
    _ origin: any QueryOrigin, _ condition: PredicateTree?, _ orders: [QueryOrder]
  ) {
    guard let source = Self.source(origin) else { return nil }
    self.source = source
    var writer = IdentityWriter(realm: origin.realm)
    if let condition {
      let text = PredicateText(condition)
      writer.write(text.text)
      for argument in text.arguments where !writer.write(argument: argument) { return nil }
    }
    for order in orders {
      switch order {
      case .sort(let descriptors):
        writer.write("sort \(descriptors.count)")
        for descriptor in descriptors {
          writer.write(descriptor.keyPath)
          writer.write(descriptor.ascending ? "up" : "down")
        }
      case .distinct(let keyPaths):
        writer.write("distinct \(keyPaths.count)")
        for keyPath in keyPaths { writer.write(keyPath) }
      }
    }
    bytes = writer.bytes
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    bytesHash = hasher.finalize()
  }

  static func == (left: QueryIdentity, right: QueryIdentity) -> Bool {
    left.bytesHash == right.bytesHash && left.source == right.source && left.bytes == right.bytes
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(bytesHash)
  }

  private static func source(_ origin: any QueryOrigin) -> Source? {
    switch origin {
    case is TableOrigin:
      return origin.table?.pointee.binding.table.map { .table($0.tableKey) }
    case let origin as CellOrigin:
      let stored = origin.cell.storedTable
      return .elements(
        table: stored.tableKey, origin.cell.key, column: stored.columnKeys[origin.cell.column])
    case let origin as any LinkingOrigin:
      guard let target = origin.linked.table.pointee.binding.table,
        let stored = origin.table?.pointee.binding.table
      else { return nil }
      return .backlinks(
        to: target.tableKey, origin.linked.key, from: stored.tableKey,
        column: stored.columnKeys[origin.column])
    default: return nil
    }
  }
}

/// A constant of a condition as bytes: equal ones have the same.
struct ConstantBytes: Hashable {
  private let bytes: [UInt8]

  /// Nil when the constant cannot be compared.
  init?(_ constant: Any?) {
    var writer = IdentityWriter(realm: nil)
    guard writer.write(argument: constant ?? NSNull()) else { return nil }
    bytes = writer.bytes
  }
}

/// Writes texts and constants so that no two different rows of them give the same bytes.
private struct IdentityWriter {
  private let store: Store?
  private(set) var bytes: [UInt8] = []

  /// - Parameter realm: whose objects can be constants; nil: none can.
  init(realm: ConfinedRealm?) { store = realm?.store }

  mutating func write(_ text: String) { write("t", Array(text.utf8)) }

  private mutating func write(_ kind: Unicode.Scalar, _ content: [UInt8]) {
    bytes.append(UInt8(ascii: kind))
    withUnsafeBytes(of: content.count) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: content)
  }

  private mutating func write(_ kind: Unicode.Scalar, bits: UInt64) {
    bytes.append(UInt8(ascii: kind))
    withUnsafeBytes(of: bits) { bytes.append(contentsOf: $0) }
  }

  /// False, for constants that are not known here.
  mutating func write(argument: Any) -> Bool {
    switch argument {
    case is NSNull: write("n", bits: 0)
    case let bool as Bool where type(of: argument) == Bool.self: write("b", bits: bool ? 1 : 0)
    case let integer as any FixedWidthInteger & SignedInteger:
      guard let integer = Int64(exactly: integer) else { return false }
      write("i", bits: UInt64(bitPattern: integer))
    case let integer as any FixedWidthInteger & UnsignedInteger:
      guard let integer = UInt64(exactly: integer) else { return false }
      write("w", bits: integer)
    case let number as Double where type(of: argument) == Double.self:
      write("d", bits: number.bitPattern)
    case let number as Float where type(of: argument) == Float.self:
      write("f", bits: UInt64(number.bitPattern))
    case let text as String: write("s", Array(text.utf8))
    case let date as Date: write("a", bits: date.timeIntervalSinceReferenceDate.bitPattern)
    case let data as Data: write("y", Array(data))
    case let id as ObjectId: write("o", Array(id.stringValue.utf8))
    case let uuid as UUID: write("u", Array(uuid.uuidString.utf8))
    case let number as Decimal128:
      let bits = number.bits
      write("c", bits: UInt64(truncatingIfNeeded: bits >> 64))
      write("c", bits: UInt64(truncatingIfNeeded: bits))
    case let object as ObjectBase: return write(object)
    // A truth value, an integer and a floating point number are other constants.
    case let number as NSNumber:
      write("t", Array("\(type(of: number)) \(String(cString: number.objCType))".utf8))
      write("m", Array(number.stringValue.utf8))
    case let number as Decimal: write("e", Array(number.description.utf8))
    case let area as any _Geospatial:
      write("g", Array(String(reflecting: area).utf8))
    case let values as [Any]:
      write("l", bits: UInt64(values.count))
      for value in values where !write(argument: value) { return false }
    default: return false
    }
    return true
  }

  /// False of an object that may yet become one of the Realm.
  private mutating func write(_ object: ObjectBase) -> Bool {
    guard let store, object._realm?.store === store,
      let table = object._table?.pointee.binding.table
    else { return false }
    write("k", bits: table.tableKey)
    write("k", bits: UInt64(bitPattern: object.lastingKey.rawValue))
    return true
  }
}
