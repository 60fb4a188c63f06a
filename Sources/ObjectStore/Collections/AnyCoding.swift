// The bytes of values of type `any`. This layer reads of them only what it has to maintain: the
// links inside. The first byte is the tag; what follows belongs to it:
//
//   none        nothing (a nullified link inside a nested value keeps its 16 bytes, zeroed)
//   int         i64            bool     u8             float  u32 bits      double, date  u64 bits
//   string      UTF-8          data     the bytes      objectId 12   decimal128 16   uuid 16
//   object      u64 table key, i64 object key
//   list        u32 count, each: u32 length, encoded value
//   dictionary  u32 count, each: u32 length, UTF-8 of the key; u32 length, encoded value
//
// Numbers are little-endian. Null as a whole value of a column or element is no bytes at all
// (null), not the tag `none`.

/// First byte of an encoded `any`.
///
/// Numbers are stored.
package enum AnyTag: UInt8, Sendable {
  case none = 0
  case int, bool, float, double, string, data, date, object, objectId, decimal128, uuid
  case dictionary
  case list
}

/// Reading and making what this layer knows of `any` values.
package enum AnyCoding {
  /// Bytes of an encoded link.
  package static let linkLength = 17

  /// The encoded link to an object.
  package static func encodeLink(tableKey: UInt64, _ key: ObjectKey) -> [UInt8] {
    var bytes = [AnyTag.object.rawValue]
    withUnsafeBytes(of: tableKey.littleEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: key.rawValue.littleEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// The object that an encoded value links to; nil for other values.
  package static func link(
    _ bytes: UnsafeRawBufferPointer
  ) -> (tableKey: UInt64, key: ObjectKey)? {
    guard bytes.count == linkLength, bytes[0] == AnyTag.object.rawValue else { return nil }
    return (
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self)),
      ObjectKey(
        rawValue: Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 9, as: Int64.self)))
    )
  }

  /// What a link is entered as in a tree of links.
  ///
  /// Tables are few and objects many: 23 bits and 40 bits.
  package static func packed(tableKey: UInt64, _ key: ObjectKey) -> Int64 {
    precondition(isPackable(tableKey, key), "an `any` value cannot link to \(key.rawValue)")
    return Int64(tableKey) << 40 | key.rawValue
  }

  private static func isPackable(_ tableKey: UInt64, _ key: ObjectKey) -> Bool {
    tableKey < 1 << 23 && 0..<1 << 40 ~= key.rawValue
  }

  /// The table and the key that a link is entered as.
  package static func unpacked(_ packed: Int64) -> (tableKey: UInt64, key: ObjectKey) {
    (UInt64(packed >> 40), ObjectKey(rawValue: packed & (1 << 40 - 1)))
  }

  /// What all links to a table's objects are entered as.
  static func packed(tableKey: UInt64) -> ClosedRange<Int64> {
    Int64(tableKey) << 40...Int64(tableKey) << 40 | (1 << 40 - 1)
  }

  /// Whether an encoded value can contain links.
  static func mayHoldLinks(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let tag = bytes.first.flatMap({ AnyTag(rawValue: $0) }) else { return false }
    return tag == .object || tag == .list || tag == .dictionary
  }

  /// Runs `body` on every link in an encoded value, nested ones too.
  ///
  /// - Parameter body: gets the offset of the link's tag, and the link as it is entered.
  package static func forEachLink(
    _ bytes: UnsafeRawBufferPointer, _ body: (_ offset: Int, _ packed: Int64) -> Void
  ) {
    // Values nest as deep as the client likes: no recursion.
    var open = [0..<bytes.count]
    while let range = open.popLast() {
      guard !range.isEmpty, let tag = AnyTag(rawValue: bytes[range.lowerBound]) else { continue }
      switch tag {
      case .object:
        let part = UnsafeRawBufferPointer(rebasing: bytes[range])
        // Others cannot have been entered.
        if let (tableKey, key) = link(part), isPackable(tableKey, key) {
          body(range.lowerBound, packed(tableKey: tableKey, key))
        }
      case .list, .dictionary:
        var next = range.lowerBound + 1
        let end = range.upperBound
        guard let count = number(bytes, &next, end) else { continue }
        for _ in 0..<count {
          if tag == .dictionary {
            guard let length = number(bytes, &next, end), length <= end - next else { break }
            next += length
          }
          guard let length = number(bytes, &next, end), length <= end - next else { break }
          open.append(next..<next + length)
          next += length
        }
      default: break
      }
    }
  }

  /// Whether an encoded value has a link to one of some objects, nested ones too.
  ///
  /// - Parameter isTarget: gets a link as it is entered in a tree of links.
  package static func hasLink(
    _ bytes: UnsafeRawBufferPointer, where isTarget: (_ packed: Int64) -> Bool
  ) -> Bool {
    guard mayHoldLinks(bytes) else { return false }
    var isFound = false
    forEachLink(bytes) { _, packed in isFound = isFound || isTarget(packed) }
    return isFound
  }

  private static func number(
    _ bytes: UnsafeRawBufferPointer, _ next: inout Int, _ end: Int
  ) -> Int? {
    guard end - next >= 4 else { return nil }
    defer { next += 4 }
    return Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: next, as: UInt32.self)))
  }

  /// The value without some of its links; nil if it is null then.
  static func nullified(
    _ bytes: UnsafeRawBufferPointer, where isGone: (_ packed: Int64) -> Bool
  ) -> [UInt8]? {
    var result = [UInt8](bytes)
    var isNull = false
    forEachLink(bytes) { offset, packed in
      guard isGone(packed) else { return }
      if offset == 0 { isNull = true }
      for index in offset..<offset + linkLength { result[index] = 0 }
    }
    return isNull ? nil : result
  }
}
