// What a background process of a run does: it opens the run's file and uses it in one way until it
// is told to end, or until the run is gone. Not for users, so help does not show it.
internal import CProcess
internal import Foundation
internal import Glibc
internal import Platform
internal import RealmSwift

/// The hidden verb `background`.
enum BackgroundVerb {
  static let name = "background"
  static let readyLine = "ready\n"

  private static let flags: [FlagDefinition] = [
    .init("path", "FILE", "the run's file"),
    .init("count", "N", "pins, objects or frozen values"),
    .init("every", "TIME", "time between two steps"),
    .init("durability", "full|memory", "as the run has it"),
    .init("seed", "N", "decides which objects are read"),
  ]

  static func run(_ arguments: [String], console: Console) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    guard values.positional.count == 1,
      let kind = BackgroundLoad.Kind(rawValue: values.positional[0]),
      let path = values.first("path"), let every = values.first("every"),
      let count = values.first("count").flatMap(Int.init)
    else { throw UsageError("background is started by runs only") }
    let durability: DurabilityClass = try values.choice("durability") ?? .full
    let interruption = SignalInterruption()
    let parent = getppid()
    // Who was stopped must see that the run is gone, too.
    process_go_on_without_parent()
    let load = try Load(
      kind, path: path, durability: durability, count: count,
      seed: values.first("seed").flatMap { UInt64($0) } ?? 1)
    console.printRaw(readyLine)
    let nanoseconds = try Units.nanoseconds(every, flag: "--every")
    let clock = MonotonicClock()
    // Its own length: a plan's steps may take hours, the end of the run must not wait for one.
    var due = clock.nanoseconds()
    while !interruption.isRequested() && getppid() == parent {
      if clock.nanoseconds() >= due {
        try load.step()
        due = max(due + nanoseconds, clock.nanoseconds())
      }
      let now = clock.nanoseconds()
      if due > now { sleep(nanoseconds: min(due - now, 20_000_000)) }
    }
    try load.end()
    return .success
  }
}

/// The file, and what is kept of it.
private final class Load {
  /// What reads objects of the tool's classes.
  private struct Reader {
    let driver: RealmDriver
    let session: RealmSession
    let objects: Int
  }

  private let kind: BackgroundLoad.Kind
  private let reader: Reader?
  private let path: String
  private let count: Int
  private var random: RandomGenerator
  /// Each on the version that was the newest when it was opened.
  private var pins: [Realm] = []
  private var copies: [RealmSession.Copy] = []
  private var observer: (any EngineObserver)?
  private var row = Row()

  init(
    _ kind: BackgroundLoad.Kind, path: String, durability: DurabilityClass, count: Int,
    seed: UInt64
  ) throws {
    guard FileManager.default.fileExists(atPath: path) else {
      throw ResultsError("there is no file '\(path)'")
    }
    if kind.readsObjects {
      let driver = try RealmDriver(path: path, durability: durability)
      let session = try driver.openSession()
      reader = Reader(driver: driver, session: session, objects: session.total().count)
    } else {
      reader = nil
    }
    self.kind = kind
    self.path = path
    self.count = count
    random = RandomGenerator(seed: mix(seed))
  }

  func step() throws {
    if let reader { return try step(reader) }
    guard kind == .pins else { return try compact() }
    pins.append(try Realm.opened(asStored: path))
    if pins.count > count { pins.removeFirst() }
  }

  private func step(_ reader: Reader) throws {
    let (session, objects) = (reader.session, reader.objects)
    switch kind {
    case .reader:
      _ = session.refresh()
      for _ in 0..<count where objects > 0 {
        _ = session.read(Int(random.next(upperBound: UInt64(objects))), into: &row)
      }
    case .cache:
      guard objects > 0 else { return }
      repeat {
        _ = session.refresh()
        let key = Int(random.next(upperBound: UInt64(objects)))
        guard let copy = session.copy(.object(key)) else { return }
        if copies.count >= count { copies.remove(at: Int(random.next(upperBound: UInt64(count)))) }
        copies.append(copy)
      } while copies.count < count
    case .observer:
      if observer == nil { observer = try reader.driver.observe(.all) { _, _ in } }
    case .pins, .compaction: break
    }
  }

  /// A copy as `compact` would leave it, next to the file; removed at once.
  private func compact() throws {
    let copy = path + ".background-\(processIdentifier).realm"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try Realm.opened(asStored: path).writeCopy(toFile: URL(fileURLWithPath: copy))
  }

  func end() throws {
    observer?.end()
    pins = []
    copies = []
  }
}
