// Whether a process can be started by Foundation, which ends this one (an illegal instruction)
// where it finds no descriptor for the run loop that is to notice the other one's end, and waits
// without end for the thread of that run loop where the system has none to give.
internal import Glibc
internal import Platform

/// What a start of a process takes from the limits of this one.
enum ProcessStart {
  /// More than a start takes: pipes for three streams, a run loop, and what tells of the end.
  private static let descriptorsNeeded = 30
  /// Foundation's own, at the first start, and one that reads what the process says.
  private static let threadsNeeded = 2
  private static let threadCall = "start a thread for"

  /// Finds out whether there is enough of all to start a process; to be called before its pipes are
  /// made.
  ///
  /// - Throws: `SystemError` when there is not.
  static func check(toStart executable: String) throws(SystemError) {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    for _ in 0..<descriptorsNeeded {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      if descriptor < 0 {
        throw SystemError(call: "open descriptors to start", path: executable, code: errno)
      }
      opened.append(descriptor)
    }
    if !canStart(threads: threadsNeeded) { throw noThread(for: executable) }
  }

  /// What is told where a thread that a process needs here cannot be started.
  static func noThread(for executable: String) -> SystemError {
    SystemError(call: threadCall, path: executable, code: EAGAIN)
  }

  /// What is missing, in words that say what to do; nil of other errors.
  static func words(_ error: SystemError) -> String? {
    guard error.call == threadCall else { return nil }
    return "the system has no more threads to give (see 'ulimit -u' and 'ulimit -v')"
  }

  /// Whether there are so many threads at the same time, of the usual size.
  private static func canStart(threads: Int) -> Bool {
    let isOver = Monitor(false)
    var started: [Thread] = []
    defer {
      isOver.withLock { $0 = true }
      isOver.notifyAll()
      for thread in started { thread.join() }
    }
    while started.count < threads {
      // The size that threads have whose starter says nothing.
      let thread = Thread.startIfPossible(name: "probe", stackBytes: 8 << 20) {
        isOver.wait(until: { $0 }, then: { _ in })
      }
      guard let thread else { return false }
      started.append(thread)
    }
    return true
  }
}
