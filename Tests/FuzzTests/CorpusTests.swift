// The corpus of the fuzzer, each input once: what it has found stays found. REALM_WRITE_CORPUS=1
// writes the seeds anew: small files of this version and the golden file.
import Foundation
import OpenFile
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct CorpusTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let corpus = root.appendingPathComponent("Fuzz/corpus")

  /// Files to start from.
  private static func seeds() throws -> [String: [UInt8]] {
    let golden = root.appendingPathComponent("Tests/ObjectStoreTests/Golden/format-1.realm")
    var files = ["golden": [UInt8](try Data(contentsOf: golden))]
    for commits in [0, 1, 3, 20] {
      let disk = SimulatedDisk()
      let path = "/seed.realm"
      do {
        let store = try Store.open(StoreOptions(path: path, fileSystem: disk))
        for commit in 0..<commits {
          let transaction = try store.beginWrite()
          transaction.editor.freeTree(transaction.root)
          let root = transaction.editor.allocate(
            kind: BlockKind(rawValue: 0xa0), count: 3, payloadBytes: 24)
          for index in 0..<3 {
            let leaf = transaction.editor.allocate(
              kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: 50 * (commit + index))
            BlockHeader.setReference(transaction.editor.pointer(root), index, leaf)
          }
          transaction.root = root
          _ = try transaction.commit()
        }
      }
      let file = try disk.open(path, [])
      files["commits-\(commits)"] = try file.read(Int(try file.length()), at: 0)
    }
    return files
  }

  @Test func seedsAreSound() throws {
    for (name, file) in try Self.seeds() {
      for flags: FuzzedFile.Flags in [
        [], [.sealsHeaders], [.sealsHeaders, .sealsRecords],
        [.sealsHeaders, .sealsRecords, .sealsBlocks], [.raw],
      ] {
        let input = FuzzedFile.input(file, flags)
        let outcome = input.withUnsafeBytes { bytes in
          #expect(FuzzedFile(input: bytes).bytes == file, "\(name), \(flags)")
          return openFuzzedFile(bytes)
        }
        #expect(outcome.isSound && outcome.error == nil, "\(name), \(flags): \(outcome)")
        if name == "golden", !flags.contains(.sealsBlocks) { #expect(outcome.objects ?? 0 > 0) }
        let isKept = name == "golden" ? flags == [.sealsHeaders, .sealsRecords] : flags != [.raw]
        if ProcessInfo.processInfo.environment["REALM_WRITE_CORPUS"] != nil, isKept {
          try Data(input).write(
            to: Self.corpus.appendingPathComponent("seed-\(name)-\(flags.rawValue)"))
        }
      }
    }
  }

  @Test func corpusNeverTraps() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    #expect(names.count >= 10)
    for name in names.sorted() {
      let input = try Data(contentsOf: Self.corpus.appendingPathComponent(name))
      _ = input.withUnsafeBytes { openFuzzedFile($0) }
    }
  }
}
