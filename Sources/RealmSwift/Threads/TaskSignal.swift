// How a suspended task is told to go on.
internal import Platform

/// Wakes one suspended task.
final class TaskSignal: Sendable {
  private struct State {
    var isSet = false
    var isDone = false
    var failure: Realm.Error?
    var continuation: UnsafeContinuation<Void, Never>?
  }

  private let state = Monitor(State())

  /// Wakes the task, or keeps its next wait from suspending.
  func send(failure: Realm.Error? = nil, isDone: Bool = false) {
    let continuation = state.withLock { state in
      state.isSet = true
      if let failure { state.failure = failure }
      if isDone { state.isDone = true }
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume()
  }

  /// Suspends until the next signal.
  func wait(_ isolation: isolated (any Actor)?) async {
    await withUnsafeContinuation(isolation: isolation) { continuation in
      let isSet = state.withLock { state in
        if state.isSet { return true }
        state.continuation = continuation
        return false
      }
      if isSet { continuation.resume() }
    }
    state.withLock { $0.isSet = false }
  }

  /// Why the operation cannot go on.
  var failure: Realm.Error? { state.withLock { $0.failure } }
  var isDone: Bool { state.withLock { $0.isDone } }
}
