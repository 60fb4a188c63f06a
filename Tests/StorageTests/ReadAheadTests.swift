// Which parts of a file are read ahead, and how often.
import Glibc
import Platform
import TestSupport
import Testing

@testable import Storage

private let piece = 32 << 10

@Suite(.ownThreads) struct ReadAheadTests {
  /// Notes what it is asked for.
  private final class NotingMapping: FileMapping {
    let memory: AnonymousMemory
    private let asked = Monitor<[Range<Int>]>([])
    var base: UnsafeMutableRawPointer { memory.base }
    var length: Int { memory.length }

    /// What lies at or behind this is in memory.
    let residentFrom: Int

    init(length: Int, residentFrom: Int = .max) throws {
      memory = try AnonymousMemory(length: length)
      self.residentFrom = residentFrom
    }

    func readAhead(_ range: Range<Int>) { asked.withLock { $0.append(range) } }
    func isInMemory(_ offset: Int) -> Bool { offset >= residentFrom }

    func takeAsked() -> [Range<Int>] {
      asked.withLock { asked in
        defer { asked = [] }
        return asked
      }
    }
  }

  @Test func eachPieceOnce() throws {
    let mapping = try NotingMapping(length: 100 * piece)
    let readAhead = ReadAhead(mapping)
    readAhead.willTouch(10 * piece + 5)
    #expect(mapping.takeAsked() == [10 * piece..<11 * piece])
    readAhead.willTouch(10 * piece)
    readAhead.willTouch(11 * piece - 1)
    #expect(mapping.takeAsked() == [])
    readAhead.willTouch(50 * piece)
    #expect(mapping.takeAsked() == [50 * piece..<51 * piece])
  }

  @Test func asManyMoreAsWereTouchedInARow() throws {
    let mapping = try NotingMapping(length: 200 * piece + 32)
    let readAhead = ReadAhead(mapping)
    for number in 0..<120 { readAhead.willTouch(number * piece) }
    // Doubled up to a megabyte.
    #expect(
      mapping.takeAsked()
        == [0..<1, 1..<2, 2..<4, 4..<8, 8..<16, 16..<32, 32..<64, 64..<96, 96..<128].map {
          $0.lowerBound * piece..<$0.upperBound * piece
        })
    readAhead.willTouch(199 * piece)
    readAhead.willTouch(200 * piece)
    #expect(mapping.takeAsked() == [199 * piece..<200 * piece, 200 * piece..<mapping.length])
  }

  @Test func longBlocksAreReadWhole() throws {
    let mapping = try NotingMapping(length: 100 * piece)
    let readAhead = ReadAhead(mapping)
    readAhead.willTouch(7 * piece + 100)
    readAhead.willTouch(7 * piece + 100..<8 * piece)
    #expect(mapping.takeAsked() == [7 * piece..<8 * piece])
    readAhead.willTouch(7 * piece + 100..<10 * piece + 1)
    #expect(mapping.takeAsked() == [8 * piece..<9 * piece, 9 * piece..<11 * piece])
  }

  @Test func whatIsInMemoryIsNotAskedFor() throws {
    let mapping = try NotingMapping(length: 100 * piece, residentFrom: 50 * piece)
    let readAhead = ReadAhead(mapping)
    readAhead.willTouch(50 * piece)
    readAhead.willTouch(51 * piece)
    readAhead.willTouch(52 * piece)
    #expect(mapping.takeAsked() == [])
    readAhead.willTouch(48 * piece)
    #expect(mapping.takeAsked() == [48 * piece..<49 * piece])
  }

  @Test func scansAskAgain() throws {
    let mapping = try NotingMapping(length: 100 * piece, residentFrom: 50 * piece)
    let readAhead = ReadAhead(mapping)
    for _ in 0..<2 { readAhead.willVisit(5..<piece) }
    #expect(mapping.takeAsked() == [5..<piece, 5..<piece])
    readAhead.willVisit(60 * piece..<61 * piece)
    #expect(mapping.takeAsked() == [])
  }

  /// A range that begins inside of a page, as one from a block to another does.
  @Test func whatIsAskedForComesIntoMemory() throws {
    let folder = TemporaryFolder()
    let file = try LinuxFileSystem().open(folder.file("cold"), [.writable, .create])
    try file.write(bytes: Array(repeating: 7, count: 4 * piece), at: 0)
    try file.synchronize()
    let mapping = try file.map(length: 4 * piece)
    let descriptor = open(folder.file("cold"), O_RDONLY)
    defer { close(descriptor) }
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    // Some file systems keep everything in memory.
    if mapping.isInMemory(2 * piece) { return }
    // The reading goes on after the call, and a busy system may leave a request out.
    let isThere = eventually {
      mapping.readAhead(piece + 16..<3 * piece)
      return mapping.isInMemory(2 * piece)
    }
    #expect(isThere)
  }
}
