// Waiting for a point in time, closely: threads of an open loop must start when an operation is
// due.
internal import Glibc
package import Platform

/// Sleeps for about that long.
package func sleep(nanoseconds: UInt64) {
  var time = timespec(
    tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  nanosleep(&time, nil)
}

/// Waits until the clock reads `deadline`: sleeps for most of the time, spins for the rest, which a
/// sleep would miss by the kernel's timer slack.
///
/// False when `isCancelled` became true before.
package func wait(
  until deadline: UInt64, clock: MonotonicClock, isCancelled: () -> Bool
) -> Bool {
  let spin: UInt64 = 120_000
  while true {
    if isCancelled() { return false }
    let now = clock.nanoseconds()
    if now >= deadline { return true }
    if deadline - now > spin { sleep(nanoseconds: min(deadline - now - spin, 20_000_000)) }
  }
}
