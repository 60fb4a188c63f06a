// The memory of the process, as the system counts it.
import Foundation

/// Bytes of memory that belong to the process alone: not those of mapped files.
private func ownMemory() throws -> Int {
  let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
  let pages = text.split(separator: " ").compactMap { Int($0) }
  guard pages.count > 2 else { throw PeerError("/proc/self/statm: \(text)") }
  return (pages[1] - pages[2]) * 4096
}

/// Looks at the process's own memory each millisecond, until it is stopped.
final class MemoryWatch: @unchecked Sendable {
  // @unchecked: what can change is only touched under the lock.
  private let lock = NSCondition()
  private let before: Int
  private var most = 0
  private var isOver = false
  private var hasEnded = false

  init() throws {
    before = try ownMemory()
    Thread.detachNewThread { [self] in
      lock.lock()
      while !isOver {
        most = max(most, (try? ownMemory()) ?? 0)
        _ = lock.wait(until: Date().addingTimeInterval(0.001))
      }
      hasEnded = true
      lock.broadcast()
      lock.unlock()
    }
  }

  /// The most that was seen above what there was at first.
  func stop() -> Int {
    lock.lock()
    defer { lock.unlock() }
    isOver = true
    lock.broadcast()
    while !hasEnded { lock.wait() }
    return max(0, most - before)
  }
}
