// Power cuts in the history of real processes: their system calls on real files are recorded, and
// the disks that a power cut may leave at each point of the recording are judged by what the
// processes have noted in it.
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

  @Test(arguments: CrashPoints.rounds) func fourProcesses(round: Int) async {
    await run(4, round: round, test: 92)
  }

  /// What the judge is worth: a history whose syncs were left out loses what was acknowledged.
  @Test func aHistoryWithoutSyncsIsFound() async {
    await withSeeds(first: 93) { random in
      let folder = TemporaryFolder()
      let path = folder.file("recorded.realm")
      let recording = folder.file("recording")
      try Self.record(path, recording, processes: 2, "never")
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
      let wrong = try Self.judge(RecordedHistory(kept), path, "never", &random)
      #expect(!wrong.isEmpty)
    }
  }

  private func run(_ processes: Int, round: Int, test: UInt64) async {
    await CrashPoints.run(test, round: round) { random in
      for use in ["never", "always"] {
        let folder = TemporaryFolder()
        let path = folder.file("recorded.realm")
        let recording = folder.file("recording")
        try Self.record(path, recording, processes: processes, use)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: recording)))
        let history = RecordedHistory(bytes)
        #expect(history.processes.count == processes + 1)
        let wrong = try Self.judge(history, path, use, &random)
        if !wrong.isEmpty {
          // Another run has another history: this one is kept to be looked at.
          let kept =
            FileManager.default.temporaryDirectory.path
            + "/realm-recording-\(processes)-\(round)-\(use)"
          try Data(bytes).write(to: URL(fileURLWithPath: kept))
          Issue.record("\(wrong.joined(separator: "\n"))\nthe recording is in \(kept)")
        }
      }
    }
  }

  /// Some processes commit at the same time to a file that this one has made and reads.
  private static func record(
    _ path: String, _ recording: String, processes: Int, _ use: String
  ) throws {
    let store = try Store.open(
      StoreOptions(path: path, fileSystem: RecordingFileSystem(try Recording(recording))))
    let children = try (0..<processes).map { _ in
      try ProcessDeathTests.Child(path, "record", recording, "\(commits / processes / 2)", use)
    }
    for child in children {
      child.process.waitUntilExit()
      #expect(child.process.terminationStatus == 0)
    }
    let snapshot = try store.pinNewest()
    #expect(number(snapshot) == UInt64(commits), "a commit is lost without a cut")
  }

  /// A power cut at each point of a history.
  ///
  /// - Returns: what is wrong with what is left.
  private static func judge(
    _ history: RecordedHistory, _ path: String, _ use: String, _ random: inout RandomGenerator
  ) throws -> [String] {
    let disk = SimulatedDisk(history)
    let hashes = Dictionary(
      uniqueKeysWithValues: history.marks.filter { $0.name == "begun" }.map {
        ($0.number, $0.value)
      })
    let first = try #require(history.marks.first).position
    var wrong: [String] = []
    for cut in first...history.operations.count {
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
        image, path, acknowledged...max(acknowledged, begun), hashes, note, &wrong)
      // Once more, while it recovers or after that.
      guard let recovered else { continue }
      let operation = Int.random(in: 0...image.operationCount, using: &random)
      let again = image.crashImage(cutAfterOperation: operation, random: &random)
      // What was shown is durable.
      let atLeast = operation == image.operationCount ? recovered : acknowledged
      _ = try look(
        again, path, atLeast...max(atLeast, begun), hashes, note + ", and again after \(operation)",
        &wrong)
      if wrong.count > 5 { break }
    }
    return wrong
  }

  /// Opens what is left.
  ///
  /// - Returns: the number that it shows.
  private static func look(
    _ disk: SimulatedDisk, _ path: String, _ numbers: ClosedRange<UInt64>,
    _ hashes: [UInt64: UInt64], _ note: String, _ wrong: inout [String]
  ) throws -> UInt64? {
    do {
      let store = try Store.open(StoreOptions(path: path, fileSystem: disk))
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
