// Which of the program's calls led to a stop, read from the stack of the calling thread. Only used
// where the process ends anyway: it reads the debug information of the program's files. Programs
// whose tests stop many processes turn it off by `REALM_NAMES_CALLS=0`.
internal import Foundation
internal import Runtime

/// The place in the program's sources that called the library; nil where the stack does not tell.
///
/// - Complexity: 0.2 s for a program of 24 MB, and more the larger its debug information is.
@inline(never)
func callOfTheClient() -> String? {
  if ProcessInfo.processInfo.environment["REALM_NAMES_CALLS"] == "0" { return nil }
  guard let stack = try? Backtrace.capture(limit: 200).symbolicated() else { return nil }
  for frame in stack.frames {
    guard let symbol = frame.symbol, !symbol.isSwiftThunk, let place = symbol.sourceLocation,
      // What the compiler or the standard library adds has no file, or no line.
      place.line > 0, place.path.hasSuffix(".swift"), !isOfTheLibrary(place.path)
    else { continue }
    return "\(place.path):\(place.line)"
  }
  return nil
}

/// Whether a source is one of the layers that programs do not call by themselves, or of RealmSwift.
private func isOfTheLibrary(_ path: String) -> Bool {
  guard path.hasPrefix(folderOfTheSources) else { return false }
  let layer = path.dropFirst(folderOfTheSources.count).prefix { $0 != "/" }
  return ["RealmSwift", "ObjectStore", "Trees", "Storage", "Platform"].contains(layer)
}

/// The folder of the layers, with a slash at the end; where the library was built.
private let folderOfTheSources: String = {
  var path = Substring(#filePath)
  for _ in 0..<3 { path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)] }
  return path + "/"
}()
