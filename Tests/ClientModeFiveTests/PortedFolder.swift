// A folder of sources for `scripts/port-models`, and files beside these tests.
import Foundation

/// A folder of sources that goes with its value.
final class PortedFolder {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "port-models-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func add(_ name: String, _ content: Data) throws {
    try content.write(to: folder.appendingPathComponent(name))
  }

  func data(_ name: String) throws -> Data {
    try Data(contentsOf: folder.appendingPathComponent(name))
  }

  func read(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }

  func port(_ options: String...) throws -> (status: Int32, output: String) {
    try run([folder.path] + options)
  }

  func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = beside("../../scripts/port-models")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}

/// A file beside this one.
func beside(_ path: String) -> URL {
  URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(path)
    .standardizedFileURL
}

func text(of path: String) throws -> String {
  try String(contentsOf: beside(path), encoding: .utf8)
}
