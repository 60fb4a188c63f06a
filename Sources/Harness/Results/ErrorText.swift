// How errors are told to the user of the tool: in the words of the system and with the path, never
// as domain and code.
internal import Foundation
internal import Glibc
internal import Platform

/// An error that the tool itself throws.
///
/// Each of its types is one, so that none can be printed as the value that it is: a test goes
/// through the sources.
package protocol ErrorInWords: Error {
  /// What was wrong, in a sentence for the user.
  var words: String { get }
}

extension Error {
  /// What went wrong: the description that the error carries, without domain and code; of an error
  /// without one, which only a workload of the user's own throws, the error itself.
  var explanation: String {
    if let error = self as? any ErrorInWords { return error.words }
    if let error = self as? SystemError { return StartedProcess.words(error) ?? error.reason }
    if let error = self as? DecodingError { return FoundationErrors.words(error) }
    let carried = (self as? any CustomNSError)?.errorUserInfo[NSLocalizedDescriptionKey] as? String
    if let carried { return carried }
    if self is EncodingError { return "it holds a value that JSON cannot hold" }
    if self is CancellationError { return "it was cancelled" }
    if let described = (self as? any LocalizedError)?.errorDescription { return described }
    // Foundation's own errors print all that they hold.
    guard self is CocoaError || self is POSIXError || type(of: self) == NSError.self else {
      return "\(self)"
    }
    return FoundationErrors.words(self as NSError)
  }
}

/// What went wrong, for a program beside the tool.
package func explained(_ error: any Error) -> String { error.explanation }

/// Errors of Foundation in words.
enum FoundationErrors {
  /// The system's words, and the path where the error has one.
  static func words(_ error: NSError) -> String {
    let reason = reason(error)
    guard let path = path(error), !reason.contains(path) else { return reason }
    return "\(reason) ('\(path)')"
  }

  private static func path(_ error: NSError) -> String? {
    error.userInfo[NSFilePathErrorKey] as? String
      ?? (error.userInfo[NSURLErrorKey] as? URL)?.path
      ?? cause(error).flatMap(path)
  }

  private static func cause(_ error: NSError) -> NSError? {
    (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
  }

  private static func reason(_ error: NSError) -> String {
    if error.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(error.code))) }
    if let cause = cause(error) { return reason(cause) }
    let code = CocoaError.Code(rawValue: error.code)
    if error.domain == NSCocoaErrorDomain, let words = cocoa[code] { return words }
    // A made-up description names domain and code; a real one does not.
    let text = error.localizedDescription
    let isMadeUp = text.contains(error.domain) || text.contains("error \(error.code)")
    return isMadeUp ? "the operation failed" : text
  }

  /// What `errno` would say.
  private static let cocoa: [CocoaError.Code: String] = {
    func system(_ code: Int32) -> String { String(cString: strerror(code)) }
    return [
      .fileNoSuchFile: system(ENOENT), .fileReadNoSuchFile: system(ENOENT),
      .fileReadNoPermission: system(EACCES), .fileWriteNoPermission: system(EACCES),
      .fileWriteFileExists: system(EEXIST), .fileWriteOutOfSpace: system(ENOSPC),
      .fileWriteVolumeReadOnly: system(EROFS), .fileReadInvalidFileName: system(EINVAL),
      .fileWriteInvalidFileName: system(EINVAL), .fileReadTooLarge: system(EFBIG),
      .fileReadCorruptFile: "the file is damaged",
      .fileReadUnknown: "it cannot be read", .fileWriteUnknown: "it cannot be written",
      .fileReadInapplicableStringEncoding: "it is no UTF-8 text",
      .fileReadUnknownStringEncoding: "it is no UTF-8 text",
    ]
  }()

  /// What is wrong with a document, and where in it.
  static func words(_ error: DecodingError) -> String {
    func place(_ context: DecodingError.Context, _ last: [any CodingKey] = []) -> String {
      (context.codingPath + last).map { $0.intValue.map { "[\($0)]" } ?? written($0.stringValue) }
        .joined(separator: ".")
    }
    switch error {
    case .keyNotFound(let key, let context):
      return "the field '\(place(context, [key]))' is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      let place = place(context)
      return place.isEmpty
        ? "it is no object with named fields" : "the field '\(place)' has another type"
    case .dataCorrupted(let context):
      let place = place(context)
      // Nobody is told of the place where a number is too large for its field, or negative.
      return place.isEmpty
        ? "it is not JSON, or holds a number that no such document has"
        : "the field '\(place)' cannot be read"
    @unknown default: return "it cannot be read"
    }
  }

  /// A field as documents have it: Swift knows it by another name.
  private static func written(_ name: String) -> String {
    name.reduce(into: "") { text, letter in
      text += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
    }
  }
}
