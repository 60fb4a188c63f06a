// Where the jobs of tasks go: to the run whose executor the task prefers, whose thread starts it,
// or whose task it is.
internal import CRaceHunt
internal import Glibc
internal import Synchronization

/// How a job is run.
enum JobKind {
  /// It prefers the executor of the run.
  case preferring
  /// As the global executor does.
  case plain
  /// As the main actor does.
  case main
}

/// The executor that the tasks of a run prefer.
final class RunExecutor: TaskExecutor, @unchecked Sendable {
  // @unchecked: `run` is set once; what other threads bring lies in `inbox`.
  struct Arrival {
    let job: UnownedJob
    let kind: JobKind
    /// Nanoseconds until it is to run.
    let delay: UInt64
  }

  private weak let run: Run?
  /// Jobs from threads that are not under control.
  private let inbox = Synchronization.Mutex<[Arrival]>([])
  private let hasArrivals = Synchronization.Atomic(false)

  init(_ run: Run) { self.run = run }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if let current = Worker.current?.run, current === run {
      current.enqueue(job, .preferring)
    } else {
      receive(Arrival(job: job, kind: .preferring, delay: 0))
    }
  }

  func receive(_ arrival: Arrival) {
    inbox.withLock { $0.append(arrival) }
    hasArrivals.store(true, ordering: .releasing)
  }

  func takeArrivals() -> [Arrival] {
    guard hasArrivals.load(ordering: .relaxed), hasArrivals.exchange(false, ordering: .acquiring)
    else { return [] }
    return inbox.withLock { inbox in
      defer { inbox = [] }
      return inbox
    }
  }

  /// Waits for something from outside; false when nothing came in the time.
  func waitForArrival(_ nanoseconds: UInt64) -> Bool {
    // A sleep takes longer than it should where others use the machine.
    let start = Explorer.nanoseconds()
    while !hasArrivals.load(ordering: .acquiring) {
      if Explorer.nanoseconds() &- start >= nanoseconds { return false }
      // Not the one of this module, which would be a step of the strand that is blocked.
      Glibc.usleep(500)
    }
    return true
  }
}

/// What Swift's executors are given while there are explorations.
enum JobHooks {
  /// Takes the jobs of tasks without a preference, such as those of `Task {}` and `Task.detached`,
  /// of sleeping tasks and of the main actor: of threads under control, and of tasks that began
  /// there.
  ///
  /// All others go where they would have gone. Done once a process; false when this runtime has not
  /// all of the hooks.
  static let areInstalled: Bool = {
    func words(_ executor: UnownedSerialExecutor) -> race_hunt_executor {
      // Sound: it is two words, the object and its table of witnesses.
      unsafeBitCast(executor, to: race_hunt_executor.self)
    }
    race_hunt_install_dispatch(
      { function, context, delay in
        guard let run = Worker.current?.run, let function else { return 0 }
        run.startTimer(rounded(delay)) { function(context) }
        return 1
      },
      { name in
        guard let run = Worker.current?.run, let name else { return }
        let function = String(cString: name)
        // Users of what calls it for them do not know the name.
        let caller = function == "dispatch_source_create" ? "DispatchSource" : "OperationQueue"
        run.noteUncontrolled("the program calls \(function), as \(caller) does")
      })
    race_hunt_install_run_loops { _ in
      Worker.current?.run?.noteUncontrolled(
        "the program waits in a run loop, which has the machine's time")
    }
    race_hunt_install_calls { kind, name, caller in
      guard let (run, strand) = Run.current, let name else { return }
      run.beforeCall(strand, kind, String(cString: name), at: Place(call: caller))
    }
    race_hunt_install_hops {
      // What it has started or resumed may come to the actor first.
      guard let (run, strand) = Run.current, strand.hasWoken else { return }
      run.point(.unknown)
    }
    let sink: race_hunt_sink = { pointer, kind, delay in
      guard let pointer else { return 0 }
      // Sound: an UnownedJob is one pointer, and the hook hands over that of a job to run once.
      let job = unsafeBitCast(pointer, to: UnownedJob.self)
      let isMain = kind == Int32(RACE_HUNT_MAIN)
      let arrival = RunExecutor.Arrival(
        job: job, kind: isMain ? .main : .plain, delay: rounded(delay))
      if let run = Worker.current?.run {
        run.enqueue(arrival)
        return 1
      }
      guard let run = ActiveRuns.owner(ofTask: race_hunt_task_number(pointer)) else { return 0 }
      run.executor.receive(arrival)
      return 1
    }
    race_hunt_install_once { predicate, step in
      guard let (run, strand) = Run.current, let predicate else { return }
      if step == Int32(RACE_HUNT_BEGINS) {
        run.beginGlobal(strand, predicate)
      } else {
        run.endGlobal(strand, predicate)
      }
    }
    race_hunt_fix_hashing()
    let hooks = race_hunt_install(
      sink, words(MainExecutor.shared.asUnownedSerialExecutor()),
      words(HopExecutor.shared.asUnownedSerialExecutor()))
    let calls = race_hunt_install_library(
      { lock, step in
        guard let (run, strand) = Run.current, let lock else { return 0 }
        return run.useRuntimeLock(strand, UInt(bitPattern: lock), step) ? 1 : 0
      },
      { nanoseconds in
        guard let (run, _) = Run.current, let nanoseconds else { return 0 }
        nanoseconds.pointee = run.readClock()
        return 1
      })
    let hasRandom = race_hunt_install_random { bits in
      guard let (run, _) = Run.current, let bits else { return 0 }
      bits.pointee = run.systemRandom.next()
      return 1
    }
    return hooks == 6 && calls == 10 && hasRandom != 0
  }()

