// Where everything is in the lock file: words of the shared map, and the bytes that processes lock.
// Words are u64 in the order of the machine, which the file never leaves, accessed as atomics.
//
//  header, 4096 bytes              a slot, 256 bytes, 64 of them from byte 4096
//   word  0  magic                  word  8  change counter: grows with every change of the pins
//         1  format version               9  pin words in use, from the first on
//         2  data file, first half       10  oldest version of the pins that found no word, or 0
//         3  data file, second half      16  byte offsets of up to 12 segments of pin words
//         4  boot                          28  number of the process, for people
//         5  1 when initialised              29  its ticket while it waits for the write lock, or 0
//         6  openings so far                      30  number of its opening
//         8  durable head           segments from byte 20480 on: the n-th one of a slot has
//        16  committed head               512 << n words. A word is a pinned version, 0 (never
//        17  number of the last writer    used), or top bit + number of the next free word + 1.
//        18  1 + slot of who has the      As many words follow, which say of each pin when it was
//            write lock, or 0             made and by which thread, see PinMark. Segments stay
//                                         with their slot until the file is rebuilt.
//        24  failed sync: 0, or top bit + errno
//         9  hash of the data file's header as its last writer closed it; 0 while one has it open
//        10  the durable head at that time
//        11  1 while a writer without syncs closes the file and syncs it
//        32  slots that wait for the write lock, a bit each
//        33  next ticket of the write lock
//        34  1 while a process writes that has the file to itself
//        35  slots that want to hear of new durable heads, a bit each
//        36  written to tell them
//        37  changes when the write lock is given up and somebody waits for it, who sleeps on it
//        38  how the data file is used by those who have it open: 1 with syncs, 2 without, 0 when
//            its first opener only reads, or who has used it alone has left no more than pins
//        40  slots in use, a bit each
//        41  device of the data file
//        42  inode of the data file
//
//  The magic is written first and never changed: what has none, and is not empty, is somebody
//  else's.
//
//  locked bytes (open file descriptions own them, so the kernel frees those of the dead):
//   0          shared by every opener for as long as it lives; exclusively for deleting the files
//   8          changes of the slot table
//   16         the write lock
//   24         kept by a process that has the file to itself, see LockFile+WriteLock.swift
//   64 + slot  the slot's process lives
//  For those of the data file see DataFileLocks.swift.
//  Bytes 0 and 8 keep their meaning in every format version, so that versions respect each other.
internal import Platform

/// A word of the shared map.
typealias LockWord = UnsafeMutablePointer<Atomic<UInt64>>

enum LockLayout {
  /// "realmlck" in a little-endian machine's memory.
  static let magic: UInt64 = 0x6b63_6c6d_6c61_6572
  static let formatVersion: UInt64 = 6
  static let slotCount = 64
  static let pageLength = 4096
  static let slotStart = pageLength
  static let wordsPerSlot = 32
  /// Length of a file without any pin words.
  static let baseLength = slotStart + slotCount * wordsPerSlot * 8
  /// A file up to this length keeps its segments when it is made fit.
  static let keptLength = baseLength + 64 << 10
  /// Address space taken for the map; also the greatest length of the file.
  static let mappedLength = 64 << 20
  static let segmentCount = 12
  static let firstSegmentWords = 512
  /// Most pins that one process can publish one by one.
  static let pinCapacity = words(inSegments: segmentCount)

  static func words(inSegment segment: Int) -> Int { firstSegmentWords << segment }

  /// Bytes of a segment: pin words and their marks.
  static func length(ofSegment segment: Int) -> Int { 2 * 8 * words(inSegment: segment) }

  /// Words of the first so many segments together.
  static func words(inSegments count: Int) -> Int { firstSegmentWords * (1 << count - 1) }

  /// Segment of a pin word and its place therein.
  static func place(of index: Int) -> (segment: Int, offset: Int) {
    let page = index / firstSegmentWords + 1
    let segment = Int.bitWidth - 1 - page.leadingZeroBitCount
    return (segment, index - words(inSegments: segment))
  }

  /// The version pinned by a word; nil when the word is free.
  static func pinned(_ word: UInt64) -> UInt64? { word == 0 || word >> 63 == 1 ? nil : word }
}

enum HeaderWord {
  static let magic = 0
  static let formatVersion = 1
  static let fileHigh = 2
  static let fileLow = 3
  static let boot = 4
  static let isInitialised = 5
  static let openings = 6
  static let head = 8
  /// What the data file's header was when its last writer closed it; 0 while one has it open.
  static let closedGeneration = 9
  /// The head at that time.
  static let closedHead = 10
  /// 1 while a writer without syncs, which closes the file, is in the sync that makes up for them.
  static let closingSync = 11
  static let committed = 16
  static let lastWriter = 17
  static let writer = 18
  static let failedSync = 24
  static let waiting = 32
  static let nextTicket = 33
  static let loneWriter = 34
  static let followers = 35
  static let news = 36
  static let handOvers = 37
  static let durability = 38
  static let live = 40
  static let dataDevice = 41
  static let dataInode = 42
  static let count = 48
}

enum SlotWord {
  static let changes = 8
  static let used = 9
  static let overflow = 10
  static let segments = 16
  static let process = 28
  static let ticket = 29
  /// Number of the opening that has the slot.
  static let opening = 30
}

/// What a pin's second word says, for people: the kernel's number of a thread, and a time.
struct PinMark {
  /// Threads have fewer numbers than this takes, on every Linux.
  private static let threadBits: UInt64 = 22
  /// Milliseconds, nearly.
  private static let timeShift: UInt64 = 20

  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(thread: UInt64, nanoseconds: UInt64) {
    rawValue =
      (nanoseconds >> Self.timeShift) << Self.threadBits | thread & (1 << Self.threadBits - 1)
  }

  var thread: UInt64 { rawValue & (1 << Self.threadBits - 1) }
  /// Of the machine's monotonic clock, which is the same for all its processes.
  var nanoseconds: UInt64 { (rawValue >> Self.threadBits) << Self.timeShift }
}

enum LockByte {
  static let use: Int64 = 0
  static let table: Int64 = 8
  static let write: Int64 = 16
  static let alone: Int64 = 24
  static func liveness(_ slot: Int) -> Int64 { 64 + Int64(slot) }
}
