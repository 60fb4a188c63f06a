// The processors that a run uses, by --processors.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ProcessorsTests {
  private let folder = TemporaryFolder()

  @Test func listsAreWrittenShort() {
    #expect(Processors.text([0, 1, 2, 3, 6, 8, 9]) == "0-3,6,8-9")
    #expect(Processors.text([4]) == "4")
    #expect(!Processors.allowed.isEmpty)
  }

  @Test(arguments: [
    ("x", "'x' is no list of processors such as 0-3,6"), ("3-1", "no list"), ("1,,2", "no list"),
    ("-1", "no list"), ("0-99999", "is none of the processors that this process may use ("),
  ])
  func badListsAreRefused(_ text: String, _ words: String) throws {
    let flags = try FlagValues(["--processors", text], known: RunFlags.known)
    let error = #expect(throws: UsageError.self) { try RunFlags.settings(flags) }
    #expect(error?.message.hasPrefix("--processors: ") == true)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  /// All of its threads, and those of the processes that it starts.
  @Test(arguments: ["", "--processes 2"])
  func aRunUsesTheseAlone(_ more: String) throws {
    let number = try #require(Processors.allowed.last)
    let process = Process()
    process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("realm-bench")
    let out = folder.file("out")
    let line =
      "run readers-writer --readers 1 --objects 100 --durability memory --warmup 0s --duration 1h "
      + "--interval 50ms --processors \(number) \(more) --output \(out)"
    process.arguments = line.split(separator: " ").map(String.init)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    let rows = more.isEmpty ? out + "/growth.csv" : out + "/process-002/growth.csv"
    #expect(eventually { (textOfFile(rows)?.split(separator: "\n").count ?? 0) > 2 })
    for thread in try threads(of: process.processIdentifier, children: out) {
      let status = textOfFile(thread + "/status") ?? ""
      // The thread that takes the signals is there before, and does nothing else.
      guard !status.isEmpty, !status.hasPrefix("Name:\tsignals\n") else { continue }
      #expect(status.contains("Cpus_allowed_list:\t\(number)\n"), "\(status)")
    }
    process.interrupt()
    let hasEnded = eventually { !process.isRunning }
    if !hasEnded { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    #expect(hasEnded && process.terminationStatus == ExitCode.interrupted.rawValue)
    let document = try RunDocument(path: out + "/run.json")
    #expect(document.settings.processors == "\(number)")
    #expect(document.command.contains("--processors \(number)"))
  }

  /// Folders of all threads of the run, and of processes that write into its folder.
  private func threads(of process: pid_t, children out: String) throws -> [String] {
    let all = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
    let own = all.filter { other in
      let words = FileManager.default.contents(atPath: "/proc/\(other)/cmdline") ?? Data()
      return other == process || String(decoding: words, as: UTF8.self).contains(out + "/process-")
    }
    return own.flatMap { own in
      ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(own)/task")) ?? [])
        .map { "/proc/\(own)/task/\($0)" }
    }
  }
}
