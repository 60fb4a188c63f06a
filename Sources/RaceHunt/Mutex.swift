// A lock with the names of the module Synchronization, and a condition for it.
public import CRaceHunt
public import Synchronization

/// A value behind a lock: `Synchronization.Mutex`, by its names.
///
/// In an explored program each locking is a point: another strand may go first. Elsewhere it is the
/// lock of that module. Not recursive: who locks what it has locked is found as a deadlock.
public final class Mutex<Value: ~Copyable>: @unchecked Sendable {
  // @unchecked: the value is touched only by who has the lock.
  @usableFromInline let real: Synchronization.Mutex<Void>
  @usableFromInline let cell: _Cell<Value>
  private let name: String?
  let home: UInt64

  /// Makes a lock; the name stands in tables of schedules.
  public init(_ initialValue: consuming sending Value, name: String? = nil) {
    real = Synchronization.Mutex(())
    cell = _Cell(initialValue)
    self.name = name
    home = Run.home(UInt(bitPattern: cell._address) &+ 1)
  }

  deinit { Run.forget(address) }

  var address: UInt { UInt(bitPattern: cell._address) &+ 1 }

  /// Runs `body` with the lock.
  @inlinable
  public func withLock<Result: ~Copyable, Failure: Error>(
    file: StaticString = #fileID, line: UInt = #line,
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock(file: file, line: line)
    defer { unlock(file: file, line: line) }
    // Not in one expression: it would count as a change of this object.
    let address = cell._address
    return try body(&address.pointee)
  }

  /// Runs `body` with the lock if nobody has it; nil otherwise.
  @inlinable
  public func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    file: StaticString = #fileID, line: UInt = #line,
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard tryLock(file: file, line: line) else { return nil }
    defer { unlock(file: file, line: line) }
    // Not in one expression: it would count as a change of this object.
    let address = cell._address
    return try body(&address.pointee)
  }

  /// Waits for the lock and takes it.
  @inlinable
  public func lock(file: StaticString = #fileID, line: UInt = #line) {
    if race_hunt_is_exploring() != 0 && passLock(file, line) { return }
    real._unsafeLock()
  }

  /// Takes the lock if nobody has it; false otherwise.
  @inlinable
  public func tryLock(file: StaticString = #fileID, line: UInt = #line) -> Bool {
    if race_hunt_is_exploring() != 0, let isTaken = passTryLock(file, line) { return isTaken }
    return real._unsafeTryLock()
  }

  /// Gives the lock up.
  @inlinable
  public func unlock(file: StaticString = #fileID, line: UInt = #line) {
    if race_hunt_is_exploring() != 0 && passUnlock(file, line) { return }
    real._unsafeUnlock()
  }

  /// False outside of explored programs, where nothing is done unless the thread sanitizer is to be
  /// told.
  @usableFromInline
  func passLock(_ file: StaticString, _ line: UInt) -> Bool {
    guard let (run, strand) = Run.current(home, "another thread locks a Mutex at", file, line)
    else {
      guard race_hunt_is_sanitized() != 0 else { return false }
      lockReal()
      return true
    }
    run.lock(strand, address, name: name, at: Place(file: file, line: line))
    strand.takeReal(self)
    return true
  }

  /// Whether it has the lock now; nil outside of explored programs.
  @usableFromInline
  func passTryLock(_ file: StaticString, _ line: UInt) -> Bool? {
    guard let (run, strand) = Run.current(home, "another thread locks a Mutex at", file, line)
    else {
      guard race_hunt_is_sanitized() != 0 else { return nil }
      guard real._unsafeTryLock() else { return false }
      race_hunt_acquired(cell._address)
      return true
    }
    guard run.tryLock(strand, address, name: name, at: Place(file: file, line: line))
    else { return false }
    strand.takeReal(self)
    return true
  }

  /// False outside of explored programs, where nothing is done.
  @usableFromInline
  func passUnlock(_ file: StaticString, _ line: UInt) -> Bool {
    guard let (run, strand) = Run.current else {
      guard race_hunt_is_sanitized() != 0 else { return false }
      unlockReal()
      return true
    }
    if run.unlock(strand, address, name: name, at: Place(file: file, line: line)) {
      strand.giveBackReal(self)
    }
    return true
  }
}

