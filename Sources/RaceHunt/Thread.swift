// Threads of explored programs, by Foundation's names. Outside of an exploration they are
// Foundation's.
internal import CRaceHunt
internal import Dispatch
public import Foundation
internal import Glibc

/// A thread of a program: `Foundation.Thread`, and `join`.
///
/// In an explored program it is one of the schedule, and its sleeping takes virtual time.
open class Thread: NSObject, @unchecked Sendable {
  // @unchecked: the strand is touched only by the holder of the baton; the body is set before the
  // thread starts, and the rest belongs to `real`.
  private let body: (@Sendable () throws -> Void)?
  private var strand: Strand?
  private var isToEnd = false
  private let data = NSMutableDictionary()
  /// The thread of the system, outside of explorations.
  private var real: Foundation.Thread?
  /// Tells that a thread of the system has ended.
  private let ended = Dispatch.DispatchGroup()

  /// A thread that runs `main`.
  public override init() {
    body = nil
    super.init()
  }

  /// A thread that runs `block` once it is started.
  public convenience init(block: @Sendable @escaping () -> Void) { self.init(nil, block) }

  private init(_ name: String?, _ body: @escaping @Sendable () throws -> Void) {
    self.body = body
    super.init()
    self.name = name
  }

  private init(of real: Foundation.Thread) {
    body = nil
    self.real = real
    super.init()
    name = real.name
  }

  /// Starts a thread; an error that `body` throws is a failure of the schedule.
  ///
  /// The name stands in tables of schedules.
  @discardableResult
  public static func start(
    name: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable () throws -> Void
  ) -> Thread {
    let thread = Thread(name, body)
    thread.start(at: Place(file: file, line: line))
    return thread
  }

  /// Starts a thread that nobody joins.
  open class func detachNewThread(_ block: @Sendable @escaping () -> Void) {
    Thread(block: block).start(at: Place(call: race_hunt_caller()))
  }

  /// Starts the thread.
  open func start() { start(at: Place(call: race_hunt_caller())) }

  private func start(at place: Place?) {
    guard let (run, strand) = Run.current else { return startReal() }
    if let known = self.strand, !known.hasEnded {
      return run.violate(.check, "\(strand.name) starts \(known.name) a second time", at: place)
    }
    let name = name.flatMap { $0.isEmpty ? nil : $0 }
    let started = run.start(strand, name: name, at: place) { [self] in
      if type(of: self) == Thread.self { try body?() } else { main() }
    }
    started.thread = self
    self.strand = started
    run.pointBehindStart()
  }

  private func startReal() {
    ended.enter()
    let thread = Foundation.Thread { [self] in
      Thread.ofSystem = self
      main()
      Thread.ofSystem = nil
      ended.leave()
    }
    thread.name = name
    if stackSize > 0 { thread.stackSize = stackSize }
    thread.qualityOfService = qualityOfService
    if isToEnd { thread.cancel() }
    real = thread
    thread.start()
  }

  /// What the thread runs.
  open func main() { do { try body?() } catch { Stress.note(words(of: error)) } }

  /// The name in tables of schedules.
  open var name: String?
  /// The bytes of its stack, outside of explorations; 0 for as many as usual.
  open var stackSize = 0
  /// How much it matters, outside of explorations.
  open var qualityOfService = QualityOfService.default
  /// How much it matters, outside of explorations.
  open var threadPriority = 0.5
  /// What the program keeps by thread.
  open var threadDictionary: NSMutableDictionary { data }

  /// Waits for its end.
  public func join(file: StaticString = #fileID, line: UInt = #line) {
    guard let other = strand else {
      if real == nil, let (run, strand) = Run.current {
        run.violate(
          .check, "\(strand.name) waits for \(name ?? "a thread"), which was not started",
          at: Place(file: file, line: line))
      }
      return ended.wait()
    }
    guard let (run, strand) = Run.current else {
      fatalError("a thread of an exploration is joined outside of it")
    }
    run.join(strand, other, at: Place(file: file, line: line))
  }

  /// Whether it has ended.
  open var isFinished: Bool {
    guard let strand else { return real?.isFinished ?? false }
    passPoint(race_hunt_caller())
    return strand.hasEnded
  }

  /// Whether it has been started and has not ended.
  open var isExecuting: Bool {
    guard let strand else { return real?.isExecuting ?? false }
    passPoint(race_hunt_caller())
    return !strand.hasEnded
  }

  /// Whether it was told to end.
  open var isCancelled: Bool {
    passPoint(race_hunt_caller())
    return real?.isCancelled ?? isToEnd
  }

  /// Tells it to end; it has to look.
  open func cancel() {
    passPoint(race_hunt_caller())
    isToEnd = true
    real?.cancel()
  }

