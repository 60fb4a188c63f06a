// Counting, recording and failing file calls.
import Glibc
import Platform
import TestSupport
import Testing

struct FaultFileSystemTests {
  let folder = TemporaryFolder()
  let faults = FaultFileSystem(LinuxFileSystem())

  private func code(_ body: () throws -> Void) -> Int32? {
    do {
      try body()
      return nil
    } catch {
      return (error as? SystemError)?.code
    }
  }

  @Test func countsAndRecords() throws {
    let file = try faults.open(folder.file("a"), [.writable, .create])
    try file.write(bytes: [1, 2, 3], at: 7)
    try file.synchronize()
    _ = try file.read(2, at: 8)
    #expect(try file.lockByte(4, exclusive: true, wait: false))
    #expect(FileCall.allCases.map { faults.count(of: $0) }.reduce(0, +) == 5)
    #expect(faults.totalCount == 5)
    let records = faults.records
    #expect(records.map(\.call) == [.open, .write, .synchronize, .read, .lockByte])
    #expect(records[1].offset == 7 && records[1].count == 3)
    #expect(records[1].path == folder.file("a"))
    #expect(records.allSatisfy { $0.thread == ThreadToken.current })
    let other = Thread.start(name: "other") { try? file.synchronize() }
    other.joinInTime()
    #expect(faults.records.last?.thread != ThreadToken.current)
    faults.resetRecords()
    #expect(faults.totalCount == 0 && faults.records.isEmpty)
  }

  @Test func failsTheNthCall() throws {
    let file = try faults.open(folder.file("a"), [.writable, .create])
    faults.fail(.write, at: 2, code: ENOSPC)
    #expect(code { try file.write(bytes: [1], at: 0) } == nil)
    #expect(code { try file.write(bytes: [2], at: 0) } == ENOSPC)
    #expect(code { try file.write(bytes: [3], at: 1) } == nil)
    #expect(try file.read(4, at: 0) == [1, 3])
    #expect(faults.count(of: .write) == 3)
  }

  @Test func failsAllCallsOfAKindUntilCleared() throws {
    let file = try faults.open(folder.file("a"), [.writable, .create])
    faults.failAll(.synchronize, code: EIO)
    #expect(code { try file.synchronize() } == EIO)
    #expect(code { try file.synchronize() } == EIO)
    #expect(code { try file.write(bytes: [1], at: 0) } == nil)
    faults.clearFaults()
    #expect(code { try file.synchronize() } == nil)
  }

  @Test func failsOnlyWhatItIsAimedAt() throws {
    let data = try faults.open(folder.file("a"), [.writable, .create])
    let lock = try faults.open(folder.file("a.lock"), [.writable, .create])
    faults.inject(FileFault([.write, .setLength], code: EIO, pathSuffix: ".lock", skip: 1))
    #expect(code { try lock.setLength(10) } == nil)
    #expect(code { try data.setLength(10) } == nil)
    #expect(code { try lock.write(bytes: [1], at: 0) } == EIO)
    #expect(code { try data.write(bytes: [1], at: 0) } == nil)
  }

  @Test func writesShort() throws {
    let file = try faults.open(folder.file("a"), [.writable, .create])
    faults.shortWrite(bytes: 3, code: ENOSPC)
    #expect(code { try file.write(bytes: [1, 2, 3, 4, 5], at: 2) } == ENOSPC)
    #expect(try file.read(10, at: 0) == [0, 0, 1, 2, 3])
  }

  /// Each call of a sequence fails once: the loop that fault tests of the engine are made of.
  @Test func everyCallCanBeTheOneThatFails() throws {
    let all = Set(FileCall.allCases)
    var failures = 0
    for number in 0... {
      faults.clearFaults()
      faults.inject(FileFault(all, code: EIO, skip: number, times: 1))
      let failed = code {
        let file = try faults.open(folder.file("b"), [.writable, .create])
        try file.setLength(100)
        try file.write(bytes: [1], at: 0)
        try file.synchronize()
        _ = try file.map(length: 100)
        try faults.synchronizeFolder(folder.path)
        try faults.rename(folder.file("b"), to: folder.file("c"))
        try faults.remove(folder.file("c"))
      }
      if failed == nil { break }
      failures += 1
    }
    #expect(failures == 8)
  }
}
