// Live bytes of one of our files. The public API does not tell; `realm-bench inspect` does, which this
// program runs in a process of its own.
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

  /// Bytes that the newest version of a file in use reaches.
  static func liveBytes(of path: String) throws -> Int {
    struct Figures: Decodable { let live_bytes: Int }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [argument, "inspect", path, "--format", "json"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw PeerError("\(path): inspect failed") }
    return try JSONDecoder().decode(Figures.self, from: text).live_bytes
  }
}
