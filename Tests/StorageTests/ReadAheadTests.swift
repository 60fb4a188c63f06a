// Which parts of a file are read ahead, and how often.
import Platform
import Testing

@testable import Storage

@Suite struct ReadAheadTests {
  /// Notes what it is asked for.
  private final class NotingMapping: FileMapping {
    let memory: AnonymousMemory
    private let asked = Monitor<[Range<Int>]>([])
    var base: UnsafeMutableRawPointer { memory.base }
    var length: Int { memory.length }

    init(length: Int) throws { memory = try AnonymousMemory(length: length) }

    func readAhead(_ range: Range<Int>, for offset: Int) {
      asked.withLock { $0.append(range) }
    }

    func takeAsked() -> [Range<Int>] {
      asked.withLock { asked in
        defer { asked = [] }
        return asked
      }
    }
  }

  private let part = 128 << 10

  @Test func eachPartOnce() throws {
    let mapping = try NotingMapping(length: 100 * part)
    let readAhead = ReadAhead(mapping)
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
    let readAhead = ReadAhead(mapping)
    for number in 0..<20 { readAhead.willTouch(number * part) }
    #expect(
      mapping.takeAsked() == [
        0..<part, part..<9 * part, 9 * part..<17 * part, 17 * part..<25 * part,
      ])
    readAhead.willTouch(98 * part)
    readAhead.willTouch(99 * part)
    #expect(mapping.takeAsked() == [98 * part..<99 * part, 99 * part..<mapping.length])
  }

  @Test func scansAskAgain() throws {
    let mapping = try NotingMapping(length: 100 * part)
    let readAhead = ReadAhead(mapping)
    for _ in 0..<2 { readAhead.willVisit(5..<part) }
    #expect(mapping.takeAsked() == [5..<part, 5..<part])
  }
}
