// Where code runs beside its thread: the executor of a task, a dispatch queue, a run loop. The
// checks are cheap enough for every access to a Realm.
package import Dispatch

#if CONTROLLED_SCHEDULING
  internal import enum RaceHunt.Control
#endif

extension ThreadToken {
  /// The main thread's token, as CShim gives it.
  package static let main = ThreadToken(rawValue: 1)
}

/// Whether the calling thread is the one that the process began with.
package var isMainThread: Bool { ThreadToken.current == .main }

/// What runs the jobs of an actor, by the runtime's own name for it.
package struct ExecutorIdentity: Hashable, Sendable {
  /// Address of the actor, or of its executor when it brings its own.
  package let address: UInt
  private let implementation: UInt

  /// As one of the runtime's functions gives it: the address, and the other word by the pointer.
  private init(_ read: (UnsafeMutablePointer<UInt>) -> UInt) {
    var word: UInt = 0
    address = read(&word)
    implementation = word
  }

  /// The executor of an actor.
  package init(_ executor: UnownedSerialExecutor) {
    // The runtime passes an executor as two words, and Swift's type is a wrapper around them.
    (address, implementation) = unsafeBitCast(executor, to: (UInt, UInt).self)
  }

  /// The executor of the running task.
  ///
  /// Nil outside of tasks, and in one that no actor isolates.
  package static var current: ExecutorIdentity? {
    let executor = ExecutorIdentity(shim_current_executor)
    return executor.address == 0 ? nil : executor
  }

  /// The main actor's executor: in a program that RaceHunt explores that of the exploration.
  package static var main: ExecutorIdentity {
    shim_is_explored() != 0 ? ExecutorIdentity(shim_main_executor) : processMain
  }

  /// The same outside of explorations, whoever asks first.
  private static let processMain = ExecutorIdentity(shim_main_executor)

  /// Whether it isolates what runs now.
  ///
  /// - Complexity: some nanoseconds.
  package var isCurrent: Bool { shim_is_on_executor(address, implementation) != 0 }
}

// MARK: - Queues

/// Marks a dispatch queue, so that code can tell whether it runs there.
package final class QueueMark: Sendable {
  private let key = DispatchSpecificKey<Bool>()
  private let address: UInt
  private let isUsed = Atomic(false)
  /// The queue in one word.
  package let note: PlaceNote

  /// True once.
  package var isFirstUse: Bool { !isUsed.exchange(true, ordering: .relaxed) }

  package init(_ queue: DispatchQueue, _ note: PlaceNote = .nobody) {
    self.note = note
    address = UInt(bitPattern: Unmanaged.passUnretained(key).toOpaque())
    queue.setSpecific(key: key, value: true)
  }

  /// Whether the caller runs on the queue, or on one that hands its blocks to it.
  ///
  /// - Complexity: some nanoseconds; Swift's own form of the question takes 40.
  package var isHere: Bool {
    #if CONTROLLED_SCHEDULING
      if let isHere = Control.isOnQueue(with: key) { return isHere }
    #endif
    return shim_queue_specific(UnsafeRawPointer(bitPattern: address)) != nil
  }

  /// The main queue's mark.
  package static let main = QueueMark(.main)
}

/// The label of the queue that the caller runs on; nil outside of queues and on a nameless one.
package var currentQueueLabel: String? {
  guard let label = shim_queue_label() else { return nil }
  let text = String(cString: label)
  // Queues of the system say no more than the thread's name does.
  let isOfSystem =
    text.hasPrefix("com.apple.root") || text == "Swift global concurrent queue"
  return text.isEmpty || isOfSystem ? nil : text
}

/// The threads that run Swift's tasks of one priority: only so many jobs run at once, and who
/// blocks one of them takes it from all tasks.
package struct TaskPool: Hashable, Sendable {
  private let address: UInt
  /// How many jobs run at once.
  package let width: Int

  /// The pool whose thread calls; nil on all other threads.
  ///
  /// - Complexity: some nanoseconds.
  package static var current: TaskPool? {
    var width: UInt16 = 0
    let address = shim_task_pool(&width)
    if address == 0 { return nil }
    return TaskPool(
      address: UInt(address), width: width > 0 ? Int(width) : max(1, Int(processorCount)))
  }
}

extension DispatchQueue {
  /// Whether the queue runs one block at a time.
  ///
  /// Nil when that cannot be known: libdispatch does not tell, and its memory does not look as
  /// expected.
  package var isSerial: Bool? {
    guard Self.canReadWidths, !hidesQueueWidths.load(ordering: .relaxed) else { return nil }
    return shim_queue_width(rawQueue) == 1
  }

  /// Whether this is the main queue, for which Swift makes a new wrapper each time.
  package var isMain: Bool {
    Self.canReadWidths ? rawQueue == shim_main_queue() : label == "com.apple.main-thread"
  }

  /// Has the queue run a job, after those that it was given before.
  ///
  /// Under the controlled scheduler the queue of the explored program that stands for it.
  package func run(later job: @escaping @Sendable () -> Void) {
    #if CONTROLLED_SCHEDULING
      if Control.async(on: self, isMain: isMain, job) { return }
    #endif
    async(execute: job)
  }

  /// Whether another block of the queue runs while the calling one does, which never happens on a
  /// serial queue: found out by trying, for so long.
  ///
  /// For queues whose `isSerial` is nil. Call it in a block of the queue.
  package func runsAnotherBlock(within nanoseconds: UInt64) -> Bool {
    let hasRun = Monitor(false)
    async {
      hasRun.withLock { $0 = true }
      hasRun.notifyAll()
    }
    return hasRun.wait(nanoseconds: nanoseconds) { $0 }
  }

  /// The C object: the only field of Swift's wrapper.
  private var rawQueue: UnsafeRawPointer {
    let wrapper = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    return wrapper.load(fromByteOffset: 16, as: UnsafeRawPointer.self)
  }

  /// Whether known queues have the width that they must have.
  private static let canReadWidths: Bool = {
    guard main.rawQueue == shim_main_queue() else { return false }
    let serial = DispatchQueue(label: "")
    let concurrent = DispatchQueue(label: "", attributes: .concurrent)
    return shim_queue_width(main.rawQueue) == 1 && shim_queue_width(serial.rawQueue) == 1
      && shim_queue_width(concurrent.rawQueue) > 1 && shim_queue_width(global().rawQueue) > 1
  }()
}

/// Makes queues look as if their memory were not as expected; for tests.
package let hidesQueueWidths = Atomic(false)

// MARK: - Run loops

/// The address of the run loop that the calling thread runs now; nil when it runs none.
package var runningRunLoop: UInt? { shim_running_run_loop().map { UInt(bitPattern: $0) } }

/// Makes the handle by which other threads wake the main queue; false without a free descriptor.
///
/// Else libdispatch makes it for the first block that is put into the queue, and ends the process
/// when it cannot.
package func prepareMainQueue() -> Bool { shim_prepare_main_queue() != 0 }

/// Makes a waiting run loop look for work.
package func wakeRunLoop(_ address: UInt) {
  shim_wake_run_loop(UnsafeRawPointer(bitPattern: address))
}

// MARK: - Threads

/// A pointer of the calling thread's own, nil at first; only for the length of a synchronous call.
package var threadValue: UnsafeRawPointer? {
  get { shim_thread_value() }
  set { shim_set_thread_value(newValue) }
}
