// Disks that get full while a run goes on: what it has measured is in its files all the same.
import Foundation
import Glibc
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct FullDiskTests {
  private let folder = TemporaryFolder()

  private func shell(
    _ script: String, in nameSpace: Bool = false
  ) throws -> (code: Int32, errors: String) {
    try ToolInShell(folder).run(script, in: nameSpace)
  }

  private static let load =
    "--warmup 0s --durability memory --interval 50ms --invariants none --value-size 2KiB"

  private func rows(_ name: String) -> Int {
    textOfFile(folder.file(name))?.split(separator: "\n").count ?? 0
  }

  /// Results and Realm file on one small disk, which the pins fill.
  @Test(
    .enabled(if: ToolInShell.canMount),
    arguments: [
      "readers-writer --readers 1", "readers-writer --readers 1 --processes 2",
      "readers-writer --readers 1 --history",
    ])
  func resultsFindRoomOnAFullDisk(_ words: String) throws {
    let pins = "--objects 500 --pins 1000000 --pin-every 1"
    let result = try shell(
      """
      mkdir disk kept && mount -t tmpfs -o size=16m none disk || exit 99
      $tool run \(words) \(Self.load) \(pins) --batch 20 --duration 1h --output disk/out
      code=$?
      cp -r disk/out/*.csv disk/out/run.json disk/out/histograms kept/
      ls disk/out > kept/names
      exit $code
      """, in: true)
    #expect(result.code == ExitCode.failed.rawValue, "\(result.errors)")
    #expect(result.errors.contains("No space left on device"), "\(result.errors)")
    let document = try RunDocument(path: folder.file("kept/run.json"))
    #expect(document.status == "failed" && document.failure?.contains("No space left") == true)
    #expect(rows("kept/summary.csv") > 2, "\(result.errors)")
    #expect(rows("kept/histograms/write.hgrm") > 5)
    #expect(textOfFile(folder.file("kept/names"))?.contains("reserve") == false)
  }

  /// A limit of the shell on the length of files.
  @Test func aFileThatMayGetNoLongerFailsTheRunAndKeepsItsFigures() throws {
    let result = try shell(
      "ulimit -f 32768; exec $tool run readers-writer --readers 1 \(Self.load) --objects 500 "
        + "--pins 1000000 --pin-every 1 --batch 20 --duration 1h --output kept")
    #expect(result.code == ExitCode.failed.rawValue, "\(result.errors)")
    let document = try RunDocument(path: folder.file("kept/run.json"))
    #expect(document.status == "failed" && document.failure?.contains("File too large") == true)
    #expect(rows("kept/summary.csv") > 2)
  }

  @Test(.enabled(if: ToolInShell.canMount))
  func aDiskThatIsFullFromTheBeginningIsTold() throws {
    let result = try shell(
      """
      mkdir disk && mount -t tmpfs -o size=512k none disk || exit 99
      $tool run readers-writer \(Self.load) --duration 1s --output disk/out
      """, in: true)
    #expect(result.code == ExitCode.failed.rawValue, "\(result.errors)")
    #expect(result.errors.contains("cannot write to 'disk/out': No space left"), "\(result.errors)")
  }
}
