// Clocks, sleeping and letting others go first by their names in C, for explored programs. Outside
// of an exploration they are the system's.
public import CRaceHunt
internal import Glibc

/// Sleeps for so many microseconds; in an explored program in virtual time.
@discardableResult
public func usleep(_ microseconds: UInt32) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.usleep(microseconds) }
  run.sleep(strand, nanoseconds: UInt64(microseconds) * 1_000, at: Place(call: race_hunt_caller()))
  return 0
}

/// Sleeps for so many seconds; in an explored program in virtual time.
@discardableResult
public func sleep(_ seconds: UInt32) -> UInt32 {
  guard let (run, strand) = Run.current else { return Glibc.sleep(seconds) }
  let place = Place(call: race_hunt_caller())
  run.sleep(strand, nanoseconds: UInt64(seconds) * 1_000_000_000, at: place)
  return 0
}

/// Sleeps for so long; in an explored program in virtual time.
@discardableResult
public func nanosleep(
  _ duration: UnsafePointer<timespec>, _ left: UnsafeMutablePointer<timespec>?
) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.nanosleep(duration, left) }
  let (seconds, nanoseconds) = (duration.pointee.tv_sec, duration.pointee.tv_nsec)
  guard seconds >= 0, 0..<1_000_000_000 ~= nanoseconds else {
    errno = EINVAL
    return -1
  }
  run.sleep(
    strand, nanoseconds: UInt64(min(seconds, 3_155_760_000)) * 1_000_000_000 + UInt64(nanoseconds),
    at: Place(call: race_hunt_caller()))
  return 0
}

/// Sleeps for so long, or until then, by a clock; in an explored program in virtual time.
///
/// Returns what went wrong, and does not set `errno`.
@discardableResult
public func clock_nanosleep(
  _ clock: clockid_t, _ flags: Int32, _ time: UnsafePointer<timespec>,
  _ left: UnsafeMutablePointer<timespec>?
) -> Int32 {
  guard let (run, strand) = Run.current else {
    return Glibc.clock_nanosleep(clock, flags, time, left)
  }
  let isPoint = flags & TIMER_ABSTIME != 0
  guard clock != CLOCK_THREAD_CPUTIME_ID, isPoint || time.pointee.tv_sec >= 0,
    0..<1_000_000_000 ~= time.pointee.tv_nsec
  else { return EINVAL }
  let nanoseconds =
    isPoint
    ? Run.left(until: time.pointee, clock)
    : UInt64(min(time.pointee.tv_sec, 3_155_760_000)) * 1_000_000_000
      + UInt64(time.pointee.tv_nsec)
  run.sleep(strand, nanoseconds: nanoseconds, at: Place(call: race_hunt_caller()))
  return 0
}

/// Lets other threads go first.
@discardableResult
public func sched_yield() -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.sched_yield() }
  run.record(strand, .yields, at: Place(call: race_hunt_caller()))
  run.point(isYield: true)
  return 0
}

/// The time of a clock; in an explored program it is virtual, and the calendar's begins with the
/// process's first exploration.
@discardableResult
public func clock_gettime(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>) -> Int32 {
  race_hunt_clock(clock, time)
}

/// The time of the calendar, as `clock_gettime` tells it.
@discardableResult
public func gettimeofday(
  _ time: UnsafeMutablePointer<timeval>, _ zone: UnsafeMutableRawPointer?
) -> Int32 { race_hunt_time_of_day(time, zone) }

/// The seconds of the calendar, as `clock_gettime` tells them.
@discardableResult
public func time(_ seconds: UnsafeMutablePointer<time_t>?) -> time_t { race_hunt_time(seconds) }
