// Waiting for what another thread, another process or the kernel brings about. Tests wait for an event, never
// for a time: how long it takes says nothing on a busy machine.
internal import Glibc
internal import Platform

/// After so long a wait is in vain.
private let limitNanoseconds: UInt64 = 600_000_000_000

/// Looks again and again until a condition holds; false when that takes ten minutes.
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let clock = MonotonicClock()
  let end = clock.nanoseconds() + limitNanoseconds
  while try !condition() {
    if clock.nanoseconds() > end { return false }
    sched_yield()
  }
  return true
}

/// The same in a task, which lets others run in between.
package func eventually(yielding condition: () async throws -> Bool) async rethrows -> Bool {
  let clock = MonotonicClock()
  let end = clock.nanoseconds() + limitNanoseconds
  while try await !condition() {
    if clock.nanoseconds() > end { return false }
    await Task.yield()
  }
  return true
}
