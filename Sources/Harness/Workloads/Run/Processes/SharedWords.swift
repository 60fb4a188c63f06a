// Atomic words that the processes of one run share: a file that all of them have mapped.
internal import Glibc
internal import Platform

/// Words in a mapped file.
final class SharedWords: @unchecked Sendable {
  // @unchecked: `words` is set once, unmapped in deinit, and its elements are atomics.
  let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let bytes: Int

  /// Maps a file; a new one of zeros, or one that another process has made.
  init(_ path: String, count: Int, isNew: Bool) throws(SystemError) {
    bytes = count * MemoryLayout<Atomic<UInt64>>.stride
    let flags = isNew ? O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC : O_RDWR | O_CLOEXEC
    let file = open(path, flags, 0o600)
    guard file >= 0 else { throw SystemError(call: "open", path: path, code: errno) }
    defer { close(file) }
    // On a full disk the first use of a page would end the process.
    if isNew, case let code = posix_fallocate(file, 0, off_t(bytes)), code != 0 {
      throw SystemError(call: "posix_fallocate", path: path, code: code)
    }
    let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let memory, memory != MAP_FAILED else {
      throw SystemError(call: "mmap", path: path, code: errno)
    }
    // Zeros are words of 0; they are not initialized again, since others may use them by now.
    words = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  deinit { munmap(words, bytes) }
}

/// What the processes of a run tell each other.
package final class ProcessBoard: Sendable {
  static let fileName = "processes.tmp"

  private let shared: SharedWords
  /// Which transaction made a version, for all processes.
  package let versions: VersionLog
  /// The most processes that a run can have.
  package static let mostProcesses = 256
  private static let firstOfPins = 8
  private static let firstOfLog = firstOfPins + mostProcesses

  package init(_ path: String, isNew: Bool) throws {
    shared = try SharedWords(
      path, count: Self.firstOfLog + VersionLog.wordCount, isNew: isNew)
    versions = VersionLog(in: shared, from: Self.firstOfLog)
  }

  private var ready: UnsafeMutablePointer<Atomic<UInt64>> { shared.words }
  private var hasBegun: UnsafeMutablePointer<Atomic<UInt64>> { shared.words + 1 }

  /// Notes how many pins a process keeps; called by that process alone.
  func note(pins count: Int, of number: Int) {
    (shared.words + Self.firstOfPins + number - 1).pointee.store(
      UInt64(count), ordering: .relaxed)
  }

  /// How many pins a process keeps, or kept when it ended.
  func pins(of number: Int) -> Int {
    Int((shared.words + Self.firstOfPins + number - 1).pointee.load(ordering: .relaxed))
  }

  /// How many processes have opened the file with all their threads.
  var readyProcesses: Int { Int(ready.pointee.load(ordering: .acquiring)) }

  /// Lets all that are ready begin.
  func begin() { hasBegun.pointee.store(1, ordering: .releasing) }

  private var measured: UnsafeMutablePointer<Atomic<UInt64>> { shared.words + 2 }

  /// Called by each process when its measured phase begins.
  func noteMeasured() { measured.pointee.store(1, ordering: .relaxed) }

  /// Whether one has begun to measure.
  var isMeasured: Bool { measured.pointee.load(ordering: .relaxed) != 0 }

  /// Called by a process once its threads are ready; false when it is told to end instead.
  func waitForBegin(_ interruption: any Interruption) -> Bool {
    ready.pointee.add(1, ordering: .acquiringAndReleasing)
    while hasBegun.pointee.load(ordering: .acquiring) == 0 {
      if interruption.isRequested() { return false }
      sleep(nanoseconds: 500_000)
    }
    return true
  }
}

/// One of the processes of a run, as that process knows itself.
package struct ProcessMember: Sendable {
  /// From 1 on.
  package let number: Int
  package let count: Int
  package let board: ProcessBoard

  private static let variable = "REALM_BENCH_MEMBER"

  package init(number: Int, count: Int, board: ProcessBoard) {
    self.number = number
    self.count = count
    self.board = board
  }

  /// Taken out of the environment, so that it goes to no process further down.
  private static let text: String? = {
    let value = getenv(variable).map { String(cString: $0) }
    unsetenv(variable)
    return value
  }()

  /// Call it before any other thread is there: it changes the environment.
  static func recognize() { _ = text }

  /// What this process is part of; nil when it was started by a user.
  static func own() throws -> ProcessMember? {
    guard let text else { return nil }
    let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let number = Int(parts[0]), let count = Int(parts[1]) else {
      throw ResultsError("\(variable) is for processes that the tool starts by itself")
    }
    return ProcessMember(
      number: number, count: count, board: try ProcessBoard(String(parts[2]), isNew: false))
  }

  /// The environment of a member.
  static func environment(number: Int, of count: Int, board: String) -> [String: String] {
    [variable: "\(number)/\(count)/\(board)"]
  }

  /// Its part of what all do together.
  func share(of operations: Int) -> Int {
    operations / count + (number <= operations % count ? 1 : 0)
  }
}
