// A process that the system gives no threads says so, and neither waits without end nor ends by a
// signal in a library.
import Foundation
import Glibc
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct FewThreadTests {
  private let folder = TemporaryFolder()

  /// As a user who has no other process: the limit does not hold for the superuser.
  ///
  /// The tool is there under another name: nobody else may enter the folder of the build, perhaps.
  private static func limited(
    _ user: Int, to threads: Int, _ program: String = "./tool"
  ) -> String {
    "setpriv --reuid \(user) --clear-groups prlimit --nproc=\(threads):\(threads) \(program)"
  }

  private static let makesTool = "{ [ -e tool ] || ln $tool tool 2>/dev/null || cp $tool tool; }"

  /// Whether this process may become another user, who may run the tool and write where tests do.
  private static let canLimit: Bool = {
    let folder = TemporaryFolder()
    guard geteuid() == 0, chmod(folder.path, 0o777) == 0 else { return false }
    let (tool, touch) = (limited(425_100, to: 8), limited(425_100, to: 8, "touch"))
    let script = "\(makesTool) && \(tool) version && \(touch) $PWD/new"
    return (try? ToolInShell(folder).run(script))?.code == 0
  }()

  /// From none but the first to hardly enough.
  @Test(
    .enabled(if: FewThreadTests.canLimit),
    arguments: [
      "run readers-writer --readers 1 --objects 50 --warmup 0s --ops 200",
      "run readers-writer --readers 1 --objects 50 --warmup 0s --ops 200 --processes 2",
      "run readers-writer --readers 1 --objects 50 --warmup 0s --ops 200 --replicas 2",
      "hunt --scenario lost-update --duration 100ms",
      "hunt --scenario lost-update --duration 100ms --processes 2", "doctor --duration 50ms",
    ]) func noLimitEndsTheProcess(words: String) throws
  {
    #expect(chmod(folder.path, 0o777) == 0)
    for threads in 1...4 {
      let output = words.hasPrefix("doctor") ? "" : " --output out-\(threads)"
      // A user of its own each: one that has just ended may still be counted.
      let result = try ToolInShell(folder).run(
        "\(Self.makesTool); exec \(Self.limited(425_100 + threads, to: threads)) \(words)\(output)")
      #expect(
        ExitCode(rawValue: result.code) != nil, "\(threads): \(result.code) \(result.errors)")
      if result.code == ExitCode.failed.rawValue {
        // A process counts as a thread.
        let words = [
          "no more threads", "no more processes", "Resource temporarily unavailable",
        ]
        #expect(words.contains(where: result.errors.contains), "\(threads): \(result.errors)")
      }
    }
  }

  /// It has a thread only to give way to all others.
  @Test(.enabled(if: FewThreadTests.canLimit)) func aContinuousCheckDoesWithout() throws {
    #expect(chmod(folder.path, 0o777) == 0)
    let result = try ToolInShell(folder).run(
      """
      \(Self.makesTool)
      ./tool run readers-writer --readers 1 --objects 50 --warmup 0s --ops 50 --keep-file \
        --output kept && chmod -R a+rwX kept || exit 99
      exec \(Self.limited(425_110, to: 1)) check --continuous kept --rounds 1 --pause 0s
      """)
    #expect(result.code == ExitCode.success.rawValue, "\(result)")
  }
}
