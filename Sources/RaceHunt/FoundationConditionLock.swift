// Foundation's lock with a condition, a number, for explored programs: there a lock of the run.
internal import CRaceHunt
public import Foundation

/// A lock that is taken under a condition, a number: `Foundation.NSConditionLock`.
open class NSConditionLock: NSObject, NSLocking, @unchecked Sendable {
  // @unchecked: in an exploration only the holder of the baton is here; else all is touched under
  // the lock of `changes`.
  private var home: UInt64 = 0
  private let changes = Foundation.NSCondition()
  /// Outside of explorations.
  private var isLocked = false
  private var number: Int

  /// Makes a lock with this condition.
  public init(condition: Int) {
    number = condition
    super.init()
    home = Run.home(address(of: self))
  }

  /// A lock with the condition 0.
  public convenience override init() { self.init(condition: 0) }

  deinit { Run.forget(address(of: self)) }

  /// The name in tables of schedules.
  open var name: String? {
    get { changes.name }
    set { changes.name = newValue }
  }

  /// The condition.
  open var condition: Int {
    guard let (run, strand) = Run.locking(home, "an NSConditionLock") else {
      changes.lock()
      defer { changes.unlock() }
      return number
    }
    let lock = run.resource(address(of: self), .mutex, name: name)
    let place = Place(call: race_hunt_caller())
    // Others change it where they give the lock up, which is no point.
    run.point(.accesses(lock, writes: true))
    run.record(strand, .loads, lock.number, value: number, at: place)
    return number
  }

  private func take(
    _ wanted: Int?, until limit: Date? = nil, waits: Bool = true, at call: UInt
  ) -> Bool {
    guard let (run, strand) = Run.locking(home, "an NSConditionLock") else {
      return takeReal(wanted, until: limit, waits: waits)
    }
    let (lock, place) = (address(of: self), Place(call: call))
    let time = limit.map { UInt64(until: $0) }
    if let wanted {
      return run.lock(
        strand, lock, name: name, whenCondition: wanted, at: place, nanoseconds: time,
        tries: !waits
      ) { number }
    }
    if !waits { return run.tryLock(strand, lock, name: name, at: place) }
    if let time { return run.lock(strand, lock, name: name, at: place, nanoseconds: time) }
    run.lock(strand, lock, name: name, at: place)
    return true
  }

  private func takeReal(_ wanted: Int?, until limit: Date?, waits: Bool) -> Bool {
    changes.lock()
    defer { changes.unlock() }
    while isLocked || wanted.map({ $0 != number }) ?? false {
      if !waits { return false }
      if let limit {
        if !changes.wait(until: limit) { return false }
      } else {
        changes.wait()
      }
    }
    isLocked = true
    return true
  }

  private func giveUp(_ condition: Int?, at call: UInt) {
    guard let (run, strand) = Run.current else {
      changes.lock()
      if let condition { number = condition }
      isLocked = false
      changes.broadcast()
      return changes.unlock()
    }
    let lock = address(of: self)
    if let condition, run.owner(of: lock) === strand { number = condition }
    run.unlock(strand, lock, name: name, at: Place(call: call))
  }

  /// Waits for the lock and takes it, whatever the condition.
  open func lock() { _ = take(nil, at: race_hunt_caller()) }
  /// Gives the lock up.
  open func unlock() { giveUp(nil, at: race_hunt_caller()) }
  /// Waits for lock and condition.
  open func lock(whenCondition condition: Int) { _ = take(condition, at: race_hunt_caller()) }
  /// Takes the lock if nobody has it; false otherwise.
  open func `try`() -> Bool { take(nil, waits: false, at: race_hunt_caller()) }
  /// Takes the lock if nobody has it and the condition holds; false otherwise.
  open func tryLock(whenCondition condition: Int) -> Bool {
    take(condition, waits: false, at: race_hunt_caller())
  }
  /// Gives the lock up with another condition.
  open func unlock(withCondition condition: Int) { giveUp(condition, at: race_hunt_caller()) }
  /// Waits for the lock until a date; false when it has not got it.
  open func lock(before limit: Date) -> Bool { take(nil, until: limit, at: race_hunt_caller()) }
  /// Waits for lock and condition until a date; false when it has not got it.
  open func lock(whenCondition condition: Int, before limit: Date) -> Bool {
    take(condition, until: limit, at: race_hunt_caller())
  }
}
