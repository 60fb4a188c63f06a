// Pooled threads of the machine. A strand runs on one of them; exactly one of a run's workers runs
// at a time, the one that holds the baton, and all others wait for it.
internal import CRaceHunt
internal import Glibc
internal import Synchronization

/// A thread of the machine that runs strands, one after the other.
final class Worker: @unchecked Sendable {
  // @unchecked: all but `baton` is touched only by whoever holds the baton of the run; passing it
  // on is a release, taking it an acquire.
  private let baton: UnsafeMutablePointer<Synchronization.Atomic<UInt32>>
  /// What runs here now.
  @exclusivity(unchecked) var strand: Strand?
  @exclusivity(unchecked) private var ownRun: Run?
  /// The run to which that belongs; never comes back once the run was given up.
  var run: Run? {
    get {
      ownRun?.pool.pass()
      return ownRun
    }
    set { ownRun = newValue }
  }
  /// What to do when the baton comes and this worker was idle.
  @exclusivity(unchecked) var work: Work?
  /// What stands here is not to go on: the thread ends when the baton comes.
  @exclusivity(unchecked) var isAbandoned = false
  /// The bytes of its stack.
  let stackSize: Int
  /// Who has the baton, for the explorer's thread.
  private let holder: BatonHolder
  /// The number by which the kernel knows the thread; set by itself.
  @exclusivity(unchecked) private var thread: Int32 = 0

  enum Work {
    case strand(Strand, Run)
    /// Does what follows the end of a strand.
    case rest(Run)
    /// Runs schedules until the source has no more.
    case batch(Batch)
    case end
  }

  init(stackSize: Int, holder: BatonHolder) {
    self.stackSize = stackSize
    self.holder = holder
    baton = .allocate(capacity: 1)
    baton.initialize(to: Synchronization.Atomic(0))
  }

  deinit { baton.deallocate() }

  /// The worker that the calling thread is; nil outside of explorations.
  @inline(__always)
  static var current: Worker? {
    guard let pointer = race_hunt_worker() else { return nil }
    return Unmanaged<Worker>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Passes the baton to this worker.
  func grant() {
    baton.pointee.store(1, ordering: .releasing)
    race_hunt_wake(UnsafeRawPointer(baton).assumingMemoryBound(to: UInt32.self))
  }

  /// Waits for the baton.
  func park() {
    while baton.pointee.exchange(0, ordering: .acquiring) == 0 {
      race_hunt_wait_while(UnsafeRawPointer(baton).assumingMemoryBound(to: UInt32.self), 0)
    }
    if isAbandoned {
      strand?.leaveRealLocks()
      race_hunt_leave()
    }
    holder.thread.store(thread, ordering: .relaxed)
  }

  /// Starts the thread, which waits for the baton first; false where the system has none to give.
  func start(processor: UInt32?) -> Bool {
    startThread(stackSize: stackSize) { [self] in
      thread = race_hunt_thread_number()
      race_hunt_set_worker(Unmanaged.passUnretained(self).toOpaque())
      race_hunt_prepare_crash()
      if let processor { race_hunt_pin(processor) }
      race_hunt_enter(
        { Unmanaged<Worker>.fromOpaque($0!).takeUnretainedValue().loop() },
        Unmanaged.passUnretained(self).toOpaque())
    }
  }

  private func loop() {
    while true {
      park()
      guard let work else { continue }
      self.work = nil
      switch work {
      case .end: return
      case .strand(let strand, let run): carry(strand, run)
      case .rest(let run): carry(nil, run)
      case .batch(let batch):
        if let run = batch.next(after: nil, on: self) { carry(nil, run) }
      }
    }
  }

  /// Runs strands, and one schedule of the batch after the other, until another worker has the
  /// baton.
  private func carry(_ first: Strand?, _ firstRun: Run) {
    var run = firstRun
    var next: Strand? = first
    while true {
      self.run = run
      if let strand = next {
        self.strand = strand
        strand.worker = self
        run.pool.pass()
        strand.perform(run)
        strand.worker = nil
        self.strand = nil
      }
      switch run.goOn(on: self) {
      case .runs(let strand): next = strand
      case .handedOver: return
      case .over:
        guard let following = run.batch.next(after: run, on: self) else { return }
        run = following
        next = nil
      }
    }
  }
}

/// Which thread has the baton: of all that is not under control only where it waits is known.
final class BatonHolder: Sendable {
  let thread = Synchronization.Atomic<Int32>(0)
}

/// Workers of one exploration.
///
/// Those that a schedule has left at a point are not in it any more: they end.
final class WorkerPool: @unchecked Sendable {
  // @unchecked: touched only by the holder of the baton, or by the explorer while no run is going
  // on.
  @exclusivity(unchecked) private var idle: [Worker] = []
  private let processor: UInt32?
  /// Grows with each step; the only thing that the explorer's thread looks at meanwhile.
  ///
  /// Negative when it has given up.
  private let progress: Synchronization.Atomic<Int> = .init(0)
  private let holder = BatonHolder()

  init(processor: UInt32?) { self.processor = processor }

  /// Called by the holder of the baton, before it does something in the run; not to go on once the
  /// run was given up, since then the explorer's thread reads it.
  func pass() {
    while true {
      let seen = progress.load(ordering: .relaxed)
      if seen < 0 {
        pause()
      } else if progress.compareExchange(
        expected: seen, desired: seen &+ 1, ordering: .acquiringAndReleasing
      ).exchanged {
        return
      }
    }
  }

