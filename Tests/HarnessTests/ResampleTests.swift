// `compare --resample` tells from recorded blocks how often gates would raise a false alarm, and
// how often they would see a change; `--write runs=FILE` is what it reads.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ResampleTests {
  private let folder = TemporaryFolder()

  private func resample(_ words: [String]) throws -> String {
    let output = CollectedOutput()
    let code = try CompareVerb.run(
      ["--resample"] + words, console: output.console(), interruption: { TimedInterruption() })
    #expect(code == .success)
    return output.output
  }

  private func refusal(_ words: [String]) -> String {
    do {
      return "not refused: \(try resample(words))"
    } catch {
      return (error as? UsageError)?.message ?? "\(error)"
    }
  }

  /// A table of blocks: writes of 5 us with noise of 1 % a run, longer by a factor in the
  /// candidate.
  private func table(_ name: String, factor: Double, seed: UInt64, blocks: Int = 100) throws
    -> String
  {
    var random = RandomGenerator(seed: seed)
    // The sum of twelve even draws is near enough to a bell.
    func noise() -> Double {
      (0..<12).reduce(-6.0) { sum, _ in
        sum + Double(random.next(upperBound: UInt64(1_000_000))) / 1_000_000
      }
    }
    var text = "run,side,engine,workload,operation,phase,load,metric,value\n"
    for (side, factor) in [("baseline", 1), ("candidate", factor)] {
      for block in 0..<blocks {
        let value = 5_000 * factor * exp(0.01 * noise())
        text +=
          "\(block),\(side),realm,readers-writer,write,measure,closed,service_p50_ns,\(value)\n"
      }
    }
    let path = folder.file(name)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// The share of gates that call some row worse, in percent.
  private func worse(_ output: String) throws -> Double {
    let match = try #require(output.firstMatch(of: /: ([0-9.]+) % say worse of some row/))
    return try #require(Double(match.1))
  }

  @Test func gatesSeeWhatIsThereAndHardlyEverWhatIsNot() throws {
    let seed = testSeed()
    let same = try table("same.csv", factor: 1, seed: seed)
    // Without a tolerance: half of all changes are for the worse, however small. Of blocks that
    // were recorded once the mean is not quite 1, and many looks at many draws of them see that in
    // time.
    let few = try resample([same, "--gates", "100", "--blocks", "20", "--max-regression", "0%"])
    #expect(try worse(few) <= 5, "seed \(seed): \(few)")
    let usual = try resample([same, "--gates", "200"])
    #expect(try worse(usual) <= 1, "seed \(seed): \(usual)")
    let slow = try resample([try table("slow.csv", factor: 1.05, seed: seed), "--gates", "200"])
    #expect(try worse(slow) >= 98, "seed \(seed): \(slow)")
    #expect(slow.contains("write.service_p50_ns"))
    #expect(slow == (try resample([folder.file("slow.csv"), "--gates", "200"])))
    #expect(
      try resample([same, "--gates", "20", "--format", "markdown"]).contains(
        "| write.service_p50_ns |"))
    let text = try resample([folder.file("slow.csv"), "--gates", "200", "--format", "json"])
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(json["gates"] as? Int == 200 && json["recorded_blocks"] as? Int == 100)
    #expect(abs((json["worse_percent"] as? Double ?? -1) - (try worse(slow))) < 0.1, "\(text)")
    let row = try #require((json["rows"] as? [[String: Any]])?.first)
    #expect(row["row"] as? String == "write.service_p50_ns")
    #expect(abs((row["change_percent"] as? Double ?? 0) - 5) < 1, "\(text)")
  }

  @Test func whatIsNoTableOfBlocksIsRefused() throws {
    let good = try table("good.csv", factor: 1, seed: 1, blocks: 6)
    let text = try String(contentsOfFile: good, encoding: .utf8)
    func file(_ name: String, _ text: String) throws -> String {
      try text.write(toFile: folder.file(name), atomically: true, encoding: .utf8)
      return folder.file(name)
    }
    #expect(refusal([folder.file("nothing")]).contains("cannot be read"))
    #expect(refusal([try file("notes", "notes\n")]).contains("is no table of"))
    #expect(
      refusal([try file("cut", String(text.dropLast(20)))]).contains("line 13 of"))
    let lines = text.split(separator: "\n").dropLast().joined(separator: "\n")
    #expect(refusal([try file("fewer", lines)]).contains("only blocks of --executables"))
    #expect(
      refusal([try file("word", text.replacing("service_p50_ns,", with: "service_p50_ns,x"))])
        .contains("line 2 of"))
    let short = try table("short.csv", factor: 1, seed: 1, blocks: 5)
    #expect(refusal([short]).contains("5 blocks decide nothing"))
    #expect(refusal([good, "--gates", "0"]).contains("--gates"))
    #expect(refusal([good, "--blocks", "5"]).contains("--blocks"))
    #expect(refusal([good, "--format", "junit"]).contains("text, markdown or json"))
    #expect(refusal([good, good]).contains("one file"))
    for flag in [["--budget", "1m"], ["--strict"], ["--partial"]] {
      #expect(refusal([good] + flag).contains("contradict"))
    }
    #expect(
      refusal([good, "--max-regression", "red.service_p50_ns=2%"]).contains("no run has the row"))
  }

  /// A counter without noise has no tolerance in the gate itself, so it has none here.
  @Test func countersWithoutNoiseAreJudgedAsTheGateJudgesThem() throws {
    func table(_ name: String, isExact: Bool) throws -> String {
      var text =
        "run,side,engine,workload,operation,phase,load,metric,value,without_noise,clock_tick_ns\n"
      for (side, value) in [("baseline", 1.0), ("candidate", 1.01)] {
        for block in 0..<30 {
          text +=
            "\(block),\(side),realm,readers-writer,write,measure,closed,syncs_per_commit,\(value),"
            + "\(isExact ? "yes" : "no"),1\n"
        }
      }
      let path = folder.file(name)
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      return path
    }
    #expect(try worse(resample([try table("exact.csv", isExact: true), "--gates", "20"])) == 100)
    #expect(try worse(resample([try table("noisy.csv", isExact: false), "--gates", "20"])) == 0)
  }
}
