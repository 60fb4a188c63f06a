// Waiting for what another thread, another process or the kernel brings about. Tests wait for an
// event, never for a time: how long it takes says nothing on a busy machine.
internal import Glibc
internal import Platform

/// After so long a wait is in vain: ten minutes, or `REALM_WAIT_SECONDS` where waits in vain are
/// expected, as with planted bugs.
package let waitLimitNanoseconds: UInt64 =
  (getenv("REALM_WAIT_SECONDS").flatMap { UInt64(String(cString: $0)) } ?? 600) * 1_000_000_000

/// Looks again and again until a condition holds; false when that takes too long.
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let clock = MonotonicClock()
  let end = clock.nanoseconds() + waitLimitNanoseconds
  while try !condition() {
    if clock.nanoseconds() > end { return false }
    sched_yield()
  }
  return true
}

/// The same in a task, which lets others run in between.
package func eventually(yielding condition: () async throws -> Bool) async rethrows -> Bool {
  let clock = MonotonicClock()
  let end = clock.nanoseconds() + waitLimitNanoseconds
  while try await !condition() {
    if clock.nanoseconds() > end { return false }
    await Task.yield()
  }
  return true
}