  var progressSoFar: Int { progress.load(ordering: .relaxed) }

  /// Where the thread that has the baton waits in the kernel.
  var kernelWait: KernelWait { KernelWait(ofThread: holder.thread.load(ordering: .relaxed)) }

  /// Gives up what has not moved since then; false when it has.
  func giveUp(since seen: Int) -> Bool {
    progress.compareExchange(expected: seen, desired: -1, ordering: .acquiringAndReleasing)
      .exchanged
  }

  /// A worker that waits for the baton; nil where the system has no thread for it.
  ///
  /// Those that have just ended, of this exploration or an earlier one, still count for a moment.
  ///
  /// - Parameter stackSize: so many bytes of stack it has at least; a stack is memory once it is
  ///   used.
  func take(stackSize: Int = 0) -> Worker? {
    if let position = idle.lastIndex(where: { $0.stackSize >= stackSize }) {
      return idle.remove(at: position)
    }
    let worker = Worker(stackSize: max(stackSize, Self.usualStackSize), holder: holder)
    for _ in 0..<Self.attempts {
      if worker.start(processor: processor) { return worker }
      Glibc.usleep(10_000)
    }
    return nil
  }

  private static let attempts = 50

  /// As much as the main thread has, and a thread for which nobody says it.
  private static let usualStackSize = 8 << 20

  func giveBack(_ worker: Worker) {
    worker.run = nil
    idle.append(worker)
  }

  /// Ends the threads that are idle.
  func end() {
    for worker in idle {
      worker.work = .end
      worker.grant()
    }
    idle = []
  }
}

/// Schedules that are run one after the other without coming back to the explorer's thread.
final class Batch: @unchecked Sendable {
  // @unchecked: touched by the holder of the baton; `finished` is atomic, and `last` is read behind
  // it.
  private let finished: UnsafeMutablePointer<Synchronization.Atomic<UInt32>>
  @exclusivity(unchecked) private var next: (Run?) -> Run?
  private let pool: WorkerPool
  @exclusivity(unchecked) private(set) var last: Run?
  /// The run that goes on; for others, once it was given up.
  @exclusivity(unchecked) private(set) var current: Run?

  /// - Parameter next: gives the next run, knowing the one before; nil ends the batch.
  init(_ pool: WorkerPool, next: @escaping (Run?) -> Run?) {
    self.pool = pool
    finished = .allocate(capacity: 1)
    finished.initialize(to: Synchronization.Atomic(0))
    self.next = next
  }

  deinit { finished.deallocate() }

  /// Runs the batch; returns the last run, or nil when nothing has moved for so long.
  func execute(patience: UInt64) -> Run? {
    guard let worker = pool.take() else {
      last = next(nil)
      last?.note(.noThread)
      return last
    }
    worker.work = .batch(self)
    worker.grant()
    // In parts, so that a hang is seen soon, and a process that was stopped is not one.
    let parts = 20
    var (seen, idle) = (pool.progressSoFar, 0)
    // How often in a row it was in one call of the kernel that has no limit of time.
    var (call, waits) = ("", 0)
    while finished.pointee.load(ordering: .acquiring) == 0 {
      race_hunt_wait(
        UnsafeRawPointer(finished).assumingMemoryBound(to: UInt32.self), 0, patience / UInt64(parts)
      )
      if finished.pointee.load(ordering: .acquiring) != 0 { break }
      let now = pool.progressSoFar
      idle = now == seen ? idle + 1 : 0
      seen = now
      let wait = pool.kernelWait
      waits = idle > 0 && wait.isWithoutEnd ? (wait.call == call ? waits + 1 : 1) : 0
      call = wait.call
      guard idle >= parts || waits >= parts / 4, pool.giveUp(since: seen) else { continue }
      current?.giveBackGlobalLocks()
      current?.hang = Hang(nanoseconds: patience / UInt64(parts) * UInt64(max(idle, 1)), wait: wait)
      return nil
    }
    return last
  }

  /// Begins the next run on a worker, outside of any strand; nil, and the batch is over, without
  /// one.
  func next(after run: Run?, on worker: Worker) -> Run? {
    last = run
    run?.leave()
    guard let run = next(run) else {
      worker.run = nil
      pool.giveBack(worker)
      wake()
      return nil
    }
    current = run
    worker.run = run
    run.begin(batch: self)
    return run
  }

  /// Called when a run cannot go on.
  func stop(after run: Run) {
    last = run
    run.leave()
    // Frames that are left as they are keep this, and must not keep the exploration.
    next = { _ in nil }
    wake()
  }

  private func wake() {
    finished.pointee.store(1, ordering: .releasing)
    race_hunt_wake(UnsafeRawPointer(finished).assumingMemoryBound(to: UInt32.self))
  }
}

/// Starts a thread that nobody joins; false where the system has none to give, of which
/// Foundation's says nothing.
func startThread(stackSize: Int? = nil, _ body: @escaping () -> Void) -> Bool {
  final class Start {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  defer { pthread_attr_destroy(&attributes) }
  var handle = pthread_t()
  let start = Unmanaged.passRetained(Start(body))
  let failure = Glibc.pthread_create(
    &handle, &attributes,
    { context in
      Unmanaged<Start>.fromOpaque(context!).takeRetainedValue().body()
      return nil
    }, start.toOpaque())
  if failure != 0 { start.release() }
  return failure == 0
}
