// The tool as a script of the shell runs it: under limits, on disks of its own, with other streams.
import Foundation
import Glibc
import Harness
import TestSupport
import Testing

/// Runs scripts in a folder.
struct ToolInShell {
  private let folder: TemporaryFolder

  private static let tool = Bundle.main.executableURL!.deletingLastPathComponent()
    .appendingPathComponent("realm-bench").path

  init(_ folder: TemporaryFolder) { self.folder = folder }

  /// Whether this process may mount a file system in a name space of its own.
  static let canMount: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    process.arguments = ["-m", "sh", "-c", "mount -t tmpfs none /mnt"]
    process.standardError = FileHandle.nullDevice
    do { try process.start() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  /// Runs a script of the shell in which `$tool` is the tool, until it ends.
  ///
  /// - Parameter nameSpace: whether it may mount file systems that nobody else sees.
  /// - Returns: the code, -1 after a signal.
  func run(_ script: String, in nameSpace: Bool = false) throws -> (code: Int32, errors: String) {
    let file = folder.file("errors")
    try "".write(toFile: file, atomically: false, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: nameSpace ? "/usr/bin/unshare" : "/bin/sh")
    process.arguments =
      (nameSpace ? ["-m", "/bin/sh"] : []) + ["-c", "tool='\(Self.tool)'; \(script)"]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
    try process.start()
    let hasEnded = eventually { !process.isRunning }
    if !hasEnded { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    #expect(hasEnded)
    return (
      process.terminationReason == .exit ? process.terminationStatus : -1,
      try String(contentsOfFile: file, encoding: .utf8)
    )
  }
}
