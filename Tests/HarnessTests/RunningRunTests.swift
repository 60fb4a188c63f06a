// What a run leaves while it goes on, and the flags that shape its phases, on the model engine.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct RunningRunTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  /// Asks for a stop when growth.csv has so many lines; what the folder holds then is kept.
  private final class FileInterruption: Interruption {
    let folder: String
    let lines: Int
    private let found = Monitor<[String: String]>([:])
    var files: [String: String] { found.withLock { $0 } }

    init(_ folder: String, lines: Int) {
      self.folder = folder
      self.lines = lines
    }

    func isRequested() -> Bool {
      let text = try? String(contentsOfFile: folder + "/growth.csv", encoding: .utf8)
      guard let text, text.split(separator: "\n").count >= lines else { return false }
      found.withLock { found in
        for name in ["run.json", "samples.csv", "growth.csv", "summary.csv"]
        where found[name] == nil {
          found[name] = try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)
        }
      }
      return true
    }
  }

  private func run(
    _ line: String, interruption: any Interruption = TimedInterruption()
  ) throws -> (code: ExitCode, output: String) {
    let output = CollectedOutput()
    let surroundings = RunVerb.Surroundings(
      console: output.console(), interruption: { interruption },
      makeDriver: { _, _ in ModelEngine(bug: nil) })
    let words = line.split(separator: " ").map(String.init)
    return (try RunVerb.run(words, surroundings), output.output)
  }

  private static let bare =
    "readers-writer --readers 1 --objects 100 --value-size 16B --interval 20ms"

  /// A run that is killed has no end; so what counts is what its folder holds before.
  @Test func intervalsAreInTheFilesBeforeTheRunEnds() throws {
    let out = folder.path + "/out"
    let interruption = FileInterruption(out, lines: 4)
    let result = try run(
      "\(Self.bare) --warmup 0s --duration 1h --output \(out)", interruption: interruption)
    #expect(result.code == .interrupted)
    let files = interruption.files
    let growth = try #require(CSVTable.parse(files["growth.csv"] ?? ""))
    #expect(growth.first == ResultSchema.growthColumns && growth.count >= 4)
    let samples = try #require(CSVTable.parse(files["samples.csv"] ?? ""))
    #expect(samples.first == ResultSchema.sampleColumns && samples.count > 10)
    #expect(samples.allSatisfy { $0.count == ResultSchema.sampleColumns.count })
    #expect(files["run.json"]?.contains("the process ended before the run did") == true)
    #expect(files["summary.csv"] == nil)
  }

  @Test func warmUpAndMeasuredPhaseEndByTheirOperations() {
    for workload in [WorkloadKind.readersWriter, .transfer, .mixed] {
      let result = outcome(of: workload, nil, seconds: 600) {
        $0.readers = workload == .readersWriter ? 0 : $0.readers
        $0.writers = workload == .transfer ? 0 : 2
        $0.warmupOperations = 130
        $0.operations = 210
      }
      func count(_ phase: Phase) -> UInt64 {
        let operations: [Harness.Operation] = [.write, .sum, .read, .update]
        return operations.reduce(0) {
          $0 + (result.collector.total(phase, $1)?.service.count ?? 0)
        }
      }
      #expect(result.status == .complete, "\(workload.rawValue): \(result.failure ?? "")")
      #expect(count(.warmup) == 130, "\(workload.rawValue)")
      #expect(count(.measure) == 210, "\(workload.rawValue)")
    }
  }

  @Test func readersFollowAScheduleOfTheirOwn() {
    let result = outcome(of: .readersWriter, nil, seconds: 0.5) {
      $0.writers = 0
      $0.readRatePerSecond = 2_000
    }
    let reads = result.collector.total(.measure, .read)
    let due = result.expectedDue(ratePerSecond: 2_000)
    let counted = Double((reads?.service.count ?? 0) + (reads?.skipped ?? 0))
    // Each of two threads may have an operation on its way at the end.
    #expect(abs(counted - due) <= 2 + due * 0.01, "\(counted) of \(due)")
    #expect(reads?.response?.count == reads?.service.count)
  }

  @Test func growthCountsThePinsThatAreKeptOnPurpose() {
    let result = outcome(of: .readersWriter, nil, seconds: 600) {
      $0.readers = 0
      $0.writers = 1
      $0.pins = 7
      $0.pinEvery = 1
      $0.operations = 3_000
    }
    #expect(result.status == .complete && result.growth.last?.pins == 7)
    let cache = outcome(of: .freezeCache, nil, seconds: 600) {
      $0.writers = 0
      $0.cacheSize = 11
      $0.operations = 3_000
    }
    #expect(cache.status == .complete && cache.growth.last?.pins == 11)
  }

  @Test func pinsComeByTime() {
    let result = outcome(
      of: .readersWriter, nil, seconds: 0.2,
      until: { ($0.growth.last?.pins ?? 0) >= 2 }
    ) {
      $0.pins = 1_000_000
      $0.pinIntervalNanoseconds = 20_000_000
    }
    let pins = result.growth.last?.pins ?? 0
    let most = Int(result.phase(.measure)!.elapsedSeconds / 0.02) + 1
    #expect(pins >= 2 && pins <= most)
  }

  @Test func jsonHasNumbersAsNumbers() throws {
    let line = "\(Self.bare) --warmup 0s --ops 300 --output \(folder.path)/out --format json"
    let result = try run(line + " --threshold read.count>=1")
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let rows = try #require(json?["summary"] as? [[String: Any]])
    let read = try #require(
      rows.first { $0["operation"] as? String == "read" && $0["phase"] as? String == "measure" })
    #expect(read["count"] is NSNumber && read["rate_per_s"] is NSNumber)
    #expect(read["run_id"] is String && read["seed"] as? Int == 1)
    let run = try #require(json?["run"] as? [String: Any])
    let threshold = try #require((run["thresholds"] as? [[String: Any]])?.first)
    #expect(threshold["value"] is NSNumber)
  }

  /// The end of the warm-up must not make the first measured interval look slow.
  @Test func figuresOfAnEarlierPhaseHaveNoRate() {
    let collector = Collector(openLoop: [])
    let late = Measurements([.write])
    late.phase = .warmup
    late.figures[0].service.record(5)
    collector.absorb(late)
    let measured = Measurements([.write])
    measured.phase = .measure
    for _ in 0..<10 { measured.figures[0].service.record(7) }
    collector.absorb(measured)
    let samples = collector.endInterval(of: .measure, elapsedSeconds: 2, lengthSeconds: 0.5)
    func value(_ phase: Phase, _ metric: String) -> String? {
      samples.first { $0.phase == phase && $0.metric == metric }?.value
    }
    #expect(value(.warmup, "count") == "1" && value(.warmup, "rate") == nil)
    #expect(value(.measure, "rate") == "20.000")
  }

  @Test(arguments: [
    ("--warmup 1s --warmup-ops 5", "--warmup"), ("--warmup-ops 0", "--warmup-ops"),
    ("--pins 3 --pin-every 2 --pin-interval 1s", "--pin-every"),
    ("--pin-interval 1s", "--pin-interval"), ("--pins 3 --pin-interval 0s", "--pin-interval"),
    ("--read-rate 5", "--read-rate"), ("--read-rate 5/s --readers 0", "--read-rate"),
  ])
  func contradictionsAreRefused(line: String, flag: String) {
    #expect {
      try run("readers-writer \(line) --dry-run")
    } throws: { error in
      (error as? UsageError)?.message.contains(flag) == true
    }
  }
}
