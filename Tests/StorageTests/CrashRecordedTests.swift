// Power cuts in the history of real processes: their system calls on real files are recorded, and
// the disks that a power cut may leave at each point of the recording are judged by what the
// processes have noted in it. In some histories one process is killed behind any of its calls, and
// the others go on.
import Foundation
import Platform
import Simulation
import Storage
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct CrashRecordedTests {
  /// Commits of all processes, each of which has two threads.
  private static let commits = 32

  @Test(arguments: CrashPoints.rounds) func twoProcesses(round: Int) async {
    await run(2, round: round, test: 91)
  }

  @Test(arguments: CrashPoints.rounds) func twoProcessesAndAnEncryptedFile(round: Int) async {
    await run(2, round: round, test: 94, key: EncryptionTests.key)
  }

  /// One of two processes is killed behind any of its calls; the other one goes on.
  @Test(arguments: CrashPoints.rounds) func aKillAmongTwoProcesses(round: Int) async {
    await runKills(2, round: round, test: 95)
  }

  @Test(arguments: CrashPoints.rounds) func aKillAmongThreeAndAnEncryptedFile(round: Int) async {
    await runKills(3, round: round, test: 96, key: EncryptionTests.key)
  }

  @Test(arguments: CrashPoints.rounds) func fourProcesses(round: Int) async {
    await run(4, round: round, test: 92)
  }

  /// What the judge is worth: a history whose syncs were left out loses what was acknowledged.
  @Test func aHistoryWithoutSyncsIsFound() async {
    await withSeeds(first: 93) { random in
      let folder = TemporaryFolder()
      let path = folder.file("recorded.realm")
      let recording = folder.file("recording")
      try Self.record(path, recording, processes: 2, "never", nil)
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: recording)))
      var kept: [UInt8] = []
      var position = 0
      while position < bytes.count {
        let length = bytes[position..<position + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
        let end = position + 4 + length
        // See RecordedCall.
        let isSync = bytes[position + 4] == 6
        if !isSync { kept += bytes[position..<end] }
        position = end
      }
      let wrong = try Self.judge(RecordedHistory(kept), path, "never", nil, &random)
      #expect(!wrong.isEmpty)
    }
  }

  private func run(_ processes: Int, round: Int, test: UInt64, key: [UInt8]? = nil) async {
    await CrashPoints.run(test, round: round) { random in
      for use in ["never", "always"] {
        let folder = TemporaryFolder()
        let path = folder.file("recorded.realm")
        let recording = folder.file("recording")
        _ = try Self.record(path, recording, processes: processes, use, key)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: recording)))
        let history = RecordedHistory(bytes)
        #expect(history.processes.count == processes + 1)
        let wrong = try Self.judge(history, path, use, key, &random)
        try keep(bytes, wrong, "\(test)-\(round)-\(use)")
      }
    }
  }

  /// A process adds about so many entries to a recording.
  private static let entries = 200

  private func runKills(
    _ processes: Int, round: Int, test: UInt64, key: [UInt8]? = nil
  ) async {
    await CrashPoints.run(test, round: round) { random in
      for use in ["never", "always"] {
        for turn in 0..<CrashPoints.share(3) {
          let folder = TemporaryFolder()
          let path = folder.file("recorded.realm")
          let recording = folder.file("recording")
          // Mostly while it commits, and now and then while it opens the file.
          let limit = random.oneIn(4) ? 12 : Self.entries
          let entry = Int.random(in: 1...limit, using: &random)
          let killed = try Self.record(
            path, recording, processes: processes, use, key, killedAfter: entry)
          let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: recording)))
          let history = RecordedHistory(bytes)
          // Before the kill it is a history as any other.
          let first = history.lastPosition(of: UInt32(killed)) ?? 0
          let wrong = try Self.judge(
            history, path, use, key, &random, from: first, share: CrashPoints.share(30))
          try keep(bytes, wrong, "\(test)-\(round)-\(use)-\(turn), killed after \(entry)")
        }
      }
    }
  }

  private func keep(_ recording: [UInt8], _ wrong: [String], _ name: String) throws {
    if wrong.isEmpty { return }
    // Another run has another history: this one is kept to be looked at.
    let kept = FileManager.default.temporaryDirectory.path + "/realm-recording-\(name)"
    try Data(recording).write(to: URL(fileURLWithPath: kept))
    Issue.record("\(wrong.joined(separator: "\n"))\nthe recording is in \(kept)")
  }

  /// Some processes commit at the same time to a file that this one has made and reads.
  ///
  /// - Parameter entries: kills the first one when it has added so many to the recording.
  /// - Returns: the number of the first one.
  @discardableResult
  private static func record(
    _ path: String, _ recording: String, processes: Int, _ use: String, _ key: [UInt8]?,
    killedAfter entries: Int = 0
  ) throws -> Int32 {
    let store = try Store.open(
      StoreOptions(
        path: path, fileSystem: RecordingFileSystem(try Recording(recording)), encryptionKey: key))
    let children = try (0..<processes).map { index in
      try ProcessDeathTests.Child(
        path, "record", recording, "\(commits / processes / 2)", use,
        key == nil ? "plain" : "encrypted", "\(index == 0 ? entries : 0)")
    }
    for (index, child) in children.enumerated() {
      child.process.waitUntilExit()
      let isKilled = index == 0 && child.process.terminationReason == .uncaughtSignal
      #expect(
        isKilled
          ? child.process.terminationStatus == SIGKILL && entries > 0
          : child.process.terminationStatus == 0)
    }
    let snapshot = try store.pinNewest()
    let perProcess = UInt64(commits / processes / 2 * 2)
    let most = perProcess * UInt64(processes)
    let least = entries == 0 ? most : most - perProcess
    #expect(least...most ~= number(snapshot), "a commit is lost without a cut")
    return children[0].process.processIdentifier
  }

  /// A power cut at each point of a history, or at some.
  ///
  /// - Parameters:
  ///   - start: no cuts before it.
  ///   - share: so many cuts; nil for all.
  /// - Returns: what is wrong with what is left.
  private static func judge(
    _ history: RecordedHistory, _ path: String, _ use: String, _ key: [UInt8]?,
    _ random: inout RandomGenerator, from start: Int = 0, share: Int? = nil
  ) throws -> [String] {
    let disk = SimulatedDisk(history)
    // What a killed process has begun is begun again by another one, with the same content.
    let hashes = Dictionary(
      history.marks.filter { $0.name == "begun" }.map { ($0.number, $0.value) },
      uniquingKeysWith: { first, _ in first })
    let first = max(start, try #require(history.marks.first).position)
    var cuts = Array(first...history.operations.count)
    if let share { cuts = cuts.shuffled(using: &random).prefix(share).sorted() }
    var wrong: [String] = []
    for cut in cuts {
      let before = history.marks.prefix { $0.position <= cut }
      func newest(_ name: String) -> UInt64 {
        before.filter { $0.name == name }.map(\.number).max() ?? 0
      }
      let (acknowledged, begun) = (newest("acknowledged"), newest("begun"))
      let kind = PowerCut.allCases[cut % PowerCut.allCases.count]
      let image = disk.crashImage(cutAfterOperation: cut, kind, random: &random)
      CrashPoints.note()
      let note = "\(use), cut after \(cut) of \(history.operations.count), \(kind)"
      let recovered = try look(
        image, path, key, acknowledged...max(acknowledged, begun), hashes, note, &wrong)
      // Once more, while it recovers or after that.
      guard let recovered else { continue }
      let operation = Int.random(in: 0...image.operationCount, using: &random)
      let again = image.crashImage(cutAfterOperation: operation, random: &random)
      // What was shown is durable.
      let atLeast = operation == image.operationCount ? recovered : acknowledged
      _ = try look(
        again, path, key, atLeast...max(atLeast, begun), hashes,
        note + ", and again after \(operation)",
        &wrong)
      if wrong.count > 5 { break }
    }
    return wrong
  }

  /// Opens what is left.
  ///
  /// - Returns: the number that it shows.
  private static func look(
    _ disk: SimulatedDisk, _ path: String, _ key: [UInt8]?, _ numbers: ClosedRange<UInt64>,
    _ hashes: [UInt64: UInt64], _ note: String, _ wrong: inout [String]
  ) throws -> UInt64? {
    do {
      let store = try Store.open(StoreOptions(path: path, fileSystem: disk, encryptionKey: key))
      let snapshot = try store.pinNewest()
      let number = number(snapshot)
      if !numbers.contains(number) { wrong.append("\(note): \(number), not in \(numbers)") }
      if number > 0, contentHash(snapshot) != hashes[number] {
        wrong.append("\(note): number \(number) has another content")
      }
      let findings = try store.checkInvariants().findings
      if !findings.isEmpty { wrong.append("\(note): \(findings)") }
      return number
    } catch {
      wrong.append("\(note): \(error)")
      return nil
    }
  }

  /// Which transaction was the last one of a version; 0 of the empty file.
  private static func number(_ snapshot: Snapshot) -> UInt64 {
    if snapshot.root.isNone { return 0 }
    let leaf = BlockHeader.reference(snapshot.reader.pointer(snapshot.root), 0)
    return BlockHeader.payload(snapshot.reader.pointer(leaf)).load(as: UInt64.self)
  }

  /// The same as in RecordedCommits.swift.
  private static func contentHash(_ snapshot: Snapshot) -> UInt64 {
    let block = snapshot.reader.pointer(snapshot.root)
    return (0..<BlockHeader.count(block)).reduce(0) { hash, index in
      let leaf = snapshot.reader.pointer(BlockHeader.reference(block, index))
      return hash64(
        BlockHeader.payload(leaf), count: BlockHeader.blockLength(leaf) - BlockHeader.length,
        seed: hash)
    }
  }
}
