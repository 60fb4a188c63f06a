// Mutexes and conditions of POSIX for explored programs, by their names in C. Outside of an
// exploration they are the system's. In an explored program the memory of one is read, as its kind
// stands there, and not changed.
public import CRaceHunt
public import Glibc

/// How often the owner of a recursive mutex has locked it.
private final class Depth {
  var count = 0
}

private func location<Object>(of object: UnsafeMutablePointer<Object>) -> UInt {
  UInt(bitPattern: object)
}

extension pthread_mutex_t {
  /// What the system keeps there; a mutex that never was made has the first one.
  fileprivate var isRecursive: Bool { __data.__kind & 3 == Int32(PTHREAD_MUTEX_RECURSIVE) }
  fileprivate var isChecked: Bool { __data.__kind & 3 == Int32(PTHREAD_MUTEX_ERRORCHECK) }
}

extension timespec {
  /// Whether it is one: a second has so many nanoseconds.
  var isTime: Bool { 0..<1_000_000_000 ~= tv_nsec }
}

extension Run {
  /// Called before a lock of POSIX is asked for: another exploration may have the same one.
  func noteLock(_ lock: UnsafeRawPointer) {
    if race_hunt_is_static(lock) != 0 { takeGlobalLocks() }
  }

  /// Nanoseconds until a time of one of the clocks, whose time is virtual.
  static func left(until time: timespec, _ clock: clockid_t) -> UInt64 {
    var now = timespec()
    race_hunt_clock(clock, &now)
    let seconds = Double(time.tv_sec - now.tv_sec)
    return JobHooks.rounded(UInt64(seconds: seconds + Double(time.tv_nsec - now.tv_nsec) / 1e9))
  }

  private func depth(_ mutex: UInt) -> Depth { part(at: mutex) { Depth() } }

  /// What a mutex that is the strand's says to another locking; nil when it is not.
  fileprivate func lockAgain(
    _ strand: Strand, _ mutex: UnsafeMutablePointer<pthread_mutex_t>, tries: Bool
  ) -> Int32? {
    guard owner(of: location(of: mutex)) === strand else { return nil }
    if mutex.pointee.isRecursive {
      depth(location(of: mutex)).count += 1
      return 0
    }
    if tries { return EBUSY }
    return mutex.pointee.isChecked ? EDEADLK : nil
  }

  fileprivate func unlock(
    _ strand: Strand, _ mutex: UnsafeMutablePointer<pthread_mutex_t>, at place: Place
  ) -> Int32 {
    let number = location(of: mutex)
    if owner(of: number) === strand {
      if let depth = parts[number] as? Depth, depth.count > 0 {
        depth.count -= 1
        return 0
      }
    } else if mutex.pointee.isChecked || mutex.pointee.isRecursive {
      return EPERM
    }
    unlock(strand, number, name: nil, at: place)
    return 0
  }
}

/// Makes a mutex that nobody has.
@discardableResult
public func pthread_mutex_init(
  _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
  _ attributes: UnsafePointer<pthread_mutexattr_t>?
) -> Int32 {
  Run.renew(location(of: mutex))
  return Glibc.pthread_mutex_init(mutex, attributes)
}

/// The memory of a mutex may become something else.
@discardableResult
public func pthread_mutex_destroy(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
  if let (run, strand) = Run.current, let owner = run.owner(of: location(of: mutex)) {
    run.violate(
      .check, "\(strand.name) destroys a mutex that \(owner.name) has locked",
      at: Place(call: race_hunt_caller()))
  }
  Run.forget(location(of: mutex))
  return Glibc.pthread_mutex_destroy(mutex)
}

/// Waits for the mutex and takes it.
@discardableResult
public func pthread_mutex_lock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_mutex_lock(mutex) }
  run.noteLock(mutex)
  if let answer = run.lockAgain(strand, mutex, tries: false) { return answer }
  run.lock(strand, location(of: mutex), name: nil, at: Place(call: race_hunt_caller()))
  return 0
}

