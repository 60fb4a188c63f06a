// Proof that the checkers find what they are for: each planted bug that breaks an invariant of a
// running load is found by its checker, with all others off, most often within ten seconds. All
// other bugs are found by tests of the engine: scripts/planted-bugs. Only in a build with the trait
// PlantedBugs.
#if PLANTED_BUGS
  import Foundation
  import Harness
  import Platform
  import TestSupport
  import Testing

  @Suite(.serialized, .ownThreads) struct PlantedBugTests {
    private static let bugs = PlantedBug.allCases.filter { $0.invariant != nil }
    private let folder: TemporaryFolder
    init() { folder = TemporaryFolder() }

    /// A table of one cluster: what is reused is of the same kind, so that reads go wrong, not
    /// down.
    private static func load(_ workload: String) -> String {
      switch workload {
      case "grouped-commit": "--readers 1 --group 8 --in-flight 16 --patience 3s"
      case "freeze-cache": "--readers 2 --batch 4 --durability memory --pins 100 --churn 0.5"
      case "reference-handoff": "--readers 2 --batch 4 --durability memory --write-every 2"
      case "queue-confined": "--queues 2 --attempts 40 --durability memory"
      case "notify-storm": "--observers 3 --writers 2 --batch 4 --durability memory"
      default: "--readers 2 --batch 4 --durability memory --pins 8 --pin-every 3"
      }
    }

    /// Runs the tool in a process of its own: a broken engine may end it.
    private func run(
      _ bug: PlantedBug?, seed: UInt64, workload: String? = nil, _ more: String
    ) throws -> (code: Int32, isSignal: Bool, errors: String) {
      let tool = Bundle.main.executableURL!.deletingLastPathComponent()
        .appendingPathComponent("realm-bench")
      let process = Process()
      process.executableURL = tool
      let workload = workload ?? bug?.workload ?? "readers-writer"
      process.arguments =
        "run \(workload) --objects 200 --value-size 8B --warmup 0s \(Self.load(workload)) "
        .appending("--quiet --overwrite --seed \(seed) --output \(folder.path)/out-\(seed) \(more)")
        .split(separator: " ").map(String.init)
      process.environment = ProcessInfo.processInfo.environment.merging(
        ["REALM_PLANTED_BUG": bug?.rawValue ?? "", "SWIFT_BACKTRACE": "enable=no"]
      ) { $1 }
      let errors = Pipe()
      process.standardError = errors
      process.standardOutput = FileHandle.nullDevice
      try process.start()
      let text = String(
        decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return (
        process.terminationStatus, process.terminationReason == .uncaughtSignal, text
      )
    }

    /// Runs until the bug was found; a few seeds are enough for every bug, and more time for a busy
    /// machine.
    private func findings(
      _ bug: PlantedBug, workload: String? = nil, _ more: String
    ) throws -> (Int32, String) {
      var last = (Int32(-1), "the engine ended every process")
      var seconds = bug.isFoundAtTheEnd ? 1 : 10
      for seed in testSeed()..<testSeed() + 5 {
        let result = try run(
          bug, seed: seed, workload: workload, "--duration \(seconds)s \(more)")
        if result.isSignal { continue }
        last = (result.code, result.errors)
        if result.code != 0 { break }
        seconds *= 3
      }
      return last
    }

    @Test(arguments: Self.bugs)
    func isFoundByItsChecker(_ bug: PlantedBug) throws {
      let (code, errors) = try findings(bug, "--invariants \(bug.invariant!)")
      #expect(code == ExitCode.invariantViolated.rawValue, "\(bug): \(errors)")
      #expect(errors.hasPrefix("\(bug.invariant!) violated: "), "\(errors)")
      #expect(errors.contains("again: REALM_PLANTED_BUG=\(bug.rawValue) realm-bench run "))
    }

    @Test(arguments: Self.bugs)
    func isFoundWithAllCheckersOn(_ bug: PlantedBug) throws {
      let (code, errors) = try findings(bug, "")
      #expect(code == ExitCode.invariantViolated.rawValue, "\(bug): \(errors)")
    }

    /// One lost change of a balance breaks the total, one of a counter the order.
    @Test(arguments: ["I2", "I7"])
    func transfersFindADroppedChange(invariant: String) throws {
      let (code, errors) = try findings(
        .dropChange, workload: "transfer", "--invariants \(invariant)")
      #expect(code == ExitCode.invariantViolated.rawValue, "\(errors)")
      #expect(errors.hasPrefix("\(invariant) violated: "), "\(errors)")
    }

    /// A reader that adds up for long rarely goes back to a stale snapshot, but it does miss a
    /// write.
    @Test(
      arguments: [
        (PlantedBug.changeUnderPin, "I1"), (.staleSnapshot, "I4"), (.publishLate, "I4"),
        (.leakBlock, "I10"),
      ])
    func transfersFindTheOthersToo(_ bug: PlantedBug, invariant: String) throws {
      let (code, errors) = try findings(bug, workload: "transfer", "--invariants \(invariant)")
      #expect(code == ExitCode.invariantViolated.rawValue, "\(bug): \(errors)")
    }

    /// Passes without a bug; scripts/planted-bugs runs it with each bug in the environment, when it
    /// has to fail.
    @Test func theLoadIsSound() throws {
      guard let bug = PlantedBug.current else {
        for workload in Set(Self.bugs.map(\.workload)).sorted() {
          let result = try run(nil, seed: testSeed(), workload: workload, "--duration 2s")
          #expect(result.code == 0 && !result.isSignal, "\(workload): \(result.errors)")
        }
        return
      }
      let (code, errors) = try findings(bug, "--invariants \(bug.invariant!)")
      #expect(code == 0, "\(errors)")
    }

    @Test func listShowsTheBugs() throws {
      let output = CollectedOutput()
      #expect(try RealmBench.dispatch(["list", "bugs"], console: output.console()) == .success)
      for bug in PlantedBug.allCases {
        #expect(output.output.contains(bug.rawValue))
        #expect(output.output.contains(bug.facts.summary))
      }
    }
  }
#endif
