// `realm-bench check --continuous`: reads files again and again, beside those who use them, so that
// bits which flip after a process has verified a block are found, by this one.
internal import Foundation
internal import Platform
internal import Storage

/// Rounds over some files.
struct ContinuousCheck {
  let key: [UInt8]?
  let bytesPerSecond: Int
  /// From the end of a round to the beginning of the next one.
  let pauseNanoseconds: UInt64
  /// Nil for no end.
  let rounds: Int?

  struct Result {
    var checks: [FileCheck]
    /// Not one round over all files was whole.
    var isCutShort: Bool
  }

  init(_ values: FlagValues, key: [UInt8]?) throws(UsageError) {
    self.key = key
    bytesPerSecond = try Units.bytes(values.first("rate") ?? "16MiB", flag: "--rate")
    pauseNanoseconds = try Units.nanoseconds(values.first("pause") ?? "1s", flag: "--pause")
    var rounds: Int?
    if let text = values.first("rounds") {
      rounds = try Units.count(text, flag: "--rounds", minimum: 1)
    }
    self.rounds = rounds
    guard bytesPerSecond > 0 else { throw UsageError("--rate: nothing would be read") }
  }

  /// - Returns: what was found in all rounds.
  func run(_ paths: [String], _ interruption: any Interruption, _ console: Console) -> Result {
    let files = paths.map { ScrubbedFile($0, key: key) }
    let clock = MonotonicClock()
    var round = 0
    while round != rounds {
      for file in files {
        guard read(file, interruption, console) else { return result(files) }
      }
      round += 1
      // Nothing that another round could be about.
      if round == rounds || files.allSatisfy(\.isUnreadable) { break }
      let due = clock.nanoseconds() + pauseNanoseconds
      while clock.nanoseconds() < due {
        if interruption.isRequested() { return result(files) }
        sleep(nanoseconds: min(Pace.lookNanoseconds, due - min(due, clock.nanoseconds())))
      }
    }
    return result(files)
  }

  /// One round over one file.
  ///
  /// - Returns: false when the user wants it to end.
  private func read(
    _ file: ScrubbedFile, _ interruption: any Interruption, _ console: Console
  ) -> Bool {
    file.beginRound()
    let pace = Pace(bytesPerSecond: bytesPerSecond)
    while true {
      if interruption.isRequested() { return false }
      switch file.readSlice(pace, interruption, console) {
      case .more: continue
      case .end: return true
      case .interrupted: return false
      }
    }
  }

  private func result(_ files: [ScrubbedFile]) -> Result {
    for file in files where !file.hasEnded { file.noteCutShort() }
    return Result(
      checks: files.map(\.check), isCutShort: !files.allSatisfy(\.hasEnded))
  }
}

/// Keeps a reader to so many bytes a second.
private struct Pace: Sendable {
  /// How often a sleeper looks whether it should end.
  static let lookNanoseconds: UInt64 = 20_000_000
  let bytesPerSecond: Int
  let clock = MonotonicClock()
  let start = MonotonicClock().nanoseconds()

  /// Sleeps until so many bytes may have been read since the start, or until `end`.
  func wait(_ bytes: UInt64, until end: UInt64, _ interruption: any Interruption) {
    let due = start + UInt64(Double(bytes) / Double(bytesPerSecond) * 1e9)
    while true {
      let now = clock.nanoseconds()
      guard now < min(due, end), !interruption.isRequested() else { return }
      sleep(nanoseconds: min(Self.lookNanoseconds, min(due, end) - now))
    }
  }
}

/// A file in the course of the rounds.
private final class ScrubbedFile {
  enum SliceEnd: Sendable { case more, end, interrupted }

  /// What the thread that reads works on.
  private struct Work: Sendable {
    var walk = VerifyingWalk()
    var found: [String] = []
    var end = SliceEnd.more
    var journalBytes: UInt64 = 0
  }

  /// A version is kept no longer, so that a file with a writer does not grow.
  private static let sliceNanoseconds: UInt64 = 1_000_000_000
  /// Readings of a journal that others change meanwhile.
  private static let journalTurns = 200
  private static let journalPauseNanoseconds: UInt64 = 200_000

  let path: String
  private let key: [UInt8]?
  private let work = Monitor(Work())
  /// Findings that were told.
  private var told: Set<String> = []
  private var rounds = 0
  private var bytes: UInt64 = 0
  private(set) var check: FileCheck
  private var lastObstacle: String?

  init(_ path: String, key: [UInt8]?) {
    self.path = path
    self.key = key
    check = FileCheck(path: path, verdict: .sound)
  }

  /// Whether it was read whole once, or cannot be.
  var hasEnded: Bool { rounds > 0 || check.verdict != .sound }

  /// Whether it was never opened.
  var isUnreadable: Bool { check.version == nil }

  func beginRound() { work.withLock { $0.walk = VerifyingWalk() } }

