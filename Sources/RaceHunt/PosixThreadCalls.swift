// What else a program asks of a thread of POSIX by its number. In an explored program the system
// does not know the number, and would take it for an address.
internal import CRaceHunt
public import Glibc

extension Run {
  /// The thread of which the program asks something; one that there is not, or not any more, is a
  /// failure.
  fileprivate func asked(_ thread: pthread_t, _ call: String, _ place: Place) -> Strand? {
    guard let other = strand(thread, call, place) else { return nil }
    guard other.isJoined else { return other }
    let asker = Worker.current?.strand?.name ?? "the program"
    violate(.check, "\(asker) calls \(call) for \(other.name), which was joined", at: place)
    return nil
  }
}

/// Sends a signal to a thread: in explored programs a failure, but for 0, which only asks whether
/// there is such a thread.
@discardableResult
public func pthread_kill(_ thread: pthread_t, _ signal: Int32) -> Int32 {
  guard let (run, strand) = Run.current else { return Glibc.pthread_kill(thread, signal) }
  let place = Place(call: race_hunt_caller())
  guard run.asked(thread, "pthread_kill", place) != nil else { return ESRCH }
  if signal == 0 { return 0 }
  run.violate(
    .check,
    "\(strand.name) calls pthread_kill, which is not explored: have the thread look at a word",
    at: place)
  return ENOSYS
}

/// The clock of the time that a thread runs; in an explored program no thread runs for long.
///
/// - Parameter clock: of `clockid_t`, a name that comes from another module in each sort of build.
@discardableResult
public func pthread_getcpuclockid(
  _ thread: pthread_t, _ clock: UnsafeMutablePointer<Int32>
) -> Int32 {
  guard let (run, _) = Run.current else { return Glibc.pthread_getcpuclockid(thread, clock) }
  guard run.asked(thread, "pthread_getcpuclockid", Place(call: race_hunt_caller())) != nil
  else { return ESRCH }
  clock.pointee = CLOCK_THREAD_CPUTIME_ID
  return 0
}

/// How much a thread matters; in an explored program what was said of it.
@discardableResult
public func pthread_getschedparam(
  _ thread: pthread_t, _ policy: UnsafeMutablePointer<Int32>,
  _ parameters: UnsafeMutablePointer<sched_param>
) -> Int32 {
  guard let (run, _) = Run.current else {
    return Glibc.pthread_getschedparam(thread, policy, parameters)
  }
  let place = Place(call: race_hunt_caller())
  guard let other = run.asked(thread, "pthread_getschedparam", place) else { return ESRCH }
  policy.pointee = other.scheduling.policy
  parameters.pointee = sched_param()
  parameters.pointee.sched_priority = other.scheduling.priority
  return 0
}

/// Says how much a thread matters; in an explored program each one may go on at any point.
@discardableResult
public func pthread_setschedparam(
  _ thread: pthread_t, _ policy: Int32, _ parameters: UnsafePointer<sched_param>
) -> Int32 {
  guard let (run, _) = Run.current else {
    return Glibc.pthread_setschedparam(thread, policy, parameters)
  }
  let place = Place(call: race_hunt_caller())
  guard let other = run.asked(thread, "pthread_setschedparam", place) else { return ESRCH }
  other.scheduling = (policy, parameters.pointee.sched_priority)
  return 0
}

/// Says how much a thread matters; in an explored program each one may go on at any point.
@discardableResult
public func pthread_setschedprio(_ thread: pthread_t, _ priority: Int32) -> Int32 {
  guard let (run, _) = Run.current else { return Glibc.pthread_setschedprio(thread, priority) }
  let place = Place(call: race_hunt_caller())
  guard let other = run.asked(thread, "pthread_setschedprio", place) else { return ESRCH }
  other.scheduling.priority = priority
  return 0
}
