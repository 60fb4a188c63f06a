// A user's own tool, as Examples/Sources/shop-bench is one, in processes of its own: its workload
// has the flags, files and verbs that the tool's own workloads have, and its checks find its
// mistakes.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct OwnWorkloadTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  private static let short = "--ops 300 --warmup 0s --objects 500 --durability memory"

  /// Runs a tool until it ends.
  private func tool(
    _ line: String, name: String = "ShopBench"
  ) throws -> (code: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent(name)
    process.arguments = line.split(separator: " ").map(String.init)
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    // Files: a pipe could be held open by the child of another test.
    let files = ["output", "errors"].map { folder.path + "/\($0)-\(UUID().uuidString)" }
    for file in files { try "".write(toFile: file, atomically: false, encoding: .utf8) }
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files[0]))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files[1]))
    try process.start()
    process.waitUntilExit()
    let texts = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
    return (process.terminationStatus, texts[0], texts[1])
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
  }

  private func run(_ name: String) throws -> MeasuredRun {
    try MeasuredRun(folder: folder.path + "/" + name)
  }

  @Test func aRunHasTheRowsFlagsAndChecksOfItsWorkload() throws {
    let result = try tool(
      "run shop \(Self.short) --basket 2 --mix buy:50,browse:50 --seed 7 --output out --quiet")
    #expect(result.code == 0, "\(result.errors)")
    let run = try run("out")
    let counts = ["browse", "buy"].map { name in
      run.rows.first { $0.key.name == name }?.value["count"] ?? 0
    }
    #expect(counts.allSatisfy { $0 > 50 } && counts.reduce(0, +) == 300, "\(counts)")
    #expect(run.rows.first { $0.key.name == "buy" }?.value["written_bytes_per_commit"] ?? 0 > 0)
    #expect(run.rows.first { $0.key.name == "browse" }?.value["written_bytes_per_commit"] == nil)
    #expect(run.document.settings.own == ["basket": "2", "mistake": "none"])
    #expect(run.document.command.hasPrefix("ShopBench run shop --seed 7 "))
    #expect(run.document.command.contains(" --basket 2 "))
    let checks = try #require(CSVTable.parse(try text("out/invariants.csv")))
    #expect(checks.dropFirst().map { $0[5] } == ["I3", "I4", "I10", "stock", "orders"])
    #expect(checks.dropFirst().allSatisfy { Int($0[6])! > 0 && $0[7] == "0" }, "\(checks)")
    #expect(try text("out/histograms/buy.hgrm").contains("Max"))
    // The command that it names repeats it.
    let words = run.document.command.split(separator: " ").dropFirst().joined(separator: " ")
    let again = try tool(words + " --output again --quiet")
    #expect(again.code == 0, "\(again.errors)")
    #expect(try self.run("again").document.settings.own == run.document.settings.own)
  }

  @Test func aCheckOfTheUsersFindsAMistakeOfTheUsers() throws {
    let result = try tool("run shop \(Self.short) --mistake forgets-sales --output out --quiet")
    #expect(result.code == 3, "\(result.errors)")
    let evidence = try text("out/violation.txt")
    #expect(evidence.hasPrefix("stock violated: It does not hold that what is left"), "\(evidence)")
    #expect(evidence.contains("again: ShopBench run shop --seed 1 "))
    #expect(evidence.contains("--mistake forgets-sales"))
    #expect(FileManager.default.fileExists(atPath: folder.path + "/out/data.realm"))
    let without = try tool(
      "run shop \(Self.short) --mistake forgets-sales --invariants I10 --output unchecked --quiet")
    #expect(without.code == 0, "\(without.errors)")
    let other = try tool(
      "run shop \(Self.short) --mistake forgets-sales --invariants orders --output other --quiet")
    #expect(other.code == 3)
    #expect(try text("other/violation.txt").hasPrefix("orders violated: "))
  }

  /// By the user's own tool and by one that does not know the workload.
  @Test(arguments: ["ShopBench", "realm-bench"])
  func resultsAreComparedAndReported(by name: String) throws {
    for output in ["before", "after"] {
      #expect(try tool("run shop \(Self.short) --output \(output) --quiet").code == 0)
    }
    #expect(try tool("run shop \(Self.short) --basket 9 --output bigger --quiet").code == 0)
    let compared = try tool("compare before after --partial", name: name)
    #expect(compared.code == 0, "\(compared.errors)")
    #expect(compared.output.contains("\nbuy.service_p50_ns "))
    let refused = try tool("compare before bigger --partial", name: name)
    #expect(refused.code == 1 || refused.code == 64, "\(refused.code)")
    #expect(refused.errors.contains("--basket is 3 and 9"), "\(refused.errors)")
    #expect(try tool("report before after -o page.html", name: name).code == 0)
    let page = try text("page.html")
    #expect(page.contains("browse") && page.contains("buy") && page.contains("stock"))
    #expect(!page.contains(folder.path))
    #expect(try tool("merge before after -o joined --partial", name: name).code != 70)
  }

  @Test func aPlanRunsItInPhasesBesideItsFile() throws {
    let plan = """
      { "workload": "shop", "settings": {"threads": 2, "basket": 2, "objects": 200, "warmup": "0s"},
        "phases": [{"name": "calm", "duration": "300ms", "rate": "50/s"},
                   {"name": "busy", "duration": "300ms", "rate": "200/s"}],
        "background": [{"kind": "pins", "count": 2, "every": "50ms"},
                       {"kind": "compaction", "every": "100ms"}] }
      """
    try plan.write(toFile: folder.path + "/plan.json", atomically: true, encoding: .utf8)
    let result = try tool("run plan.json --output out --keep-file --quiet")
    #expect(result.code == 0, "\(result.errors)")
    #expect(Set(try run("out").rows.keys.map(\.phase)).isSuperset(of: ["calm", "busy", "measure"]))
    // Its classes and no others.
    let inspected = try tool("inspect out/data.realm")
    #expect(inspected.output.contains("3 tables"), "\(inspected.output)")
    try plan.replacing("compaction", with: "cache")
      .write(toFile: folder.path + "/plan.json", atomically: true, encoding: .utf8)
    let refused = try tool("run plan.json")
    #expect(refused.code == 64 && refused.errors.contains("has classes of its own"))
  }

  @Test func replicasThresholdsAndFormatsAreThoseOfRun() throws {
    let result = try tool(
      "run shop \(Self.short) --replicas 2 --threshold buy.count>0 --format json --output out"
        + " --quiet")
    #expect(result.code == 0, "\(result.errors)")
    #expect(try MeasuredRun.all(in: folder.path + "/out").count == 2)
    // One document of both.
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    #expect(json?["replicas"] as? Int == 2)
    let rows = try #require(json?["summary"] as? [[String: Any]])
    #expect(Set(rows.compactMap { $0["replica"] as? Int }) == [1, 2], "\(rows)")
    let missed = try tool("run shop \(Self.short) --threshold buy.count<1 --output missed --quiet")
    #expect(missed.code == 2, "\(missed.errors)")
  }

  @Test(arguments: [
    ("run shop --basket 0", "--basket: 0 is not between 1 and 100"),
    ("run shop --mistake forget", "--mistake: 'forget' is not one of none, forgets-sales"),
    ("run shop --readers 2", "the workload shop does not use this flag"),
    ("run shop --mix browse:50", "is not shares that add up to 100, such as browse:80,buy:20"),
    ("run shop --invariants I2", "'I2' is not checked by this workload"),
    ("run shop --threshold sell.count>0", "'sell' is not an operation"),
    ("run readers-writer --basket 2", "the workload readers-writer does not use this flag"),
    ("run shp", "did you mean 'shop'?"),
  ])
  func badInputIsRefusedAsTheToolDoes(_ line: String, _ message: String) throws {
    let result = try tool(line + " --output out")
    #expect(result.code == 64)
    #expect(result.errors.contains("ShopBench: ") && result.errors.contains(message), "\(result)")
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/out"))
  }

  @Test func helpAndListsSpeakOfTheTool() throws {
    let overview = try tool("help").output
    #expect(overview.contains("  ShopBench run shop --quick\n"))
    #expect(!overview.contains("'realm-bench"))
    let help = try tool("run shop --help").output
    #expect(help.hasPrefix("ShopBench run shop [flags]\n"))
    #expect(help.contains("--basket N") && help.contains("(3)") && help.contains("--threads N"))
    #expect(try tool("list workloads").output.hasPrefix("shop "))
    #expect(try tool("list invariants").output.contains("stock "))
    let script = try tool("completion bash").output
    #expect(script.contains("complete -o default -F _ShopBench ShopBench\n"))
  }
}
