// What the scheduler chooses among: a thread, a task, or the queue of an actor.
internal import CRaceHunt
internal import Glibc

/// One column of a schedule: a thread of the program, a task, or an actor that runs what it was
/// asked.
///
/// The runtime does not tell actors apart: the column of one that is done is given to the next.
final class Strand {
  enum Kind { case thread, queue, task, actor, yield, main, timer }

  enum State {
    /// Could run.
    case ready
    case running
    /// Waits for a resource, until a virtual time if there is one.
    case blocked(Waiting, until: UInt64?)
    /// A task that has nothing to run now, or a thread that has ended.
    case resting
  }

  let number: Int
  let kind: Kind
  var name: String
  /// Whether it is a task that nobody has asked yet what the program calls it.
  var mayHaveName: Bool
  var state: State = .ready
  /// What it does when it goes on.
  var pending = Pending.begins
  /// Who has started it.
  let parent: Int?
  /// Where it stands; nil while it has nothing on a stack.
  var worker: Worker?
  /// What a thread does; nil once it has begun.
  var body: (() throws -> Void)?
  /// What comes behind the body, outside of it.
  var end: (() -> Void)?
  /// What a task or an actor runs next; only the main actor has more than one.
  var jobs: [(job: UnownedJob, kind: JobKind)] = []
  /// The queues whose work it runs, the innermost last.
  var queues: [DispatchQueue] = []
  /// The queues whose operations it runs, the innermost last.
  var operationQueues: [OperationQueue] = []
  /// What `Thread.current` is there.
  var thread: Thread?
  /// What it has by keys of POSIX.
  var values: [pthread_key_t: UnsafeMutableRawPointer] = [:]
  /// By what the runtime knows a task; 0 for an actor.
  let key: UInt64
  var hasEnded = false
  var isJoined = false
  /// Nobody waits for its end.
  var isDetached = false
  /// Whether nobody need join it: a thread of Foundation, or of POSIX once the program says so.
  var isGivenUp = false
  /// The bytes of stack that it needs; 0 for as many as usual.
  var stackSize = 0
  /// How much it matters, as a thread of POSIX: of no meaning in a schedule.
  var scheduling: (policy: Int32, priority: Int32) = (SCHED_OTHER, 0)
  /// What it has returned, as a thread of POSIX.
  var result: UnsafeMutableRawPointer?
  /// Strands that wait for its end.
  var joiners: [Strand] = []
  /// How often it was chosen.
  var steps = 0
  /// How often until the program has ended.
  var stepsAtEnd = 0
  /// How often it was chosen to begin a job, of a task, an actor or a queue.
  var jobSteps = 0
  /// How many locks, words and the like it has made.
  var births: UInt64 = 0
  /// The globals that it makes, the innermost last.
  var globals: [GlobalInTheMaking] = []
  /// Numbers of the locks that it has.
  var held: [Int] = []
  /// The locks of the machine that its thread has beside those of the run.
  var realLocks: [any RealLock] = []
  /// Numbers of the locks that it has given back since it was chosen.
  var released: [Int] = []
  /// Numbers of what it has changed since then without a point of its own.
  var changed: [Int] = []
  /// The step that has woken it from its rest; nil if it did not rest.
  var cause: Int?
  /// Whether another one can go on because of it, and could not at its last point.
  var hasWoken = false
  /// How often it has let others go first, as a task.
  var yields = 0
  /// Its spinning, since time has passed for it.
  var spins = Spins()
  /// How often others have spun since it was chosen.
  var passedOver = 0
  /// How often it was chosen until the last look for those who starve.
  var stepsSeen = -1
  /// At how many such looks in a row it could go on and was not chosen since the one before.
  var looks = 0
  /// Set when a timed wait has run out.
  var hasTimedOut = false

  init(number: Int, kind: Kind, name: String, parent: Int?, key: UInt64 = 0) {
    self.number = number
    self.parent = parent
    self.kind = kind
    self.name = name
    self.key = key
    mayHaveName = kind == .task
  }

  var isReady: Bool {
    if case .ready = state { return true }
    return false
  }

  var isResting: Bool {
    if case .resting = state { return true }
    return false
  }

  /// Whether what it runs is the main thread's.
  var isOnMain: Bool { kind == .main || queues.contains { $0.runs(on: .main) } }

  /// By what the step before which it stands is known in all schedules.
  ///
  /// Jobs are all of one kind: on which actor they run, the runtime does not tell.
  var stepKey: UInt64? {
    switch pending {
    case .locks(let resource), .holds(let resource), .accesses(let resource, _): resource.key
    case .begins: kind == .thread ? nil : Resource.jobsKey
    case .joins, .unknown: nil
    }
  }

