// Which commit a run is stamped with: that of the executable, which a working copy that has changed
// since does not tell.
import Foundation
import TestSupport
import Testing

@testable import Harness

@Suite(.serialized, .ownThreads) struct BuiltCommitTests {
  private let folder = TemporaryFolder()
  private let executable: String
  private let source: String

  /// A working copy with an executable that was built a moment ago.
  init() throws {
    let top = URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path
    executable = top + "/.build/machine/release/tool"
    source = top + "/Sources/tool/main.swift"
    for (path, text) in [
      source: "print(1)", top + "/Package.swift": "// package", top + "/.gitignore": ".build\n",
    ] {
      try Self.write(text, to: path)
    }
    for words in [["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "one"]] {
      _ = try Self.git(words, in: top)
    }
    try build(executable)
  }

  private static func write(_ text: String, to path: String) throws {
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }

  private static func git(_ words: [String], in top: String) throws -> String {
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    let output = outputOfCommand("/usr/bin/env", ["git", "-C", top] + identity + words)
    return try #require(output).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// As a build does: with its description beside, a second after whatever is there.
  private func build(_ path: String) throws {
    try Self.write("program", to: path)
    let place = (path as NSString).deletingLastPathComponent
    try Self.write("{}", to: place + "/description.json")
    try setTime(of: path, after: 1)
  }

  private func setTime(of path: String, after seconds: TimeInterval) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date().addingTimeInterval(seconds)], ofItemAtPath: path)
  }

  private func head() throws -> String { try Self.git(["rev-parse", "HEAD"], in: folder.path) }

  @Test func anExecutableThatIsNewerThanItsSourcesIsOfTheWorkingCopy() throws {
    let built = try #require(BuiltCommit(executable: executable))
    #expect(built.commit == (try head()) && !built.isDirty)
  }

  @Test func sourcesThatHaveChangedSinceSayNothing() throws {
    try setTime(of: source, after: 60)
    #expect(BuiltCommit(executable: executable) == nil)
  }

  @Test func aFileThatIsGoneSinceSaysNothing() throws {
    try FileManager.default.removeItem(atPath: source)
    #expect(BuiltCommit(executable: executable) == nil)
  }

  /// Texts that are no source leave the build as it is.
  @Test func changesBesideTheSourcesAreMarkedAlone() throws {
    let text = folder.path + "/.gitignore"
    try "other".write(toFile: text, atomically: true, encoding: .utf8)
    try setTime(of: text, after: 60)
    #expect(BuiltCommit(executable: executable)?.isDirty == true)
  }

  /// A gate keeps the executable of another commit in the same working copy.
  @Test func executablesOfOtherCommitsAreWhatTheirNoteSays() throws {
    let top = (source as NSString).deletingLastPathComponent + "/../.."
    for place in ["/.build/gate/abc/tool", "/.build/gate/build/machine/release/tool"] {
      let kept = URL(fileURLWithPath: top + place).standardizedFileURL.path
      try Self.write("program", to: kept)
      try setTime(of: kept, after: -1)
      #expect(BuiltCommit(executable: kept) == nil)
      let commit = String(repeating: "ab", count: 20)
      try Self.write(commit + "\n", to: kept + ".commit")
      let noted = BuiltCommit(executable: kept)
      #expect(noted?.commit == commit && noted?.isDirty == false)
      try Self.write(commit + " changed\n", to: kept + ".commit")
      #expect(BuiltCommit(executable: kept)?.isDirty == true)
      // It was built again, and nobody has said of what.
      try setTime(of: kept, after: 60)
      #expect(BuiltCommit(executable: kept) == nil)
    }
  }

  @Test func eachBuildHasAnIdentity() throws {
    let identity = try #require(BuildIdentity.of(executable: "/proc/self/exe"))
    #expect(identity.count >= 16 && identity.allSatisfy(\.isHexDigit))
    #expect(BuildIdentity.of(executable: source) == nil)
    #expect(BuildIdentity.of(executable: "/nowhere") == nil)
  }
}
