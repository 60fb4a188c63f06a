// `realm-bench check --continuous`: finds bits that flip after others have verified their block,
// reports nothing of a sound file with a busy writer, and answers what users do wrong.
import Foundation
import Harness
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct ContinuousCheckTests {
  private static let key = (0..<64).map { UInt8($0) }
  private let folder = TemporaryFolder()
  private var path: String { folder.file("scrubbed.realm") }

  // MARK: - Files

  /// A transaction that changes some of 60 leaves.
  private static func commit(_ store: Store, _ random: inout RandomGenerator) throws {
    let transaction = try store.beginWrite()
    let editor = transaction.editor
    var root = transaction.root
    if root.isNone {
      root = editor.allocate(kind: BlockKind(rawValue: 0xa0), count: 60, payloadBytes: 480)
    }
    root = editor.mutable(root)
    for _ in 0..<10 {
      let index = Int.random(in: 0..<60, using: &random)
      editor.free(BlockHeader.reference(editor.pointer(root), index))
      let leaf = editor.allocate(
        kind: BlockKind(rawValue: 0x20), count: 0,
        payloadBytes: .random(in: 8...9000, using: &random))
      BlockHeader.setReference(editor.pointer(root), index, leaf)
    }
    transaction.root = root
    _ = try transaction.commit()
  }

  private func makeFile(key: [UInt8]? = nil, commits: Int = 30) throws {
    var random = RandomGenerator(seed: testSeed())
    let store = try Store.open(StoreOptions(path: path, encryptionKey: key))
    for _ in 0..<commits { try Self.commit(store, &random) }
  }

  private func keyFile(_ bytes: [UInt8]) throws -> String {
    let name = folder.file("key")
    try Data(bytes).write(to: URL(fileURLWithPath: name))
    return name
  }

  // MARK: - Running

  /// Does something once when the output has some words, and ends when it has others.
  private final class Watcher: Interruption {
    private let output: CollectedOutput
    private let words: String
    private let isDone = Monitor(false)
    private let body: @Sendable () throws -> Void
    private let deadline = MonotonicClock().nanoseconds() + waitLimitNanoseconds

    init(
      _ output: CollectedOutput, when words: String, _ body: @escaping @Sendable () throws -> Void
    ) {
      self.output = output
      self.words = words
      self.body = body
    }

    func isRequested() -> Bool {
      let errors = output.errors
      isDone.withLock { isDone in
        guard !isDone, errors.contains(words) else { return }
        isDone = true
        do { try body() } catch { Issue.record(error) }
      }
      return errors.contains("damaged") || errors.contains("Realm file")
        || MonotonicClock().nanoseconds() > deadline
    }
  }

  private func check(
    _ arguments: [String], _ output: CollectedOutput, _ interruption: any Interruption
  ) throws -> ExitCode {
    try CheckVerb.run(
      [path, "--continuous", "--pause", "1ms", "--rate", "1GiB"] + arguments,
      console: output.console(), interruption: { interruption })
  }

  // MARK: - Findings

  /// One bit, through another descriptor, while this process has read all of the file before.
  @Test(arguments: [nil, key]) func aFlipAfterTheFirstRoundIsFound(key: [UInt8]?) throws {
    try makeFile(key: key)
    let reader = try Store.open(StoreOptions(path: path, isReadOnly: true, encryptionKey: key))
    let snapshot = try reader.pinNewest()
    let block = BlockHeader.reference(snapshot.reader.pointer(snapshot.root), 7)
    _ = snapshot.reader.pointer(block)
    let (path, place) = (path, block.offset + 40)
    let output = CollectedOutput()
    let watcher = Watcher(output, when: "round 1") {
      let file = try LinuxFileSystem().open(path, .writable)
      let byte = try file.bytes(at: place, length: 1)
      try file.write(bytes: [byte[0] ^ 4], at: place)
    }
    let keyFlags = try key.map { ["--encryption-key", try keyFile($0)] } ?? []
    #expect(try check(keyFlags, output, watcher) == .failed)
    #expect(output.errors.contains("sound"), "\(output.errors)")
    // Told at once, and again at the end.
    #expect(output.errors.contains("block \(block.offset)"), "\(output.errors)")
    #expect(output.output.contains("block \(block.offset)"), "\(output.output)")
    #expect(output.output.contains(path) && output.output.contains("cannot be read"))
  }

  /// One bit of the space journal, which no version refers to.
  @Test(arguments: [nil, key]) func aFlipInTheSpaceJournalIsFound(key: [UInt8]?) throws {
    try makeFile(key: key, commits: 60)
    let parts = try Store.open(StoreOptions(path: path, encryptionKey: key)).checkInvariants().parts
    let blocks = parts.filter { $0.owner == "space journal" }.map(\.run)
    try #require(!blocks.isEmpty)
    for block in blocks {
      let (path, place) = (path, block.offset + block.length / 2)
      let output = CollectedOutput()
      let watcher = Watcher(output, when: "round 1") {
        let file = try LinuxFileSystem().open(path, .writable)
        let byte = try file.bytes(at: place, length: 1)
        try file.write(bytes: [byte[0] ^ 4], at: place)
      }
      let keyFlags = try key.map { ["--encryption-key", try keyFile($0)] } ?? []
      #expect(try check(keyFlags, output, watcher) == .failed)
      #expect(output.output.contains("block \(block.offset) of version"), "\(output.output)")
      let file = try LinuxFileSystem().open(path, .writable)
      let byte = try file.bytes(at: place, length: 1)
      try file.write(bytes: [byte[0] ^ 4], at: place)
    }
  }

  /// Another file takes its name: what is there now is looked at.
  @Test func aFileThatIsReplacedIsFound() throws {
    try makeFile()
    let path = path
    let output = CollectedOutput()
    let watcher = Watcher(output, when: "round 1") {
      try Data("no database at all, but long enough to be looked at".utf8)
        .write(to: URL(fileURLWithPath: path + ".new"))
      #expect(rename(path + ".new", path) == 0)
    }
    #expect(try check([], output, watcher) == .failed)
  }

  // MARK: - Nothing found

  @Test(arguments: [nil, key]) func aBusyWriterIsNoFinding(key: [UInt8]?) throws {
    try makeFile(key: key)
    // As another process.
    let store = try Store.open(
      StoreOptions(
        path: path, fileSystem: FaultFileSystem(LinuxFileSystem(), process: 7), encryptionKey: key))
    let isEnough = Atomic(false)
    let commits = Atomic(0)
    let writer = Thread.start(name: "writer") {
      var random = RandomGenerator(seed: testSeed(2))
      do {
        while !isEnough.load(ordering: .relaxed) {
          try Self.commit(store, &random)
          commits.add(1, ordering: .relaxed)
        }
      } catch {
        Issue.record(error)
      }
    }
    let output = CollectedOutput()
    let keyFlags = try key.map { ["--encryption-key", try keyFile($0)] } ?? []
    let rounds = amount(100, debug: 20)
    let code = try check(["--rounds", "\(rounds)"] + keyFlags, output, TimedInterruption())
    isEnough.store(true, ordering: .relaxed)
    writer.joinInTime()
    #expect(code == .success, "\(output.errors)")
    #expect(output.output.contains("sound"), "\(output.output)")
    #expect(output.output.contains("\(rounds) rounds"), "\(output.output)")
    #expect(commits.load(ordering: .relaxed) > 0)
    // It keeps nothing.
    #expect(try store.statistics().liveVersions == 1)
    #expect(try store.checkInvariants().findings == [])
  }

  @Test func anInterruptionTellsWhatWasRead() throws {
    try makeFile()
    let output = CollectedOutput()
    #expect(
      try check([], output, TimedInterruption(afterNanoseconds: 0)) == .interrupted,
      "not one round was whole")
    #expect(output.output.contains("the rest was not read"), "\(output.output)")
    let later = CollectedOutput()
    let ending = EndAfter(later, words: "round 1")
    #expect(try check([], later, ending) == .success)
    #expect(later.output.contains("sound") && later.output.contains("1 round"), "\(later.output)")
  }

  private struct EndAfter: Interruption {
    let output: CollectedOutput
    let words: String
    init(_ output: CollectedOutput, words: String) {
      self.output = output
      self.words = words
    }
    func isRequested() -> Bool { output.errors.contains(words) }
  }

  /// A folder that nobody may write to, without a lock file.
  @Test func aReadOnlyFolder() throws {
    try makeFile()
    try LinuxFileSystem().remove(path + ".lock")
    #expect(chmod(path, 0o444) == 0 && chmod(folder.path, 0o555) == 0)
    defer { chmod(folder.path, 0o755) }
    let output = CollectedOutput()
    #expect(try check(["--rounds", "3"], output, TimedInterruption()) == .success)
    // To the administrator every folder is writable.
    #expect(geteuid() == 0 || !LinuxFileSystem().exists(path + ".lock"))
  }

  // MARK: - Misuse

  @Test(arguments: [
    ["--pause", "1s"], ["--rounds", "3"], ["--rate", "1MiB"], ["--continuous", "--rounds", "0"],
    ["--continuous", "--rate", "0B"], ["--continuous", "--rate", "fast"],
    ["--continuous", "--pause", "1"], ["--continuous", "--pause", "-1s"], ["--continuos"],
    ["--encryption-key", "/no/such/key"],
  ])
  func wrongFlags(_ flags: [String]) throws {
    try makeFile(commits: 1)
    let output = CollectedOutput()
    #expect(throws: UsageError.self) {
      _ = try CheckVerb.run(
        [path] + flags, console: output.console(), interruption: { TimedInterruption() })
    }
  }

  @Test func wrongKeys() throws {
    try makeFile(key: Self.key, commits: 0)
    func run(_ key: [UInt8]?, isContinuous: Bool) throws -> (code: ExitCode, text: String) {
      let output = CollectedOutput()
      let flags =
        (isContinuous ? ["--continuous", "--rounds", "1"] : [])
        + (try key.map { ["--encryption-key", try keyFile($0)] } ?? [])
      let code = try CheckVerb.run(
        [path] + flags, console: output.console(), interruption: { TimedInterruption() })
      return (code, output.output)
    }
    for isContinuous in [false, true] {
      #expect(try run(Self.key, isContinuous: isContinuous).code == .success)
      let digits = Self.key.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined() + "\n"
      #expect(try run(Array(digits.utf8), isContinuous: isContinuous).code == .success)
      let wrong = try run(Self.key.reversed(), isContinuous: isContinuous)
      #expect(wrong.code == .failed && wrong.text.contains("another key"), "\(wrong.text)")
      let none = try run(nil, isContinuous: isContinuous)
      #expect(none.code == .failed && none.text.contains("no key was given"), "\(none.text)")
      #expect(throws: UsageError.self) { _ = try run([1, 2, 3], isContinuous: isContinuous) }
    }
  }

  @Test func aFileThatIsNotThere() throws {
    let output = CollectedOutput()
    #expect(try check([], output, TimedInterruption()) == .failed)
    #expect(output.output.contains(path), "\(output.output)")
    #expect(!LinuxFileSystem().exists(path) && !LinuxFileSystem().exists(path + ".lock"))
  }
}
