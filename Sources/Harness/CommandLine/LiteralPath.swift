// Paths on the command line are taken as they are: nothing in them is a home folder, a URL, an
// escape or a flag. Every path comes through here, so the rest of the tool can hand it on to
// Foundation, which would expand '~', and to child processes, which would take '-x' for a flag.
internal import Foundation

/// Reads the paths of a command line.
package enum LiteralPath {
  /// A path that means the same wherever it is used.
  /// - Parameter source: the flag or verb that it was given to.
  package static func path(_ text: String, of source: String) throws(UsageError) -> String {
    if text.isEmpty {
      throw UsageError("\(source) needs the path of a file, not an empty one")
    }
    if text.utf8.contains(0) { throw UsageError("\(source): a path cannot hold a zero byte") }
    var path = text
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    if path.hasPrefix("~") {
      return FileManager.default.currentDirectoryPath + "/" + path
    }
    return path.hasPrefix("-") ? "./" + path : path
  }

  /// A path in a command that is printed to be pasted into a shell.
  package static func quoted(_ path: String) -> String {
    let isPlain = path.utf8.allSatisfy { byte in
      let letter = Unicode.Scalar(byte)
      return letter.properties.isAlphabetic && letter.isASCII || ("0"..."9").contains(letter)
        || "/._-+:@%,=".unicodeScalars.contains(letter) || byte >= 128
    }
    return isPlain ? path : "'" + path.replacing("'", with: "'\\''") + "'"
  }

  /// What a user may have meant otherwise: a '~' that the shell has left alone, or a URL.
  static func warnings(_ arguments: [String]) -> [String] {
    arguments.prefix { $0 != "--" }.compactMap { word in
      let isFlag = word.hasPrefix("--")
      let parts = word.split(separator: "=", maxSplits: 1)
      let text = isFlag ? (parts.count == 2 ? String(parts[1]) : "") : word
      if text == "~" || text.hasPrefix("~/") {
        let home = "$HOME" + text.dropFirst()
        return "'\(word)' is taken as it is: a folder named '~' in this one. The shell puts the "
          + "home folder only at the beginning of a word; write \"\(home)\" for it"
      }
      if text.hasPrefix("file:/") {
        return "'\(word)' is taken as it is: a path that begins with a folder named 'file:'"
      }
      return nil
    }
  }
}
