// `realm-bench check` against flipped bits of a small file with objects in it: every one in a block
// that the file needs is found, tables, indexes and the space journal included.
import Foundation
import Harness
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct DamageCheckTests {
  /// A file with some objects, and the runs that the newest version needs.
  private func makeFile(_ path: String) throws -> [Run] {
    let driver = try RealmDriver(path: path, durability: .full)
    do {
      let session = try driver.openSession()
      var row = Row()
      // Enough commits for blocks of the space journal.
      for id in 0..<20 {
        try session.write {
          row.id = id
          row.name = "object \(id)"
          row.payload = .init(repeating: UInt8(id), count: 20 + 3 * id)
          session.insert(row)
        }
      }
    }
    driver.close()
    let check = try Store.open(StoreOptions(path: path)).checkInvariants()
    #expect(check.findings == [])
    return check.parts.filter { $0.owner == "reachable" || $0.owner == "space journal" }.map(\.run)
  }

  @Test func everyFlipIsFound() async {
    await withSeeds { random in
      let folder = TemporaryFolder()
      let path = folder.file("flipped.realm")
      let needed = try makeFile(path)
      #expect(FileInspection.check(path).verdict == .sound)
      let file = try LinuxFileSystem().open(path, [.writable])
      let bits = needed.flatMap { $0.offset * 8..<$0.end * 8 }
      for _ in 0..<400 {
        let bit = bits.randomElement(using: &random)!
        let byte = try file.read(1, at: bit / 8)
        try file.write(bytes: [byte[0] ^ 1 << UInt8(bit % 8)], at: bit / 8)
        let check = FileInspection.check(path)
        #expect(check.verdict == .unreadable, "bit \(bit % 8) of byte \(bit / 8)")
        #expect(check.findings.contains { $0.contains(path) }, "\(check.findings)")
        try file.write(bytes: byte, at: bit / 8)
      }
      #expect(FileInspection.check(path).verdict == .sound)
    }
  }

  /// Getters cannot throw: the engine stopped the process with a trap.
  @Test func verbsThatReadObjectsEndInWords() throws {
    let folder = TemporaryFolder()
    let path = folder.file("flipped.realm")
    let runs = try makeFile(path).sorted { $0.end - $0.offset > $1.end - $1.offset }
    let file = try LinuxFileSystem().open(path, [.writable])
    var codes: [Int32] = []
    for run in runs.prefix(3) {
      let place = (run.offset + run.end) / 2
      let byte = try file.read(1, at: place)
      try file.write(bytes: [byte[0] ^ 1], at: place)
      let query = ["explain", path, "BenchmarkObject", "name != ''"]
      for words in [["inspect", path, "--profile"], query] {
        let process = Process()
        process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
          .appendingPathComponent("realm-bench")
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        try process.start()
        let text = String(
          decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "\(words): \(text)")
        #expect([0, 1].contains(process.terminationStatus), "\(words): \(text)")
        #expect(!text.contains("Fatal error"), "\(text)")
        codes.append(process.terminationStatus)
      }
      try file.write(bytes: byte, at: place)
    }
    #expect(codes.contains(1), "\(codes)")
  }
}
