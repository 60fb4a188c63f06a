// Which parts of a file are read ahead, and how often.
import Glibc
import Platform
import TestSupport
import Testing

@testable import Storage

private let part = 128 << 10

@Suite struct ReadAheadTests {
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

  /// A file of which so many blocks were touched that whole parts are read.
  private static func wellKnown(_ mapping: NotingMapping) -> ReadAhead {
    let readAhead = ReadAhead(mapping)
    for _ in 0..<16 { readAhead.willTouch(mapping.length - 1) }
    _ = mapping.takeAsked()
    return readAhead
  }

  @Test func littleWithTheFirstBlocks() throws {
    let mapping = try NotingMapping(length: 100 * part - 32, residentFrom: 90 * part)
    let readAhead = ReadAhead(mapping)
    for number in 0..<8 {
      readAhead.willTouch(number * 3 * part + (20 << 10))
      #expect(
        mapping.takeAsked() == [number * 3 * part + (16 << 10)..<number * 3 * part + (32 << 10)])
      // What is in memory counts too: soon nothing needs to be asked any more.
      readAhead.willTouch(95 * part)
      #expect(mapping.takeAsked() == [])
    }
    readAhead.willTouch(50 * part + (20 << 10))
    #expect(mapping.takeAsked() == [50 * part..<51 * part])
    readAhead.willTouch(7 << 10)
    #expect(mapping.takeAsked() == [0..<part])
  }

  @Test func eachPartOnce() throws {
    let mapping = try NotingMapping(length: 100 * part)
    let readAhead = Self.wellKnown(mapping)
    readAhead.willTouch(10 * part + 5)
    #expect(mapping.takeAsked() == [10 * part..<11 * part])
    readAhead.willTouch(10 * part)
    readAhead.willTouch(11 * part - 1)
    #expect(mapping.takeAsked() == [])
    readAhead.willTouch(50 * part)
    #expect(mapping.takeAsked() == [50 * part..<51 * part])
  }

  @Test func moreAtOnceInARow() throws {
    let mapping = try NotingMapping(length: 100 * part + 32)
    let readAhead = Self.wellKnown(mapping)
    for number in 0..<20 { readAhead.willTouch(number * part) }
    #expect(
      mapping.takeAsked() == [
        0..<part, part..<9 * part, 9 * part..<17 * part, 17 * part..<25 * part,
      ])
    readAhead.willTouch(98 * part)
    readAhead.willTouch(99 * part)
    #expect(mapping.takeAsked() == [98 * part..<99 * part, 99 * part..<mapping.length])
  }

  @Test func whatIsInMemoryIsNotAskedFor() throws {
    let mapping = try NotingMapping(length: 100 * part, residentFrom: 50 * part)
    let readAhead = Self.wellKnown(mapping)
    readAhead.willTouch(50 * part)
    readAhead.willTouch(51 * part)
    #expect(mapping.takeAsked() == [])
    readAhead.willTouch(48 * part)
    // Its end is in memory, the page that is touched is not.
    readAhead.willTouch(49 * part)
    #expect(mapping.takeAsked() == [48 * part..<49 * part, 49 * part..<57 * part])
  }

  @Test func scansAskAgain() throws {
    let mapping = try NotingMapping(length: 100 * part, residentFrom: 50 * part)
    let readAhead = ReadAhead(mapping)
    for _ in 0..<2 { readAhead.willVisit(5..<part) }
    #expect(mapping.takeAsked() == [5..<part, 5..<part])
    readAhead.willVisit(60 * part..<61 * part)
    #expect(mapping.takeAsked() == [])
  }

  /// A range that begins inside of a page, as one from a block to another does.
  @Test func whatIsAskedForComesIntoMemory() throws {
    let folder = TemporaryFolder()
    let file = try LinuxFileSystem().open(folder.file("cold"), [.writable, .create])
    try file.write(bytes: Array(repeating: 7, count: 4 * part), at: 0)
    try file.synchronize()
    let mapping = try file.map(length: 4 * part)
    let descriptor = open(folder.file("cold"), O_RDONLY)
    defer { close(descriptor) }
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    // Some file systems keep everything in memory.
    if mapping.isInMemory(2 * part) { return }
    // The reading goes on after the call, and a busy system may leave a request out.
    let isThere = eventually {
      mapping.readAhead(part + 16..<3 * part)
      return mapping.isInMemory(2 * part)
    }
    #expect(isThere)
  }
}
