// Encoding and decoding of objects that belong to no Realm, by what the compiler makes of
// `Codable`.
internal import Platform

extension Persisted: Decodable where Value: Decodable {
  /// Decodes the value of an object that belongs to no Realm.
  ///
  /// - Throws: what decoding the value throws.
  public init(from decoder: any Decoder) throws {
    if Value._rlmType == .object { try requireRoom(decoder.codingPath) }
    // By a container: so the decoder's own forms of dates and data are kept.
    self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
  }
}

extension Persisted: Encodable where Value: Encodable {
  /// Encodes the value of an object that belongs to no Realm.
  ///
  /// - Throws: what encoding the value throws, and `EncodingError` for a managed object: its
  ///   property alone does not know where its value is.
  public func encode(to encoder: any Encoder) throws {
    if Value._rlmType == .object { try checkDepth(encoder, Value.self) }
    // By a container: so the encoder's own forms of dates and data are kept.
    var container = encoder.singleValueContainer()
    switch storage {
    case .unmanaged(let value, _): try container.encode(value)
    case .none: try container.encode(Value._defaultValue())
    case .managed, .recording:
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription:
            "Objects that belong to a Realm are not encoded property by property. Write an "
            + "`encode(to:)` for the class, or encode a copy: `T(value: object)`."))
    }
  }
}

extension KeyedDecodingContainer {
  /// Decodes an optional property, whose key may be missing.
  public func decode<Value: Decodable>(
    _ type: Persisted<Value?>.Type, forKey key: Key
  ) throws -> Persisted<Value?> {
    if Value._rlmType == .object { try requireRoom(codingPath) }
    return Persisted(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
  }
}

/// Throws where an object inside of others would not fit on the thread's stack: it is decoded by a
/// call inside of a call.
func requireRoom(_ codingPath: [any CodingKey]) throws {
  if !StackRoom.isLow { return }
  throw DecodingError.dataCorrupted(
    DecodingError.Context(
      codingPath: Array(codingPath.prefix(8)),
      debugDescription:
        "Values that are \(codingPath.count) deep inside of each other do not fit on the stack of "
        + "this thread. Use a thread with a larger 'stackSize'."))
}