  /// Reads for at most a second on the version that is the newest then.
  ///
  /// The file is opened each time, as by a process that comes to it now: its header and record are
  /// read, another file under its name is seen, and nothing of it is held in between.
  func readSlice(
    _ pace: Pace, _ interruption: any Interruption, _ console: Console
  ) -> SliceEnd {
    do throws(StorageError) {
      let store = try FileInspection.openForReading(path, key: key, notes: &check.notes)
      let snapshot = try store.pinNewest()
      let isFirst = check.version == nil
      check.version = snapshot.version.rawValue
      lastObstacle = nil
      if isFirst { console.note("\(path): reading version \(snapshot.version)") }
      return read(store, snapshot, pace, interruption, console)
    } catch {
      return meet(error, console)
    }
  }

  private func read(
    _ store: Store, _ snapshot: Snapshot, _ pace: Pace, _ interruption: any Interruption,
    _ console: Console
  ) -> SliceEnd {
    let work = work
    let end = pace.clock.nanoseconds() + Self.sliceNanoseconds
    // Only this thread, which holds no lock that others wait for.
    let advance: @Sendable () -> Void = {
      Thread.runWhenIdle()
      work.withLock { work in
        var found: [String] = []
        let isWhole = work.walk.advance(on: snapshot) { bytes in
          pace.wait(bytes, until: end, interruption)
          return pace.clock.nanoseconds() < end && !interruption.isRequested()
        } report: {
          found.append("\($0)")
        }
        work.journalBytes = 0
        if isWhole { Self.readJournal(store, interruption, &work.journalBytes, &found) }
        work.found = found
        work.end = isWhole ? .end : interruption.isRequested() ? .interrupted : .more
      }
    }
    if let thread = Thread.startIfPossible(name: "continuous check", advance) {
      thread.join()
    } else {
      // The system has none to give: the calling thread does nothing else anyway.
      advance()
    }
    let slice = work.withLock { $0 }
    for finding in slice.found { tell(finding, console) }
    if slice.end == .end { endRound(slice.walk, slice.journalBytes, console) }
    return slice.end
  }

  /// The space journal, which no version keeps, at the end of a round.
  ///
  /// What others write too fast for this round is read in another one.
  private static func readJournal(
    _ store: Store, _ interruption: any Interruption, _ bytes: inout UInt64,
    _ found: inout [String]
  ) {
    do throws(StorageError) {
      var turns = 0
      let check = try store.checkJournal {
        turns += 1
        sleep(nanoseconds: journalPauseNanoseconds)
        return turns < journalTurns && !interruption.isRequested()
      }
      switch check {
      case .sound(_, let length): bytes = length
      case .damaged(let error): found.append("\(error)")
      case .inMotion: break
      }
    } catch {
      // Any other failure says nothing of the journal; the next opening tells of it.
      if case .damaged = error { found.append("\(error)") }
    }
  }

  private func endRound(_ walk: VerifyingWalk, _ journalBytes: UInt64, _ console: Console) {
    rounds += 1
    bytes += walk.bytes + journalBytes
    check.blocks = walk.blocks
    check.reachableBytes = walk.bytes
    noteRounds()
    if rounds == 1 {
      console.note(
        "\(path): round 1, \(grouped(walk.blocks)) blocks, \(readableBytes(walk.bytes)), "
          + (told.isEmpty ? "sound" : "\(told.count) findings"))
    }
  }

  private func noteRounds() {
    check.notes.removeAll { $0.hasSuffix(" were read") }
    check.notes.append(
      "\(grouped(rounds)) \(rounds == 1 ? "round" : "rounds"), in which "
        + "\(readableBytes(bytes)) were read")
  }

  /// So that nobody takes what was not read for sound.
  func noteCutShort() {
    let walk = work.withLock { $0.walk }
    check.notes.append(
      "interrupted in the first round, after \(grouped(walk.blocks)) blocks, "
        + "\(readableBytes(walk.bytes)): nothing was found in them, the rest was not read")
  }

  /// An error of opening: a finding, where it tells of the file; else a reason to come back later.
  private func meet(_ error: StorageError, _ console: Console) -> SliceEnd {
    switch error {
    case .alreadyOpen, .system, .diskFull, .previousSyncFailure, .addressSpaceExhausted:
      if check.version == nil { fallthrough }
      let obstacle = "not looked at: \(error)"
      if obstacle != lastObstacle {
        console.note("\(path): \(obstacle)")
        check.notes.append(obstacle)
      }
      lastObstacle = obstacle
    default:
      tell("\(error)", console)
      if check.version == nil, let hint = EngineKind.foreignFile(path) { tell(hint, console) }
    }
    return .end
  }

  private func tell(_ finding: String, _ console: Console) {
    guard told.insert(finding).inserted else { return }
    check.verdict = .unreadable
    check.findings.append(finding)
    console.note("\(timeOfDay()) \(finding)")
  }

  private func timeOfDay() -> String { ISO8601DateFormatter().string(from: Date()) }
}
