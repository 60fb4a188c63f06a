// What a comparison can say without repeats or one machine: counters that follow from the plan
// alone, and response times of which only the least is known.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ExactCounterTests {
  private let folder: TemporaryFolder
  private let runs: FigureFolders
  init() {
    folder = TemporaryFolder()
    runs = FigureFolders(folder: folder)
  }

  private func compare(
    _ words: [String]
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let code = try CompareVerb.run(
      ["--output", folder.file("compare.csv")] + words, console: output.console(),
      interruption: { TimedInterruption() })
    return (code, output.output, output.errors)
  }

  /// A run with one writer, which ends by operations.
  private func run(
    _ name: String, syncs: String = "1", bytes: String = "1000", seed: UInt64 = 1,
    loaded: String? = nil, _ change: (inout RunDocument) -> Void = { _ in }
  ) throws -> String {
    var figures = [
      "write": [
        "service_p50_ns": "5000", "syncs_per_commit": syncs, "written_bytes_per_commit": bytes,
      ]
    ]
    figures["insert"] = loaded.map { ["phase": "load", "written_bytes_per_commit": $0] }
    return try runs.make(name, figures) {
      $0.seed = seed
      change(&$0)
    }
  }

  /// One run a side was said to tell nothing, and 2 % more syncs to be none.
  @Test func oneRunASideIsEnoughForExactCounters() throws {
    let base = try run("base")
    for (syncs, code) in [
      ("1", ExitCode.success), ("2", .thresholdMissed), ("1.01", .thresholdMissed),
      ("0.5", .success),
    ] {
      let result = try compare([base, try run("syncs-\(syncs)", syncs: syncs)])
      #expect(result.code == code, "\(syncs): \(result.output)")
      #expect(result.output.contains("Worse: write.syncs_per_commit") == (code != .success))
    }
    let more = try run("more", syncs: "1.01")
    #expect(try compare([base, more, "--max-regression", "5%"]).code == .success)
    let named = try compare([base, more, "--max-regression", "write.syncs_per_commit=0.5%"])
    #expect(named.code == .thresholdMissed)
    let none = try run("none", syncs: "0")
    #expect(try compare([none, base]).code == .thresholdMissed)
  }

  @Test func countersOfRunsThatAreNotRepeatedAlikeHaveNoise() throws {
    let changes: [(inout RunDocument) -> Void] = [
      {
        $0.settings.operations = nil
        $0.settings.durationNs = 1_000_000_000
      }, { $0.settings.writers = 2 }, { $0.settings.group = 64 }, { $0.settings.processes = 2 },
      { $0.settings.warmupNs = 1_000_000_000 },
    ]
    for (number, change) in changes.enumerated() {
      let words = [
        try run("before-\(number)", change), try run("after-\(number)", syncs: "2", change),
      ]
      let result = try compare(words + ["--strict"])
      #expect(result.code == .inconclusive, "\(number): \(result.output)")
    }
    // Repeats that differ say that there is noise.
    let result = try compare([
      try run("a"), try run("b", syncs: "1.01"), "--baseline", try run("c", syncs: "1.02"),
      "--candidate", try run("d", syncs: "1.03"),
    ])
    #expect(result.code == .success, "\(result.output)")
  }

  /// What is written later depends on when space was found to be free.
  @Test func writtenBytesAreExactWhileTheFileIsFilled() throws {
    let base = try run("base", seed: 1, loaded: "1000")
    let more = try compare([base, try run("more", seed: 1, loaded: "1001")])
    #expect(more.code == .thresholdMissed, "\(more.output)")
    #expect(more.output.contains("Worse: load.insert.written_bytes_per_commit"))
    #expect(try compare([base, try run("equal", seed: 1, loaded: "1000")]).code == .success)
    // Other content is other bytes.
    let other = try compare([base, try run("other", seed: 2, loaded: "1001"), "--strict"])
    #expect(other.code == .inconclusive, "\(other.output)")
    let later = try compare([base, try run("later", bytes: "1500", seed: 1, loaded: "1000")])
    #expect(later.code == .success, "\(later.output)")
  }

  private func reads(
    _ name: String, _ allocations: String?, commits: Bool = false, calls: String? = nil,
    _ change: (inout RunDocument) -> Void = { _ in }
  ) throws -> String {
    var read = ["service_p50_ns": "5000"]
    read["allocations_per_operation"] = allocations
    var write = ["service_p50_ns": "5000"]
    write["syncs_per_commit"] = commits ? "1" : nil
    write["system_calls_per_commit"] = calls
    return try runs.make(name, ["read": read, "write": write]) {
      $0.seed = 1
      $0.settings.writers = 0
      $0.settings.invariants = []
      change(&$0)
    }
  }

  @Test func allocationsOfAThreadAloneAreExact() throws {
    let base = try reads("base", "41.0000")
    for (number, figure) in ["41.0010", "42.0000"].enumerated() {
      let more = try compare([base, try reads("more-\(number)", figure)])
      #expect(more.code == .thresholdMissed, "\(more.output)")
      #expect(more.output.contains("Worse: read.allocations_per_operation"))
    }
    #expect(try compare([base, try reads("equal", "41.0000")]).code == .success)
    #expect(try compare([base, try reads("less", "40.0000")]).code == .success)
    // From none to one there is no ratio.
    let none = try reads("none", "0.0000")
    #expect(try compare([none, try reads("one", "1.0000")]).code == .thresholdMissed)
    #expect(try compare([none, try reads("still", "0.0000")]).code == .success)
  }

  /// Others move the file on, and whoever reads finds less of what it knew; what a commit allocates
  /// depends on when space was found to be free.
  @Test func allocationsBesideWritesDecideOnlyWhereTheyAreNamed() throws {
    let changes: [(inout RunDocument) -> Void] = [
      { _ in }, { $0.settings.writers = 1 }, { $0.settings.readers = 2 },
      { $0.settings.warmupNs = 1_000_000_000 }, { $0.settings.invariants = ["I2"] },
      {
        $0.settings.operations = nil
        $0.settings.durationNs = 1_000_000_000
      }, { $0.settings.processes = 2 },
    ]
    for (number, change) in changes.enumerated() {
      func side(_ name: String, _ figure: String) throws -> [String] {
        try (0..<3).map {
          try reads("\(name)-\(number)-\($0)", figure, commits: number == 0, change)
        }
      }
      let (before, after) = (try side("before", "41.0000"), try side("after", "50.0000"))
      var words = [before[0], after[0]]
      for position in 1..<3 {
        words += ["--baseline", before[position], "--candidate", after[position]]
      }
      let shown = try compare(words)
      #expect(!shown.output.contains("Worse: read.allocations"), "\(number): \(shown.output)")
      #expect(shown.output.contains("read.allocations_per_operation"), "\(number)")
      let named = try compare(words + ["--max-regression", "read.allocations_per_operation=5%"])
      #expect(named.code == .thresholdMissed, "\(number): \(named.output)")
    }
  }

  /// Builds that do not count, and folders of earlier versions.
  @Test func figuresThatOneSideLacksDecideNothing() throws {
    let (with, without) = (try reads("with", "41.0000", calls: "9"), try reads("without", nil))
    let other = try reads("other", nil)
    for words in [[with, without], [without, with], [without, other]] {
      let result = try compare(words)
      #expect(result.code == .success, "\(result.output)")
      #expect(!result.output.contains("Worse"), "\(result.output)")
    }
  }

  /// Baselines are committed: whoever compares with one may have another machine.
  @Test func countersDecideAcrossMachinesAndTimesAreOnlyShown() throws {
    let elsewhere: (inout RunDocument) -> Void = { $0.environment.cpu = "another one" }
    let base = try run("base")
    let strict = try compare([base, try run("equal", elsewhere), "--strict"])
    #expect(strict.code == .inconclusive, "written bytes of one run a side: \(strict.output)")
    #expect(strict.output.contains("(cannot tell)"), "\(strict.output)")
    #expect(!strict.errors.contains("service_p50_ns"), "\(strict.errors)")
    let worse = try compare([base, try run("worse", syncs: "2", elsewhere)])
    #expect(worse.code == .thresholdMissed)
    let words = [
      base, try run("first", elsewhere), "--baseline", try run("second"),
      "--candidate", try run("third", elsewhere), "--strict",
    ]
    #expect(try compare(words).code == .success)
    // Who names a time wants to know of it.
    let named = try compare(words + ["--max-regression", "write.service_p50_ns=5%"])
    #expect(named.code == .inconclusive)
  }

  /// Twins were compared by their times, with a warning.
  @Test func machinesThatLookAlikeAreToldApart() throws {
    func twin(_ name: String, _ machine: String?, syncs: String = "1") throws -> String {
      try run(name, syncs: syncs) {
        $0.environment.machineId = machine
        $0.environment.hostName = machine ?? "unknown"
      }
    }
    let one = try twin("one", "1")
    let other = try compare([one, try twin("other", "2")]).output
    #expect(other.contains("different machines") && other.contains("identity of the machine is 1"))
    let same = try compare([one, try twin("same", "1")]).output
    #expect(!same.contains("different machines") && !same.contains("hosts"))
    // Folders of earlier versions do not say which machine they are of.
    let earlier = try compare([one, try twin("earlier", nil)]).output
    #expect(!earlier.contains("different machines") && earlier.contains("2 hosts that look alike"))
    let here = MachineIdentity.here()
    #expect(here == MachineIdentity.here() && here?.count ?? 16 == 16)
    #expect(MachineIdentity.here(root: folder.file("nothing")) == nil)
  }

  // MARK: - Response times

  /// A run of an open loop, half of whose operations were not done.
  private func overloaded(_ name: String, waited nanoseconds: UInt64?) throws -> String {
    var write = ["service_p50_ns": "5000", "load": "open", "count": "1000"]
    write["response_p50_ns"] = nanoseconds == nil ? "1000000" : nil
    write["skipped"] = nanoseconds == nil ? "0" : "1500"
    let path = try runs.make(name, ["write": write]) {
      $0.leftOut = ["write": nanoseconds == nil ? 0 : 1_500]
    }
    if let nanoseconds {
      let all = LatencyHistogram()
      all.record(900_000, times: 1_000)
      all.record(nanoseconds, times: 1_500)
      try all.percentileText().write(
        toFile: path + "/histograms/write-response.hgrm", atomically: true, encoding: .utf8)
    }
    return path
  }

  /// What was not done had waited for seconds, and the gate could not tell.
  @Test func responsesThatAreSlowAtLeastAreWorse() throws {
    func sides(_ name: String, _ waited: UInt64) throws -> [String] {
      let (before, after) = (
        try (0..<2).map { try overloaded("\(name)-a\($0)", waited: nil) },
        try (0..<2).map { try overloaded("\(name)-b\($0)", waited: waited) }
      )
      return [before[0], after[0], "--baseline", before[1], "--candidate", after[1]]
    }
    let slow = try compare(try sides("slow", 3_000_000_000))
    #expect(slow.code == .thresholdMissed, "\(slow.output)")
    #expect(slow.output.contains("Worse: write.response_p50_ns"))
    #expect(slow.output.contains("it is that slow at least"))
    // Those that had hardly begun to wait say nothing.
    let young = try compare(try sides("young", 1_000) + ["--strict"])
    #expect(young.code == .inconclusive, "\(young.output)")
    #expect(young.output.contains("operations that were due were not done"))
    // Nor does a baseline that was overloaded itself.
    let words = try sides("turned", 3_000_000_000)
    let turned = try compare([
      words[1], words[0], "--baseline", words[5], "--candidate", words[3], "--strict",
    ])
    #expect(turned.code == .inconclusive, "\(turned.output)")
  }
}
