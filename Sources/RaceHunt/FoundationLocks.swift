// Foundation's locks for explored programs. Outside of an exploration they are Foundation's.
internal import CRaceHunt
public import Foundation

/// A lock: `Foundation.NSLock`.
open class NSLock: NSObject, NSLocking, @unchecked Sendable {
  // @unchecked: the lock itself is made for threads.
  private var home: UInt64 = 0
  private let real = Foundation.NSLock()

  /// Makes a lock that nobody has.
  public override init() {
    super.init()
    home = Run.home(address(of: self))
  }

  /// The name in tables of schedules.
  open var name: String? {
    get { real.name }
    set { real.name = newValue }
  }

  deinit { Run.forget(address(of: self)) }

  /// Waits for the lock and takes it.
  open func lock() { lock(at: Place(call: race_hunt_caller())) }

  private func lock(at place: Place) {
    guard let (run, strand) = Run.locking(home, "an NSLock") else { return real.lock() }
    run.lock(strand, address(of: self), name: name, at: place)
  }

  /// Gives the lock up.
  open func unlock() { unlock(at: Place(call: race_hunt_caller())) }

  private func unlock(at place: Place) {
    guard let (run, strand) = Run.current else { return real.unlock() }
    run.unlock(strand, address(of: self), name: name, at: place)
  }

  /// Runs `body` with the lock.
  public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    // A subclass may lock in its own way.
    if type(of: self) != NSLock.self {
      lock()
      defer { unlock() }
      return try body()
    }
    let place = Place(call: race_hunt_caller())
    lock(at: place)
    defer { unlock(at: place) }
    return try body()
  }

  /// Takes the lock if nobody has it; false otherwise.
  open func `try`() -> Bool {
    guard let (run, strand) = Run.locking(home, "an NSLock") else { return real.try() }
    return run.tryLock(strand, address(of: self), name: name, at: Place(call: race_hunt_caller()))
  }

  /// Waits for the lock until a date; false when it has not got it.
  open func lock(before limit: Date) -> Bool {
    guard let (run, strand) = Run.locking(home, "an NSLock") else {
      return real.lock(before: limit)
    }
    return run.lock(
      strand, address(of: self), name: name, at: Place(call: race_hunt_caller()),
      nanoseconds: UInt64(until: limit))
  }
}

/// A lock that its owner can lock again: `Foundation.NSRecursiveLock`.
open class NSRecursiveLock: NSObject, NSLocking, @unchecked Sendable {
  // @unchecked: the count is touched only by who has the lock.
  private var home: UInt64 = 0
  private let real = Foundation.NSRecursiveLock()
  private var depth = 0

  /// Makes a lock that nobody has.
  public override init() {
    super.init()
    home = Run.home(address(of: self))
  }

  /// The name in tables of schedules.
  open var name: String? {
    get { real.name }
    set { real.name = newValue }
  }

  deinit { Run.forget(address(of: self)) }

  private func isMine(_ run: Run, _ strand: Strand) -> Bool {
    run.owner(of: address(of: self)) === strand
  }

  /// Waits for the lock and takes it.
  open func lock() { lock(at: Place(call: race_hunt_caller())) }

  private func lock(at place: Place) {
    guard let (run, strand) = Run.locking(home, "an NSRecursiveLock") else { return real.lock() }
    let isMine = isMine(run, strand)
    if !isMine { run.lock(strand, address(of: self), name: name, at: place) }
    noteTaken(again: isMine)
  }

  /// Not counted on: a run that was ended where it was has left the count of a global lock.
  private func noteTaken(again: Bool) { depth = again ? depth + 1 : 1 }

  /// Gives the lock up as often as it was taken.
  open func unlock() { unlock(at: Place(call: race_hunt_caller())) }

  private func unlock(at place: Place) {
    guard let (run, strand) = Run.current else { return real.unlock() }
    if isMine(run, strand) && depth > 1 {
      depth -= 1
    } else {
      depth = 0
      run.unlock(strand, address(of: self), name: name, at: place)
    }
  }

