// The key of encrypted files on the command line: in a file, as everybody on the machine can see
// the words of a command.
internal import Foundation

/// Reads keys.
enum EncryptionKeyFile {
  private static let keyLength = 64

  /// The flag of all verbs that look at a file.
  static let flag = FlagDefinition(
    "encryption-key", "FILE", "has the key of encrypted files: 64 bytes or 128 hex digits")

  /// The key that the flag leads to; nil without it.
  static func key(of values: FlagValues) throws(UsageError) -> [UInt8]? {
    guard let path = values.first(flag.name) else { return nil }
    return try read(path)
  }

  /// - Parameter path: of a file with the 64 bytes of the key, or 128 hex digits.
  static func read(_ path: String) throws(UsageError) -> [UInt8] {
    let bytes: [UInt8]
    do { bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path))) } catch {
      throw UsageError("--encryption-key: cannot read '\(path)': \(error.explanation)")
    }
    if bytes.count == keyLength { return bytes }
    let text = String(decoding: bytes, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    if let key = key(hexDigits: text) { return key }
    throw UsageError(
      "--encryption-key: '\(path)' has \(bytes.count) bytes and is no key; it should hold the 64 "
        + "bytes of the key, or 128 hex digits")
  }

  private static func key(hexDigits text: String) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == 2 * keyLength, digits.count == text.count else { return nil }
    return (0..<keyLength).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
  }
}
