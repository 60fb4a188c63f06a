// What is done when a thread ends, and whether a task is still there: for what was left by code
// that has gone.
internal import Glibc

/// Calls something when the calling thread ends.
package enum ThreadEnd {
  private final class Body {
    let call: @Sendable (ThreadToken) -> Void
    init(_ call: @escaping @Sendable (ThreadToken) -> Void) { self.call = call }
  }

  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let failure = pthread_key_create(&key) { body in
      guard let body else { return }
      Unmanaged<Body>.fromOpaque(body).takeRetainedValue().call(.current)
    }
    return failure == 0 ? key : nil
  }()

  /// Calls a body on the calling thread when that ends; only the first one a thread.
  ///
  /// - Returns: false when nobody will call it.
  package static func notify(_ body: @escaping @Sendable (ThreadToken) -> Void) -> Bool {
    guard let key else { return false }
    if pthread_getspecific(key) != nil { return true }
    let body = Unmanaged.passRetained(Body(body))
    if pthread_setspecific(key, body.toOpaque()) == 0 { return true }
    body.release()
    return false
  }
}

/// A task of Swift's concurrency.
package final class TaskReference: @unchecked Sendable {
  // @unchecked: an address that never changes, of an object that this keeps and any thread may
  // count.
  private let task: UnsafeMutableRawPointer

  private init(_ task: UnsafeMutableRawPointer) {
    self.task = task
    // Not weak: the runtime frees a task's memory though there are such references.
    shim_retain(task)
  }

  deinit { shim_release(task) }

  /// The task that runs now; nil outside of tasks, and in one that lives in its parent's memory.
  package static var current: TaskReference? { shim_current_task().map { TaskReference($0) } }

  /// Whether the task has ended, as far as that can be told: nobody holds it, neither the runtime,
  /// which would run it, nor a client.
  package var hasEnded: Bool { shim_is_held_once(task) != 0 }

  /// Whether a task runs now.
  package static var isInTask: Bool { shim_is_in_task() != 0 }
}
