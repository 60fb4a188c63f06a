// What compiles and what does not: each file of Fixtures is compiled against the built module. A
// line that must be refused names the error in a comment, `// error: ` and the compiler's words;
// any other error or warning is a failure.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct CompileTests {
  /// The errors that ownership and isolation bring come late, after type checking.
  private static let whole = ["-emit-sil", "-o", "/dev/null"]

  @Test func everyWayCompilesInSwiftSix() throws {
    try compile("Ways.swift", Self.whole + ["-swift-version", "6"])
  }

  @Test func everyWayCompilesInSwiftFiveWithCompleteChecking() throws {
    try compile("Ways.swift", Self.whole + ["-swift-version", "5", "-strict-concurrency=complete"])
  }

  @Test func confinedTypesAreNotSendable() throws {
    try compile("NotSendable.swift", ["-typecheck", "-swift-version", "6"])
  }

  @Test func wrongIsolationDoesNotCompile() throws {
    try compile("WrongIsolation.swift", ["-typecheck", "-swift-version", "6"])
  }

  @Test func sendingConfinedValuesDoesNotCompile() throws {
    try compile("WrongSending.swift", Self.whole + ["-swift-version", "6"])
  }

  @Test(arguments: ["5", "6"])
  func modelsOfAModuleOnTheMainActor(version: String) throws {
    try compile(
      "MainActorModels.swift",
      Self.whole + ["-swift-version", version, "-default-isolation", "MainActor"])
  }

  @Test(arguments: ["5", "6"])
  func documentedSignatures(version: String) throws {
    try compile("Signatures.swift", ["-typecheck", "-swift-version", version])
  }

  /// As clients have them that were written for Swift 5: `@Sendable` is not asked for.
  @Test(arguments: [[], ["-strict-concurrency=targeted"]])
  func functionsThatAreNotSendable(checking: [String]) throws {
    try compile("Closures.swift", ["-typecheck", "-swift-version", "5"] + checking)
  }

  @Test(arguments: ["5", "6"])
  func theModuleOfTheObjectiveCNames(version: String) throws {
    try compile("BothModules.swift", ["-typecheck", "-swift-version", version])
  }

  /// Each block of code in docs/quick-writes.md, within what the text around it tells of.
  @Test(arguments: ["5", "6"])
  func quickWritesPage(version: String) throws {
    let page = try String(
      contentsOf: Self.root.appendingPathComponent("docs/quick-writes.md"), encoding: .utf8)
    let blocks = page.components(separatedBy: "```swift\n").dropFirst().map {
      $0.components(separatedBy: "```")[0]
    }
    var numbers = 0
    let source = try String(contentsOf: Self.fixture("QuickWritesPage.swift"), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
        guard line.hasPrefix("// code "), let number = Int(line.dropFirst(8)) else {
          return String(line)
        }
        numbers += 1
        return blocks.indices.contains(number - 1) ? blocks[number - 1] : ""
      }.joined(separator: "\n")
    #expect(blocks.count == numbers, "each block has its line in the fixture")
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("quick-writes-\(UUID().uuidString).swift")
    defer { try? FileManager.default.removeItem(at: file) }
    try source.write(to: file, atomically: true, encoding: .utf8)
    let (output, _, status) = try runCompiler(
      Self.whole + ["-swift-version", version, file.path])
    #expect(status == 0 && !output.contains("warning: "), "\(output)")
  }

  @Test func namesOfOld() throws {
    try compile("OldNames.swift", ["-typecheck", "-swift-version", "6"])
  }

  /// The public interface is what docs/api-surface.txt says.
  @Test func theInterfaceIsTheListedOne() throws {
    let script = Self.root.appendingPathComponent("scripts/api-surface")
    let process = Process()
    process.executableURL = script
    process.arguments = ["--modules", try productsFolder().appendingPathComponent("Modules").path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: output, as: UTF8.self))")
  }

  /// `scripts/hunt` builds these with points of the scheduler in them, which no test's build has.
  @Test(arguments: ["Platform", "Storage"])
  func theEngineForHuntsCompiles(module: String) throws {
    let sources = Self.root.appendingPathComponent("Sources/\(module)")
    let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
      .filter { $0.hasSuffix(".swift") }.sorted().map { sources.appendingPathComponent($0).path }
    let switched = try files.filter {
      try String(contentsOfFile: $0, encoding: .utf8).contains("#if CONTROLLED_SCHEDULING")
    }
    #expect(!switched.isEmpty)
    // As SwiftPM makes it of the folder's name.
    let package = String(
      Self.root.lastPathComponent.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    let features = ["InternalImportsByDefault", "MemberImportVisibility", "ExistentialAny"]
    let (output, _, status) = try runCompiler(
      ["-typecheck", "-swift-version", "6", "-module-name", module, "-package-name", package]
        + features.flatMap { ["-enable-upcoming-feature", $0] }
        + ["-D", "CONTROLLED_SCHEDULING", "-D", "PLANTED_BUGS"]
        + files.flatMap { switched.contains($0) ? ["-primary-file", $0] : [$0] })
    #expect(status == 0 && !output.contains("warning: "), "\(output)")
  }

  // MARK: - Compiling

  /// The folder of the package.
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func fixture(_ name: String) -> URL {
    root.appendingPathComponent("Tests/CompileTests/Fixtures/\(name)")
  }

  private struct Line: Hashable, Comparable, CustomStringConvertible {
    let number: Int
    let text: String

    var description: String { "line \(number): \(text)" }
    static func < (left: Line, right: Line) -> Bool { left.number < right.number }
  }

  private func compile(
    _ fixture: String, _ options: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let fixture = Self.fixture(fixture)
    let expected = try String(contentsOf: fixture, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .compactMap { number, line in
        line.range(of: "// error: ").map {
          Line(number: number + 1, text: String(line[$0.upperBound...]))
        }
      }
    let (output, reason, status) = try runCompiler(options + [fixture.path])
    #expect(
      reason == .exit && (status == 0) == expected.isEmpty,
      "the compiler has ended with \(status): \(output)", sourceLocation: sourceLocation)
    let found = output.split(separator: "\n").compactMap { line -> Line? in
      // FILE:LINE:COLUMN: error: TEXT
      let parts = line.split(separator: ":", maxSplits: 3)
      guard parts.count == 4, line.hasPrefix(fixture.path), let number = Int(parts[1]) else {
        return line.contains("error: ") && line.hasPrefix("<unknown>")
          ? Line(number: 0, text: String(line)) : nil
      }
      let text = parts[3].trimmingCharacters(in: .whitespaces)
      for kind in ["error: ", "warning: "] where text.hasPrefix(kind) {
        // The name of a group of errors, in brackets.
        let words = text.dropFirst(kind.count).replacingOccurrences(
          of: " \\[#[A-Za-z]+\\]$", with: "", options: .regularExpression)
        return Line(number: number, text: kind == "error: " ? words : kind + words)
      }
      return nil
    }
    #expect(Set(found).sorted() == expected, "\(output)", sourceLocation: sourceLocation)
  }

  /// What the compiler says, and how it ends.
  private func runCompiler(
    _ options: [String]
  ) throws -> (String, Process.TerminationReason, status: Int32) {
    let products = try productsFolder()
    // No other one: a target that does not name RealmSwift in its manifest is given none at all.
    // RaceHunt is part of the engine in this build only.
    let maps = [products.appendingPathComponent("CRaceHunt.build/module.modulemap")]
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["swiftc", "-frontend", "-parse-as-library"] + options
      + ["-I", products.appendingPathComponent("Modules").path]
      + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] }
    let pipe = Pipe()
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (
      String(decoding: output, as: UTF8.self), process.terminationReason, process.terminationStatus
    )
  }

  /// Where the build that this test belongs to has its products.
  private func productsFolder() throws -> URL {
    var folder = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let module = folder.appendingPathComponent("Modules/RealmSwift.swiftmodule")
      if FileManager.default.fileExists(atPath: module.path) { return folder }
    }
    throw CocoaError(.fileNoSuchFile)
  }
}
