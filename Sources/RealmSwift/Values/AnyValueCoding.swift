// The bytes of AnyRealmValue, as ObjectStore's AnyCoding describes them: a tag and what belongs to
// it, lists and dictionaries nested inside. What a link is in the file is known to the caller.
internal import Foundation
internal import ObjectStore

/// Makes the bytes of a value.
struct AnyValueWriter {
  private(set) var bytes: [UInt8] = []
  /// Where an object is in the file; nil: a link to it is written as none.
  let place: (Object) -> (tableKey: UInt64, key: ObjectKey)?

  /// How many collections the value that is written now is inside of.
  private var depth: Int

  /// - Parameter depth: how many collections everything that is written is inside of.
  init(
    inside depth: Int = 0, place: @escaping (Object) -> (tableKey: UInt64, key: ObjectKey)?
  ) {
    self.depth = depth
    self.place = place
  }

  mutating func append(_ value: AnyRealmValue) {
    switch value {
    case .none: bytes.append(AnyTag.none.rawValue)
    case .int(let value): append(.int, UInt64(bitPattern: Int64(value)))
    case .bool(let value): append(.bool, value ? 1 as UInt8 : 0)
    case .float(let value): append(.float, UInt32(truncatingIfNeeded: value._packed))
    case .double(let value): append(.double, value._packed)
    case .date(let value): append(.date, value._packed)
    case .string(let value): append(.string, value)
    case .data(let value): append(.data, value)
    case .objectId(let value): append(.objectId, value)
    case .decimal128(let value): append(.decimal128, value)
    case .uuid(let value): append(.uuid, value)
    case .object(let value):
      guard let place = self.place(value) else { return append(.none) }
      bytes += AnyCoding.encodeLink(tableKey: place.tableKey, place.key)
    case .list(let values): append(list: Array(values))
    case .dictionary(let map): append(dictionary: map.entries)
    }
  }

  mutating func append(list values: [AnyRealmValue]) {
    append(.list, UInt32(values.count))
    nest { writer in
      for value in values { writer.appendBehindLength { $0.append(value) } }
    }
  }

  /// Entries stand in the order of their keys, so that equal dictionaries have equal bytes.
  mutating func append(dictionary entries: [StoredText: AnyRealmValue]) {
    append(.dictionary, UInt32(entries.count))
    nest { writer in
      for (key, value) in entries.sorted {
        writer.append(key: key.text)
        writer.appendBehindLength { $0.append(value) }
      }
    }
  }

  /// Writes an element of a list, or the value of an entry, as `append(list:)` does.
  mutating func append(inside value: AnyRealmValue) {
    nest { writer in writer.appendBehindLength { $0.append(value) } }
  }

  /// Writes the key of an entry.
  mutating func append(key: String) {
    appendBehindLength { writer in key._withBytes { writer.bytes.append(contentsOf: $0) } }
  }

  private mutating func nest(_ body: (inout AnyValueWriter) -> Void) {
    depth += 1
    if depth > MixedPlace.depthMax { MixedPlace.stopForDepth() }
    body(&self)
    depth -= 1
  }

  private mutating func append(_ tag: AnyTag, _ value: some FixedWidthInteger) {
    bytes.append(tag.rawValue)
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(_ tag: AnyTag, _ value: some _BytesValue) {
    bytes.append(tag.rawValue)
    value._withBytes { bytes.append(contentsOf: $0) }
  }

  /// What `body` writes, behind its length.
  private mutating func appendBehindLength(_ body: (inout AnyValueWriter) -> Void) {
    let start = bytes.count
    bytes.append(contentsOf: [0, 0, 0, 0])
    body(&self)
    setLength(bytes.count - start - 4, at: start)
  }

  private mutating func setLength(_ length: Int, at position: Int) {
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: UInt32(length).littleEndian, toByteOffset: position, as: UInt32.self)
    }
  }
}

/// Reads values from bytes; what is no value reads as none.
struct AnyValueReader {
  /// The object of a place in the file; nil when it is not there.
  let object: (_ tableKey: UInt64, _ key: ObjectKey) -> Object?
  /// Where the value is; asked for when it is a list or a dictionary, which is read when it is
  /// used.
  let place: () -> MixedPlace?

  func value(_ bytes: UnsafeRawBufferPointer) -> AnyRealmValue {
    guard let tag = bytes.first.flatMap({ AnyTag(rawValue: $0) }) else { return .none }
    let content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch tag {
    case .none: return .none
    case .int: return number(content).map { .int(Int(Int64(bitPattern: $0))) } ?? .none
    case .bool: return content.first.map { .bool($0 != 0) } ?? .none
    case .float: return number(content).map { .float(Float(bitPattern: $0)) } ?? .none
    case .double: return number(content).map { .double(Double(bitPattern: $0)) } ?? .none
    case .date:
      return number(content).map {
        .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)))
      } ?? .none
    case .string: return .string(String(_bytes: content))
    case .data: return .data(Data(_bytes: content))
    case .objectId: return .objectId(ObjectId(_bytes: content))
    case .decimal128: return .decimal128(Decimal128(_bytes: content))
    case .uuid: return .uuid(UUID(_bytes: content))
    case .object:
      guard let link = AnyCoding.link(bytes), let object = object(link.tableKey, link.key) else {
        return .none
      }
      return .object(object)
    case .list: return place().map { .list(List($0)) } ?? .none
    case .dictionary: return place().map { .dictionary(Map($0)) } ?? .none
    }
  }

  private func number<Number: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer) -> Number? {
    guard bytes.count >= MemoryLayout<Number>.size else { return nil }
    return Number(littleEndian: bytes.loadUnaligned(as: Number.self))
  }
}
