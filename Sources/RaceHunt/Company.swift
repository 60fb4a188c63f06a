// Explorations of one process at the same time, as tests run them. What they share without knowing,
// such as the actor behind a global actor, makes a task of one run in a step of another: then no
// schedule is the same twice.
internal import Foundation

/// Who explores now.
final class Company: @unchecked Sendable {
  // @unchecked: all is touched with the lock of `changes`.
  static let ofProcess = Company()

  private let changes = Foundation.NSCondition()
  private var explorers = 0
  /// How often one has come when another one was there.
  private var meetings = 0
  /// How many want to be alone, or are.
  private var loners = 0
  private var isAlone = false

  /// Does some work beside others; says whether there were any.
  ///
  /// Waits for those that want to be alone.
  func beside<Value, Failure: Error>(
    _ work: () throws(Failure) -> Value
  ) -> (result: Result<Value, Failure>, hadCompany: Bool) {
    changes.lock()
    while loners > 0 { changes.wait() }
    explorers += 1
    if explorers > 1 { meetings += 1 }
    let (before, others) = (meetings, explorers - 1)
    changes.unlock()
    let result = Result { () throws(Failure) in try work() }
    changes.lock()
    explorers -= 1
    let hadCompany = others > 0 || meetings != before
    changes.broadcast()
    changes.unlock()
    return (result, hadCompany)
  }

  /// Does some work when no other exploration goes on.
  func alone<Value, Failure: Error>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
    changes.lock()
    loners += 1
    while explorers > 0 || isAlone { changes.wait() }
    isAlone = true
    changes.unlock()
    defer {
      changes.lock()
      isAlone = false
      loners -= 1
      changes.broadcast()
      changes.unlock()
    }
    return try work()
  }
}
