// Mixed values in encoded form: as what they hold, without its type.
internal import Foundation
internal import Platform

extension AnyRealmValue: Codable {
  /// Decodes null, a truth value, a number, a text, values in an order or values by name.
  ///
  /// What was encoded as a text or number comes back as one: dates, data and identifiers too.
  public init(from decoder: any Decoder) throws {
    try requireRoom(decoder.codingPath)
    if let container = try? decoder.singleValueContainer(),
      let value = try AnyRealmValue(plain: container)
    {
      self = value
    } else if let entries = try? decoder.container(keyedBy: NameOfValue.self) {
      let map = Map<String, AnyRealmValue>()
      for key in entries.allKeys {
        map[key.stringValue] = try entries.decode(AnyRealmValue.self, forKey: key)
      }
      self = .dictionary(map)
    } else {
      var values = try decoder.unkeyedContainer()
      let list = List<AnyRealmValue>()
      while !values.isAtEnd { list.append(try values.decode(AnyRealmValue.self)) }
      self = .list(list)
    }
  }

  /// Nil when it is none of the plain values.
  private init?(plain container: any SingleValueDecodingContainer) throws {
    if container.decodeNil() {
      self = .none
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .int(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else {
      return nil
    }
  }

  /// Encodes what the value holds, in the encoder's form of that type.
  ///
  /// - Throws: `EncodingError` for an object whose class is not `Encodable`.
  public func encode(to encoder: any Encoder) throws {
    if _holdsValues { try checkDepth(encoder, self) }
    var container = encoder.singleValueContainer()
    switch self {
    case .none: try container.encodeNil()
    case .int(let value): try container.encode(value)
    case .bool(let value): try container.encode(value)
    case .float(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .objectId(let value): try container.encode(value)
    case .decimal128(let value): try container.encode(value)
    case .uuid(let value): try container.encode(value)
    case .list(let value): try container.encode(value)
    case .dictionary(let value): try container.encode(value)
    case .object(let object):
      guard let object = object as? any Encodable else {
        throw EncodingError.invalidValue(
          object,
          EncodingError.Context(
            codingPath: encoder.codingPath,
            debugDescription: "The class '\(type(of: object))' is not Encodable."))
      }
      try container.encode(object)
    }
  }
}

extension AnyRealmValue {
  private var _holdsValues: Bool {
    switch self {
    case .list, .dictionary, .object: return true
    default: return false
    }
  }
}

/// Throws when a value is inside of more others than an encoder can be asked for.
///
/// It encodes what is inside by a call inside of a call.
func checkDepth(_ encoder: any Encoder, _ value: Any) throws {
  let depthMax = 1_000
  if encoder.codingPath.count <= depthMax, !StackRoom.isLow { return }
  throw EncodingError.invalidValue(
    value,
    EncodingError.Context(
      codingPath: Array(encoder.codingPath.prefix(8)),
      debugDescription:
        "Values can be encoded at most \(depthMax) deep inside of each other. Is there a long chain "
        + "of links, or one that leads back to its beginning? Encode the objects as a list."))
}

/// Any key.
private struct NameOfValue: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
