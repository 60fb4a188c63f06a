// Tests that hang, fail by chance or leave something behind, when REALM_PLANTED_FAILURE says so:
// scripts/checks/watchdog proves with them that each is named. Without it they pass.
import Foundation
import Platform
import TestSupport
import Testing

@Suite(.ownThreads) struct PlantedFailureTests {
  private static func isPlanted(_ name: String) -> Bool {
    ProcessInfo.processInfo.environment["REALM_PLANTED_FAILURE"] == name
  }

  @Test func waitsForEver() {
    let opened = Monitor(!Self.isPlanted("hang"))
    opened.wait(until: { $0 }, then: { _ in })
    #expect(opened.withLock { $0 })
  }

  /// Fails once: what it leaves in the folder of the build tells the second run.
  @Test func failsByChance() throws {
    guard Self.isPlanted("chance") else { return #expect(!Self.isPlanted("chance")) }
    let mark = try #require(ProcessInfo.processInfo.environment["REALM_PLANTED_MARK"])
    let hasFailed = FileManager.default.fileExists(atPath: mark)
    try Data().write(to: URL(fileURLWithPath: mark))
    #expect(hasFailed, "REALM_SEED=17")
  }

  @Test func leavesAProcessBehind() throws {
    guard Self.isPlanted("child") else { return #expect(!Self.isPlanted("child")) }
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/bin/sleep")
    child.arguments = ["1000"]
    // Not the pipe of the test run, which would not end then.
    child.standardOutput = FileHandle.nullDevice
    child.standardError = FileHandle.nullDevice
    try child.run()
    #expect(child.isRunning)
  }

  @Test func leavesAFileBehind() throws {
    guard Self.isPlanted("file") else { return #expect(!Self.isPlanted("file")) }
    // Beside the folder of the test run, which is removed with all it holds.
    let folder = URL(fileURLWithPath: NSTemporaryDirectory()).deletingLastPathComponent()
    let path = folder.appendingPathComponent("left-behind").path
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
  }
}
