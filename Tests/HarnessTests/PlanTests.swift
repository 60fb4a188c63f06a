// `plan`: questions and their refusals, the models against laws that are known, what is
// extrapolated, and the curves around the answers.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct PlanTests {
  private let folder: TemporaryFolder
  private let lawful: LawfulRuns
  init() {
    folder = TemporaryFolder()
    lawful = LawfulRuns(folder.path)
  }

  // MARK: - Questions

  @Test func questionsOfAllFormsAreUnderstood() throws {
    let size = try PlanQuestion("file size at pins=200 age=1h rate=500/s objects=5M")
    #expect(size.kind == .value(.fileBytes))
    #expect(size.setting.objects == 5_000_000 && size.setting.commitsBetweenPins == 9_000)
    let rate = try PlanQuestion("largest rate with write.response_p99<5ms")
    #expect(
      rate.kind
        == .largest(.rate, .latency(.write, "response_p99_ns"), below: 5_000_000))
    let spaced = try PlanQuestion("largest write rate with write.response_p99_ns < 5ms at batch=1")
    #expect(spaced.kind == rate.kind && spaced.setting.batch == 1)
    let readers = try PlanQuestion("readers at 50k reads/s each on 8 cores")
    #expect(readers.kind == .readers(readsPerSecond: 50_000, cores: 8))
    let pins = try PlanQuestion("largest pins with file size<2GiB at age=10m rate=200/s")
    #expect(pins.kind == .largest(.pins, .fileBytes, below: 2_147_483_648))
    #expect(
      try PlanQuestion("p99 at load=70% batch=10").kind
        == .value(.latency(.write, "response_p99_ns")))
    for text in [
      "memory at pins=50 pin-every=100", "growth a commit at pins=8 age=2s rate=1k/s",
      "read.service_p99 at readers=2", "write rate at batch=100 durability=memory",
      "File Size AT objects=1M", "write rate",
    ] {
      #expect(throws: Never.self) { try PlanQuestion(text) }
    }
  }

  @Test(arguments: [
    (" ", "is no question"),
    ("what is it", "can be planned"),
    ("fil size at objects=1M", "did you mean 'file size'"),
    ("file size at objcts=1M", "did you mean 'objects'"),
    ("file size at objects=5X", "no whole number"),
    ("file size at objects=1.5", "no whole number"),
    ("file size at pins=10", "age and rate"),
    ("file size at age=1h rate=5/s", "means nothing without pins"),
    ("file size at pins=10 age=1h rate=5", "did you mean 5/s?"),
    ("file size at pins=10 age=1 rate=5/s", "has no unit"),
    ("file size at pins=10 pins=20", "given twice"),
    ("file size at objects=10 batch=20", "larger than objects"),
    ("growth a commit at objects=1M", "does not grow"),
    ("p99 at batch=10", "say rate or load"),
    ("p99 at load=70% rate=5/s", "not both"),
    ("p99 at load=170%", "no share"),
    ("read.service_p99 at batch=2", "needs readers"),
    ("largest rate with write.response_p99", "no condition"),
    ("largest rat with write.response_p99<5ms", "did you mean 'rate'"),
    ("largest rate with write.respons_p99<5ms", "did you mean 'write.response_p99'"),
    ("largest rate with write.response_p99<5", "has no unit"),
    ("largest rate with write.response_p99<5ms at rate=5/s", "looked for and given"),
    ("largest rate with p99<5ms at load=70%", "rate or load, not both"),
    ("largest age with file size<2GiB at pins=10 pin-every=100", "age or pin-every, not both"),
    ("read rate at readers=0", "readers=0 read nothing"),
    ("p99 at rate=100/s writers=0", "writers=0 write nothing"),
    ("readers at 50k on 8 cores", "did you mean 50k/s?"),
    ("readers at 50k reads/s each on no cores", "no whole number"),
    ("readers at 50k reads/s each", "is no question"),
    ("p99 at load=70% durability=ful", "did you mean 'full'"),
  ])
  func badQuestionsAreRefusedBeforeAnythingStarts(question: String, reason: String) {
    #expect {
      try lawful.plan(["--ask", question, "--output", folder.path + "/never"])
    } throws: { error in
      (error as? UsageError)?.message.contains(reason) == true
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/never"))
  }

  @Test func badFlagsAreRefused() throws {
    try FileManager.default.createDirectory(
      atPath: folder.path + "/there", withIntermediateDirectories: true)
    try "x".write(toFile: folder.path + "/there/x", atomically: true, encoding: .utf8)
    for (words, reason) in [
      (["file size"], "goes after --ask"), (["--budget", "10"], "has no unit"),
      (["--budjet", "1s"], "did you mean '--budget'"), (["--settings", "3"], "--validate"),
      (["--from", folder.path + "/nothing"], "no results folder"),
      (["--from", folder.path + "/there"], "no run.json"),
      (["--output", folder.path + "/there"], "exists already"),
      (["--format", "xml"], "is not one of"),
    ] {
      #expect("\(words)") {
        try lawful.plan(words)
      } throws: { error in
        (error as? UsageError)?.message.contains(reason) == true
      }
    }
  }

  /// Answers would look surer than one run makes them.
  @Test func aRunThatIsGivenTwiceIsRefused() throws {
    let run = try lawful.makeRun("one", objects: 2_000, batch: 10, pins: 5, every: 40)
    let copy = folder.path + "/copy"
    try FileManager.default.copyItem(atPath: run, toPath: copy)
    for other in [run, copy] {
      let error = #expect(throws: UsageError.self) {
        try lawful.plan(["--ask", "write rate", "--from", run, other])
      }
      #expect(error?.message.contains("are the same run: it would count twice") == true)
    }
  }

  /// `1M/s` was read as `1m/s`, which is no rate.
  @Test func ratesOfReadersAreReadAsTheyAreWritten() throws {
    for text in [
      "readers at 1M reads/s each on 2 cores", "Readers at 1000k Reads/s Each on 2 Cores",
    ] {
      let question = try PlanQuestion(text)
      #expect(question.kind == .readers(readsPerSecond: 1e6, cores: 2), "\(text)")
    }
  }

  @Test func readsAreThoseOfOneReaderUnlessTheQuestionSaysMore() throws {
    #expect(try PlanQuestion("read rate").setting.readers == 1)
    #expect(try PlanQuestion("read rate at readers=3").setting.readers == 3)
    #expect(try PlanQuestion("write rate").setting.readers == 0)
  }

  /// Runs of hundreds of millions of transactions were begun, and ended as hanging.
  @Test(arguments: [
    "file size at pins=1 age=30d rate=1k/s", "file size at pins=200 age=1h rate=500/s objects=1",
    "file size at pins=3 age=365d rate=10k/s objects=50 batch=50",
    "growth a commit at pins=1000 pin-every=10M objects=1M",
  ])
  func noAgeMakesARunThatDoesNotEnd(question: String) throws {
    let asked = try PlanQuestion(question)
    let chooser = PlanExperiments(budgetSeconds: 60, questions: 1, cores: 2)
    let check = try #require(chooser.check(.fileBytes, asked.setting))
    for experiment in chooser.experiments(for: asked) + [check] {
      guard case .transactions(let count) = experiment.length else {
        Issue.record("\(experiment)")
        continue
      }
      #expect(Double(count) * experiment.setting.batch < 3e6, "\(experiment)")
      #expect(experiment.setting.objects <= asked.setting.objects, "\(experiment)")
    }
  }

  /// A rate of less than one in two thousand seconds was given to `run` as 0.000/s.
  @Test func rareOperationsAreRunAtTheirRateOrNotAtAll() throws {
    let hourly = try PlanQuestion("p99 at rate=1/h").setting
    let flags = hourly.flags(seed: 1)
    let rate = try #require(flags.firstIndex(of: "--rate").map { flags[$0 + 1] })
    #expect(Double(String(rate.dropLast(2))) == 1.0 / 3_600)
    let chooser = PlanExperiments(budgetSeconds: 60, questions: 1, cores: 2)
    let metric = PlanMetric.latency(.write, "response_p99_ns")
    #expect(chooser.check(metric, hourly) == nil)
    #expect(chooser.check(metric, try PlanQuestion("p99 at rate=100/s").setting) != nil)
  }

  /// What writes beside readers was left out of the runs, and made the check of the answer fail.
  @Test func readersBesideAWriterAreRunBesideOne() throws {
    func runs(_ more: String) throws -> [PlanExperiment] {
      PlanExperiments(budgetSeconds: 60, questions: 1, cores: 2).experiments(
        for: try PlanQuestion("readers at 50k reads/s each on 2 cores \(more)"))
    }
    #expect(try runs("").allSatisfy { $0.setting.writers == 0 })
    #expect(try runs("rate=500/s").contains { $0.setting.writers == 1 && $0.setting.load == nil })
  }

  @Test func aDryRunNamesTheRunsAndMakesNone() throws {
    let result = try lawful.plan([
      "--ask", "file size at pins=20 pin-every=10 objects=10k", "--budget", "10s", "--dry-run",
    ])
    #expect(result.code == .success)
    #expect(result.output.contains("realm-bench run readers-writer --readers 0 --writers 1"))
    #expect(result.errors.isEmpty)
  }

  // MARK: - Models

  /// One exponential server: 99 % of the responses are below ln(100)/(service rate − arrival rate).
  @Test func aQueueAnswersAsTheoryDoes() {
    let times = (1...5_000).map { -log(1 - (Double($0) - 0.5) / 5_000) * 1e6 }
    let service = ServiceDistribution(values: times)
    let queue = QueueModel(
      measured: [(1, service)], startDelay: 0, servers: 1, arrivals: .poisson)
    #expect(abs(queue.capacity - 1_000) < 5)
    let response = queue.response(ratePerSecond: 500, share: 0.99, seconds: 40)
    let theory = log(100) / (1_000 - 500) * 1e9
    #expect(abs(response.value / theory - 1) < 0.1, "\(response) instead of \(theory)")
    #expect(response.holds(theory))
    var steady = queue
    steady.arrivals = .fixed
    let fixed = ServiceDistribution(values: [1e6])
    steady.measured = [(1, fixed)]
    // Nobody ever waits: everything takes its service time.
    let alone = steady.response(ratePerSecond: 900, share: 0.99, seconds: 5).value
    #expect(abs(alone / 1e6 - 1) < 0.001)
  }

  /// What is slow for long fills a queue that the same time in short pieces does not.
  @Test func slowTimesThatFollowEachOtherFillAQueue() throws {
    func response(slow: (Int) -> Bool) throws -> Double {
      let times = LatencyHistogram()
      var intervals: [(nanoseconds: Double, count: Double, mean: Double)] = []
      for number in 0..<100 {
        let time = slow(number) ? 200_000.0 : 90_000
        times.record(UInt64(time), times: 100)
        intervals.append((20e6, 100, time))
      }
      let service = try #require(ServiceDistribution(times, intervals: intervals))
      let mean = service.stretches.reduce(0) { $0 + $1.factor } / 100
      #expect(service.stretches.count == 100 && abs(mean - 1) < 1e-3)
      let queue = QueueModel(
        measured: [(1, service)], startDelay: 0, servers: 1, arrivals: .fixed)
      return queue.response(ratePerSecond: 0.7 * queue.capacity, share: 0.99, seconds: 5).high
    }
    let together = try response { (40..<50).contains($0) }
    let apart = try response { $0 % 10 == 0 }
    #expect(together > 3 * apart, "\(together) ns and \(apart) ns")
    #expect(together > 20e6)
  }

  // MARK: - Results that follow a known law

  private func lawfulRuns() throws -> [String] {
    [
      try lawful.makeRun("a", objects: 20_000, batch: 10, pins: 10, every: 40),
      try lawful.makeRun("b", objects: 40_000, batch: 10, pins: 20, every: 10),
      try lawful.makeRun("c", objects: 10_000, batch: 10, pins: 5, every: 100),
      try lawful.makeRun("d", objects: 10_000, batch: 2, pins: 5, every: 100, open: 5_000),
    ]
  }

  @Test func filesAreForetoldByTheBlocksThatPinsKeep() throws {
    let result = try lawful.plan(
      [
        "--ask", "file size at pins=50 age=100s rate=100/s objects=200k batch=10",
        "--ask", "growth a commit at pins=50 pin-every=200 objects=200k",
        "--ask", "memory at pins=50 pin-every=200 objects=200k",
        "--ask", "largest pins with file size<100MiB at pin-every=200 objects=200k",
        "--output", folder.path + "/plan", "--from",
      ] + (try lawfulRuns()))
    #expect(result.code == .success, "\(result.output) \(result.errors)")
    let answers = try lawful.rows("plan").filter { $0["kind"] == "answer" }
    #expect(answers.count == 4)
    let law = lawful.space(objects: 200_000, batch: 10, pins: 50, since: 100, every: 200)
    func value(_ position: Int) throws -> Double {
      try #require(answers[position]["value"].flatMap(Double.init))
    }
    let size = try value(0)
    #expect(abs(size / law.file - 1) < 0.1, "\(size) for \(law.file)")
    #expect(abs(try value(1) / (law.held * 1.25 / 10_000) - 1) < 0.1)
    #expect(abs(try value(2) / (2e7 + law.file * 0.5) - 1) < 0.15)
    let limit = Double(100 << 20)
    let most = lawful.space(
      objects: 200_000, batch: 10, pins: try value(3), since: 100, every: 200)
    #expect(abs(most.file / limit - 1) < 0.1)
    #expect(answers[0]["extrapolated"] == "yes" && answers[0]["vouched"] == "yes")
    #expect(answers[0]["extrapolation"]?.contains("objects 200k is 5.0 times beyond") == true)
    #expect(result.output.contains("an age of 100s is replaced by as many transactions"))
    #expect(FileManager.default.fileExists(atPath: folder.path + "/plan/plan.html"))
    #expect(
      try lawful.rows("plan").contains {
        $0["kind"] == "curve" && $0["metric"] == "file_bytes"
      })
  }

  /// Pins, their age and the rate together: each point is what the law says, and the page draws it.
  @Test func theFileIsDrawnOverPinsAgeAndRate() throws {
    let words = [
      "--ask", "file size at pins=40 age=80s rate=10/s objects=50k batch=10", "--output",
      folder.path + "/plan",
    ]
    let result = try lawful.plan(words + ["--from"] + (try lawfulRuns()))
    #expect(result.code == .success, "\(result.output) \(result.errors)")
    let points = try lawful.rows("plan").filter { $0["question"] == "file-pins-age-rate" }
    func number(_ point: [String: String], _ column: String) throws -> Double {
      try #require(point[column].flatMap(Double.init))
    }
    let settings = try points.map { point in
      "\(try number(point, "pins")) \(try number(point, "age_s")) \(try number(point, "rate_per_s"))"
    }
    #expect(Set(settings).count == 5 * 5 * 3 && points.count == 75)
    for point in points {
      let (pins, rate) = (try number(point, "pins"), try number(point, "rate_per_s"))
      let commits = rate * (try number(point, "age_s"))
      let every = max(1, commits / pins)
      let law = lawful.space(
        objects: 50_000, batch: 10, pins: min(pins, commits), since: every / 2, every: every)
      let value = try number(point, "value")
      #expect(abs(value / law.file - 1) < 0.2, "\(point): \(law.file)")
    }
    let page = try String(contentsOfFile: folder.path + "/plan/plan.html", encoding: .utf8)
    #expect(page.contains("File against pins, their age and the rate"))
    for text in ["2.5 writes a second", "40 writes a second", "oldest pin 320s old"] {
      #expect(page.contains(text), "\(text)")
    }
  }

  /// The file was drawn without what pins hold, since their age or the rate was still open.
  @Test func curvesOfWhatIsLookedForAreThoseAroundTheAnswer() throws {
    let words = [
      "--ask", "largest rate with file size<40MiB at pins=20 age=10s objects=20k", "--output",
      folder.path + "/plan",
    ]
    let result = try lawful.plan(words + ["--from"] + (try lawfulRuns()))
    let rows = try lawful.rows("plan")
    let answer = try #require(
      rows.first { $0["kind"] == "answer" }?["value"].flatMap(Double.init), "\(result.output)")
    let sizes = rows.filter { $0["question"] == "file-pins" }
    #expect(Set(sizes.compactMap { $0["value"] }).count == 5, "\(sizes)")
    let rates = sizes.compactMap { $0["rate_per_s"].flatMap(Double.init) }
    #expect(rates.count == 5 && rates.allSatisfy { abs($0 / answer - 1) < 0.01 }, "\(sizes)")
  }

  /// They were shown the curve and the knee of writes.
  @Test func questionsAboutReadsHaveCurvesOfReads() throws {
    let words = [
      "--ask", "read.service_p99 at readers=2 objects=20k", "--output", folder.path + "/plan",
    ]
    let result = try lawful.plan(words + ["--from"] + (try lawfulRuns()))
    let curves = try lawful.rows("plan").filter { $0["kind"] == "curve" }
    #expect(Set(curves.compactMap { $0["question"] }) == ["reads-cores"], "\(result.output)")
    #expect(!result.output.contains("knee"), "\(result.output)")
  }

  @Test func allReadersTogetherAreMoreThanOne() throws {
    let run = try lawful.makeRun("one", objects: 20_000, batch: 10, pins: 0, every: 10)
    func together(_ cores: Int) throws -> Double {
      let result = try lawful.plan([
        "--ask", "readers at 50k reads/s each on \(cores) cores objects=20k", "--output",
        folder.path + "/plan-\(cores)", "--from", run,
      ])
      let found = try #require(
        result.output.firstMatch(of: /all readers together: ([0-9,]+) reads/), "\(result.output)")
      let digits = String(found.1).replacing(",", with: "")
      return try #require(Double(digits))
    }
    #expect(try together(2) > 1.3 * together(1))
  }

  /// Their rates are those of their phases: they were taken for what the machine can do.
  @Test func runsWithPhasesTellNothing() throws {
    let run = try lawful.makeRun("phases", objects: 20_000, batch: 10, pins: 10, every: 40) {
      var script = RunScript()
      script.steps = [RunStep(name: "calm")]
      $0.settings.script = script
    }
    let error = #expect(throws: UsageError.self) {
      try lawful.plan(["--ask", "write rate", "--from", run])
    }
    #expect(error?.message.contains("a run of a plan file") == true, "\(error?.message ?? "")")
  }

  @Test func shortFlagsEndTheListOfRuns() throws {
    let run = try lawful.makeRun("one", objects: 20_000, batch: 10, pins: 10, every: 40)
    let out = folder.path + "/plan"
    let result = try lawful.plan(["--ask", "write rate", "--from", run, "-o", out, "-q"])
    #expect([.success, .inconclusive].contains(result.code), "\(result.errors)")
    #expect(FileManager.default.fileExists(atPath: out + "/plan.csv"))
  }

  /// Lines of loads that have nothing to do with each other were drawn as one.
  @Test func eachLoadHasCurvesOfItsOwn() throws {
    let words = [
      "--ask", "file size at pins=2 pin-every=1 objects=20k",
      "--ask", "file size at pins=2 pin-every=1 objects=40k",
      "--output", folder.path + "/plan", "--format", "json",
    ]
    let result = try lawful.plan(words + ["--from"] + (try lawfulRuns()))
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    #expect(json["interrupted"] as? Bool == false)
    let rows = try lawful.rows("plan").filter { $0["kind"] == "curve" }
    // Fewer than one transaction lies between no pins.
    #expect(Set(rows).count == rows.count && !rows.isEmpty)
    let page = try String(contentsOfFile: folder.path + "/plan/plan.html", encoding: .utf8)
    for objects in ["20k", "40k"] {
      #expect(page.contains("At any rate: objects=\(objects) batch=10"))
      #expect(page.contains("File against pins: objects=\(objects) batch=10 pin-every=1"))
    }
  }

  @Test func whatCannotBeVouchedForEndsWithFour() throws {
    let from = ["--from"] + (try lawfulRuns())
    for (name, question) in [
      ("far", "file size at pins=20 pin-every=10 objects=900M"),
      ("cores", "readers at 50k reads/s each on 512 cores"),
      ("nothing", "write rate at durability=memory"),
    ] {
      let words = ["--ask", question, "--output", folder.path + "/" + name]
      let result = try lawful.plan(words + from)
      #expect(result.code == .inconclusive, "\(question): \(result.output)")
      #expect(!result.errors.isEmpty || result.output.contains("no run tells of it"))
    }
  }

  @Test func anInterruptionBeforeTheFirstRunSaysSo() throws {
    let result = try lawful.plan(
      ["--ask", "write rate", "--budget", "5s", "--output", folder.path + "/none"],
      isInterrupted: true)
    #expect(result.code == .interrupted)
    #expect(result.errors.contains("interrupted before the first run"), "\(result.errors)")
  }

  @Test func timesComeFromAQueueAndReadersFromCores() throws {
    let result = try lawful.plan(
      [
        "--ask", "p99 at rate=7k/s batch=10 objects=20k pins=10 pin-every=40 readers=1",
        "--ask", "largest rate with write.response_p99<400us at batch=10 objects=20k readers=1",
        "--ask", "readers at 500k reads/s each on 1 cores objects=20k",
        "--output", folder.path + "/times", "--format", "json", "--from",
      ] + (try lawfulRuns()))
    #expect(result.code == .success, "\(result.output)")
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let found = try #require(json?["rows"] as? [[String: Any]])
    let answers = found.filter { $0["kind"] as? String == "answer" }
    let values = answers.compactMap { $0["value"] as? Double }
    #expect(values.count == 3)
    // A server that needs 50 to 150 us, reached 20 us late. A simulation apart from this program
    // (Lindley's recursion, 400,000 arrivals) gives a p99 of 816 us at 7,000/s, and of 400 us at
    // 3,900/s.
    #expect(values[0] > 600_000 && values[0] < 1_050_000, "\(values)")
    #expect(values[1] > 3_500 && values[1] < 4_300, "\(values)")
    // The runs had a reader and a writer each; four readers of 500,000 share 2,000,000.
    #expect(values[2] >= 3)
    let knees = found.filter { $0["kind"] as? String == "curve" && $0["knee"] as? String == "yes" }
    #expect(knees.count >= 1)
  }
}
