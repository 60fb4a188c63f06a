// A lock and a condition for explored programs. Outside of an exploration they are the system's.
internal import Glibc

/// A value behind a lock.
///
/// In an explored program each locking is a point: another strand may go first. Elsewhere it is a
/// lock of the system. Not recursive: who locks what it has locked is found as a deadlock.
public final class Mutex<Value>: @unchecked Sendable {
  // @unchecked: `stored` is touched only by who has the lock. Unchecked exclusivity: the lock
  // excludes all others, and what runs meanwhile may wait at a point.
  private let real: UnsafeMutablePointer<pthread_mutex_t>
  @exclusivity(unchecked) private var stored: Value
  private let name: String?

  /// Makes a lock; the name stands in tables of schedules.
  public init(_ value: sending Value, name: String? = nil) {
    stored = value
    self.name = name
    real = .allocate(capacity: 1)
    real.initialize(to: pthread_mutex_t())
    pthread_mutex_init(real, nil)
  }

  deinit {
    Worker.current?.run?.forget(address)
    pthread_mutex_destroy(real)
    real.deallocate()
  }

  var address: UInt { UInt(bitPattern: real) }
  var realMutex: UnsafeMutablePointer<pthread_mutex_t> { real }

  /// The value; only for who has the lock.
  public var value: Value {
    get { stored }
    set { stored = newValue }
  }

  /// Runs `body` with the lock.
  public func withLock<Result, Failure: Error>(
    file: StaticString = #fileID, line: UInt = #line,
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock(file: file, line: line)
    defer { unlock(file: file, line: line) }
    return try body(&stored)
  }

  /// Waits for the lock and takes it.
  public func lock(file: StaticString = #fileID, line: UInt = #line) {
    guard let (run, strand) = Run.current else {
      pthread_mutex_lock(real)
      return
    }
    run.lock(strand, address, name: name, at: Place(file: file, line: line))
  }

  /// Takes the lock if nobody has it; false otherwise.
  public func tryLock(file: StaticString = #fileID, line: UInt = #line) -> Bool {
    guard let (run, strand) = Run.current else { return pthread_mutex_trylock(real) == 0 }
    return run.tryLock(strand, address, name: name, at: Place(file: file, line: line))
  }

  /// Gives the lock up.
  public func unlock(file: StaticString = #fileID, line: UInt = #line) {
    guard let (run, strand) = Run.current else {
      pthread_mutex_unlock(real)
      return
    }
    run.unlock(strand, address, name: name, at: Place(file: file, line: line))
  }
}

/// Something to wait for with a lock.
///
/// Wakes nobody for nothing in an explored program, as some systems may.
public final class Condition: @unchecked Sendable {
  // @unchecked: holds nothing but the system's condition, which is made for threads.
  private let real: UnsafeMutablePointer<pthread_cond_t>
  private let name: String?

  /// Makes a condition; the name stands in tables of schedules.
  public init(name: String? = nil) {
    self.name = name
    real = .allocate(capacity: 1)
    real.initialize(to: pthread_cond_t())
    pthread_cond_init(real, nil)
  }

  deinit {
    Worker.current?.run?.forget(UInt(bitPattern: real))
    pthread_cond_destroy(real)
    real.deallocate()
  }

  /// Gives the lock up, waits to be notified, and takes the lock again.
  public func wait<Value>(
    _ mutex: Mutex<Value>, file: StaticString = #fileID, line: UInt = #line
  ) {
    guard let (run, strand) = Run.current else {
      pthread_cond_wait(real, mutex.realMutex)
      return
    }
    _ = run.wait(
      strand, UInt(bitPattern: real), name: name, mutex: mutex.address, nanoseconds: nil,
      at: Place(file: file, line: line))
  }

  /// Wakes one that waits, if there is one.
  public func notifyOne(file: StaticString = #fileID, line: UInt = #line) {
    guard let (run, strand) = Run.current else {
      pthread_cond_signal(real)
      return
    }
    run.notify(
      strand, UInt(bitPattern: real), name: name, all: false, at: Place(file: file, line: line))
  }

  /// Wakes all that wait.
  public func notifyAll(file: StaticString = #fileID, line: UInt = #line) {
    guard let (run, strand) = Run.current else {
      pthread_cond_broadcast(real)
      return
    }
    run.notify(
      strand, UInt(bitPattern: real), name: name, all: true, at: Place(file: file, line: line))
  }
}
