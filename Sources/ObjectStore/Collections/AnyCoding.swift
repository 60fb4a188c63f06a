// The bytes of values of type `any`. This layer reads of them only what it has to maintain: the links
// inside. The first byte is the tag; what follows belongs to it:
//
//   none        nothing (a nullified link inside a nested value keeps its 16 bytes, zeroed)
//   int         i64            bool     u8             float  u32 bits      double, date  u64 bits
//   string      UTF-8          data     the bytes      objectId 12   decimal128 16   uuid 16
//   object      u64 table key, i64 object key
//   list        u32 count, each: u32 length, encoded value
//   dictionary  u32 count, each: u32 length, UTF-8 of the key; u32 length, encoded value
//
// Numbers are little-endian. Null as a whole value of a column or element is no bytes at all (null), not
// the tag `none`.

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
}