  /// Runs `body` with the lock.
  public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    // A subclass may lock in its own way.
    if type(of: self) != NSRecursiveLock.self {
      lock()
      defer { unlock() }
      return try body()
    }
    let place = Place(call: race_hunt_caller())
    lock(at: place)
    defer { unlock(at: place) }
    return try body()
  }

  /// Takes the lock if no other thread has it; false otherwise.
  open func `try`() -> Bool {
    guard let (run, strand) = Run.locking(home, "an NSRecursiveLock") else { return real.try() }
    let place = Place(call: race_hunt_caller())
    let isMine = isMine(run, strand)
    let isTaken = isMine || run.tryLock(strand, address(of: self), name: name, at: place)
    if isTaken { noteTaken(again: isMine) }
    return isTaken
  }

  /// Waits for the lock until a date; false when it has not got it.
  open func lock(before limit: Date) -> Bool {
    guard let (run, strand) = Run.locking(home, "an NSRecursiveLock") else {
      return real.lock(before: limit)
    }
    let place = Place(call: race_hunt_caller())
    let isMine = isMine(run, strand)
    let isTaken =
      isMine
      || run.lock(
        strand, address(of: self), name: name, at: place, nanoseconds: UInt64(until: limit))
    if isTaken { noteTaken(again: isMine) }
    return isTaken
  }
}

/// A lock and something to wait for: `Foundation.NSCondition`.
open class NSCondition: NSObject, NSLocking, @unchecked Sendable {
  // @unchecked: the lock itself is made for threads.
  private var home: UInt64 = 0
  private let real = Foundation.NSCondition()
  private var condition: UInt { address(of: self) &+ 1 }

  /// Makes a lock that nobody has, and that nobody waits with.
  public override init() {
    super.init()
    home = Run.home(address(of: self))
    _ = Run.home(condition)
  }

  /// The name in tables of schedules.
  open var name: String? {
    get { real.name }
    set { real.name = newValue }
  }

  deinit {
    Run.forget(address(of: self))
    Run.forget(condition)
  }

  /// Waits for the lock and takes it.
  open func lock() { lock(at: Place(call: race_hunt_caller())) }

  private func lock(at place: Place) {
    guard let (run, strand) = Run.locking(home, "an NSCondition") else { return real.lock() }
    run.lock(strand, address(of: self), name: name, at: place)
  }

  /// Gives the lock up.
  open func unlock() { unlock(at: Place(call: race_hunt_caller())) }

  private func unlock(at place: Place) {
    guard let (run, strand) = Run.current else { return real.unlock() }
    run.unlock(strand, address(of: self), name: name, at: place)
  }

  /// Runs `body` with the lock.
  public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    // A subclass may lock in its own way.
    if type(of: self) != NSCondition.self {
      lock()
      defer { unlock() }
      return try body()
    }
    let place = Place(call: race_hunt_caller())
    lock(at: place)
    defer { unlock(at: place) }
    return try body()
  }

  /// Gives the lock up, waits for a signal, and takes the lock again.
  open func wait() { wait(at: Place(call: race_hunt_caller())) }

  private func wait(at place: Place) {
    guard let (run, strand) = Run.current else { return real.wait() }
    _ = run.wait(
      strand, condition, name: name, mutex: address(of: self), nanoseconds: nil, at: place)
  }

  /// As `wait()`, until a date; false when no signal came.
  open func wait(until limit: Date) -> Bool {
    wait(until: limit, at: Place(call: race_hunt_caller()))
  }

  private func wait(until limit: Date, at place: Place) -> Bool {
    guard let (run, strand) = Run.current else { return real.wait(until: limit) }
    return run.wait(
      strand, condition, name: name, mutex: address(of: self), nanoseconds: UInt64(until: limit),
      at: place)
  }

  /// Wakes one that waits, if there is one.
  open func signal() {
    guard let (run, strand) = Run.locking(home, "an NSCondition") else { return real.signal() }
    let place = Place(call: race_hunt_caller())
    run.notify(strand, condition, name: name, all: false, at: place)
  }

  /// Wakes all that wait.
  open func broadcast() { broadcast(at: Place(call: race_hunt_caller())) }

  private func broadcast(at place: Place) {
    guard let (run, strand) = Run.locking(home, "an NSCondition") else { return real.broadcast() }
    run.notify(strand, condition, name: name, all: true, at: place)
  }
}

/// The number of an object in its run.
func address(of object: AnyObject) -> UInt {
  UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
}

extension Run {
  /// As `current`; a thread that is not under control is noted in the run of the lock.
  static func locking(
    _ home: UInt64, _ what: String
  ) -> (run: Run, strand: Strand)? {
    if let current {
      // Another exploration may have the same lock, which knows its own run's strands alone.
      if home != current.run.identity { current.run.takeGlobalLocks() }
      return current
    }
    if home != 0 && Worker.current == nil {
      ActiveRuns.noteOutsider(home, "another thread uses \(what)")
    }
    return nil
  }

  /// Who has the lock.
  func owner(of address: UInt) -> Strand? { resources[address]?.owner }
}
