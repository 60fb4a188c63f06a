// Processes that die by SIGKILL while they commit, and processes that share a file.
import Foundation
import Storage
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ProcessDeathTests {
  static let executable = Bundle.main.executableURL!.deletingLastPathComponent()
    .appendingPathComponent("CommittingProcess")

  /// A running child and what it has acknowledged.
  struct Child {
    let process = Process()
    let output = Pipe()

    /// - Parameter errors: where its standard error goes; nil for that of the tests.
    init(_ arguments: String..., errors: Pipe? = nil) throws {
      process.executableURL = ProcessDeathTests.executable
      process.arguments = arguments
      process.standardOutput = output
      if let errors { process.standardError = errors }
      try process.run()
    }

    /// Reads until so many lines have come or the child has ended.
    func read(lines: Int) -> [UInt8] {
      var bytes: [UInt8] = []
      while bytes.count(where: { $0 == 10 }) < lines {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        bytes += data
      }
      return bytes
    }

    /// Kills the child and gives the last number that it had acknowledged.
    func kill(after lines: Int) -> UInt64 {
      var bytes = read(lines: lines)
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      bytes += output.fileHandleForReading.readDataToEndOfFile()
      return ProcessDeathTests.lastNumber(bytes)
    }
  }

  static func lastNumber(_ bytes: [UInt8]) -> UInt64 {
    let whole = bytes.prefix(bytes.lastIndex(of: 10).map { $0 + 1 } ?? 0)
    return String(decoding: whole, as: UTF8.self).split(separator: "\n").last.flatMap {
      UInt64($0)
    } ?? 0
  }

  /// The number in every leaf; nil when they differ.
  static func number(_ snapshot: Snapshot) -> UInt64? {
    if snapshot.root.isNone { return 0 }
    let root = snapshot.reader.pointer(snapshot.root)
    let numbers = (0..<BlockHeader.count(root)).map { index in
      BlockHeader.payload(snapshot.reader.pointer(BlockHeader.reference(root, index)))
        .load(as: UInt64.self)
    }
    return Set(numbers).count == 1 ? numbers[0] : nil
  }

  /// Killed 20 times on one file: nothing acknowledged is lost, nothing is half there.
  @Test func killedWritersLoseNothing() async {
    await withSeeds { random in
      let folder = TemporaryFolder()
      let path = folder.path + "/killed.realm"
      for round in 0..<20 {
        let child = try Child(path)
        let acknowledged = child.kill(after: Int.random(in: 1...40, using: &random))
        #expect(acknowledged > 0, "round \(round)")
        let store = try Store.open(StoreOptions(path: path))
        let number = Self.number(try store.pinNewest())
        #expect(number != nil, "round \(round): a transaction is half there")
        // At most the one that was running is there without its line.
        #expect(number == acknowledged || number == acknowledged + 1, "round \(round)")
        #expect(try store.checkInvariants().findings == [], "round \(round)")
      }
    }
  }

  /// Two processes and this one add to one counter: no update is lost, also when one dies, and the
  /// pin of the dead goes.
  @Test func processesShareAFile() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/shared.realm"
    let store = try Store.open(StoreOptions(path: path))
    let doomed = try Child(path)
    _ = doomed.read(lines: 5)
    let worker = try Child(path, "60")
    _ = worker.read(lines: 20)
    _ = doomed.kill(after: 5)
    _ = worker.read(lines: .max)
    worker.process.waitUntilExit()
    #expect(worker.process.terminationStatus == 0)
    let snapshot = try store.pinNewest()
    let number = try #require(Self.number(snapshot))
    #expect(number >= 65)
    let commits = try store.statistics().commits
    #expect(number == commits, "each commit added one")
    #expect(try store.checkInvariants().findings == [])
    // The dead are looked for every 20 ms.
    #expect(try eventually { try store.statistics().liveVersions == 1 })
  }
}
