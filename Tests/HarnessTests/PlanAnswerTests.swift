// What `plan` makes of runs that tell little: causes that no run has varied keep their law and a
// wide range, searches say where they have no end, and no distance is more than a number can say.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct PlanAnswerTests {
  private let folder: TemporaryFolder
  private let lawful: LawfulRuns
  init() {
    folder = TemporaryFolder()
    lawful = LawfulRuns(folder.path)
  }

  /// Asks, and gives the answers of plan.csv.
  private func answers(
    _ questions: [String], from runs: [String], _ name: String = #function
  ) throws -> (code: ExitCode, output: String, errors: String, rows: [[String: String]]) {
    let output = "\(folder.path)/\(name.prefix { $0 != "(" })-\(UInt64.random(in: 0 ..< .max))"
    let result = try lawful.plan(
      questions.flatMap { ["--ask", $0] } + ["--output", output, "--from"] + runs)
    let last = (output as NSString).lastPathComponent
    let rows = try lawful.rows(last).filter { $0["kind"] == "answer" }
    return (result.code, result.output, result.errors, rows)
  }

  private func oneRun() throws -> String {
    try lawful.makeRun("one", objects: 20_000, batch: 10, pins: 10, every: 40)
  }

  // MARK: - Causes

  @Test func aConstantDoesNotTakeWhatACauseExplains() {
    // 1,000 objects have 200,000 bytes. Is it 200 an object, or 200,000 in any case?
    let causes: [CauseModel.Cause] = [.init(1_000, spread: 1_000), .init(150, spread: 100)]
    let one = CauseModel(causes, [.init([1, 1_000], 200_000)], noise: 0.02)
    #expect(abs(one.value([1, 10_000]) / 2_000_000 - 1) < 0.05)
    // The nearer to what was measured, the surer.
    #expect(one.relativeSpread([1, 1_000]) < 0.03)
    #expect(one.relativeSpread([1, 1]) > 0.3)
    let nothing = CauseModel(causes, [], noise: 0.02)
    #expect(nothing.value([1, 1_000]) == 151_000)
    #expect(abs(nothing.relativeSpread([0, 1]) - 100.0 / 150) < 1e-9)
    let exact = CauseModel(
      causes, [.init([1, 0], 7), .init([1, 10], 27), .init([1, 500], 1_007)], noise: 0.01)
    #expect(abs(exact.weights[0] - 7) < 0.1 && abs(exact.weights[1] - 2) < 0.01)
  }

  @Test func causesAreNeverNegativeAndContradictionsAreDoubt() {
    let causes: [CauseModel.Cause] = [.init(1, spread: 10), .init(1, spread: 10)]
    // The second weight would have to be negative to fit exactly.
    let fitted = CauseModel(
      causes, [.init([1, 1], 3), .init([1, 2], 2), .init([1, 3], 1)], noise: 0.02)
    #expect(fitted.weights[0] > 0 && fitted.weights[1] == 0)
    #expect(fitted.noise > 0.2)
    // What was not measured, or is no number, says nothing.
    let empty = CauseModel(
      causes, [.init([1, 1], 0), .init([1, .infinity], 5), .init([1, 1], .nan)], noise: 0.02)
    #expect(empty.weights == [1, 1])
  }

  @Test func oneRunTellsOfOthersByTheLawsOfTheirCauses() throws {
    let questions = [
      "live bytes at objects=2k", "live bytes at objects=200k", "file size at objects=100k",
      "file size at objects=100k batch=10 pins=30 pin-every=400",
      "file size at objects=100k batch=10 pins=30 pin-every=20",
      "held bytes at objects=20k batch=10 pins=40 pin-every=40",
      "memory at objects=20k batch=10 pins=20 pin-every=40",
    ]
    func law(_ objects: Double, _ pins: Double = 0, _ every: Double = 0) -> LawfulRuns.Space {
      lawful.space(objects: objects, batch: 10, pins: pins, since: every / 2, every: every)
    }
    let expected = [
      law(2_000).live, law(200_000).live, law(100_000).file, law(100_000, 30, 400).file,
      law(100_000, 30, 20).file, law(20_000, 40, 40).held, 2e7 + law(20_000, 20, 40).file * 0.5,
    ]
    let found = try answers(questions, from: [try oneRun()])
    #expect(found.rows.count == questions.count, "\(found.output)")
    for (row, expected) in zip(found.rows, expected) {
      let value = try #require(row["value"].flatMap(Double.init))
      let low = try #require(row["low"].flatMap(Double.init))
      let high = try #require(row["high"].flatMap(Double.init))
      let text = "\(row["question"] ?? ""): \(low) \(value) \(high), by the law \(expected)"
      #expect(low <= expected && expected <= high, "\(text)")
      #expect(value / expected < 1.6 && expected / value < 1.6, "\(text)")
    }
  }

  @Test func largerValuesMakeLargerFilesThoughNoRunHadThem() throws {
    let found = try answers(
      ["live bytes at objects=20k", "live bytes at objects=20k value-size=10KiB"],
      from: [try oneRun()])
    func number(_ row: Int, _ column: String) throws -> Double {
      try #require(found.rows[row][column].flatMap(Double.init))
    }
    // 100 bytes of an object beside its value.
    let law = 20_000.0 * (100 + 10_240)
    #expect(try number(1, "low") <= law && law <= number(1, "high"))
    // It is only known from the engine: that is less sure, and said to be.
    #expect(
      try number(1, "high") / number(1, "low") > number(0, "high") / number(0, "low"))
    #expect(found.rows[0]["vouched"] == "yes" && found.rows[1]["vouched"] == "no")
    #expect(found.code == .inconclusive)
  }

  @Test func aSettingThatWasNeverVariedIsTrustedLessFar() throws {
    let question = ["file size at objects=400k"]
    let one = try answers(question, from: [try oneRun()])
    #expect(one.code == .inconclusive)
    #expect(one.output.contains("20.0 times beyond what was measured (all runs had 20k)"))
    // It says what would tell.
    #expect(one.output.contains("a run that tells more, for --from: realm-bench run readers-"))
    let more = try answers(
      question,
      from: [
        folder.path + "/one",
        try lawful.makeRun("two", objects: 80_000, batch: 10, pins: 10, every: 40),
      ])
    #expect(more.code == .success, "\(more.output)")
    #expect(!more.output.contains("tells more"))
  }

  @Test func pinsThatNoRunHadAreSaidToBe() throws {
    let run = try lawful.makeRun("none", objects: 20_000, batch: 10, pins: 0, every: 40)
    let found = try answers(["file size at objects=20k pins=20 pin-every=100"], from: [run])
    #expect(found.code == .inconclusive)
    #expect(found.output.contains("pins 20: no run had any, too far to vouch for"))
  }

  @Test func writersThatFollowEachOtherDoNotWriteMore() throws {
    let found = try answers(
      ["write rate at objects=20k durability=full", "write rate at objects=20k writers=8"],
      from: [try oneRun()])
    let rates = found.rows.compactMap { $0["value"].flatMap(Double.init) }
    try #require(rates.count == 2, "\(found.output)")
    // The runs had no sync to share.
    #expect(rates[1] < rates[0] * 1.2, "\(rates)")
    #expect(found.code == .inconclusive)
  }

  /// A leaf of values is written again whole, however long the values in it are: in a run with
  /// values of 4 KiB, transactions took no longer than in one with 100 bytes.
  @Test func valuesWithinALeafTakeNoLonger() throws {
    let found = try answers(
      [
        "write rate at objects=20k", "write rate at objects=20k value-size=4KiB",
        "write.service_p50 at objects=20k", "write.service_p50 at objects=20k writers=4",
      ], from: [try oneRun()])
    let values = found.rows.compactMap { $0["value"].flatMap(Double.init) }
    try #require(values.count == 4, "\(found.output)")
    #expect(abs(values[1] / values[0] - 1) < 0.05, "\(values)")
    #expect(found.rows[0]["vouched"] == "yes" && found.rows[1]["vouched"] == "no")
    // Four that follow each other wait for each other.
    #expect(abs(values[3] / values[2] / 4 - 1) < 0.05, "\(values)")
  }

  /// Measured with readers-writer: 281 ns of 10,000 objects, 801 ns of 300,000.
  @Test func readsOfLargerFilesTakeLonger() throws {
    let found = try answers(
      [
        "read.service_p50 at objects=20k readers=1",
        "read.service_p50 at objects=600k readers=1",
      ], from: [try oneRun()])
    let values = found.rows.compactMap { $0["value"].flatMap(Double.init) }
    let high = found.rows.compactMap { $0["high"].flatMap(Double.init) }
    if values.count == 2 {
      #expect(values[1] > 1.5 * values[0] && high[1] > 2.85 * values[0], "\(values) \(high)")
    }
    var (small, large) = (PlanSetting(), PlanSetting())
    (small.objects, large.objects) = (10_000, 300_000)
    let cost = PlanModel.readCost(large) / PlanModel.readCost(small)
    #expect(cost > 2 && cost < 3.5)
  }

  @Test func batchesThatNoRunHadAreBetweenTwoLaws() throws {
    let found = try answers(
      ["write rate at objects=20k batch=10", "write rate at objects=20k batch=100"],
      from: [try oneRun()])
    let first = try #require(found.rows[0]["value"].flatMap(Double.init))
    let low = try #require(found.rows[1]["low"].flatMap(Double.init))
    let high = try #require(found.rows[1]["high"].flatMap(Double.init))
    // Ten times as long a transaction at most, as the law of these runs has it.
    #expect(low < first / 9 && high > first / 9 && high < first * 1.5)
    #expect(found.rows[1]["vouched"] == "no")
  }

  // MARK: - Searches

  @Test func searchesSayWhereTheyHaveNoEnd() throws {
    let found = try answers(
      [
        "largest pins with file size<900TiB at objects=20k pin-every=40",
        "largest pins with file size<1KiB at objects=20k pin-every=40",
        "largest objects with live bytes<20MiB",
        "largest age with growth a commit<1KiB at objects=20k pins=10 rate=100/s",
        "largest rate with write.service_p99<10s at objects=20k",
      ], from: [try oneRun()])
    let rows = found.rows
    try #require(rows.count == 5, "\(found.output)")
    #expect(rows.map { $0["bound"] } == ["at least", "nowhere", "", "at least", "at most"])
    #expect(found.output.contains("pins at least 100,000, as far as was searched"))
    #expect(found.output.contains("pins: nowhere from 1 to 100,000"))
    #expect(found.output.contains("at pins 1, file_bytes is "))
    #expect(found.output.contains("which is all that a closed loop does"))
    let objects = try #require(rows[2]["value"].flatMap(Double.init))
    #expect(abs(objects * 200 / Double(20 << 20) - 1) < 0.1 && objects == objects.rounded())
  }

  @Test(arguments: [
    ("largest rate with file size<1GiB", "changes nothing about file_bytes without pins"),
    ("largest batch with live bytes<1GiB", "changes nothing about live_bytes"),
    ("largest pins with write.service_p99<1ms", "changes nothing"),
    ("largest rate with read.service_p99<1ms at readers=1", "changes nothing"),
    ("held bytes at objects=1M", "nothing is held"),
    ("smallest rate with file size<1GiB", "can be planned"),
  ])
  func questionsWithoutAnAnswerAreRefused(question: String, reason: String) {
    #expect {
      try PlanQuestion(question)
    } throws: { error in
      (error as? UsageError)?.message.contains(reason) == true
    }
  }

  // MARK: - Numbers without bounds

  @Test func distancesFromNothingAreNoNumberOfTimes() {
    func text(_ asked: Double, _ measured: ClosedRange<Double>) -> String {
      PlanExtrapolation(name: "readers", asked: asked, measured: measured, isVouched: false).text
    }
    #expect(text(4, 0...0) == "readers 4: no run had any, too far to vouch for")
    #expect(
      text(0, 2...4) == "readers 0 is beyond what was measured (2 to 4), too far to vouch for")
    #expect(text(8, 0...4).contains("readers 8 is 2.0 times beyond what was measured (0 to 4)"))
    #expect(text(1, 4...4).contains("readers 1 is 4.0 times below what was measured (all runs had"))
    #expect(text(1e24, 1...1).contains("1.0e+18M times beyond"))
  }

  @Test func answersBeyondAllFilesAreStillNumbers() throws {
    let found = try answers(
      [
        "file size at objects=1000M value-size=900TiB pins=1M age=9000d rate=1000M/s",
        "memory at objects=1000M value-size=0B", "live bytes at objects=1 value-size=0B",
        "readers at 0.0000000000001/s each on 4096 cores",
        "write rate at objects=1000M batch=1M value-size=900TiB",
        "p99 at objects=20k rate=0.000001/s",
      ], from: [try oneRun()])
    #expect(found.rows.count == 6, "\(found.output)")
    for word in ["nan", "inf", "-"] {
      #expect(found.rows.allSatisfy { $0["value"]?.hasPrefix(word) == false }, "\(found.rows)")
    }
    #expect(found.output.contains(" TiB"))
    #expect(found.code == .inconclusive)
  }
}
