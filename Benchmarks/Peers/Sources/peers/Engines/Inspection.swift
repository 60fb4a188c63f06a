// Live and held bytes of one of our files. The public API does not tell; `realm-bench inspect`
// does, which this program runs in a process of its own.
import Foundation
import Harness

enum Inspection {
  /// First argument that makes this program `realm-bench`.
  private static let argument = "--as-realm-bench"

  /// The exit code when the program was started as `realm-bench`.
  static func runIfAsked(_ arguments: [String]) -> Int32? {
    guard arguments.first == argument else { return nil }
    return RealmBench.run(Array(arguments.dropFirst()))
  }

  /// What the tool tells about a file, by the names that it has there.
  struct Figures: Decodable {
    /// Bytes that the newest version reaches.
    let live_bytes: Int
    /// Bytes that only older versions reach which are kept.
    let held_bytes: Int
  }

  /// Looks into a file that may be in use.
  static func figures(of path: String) throws -> Figures {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [argument, "inspect", path, "--format", "json"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw PeerError("\(path): inspect failed") }
    return try JSONDecoder().decode(Figures.self, from: text)
  }
}
