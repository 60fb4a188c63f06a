// Threads of their own for test cases. A case that blocks its thread would take one of the few
// that the runtime has for tasks, and two blocked ones leave none for an actor. Here is also the
// end of a case that never ends: it names itself and the process stops.
internal import Glibc
internal import Platform
package import Testing

/// Runs each test case of a suite on threads that are nobody else's, and stops the process when a
/// case runs for longer than `testLimitSeconds`.
///
/// The case and the tasks of its task groups run there; what it starts by `Task` runs where it
/// would run in a program. A case of the main actor stays there.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let name = String(describing: test.id)
    let number = RunningCases.begin(name)
    defer { RunningCases.end(number) }
    try await withTaskExecutorPreference(GrowingPool.shared) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  /// Each case on threads of its own, with a limit of time.
  package static var ownThreads: Self { OwnThreads() }
}

/// A case that runs for longer than this has hung: five minutes, or `REALM_TEST_SECONDS`; 0 is no
/// limit.
private let testLimitSeconds =
  getenv("REALM_TEST_SECONDS").flatMap { UInt64(String(cString: $0)) } ?? 300

/// Threads for jobs, as many as have something to do at once.
private final class GrowingPool: TaskExecutor {
  struct State {
    var jobs: [UnownedJob] = []
    var idle = 0
  }

  static let shared = GrowingPool()

  private let state = Monitor(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let startsThread = state.withLock { state in
      state.jobs.append(job)
      return state.jobs.count > state.idle
    }
    if startsThread {
      // As much stack as the runtime's own threads have.
      Thread.start(name: "test case", stackBytes: 8 << 20) { [self] in work() }.detach()
    } else {
      state.notifyOne()
    }
  }

  private func work() {
    while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// The next job; nil when none has come for a second, and the thread is to end.
  private func next() -> UnownedJob? {
    state.withLock { $0.idle += 1 }
    _ = state.wait(nanoseconds: 1_000_000_000) { !$0.jobs.isEmpty }
    return state.withLock { state in
      state.idle -= 1
      return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
    }
  }
}

/// The cases that run now, and the thread that looks for one which runs for too long.
private enum RunningCases {
  struct State {
    var next = 0
    var isWatched = false
    var begun: [Int: (name: String, nanoseconds: UInt64, ticks: UInt64)] = [:]
    /// Seconds in which the thread that watches has run: a machine that stood still, and with it
    /// the cases, makes none of them late.
    var ticks: UInt64 = 0
  }

  private static let state = Monitor(State())

  static func begin(_ name: String) -> Int {
    let (number, startsWatch) = state.withLock { state in
      defer {
        state.next += 1
        state.isWatched = true
      }
      state.begun[state.next] = (name, MonotonicClock().nanoseconds(), state.ticks)
      return (state.next, !state.isWatched && testLimitSeconds > 0)
    }
    note("begin", name, 0)
    if startsWatch { Thread.start(name: "test limit") { watch() }.detach() }
    return number
  }

  static func end(_ number: Int) {
    let begun = state.withLock { $0.begun.removeValue(forKey: number) }
    guard let (name, nanoseconds, _) = begun else { return }
    note("end", name, MonotonicClock().nanoseconds() - nanoseconds)
  }

  /// Tells scripts/watched which cases run: the event stream of Swift Testing tells of most tests
  /// only when they join those that wait for their turn.
  private static func note(_ what: String, _ name: String, _ nanoseconds: UInt64) {
    guard file >= 0 else { return }
    let line = "\(what)\t\(getpid())\t\(name)\t\(nanoseconds)\n"
    _ = line.withCString { write(file, $0, strlen($0)) }
  }

  /// Lines of several threads and processes do not mix: each is one write to the end of the file.
  private static let file: Int32 =
    getenv("REALM_RUNNING_CASES").map { open($0, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644) }
    ?? -1

  private static func watch() {
    while true {
      // Nobody notifies: it looks once a second.
      _ = state.wait(nanoseconds: 1_000_000_000) { _ in false }
      let begun = state.withLock { state in
        state.ticks += 1
        return state.begun.values.map { ($0.name, state.ticks - $0.ticks) }
      }
      guard begun.contains(where: { $0.1 > testLimitSeconds }) else { continue }
      var text = "== a test runs for more than \(testLimitSeconds) s; running:\n"
      for (name, time) in begun.sorted(by: { $0.1 > $1.1 }) {
        text += "==   \(time) s \(name)\n"
      }
      text += describeThreads() + "\n"
      _ = text.withCString { write(2, $0, strlen($0)) }
      abort()
    }
  }
}

/// One line a thread of this process: its name and what it waits for in the kernel.
package func describeThreads() -> String {
  let folder = "/proc/self/task"
  guard let directory = opendir(folder) else { return "the threads cannot be listed" }
  defer { closedir(directory) }
  var lines: [String] = []
  while let entry = readdir(directory) {
    let number = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    guard number.first != "." else { continue }
    let name = firstLine("\(folder)/\(number)/comm")
    let place = firstLine("\(folder)/\(number)/wchan")
    lines.append("thread \(number) \(name): \(place == "0" ? "runs" : place)")
  }
  return lines.sorted().joined(separator: "\n")
}

private func firstLine(_ path: String) -> String {
  guard let file = fopen(path, "r") else { return "?" }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 200)
  let count = fread(&bytes, 1, bytes.count, file)
  return String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self)
}
