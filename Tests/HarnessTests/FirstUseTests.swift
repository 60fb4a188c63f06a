// What somebody tries who has used other tools and has read nothing: it works, or the answer says
// how it is done here.
import Foundation
import Glibc
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct FirstUseTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  /// Runs the tool in a folder of its own until it ends.
  private func tool(
    _ words: [String], environment: [String: String] = [:], errors: FileHandle? = nil
  ) throws -> (code: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("realm-bench")
    process.arguments = words
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    // Files: a pipe could be held open by the child of another test.
    let files = ["output", "errors"].map { folder.path + "/\($0)-\(UUID().uuidString)" }
    for file in files { try "".write(toFile: file, atomically: false, encoding: .utf8) }
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files[0]))
    process.standardError = try errors ?? FileHandle(forWritingTo: URL(fileURLWithPath: files[1]))
    try process.start()
    process.waitUntilExit()
    let texts = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
    return (process.terminationStatus, texts[0], texts[1])
  }

  private func dispatch(_ line: String) throws -> (code: ExitCode, output: String) {
    let output = CollectedOutput()
    let words = line.split(separator: " ").map(String.init)
    return (try RealmBench.dispatch(words, console: output.console()), output.output)
  }

  private func refusal(_ line: String) -> String {
    do {
      _ = try dispatch(line)
      return "accepted"
    } catch {
      return (error as? UsageError)?.message ?? "\(error)"
    }
  }

  // MARK: - Help and version

  @Test(arguments: ["", "help", "--help", "-h", "-?", "help help", "help version"])
  func overviews(_ line: String) throws {
    let (code, text) = try dispatch(line)
    #expect(code == .success && text.hasPrefix("realm-bench - measure"))
  }

  @Test(arguments: ["version", "--version", "-V", "-v"])
  func versions(_ line: String) throws {
    #expect(try dispatch(line).output.hasPrefix("realm-bench 0."))
    let words = "\(line) takes nothing behind it, but got '--format'"
    #expect(refusal("\(line) --format json") == words)
    #expect(refusal("\(line) x").contains("but got 'x'"))
    #expect(try dispatch("\(line) --help").output.hasPrefix("realm-bench - measure"))
  }

  @Test(arguments: ["run -h", "run --help", "help run", "run help", "--help run", "-h run"])
  func helpOfRun(_ line: String) throws {
    let (code, text) = try dispatch(line)
    #expect(code == .success && text.hasPrefix("realm-bench run readers-writer [flags]"))
  }

  @Test func everyVerbHasEveryFormOfHelp() throws {
    for verb in Help.verbs {
      let text = try dispatch("help \(verb)").output
      #expect(text.contains("realm-bench \(verb)"))
      for line in ["\(verb) -h", "\(verb) --help", "--help \(verb)"] {
        #expect(try dispatch(line).output == text, "\(line)")
      }
    }
    #expect(try dispatch("run mixed -h").output.hasPrefix("realm-bench run mixed [flags]"))
    #expect(try dispatch("help run mixed").output.hasPrefix("realm-bench run mixed [flags]"))
    #expect(refusal("help rum").contains("did you mean 'run'?"))
    #expect(refusal("mixed --threads 2").contains("realm-bench run mixed"))
  }

  // MARK: - Numbers

  @Test(arguments: [
    ("1m30s", 90_000_000_000), ("1.5s", 1_500_000_000), ("1h", 3_600_000_000_000),
    ("500us", 500_000), ("2d", 172_800_000_000_000), ("1h2m3s4ms", 3_723_004_000_000),
    ("90sec", 90_000_000_000), ("2min", 120_000_000_000), ("1e3s", 1_000_000_000_000),
    ("1_000ms", 1_000_000_000), ("1m 30s", 90_000_000_000), ("5\u{b5}s", 5_000),
    ("1hour30minutes", 5_400_000_000_000), ("0.5h", 1_800_000_000_000), ("100ns", 100),
    ("1d12h", 129_600_000_000_000), ("0s", 0),
  ])
  func durations(_ text: String, _ nanoseconds: UInt64) throws {
    #expect(try Units.nanoseconds(text, flag: "--duration") == nanoseconds)
  }

  @Test(arguments: [
    ("90", "has no unit; write a duration such as 30s or 500ms"), ("1m30", "'30' at the end"),
    ("30s1m", "from larger to smaller"), ("1s1s", "from larger to smaller"),
    ("1:30", "is not a unit of a duration"), ("1,5s", "is not a unit of a duration"),
    ("", "needs a duration"), ("-1s", "needs a duration"), ("s", "needs a duration"),
    ("1..5s", "needs a duration"), ("1e99s", "is too long"), ("1M", "did you mean 1m?"),
    ("30S", "did you mean 30s?"), ("1w", "is not a unit"), ("1__0s", "needs a duration"),
  ])
  func doubtfulDurations(_ text: String, _ answer: String) {
    let error = #expect(throws: UsageError.self) {
      try Units.nanoseconds(text, flag: "--duration")
    }
    #expect(error?.message.contains(answer) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    ("1k/s", 1_000.0), ("1.5k/s", 1_500), ("60/m", 1), ("60/min", 1), ("3600/h", 1),
    ("2000/sec", 2_000), ("1e4/s", 10_000), ("1_000/s", 1_000), ("0.5/s", 0.5), ("2M/s", 2e6),
    ("1/ms", 1_000),
  ])
  func rates(_ text: String, _ perSecond: Double) throws {
    #expect(abs(try Units.ratePerSecond(text, flag: "--rate") - perSecond) < 1e-9)
    let written = Units.text(ratePerSecond: perSecond)
    #expect(try Units.ratePerSecond(written, flag: "--rate") == perSecond)
  }

  @Test(arguments: [
    ("1000", "did you mean 1000/s?"), ("1k", "did you mean 1k/s?"), ("1000/x", "no unit of time"),
    ("10,000/s", "not a rate above 0"), ("-5/s", "not a rate above 0"), ("5/s/s", "such as 2000/s"),
    ("1000rps", "such as 2000/s"), ("/s", "not a rate above 0"), ("1e10/s", "too high"),
  ])
  func doubtfulRates(_ text: String, _ answer: String) {
    let error = #expect(throws: UsageError.self) { try Units.ratePerSecond(text, flag: "--rate") }
    #expect(error?.message.contains(answer) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    ("10k", 10_000), ("10K", 10_000), ("1e6", 1_000_000), ("1_000_000", 1_000_000),
    ("10,000", 10_000), ("1,234,567", 1_234_567), ("2M", 2_000_000), ("1.5k", 1_500),
    ("1.5e3", 1_500), ("1G", 1_000_000_000), ("7", 7), ("0", 0), ("1E3", 1_000), ("1e+3", 1_000),
  ])
  func counts(_ text: String, _ number: Int) throws {
    #expect(try Units.count(text, flag: "--objects", minimum: 0) == number)
  }

  @Test(arguments: [
    ("10m", "did you mean 10M?"), ("1.0", "without a point"), ("10.000", "without a point"),
    ("1,00", "10000, 10k"), ("1,0000", "10000, 10k"), ("10kk", "not a"), ("1.5", "not '1.5'"),
    ("1e-3", "not '1e-3'"), ("10x", "10000, 10k, 2M or 1e6"), ("k", "whole number"),
    ("_1", "whole number"), ("1_", "whole number"), ("0x10", "whole number"),
    ("1e30", "is not between"), ("nan", "whole number"), ("inf", "whole number"), ("", "whole"),
  ])
  func doubtfulCounts(_ text: String, _ answer: String) {
    let error = #expect(throws: UsageError.self) {
      try Units.count(text, flag: "--objects", minimum: 0)
    }
    #expect(
      error?.message.contains(answer) == true || answer == "not a" && error != nil,
      "\(error?.message ?? "")")
  }

  @Test(arguments: [
    ("64KiB", 65_536), ("64kib", 65_536), ("1.5KiB", 1_536), ("100B", 100), ("100 bytes", 100),
    ("1_000B", 1_000), ("1MiB", 1_048_576), ("1e3B", 1_000), ("1TiB", 1 << 40),
  ])
  func sizes(_ text: String, _ bytes: Int) throws {
    #expect(try Units.bytes(text, flag: "--value-size") == bytes)
  }

  @Test(arguments: [
    ("1MB", "write 1MiB, or 1000000B"), ("64K", "write 64KiB, or 64000B"),
    ("64kB", "write 64KiB, or 64000B"), ("1g", "write 1GiB, or 1000000000B"),
    ("100", "write a size such as 100B"), ("0.3B", "whole number of bytes"), ("1KiB5B", "needs a"),
  ])
  func doubtfulSizes(_ text: String, _ answer: String) {
    let error = #expect(throws: UsageError.self) { try Units.bytes(text, flag: "--value-size") }
    #expect(error?.message.contains(answer) == true, "\(error?.message ?? "")")
  }

  @Test func numbersCountInEveryFlag() throws {
    let line = "run readers-writer --objects 1_000 --ops 1k --rate 60/m --pins 1e1 --dry-run"
    let output = try dispatch(line).output
    #expect(output.contains("\"objects\" : 1000") && output.contains("\"operations\" : 1000"))
    #expect(output.contains("\"rate_per_s\" : 1,") && output.contains("\"pins\" : 10"))
  }

  // MARK: - Flags of other tools

  @Test(arguments: [
    ("readers-writer --clients 8", "unknown flag '--clients'; here it is --readers and --writers"),
    ("mixed --clients 8", "unknown flag '--clients'; here it is --threads"),
    ("readers-writer -c 8", "unknown flag '-c'; here it is --readers and --writers"),
    ("mixed -t 8", "threads are --threads"), ("mixed -n 1000", "here it is --ops"),
    ("bulk-load -n 1000", "here it is --objects"), ("mixed --iterations 5", "here it is --ops"),
    ("mixed --time 10", "here it is --duration"), ("mixed --runtime=10", "here it is --duration"),
    ("mixed --runs 5", "here it is --replicas"), ("mixed --csv", "CSV files"),
    ("mixed --csv=x.csv", "CSV files"), ("mixed -v", "there is no more to say"),
    ("mixed --verbose", "there is no more to say"), ("mixed --target 5", "here it is --rate"),
    ("mixed --recordcount 5", "here it is --objects"), ("mixed -V", "realm-bench --version"),
    ("mixed --numjobs 5", "here it is --threads"), ("mixed -T 60", "here it is --threads"),
    ("mixed --bs 4k", "here it is --value-size"), ("mixed --filename x", "here it is --path"),
    ("mixed --json=x.json", "here it is --format"), ("mixed -j 4", "here it is --threads"),
    ("mixed --operationcount 4", "here it is --ops"),
    ("mixed --fsync 1", "here it is --durability"),
  ])
  func flagsOfOthersAreAnswered(_ line: String, _ answer: String) {
    #expect(refusal("run \(line) --dry-run").contains(answer), "\(refusal("run \(line)"))")
  }

  @Test(arguments: [
    "--quiet", "-q", "--json", "--no-color", "--no-colour", "-o somewhere", "--markdown",
  ])
  func flagsOfOthersAreTaken(_ flag: String) throws {
    #expect(try dispatch("run mixed --dry-run \(flag)").code == .success)
  }

  @Test func shortFlagsAreTheLongOnes() throws {
    #expect(try dispatch("run mixed --dry-run -o here").output.contains("\"output\" : \"here\""))
    #expect(try dispatch("run mixed --dry-run --json").output.contains("\"format\" : \"json\""))
    #expect(try dispatch("list engines --json").output.hasPrefix("{"))
    #expect(refusal("run mixed --format text --json") == "--format is given twice")
    // What follows -- is nobody's flag.
    #expect(refusal("check -- -h").contains("-h") || refusal("check -- -h") == "accepted")
  }

  @Test(arguments: [
    ("readers-writer --threads 4", "it has --readers and --writers"),
    ("transfer --threads 4", "it has --readers and --writers"),
    ("mixed --writers 4", "it has --threads"),
    ("grouped-commit --threads 4", "it has --readers, --writers and --queues"),
    ("notify-storm --threads 4", "it has --writers and --observers"),
    ("bulk-load --duration 5s", "it has --objects"),
  ])
  func aFlagOfAnotherWorkloadNamesThoseThatThereAre(_ line: String, _ answer: String) {
    #expect(refusal("run \(line)").hasSuffix(answer), "\(refusal("run \(line)"))")
  }

  // MARK: - Paths

  @Test func aResultsFolderLeadsToItsFile() throws {
    let run = ["run", "readers-writer", "--ops", "50", "--warmup", "0s", "--objects", "50", "-q"]
    #expect(try tool(run + ["-o", "kept", "--keep-file"]).code == 0)
    #expect(try tool(run + ["-o", "plain"]).code == 0)
    for words in [["check", "kept"], ["check", "kept/data.realm"]] {
      let result = try tool(words)
      #expect(result.code == 0 && result.output.hasPrefix("kept/data.realm: sound"), "\(result)")
    }
    #expect(try tool(["inspect", "kept"]).output.hasPrefix("kept/data.realm\n"))
    for verb in ["check", "inspect"] {
      let result = try tool([verb, "plain"])
      #expect(result.code == 64 && result.errors.contains("--keep-file"), "\(result)")
      let other = try tool([verb, "."])
      #expect(other.code == 64 && other.errors.contains("is a folder"), "\(other)")
      for beside in ["lock", "log", "management"] {
        let path = "kept/data.realm.\(beside)"
        if beside == "management" {
          try FileManager.default.createDirectory(
            atPath: folder.path + "/" + path, withIntermediateDirectories: true)
        } else {
          try "".write(toFile: folder.path + "/" + path, atomically: false, encoding: .utf8)
        }
        let result = try tool([verb, path])
        #expect(result.code == 64)
        #expect(result.errors.contains("realm-bench \(verb) kept/data.realm\n"), "\(result)")
        try FileManager.default.removeItem(atPath: folder.path + "/" + path)
      }
    }
    try FileManager.default.createDirectory(
      atPath: folder.path + "/files", withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: folder.path + "/kept/data.realm", toPath: folder.path + "/files/app.realm")
    let led = try tool(["inspect", "files"])
    #expect(led.code == 64)
    #expect(led.errors.contains("realm-bench inspect files/app.realm\n"), "\(led)")
  }

  @Test func verbsWithoutTheirFoldersNameTheNewest() throws {
    let none = try tool(["report"]).errors
    #expect(none.contains("make one first: ") && none.contains("realm-bench run readers-writer "))
    #expect(try tool(["compare"]).errors.contains("make two first"))
    let run = ["run", "readers-writer", "--ops", "50", "--warmup", "0s", "--objects", "50", "-q"]
    #expect(try tool(run).code == 0)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.path + "/realm-bench-results")
    let path = "realm-bench-results/" + (try #require(names.first))
    #expect(try tool(["report"]).errors.contains("realm-bench report \(path)\n"))
    #expect(try tool(["compare", path]).errors.contains("--output B with the same flags"))
    #expect(try tool(["compare", "other"]).errors.contains("realm-bench compare other \(path)\n"))
    #expect(try tool(["compare", "a", "b", "c"]).errors.contains("--baseline and --candidate"))
  }

  // MARK: - Terminal

  @Test func theBarFitsIntoEveryWidth() {
    let text = "1,821,662 reads/s p99 962 ns, 4,423 writes/s p99 4.28 ms, file 17.1 MiB, 3 s left"
    for columns in 0...200 {
      for fraction in [-1, 0, 0.5, 1, 2, .infinity] {
        for words in ["", "load", text] {
          let line = ProgressLine.line("measure", fraction: fraction, words, columns: columns)
          #expect((line.name + line.rest).count <= max(1, columns - 1))
        }
      }
    }
    let narrow = ProgressLine.line("measure", fraction: 0.45, text, columns: 20)
    #expect(narrow.name + narrow.rest == "measure 45% 1,821,6")
    let usual = ProgressLine.line("measure", fraction: 0.5, "7 writes/s", columns: 80)
    #expect(usual.rest == "[############............] 7 writes/s")
  }

  @Test(arguments: [nil, "", "dumb", "unknown"])
  func terminalsThatCannotDraw(_ term: String?) { #expect(!Console.canDraw(term)) }

  @Test(arguments: ["xterm-256color", "linux", "vt100", "screen"])
  func terminalsThatCan(_ term: String) { #expect(Console.canDraw(term)) }

  /// What the tool draws on a terminal of that many columns.
  private func drawn(
    columns: UInt16, environment: [String: String]
  ) throws -> (drawn: String, code: Int32) {
    // As posix_openpt, unlockpt and ptsname do, which Swift does not see.
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (unlocked, number): (Int32, Int32) = (0, 0)
    #expect(master >= 0 && ioctl(master, 0x4004_5431, &unlocked) == 0)
    #expect(ioctl(master, 0x8004_5430, &number) == 0)
    let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    #expect(slave >= 0)
    defer { close(master) }
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    #expect(ioctl(master, UInt(TIOCSWINSZ), &size) == 0)
    let text = Monitor<String?>(nil)
    let reading = Thread.start(name: "terminal") {
      var bytes: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 4_096)
      // The last user of the other side ends it.
      while case let count = read(master, &part, part.count), count > 0 {
        bytes += part[..<count]
      }
      text.withLock { [bytes] in $0 = String(decoding: bytes, as: UTF8.self) }
    }
    let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
    let words = [
      "run", "readers-writer", "--duration", "1500ms", "--warmup", "0s", "--objects", "100",
      "--interval", "200ms", "--durability", "memory", "-o", "out-\(UUID().uuidString)",
    ]
    let code = try tool(words, environment: environment, errors: handle).code
    close(slave)
    reading.join()
    return (text.withLock { $0 } ?? "", code)
  }

  @Test func theBarFollowsTheTerminal() throws {
    let (text, code) = try drawn(columns: 20, environment: ["TERM": "xterm", "NO_COLOR": "1"])
    #expect(code == 0)
    let bars = text.split(separator: "\r").filter { $0.hasPrefix("\u{1B}[Kmeasure") }
    #expect(!bars.isEmpty, "\(text)")
    for bar in bars { #expect(bar.dropFirst(3).split(separator: "\n")[0].count <= 19, "\(bar)") }
    #expect(!text.contains("\u{1B}[36m") && !text.contains("\u{1B}[33m"))
    let colored = try drawn(columns: 80, environment: ["TERM": "xterm", "NO_COLOR": ""]).drawn
    #expect(colored.contains("\u{1B}[36m"))
    let dumb = try drawn(columns: 80, environment: ["TERM": "dumb"]).drawn
    #expect(!dumb.contains("\u{1B}") && dumb.contains("results go to"))
  }

  // MARK: - Words of the system

  @Test func errorsOfFoundationAreInTheSystemsWords() throws {
    let missing = #expect(throws: (any Error).self) {
      _ = try FileManager.default.contentsOfDirectory(atPath: "/no/such/folder")
    }
    let text = explained(try #require(missing))
    #expect(text == "No such file or directory ('/no/such/folder')")
    let codes = [4...4, 255...263, 512...518, 640...642, 3840...3851].flatMap { Array($0) }
    for code in codes {
      for info in [[:], [NSFilePathErrorKey: "/a/b"]] {
        let error = NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
        let words = explained(error)
        #expect(!words.contains("NSCocoaErrorDomain") && !words.contains("\(code)"), "\(words)")
        #expect(info.isEmpty || words.contains("/a/b"), "\(words)")
      }
    }
    let full = NSError(
      domain: NSCocoaErrorDomain, code: 512,
      userInfo: [
        NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC)),
        NSFilePathErrorKey: "/a/b",
      ]
    )
    #expect(explained(full) == "No space left on device ('/a/b')")
    #expect(explained(CocoaError(.fileReadNoPermission)) == "Permission denied")
    #expect(explained(POSIXError(.EMFILE)).contains("Too many open files"))
  }
}
