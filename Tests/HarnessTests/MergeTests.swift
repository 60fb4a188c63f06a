// `merge`: sums of what was measured, nothing averaged, and refusal of what does not belong
// together.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct MergeTests {
  private let folder = TemporaryFolder()

  private func makeRun(_ name: String, _ more: String = "--seed 1") throws -> String {
    let path = folder.path + "/" + name
    try runOnModel(
      "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 3000 "
        + "--interval 10ms --output \(path) \(more)")
    return path
  }

  private func merge(
    _ words: [String]
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let code = try MergeVerb.perform(words, console: output.console())
    return (code, output.output, output.errors)
  }

  private func refusal(_ words: [String]) -> String {
    do {
      _ = try merge(words)
      return ""
    } catch {
      return (error as? UsageError)?.message ?? "\(error)"
    }
  }

  private func rows(_ path: String) throws -> [[String]] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return Array(try #require(CSVTable.parse(text)).dropFirst())
  }

  private func number(_ column: String, of operation: String, in path: String) throws -> Double {
    let columns = ResultSchema.summaryColumns
    let row = try #require(try rows(path).first { $0[7] == operation && $0[8] == "measure" })
    return try #require(Double(row[columns.firstIndex(of: column)!]))
  }

  private func histogram(_ path: String) throws -> LatencyHistogram {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return try #require(LatencyHistogram(percentileText: text))
  }

  @Test func histogramsAreAddedAndRowsStandBelowEachOther() throws {
    let runs = try (1...3).map { try makeRun("shard-\($0)", "--seed \($0)") }
    let joined = folder.path + "/joined"
    let (code, output, _) = try merge(runs + ["-o", joined])
    #expect(code == .success && output.contains("3 runs of readers-writer joined"))
    let parts = try runs.map { try histogram($0 + "/histograms/read.hgrm") }
    let sum = try histogram(joined + "/histograms/read.hgrm")
    #expect(sum.count == parts.reduce(0) { $0 + $1.count })
    #expect(sum.maximum == parts.map(\.maximum).max())
    for name in ["summary.csv", "samples.csv", "growth.csv", "invariants.csv"] {
      let all = try rows(joined + "/" + name)
      #expect(all.count == (try runs.reduce(0) { $0 + (try rows("\($1)/\(name)")).count }))
      #expect(Set(all.map { $0[2] }) == ["1", "2", "3"], "\(name)")
    }
    let merged = try rows(joined + "/merged.csv")
    let columns = ResultSchema.summaryColumns
    let read = try #require(merged.first { $0[7] == "read" })
    #expect(read[columns.firstIndex(of: "count")!] == String(sum.count))
    // They are no shards: they may have run one after another, with as many threads each.
    #expect(read[columns.firstIndex(of: "threads")!] == "1")
    let rates = try runs.map { try number("rate_per_s", of: "read", in: $0 + "/summary.csv") }
    let rate = try number("rate_per_s", of: "read", in: joined + "/merged.csv")
    #expect(rate > 0 && rate <= (rates.max() ?? 0) * 1.01, "\(rate) of \(rates)")
    let times = try runs.map { try number("elapsed_s", of: "read", in: $0 + "/summary.csv") }
    let time = try number("elapsed_s", of: "read", in: joined + "/merged.csv")
    #expect(abs(time - times.reduce(0, +)) < 1e-4, "\(time) of \(times)")
    #expect(read[columns.firstIndex(of: "service_p50_ns")!] == sum.value(at: .p50).map(String.init))
    // What would have to be averaged is not there.
    #expect(read[columns.firstIndex(of: "written_bytes_per_commit")!].isEmpty)
    // The other verbs read it as one of replicas.
    #expect(try MeasuredRun.all(in: joined).count == 3)
    let again = try merge([joined, try makeRun("shard-4", "--seed 4"), "-o", folder.path + "/all"])
    #expect(again.code == .success && again.output.contains("4 runs"))
  }

  /// Of replicas that were interrupted between two, and of a merge that was killed, those that were
  /// there passed for all.
  @Test func runsThatAreNotAllAreTakenOnlyWhenAsked() throws {
    let runs = try (1...3).map { try makeRun("shard-\($0)", "--seed \($0)") }
    let joined = folder.path + "/joined"
    #expect(try merge(runs + ["-o", joined]).code == .success)
    let manifest = joined + "/manifest.json"
    let text = try String(contentsOfFile: manifest, encoding: .utf8)
    try text.replacing("\"complete\"", with: "\"partial\"")
      .write(toFile: manifest, atomically: true, encoding: .utf8)
    let words = [joined, try makeRun("shard-4", "--seed 4"), "-o", folder.path + "/all"]
    #expect(refusal(words).contains("the results in '\(joined)' are partial: run it again"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/all"))
    #expect(try merge(words + ["--partial"]).code == .success)
    let output = CollectedOutput()
    let page = folder.path + "/report.html"
    #expect(try ReportVerb.run([joined, "-o", page], console: output.console()) == .success)
    #expect(
      output.errors.contains(
        "warning: the results in '\(joined)' are partial: the page shows the 3 that there are"))
  }

  @Test func whatDoesNotBelongTogetherIsRefused() throws {
    let one = try makeRun("one")
    let other = try makeRun("other", "--seed 2 --batch 3")
    let out = ["-o", folder.path + "/out"]
    #expect(refusal([one, other] + out).contains("did different work: batch is 10 and 3"))
    #expect(refusal([one, one] + out).contains("the same run"))
    #expect(refusal([one] + out).contains("there is one run only"))
    #expect(refusal([one, folder.path + "/nothing"] + out).contains("no results folder"))
    #expect(refusal([one, other]).contains("-o FOLDER"))
    #expect(refusal(out).contains("needs results folders"))
    #expect(refusal([one, other, "-o", other]).contains("exists already"))
    #expect(refusal([one, other, "-o", other, "--overwrite"]).contains("lie in one another"))
    #expect(refusal([one, other, "-o", folder.path + "/x", "--overwrit"]).contains("did you mean"))
    let two = try makeRun("two", "--seed 2")
    let tool = try RunDocument(path: two + "/run.json").environment.tool
    try FigureFolders.edit(two) { $0.environment.tool = "realm-bench 0.0.9" }
    #expect(refusal([one, two] + out).contains("of different builds"))
    try FigureFolders.edit(two) {
      $0.environment.tool = tool
      $0.status = "interrupted"
    }
    #expect(refusal([one, two] + out).contains("is interrupted"))
    let partial = try merge([one, two, "--partial"] + out)
    #expect(partial.code == .success && partial.errors.contains("its figures are partial"))
    // As a run of a version that did not list its files.
    let damaged = try makeRun("damaged", "--seed 3")
    try FigureFolders.edit(damaged) { $0.files = nil }
    try "x y z".write(
      toFile: damaged + "/histograms/read.hgrm", atomically: true, encoding: .utf8)
    #expect(
      refusal([one, damaged, "-o", folder.path + "/no"]).contains("no histogram that can be added"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/no"))
  }

  /// An operation without a histogram was left out of merged.csv, and of one that some shards
  /// lacked the percentiles were those of the others, beside counts of all.
  @Test func histogramsThatAreMissingOrCutAreRefused() throws {
    let runs = try (1...2).map { try makeRun("run-\($0)", "--seed \($0)") }
    let words = runs + ["-o", folder.file("out")]
    // As a run of a version that did not list its files.
    try FigureFolders.edit(runs[1]) { $0.files = nil }
    let file = runs[1] + "/histograms/read.hgrm"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    try lines.dropLast(lines.count / 2).joined(separator: "\n")
      .write(toFile: file, atomically: true, encoding: .utf8)
    #expect(refusal(words).contains("'\(file)' is no histogram that can be added"))
    // Whole, but of another run.
    let few = LatencyHistogram()
    few.record(1)
    try few.percentileText().write(toFile: file, atomically: true, encoding: .utf8)
    #expect(refusal(words).contains("'\(file)' has 1 of "))
    try FileManager.default.removeItem(atPath: file)
    #expect(refusal(words).contains("'\(file)' is missing: the sum would be of a part"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    #expect(try merge(words + ["--partial"]).code == .success)
    let columns = ResultSchema.summaryColumns
    let read = try #require(
      try rows(folder.file("out/merged.csv")).first {
        $0[columns.firstIndex(of: "operation")!] == "read"
      })
    // Counts are sums; percentiles of a part are none.
    #expect(read[columns.firstIndex(of: "count")!] != "")
    #expect(read[columns.firstIndex(of: "service_p50_ns")!] == "")
  }

  /// Some were left out of the sums, others ended the process and left half a folder.
  @Test(arguments: ["NaN", "1e400", "9223372036854775808", "abc", "-5"])
  func noNumbersAreRefused(_ cell: String) throws {
    let runs = try (1...2).map { try makeRun("run-\($0)", "--seed \($0)") }
    let file = runs[1] + "/summary.csv"
    var table = try #require(CSVTable.parse(try String(contentsOfFile: file, encoding: .utf8)))
    let column = try #require(table[0].firstIndex(of: "count"))
    table[1][column] = cell
    let text = table.map { CSVTable.line($0) }.joined()
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    let words = "'\(file)' is damaged: line 2, column 'count': '\(cell)' is no number"
    #expect(refusal(runs + ["-o", folder.file("out")]).contains(words))
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
  }

  @Test func shardsAreThoseOfOneRunAndOnce() throws {
    let one = try makeRun("one", "--shard 1/3")
    let two = try makeRun("two", "--shard 2/3")
    let again = try makeRun("again", "--shard 1/3")
    let out = ["-o", folder.file("out")]
    #expect(refusal([one, two, again] + out).contains("shard 1/3 is there twice: '\(one)' and '"))
    let others = try makeRun("others", "--shard 2/4")
    #expect(
      refusal([one, others] + out)
        .contains("no parts of one run: shard 1/3 with seed 1, and shard 2/4 with seed 1"))
    let seeded = try makeRun("seeded", "--shard 2/3 --seed 5")
    #expect(refusal([one, seeded] + out).contains("and shard 2/3 with seed 5"))
    let whole = try makeRun("whole")
    #expect(refusal([one, whole] + out).contains("'\(whole)' is no shard, and '\(one)' is one"))
    let missing = try merge([one, two] + out)
    #expect(missing.code == .success && missing.errors.contains("shards are missing: 3/3"))
    // Shards run at once: what they do a second is added up.
    let rates = try [one, two].map {
      try number("rate_per_s", of: "read", in: $0 + "/summary.csv")
    }
    let rate = try number("rate_per_s", of: "read", in: folder.file("out/merged.csv"))
    #expect(abs(rate / rates.reduce(0, +) - 1) < 0.001, "\(rate) of \(rates)")
    let threads = try number("threads", of: "read", in: folder.file("out/merged.csv"))
    #expect(threads == 2)
    let dirty = try makeRun("dirty", "--shard 3/3")
    let isDirty = try RunDocument(path: one + "/run.json").environment.isDirty == true
    try FigureFolders.edit(dirty) { $0.environment.isDirty = !isDirty }
    #expect(refusal([one, dirty, "-o", folder.file("new")]).contains("of different builds"))
  }

  @Test func theSameSeedIsWarnedOfAndJSONHasTheFigures() throws {
    let (one, two) = (try makeRun("one"), try makeRun("two"))
    let (_, output, errors) = try merge(
      [one, two, "-o", folder.path + "/out", "--format", "json"])
    #expect(errors.contains("have the same seed"))
    let read = try #require(
      try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    let merged = try #require(read["merged"] as? [[String: Any]])
    #expect(merged.contains { $0["operation"] as? String == "write" && $0["count"] is Int })
    let unwritable = "/proc/nothing/here"
    #expect(refusal([one, two, "-o", unwritable]).contains(unwritable))
  }

  /// Nobody times what fills a file: its row has no distribution that could be missing.
  @Test func runsThatFillAFileAreJoined() throws {
    let runs = try (1...2).map { number in
      let path = folder.path + "/load-\(number)"
      try runOnModel("bulk-load --objects 500 --batch 10 --seed \(number) --output \(path)")
      return path
    }
    let joined = folder.path + "/loads"
    let (code, _, errors) = try merge(runs + ["-o", joined])
    #expect(code == .success, "\(errors)")
    let writes = try histogram(joined + "/histograms/write.hgrm")
    #expect(writes.count == 100)
  }

  /// The sum of the others' was taken for that of all.
  @Test func responsesThatAreMissingAreRefused() throws {
    let runs = try (1...2).map { number in
      let path = folder.path + "/open-\(number)"
      try runOnModel(
        "readers-writer --readers 0 --objects 50 --value-size 16B --warmup 0s --duration 100ms "
          + "--rate 500/s --interval 10ms --seed \(number) --output \(path)")
      return path
    }
    try FileManager.default.removeItem(atPath: runs[1] + "/histograms/write-response.hgrm")
    // As a run that has written its files without a list of them.
    try FigureFolders.edit(runs[1]) { $0.files = nil }
    let refused = refusal(runs + ["-o", folder.path + "/open"])
    #expect(refused.contains("write-response.hgrm' is missing"), "\(refused)")
  }
}
