// Tests that hang, fail by chance or leave something behind, when REALM_PLANTED_FAILURE says so:
// scripts/checks/watchdog proves with them that each is named. Without it they are skipped.
import Foundation
import Platform
import TestSupport
import Testing

private let planted = ProcessInfo.processInfo.environment["REALM_PLANTED_FAILURE"]

@Suite(.ownThreads) struct PlantedFailureTests {
  @Test(.enabled(if: planted == "hang")) func waitsForEver() {
    let opened = Monitor(false)
    opened.wait(until: { $0 }, then: { _ in })
    #expect(opened.withLock { $0 })
  }

  /// Fails once: what it leaves in the folder of the build tells the second run.
  @Test(.enabled(if: planted == "chance")) func failsByChance() throws {
    let mark = try #require(ProcessInfo.processInfo.environment["REALM_PLANTED_MARK"])
    let hasFailed = FileManager.default.fileExists(atPath: mark)
    try Data().write(to: URL(fileURLWithPath: mark))
    #expect(hasFailed, "REALM_SEED=17")
  }

  /// Fails once, as does a thread of it, whose report belongs to no test.
  @Test(.enabled(if: planted == "thread")) func failsWithAThread() throws {
    let mark = try #require(ProcessInfo.processInfo.environment["REALM_PLANTED_MARK"])
    let hasFailed = FileManager.default.fileExists(atPath: mark)
    try Data().write(to: URL(fileURLWithPath: mark))
    let thread = Thread.start(name: "reporter") {
      if !hasFailed { Issue.record("from a thread") }
    }
    thread.joinInTime()
    #expect(hasFailed)
  }

  /// Fails once, when scripts/checks/watchdog has made a processor stand still, as far as
  /// scripts/watched can see.
  @Test(.enabled(if: planted == "stall")) func failsInAStall() throws {
    let mark = try #require(ProcessInfo.processInfo.environment["REALM_PLANTED_MARK"])
    #expect(eventually { FileManager.default.fileExists(atPath: mark + ".stall") })
    let hasFailed = FileManager.default.fileExists(atPath: mark)
    try Data().write(to: URL(fileURLWithPath: mark))
    #expect(hasFailed)
  }

  /// Ends its process once, as a trap of the engine would.
  @Test(.enabled(if: planted == "death")) func diesByChance() throws {
    let mark = try #require(ProcessInfo.processInfo.environment["REALM_PLANTED_MARK"])
    let hasDied = FileManager.default.fileExists(atPath: mark)
    try Data().write(to: URL(fileURLWithPath: mark))
    if !hasDied { fatalError("planted death") }
    #expect(hasDied)
  }

  /// Has to run after the process of the test above has died.
  @Test(.enabled(if: planted == "death")) func passesBesideADeath() {
    #expect(planted == "death")
  }

  @Test(.enabled(if: planted == "child")) func leavesAProcessBehind() throws {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/bin/sleep")
    child.arguments = ["1000"]
    // Not the pipe of the test run, which would not end then.
    child.standardOutput = FileHandle.nullDevice
    child.standardError = FileHandle.nullDevice
    try child.run()
    #expect(child.isRunning)
  }

  @Test(.enabled(if: planted == "file")) func leavesAFileBehind() throws {
    // Beside the folder of the test run, which is removed with all it holds.
    let folder = URL(fileURLWithPath: NSTemporaryDirectory()).deletingLastPathComponent()
    let path = folder.appendingPathComponent("left-behind").path
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
  }
}
