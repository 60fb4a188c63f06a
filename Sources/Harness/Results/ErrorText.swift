// How errors are told to the user of the tool.
internal import Foundation
internal import Platform

extension Error {
  /// What went wrong: the description that the error carries, without domain and code, or the error
  /// itself.
  var explanation: String {
    if let error = self as? ResultsError { return error.message }
    if let error = self as? UsageError { return error.message }
    if let error = self as? SystemError { return error.reason }
    let carried = (self as? any CustomNSError)?.errorUserInfo[NSLocalizedDescriptionKey] as? String
    if let carried { return carried }
    // Foundation's own errors print all that they hold.
    guard self is CocoaError || self is POSIXError || type(of: self) == NSError.self else {
      return "\(self)"
    }
    let error = self as NSError
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
    return (cause ?? error).localizedDescription
  }
}

/// What went wrong, for a program beside the tool.
package func explained(_ error: any Error) -> String { error.explanation }
