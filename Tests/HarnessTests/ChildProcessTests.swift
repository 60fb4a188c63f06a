// Programs of somebody else's that a verb has started: one that hears no signal, or whose own child
// goes on, is not waited for without end.
internal import Foundation
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Harness

@Suite(.ownThreads) struct ChildProcessTests {
  private let folder = TemporaryFolder()

  /// Asks for the end once a file is there.
  private struct AskedWhenThere: Interruption {
    let path: String
    func isRequested() -> Bool { FileManager.default.fileExists(atPath: path) }
  }

  /// Nobody has enough.
  private struct NeverAsked: Interruption {
    func isRequested() -> Bool { false }
  }

  private func script(_ lines: String) throws -> String {
    let path = folder.file("script")
    try ("#!/bin/bash\n" + lines + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    chmod(path, 0o755)
    return path
  }

  private var ready: String { folder.file("ready") }

  /// What was started last goes on when the script is gone, and is ended as well.
  private static let scripts = [
    "sleep 600 & echo $! > PIDS; touch READY; wait; true",
    "trap '' TERM INT; sleep 600 & echo $! > PIDS; touch READY; wait; sleep 600",
  ]

  private func start(_ text: String) throws -> ChildProcess {
    let lines = text.replacing("PIDS", with: folder.file("pids")).replacing("READY", with: ready)
    return try ChildProcess(try script(lines), [], isSilent: true)
  }

  private func isGone() throws -> Bool {
    let text = try String(contentsOfFile: folder.file("pids"), encoding: .utf8)
    let identifier = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    let state = textOfFile("/proc/\(identifier)/stat")?.split(separator: ")").last
    return state == nil || state?.hasPrefix(" Z ") == true
  }

  @Test(arguments: scripts) func oneThatDoesNotHearIsEnded(_ text: String) throws {
    let process = try start(text)
    let ending = process.wait(AskedWhenThere(path: ready), limit: nil, patience: 20_000_000)
    #expect(ending.isToldToEnd && !ending.isLate && ending.code == .failed)
    #expect(try isGone())
  }

  @Test func oneThatHangsIsToldToEndAfterItsTime() throws {
    let process = try start(Self.scripts[1])
    let ending = process.wait(NeverAsked(), limit: 50_000_000, patience: 2_000_000_000)
    #expect(ending.isLate && !ending.isToldToEnd && ending.code == .failed)
  }

  @Test func oneThatEndsInTimeIsLeftAlone() throws {
    let process = try ChildProcess(try script("exit 2"), [], isSilent: true)
    let ending = process.wait(NeverAsked(), limit: 60_000_000_000, patience: 1)
    #expect(!ending.isLate && !ending.isToldToEnd && ending.code == .thresholdMissed)
  }
}