  /// Whether it would come further than to where it stands.
  var isEnabled: Bool {
    switch pending {
    case .locks(let mutex): mutex.owner == nil
    case .joins(let other): other.hasEnded
    case .begins, .holds, .accesses, .unknown: true
    }
  }

  /// What the body holds is given up at its end: that may have points, and who rests has none.
  private func performBody(_ run: Run) {
    guard let body else { return }
    self.body = nil
    do { try body() } catch {
      run.violate(.thrown, "\(name) throws \(words(of: error))")
    }
    // The threads of a queue go on.
    if kind == .thread { destroyValues() }
  }

  /// Those who wait for its end go on.
  func finishBody(_ run: Run) {
    run.record(self, .ends)
    state = .resting
    hasEnded = true
    for joiner in joiners { joiner.state = .ready }
    joiners = []
    thread = nil
    if let end {
      self.end = nil
      end()
    }
  }

  /// Runs what it has to run; called by its worker, with the baton.
  func perform(_ run: Run) {
    state = .running
    defer {
      // What the program keeps locked is so in this run, and for no other thread of the machine.
      leaveRealLocks()
      realLocks = []
    }
    if body != nil {
      run.record(self, .begins)
      performBody(run)
      finishBody(run)
    } else if !jobs.isEmpty {
      let (job, kind) = jobs.removeFirst()
      pending = .begins
      hasWoken = false
      run.countJob()
      run.record(self, .runs)
      // Sound below: UnownedJob is one pointer, that of the job.
      switch kind {
      case .preferring: job.runSynchronously(on: run.executor.asUnownedTaskExecutor())
      case .plain: race_hunt_run(unsafeBitCast(job, to: UnsafeMutableRawPointer.self))
      case .main: race_hunt_run_on_main(unsafeBitCast(job, to: UnsafeMutableRawPointer.self))
      }
      pending = .begins
      if self.kind == .main && jobs.isEmpty { run.mainQueue?.finish(isBarrier: true) }
      // While it ran it may have become ready again.
      if case .running = state { state = jobs.isEmpty ? .resting : .ready }
    }
  }
}

/// The columns of a queue: each does one piece of work after the other, and rests in between.
struct QueueColumns {
  private var strands: [Strand] = []

  /// One that has nothing to do.
  mutating func idle(_ run: Run, of queue: Resource) -> Strand {
    if let idle = strands.first(where: \.isResting) { return idle }
    let name = strands.isEmpty ? queue.name : "\(queue.name) (\(strands.count + 1))"
    let strand = run.addStrand(.queue, name)
    strands.append(strand)
    return strand
  }
}

/// The operation before which a strand stands.
enum Pending {
  /// Of a thread, its first step; of a task or an actor, its next job; also steps that nobody sees.
  case begins
  case locks(Resource)
  /// It has the lock, and goes on with it.
  case holds(Resource)
  case joins(Strand)
  /// Any other step on what strands share.
  case accesses(Resource, writes: Bool)
  /// A step whose order with any other one may matter.
  case unknown

  /// What strands share of it.
  var resource: Resource? {
    switch self {
    case .begins, .joins, .unknown: nil
    case .locks(let resource), .holds(let resource), .accesses(let resource, _): resource
    }
  }

  /// Whether it is more than a look.
  var changes: Bool {
    if case .accesses(_, writes: false) = self { return false }
    return true
  }

  /// Whether others may notice the step.
  var isShared: Bool {
    switch self {
    case .begins, .joins: false
    case .locks, .holds, .accesses, .unknown: true
    }
  }

  /// Whether the order of both matters.
  func conflicts(with other: Pending) -> Bool {
    switch (self, other) {
    case (.unknown, _), (_, .unknown): return true
    default: break
    }
    guard let resource, let otherResource = other.resource else { return false }
    // Which word a line of code is about is not known.
    if resource.kind == .code && otherResource.kind == .code { return true }
    guard resource === otherResource else { return false }
    switch (self, other) {
    case (.accesses(_, writes: false), .accesses(_, writes: false)): return false
    // Who waits for the lock cannot come before.
    case (.holds, .locks), (.locks, .holds): return false
    default: return true
    }
  }
}

/// What a strand waits for.
enum Waiting {
  case mutex(Resource)
  /// A lock, and that its condition is this number.
  case lockCondition(Resource, wanted: Int)
  case condition(Resource)
  case channel(Resource, sends: Bool)
  /// A semaphore, the end of a group, a turn in a queue.
  case turn(Resource)
  case end(Strand)
  case time

  /// Where the strand stands in line.
  var resource: Resource? {
    switch self {
    case .mutex(let resource), .lockCondition(let resource, _), .condition(let resource),
      .channel(let resource, _), .turn(let resource):
      resource
    case .end, .time: nil
    }
  }
}