  /// A hundred years.
  static let longest: UInt64 = 3_155_760_000_000_000_000

  /// The runtime computes what is left until a time of the machine's clock; the microseconds that
  /// this took differ from run to run.
  static func rounded(_ nanoseconds: UInt64) -> UInt64 {
    // What is longer is for ever, too, and could not be added to a time.

    let nanoseconds = min(nanoseconds, Self.longest)
    let unit: UInt64 = nanoseconds > 2_000_000 ? 1_000_000 : 1_000
    return (nanoseconds + unit - 1) / unit * unit
  }
}

/// Where a task without preferred executor goes when it leaves an actor: to the run, as a job.
///
/// The runtime would go on in the same job.
private final class HopExecutor: SerialExecutor {
  static let shared = HopExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard let run = Worker.current?.run else { fatalError("a hop outside of an exploration") }
    run.enqueue(job, .plain)
  }
}

/// The main actor of explored programs: a column of its own in each run.
private final class MainExecutor: SerialExecutor {
  static let shared = MainExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if let run = Worker.current?.run {
      run.enqueue(job, .main)
      return
    }
    // Sound: an UnownedJob is one pointer, that of the runtime's job.
    let pointer = unsafeBitCast(job, to: UnsafeMutableRawPointer.self)
    if let run = ActiveRuns.owner(ofTask: race_hunt_task_number(pointer)) {
      run.executor.receive(.init(job: job, kind: .main, delay: 0))
    }
    // Else the run is over, and the task with it.
  }

  /// Of work that is no job: that of the main queue.
  func isIsolatingCurrentContext() -> Bool? { Worker.current?.strand?.isOnMain ?? false }

  func checkIsolated() {
    guard isIsolatingCurrentContext() == true else {
      fatalError("this code is the main actor's, and runs elsewhere")
    }
  }
}

/// The runs that go on in the process: of which of them a task or an object is.
enum ActiveRuns {
  private struct Owners: @unchecked Sendable {
    // @unchecked: runs are entered and left under the lock, and only their inboxes are used.
    var tasks: [UInt64: Run] = [:]
    var runs: [UInt64: Run] = [:]
    var last: UInt64 = 0
  }

  private static let owners = Synchronization.Mutex(Owners())

  /// Gives the run a number that no other one has.
  static func enter(_ run: Run) -> UInt64 {
    owners.withLock { owners in
      owners.last += 1
      owners.runs[owners.last] = run
      return owners.last
    }
  }

  static func add(task: UInt64, _ run: Run) { owners.withLock { $0.tasks[task] = run } }

  static func leave(_ run: UInt64, tasks: [UInt64]) {
    owners.withLock { owners in
      owners.runs[run] = nil
      for task in tasks { owners.tasks[task] = nil }
    }
  }

  static func owner(ofTask task: UInt64) -> Run? {
    task == 0 ? nil : owners.withLock { $0.tasks[task] }
  }

  /// A thread that is not under control does something with an object of a run.
  static func noteOutsider(_ home: UInt64, _ text: @autoclosure () -> String) {
    guard home != 0, let run = owners.withLock({ $0.runs[home] }) else { return }
    run.noteUncontrolled(text())
  }
}

/// Makes the tasks of programs where `explore` was called, so that they inherit the values of its
/// task, such as which test it is.
final class Carrier: TaskExecutor, @unchecked Sendable {
  // @unchecked: made by the thread that explores, then touched only by the holder of the baton,
  // and by the former again when no run is going on.
  private var job: UnownedJob?
  private var continuation: UnsafeContinuation<(@Sendable () -> Void)?, Never>?

  init() {
    // Weak references are none: the task is run from here only, and ends before this does.
    Task(executorPreference: self) { [unowned self] in
      while let body = await withUnsafeContinuation({ continuation = $0 }) { body() }
    }
    proceed()
  }

  func enqueue(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }

  /// Runs `body` in the task.
  func perform(_ body: @escaping @Sendable () -> Void) { resume(body) }

  func end() { resume(nil) }

  private func resume(_ body: (@Sendable () -> Void)?) {
    guard let waiting = continuation else { fatalError("the carrier has ended") }
    continuation = nil
    waiting.resume(returning: body)
    proceed()
  }

  private func proceed() {
    guard let job else { return }
    self.job = nil
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
