// A process whose stack may not be large enough says so, and does not end by a signal.
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct StackLimitTests {
  private let folder = TemporaryFolder()

  @Test(arguments: [64, 100, 255]) func aSmallStackIsTold(kibibytes: Int) throws {
    let line = "run readers-writer --readers 1 --objects 50 --warmup 0s --ops 200 --output out"
    let result = try ToolInShell(folder).run("ulimit -s \(kibibytes); exec \"$tool\" \(line)")
    #expect(result.code == ExitCode.failed.rawValue, "\(result)")
    #expect(result.errors.contains("the stack may have \(kibibytes) KiB"), "\(result.errors)")
    #expect(result.errors.contains("ulimit -s 8192"), "\(result.errors)")
  }

  /// From the smallest that is not refused.
  @Test(arguments: [
    "run readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200",
    "hunt --scenario lost-update --duration 100ms",
  ]) func theSmallestStackIsEnough(words: String) throws {
    let result = try ToolInShell(folder).run(
      "ulimit -s 256; exec \"$tool\" \(words) --output out")
    #expect(ExitCode(rawValue: result.code) != nil, "\(result)")
    #expect(!result.errors.contains("the stack may have"), "\(result.errors)")
  }
}
