// What help says of a flag's usual value is what a run takes, and what it says of words is all that
// there is.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.ownThreads) struct HelpDefaultsTests {
  private func refusal(_ body: () throws -> ExitCode) -> String {
    do {
      return "not refused: \(try body())"
    } catch {
      return (error as? UsageError)?.message ?? "\(error)"
    }
  }

  /// What help has in the last brackets of a flag, up to what it says beside.
  private func shown(_ flag: FlagDefinition) -> String? {
    guard let open = flag.help.lastIndex(of: "("), flag.help.hasSuffix(")") else { return nil }
    let words = flag.help[flag.help.index(after: open)...].dropLast()
    return words.split { $0 == "," || $0 == ";" }.first.map(String.init)
  }

  /// The settings of a run with some flags, as run.json has them.
  private func record(
    _ words: [String], _ workload: WorkloadKind
  ) throws -> String {
    let flags = try FlagValues(words, known: RunFlags.known(for: workload))
    return try encodeJSON(
      SettingsRecord(try RunFlags.settings(flags, for: workload).0, path: "", output: ""))
  }

  private static let names = [
    "readers", "writers", "observers", "threads", "mix", "scan-length", "objects", "value-size",
    "duration", "warmup", "batch", "read-keys", "refresh-every", "durability", "pins", "pin-every",
    "release", "queues", "group", "in-flight", "churn", "write-every", "attempts", "interval",
    "patience", "seed", "replicas", "engine",
  ]

  @Test(arguments: WorkloadKind.allCases.map(\.rawValue))
  func theUsualValuesOfHelpAreThoseOfRuns(_ name: String) throws {
    let workload = try #require(WorkloadKind(rawValue: name))
    let usual = try record([], workload)
    var compared: Set<String> = []
    for flag in RunFlags.known(for: workload) where Self.names.contains(flag.name) {
      let value = try #require(shown(flag), "--\(flag.name) of \(name): \(flag.help)")
      // What nobody does takes no flag.
      guard let given = try? record(["--\(flag.name)=\(value)"], workload) else { continue }
      #expect(given == usual, "--\(flag.name) of \(name): \(flag.help)")
      compared.insert(flag.name)
    }
    #expect(compared.isSuperset(of: ["interval", "patience", "seed", "objects", "value-size"]))
  }

  @Test func loadsAreSampledMoreOften() throws {
    for name in ["bulk-load", "migration-under-load"] {
      let output = CollectedOutput()
      _ = try RunVerb.perform([name, "--help"], console: output.console())
      #expect(output.output.contains("growth.csv (100ms)"), "\(output.output)")
    }
  }

  // MARK: - Words of verbs

  @Test func theOverviewHasAllThatListTakes() {
    #expect(Help.overview.contains("list " + ListVerb.arguments))
    #expect(ListVerb.arguments == "[\(ListVerb.words.joined(separator: "|"))]")
    #expect(ListVerb.words.contains("scenarios"))
    #expect(ListVerb.help.contains("scripts/hunt list bugs"))
  }

  @Test func aBuildWithoutBugsSaysWhichOneHasThem() {
    let words = refusal {
      try ListVerb.run(["bugs"], console: CollectedOutput().console(), bugs: nil)
    }
    #expect(words.contains("'scripts/hunt list bugs' makes one") && words.contains("PlantedBugs"))
  }

  @Test(arguments: [
    ["mixed", "transfer"], ["mixed", "plan.json"], ["plan.json", "mixed"],
    ["plan.json", "other.json", "--help"], ["mixed", "transfer", "--help"],
  ])
  func runTakesOneWorkloadOrOnePlan(_ words: [String]) {
    let refused = refusal { try RunVerb.perform(words, console: CollectedOutput().console()) }
    #expect(
      refused.hasPrefix("run takes one workload or one plan, but also got '\(words[1])'"),
      "\(refused)")
    #expect(RunVerb.usage.contains("Runs one workload") && RunVerb.usage.contains("or one plan"))
  }
}
