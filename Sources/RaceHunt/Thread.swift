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
  /// The thread of the system that it has started, outside of explorations.
  private var real: Foundation.Thread?
  /// One of the system that others have started, which keeps this object.
  private weak var foreign: Foundation.Thread?
  private let origin: Origin
  /// Whether it was cancelled when it was started, so that it has ended without a step.
  private var endedAtStart = false
  /// Tells that a thread of the system has ended.
  private let ended = Dispatch.DispatchGroup()

  private enum Origin { case program, main, others }

  /// A thread that runs `main`.
  public override init() {
    body = nil
    origin = .program
    super.init()
  }

  /// A thread that runs `block` once it is started.
  public convenience init(block: @Sendable @escaping () -> Void) { self.init(nil, block) }

  private init(_ name: String?, _ body: @escaping @Sendable () throws -> Void) {
    self.body = body
    origin = .program
    super.init()
    self.name = name
  }

  /// One that is there.
  private init(of thread: Foundation.Thread?, _ origin: Origin) {
    body = nil
    foreign = thread
    self.origin = origin
    super.init()
    name = thread?.name
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
    thread.start(at: Place(file: file, line: line), isToBeJoined: true)
    return thread
  }

  /// Starts a thread that nobody joins.
  open class func detachNewThread(_ block: @Sendable @escaping () -> Void) {
    Thread(block: block).start(at: Place(call: race_hunt_caller()))
  }

  /// Starts the thread; nothing of one runs that was cancelled before.
  ///
  /// In an explored program it may wait for more to do when the program has ended.
  open func start() { start(at: Place(call: race_hunt_caller())) }

  private func start(at place: Place?, isToBeJoined: Bool = false) {
    guard let (run, strand) = Run.current else { return startReal() }
    // One that a global keeps may have been started in an earlier schedule.
    if let known = self.strand, known.number < run.strands.count,
      run.strands[known.number] === known
    {
      return run.violate(.check, "\(strand.name) starts \(known.name) a second time", at: place)
    }
    let name = name.flatMap { $0.isEmpty ? nil : $0 }
    endedAtStart = isToEnd
    if endedAtStart {
      let text = "starts \(name ?? "a thread"), which was cancelled"
      return run.record(strand, .notes, text: text, at: place)
    }
    let started = run.start(strand, name: name, stackSize: stackSize, at: place) { [self] in
      if type(of: self) == Thread.self { try body?() } else { main() }
    }
    started.isGivenUp = !isToBeJoined
    started.thread = self
    self.strand = started
    run.pointBehindStart()
  }

  private func startReal() {
    endedAtStart = isToEnd
    if !endedAtStart { ended.enter() }
    let thread = Foundation.Thread { [self] in
      Thread.ofSystem = self
      main()
      Thread.ofSystem = nil
      ended.leave()
    }
    thread.name = name
    if stackSize > 0 { thread.stackSize = stackSize }
    thread.qualityOfService = qualityOfService
    if endedAtStart { thread.cancel() }
    real = thread
    thread.start()
  }

  /// What the thread runs.
  open func main() { do { try body?() } catch { Stress.note(words(of: error)) } }

  /// The name in tables of schedules.
  open var name: String? { didSet { foreign?.name = name } }
  /// The bytes of its stack; 0 for as many as usual.
  ///
  /// In an explored program it has at least as many as usual.
  open var stackSize = 0
  /// How much it matters, outside of explorations.
  open var qualityOfService = QualityOfService.default
  /// How much it matters, outside of explorations.
  open var threadPriority = 0.5
  /// What the program keeps by thread.
  open var threadDictionary: NSMutableDictionary { foreign?.threadDictionary ?? data }

  /// Waits for its end.
  public func join(file: StaticString = #fileID, line: UInt = #line) {
    guard let other = strand else {
      if real == nil, !endedAtStart, let (run, strand) = Run.current {
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
    guard let strand else {
      switch origin {
      case .program: return endedAtStart || real?.isFinished ?? false
      case .main: return false
      case .others: return foreign?.isFinished ?? true
      }
    }
    passPoint(race_hunt_caller())
    return strand.hasEnded
  }

  /// Whether it has begun and has not ended.
  open var isExecuting: Bool {
    guard let strand else { return origin == .main || (real ?? foreign)?.isExecuting ?? false }
    passPoint(race_hunt_caller())
    // It was started, and may not have begun.
    return strand.body == nil && !strand.hasEnded
  }

  /// Whether it was told to end.
  open var isCancelled: Bool {
    passPoint(race_hunt_caller())
    return (real ?? foreign)?.isCancelled ?? isToEnd
  }

  /// Tells it to end; it has to look.
  open func cancel() {
    passPoint(race_hunt_caller())
    isToEnd = true
    (real ?? foreign)?.cancel()
  }

  /// Before something that other threads may change in a step of any kind, such as their last.
  private func passPoint(_ caller: UInt) {
    guard let (run, strand) = Run.current else { return }
    run.point(.unknown)
    run.record(strand, .touches, at: Place(call: caller))
  }

  /// Whether it is the main thread.
  open var isMainThread: Bool { origin == .main }

  private static let key = "RaceHunt.Thread"

  /// The main thread of the process.
  private static let mainOfSystem = Thread(of: Foundation.Thread.mainThread, .main)

  /// What a thread of the system is, once somebody has asked.
  private static var ofSystem: Thread? {
    get { Foundation.Thread.current.threadDictionary[key] as? Thread }
    set { Foundation.Thread.current.threadDictionary[key] = newValue }
  }

  /// The calling thread.
  open class var current: Thread {
    guard let (run, strand) = Run.current else {
      if Foundation.Thread.isMainThread { return mainOfSystem }
      if let thread = ofSystem { return thread }
      let thread = Thread(of: Foundation.Thread.current, .others)
      ofSystem = thread
      return thread
    }
    if strand.isOnMain { return mainThread(of: run) }
    if let thread = strand.thread { return thread }
    let thread = Thread()
    thread.name = strand.name
    thread.strand = strand
    strand.thread = thread
    return thread
  }

  /// The main thread; in an explored program the main actor's.
  open class var mainThread: Thread { Run.current.map { mainThread(of: $0.run) } ?? mainOfSystem }

  /// The main thread, as Apple's systems call it.
  open class var main: Thread { mainThread }

  private static func mainThread(of run: Run) -> Thread {
    if let known = run.mainThread { return known }
    let made = Thread(of: nil, .main)
    run.mainThread = made
    return made
  }

  /// Whether there is more than one thread.
  open class func isMultiThreaded() -> Bool {
    Run.current != nil || Foundation.Thread.isMultiThreaded()
  }

  /// Whether it is the main thread; in an explored program the main actor's.
  open class var isMainThread: Bool {
    guard let (_, strand) = Run.current else { return Foundation.Thread.isMainThread }
    return strand.isOnMain
  }

  /// Ends the calling thread where it is: what its functions hold is not given back.
  ///
  /// In an explored program those who join it go on, and its locks stay locked.
  open class func exit() {
    guard let (run, strand) = Run.current else {
      if let thread = ofSystem, thread.real != nil {
        ofSystem = nil
        thread.ended.leave()
      }
      return Foundation.Thread.exit()
    }
    run.exit(strand, "Thread.exit()")
  }

  /// The addresses where the functions that are running go on.
  open class var callStackReturnAddresses: [NSNumber] {
    Foundation.Thread.callStackReturnAddresses
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
      return Foundation.Thread.sleep(forTimeInterval: Double(duration.nanoseconds) / 1e9)
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
  /// Not below 0, and no more than 100 years.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    return UInt64(Swift.min(seconds, 3_155_760_000)) * 1_000_000_000
      + UInt64(attoseconds / 1_000_000_000)
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

/// A point of the program's own: others may come before it.
///
/// For what RaceHunt does not know: a lock or a word of another library, such as swift-atomics or
/// NIO, code in C, a file, a property that is `nonisolated(unsafe)`. Call it before each access.
/// Nothing outside of explorations.
///
/// - Parameters:
///   - text: what is done there, for the table.
///   - object: what is used. Orders of points of different objects, and of two that only read, are
///     not tried; without one it counts as an access to everything.
///   - writes: whether others may see the difference.
public func point(
  _ text: @autoclosure () -> String, on object: AnyObject? = nil, writes: Bool = true,
  file: StaticString = #fileID, line: UInt = #line
) {
  guard let (run, strand) = Run.current else { return }
  if let object {
    // The object may have a lock of RaceHunt's at its own address.
    let key = 1 << 62 | UInt(bitPattern: ObjectIdentifier(object))
    run.point(.accesses(run.resource(key, .object, name: nil), writes: writes))
  } else {
    run.point(.unknown)
  }
  run.record(strand, .notes, text: text(), at: Place(file: file, line: line))
}

/// A number below `bound` that follows from the seed of the schedule.
public func random(below bound: Int) -> Int {
  guard let run = Worker.current?.run else { return Int.random(in: 0..<bound) }
  return run.draw(below: bound)
}
