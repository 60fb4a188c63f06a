// Places that a verb cannot write to, or read from: each is refused before anything is done, with
// 64, by its name and by what it is.
import Foundation
import Glibc
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct PlaceTests {
  private let folder = TemporaryFolder()

  private static let run = "$tool run readers-writer --objects 50 --warmup 0s --ops 20 --quiet"

  private func expectRefusal(
    _ script: String, _ words: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    let result = try ToolInShell(folder).run(script)
    #expect(result.code == 64, "\(result.errors)", sourceLocation: location)
    #expect(result.errors.contains(words), "\(result.errors)", sourceLocation: location)
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.file(name))
  }

  @Test func fileAndFolderOfARunAreTwoPlaces() throws {
    try expectRefusal(
      Self.run + " --output db.d --path db.d", "--path and --output are one place, 'db.d'")
    #expect(!exists("db.d"))
    try expectRefusal(
      Self.run + " --output pa && " + Self.run + " --output pa --overwrite --path pa/x.realm",
      "--path: 'pa/x.realm' lies in 'pa', which is to be replaced")
    #expect(!exists("pa/x.realm") && exists("pa/run.json"))
  }

  @Test func whatIsNoFolderIsSaidToBeWhatItIs() throws {
    try expectRefusal(
      "mkfifo pipe; " + Self.run + " --output pipe", "'pipe' is a device, pipe or socket")
    try expectRefusal(
      Self.run + " --output /dev/null", "'/dev/null' is a device, pipe or socket")
    try expectRefusal(
      "touch realm-bench-results; " + Self.run,
      "'realm-bench-results', where results go, is a file")
    try expectRefusal(
      "rm realm-bench-results; ln -s nowhere realm-bench-results; " + Self.run,
      "'realm-bench-results', where results go, is a link to nothing")
  }

  @Test func aHistoryIsAFolder() throws {
    try expectRefusal(
      "mkfifo pipe; $tool report --trend pipe out", "--trend: 'pipe' is a device, pipe or socket")
    try expectRefusal("touch file; $tool report --trend file out", "--trend: 'file' is a file")
  }

  @Test func resultsThatCannotBeReadAreThere() throws {
    try expectRefusal(
      "mkdir out; ln -s run.json out/run.json; $tool report out",
      "'out/run.json' cannot be read: Too many levels of symbolic links")
  }

  @Test func verbsAgreeOnAPlaceThatCannotBeWritten() throws {
    let runs = Self.run + " --output a && " + Self.run + " --seed 2 --output b && "
    try expectRefusal(runs + "$tool merge a b -o /proc/self/x", "/proc/self/x")
    try expectRefusal(Self.run + " --output /proc/self/x", "/proc/self/x")
    try expectRefusal("$tool compare a b --partial --output /proc/self/x/y.csv", "/proc/self/x")
  }
}
