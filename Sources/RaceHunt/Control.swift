// The way in for code that has locks, words and threads of its own: it asks here before each
// operation and does it itself. Under the engine with the trait ControlledScheduling; what is not
// in a run is told so.
internal import CRaceHunt
package import Dispatch

/// Points of code with its own synchronization.
@usableFromInline
package enum Control {
  /// Whether the calling thread is in an explored program.
  @usableFromInline
  package static var isActive: Bool { Run.current != nil }

  /// Before an atomic access.
  @usableFromInline @inline(never)
  package static func touch() {
    guard let (run, strand) = Run.current else { return }
    let caller = race_hunt_caller()
    // Which word it is, is not known: the line of code stands for it.
    run.point(.accesses(run.resource(caller, .code, name: nil), writes: true))
    run.record(strand, .touches, at: Place(caller: caller))
  }

  /// In a loop that waits for another thread.
  @usableFromInline @inline(never)
  package static func yield() {
    guard let (run, strand) = Run.current else { return }
    run.record(strand, .yields, at: Place(caller: race_hunt_caller()))
    run.point(isYield: true)
  }

  // MARK: - Locks

  /// Waits until the lock is free for this thread; nothing outside of explorations.
  @usableFromInline @inline(never)
  package static func lock(_ address: UnsafeRawPointer) {
    guard let (run, strand) = Run.current else { return }
    run.lock(strand, UInt(bitPattern: address), name: nil, at: Place(caller: race_hunt_caller()))
  }

  @usableFromInline @inline(never)
  package static func unlock(_ address: UnsafeRawPointer) {
    guard let (run, strand) = Run.current else { return }
    run.unlock(strand, UInt(bitPattern: address), name: nil, at: Place(caller: race_hunt_caller()))
  }

  /// Gives the lock up, waits to be notified and takes the lock again; false when the time ran out.
  ///
  /// Only in explorations.
  @usableFromInline @inline(never)
  package static func wait(
    _ condition: UnsafeRawPointer, _ mutex: UnsafeRawPointer, nanoseconds: UInt64? = nil
  ) -> Bool {
    guard let (run, strand) = Run.current else { fatalError("a wait outside of an exploration") }
    return run.wait(
      strand, UInt(bitPattern: condition), name: nil, mutex: UInt(bitPattern: mutex),
      nanoseconds: nanoseconds, at: Place(caller: race_hunt_caller()))
  }

  @usableFromInline @inline(never)
  package static func notify(_ condition: UnsafeRawPointer, all: Bool) {
    guard let (run, strand) = Run.current else { return }
    run.notify(
      strand, UInt(bitPattern: condition), name: nil, all: all,
      at: Place(caller: race_hunt_caller()))
  }

  /// The memory may become something else.
  @usableFromInline
  package static func forget(_ address: UnsafeRawPointer) {
    Worker.current?.run?.forget(UInt(bitPattern: address))
  }

  // MARK: - Words that are waited for

  /// Waits until the word is woken or the time is over, unless it has changed.
  package static func wait(
    forWord address: UnsafeRawPointer, nanoseconds: UInt64, unless hasChanged: () -> Bool
  ) {
    guard let (run, strand) = Run.current else { return }
    run.waitForWord(strand, UInt(bitPattern: address), nanoseconds, unless: hasChanged)
  }

  /// A map of memory, by the number of which its words are known in all of its maps.
  package static func noteSharedWords(
    _ start: UnsafeRawPointer, length: Int, ofMemory number: UInt64
  ) {
    let start = UInt(bitPattern: start)
    Worker.current?.run?.sharedWords.append((start..<start + UInt(length), UInt(number)))
  }

  package static func wake(word address: UnsafeRawPointer) {
    guard let (run, strand) = Run.current else { return }
    run.wakeWord(strand, UInt(bitPattern: address))
  }

  // MARK: - Queues

  /// Has the queue of the program that stands for one of Dispatch's do some work.
  ///
  /// - Returns: false where there is none, and outside of explorations: nothing is done then.
  package static func async(
    on queue: Dispatch.DispatchQueue, isMain: Bool, _ work: @escaping @Sendable () -> Void
  ) -> Bool {
    guard let (run, _) = Run.current else { return false }
    let reference = run.parts[Run.address(queue)] as? QueueReference
    guard let known = isMain ? DispatchQueue.main : reference?.queue else { return false }
    known.async(execute: work)
    return true
  }

  /// Whether what runs now is work of a queue for which Dispatch keeps this key.
  ///
  /// Nil outside of explorations.
  package static func isOnQueue(with key: DispatchSpecificKey<Bool>) -> Bool? {
    DispatchQueue.isOnQueue(with: key)
  }

  // MARK: - Threads and time

  /// A thread of an exploration.
  package struct ThreadHandle: @unchecked Sendable {
    // @unchecked: a strand is touched only by the holder of the baton.
    fileprivate let strand: Strand
  }

  /// Starts a thread under control; nil outside of explorations.
  package static func startThread(
    _ name: String, _ body: @escaping @Sendable () -> Void
  ) -> ThreadHandle? {
    guard let (run, strand) = Run.current else { return nil }
    return ThreadHandle(strand: run.start(strand, name: name, at: nil, body))
  }

  package static func join(_ thread: ThreadHandle) {
    guard let (run, strand) = Run.current else {
      fatalError("a thread of an exploration is joined outside of it")
    }
    run.join(strand, thread.strand, at: nil)
  }

  /// The schedule may end while the thread waits.
  package static func detach(_ thread: ThreadHandle) { thread.strand.isDetached = true }

  /// The number of the calling thread in its run; nil outside of explorations.
  ///
  /// Which thread of the machine runs it, and where its stack is, differs from run to run.
  package static var threadNumber: Int? { Run.current?.strand.number }

  /// What stands for random bits of the kernel; nil outside of explorations.
  package static var randomBits: UInt64? { Worker.current?.run?.systemRandom.next() }

  /// Virtual time; nil outside of explorations.
  package static var nanoseconds: UInt64? { Worker.current?.run?.readClock() }
}
