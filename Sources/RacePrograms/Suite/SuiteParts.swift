// What the programs of the suite are made of: plain variables, locks and signals as C programs have
// them, each access a point.
internal import RaceHunt

/// A variable that threads read and write without a lock; `write(read() + 1)` are two steps.
final class Variable: Sendable {
  private let word: Atomic<Int>

  init(_ value: Int = 0, _ name: String) { word = Atomic(value, name: name) }

  func read(file: StaticString = #fileID, line: UInt = #line) -> Int {
    word.load(file: file, line: line)
  }

  func write(_ value: Int, file: StaticString = #fileID, line: UInt = #line) {
    word.store(value, file: file, line: line)
  }

  /// `variable += operand`, which is a read and a write.
  func change(by operand: Int, file: StaticString = #fileID, line: UInt = #line) {
    write(read(file: file, line: line) + operand, file: file, line: line)
  }

  /// Adds in one step; returns the value before.
  @discardableResult
  func addAtomically(_ operand: Int, file: StaticString = #fileID, line: UInt = #line) -> Int {
    word.add(operand, file: file, line: line).oldValue
  }

  @discardableResult
  func exchange(_ value: Int, file: StaticString = #fileID, line: UInt = #line) -> Int {
    word.exchange(value, file: file, line: line)
  }

  func compareExchange(
    _ expected: Int, _ desired: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    word.compareExchange(expected: expected, desired: desired, file: file, line: line).exchanged
  }
}

/// A lock without a value.
final class Lock: Sendable {
  private let mutex: Mutex<Void>

  init(_ name: String) { mutex = Mutex((), name: name) }

  func lock(file: StaticString = #fileID, line: UInt = #line) { mutex.lock(file: file, line: line) }

  func unlock(file: StaticString = #fileID, line: UInt = #line) {
    mutex.unlock(file: file, line: line)
  }

  func wait(for signal: Signal, file: StaticString = #fileID, line: UInt = #line) {
    signal.condition.wait(mutex, file: file, line: line)
  }
}

/// What threads wait for with a lock.
final class Signal: Sendable {
  fileprivate let condition: Condition

  init(_ name: String) { condition = Condition(name: name) }

  func notifyOne(file: StaticString = #fileID, line: UInt = #line) {
    condition.notifyOne(file: file, line: line)
  }

  func notifyAll(file: StaticString = #fileID, line: UInt = #line) {
    condition.notifyAll(file: file, line: line)
  }
}

/// Threads by name and what they do.
typealias ThreadBodies = [(String, @Sendable () -> Void)]

/// So many threads with the same body, which is given their number.
func bodies(
  _ count: Int, _ name: String, _ body: @escaping @Sendable (Int) -> Void
) -> ThreadBodies {
  (1...count).map { number in ("\(name) \(number)", { body(number) }) }
}

/// Starts threads and waits for them.
func runThreads(_ bodies: ThreadBodies) {
  let threads = bodies.map { name, body in Thread.start(name: name) { body() } }
  for thread in threads { thread.join() }
}

/// Starts so many threads with the same body and waits for them.
func runThreads(_ count: Int, _ name: String, _ body: @escaping @Sendable (Int) -> Void) {
  runThreads(bodies(count, name, body))
}
