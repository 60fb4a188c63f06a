// The bytes of AnyRealmValue, as ObjectStore's AnyCoding describes them: a tag and what belongs to it,
// lists nested inside. What a link is in the file is known to the caller.
internal import Foundation
internal import ObjectStore

/// Makes the bytes of a value.
struct AnyValueWriter {
  private(set) var bytes: [UInt8] = []
  /// Where an object is in the file.
  let place: (Object) -> (tableKey: UInt64, key: ObjectKey)

  init(place: @escaping (Object) -> (tableKey: UInt64, key: ObjectKey)) { self.place = place }

  mutating func append(_ value: AnyRealmValue) {
    switch value {
    case .none: bytes.append(AnyTag.none.rawValue)
    case .int(let value): append(.int, UInt64(bitPattern: Int64(value)))
    case .bool(let value): append(.bool, value ? 1 as UInt8 : 0)
    case .float(let value): append(.float, value.bitPattern)
    case .double(let value): append(.double, value.bitPattern)
    case .date(let value): append(.date, value.timeIntervalSinceReferenceDate.bitPattern)
    case .string(let value): append(.string, value)
    case .data(let value): append(.data, value)
    case .objectId(let value): append(.objectId, value)
    case .decimal128(let value): append(.decimal128, value)
    case .uuid(let value): append(.uuid, value)
    case .object(let value):
      let place = place(value)
      bytes += AnyCoding.encodeLink(tableKey: place.tableKey, place.key)
    case .list(let values):
      append(.list, UInt32(values.count))
      for value in values { appendNested(value) }
    }
  }

  private mutating func append(_ tag: AnyTag, _ value: some FixedWidthInteger) {
    bytes.append(tag.rawValue)
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(_ tag: AnyTag, _ value: some _BytesValue) {
    bytes.append(tag.rawValue)
    value._withBytes { bytes.append(contentsOf: $0) }
  }

  /// A value behind its length.
  private mutating func appendNested(_ value: AnyRealmValue) {
    let start = bytes.count
    bytes.append(contentsOf: [0, 0, 0, 0])
    append(value)
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
    case .list: return list(content)
    case .dictionary: return .none
    }
  }

  private func number<Number: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer) -> Number? {
    guard bytes.count >= MemoryLayout<Number>.size else { return nil }
    return Number(littleEndian: bytes.loadUnaligned(as: Number.self))
  }

  private func list(_ bytes: UnsafeRawBufferPointer) -> AnyRealmValue {
    var rest = bytes
    let list = List<AnyRealmValue>()
    for _ in 0..<(takeLength(&rest) ?? 0) {
      guard let part = takePart(&rest) else { break }
      list.append(value(part))
    }
    return .list(list)
  }

  private func takeLength(_ rest: inout UnsafeRawBufferPointer) -> Int? {
    guard let length: UInt32 = number(rest) else { return nil }
    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(4))
    return Int(length)
  }

  /// Bytes behind their length.
  private func takePart(_ rest: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let length = takeLength(&rest), length <= rest.count else { return nil }
    defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length)) }
    return UnsafeRawBufferPointer(rebasing: rest.prefix(length))
  }
}
