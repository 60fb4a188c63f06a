// A folder of its own for a test that needs real files.
internal import Foundation

/// A new empty folder under TMPDIR or /tmp, removed with all it holds at deinit.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    // mkdtemp replaces six letters X at the end by what makes the name new.
    let placeholder = String(repeating: "X", count: 6)
    var template = Array("\(parent)/realm-test-\(placeholder)".utf8CString)
    guard mkdtemp(&template) != nil else {
      fatalError("cannot make a folder in \(parent): errno \(errno)")
    }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit {
    // Best effort: a test may have removed it already.
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of something in the folder.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Makes a folder inside.
  package func makeFolder(_ name: String) -> String {
    let path = file(name)
    precondition(mkdir(path, 0o777) == 0, "cannot make \(path): errno \(errno)")
    return path
  }
}
