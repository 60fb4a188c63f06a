// The text of any value, for descriptions and messages. Foundation ends the process when it is to
// write a date that is no number or lies too far away; such dates are written here by their
// seconds.
internal import Foundation

/// Makes texts of values that may be anything a client gives.
enum ValueText {
  /// Collections deeper inside of each other are not written.
  private static let depthMax = 16

  /// The value as `String(describing:)` gives it, and nil as "nil".
  static func of(_ value: Any?) -> String { text(value, inside: 0) }

  /// The value as an element: texts in quotes.
  static func ofElement(_ value: Any?) -> String { text(value, inside: 1) }

  /// The date as Foundation writes it, where it can.
  static func of(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    if abs(seconds) <= secondsMax { return date.description }
    return "Date(timeIntervalSinceReferenceDate: \(seconds))"
  }

  /// Some 30 million years: Foundation writes these dates.
  private static let secondsMax = 1e15

  /// - Parameter depth: how many collections the value is inside of.
  private static func text(_ value: Any?, inside depth: Int) -> String {
    guard let value = value.flatMap({ ($0 as? any OptionalProtocol)?._untyped ?? $0 }) else {
      return "nil"
    }
    switch value {
    case let date as Date: return of(date)
    case let date as NSDate: return of(date as Date)
    case is ObjectBase, is any ThreadConfined: return String(describing: value)
    case let text as String: return depth == 0 ? text : String(reflecting: text)
    case let values as [Any]:
      if depth == depthMax { return "[...]" }
      return "[\(values.map { text($0, inside: depth + 1) }.joined(separator: ", "))]"
    case let values as [AnyHashable: Any]:
      if depth == depthMax { return "[...]" }
      let entries = values.map {
        "\(text($0.key.base, inside: depth + 1)): \(text($0.value, inside: depth + 1))"
      }
      return entries.isEmpty ? "[:]" : "[\(entries.joined(separator: ", "))]"
    default: return depth == 0 ? String(describing: value) : String(reflecting: value)
    }
  }
}

extension AnyRealmValue: CustomDebugStringConvertible {
  /// The sort of the value and the value itself.
  public var debugDescription: String {
    switch self {
    case .none: return "none"
    case .int(let value): return "int(\(value))"
    case .bool(let value): return "bool(\(value))"
    case .float(let value): return "float(\(value))"
    case .double(let value): return "double(\(value))"
    case .string(let value): return "string(\(String(reflecting: value)))"
    case .data(let value): return "data(\(value))"
    case .date(let value): return "date(\(ValueText.of(value)))"
    case .object(let value): return "object(\(value))"
    case .objectId(let value): return "objectId(\(value))"
    case .decimal128(let value): return "decimal128(\(value))"
    case .uuid(let value): return "uuid(\(value))"
    case .dictionary(let value): return "dictionary(\(value))"
    case .list(let value): return "list(\(value))"
    }
  }
}
