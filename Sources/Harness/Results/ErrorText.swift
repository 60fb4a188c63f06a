// How errors are told to the user of the tool.
internal import Foundation

extension Error {
  /// What went wrong: the description that the error carries, without domain and code, or the error
  /// itself.
  var explanation: String {
    let carried = (self as? any CustomNSError)?.errorUserInfo[NSLocalizedDescriptionKey] as? String
    return carried ?? "\(self)"
  }
}
