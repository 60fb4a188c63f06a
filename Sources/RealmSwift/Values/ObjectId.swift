// ObjectId: an identifier of 12 bytes that can be made anywhere without asking anybody.
public import Foundation
internal import Platform

/// An identifier that is unique without coordination.
///
/// Its 12 bytes are the seconds since 1970, five bytes that differ between processes, and a
/// counter; so later seconds come later in order.
public final class ObjectId: Sendable {
  /// Bytes 0 to 7, big-endian.
  private let high: UInt64
  /// Bytes 8 to 11, big-endian.
  private let low: UInt32

  private init(high: UInt64, low: UInt32) {
    self.high = high
    self.low = low
  }

  /// The identifier whose bytes are all zero.
  public convenience init() { self.init(high: 0, low: 0) }

  /// A new identifier.
  ///
  /// - Complexity: O(1), no lock.
  public static func generate() -> ObjectId {
    ObjectId(
      seconds: UInt32(truncatingIfNeeded: Int64(Date().timeIntervalSince1970)),
      process: Generator.process, counter: Generator.nextCount())
  }

  /// The identifier that 24 hexadecimal digits stand for.
  ///
  /// - Throws: `Realm.Error.invalidInput` when the text is anything else.
  public convenience init(string: String) throws {
    guard let digits = Self.parse(string.utf8) else {
      throw Realm.Error(.invalidInput, Self.complaint(string), path: nil)
    }
    self.init(high: digits.high, low: digits.low)
  }

  /// The identifier that 24 hexadecimal digits stand for; stops when the text is anything else.
  public convenience init(_ string: StaticString) {
    guard let digits = Self.parse(string.description.utf8) else {
      misuse(.argument, Self.complaint(string.description))
    }
    self.init(high: digits.high, low: digits.low)
  }

  /// A new identifier with its parts chosen.
  ///
  /// - Parameters:
  ///   - timestamp: the time it stands for; fractions of a second are dropped.
  ///   - machineId: its lower three bytes are used.
  ///   - processId: its lower two bytes are used.
  public convenience init(timestamp: Date, machineId: Int, processId: Int) {
    let seconds = Self.seconds(of: timestamp)
    let machine = UInt64(truncatingIfNeeded: machineId) & 0xff_ffff
    let process = UInt64(truncatingIfNeeded: processId) & 0xffff
    self.init(
      seconds: seconds, process: machine << 16 | process, counter: Generator.nextCount())
  }

  /// Whole seconds since 1970; the nearest that there are of a time that is out of their range, and
  /// 0 of one that is no number.
  private static func seconds(of timestamp: Date) -> UInt32 {
    let seconds = timestamp.timeIntervalSince1970
    if seconds.isNaN { return 0 }
    return UInt32(truncatingIfNeeded: Int64(max(-0x1p62, min(seconds, 0x1p62))))
  }

  /// - Parameters:
  ///   - process: five bytes.
  ///   - counter: three bytes.
  private convenience init(seconds: UInt32, process: UInt64, counter: UInt32) {
    self.init(
      high: UInt64(seconds) << 32 | process >> 8,
      low: UInt32(truncatingIfNeeded: process) << 24 | counter & 0xff_ffff)
  }

  /// When it was made, in whole seconds.
  public var timestamp: Date { Date(timeIntervalSince1970: Double(high >> 32)) }

  /// The 24 hexadecimal digits.
  public var stringValue: String { Self.hexadecimal(high, 16) + Self.hexadecimal(UInt64(low), 8) }

  // MARK: - Text

  private static func hexadecimal(_ value: UInt64, _ length: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: length - digits.count) + digits
  }

  private static func parse(_ text: some Collection<UInt8>) -> (high: UInt64, low: UInt32)? {
    guard text.count == 24 else { return nil }
    var value: UInt128 = 0
    for character in text {
      guard let digit = Character(Unicode.Scalar(character)).hexDigitValue else { return nil }
      value = value << 4 | UInt128(digit)
    }
    return (UInt64(truncatingIfNeeded: value >> 32), UInt32(truncatingIfNeeded: value))
  }

  private static func complaint(_ text: String) -> String {
    "Invalid Object ID string '\(text)': must be 24 hex digits"
  }

  // MARK: - Making

  /// What makes identifiers of this process unlike any other's.
  private enum Generator {
    /// Five random bytes.
    static let process = systemRandom() & 0xff_ffff_ffff
    private static let counter = Counter()

    /// Three bytes: one more each time, from a random start.
    static func nextCount() -> UInt32 { counter.next() }

    private final class Counter: Sendable {
      private let value = Atomic<UInt64>(systemRandom() >> 1)

      // Relaxed: only that no number comes twice matters.
      func next() -> UInt32 {
        UInt32(value.add(1, ordering: .relaxed).oldValue & 0xff_ffff)
      }
    }
  }
}

// MARK: - Comparing

extension ObjectId: Comparable, Hashable, CustomStringConvertible {
  /// Whether all bytes are equal.
  public static func == (left: ObjectId, right: ObjectId) -> Bool {
    left.high == right.high && left.low == right.low
  }

  /// Compares byte by byte, so earlier timestamps come first.
  public static func < (left: ObjectId, right: ObjectId) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }

  /// The 24 hexadecimal digits.
  public var description: String { stringValue }
}

extension ObjectId: Codable {
  /// Reads the 24 hexadecimal digits.
  public convenience init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let digits = Self.parse(text.utf8) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: Self.complaint(text))
    }
    self.init(high: digits.high, low: digits.low)
  }

  /// Writes the 24 hexadecimal digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}

// MARK: - Storing

extension ObjectId: _BytesValue, _RealmCollectionValueInsideOptional, SortableType, _PrimaryKey,
  _Indexable
{
  /// The identifier of stored bytes; of fewer than 12, as if zeros followed.
  public convenience init(_bytes bytes: UnsafeRawBufferPointer) {
    var value = (high: UInt64(0), low: UInt32(0))
    withUnsafeMutableBytes(of: &value) {
      $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(12)))
    }
    self.init(high: UInt64(bigEndian: value.high), low: UInt32(bigEndian: value.low))
  }

  /// Runs a body on the 12 bytes.
  public func _withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let value = (high: high.bigEndian, low: low.bigEndian)
    return withUnsafeBytes(of: value) { body(UnsafeRawBufferPointer(rebasing: $0.prefix(12))) }
  }

  /// Stored as itself.
  public typealias PersistedType = ObjectId
  /// An object identifier.
  public static var _rlmType: PropertyType { .objectId }
  /// A new identifier.
  public static func _defaultValue() -> ObjectId { .generate() }
  /// Each object gets its own.
  @inlinable
  public static var _keepsDefault: Bool { true }
  /// Reads a managed property.
  public static func _get(_ object: ObjectBase, _ column: Int32) -> ObjectId {
    readBytes(object, column, ObjectId.self) ?? ObjectId()
  }
  /// Reads a managed optional property.
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> ObjectId? {
    readBytes(object, column, ObjectId.self)
  }
  /// The identifier that an untyped value is.
  public static func _fromAny(_ value: Any?) -> ObjectId? {
    value as? ObjectId ?? storedForm(value) as? ObjectId
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(ObjectId.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(ObjectId?.self)
}