/// A lock of the machine that stands beside one of a run: another exploration of the process, or a
/// thread that is not under control, may have the same object.
protocol RealLock: AnyObject {
  /// The run in which it was made; 0 for none.
  var home: UInt64 { get }
  func lockReal()
  /// Only on the thread that has locked it.
  func unlockReal()
}

extension Mutex: RealLock where Value: ~Copyable {
  func lockReal() {
    real._unsafeLock()
    race_hunt_acquired(cell._address)
  }

  func unlockReal() {
    race_hunt_releases(cell._address)
    real._unsafeUnlock()
  }
}

extension Strand {
  func takeReal(_ lock: any RealLock) {
    if let run = worker?.run, lock.home != run.identity { run.takeGlobalLocks() }
    lock.lockReal()
    realLocks.append(lock)
  }

  /// Nothing when it has not got it any more: a task has none of them at its next job.
  func giveBackReal(_ lock: any RealLock) {
    guard let index = realLocks.lastIndex(where: { $0 === lock }) else { return }
    realLocks.remove(at: index).unlockReal()
  }

  /// Called on its thread, which goes no further in the program: what is locked for good in this
  /// run is not to be so in the next one.
  func leaveRealLocks() {
    for lock in realLocks.reversed() { lock.unlockReal() }
  }
}

extension Mutex {
  /// The value; only for who has the lock.
  public var value: Value {
    get { cell._address.pointee }
    set { cell._address.pointee = newValue }
  }
}

/// Something to wait for with a lock.
///
/// It may wake those who wait for nothing, as everywhere, and `notifyOne` any of them.
public final class Condition: Sendable {
  /// How often it was notified: who waits sleeps until that changes.
  private let notifications = Synchronization.Atomic<UInt32>(0)
  private let name: String?

  /// Makes a condition; the name stands in tables of schedules.
  public init(name: String? = nil) {
    self.name = name
    _ = Run.home(address)
  }

  deinit { Run.forget(address) }

  private var address: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Gives the lock up, waits to be notified, and takes the lock again.
  public func wait<Value: ~Copyable>(
    _ mutex: Mutex<Value>, file: StaticString = #fileID, line: UInt = #line
  ) {
    guard let (run, strand) = Run.current else {
      let seen = notifications.load(ordering: .relaxed)
      mutex.unlockReal()
      withUnsafeWord { race_hunt_wait_while($0, seen) }
      mutex.lockReal()
      return
    }
    strand.giveBackReal(mutex)
    _ = run.wait(
      strand, address, name: name, mutex: mutex.address, nanoseconds: nil,
      at: Place(file: file, line: line))
    strand.takeReal(mutex)
  }

  /// Wakes one that waits, if there is one.
  public func notifyOne(file: StaticString = #fileID, line: UInt = #line) {
    notify(all: false, Place(file: file, line: line))
  }

  /// Wakes all that wait.
  public func notifyAll(file: StaticString = #fileID, line: UInt = #line) {
    notify(all: true, Place(file: file, line: line))
  }

  private func notify(all: Bool, _ place: Place) {
    guard let (run, strand) = Run.current else {
      notifications.wrappingAdd(1, ordering: .releasing)
      withUnsafeWord { race_hunt_wake_many($0, all ? Int32.max : 1) }
      return
    }
    run.notify(strand, address, name: name, all: all, at: place)
  }

  /// The word lies in the object, where it does not move.
  private func withUnsafeWord(_ body: (UnsafePointer<UInt32>) -> Void) {
    withUnsafePointer(to: notifications) {
      body(UnsafeRawPointer($0).assumingMemoryBound(to: UInt32.self))
    }
  }
}
