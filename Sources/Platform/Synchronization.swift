// Every lock, wait and thread start of the engine comes from this file, and every atomic from
// Atomic.swift. With the trait ControlledScheduling each asks the controlled scheduler first, which
// answers threads of an explored program only; without the trait nothing of that is left.
// Public because locking is inlined into the layers above: it is on the path of every commit.
public import Glibc

#if CONTROLLED_SCHEDULING
  // By name: the module has functions of its own for locks of POSIX.
  public import enum RaceHunt.Control
  public import func RaceHunt.note
#endif

/// A value guarded by a mutex, with a condition to wait on.
///
/// Keep critical sections short: no system call, no callback, no release of foreign objects inside,
/// unless the caller documents why.
@usableFromInline
// @unchecked: `state` is touched only between lock and unlock of `mutex`.
package final class Monitor<State>: @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>
  // Unchecked exclusivity: the mutex excludes all others, and a second access by its holder
  // deadlocks.
  @exclusivity(unchecked) @usableFromInline var guarded: Guarded

  /// Never empty: an empty state would have the address of the monitor itself, whose header every
  /// caller reads, and the thread sanitizer would take that for a race.
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
    #if CONTROLLED_SCHEDULING
      Control.forget(mutex)
      Control.forget(condition)
    #endif
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` with the lock held.
  @inlinable
  package func withLock<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    lock()
    defer { unlock() }
    return try body(&guarded.state)
  }

  @inlinable @inline(__always)
  func lock() {
    #if CONTROLLED_SCHEDULING
      Control.lock(mutex)
    #endif
    pthread_mutex_lock(mutex)
  }

  @inlinable @inline(__always)
  func unlock() {
    pthread_mutex_unlock(mutex)
    #if CONTROLLED_SCHEDULING
      Control.unlock(mutex)
    #endif
  }

  /// Gives the lock up, waits to be notified and takes the lock again.
  @inlinable @inline(__always)
  func waitOnce() {
    #if CONTROLLED_SCHEDULING
      if Control.isActive {
        pthread_mutex_unlock(mutex)
        _ = Control.wait(condition, mutex)
        pthread_mutex_lock(mutex)
        return
      }
    #endif
    pthread_cond_wait(condition, mutex)
  }

  /// Waits until `condition` holds, then runs `body`, all with the lock held between waits.
  @inlinable
  package func wait<R, E: Error>(
    until isReady: (inout State) -> Bool, then body: (inout State) throws(E) -> R
  ) throws(E) -> R {
    lock()
    defer { unlock() }
    while !isReady(&guarded.state) { waitOnce() }
    return try body(&guarded.state)
  }

  /// Waits until `isReady` holds or the time is over; false when it ran out.
  package func wait(nanoseconds: UInt64, until isReady: (inout State) -> Bool) -> Bool {
    #if CONTROLLED_SCHEDULING
      if Control.isActive { return controlledWait(nanoseconds, isReady) }
    #endif
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

  @inlinable
  package func notifyAll() {
    #if CONTROLLED_SCHEDULING
      Control.notify(condition, all: true)
    #endif
    pthread_cond_broadcast(condition)
  }

  package func notifyOne() {
    #if CONTROLLED_SCHEDULING
      Control.notify(condition, all: false)
    #endif
    pthread_cond_signal(condition)
  }

  #if CONTROLLED_SCHEDULING
    /// As `wait(nanoseconds:until:)`, in virtual time.
    private func controlledWait(
      _ nanoseconds: UInt64, _ isReady: (inout State) -> Bool
    ) -> Bool {
      lock()
      defer { unlock() }
      let deadline = Control.nanoseconds! + nanoseconds
      while !isReady(&guarded.state) {
        let now = Control.nanoseconds!
        if now >= deadline { return false }
        pthread_mutex_unlock(mutex)
        let isNotified = Control.wait(condition, mutex, nanoseconds: deadline - now)
        pthread_mutex_lock(mutex)
        if !isNotified { return isReady(&guarded.state) }
      }
      return true
    }
  #endif
}

/// Sleeps while a word is what it was, until it is woken or so much time is over.
///
/// The word may be in a map that processes share. Who is woken looks again: it may be for nothing.
/// - Parameter bits: any of them wakes it.
package func waitForChange(
  of word: UnsafeMutablePointer<Atomic<UInt64>>, from seen: UInt64, nanoseconds: UInt64,
  bits: UInt32
) {
  #if CONTROLLED_SCHEDULING
    if Control.isActive {
      return Control.wait(forWord: word, nanoseconds: nanoseconds) {
        UInt32(truncatingIfNeeded: word.pointee.peek()) != UInt32(truncatingIfNeeded: seen)
      }
    }
  #endif
  // The low half, in the order of all machines that this runs on.
  shim_wait_for_change(
    UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self),
    UInt32(truncatingIfNeeded: seen), nanoseconds, bits)
}

/// Wakes those who wait for a word to change with one of these bits.
package func wake(waitingFor word: UnsafeMutablePointer<Atomic<UInt64>>, bits: UInt32) {
  #if CONTROLLED_SCHEDULING
    Control.wake(word: word)
  #endif
  shim_wake(UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self), bits)
}

/// Says that words are the same in each map of some memory: who waits for one in another map is
/// woken, too.
///
/// The kernel knows; the controlled scheduler has to be told.
/// - Parameter number: of the memory, below 2^36; the map is of at most 64 MB.
package func noteSharedWords(
  _ start: UnsafeRawPointer, length: Int, ofMemory number: UInt64
) {
  #if CONTROLLED_SCHEDULING
    Control.noteSharedWords(start, length: length, ofMemory: number)
  #endif
}

/// Says something in the table of the running schedule; nothing outside of explorations.
package func noteInSchedule(_ text: @autoclosure () -> String) {
  #if CONTROLLED_SCHEDULING
    RaceHunt.note(text())
  #endif
}

/// A started thread that must be joined once.
package struct Thread: @unchecked Sendable {
  // @unchecked: a pthread_t is a number; joining once is the owner's duty.
  private let handle: pthread_t
  #if CONTROLLED_SCHEDULING
    /// Set for a thread of an explored program, which has no handle.
    private var controlled: Control.ThreadHandle?
  #endif

  /// Starts a thread; stops where the system has none to give.
  ///
  /// Tools show 15 bytes of the name, the kernel's limit; messages show all of it.
  package static func start(
    name: String, stackBytes: Int = 1 << 20, _ body: @escaping @Sendable () -> Void
  ) -> Thread {
    guard let thread = begin(name: name, stackBytes: stackBytes, body) else {
      preconditionFailure("cannot start a thread: the system has no more to give")
    }
    return thread
  }

  /// Starts a thread; nil where there is none to have: the caller does without.
  ///
  /// There is none in a program that RaceHunt explores: what one of the machine's threads does, and
  /// when, would differ from run to run.
  package static func startIfPossible(
    name: String, stackBytes: Int = 1 << 20, _ body: @escaping @Sendable () -> Void
  ) -> Thread? {
    #if !CONTROLLED_SCHEDULING
      if shim_is_explored() != 0 { return nil }
    #endif
    return begin(name: name, stackBytes: stackBytes, body)
  }

  private static func begin(
    name: String, stackBytes: Int, _ body: @escaping @Sendable () -> Void
  ) -> Thread? {
    #if CONTROLLED_SCHEDULING
      if let controlled = Control.startThread(name, body) {
        return Thread(handle: pthread_t(), controlled: controlled)
      }
    #endif
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
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    let failure = pthread_create(
      &handle, &attributes,
      { context in
        let start = Unmanaged<Start>.fromOpaque(context!).takeRetainedValue()
        shim_set_thread_name(ThreadNames.cut(start.name))
        ThreadNames.note(start.name)
        start.body()
        ThreadNames.forget(start.name)
        return nil
      }, start.toOpaque())
    if failure != 0 {
      start.release()
      return nil
    }
    return Thread(handle: handle)
  }

  /// Lets the thread end by itself.
  package func detach() {
    #if CONTROLLED_SCHEDULING
      if let controlled { return Control.detach(controlled) }
    #endif
    pthread_detach(handle)
  }

  /// Lets the calling thread run, from now on, only when no other one of the machine wants to;
  /// what it reads from a disk waits for others likewise.
  package static func runWhenIdle() {
    var parameters = sched_param(sched_priority: 0)
    // SCHED_IDLE of <sched.h>. Where it is refused, the thread runs as any other.
    let idle: Int32 = 5
    sched_setscheduler(0, idle, &parameters)
  }

  package func join() {
    #if CONTROLLED_SCHEDULING
      if let controlled { return Control.join(controlled) }
    #endif
    pthread_join(handle, nil)
  }

  /// Waits for the end of the thread, but no longer than that; false when it has not ended.
  ///
  /// Counts as joined only when it returns true.
  package func join(nanoseconds: UInt64) -> Bool {
    #if CONTROLLED_SCHEDULING
      if let controlled {
        Control.join(controlled)
        return true
      }
    #endif
    return shim_join(handle, nanoseconds)
  }
}

/// Says that the thread waits for another one by looking at memory.
@inlinable
package func pauseProcessor() {
  #if CONTROLLED_SCHEDULING
    Control.yield()
  #endif
  shim_pause()
}

/// Lets other threads run first.
package func yieldProcessor() {
  #if CONTROLLED_SCHEDULING
    Control.yield()
  #endif
  // By its module: RaceHunt has a function of this name, too.
  Glibc.sched_yield()
}