  /// Before something that other threads may change in a step of any kind, such as their last.
  private func passPoint(_ caller: UInt) {
    guard let (run, strand) = Run.current else { return }
    run.point(.unknown)
    run.record(strand, .touches, at: Place(call: caller))
  }

  /// Whether it is the main thread.
  open var isMainThread: Bool { strand.map { $0.kind == .main } ?? real?.isMainThread ?? false }

  private static let key = "RaceHunt.Thread"

  /// What a thread of the system is; those that others have started have none.
  private static var ofSystem: Thread? {
    get { Foundation.Thread.current.threadDictionary[key] as? Thread }
    set { Foundation.Thread.current.threadDictionary[key] = newValue }
  }

  /// The calling thread.
  open class var current: Thread {
    guard let (_, strand) = Run.current else {
      return ofSystem ?? Thread(of: Foundation.Thread.current)
    }
    if let thread = strand.thread { return thread }
    let thread = Thread()
    thread.name = strand.name
    thread.strand = strand
    strand.thread = thread
    return thread
  }

  /// The main thread; in an explored program the main actor's.
  open class var main: Thread { Thread(of: Foundation.Thread.mainThread) }

  /// Whether it is the main thread; in an explored program the main actor's.
  open class var isMainThread: Bool {
    guard let (_, strand) = Run.current else { return Foundation.Thread.isMainThread }
    return strand.kind == .main || strand.queues.last?.runs(on: .main) == true
  }

  /// Ends the calling thread where it is: what its functions hold is not given back.
  ///
  /// In an explored program those who join it go on, and its locks stay locked.
  open class func exit() {
    guard let (run, strand) = Run.current else {
      if let thread = ofSystem {
        ofSystem = nil
        thread.ended.leave()
      }
      return Foundation.Thread.exit()
    }
    run.exit(strand, "Thread.exit()")
  }

  /// Where the functions that are running go on.
  open class var callStackSymbols: [String] { Foundation.Thread.callStackSymbols }

  /// Lets others go first: a loop that waits for another thread has to call it.
  public static func yield(file: StaticString = #fileID, line: UInt = #line) {
    guard let (run, strand) = Run.current else {
      sched_yield()
      return
    }
    run.record(strand, .yields, at: Place(file: file, line: line))
    run.point(isYield: true)
  }

  /// Sleeps; in an explored program in virtual time, which passes when nobody can go on.
  public static func sleep(
    for duration: Duration, file: StaticString = #fileID, line: UInt = #line
  ) {
    guard let (run, strand) = Run.current else {
      usleep(UInt32(truncatingIfNeeded: duration.nanoseconds / 1_000))
      return
    }
    run.sleep(strand, nanoseconds: duration.nanoseconds, at: Place(file: file, line: line))
  }

  /// Sleeps for so many seconds.
  open class func sleep(forTimeInterval interval: TimeInterval) {
    guard let (run, strand) = Run.current else {
      return Foundation.Thread.sleep(forTimeInterval: interval)
    }
    run.sleep(strand, nanoseconds: UInt64(seconds: interval), at: Place(call: race_hunt_caller()))
  }

  /// Sleeps until a date.
  open class func sleep(until date: Date) {
    guard let (run, strand) = Run.current else { return Foundation.Thread.sleep(until: date) }
    run.sleep(strand, nanoseconds: UInt64(until: date), at: Place(call: race_hunt_caller()))
  }
}

extension Duration {
  /// Not below 0.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    return UInt64(seconds) &* 1_000_000_000 &+ UInt64(attoseconds / 1_000_000_000)
  }
}

extension UInt64 {
  /// Nanoseconds of so many seconds: not below 0, and no more than 100 years.
  init(seconds: TimeInterval) { self = UInt64(Swift.min(Swift.max(0, seconds), 3e9) * 1e9) }

  /// Nanoseconds until a date; what lies between making the date and asking differs from run to
  /// run, so that it is rounded.
  init(until date: Date) {
    self = JobHooks.rounded(UInt64(seconds: date.timeIntervalSinceNow))
  }
}

/// Fails the schedule, with this sentence, unless the condition holds; the schedule goes on.
public func check(
  _ condition: Bool, _ message: @autoclosure () -> String = "a check does not hold",
  file: StaticString = #fileID, line: UInt = #line
) {
  if condition { return }
  if let run = Worker.current?.run {
    run.violate(.check, message(), at: Place(file: file, line: line))
  } else {
    Stress.note(message())
  }
}

/// Writes a line into the table of the schedule; no point.
public func note(
  _ text: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  guard let (run, strand) = Run.current else { return }
  run.record(strand, .notes, text: text(), at: Place(file: file, line: line))
}

/// A number below `bound` that follows from the seed of the schedule.
public func random(below bound: Int) -> Int {
  guard let run = Worker.current?.run else { return Int.random(in: 0..<bound) }
  return run.random.next(below: bound)
}
