// `merge` of shards of a hunt: rows below each other, failures that can be repeated from where they
// are, and refusal of what is no whole hunt.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct MergeHuntTests {
  private let folder = TemporaryFolder()

  /// A hunt in a folder of that name.
  private func hunt(
    _ name: String, _ flags: String,
    interruption: () -> any Interruption = { TimedInterruption() }
  ) throws -> String {
    let path = folder.path + "/" + name
    let line = "\(flags) --output \(path) --quiet"
    _ = try HuntVerb.run(
      line.split(separator: " ").map(String.init), console: CollectedOutput().console(),
      interruption: interruption)
    return path
  }

  private func sound(_ name: String, _ flags: String) throws -> String {
    try hunt(name, "--scenario lost-update/mended --duration 30ms \(flags)")
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
      return "not refused: \(try merge(words).code)"
    } catch {
      return (error as? UsageError)?.message ?? "\(error)"
    }
  }

  private func rows(_ path: String) throws -> [[String]] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return Array(try #require(CSVTable.parse(text)).dropFirst())
  }

  @Test func shardsOfAHuntAreJoined() throws {
    let shards = try (1...3).map { try sound("shard-\($0)", "--seed 4 --shard \($0)/3") }
    let joined = folder.path + "/joined"
    let (code, output, _) = try merge(Array(shards.reversed()) + ["-o", joined])
    #expect(code == .success && output.contains("3 shards of one hunt joined"), "\(output)")
    // In the order of the shards, whatever that of the folders is.
    let table = try rows(joined + "/hunt.csv")
    #expect(table == (try shards.flatMap { try rows($0 + "/hunt.csv") }))
    #expect(table.map { $0[2] } == ["1/3", "2/3", "3/3"])
    #expect(
      try rows(joined + "/hunt-samples.csv").count
        == (try shards.reduce(0) { $0 + (try rows($1 + "/hunt-samples.csv")).count }))
    #expect(textOfFile(joined + "/merge.json")?.contains("\"shard\" : \"3/3\"") == true)
    #expect(textOfFile(joined + "/manifest.json")?.contains("\"complete\"") == true)
    // Earlier results stay, unless it is asked for.
    #expect(refusal(shards + ["-o", joined]).contains("exists already"))
    #expect(try merge(shards + ["-o", joined, "--overwrite"]).code == .success)
    let json = try merge(shards + ["-o", folder.path + "/json", "--format", "json"]).output
    let read = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect((read["rows"] as? [[String: Any]])?.count == 3)
  }

  @Test func aFailureIsRepeatedFromTheJoinedFolder() throws {
    let shards = try (1...2).map { try hunt("\($0)", "--scenario lost-update --shard \($0)/2") }
    let joined = folder.path + "/joined"
    let result = try merge(shards + ["-o", joined])
    #expect(result.code == .success && result.output.contains("2/2: lost-update: "))
    #expect(result.output.contains("replay \(joined)/shard-002\n"), "\(result.output)")
    let output = CollectedOutput()
    let code = try ReplayVerb.perform([joined + "/shard-002"], console: output.console())
    #expect(code == .invariantViolated && output.output.contains("fails as before"))
  }

  @Test func whatIsNoWholeHuntIsRefused() throws {
    let one = try sound("one", "--shard 1/3")
    let two = try sound("two", "--shard 2/3")
    let again = try sound("again", "--shard 1/3")
    let out = ["-o", folder.path + "/out"]
    #expect(refusal([one, two] + out).contains("shards are missing: 3/3"))
    #expect(refusal([one] + out).contains("shards are missing: 2/3, 3/3"))
    #expect(refusal([one, two, again] + out).contains("shard 1/3 is there twice: '\(one)' and '"))
    for (name, flags, words) in [
      ("seed", "--shard 2/3 --seed 5", "seed is 1 and 5"),
      ("count", "--shard 2/4", "number of shards is 3 and 4"),
      ("way", "--shard 2/3 --strategy random", "strategy is portfolio and random"),
    ] {
      let refused = refusal([one, try sound(name, flags)] + out)
      #expect(refused.contains("no shards of one hunt: " + words), "\(refused)")
    }
    let longer = try hunt("longer", "--scenario lost-update/mended --duration 40ms --shard 2/3")
    #expect(refusal([one, longer] + out).contains("duration is 30ms and 40ms"))
    let whole = try sound("whole", "")
    #expect(refusal([whole, one] + out).contains("'\(whole)' is a whole hunt and no shard of one"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/out"))
    // What there is, when it is asked for; the last shard comes later.
    let partial = try merge([one, two, "--partial"] + out)
    #expect(partial.code == .success && partial.errors.contains("shards are missing: 3/3"))
    let three = try sound("three", "--shard 3/3")
    let all = try merge([folder.path + "/out", three, "-o", folder.path + "/all"])
    #expect(all.code == .success && all.output.contains("3 shards of one hunt joined"))
  }

  @Test func huntsAndRunsDoNotMix() throws {
    let shard = try sound("shard", "--shard 1/2")
    let run = folder.path + "/run"
    try runOnModel(
      "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 300 --output "
        + run)
    for folders in [[shard, run], [run, shard]] {
      let refused = refusal(folders + ["-o", folder.path + "/out"])
      #expect(
        refused.contains("'\(shard)' is of a hunt, and '\(run)' is not: join the shards of a hunt"),
        "\(refused)")
    }
  }

  @Test func huntsThatAreCutShortOrChangedAreRefused() throws {
    let one = try sound("one", "--shard 1/2")
    let cut = try hunt(
      "cut", "--scenario lost-update/mended --duration 30ms --shard 2/2",
      interruption: { TimedInterruption(afterNanoseconds: 0) })
    let out = ["-o", folder.path + "/out"]
    #expect(refusal([one, cut] + out).contains("the results in '\(cut)' are partial: hunt again"))
    #expect(try merge([one, cut, "--partial"] + out).errors.contains("'\(cut)' is partial"))
    let two = try sound("two", "--shard 2/2")
    let table = try String(contentsOfFile: two + "/hunt.csv", encoding: .utf8)
    try (table + "1\n").write(toFile: two + "/hunt.csv", atomically: true, encoding: .utf8)
    #expect(
      refusal([one, two, "-o", folder.path + "/no"])
        .contains("'\(two)/hunt.csv' is not as the hunt has left it"))
    try FileManager.default.removeItem(atPath: one + "/hunt.json")
    #expect(refusal([one, "-o", folder.path + "/no"]).contains("has no hunt.json"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/no"))
  }

  @Test func shardsOfTheScoreAreJoined() throws {
    // The last ones have no bug left: there are fewer than a thousand.
    let shards = try [2, 999, 1_000].map {
      try hunt("\($0)", "--bugs --duration 20ms --shard \($0)/1000")
    }
    let joined = folder.path + "/joined"
    #expect(
      refusal(shards + ["-o", joined]).contains("shards are missing: 1/1000, 3/1000, "))
    let result = try merge(shards + ["--partial", "-o", joined])
    #expect(result.code == .success && result.errors.contains(" and 989 more"), "\(result.errors)")
    let table = try rows(joined + "/bugs.csv")
    #expect(table.count == 4 && Set(table.map { $0[7] }) == ["2/1000"])
    let text = try #require(textOfFile(joined + "/bugs.md"))
    #expect(text.hasPrefix("| bug | ") && text.contains("\n| `") && text.contains("missing"))
  }
}
