// What the gate's statistics promise, by simulation and by known figures: the chance of a false
// alarm over all rows together from the first blocks on, who gets the error of whom, and how finely
// times are known.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct GateStatisticsTests {
  private let folder: TemporaryFolder
  private let runs: FigureFolders
  init() {
    folder = TemporaryFolder()
    runs = FigureFolders(folder: folder)
  }

  // MARK: - Simulated blocks

  /// Log ratios of blocks of two equal sides, of a standard deviation of about 1.
  enum Noise: CaseIterable {
    case normal
    /// Student's t with three degrees of freedom: now and then a block is far off.
    case heavyTails
    /// Each side has exponential noise.
    case skewedSides
    /// A process has one of two speeds, and one side's is another than the other's or not.
    case twoSpeeds

    func draw(_ random: inout RandomGenerator) -> Double {
      func normal() -> Double {
        let (radius, angle) = (
          Double.random(in: 0..<1, using: &random), Double.random(in: 0..<1, using: &random)
        )
        return (-2 * log(1 - radius)).squareRoot() * cos(2 * .pi * angle)
      }
      func exponential() -> Double { -log(1 - Double.random(in: 0..<1, using: &random)) }
      switch self {
      case .normal: return normal()
      case .heavyTails:
        let squares = (0..<3).reduce(0.0) { sum, _ in
          let value = normal()
          return sum + value * value
        }
        // Its variance is 3.
        return normal() / (squares / 3).squareRoot() / 3.0.squareRoot()
      case .skewedSides: return (exponential() - exponential()) / 2.0.squareRoot()
      case .twoSpeeds: return (Bool.random(using: &random) ? 1 : -1) + normal() * 0.13
      }
    }
  }

  private static let rows = 9
  private static let error = 0.005 / Double(rows)

  /// After how many blocks a row is called worse; nil within the last.
  private func blocksUntilWorse(
    _ noise: Noise, deviation: Double, change: Double, blocks: Int,
    _ random: inout RandomGenerator
  ) -> Int? {
    var logRatios: [Double] = []
    for block in 1...blocks {
      logRatios.append(log(1 + change) + deviation * noise.draw(&random))
      guard let interval = LogRatio.paired(logRatios, error: Self.error) else { continue }
      if Comparison.verdict(interval, tolerance: 0.02) == .worse { return block }
    }
    return nil
  }

  /// Noise far above the tolerance is the worst: once 6 of 100 gates of nine rows were false
  /// alarms, most of them after 6 to 10 blocks.
  @Test(arguments: Noise.allCases) func falseAlarmsOfAllRowsStayWithinTheError(noise: Noise) {
    let seed = testSeed()
    var random = RandomGenerator(seed: seed)
    let gates = 400
    let alarms = (0..<gates).filter { _ in
      (0..<Self.rows).contains { _ in
        blocksUntilWorse(noise, deviation: 1, change: 0, blocks: 36, &random) != nil
      }
    }
    // Two are expected at most; more than eleven have a chance below 1 in 100,000.
    #expect(alarms.count <= 11, "\(alarms.count) of \(gates) gates, seed \(seed)")
  }

  @Test(arguments: [Noise.normal, .heavyTails, .skewedSides])
  func fivePercentAreSeenWithinFewBlocks(noise: Noise) {
    let seed = testSeed()
    var random = RandomGenerator(seed: seed)
    let found = (0..<200).map { _ in
      blocksUntilWorse(noise, deviation: 0.02, change: 0.05, blocks: 60, &random) ?? .max
    }.sorted()
    #expect(found[100] <= 22 && found[180] <= 40, "\(found), seed \(seed)")
  }

  /// That all blocks say the same happens by chance, too.
  @Test func figuresThatVaryNeedSomeBlocks() {
    #expect(LogRatio.blocksNeeded(error: 0.005) == 9)
    #expect(LogRatio.blocksNeeded(error: Self.error) == 12)
    let (low, high) = (log(1.5), log(1.500_1))
    let blocks = (0..<12).map { $0 % 2 == 0 ? low : high }
    #expect(LogRatio.paired(Array(blocks.prefix(11)), error: Self.error) == nil)
    let interval = LogRatio.paired(blocks, error: Self.error)
    #expect(interval.map { Comparison.verdict($0, tolerance: 0.02) } == .worse)
    // Counters that never vary are exact.
    let exact = LogRatio.paired(Array(repeating: low, count: 6), error: Self.error)
    #expect(exact.map { $0.low == $0.high } == true)
  }

  // MARK: - Who gets the error of whom

  /// The interval of the row whose figures vary, beside some that are as told.
  private func interval(
    _ name: String, others: [(before: String, after: String)]
  ) throws -> (low: Double, high: Double) {
    let varying = [["1000", "1100", "1050"], ["1010", "1120", "1060"]]
    let operations = ["read", "sum", "scan"]
    var words: [String] = []
    for side in 0..<2 {
      for run in 0..<3 {
        var figures = ["write": ["service_p50_ns": varying[side][run]]]
        for (operation, other) in zip(operations, others) {
          figures[operation] = ["service_p50_ns": side == 0 ? other.before : other.after]
        }
        let path = try runs.make("\(name)-\(side)-\(run)", figures)
        words += [side == 0 ? "--baseline" : "--candidate", path]
      }
    }
    let sides = [words.remove(at: 1), words.remove(at: 6)]
    words.remove(at: 0)
    words.remove(at: 4)
    let row = try #require(try rows(sides + words)["write.service_p50_ns"])
    return (
      try #require(row["low"] as? Double), try #require(row["high"] as? Double)
    )
  }

  private func expected(share: Double) throws -> (low: Double, high: Double) {
    let (before, after): ([Double], [Double]) = ([1_000, 1_100, 1_050], [1_010, 1_120, 1_060])
    let interval = try #require(LogRatio.independent(before, after, error: share))
    return (interval.low, interval.high)
  }

  /// A row that is the same had left its share to the others, as if it could not have been a false
  /// alarm.
  @Test func onlyRowsThatAreWorseLeaveTheirErrorToOthers() throws {
    for (name, others, share) in [
      ("same", [("1000", "1000"), ("1000", "1000")], 0.005 / 3),
      ("better", [("1000", "500"), ("1000", "500")], 0.005 / 3),
      ("worse", [("1000", "2000"), ("1000", "1000")], 0.005 / 2),
      ("both", [("1000", "2000"), ("1000", "2000")], 0.005),
    ] {
      let (found, wanted) = (try interval(name, others: others), try expected(share: share))
      #expect(abs(found.low - wanted.low) < 2e-6 && abs(found.high - wanted.high) < 2e-6, "\(name)")
    }
  }

  // MARK: - How finely times are known

  private func compare(
    _ words: [String]
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let code = try CompareVerb.run(
      ["--output", folder.file("compare.csv")] + words, console: output.console(),
      interruption: { TimedInterruption() })
    return (code, output.output, output.errors)
  }

  private func rows(_ words: [String]) throws -> [String: [String: Any]] {
    let json = try JSONSerialization.jsonObject(
      with: Data(try compare(words + ["--format", "json"]).output.utf8))
    let rows = try #require((json as? [String: Any])?["rows"] as? [[String: Any]])
    return Dictionary(
      uniqueKeysWithValues: rows.map { ("\($0["row"] ?? "").\($0["metric"] ?? "")", $0) })
  }

  /// 13 and 14 ticks of 40 ns: two equal medians a side were a change for certain.
  @Test func repeatsThatAreEqualAreNotCertain() throws {
    for (tick, verdict) in [(UInt64(40), "cannot-tell"), (1, "worse")] {
      func run(_ name: String, _ p50: String) throws -> String {
        try runs.make("\(tick)-\(name)", ["read": ["service_p50_ns": p50]]) {
          $0.environment.clockTickNs = tick
        }
      }
      let words = [
        try run("a", "520"), try run("b", "560"), "--baseline", try run("c", "520"),
        "--candidate", try run("d", "560"),
      ]
      #expect(try rows(words)["read.service_p50_ns"]?["verdict"] as? String == verdict, "\(tick)")
    }
  }

  /// Any number of equal medians says no more than that both lie within their ticks; medians that
  /// vary are rounded up as often as down.
  @Test func aTickIsABoundUnlessFiguresVary() {
    let median = "service_p50_ns"
    let steady = FigureResolution(median, [[70, 70], [80, 80]], tick: 10)
    let halfTicks: Double = 5.0 / 70 + 5.0 / 80
    #expect(abs(steady.bias - halfTicks) < 1e-12)
    let many = LogRatio.paired(
      Array(repeating: log(80.0 / 70), count: 1_000), error: 0.001, resolution: steady)
    #expect(many.map { Comparison.verdict($0, tolerance: 0.02) } == .cannotTell)
    let varying = FigureResolution(median, [[60, 70, 80, 90], [60, 70, 80, 90]], tick: 10)
    #expect(varying.bias == 0 && varying.deviations.allSatisfy { $0 > 0 })
    #expect(FigureResolution("syncs_per_commit", [[1, 1], [2, 2]], tick: 10) == .exact)
  }

  @Test func ticksAreFoundInDifferencesOfReadings() {
    #expect(ClockTick.tick(of: [18, 19, 20, 21, 44, 500]) == 1)
    #expect(ClockTick.tick(of: [0, 10, 11, 20, 30, 31, 120]) == 10)
    #expect(ClockTick.tick(of: [0, 41, 42, 83, 84, 125]) == 41)
    #expect(ClockTick.tick(of: []) == 1 && ClockTick.tick(of: [7]) == 1)
    #expect((1...1_000_000).contains(ClockTick.measure()))
  }

  // MARK: - What the columns say

  /// It was the largest ratio of two runs, which grows with every run.
  @Test func theNoiseIsThatOfTwoRunsHoweverManyThereAre() throws {
    var random = RandomGenerator(seed: testSeed())
    func side(_ count: Int) -> [Double] {
      (0..<count).map { _ in 1_000 * exp(0.05 * Noise.normal.draw(&random)) }
    }
    let expected = exp(1.96 * 2.0.squareRoot() * 0.05) - 1
    for count in [200, 5_000] {
      let noise = try #require(LogRatio.noiseFloor([side(count), side(count)]))
      #expect(abs(noise / expected - 1) < 0.2, "\(count): \(noise)")
    }
    #expect(LogRatio.noiseFloor([[5, 5], [7, 7]]) == 0 && LogRatio.noiseFloor([[0, 0]]) == 0)
    #expect(LogRatio.noiseFloor([[5], [7]]) == nil && LogRatio.noiseFloor([[0, 7]]) == nil)
  }

  @Test func whatCouldBeSeenLiesBeyondTheTolerance() {
    let sharp = RatioInterval(ratio: 1, low: 1, high: 1)
    #expect(abs(LogRatio.smallestDetectable(sharp, tolerance: 0.02) - 0.02) < 1e-12)
    let wide = RatioInterval(ratio: 1, low: exp(-0.1), high: exp(0.1))
    let seen = LogRatio.smallestDetectable(wide, tolerance: 0.02)
    #expect(abs(seen - (1.02 * exp(0.13) - 1)) < 1e-12)
  }
}
