// Every lock, wait and thread start of the engine comes from this file, and every atomic from
// Atomic.swift, so that a controlled scheduler can be put under them.
// Public because locking is inlined into the layers above: it is on the path of every commit.
public import CShim
public import Glibc

/// A value guarded by a mutex, with a condition to wait on.
///
/// Keep critical sections short: no system call, no callback, no release of foreign objects inside,
/// unless the caller documents why.
@usableFromInline
package final class Monitor<State>: @unchecked Sendable {
  // @unchecked: `state` is touched only between lock and unlock of `mutex`.
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>
  // Unchecked exclusivity: the mutex excludes all others, and a second access by its holder deadlocks.
  @exclusivity(unchecked) @usableFromInline var guarded: Guarded

  /// Never empty: an empty state would have the address of the monitor itself, whose header every caller
  /// reads, and the thread sanitizer would take that for a race.
  @frozen @usableFromInline
  struct Guarded {
    @usableFromInline var state: State
    @usableFromInline let filler: UInt8 = 0

    @inlinable init(state: sending State) { self.state = state }
  }

  @inlinable
  package init(_ state: sending State) {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    guarded = Guarded(state: state)
  }

  @inlinable
  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` with the lock held.
  @inlinable
  package func withLock<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&guarded.state)
  }

  /// Waits until `condition` holds, then runs `body`, all with the lock held between waits.
  @inlinable
  package func wait<R, E: Error>(
    until isReady: (inout State) -> Bool, then body: (inout State) throws(E) -> R
  ) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isReady(&guarded.state) { pthread_cond_wait(condition, mutex) }
    return try body(&guarded.state)
  }

  /// Waits until `isReady` holds or the time is over; false when it ran out.
  package func wait(nanoseconds: UInt64, until isReady: (inout State) -> Bool) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let total = UInt64(deadline.tv_nsec) + nanoseconds % 1_000_000_000
    deadline.tv_sec += Int(nanoseconds / 1_000_000_000 + total / 1_000_000_000)
    deadline.tv_nsec = Int(total % 1_000_000_000)
    while !isReady(&guarded.state) {
      if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
        return isReady(&guarded.state)
      }
    }
    return true
  }

  @inlinable package func notifyAll() { pthread_cond_broadcast(condition) }
  package func notifyOne() { pthread_cond_signal(condition) }
}

/// A started thread that must be joined once.
package struct Thread: @unchecked Sendable {
  // @unchecked: a pthread_t is a number; joining once is the owner's duty.
  private let handle: pthread_t

  /// Starts a thread.
  ///
  /// The name is cut to 15 bytes, the kernel's limit.
  package static func start(
    name: String, stackBytes: Int = 1 << 20, _ body: @escaping @Sendable () -> Void
  ) -> Thread {
    final class Start: Sendable {
      let name: String
      let body: @Sendable () -> Void
      init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
      }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, stackBytes)
    defer { pthread_attr_destroy(&attributes) }
    var handle = pthread_t()
    let start = Unmanaged.passRetained(Start(name: String(name.prefix(15)), body: body))
    let failure = pthread_create(
      &handle, &attributes,
      { context in
        let start = Unmanaged<Start>.fromOpaque(context!).takeRetainedValue()
        shim_set_thread_name(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    precondition(failure == 0, "cannot start a thread: errno \(failure)")
    return Thread(handle: handle)
  }

  /// Lets the thread end by itself.
  package func detach() { pthread_detach(handle) }

  package func join() { pthread_join(handle, nil) }
}

/// Says that the thread waits for another one by looking at memory.
@inlinable package func pauseProcessor() { shim_pause() }

/// Lets other threads run first.
package func yieldProcessor() { sched_yield() }
