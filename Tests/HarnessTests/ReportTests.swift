// `report`: one page that says what the files say, and nothing that was not asked for.
import Foundation
import Platform
import TestSupport
import Testing

@testable import Harness

@Suite(.serialized, .ownThreads) struct ReportTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  private func makeRun(_ name: String) throws -> String {
    let path = folder.path + "/" + name
    try runOnModel(
      "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 3000 "
        + "--interval 10ms --output \(path)")
    return path
  }

  private func report(_ words: [String]) throws -> (code: ExitCode, page: String) {
    let output = CollectedOutput()
    let page = folder.path + "/report.html"
    let code = try ReportVerb.run(words + ["-o", page], console: output.console())
    return (code, (try? String(contentsOfFile: page, encoding: .utf8)) ?? "")
  }

  @Test func pageHasFiguresOfTheFilesAndNeedsNoNetwork() throws {
    let run = try makeRun("one")
    let (code, page) = try report([run])
    #expect(code == .success)
    let summary = try String(contentsOfFile: run + "/summary.csv", encoding: .utf8)
    let rows = try #require(CSVTable.parse(summary))
    let read = try #require(rows.first { $0[7] == "read" && $0[8] == "measure" })
    let count = read[ResultSchema.summaryColumns.firstIndex(of: "count")!]
    #expect(page.contains("<td class=\"n\">\(grouped(Int(count)!))</td>"))
    for text in ["polyline", "from summary.csv", "from growth.csv", "from invariants.csv", "I1"] {
      #expect(page.contains(text), "\(text) is missing")
    }
    #expect(!page.contains("http") && !page.contains("src="))
    // The script names NaN; no coordinate may be one.
    let drawn = page.components(separatedBy: "<script>")[0].lowercased()
    #expect(!drawn.contains("nan,") && !drawn.contains("inf,") && !drawn.contains("\"nan"))
  }

  /// A page may be shown to anybody.
  @Test func placesAreNamedOnlyWhenAskedFor() throws {
    let run = try makeRun("one")
    let host = ProcessInfo.processInfo.hostName
    let (_, page) = try report([run])
    #expect(!page.contains(folder.path) && (host == "localhost" || !page.contains(">\(host)<")))
    let (_, open) = try report([run, "--show-places", "--overwrite"])
    #expect(open.contains(folder.path) && open.contains(host))
  }

  /// What is known of two runs names their folders elsewhere; a plan lies in somebody's folder.
  @Test func comparisonsAndCommandsNameNoPlaces() throws {
    let runs = [try makeRun("one"), try makeRun("two")]
    for run in runs {
      try FigureFolders.edit(run) {
        $0.command = "realm-bench run '\(folder.path)/my plans/busy.json' --seed 1 --rate 20/s"
      }
    }
    let (_, page) = try report(runs)
    #expect(!page.contains(folder.path) && !page.contains("my plans"))
    #expect(page.contains("realm-bench run 'busy.json' --seed 1 --rate 20/s"), "\(page)")
    #expect(page.contains("<li>run 1 is not valid"))
    let (_, open) = try report(runs + ["--show-places", "--overwrite"])
    #expect(open.contains("\(folder.path)/my plans/busy.json"))
  }

  /// What went wrong is often told with the place where it did.
  @Test func verdictsAndViolationsNameNoPlaces() throws {
    let run = try makeRun("one")
    let other = "/home/somebody/my data/app.realm"
    try FigureFolders.edit(run) { document in
      document.environment.hostName = "secret-host"
      document.verdict.isValid = false
      document.verdict.reasons = [
        "the run failed: cannot open '\(other)': no space",
        "samples in \(folder.path)/one/process-1",
        "2000/s of 4 reads/s, on secret-host (/mnt/x)",
      ]
      document.verdict.cautions = ["look into ~/notes/today.txt, or file:///mnt/y"]
      document.violation = RunDocument.ViolationRecord(
        invariant: "I1", sentence: "in \(folder.path)/one/data.realm a key was gone", witness: [],
        thread: "reader 1")
    }
    let (_, page) = try report([run])
    for place in [folder.path, "somebody", "my data", "secret-host", "/mnt", "~/notes"] {
      #expect(!page.contains(place), "\(place)")
    }
    #expect(
      page.contains("cannot open &#39;app.realm&#39;: no space") || page.contains("'app.realm'"))
    #expect(page.contains("samples in process-1; 2000/s of 4 reads/s, on the host (x)"), "\(page)")
    #expect(page.contains("in data.realm a key was gone"))
    let (_, open) = try report([run, "--show-places", "--overwrite"])
    #expect(open.contains("/home/somebody/my data/app.realm") && open.contains("secret-host"))
  }

  @Test func whatIsToldIsJSONWhereThatIsAskedFor() throws {
    let run = try makeRun("one")
    for (words, name) in [([], "a.html"), (["--trend", folder.path + "/history"], "b.html")] {
      let output = CollectedOutput()
      let path = folder.file(name)
      let code = try ReportVerb.run(
        [run, "-o", path, "--format", "json"] + words, console: output.console())
      #expect(code == .success)
      let told = try JSONSerialization.jsonObject(with: Data(output.output.utf8)) as? [String: Any]
      #expect(told?["file"] as? String == path)
      #expect((told?["changes"] == nil) == words.isEmpty)
    }
  }

  /// A picture alone has title, legend, colours and the same lines as the page.
  @Test(arguments: RunReport.Picture.allCases) func eachPictureIsAFileOfItsOwn(
    picture: RunReport.Picture
  ) throws {
    let run = try makeRun("one")
    let path = folder.path + "/drawn.svg"
    let words = [run, "--picture", picture.rawValue, "-o", path]
    let output = CollectedOutput()
    #expect(try ReportVerb.run(words, console: output.console()) == .success)
    let drawn = try String(contentsOfFile: path, encoding: .utf8)
    for tag in ["svg", "text", "style", "title"] {
      #expect(
        drawn.matches(of: try Regex("<\(tag)[ >]")).count == drawn.components(
          separatedBy: "</\(tag)>"
        ).count - 1, "\(tag)")
    }
    let lines = drawn.matches(of: /points="[^"]* [^"]* [^"]*"/).map { String($0.0) }
    let (_, page) = try report([run])
    #expect(lines.allSatisfy { page.contains($0) } && drawn.contains("from "))
    // A run on a busy machine may have two samples, which make a line of two points.
    #expect(drawn.contains("<polyline") || drawn.contains("<circle"), "\(drawn)")
    #expect(!drawn.contains(folder.path) && drawn.contains("prefers-color-scheme:dark"))
    // It replaces itself only when told to, and nothing of others.
    #expect(throws: UsageError.self) { try ReportVerb.run(words, console: output.console()) }
    #expect(
      try ReportVerb.run(words + ["--overwrite"], console: output.console()) == .success)
    try "<svg>mine</svg>".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(throws: UsageError.self) {
      try ReportVerb.run(words + ["--overwrite"], console: output.console())
    }
  }

  @Test func picturesThatAreNotThereAreRefused() throws {
    let run = try makeRun("one")
    #expect {
      try report([run, "--picture", "files"])
    } throws: {
      "\($0)".contains("not one of latency, rate") && "\($0)".contains("did you mean")
    }
    try (FileManager.default.contentsOfDirectory(atPath: run + "/histograms")).forEach {
      try FileManager.default.removeItem(atPath: run + "/histograms/" + $0)
    }
    #expect {
      try report([run, "--picture", "latency"])
    } throws: {
      "\($0)".contains("nothing to draw from histograms/")
    }
  }

  /// Means of percentiles hid stalls: a long run has more intervals than are drawn.
  @Test func ofManyIntervalsTheWorstIsDrawn() throws {
    let path = try makeRun("one")
    var table = CSVTable(columns: ResultSchema.sampleColumns)
    for interval in 1...1_000 {
      let cells = [
        "schema_version": "1", "run_id": "one", "replica": "1", "engine": "realm",
        "workload": "readers-writer", "phase": "measure", "elapsed_s": String(interval),
        "operation": "read", "metric": "service_p99", "unit": "ns",
        "value": interval == 500 ? "2000000000" : "1500000",
      ]
      table.append(ResultSchema.sampleColumns.map { cells[$0] })
    }
    try table.text.write(toFile: path + "/samples.csv", atomically: true, encoding: .utf8)
    try FigureFolders.edit(path) { $0.files = nil }
    let run = try MeasuredRun(folder: path)
    let chart = try RunReport([run], comparison: nil, showsPlaces: false).chart(.p99)
    #expect(chart.title == "p99 of each interval, the worst of up to 3 neighbours")
    // Two seconds, and not the mean with its neighbours.
    #expect(chart.html().contains(">10 s</text>"), "\(chart.html())")
  }

  /// The line went straight from one neighbour to the other.
  @Test func intervalsInWhichNothingWasDoneAreDrawnAtTheBottom() {
    func chart(_ rates: [Double]) -> LineChart {
      LineChart(
        "t", source: "", x: ChartAxis("x") { "\($0)" },
        y: ChartAxis("y", .logarithmic) { "\($0)" },
        [ChartSeries("a", rates.enumerated().map { (Double($0.offset), $0.element) })])
    }
    #expect(chart([500, 0, 500]).html().contains(",276.0 "))
    #expect(!chart([500, 500]).html().contains(",276.0"))
    #expect(chart([0, 0]).html().contains("<polyline"))
  }

  /// 900 us stood above 1.20 ms.
  @Test func tablesAreSortedByWhatTheirUnitsMean() throws {
    var page = ReportPage("t")
    page.add("s", ReportPage.table(["a"], [["1.20 ms"], ["900 us"]], source: "x"))
    let html = page.html()
    #expect(html.contains("ms: 1e6, s: 1e9, B: 1, KiB: 1024"))
    #expect(html.contains(#"/^([+-]?[\d,]*\.?\d+)(?: (ns|us|ms|s|B|KiB|MiB|GiB))?"#))
  }

  @Test func twoRunsOfOnePlanAreCompared() throws {
    let (_, page) = try report([try makeRun("one"), try makeRun("two")])
    #expect(page.contains("<h2>Comparison</h2>") && page.contains("cannot tell"))
  }

  @Test func badInputIsRefusedAndNothingIsReplaced() throws {
    let run = try makeRun("one")
    #expect(throws: UsageError.self) { try report([]) }
    #expect(throws: UsageError.self) { try report([folder.path]) }
    #expect(throws: UsageError.self) { try report([folder.path + "/missing"]) }
    #expect(try report([run]).code == .success)
    #expect(throws: UsageError.self) { try report([run]) }
    try "{".write(toFile: run + "/run.json", atomically: true, encoding: .utf8)
    #expect {
      try report([run, "--overwrite"])
    } throws: { error in
      (error as? UsageError)?.message.contains("run.json' cannot be read: it is not JSON") == true
    }
  }

  /// Whoever has changed it may have changed what the run has measured.
  @Test func aRunDocumentThatWasChangedIsRefused() throws {
    let (run, other) = (try makeRun("one"), try makeRun("two"))
    let path = run + "/run.json"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    func refusal(_ changed: String, _ verb: () throws -> Void) throws -> String {
      #expect(changed != text)
      try changed.write(toFile: path, atomically: true, encoding: .utf8)
      do {
        try verb()
        return ""
      } catch {
        return (error as? UsageError)?.message ?? "\(error)"
      }
    }
    let changed = text.replacing("\"is_valid\" : false", with: "\"is_valid\" : true")
    let words = "run.json' is not as its run has written it"
    let console = CollectedOutput().console()
    #expect(try refusal(changed) { _ = try report([run]) }.contains(words))
    #expect(
      try refusal(changed) {
        _ = try CompareVerb.run(
          [run, other, "--partial", "--output", folder.file("compare.csv")], console: console,
          interruption: { TimedInterruption() })
      }.contains(words))
    #expect(
      try refusal(changed) {
        _ = try MergeVerb.perform([run, other, "-o", folder.file("m")], console: console)
      }.contains(words))
    for version in [0, -1] {
      let older = text.replacing(
        "\"schema_version\" : \(ResultSchema.version)", with: "\"schema_version\" : \(version)")
      let refused = try refusal(older) { _ = try report([run]) }
      #expect(refused.contains("has schema version \(version), which no run"), "\(refused)")
    }
  }

  @Test func distributionsThatAreGoneAreNamed() throws {
    let run = try makeRun("one")
    func errors(_ page: String) throws -> String {
      let output = CollectedOutput()
      _ = try ReportVerb.run([run, "-o", folder.file(page)], console: output.console())
      return output.errors
    }
    #expect(try errors("whole.html").isEmpty)
    try FileManager.default.removeItem(atPath: run + "/histograms/read.hgrm")
    #expect(try errors("less.html").contains("histograms/read.hgrm' is missing"))
    // A saved baseline has the tables alone.
    for name in ["histograms", "samples.csv"] {
      try FileManager.default.removeItem(atPath: run + "/" + name)
    }
    #expect(try errors("tables.html").isEmpty)
  }

  @Test func textOfUsersIsNoMarkup() {
    #expect(escapedHTML("<a href=\"x\">&") == "&lt;a href=&quot;x&quot;&gt;&amp;")
    let chart = LineChart(
      "<b>", source: "a&b", x: ChartAxis("x") { "\($0)" }, y: ChartAxis("y") { "\($0)" },
      [ChartSeries("<i>", [(0, 1), (1, .nan), (2, 3)])])
    #expect(!chart.html().contains("<i>") && chart.html().contains("&lt;i&gt;"))
    #expect(
      LineChart("t", source: "", x: ChartAxis("x") { "\($0)" }, y: ChartAxis("y") { "\($0)" }, [])
        .isEmpty)
  }
}
