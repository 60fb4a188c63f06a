// A process that may open few files says so, and does not end by a signal in a library.
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct FewDescriptorTests {
  private let folder = TemporaryFolder()

  /// Files of this process that are open above the limit would be in the way of Foundation.
  private static let closing =
    "for file in /proc/self/fd/*; do [ ${file##*/} -gt 2 ] && eval \"exec ${file##*/}>&-\"; done"

  /// From hardly more than the standard streams to enough for everything.
  @Test(arguments: [
    "run readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200",
    "run readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200 --processes 2",
    "run readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200 --replicas 2",
    "hunt --scenario lost-update --duration 100ms --processes 2",
    "plan --budget 1s --ask \"read rate at readers=1\"",
    "doctor",
  ]) func noLimitEndsTheProcess(words: String) throws {
    for limit in [5, 9, 14, 20, 28, 40] {
      let output = words == "doctor" ? "" : " --output out-\(limit)"
      let script = "\(Self.closing); ulimit -n \(limit); exec \"$0\" \(words)\(output)"
      let result = try ToolInShell(folder).run("exec bash -c '\(script)' \"$tool\"")
      #expect(ExitCode(rawValue: result.code) != nil, "\(limit): \(result.code) \(result.errors)")
      if result.code == ExitCode.failed.rawValue {
        #expect(result.errors.contains("Too many open files"), "\(limit): \(result.errors)")
      }
    }
  }
}
