// Threads of a measurement: all begin at one moment.
import Foundation

/// Threads wait here until all are ready.
final class StartingLine: Sendable {
  private let ready = DispatchGroup()
  private let start = DispatchSemaphore(value: 0)

  fileprivate init(threads: Int) { for _ in 0..<threads { ready.enter() } }

  /// Called once by each thread that has made what it needs.
  func arrive() {
    ready.leave()
    start.wait()
  }

  /// Lets all threads go once they have arrived; the moment.
  fileprivate func open(threads: Int) -> UInt64 {
    ready.wait()
    let moment = now()
    for _ in 0..<threads { start.signal() }
    return moment
  }
}

/// Runs a body on threads of their own; it calls `arrive` once, before the work that counts.
///
/// - Parameter meanwhile: runs on the calling thread when all have started.
/// - Returns: nanoseconds from the start to the end of the last.
func onThreads(
  _ threads: Int, _ body: @escaping @Sendable (Int, StartingLine) throws -> Void,
  meanwhile: () -> Void = {}
) throws -> UInt64 {
  let line = StartingLine(threads: threads)
  let ended = DispatchGroup()
  for number in 0..<threads {
    ended.enter()
    let thread = Thread {
      do { try body(number, line) } catch {
        // A thread that fails before it has arrived would hold up all others for ever.
        report("peers: \(error)")
        exit(1)
      }
      ended.leave()
    }
    thread.stackSize = 8 << 20
    thread.start()
  }
  let start = line.open(threads: threads)
  meanwhile()
  ended.wait()
  return now() - start
}