/// Takes the mutex if nobody has it.
@discardableResult
public func pthread_mutex_trylock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_mutex_trylock(mutex) }
  run.noteLock(mutex)
  if let answer = run.lockAgain(strand, mutex, tries: true) { return answer }
  let place = Place(call: race_hunt_caller())
  return run.tryLock(strand, location(of: mutex), name: nil, at: place) ? 0 : EBUSY
}

/// Waits for the mutex until a time of the calendar.
@discardableResult
public func pthread_mutex_timedlock(
  _ mutex: UnsafeMutablePointer<pthread_mutex_t>, _ time: UnsafePointer<timespec>
) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_mutex_timedlock(mutex, time) }
  run.noteLock(mutex)
  let place = Place(call: race_hunt_caller())
  if let answer = run.lockAgain(strand, mutex, tries: false) { return answer }
  // A time that is none matters only to whoever has to wait.
  guard time.pointee.isTime else {
    return run.tryLock(strand, location(of: mutex), name: nil, at: place) ? 0 : EINVAL
  }
  let isLocked = run.lock(
    strand, location(of: mutex), name: nil, at: place,
    nanoseconds: Run.left(until: time.pointee, CLOCK_REALTIME))
  return isLocked ? 0 : ETIMEDOUT
}

/// Gives the mutex up.
@discardableResult
public func pthread_mutex_unlock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_mutex_unlock(mutex) }
  return run.unlock(strand, mutex, at: Place(call: race_hunt_caller()))
}

// MARK: - Conditions

/// Makes a condition that nobody waits for.
@discardableResult
public func pthread_cond_init(
  _ condition: UnsafeMutablePointer<pthread_cond_t>,
  _ attributes: UnsafePointer<pthread_condattr_t>?
) -> Int32 {
  Run.renew(location(of: condition))
  return Glibc.pthread_cond_init(condition, attributes)
}

/// The memory of a condition may become something else.
@discardableResult
public func pthread_cond_destroy(_ condition: UnsafeMutablePointer<pthread_cond_t>) -> Int32 {
  Run.forget(location(of: condition))
  return Glibc.pthread_cond_destroy(condition)
}

/// Gives the mutex up, waits for a signal, and takes the mutex again.
@discardableResult
public func pthread_cond_wait(
  _ condition: UnsafeMutablePointer<pthread_cond_t>,
  _ mutex: UnsafeMutablePointer<pthread_mutex_t>
) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_cond_wait(condition, mutex) }
  _ = run.wait(
    strand, location(of: condition), name: nil, mutex: location(of: mutex), nanoseconds: nil,
    at: Place(call: race_hunt_caller()))
  return 0
}

/// As `pthread_cond_wait`, until a time of the condition's clock.
@discardableResult
public func pthread_cond_timedwait(
  _ condition: UnsafeMutablePointer<pthread_cond_t>,
  _ mutex: UnsafeMutablePointer<pthread_mutex_t>, _ time: UnsafePointer<timespec>
) -> Int32 {
  guard let (run, strand) = Run.current else {
    return Glibc.pthread_cond_timedwait(condition, mutex, time)
  }
  if !time.pointee.isTime { return EINVAL }
  // The system keeps there which clock it is.
  let isMonotonic = condition.pointee.__data.__wrefs & 2 != 0
  let isNotified = run.wait(
    strand, location(of: condition), name: nil, mutex: location(of: mutex),
    nanoseconds: Run.left(until: time.pointee, isMonotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME),
    at: Place(call: race_hunt_caller()))
  return isNotified ? 0 : ETIMEDOUT
}

/// Wakes one that waits, if there is one.
@discardableResult
public func pthread_cond_signal(_ condition: UnsafeMutablePointer<pthread_cond_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_cond_signal(condition) }
  let place = Place(call: race_hunt_caller())
  run.notify(strand, location(of: condition), name: nil, all: false, at: place)
  return 0
}

/// Wakes all that wait.
@discardableResult
public func pthread_cond_broadcast(_ condition: UnsafeMutablePointer<pthread_cond_t>) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_cond_broadcast(condition) }
  let place = Place(call: race_hunt_caller())
  run.notify(strand, location(of: condition), name: nil, all: true, at: place)
  return 0
}
