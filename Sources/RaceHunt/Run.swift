// One schedule of a program: which strands there are, who goes on at each point, and what has
// happened. A point comes before each operation that others can see; there the strategy chooses.
// Everything here is touched only by the thread that holds the baton.
internal import CRaceHunt
internal import Glibc
internal import Synchronization

/// The run of a program under one schedule.
final class Run: @unchecked Sendable {
  // @unchecked, and unchecked exclusivity: only the holder of the baton is here; passing the baton
  // on is a release, taking it an acquire. What comes from elsewhere goes through `executor.inbox`.

  /// How a worker goes on after a strand has nothing more to do.
  enum Continuation {
    case runs(Strand)
    case handedOver
    case over
  }

  let chooser: any Chooser
  let pool: WorkerPool
  let limits: Limits
  let seed: UInt64
  /// The number of the schedule in its exploration.
  let number: Int
  private let program: Program
  private let carrier: Carrier
  /// Differs from those of all other runs of the process while this one goes on.
  @exclusivity(unchecked) private(set) var identity: UInt64 = 0
  @exclusivity(unchecked) private(set) var batch: Batch!
  private(set) lazy var executor = RunExecutor(self)

  @exclusivity(unchecked) var strands: [Strand] = []
  /// The end of how many of them was waited for.
  @exclusivity(unchecked) var joined = 0
  @exclusivity(unchecked) var ready: [Int] = []
  @exclusivity(unchecked) private(set) var events: [Event] = []
  @exclusivity(unchecked) private(set) var texts: [String] = []
  /// What the program wants to be kept with its failure, by name.
  @exclusivity(unchecked) var attachments: [(name: String, bytes: [UInt8])] = []
  @exclusivity(unchecked) private(set) var resources = ResourceTable()
  var resourceList: [Resource] { resources.list }
  /// Maps of memory that has several of them, the latest one last.
  @exclusivity(unchecked) var sharedWords: [(map: Range<UInt>, memory: UInt)] = []
  /// Points at which more than one strand could go on.
  @exclusivity(unchecked) private(set) var decisions = 0
  /// Where the choice was another one than that of the plain order.
  @exclusivity(unchecked) private(set) var turns: [Schedule.Turn] = [] {
    didSet { turnSteps.append(events.count) }
  }
  /// How many steps came before each of them.
  @exclusivity(unchecked) private(set) var turnSteps: [Int] = []
  @exclusivity(unchecked) private(set) var points = 0
  @exclusivity(unchecked) private(set) var switches = 0
  /// How often a strand was told to go on, whether there was a choice or none.
  @exclusivity(unchecked) private(set) var steps = 0
  /// Virtual time, in nanoseconds.
  @exclusivity(unchecked) var now: UInt64 = 0
  @exclusivity(unchecked) private(set) var violation: Violation?
  /// What has come from threads that are not under control.
  private let uncontrolledSteps = Synchronization.Mutex<[String]>([])
  /// What waits for a time.
  @exclusivity(unchecked) var deadlines = Deadlines()
  /// How often something that strands share was changed; of words, whose steps may fail, by these.
  @exclusivity(unchecked) var changeCount = 0
  /// How often a lock was asked for: what is changed under one is not known.
  @exclusivity(unchecked) var lockCount = 0
  /// Tasks by which the runtime's hooks know the run.
  @exclusivity(unchecked) var ownedTasks: [UInt64] = []
  /// Queues, groups and other parts of the program that know more than a resource does.
  @exclusivity(unchecked) var parts: [UInt: AnyObject] = [:]
  /// What the program does by queues of operations.
  @exclusivity(unchecked) var operationQueues: [OperationQueueState] = []
  /// What it has made of POSIX's keys of values by thread.
  @exclusivity(unchecked) var keys: Set<pthread_key_t> = []
  /// By whose turns the main actor's jobs run, once the program has used it.
  @exclusivity(unchecked) var mainQueue: QueueState?
  /// The thread of both, once the program has asked for it.
  @exclusivity(unchecked) var mainThread: Thread?
  /// Who makes which global, by its address.
  @exclusivity(unchecked) var globalMakers: [UInt: Strand] = [:]
  /// Whether others have gone on while a global was made: no other schedule is like that.
  @exclusivity(unchecked) var hasMadeGlobalInSteps = false
  /// Whether it may have locks that are older than it; see `takeGlobalLocks`.
  @exclusivity(unchecked) var hasGlobalLocks = false
  /// How many locks of Swift's runtime the strands have.
  @exclusivity(unchecked) var runtimeLocks = 0
  @exclusivity(unchecked) private(set) var lastRun: Strand?
  @exclusivity(unchecked) private var isYielding = false
  /// What goes on for a task that has just let others go first, as one that waits for them.
  @exclusivity(unchecked) var yielding: Strand?
  /// How many jobs have begun.
  @exclusivity(unchecked) var jobs = 0
  /// So many spins of others are too many for one that could go on.
  private static let patience = 50
  /// How often the current strand has gone on although others could.
  @exclusivity(unchecked) private var decisionsInARow = 0
  /// How often it has let others go first since another one has made a step.
  @exclusivity(unchecked) private var yieldsInARow = 0
  /// After so many decisions the current strand lets others go first: it may wait for one of them.
  @exclusivity(unchecked) private var loneDecisionsMax: Int
  /// Of the program, for its own random numbers.
  @exclusivity(unchecked) var random: Random
  /// Those of its numbers that are others.
  let draws: Draws
  /// What it has drawn.
  @exclusivity(unchecked) var drawn: [Int] = []
  /// Of its own, so that what the engine draws does not shift what the program does.
  @exclusivity(unchecked) var systemRandom: Random
  /// Of its own, too: whether and how far time passes.
  @exclusivity(unchecked) var timeRandom: Random
  /// What happens of what contracts leave open.
  @exclusivity(unchecked) var liberties: Liberties
  /// Whether what is started may begin before its starter goes on.
  ///
  /// In some schedules only: what both do at points can be ordered without it, in fewer steps.
  private let startsArePoints: Bool
  @exclusivity(unchecked) var hasProgramEnded = false
  /// Whether nobody could go on, and somebody outside might have changed that.
  @exclusivity(unchecked) private(set) var hasWaitedOutside = false
  /// What is known of why it was given up.
  @exclusivity(unchecked) var hang: Hang?
  /// Ended from within, where it was.
  @exclusivity(unchecked) private(set) var isAbandoned = false

  init(
    _ program: @escaping Program, seed: UInt64, draws: Draws = Draws(), number: Int,
    chooser: any Chooser, pool: WorkerPool, carrier: Carrier, limits: Limits
  ) {
    self.program = program
    self.carrier = carrier
    self.seed = seed
    self.draws = draws
    self.number = number
    self.chooser = chooser
    self.pool = pool
    self.limits = limits
    random = Random(seed: seed ^ 0x5EED)
    systemRandom = Random(seed: seed ^ 0xB175)
    timeRandom = Random(seed: seed ^ 0x71AE)
    deadlines.areUncertain = timeRandom.next(below: 2) == 0
    if seed & Self.seedOfEarlyTimeouts != 0 {
      deadlines.comeEarly = true
      deadlines.delayEvery <<= timeRandom.next(below: 5)
    }
    liberties = Liberties(seed: seed)
    loneDecisionsMax =
      seed & Self.seedOfLongRuns == 0 ? Self.loneDecisions : Self.loneDecisionsOfLongRuns
    var startRandom = Random(seed: seed ^ 0x57A7)
    startsArePoints = startRandom.next(below: Self.startPointsEvery) == 0
    events.reserveCapacity(128)
    strands.reserveCapacity(8)
  }

  /// Makes the program's first task; it runs when it is chosen.
  func begin(batch: Batch) {
    self.batch = batch
    chooser.begin()
    identity = ActiveRuns.enter(self)
    let (program, executor) = (program, executor)
    carrier.perform {
      Task(executorPreference: executor) {
        do { try await program() } catch {
          Worker.current?.run?.violate(.thrown, "the program throws \(words(of: error))")
        }
        Worker.current?.run?.noteEnd()
      }
    }
  }

  /// Called once, when no step follows: by the worker that has the baton, or ends the run.
  ///
  /// What stands at a point never goes on; its thread ends.
  func leave() {
    for strand in strands {
      guard let worker = strand.worker, worker !== Worker.current else { continue }
      strand.worker = nil
      worker.isAbandoned = true
      worker.grant()
    }
    if !globalMakers.isEmpty { forgetGlobals() }
    giveBackGlobalLocks()
    deleteKeys()
    ActiveRuns.leave(identity, tasks: ownedTasks)
    identity = 0
    parts = [:]
    operationQueues = []
    mainQueue = nil
    mainThread = nil
    deadlines.timers = []
    // Each knows the other.
    for strand in strands { strand.thread = nil }
    // The batch knows its last run.
    batch = nil
  }

  /// A random number of the program.
  func draw(below bound: Int) -> Int {
    // Of the seed, too: those behind it stay what they are.
    var value = random.next(below: bound)
    guard drawn.count < Draws.drawnMax else { return value }
    if let given = draws.given[drawn.count] { value = min(given, bound - 1) }
    drawn.append(value)
    return value
  }

  /// Called by any thread.
  func noteUncontrolled(_ text: String) {
    uncontrolledSteps.withLock { if $0.count < 8 && !$0.contains(text) { $0.append(text) } }
  }

  /// What this run did that is not under control.
  var uncontrolled: [String] { uncontrolledSteps.withLock { $0 } }

  /// The same as an end of a sentence; empty if nothing.
  var uncontrolledText: String {
    let steps = uncontrolled
    return steps.isEmpty ? "" : "; not under control: " + steps.joined(separator: ", ")
  }

  // MARK: - Points

  private static let startPointsEvery = 4

  /// Lets the strategy choose who goes on before the current strand does what others can see.
  func point(_ pending: Pending = .begins, isYield: Bool = false) {
    guard let strand = Worker.current?.strand else { return }
    if strand.mayHaveName { nameTask(strand) }
    strand.pending = pending
    strand.hasWoken = false
    pool.pass()
    countPoint()
    if strand.passesOver(isYield: isYield) { return }
    isYielding = isYield
    defer { isYielding = false }
    strand.state = .ready
    guard let next = choose(current: strand) else { fatalError("no strand at its own point") }
    if next !== strand { switchOver(to: next, from: strand) }
    strand.state = .running
  }

  /// Lets what the current strand has just started begin before the strand goes on, in some
  /// schedules: between here and its next point it may do what no point tells of.
  func pointBehindStart() {
    if startsArePoints && decide(proposing: 1) != 0 { point(.unknown) }
  }

  /// Also before what is no choice, but may be done without end.
  func countPoint() {
    points += 1
    if points > limits.points { stopWithoutEnd() }
  }

  /// Waits until another strand makes this one ready; false when the time ran out before.
  @discardableResult
  func block(_ strand: Strand, for waiting: Waiting, until deadline: UInt64? = nil) -> Bool {
    strand.hasTimedOut = false
    strand.state = .blocked(waiting, until: deadline)
    if deadline != nil { deadlines.waiters += 1 }
    defer { if deadline != nil { deadlines.waiters -= 1 } }
    switch nextReady() {
    case .some(let next): if next !== strand { switchOver(to: next, from: strand) }
    case .none: if mayEnd { end(before: strand) } else { stopStuck() }
    }
    strand.state = .running
    return !strand.hasTimedOut
  }

  /// Called by a worker whose strand has nothing more to run.
  func goOn(on worker: Worker) -> Continuation {
    guard let next = nextReady() else {
      if !mayEnd { note(stuck()) }
      return .over
    }
    if next.worker == nil && next.stackSize <= worker.stackSize { return .runs(next) }
    guard let other = next.worker ?? idleWorker(for: next) else {
      note(.noThread)
      return .over
    }
    pool.giveBack(worker)
    other.grant()
    return .handedOver
  }

  /// One that has nothing to do, and goes on with the strand once it has the baton.
  private func idleWorker(for strand: Strand) -> Worker? {
    let worker = pool.take(stackSize: strand.stackSize)
    worker?.work = .strand(strand, self)
    return worker
  }

  private func switchOver(to next: Strand, from strand: Strand) {
    let worker = strand.worker!
    guard let other = next.worker ?? idleWorker(for: next) else { return stop(.noThread) }
    other.grant()
    worker.park()
  }

  // MARK: - Choosing

  /// Those who would only begin to wait are left out, unless there are no others: then it becomes
  /// seen what they wait for.
  private func collectReady() {
    ready.removeAll(keepingCapacity: true)
    for strand in strands where strand.isReady && strand.isEnabled { ready.append(strand.number) }
    if !ready.isEmpty { return }
    for strand in strands where strand.isReady { ready.append(strand.number) }
  }

  private func choose(current running: Strand?) -> Strand? {
    if !deadlines.areNone { wakeWhoIsDue(mayPass: running != nil) }
    collectReady()
    if ready.isEmpty { return nil }
    var current = running.flatMap { $0.isEnabled ? $0 : nil }
    let isTaskYielding = current == nil && yielding?.isReady == true
    if isTaskYielding { current = yielding }
    yielding = nil
    if isYielding || isTaskYielding, let current, passTimeForSpinners(current) { collectReady() }
    let first = ready[0]
    var chosen = first
    if ready.count > 1 {
      // Who goes on and on may wait for one of the others.
      let isLong = decisionsInARow > loneDecisionsMax
      let isYield = current != nil && (isYielding || isTaskYielding || isLong)
      var isCut = false
      if isYield {
        isCut = yieldFairly() && isLong
        yieldsInARow += 1
        isCut = isCut || isLong && yieldsInARow > 1
      }
      // Of a loop that waits without letting others go first there may be many turns.
      if isLong { loneDecisionsMax = max(Self.loneDecisions, loneDecisionsMax / 2) }
      let usual =
        isYield ? ready.first { $0 > current!.number } ?? ready[0] : current?.number ?? first
      chosen = chooser.choose(
        Situation(
          current: current?.number, usual: usual, ready: ready, decision: decisions,
          isYield: isYield, isSpinning: isYield && yieldsInARow > 1, isCut: isCut,
          strands: strands))
      if chosen != usual { turns.append(.init(decision: decisions, strand: chosen)) }
      decisions += 1
      if decisions & 63 == 0 { lookForStarving() }
      let goesOn = chosen == current?.number
      decisionsInARow = goesOn && !isYield ? decisionsInARow + 1 : 0
      if !goesOn { yieldsInARow = 0 }
    }
    let strand = strands[chosen]
    noteChange(strand.pending)
    strand.steps += 1
    strand.passedOver = 0
    // What is done before the first other strand is started, and once all were waited for, has one
    // order in all schedules.
    if strands.count - joined > 1 { countStep(strand) }
    steps += 1
    chooser.follow(strand, among: strands)
    strand.cause = nil
    strand.released.removeAll(keepingCapacity: true)
    strand.changed.removeAll(keepingCapacity: true)
    if let lastRun, lastRun !== strand { switches += 1 }
    lastRun = strand
    return strand
  }

  /// A choice that is not one among strands: 0 in the plain order.
  func decide(proposing choice: Int) -> Int {
    let chosen = chooser.passTime(at: decisions, proposed: choice)
    if chosen != 0 { turns.append(.init(decision: decisions, strand: chosen)) }
    decisions += 1
    return chosen
  }

  private func countStep(_ strand: Strand) {
    if let resource = strand.pending.resource {
      resource.countStep(
        of: strand.number, changes: strand.pending.changes, holding: strand.held)
    } else if strand.stepKey != nil {
      strand.jobSteps += 1
    }
  }

  /// Who was passed over by many that spin is the only choice, whatever the strategy: they may wait
  /// for its next step.
  ///
  /// - Returns: whether there is one.
  private func yieldFairly() -> Bool {
    var longest = Self.patience
    var starving: Int?
    for number in ready {
      let strand = strands[number]
      strand.passedOver += isYielding ? 1 : 10
      if strand.passedOver > longest { (longest, starving) = (strand.passedOver, number) }
    }
    if let starving { ready = [starving] }
    return starving != nil
  }

  /// Who goes on when the current strand cannot; time passes when nobody can.
  private func nextReady() -> Strand? {
    while true {
      collectArrivals()
      if let next = choose(current: nil) { return next }
      if passTime() { continue }
      // A task whose program waits may be resumed from outside.
      guard !hasProgramEnded, case .resting = strands[0].state, !hasCycleOfLocks else { return nil }
      hasWaitedOutside = true
      if !executor.waitForArrival(limits.grace) { return nil }
    }
  }

  private func collectArrivals() {
    for arrival in executor.takeArrivals() {
      let strand = enqueue(arrival)
      noteUncontrolled("\(strand?.name ?? "a task") is resumed by another thread")
    }
  }

  /// Each look at the clock takes a microsecond, so that who waits by looking at it comes to an
  /// end.
  func readClock() -> UInt64 {
    if let strand = Worker.current?.strand { readsTime(strand) }
    now &+= 1_000
    return 1_000_000_000 &+ now
  }

  /// What the step does depends on those before that have to do with time.
  func readsTime(_ strand: Strand) { strand.changed.append(Resource.time) }

  // MARK: - Strands

  func addThread(_ name: String?, _ body: @escaping () throws -> Void) -> Strand {
    let number = strands.count
    let count = strands.reduce(1) { $0 + ($1.kind == .thread ? 1 : 0) }
    // Two of one name would be one in a sentence.
    let isTaken = name.map { name in strands.contains { $0.name == name } } ?? false
    let usual = "thread \(count)"
    let strand = Strand(
      number: number, kind: .thread, name: isTaken ? "\(name ?? "") (\(usual))" : name ?? usual,
      parent: Worker.current?.strand?.number)
    strand.body = body
    strands.append(strand)
    return strand
  }

  /// A column for the work of a queue or a timer, which nobody waits for the end of.
  func addStrand(_ kind: Strand.Kind, _ name: String) -> Strand {
    let strand = Strand(
      number: strands.count, kind: kind, name: name, parent: Worker.current?.strand?.number)
    strand.state = .resting
    strand.isDetached = true
    strands.append(strand)
    return strand
  }

  /// Has a resting column of a queue or timer do the next work.
  func restart(_ strand: Strand, _ work: @escaping () -> Void, end: @escaping () -> Void) {
    strand.body = work
    strand.end = end
    strand.hasEnded = false
    strand.pending = .begins
    wake(strand)
  }

  /// What rested goes on, because of the current step.
  func wake(_ strand: Strand) {
    strand.state = .ready
    strand.cause = Worker.current?.strand == nil ? nil : steps - 1
  }

  /// A job that a hook was given, or that comes from another thread; the strand if it can run now.
  @discardableResult
  func enqueue(_ arrival: RunExecutor.Arrival) -> Strand? {
    guard arrival.delay > 0 else { return enqueue(arrival.job, arrival.kind) }
    after(arrival.delay) { [unowned self] in enqueue(arrival.job, arrival.kind) }
    return nil
  }

  /// Begins a column at a later time, which does what wakes a sleeping task.
  func startTimer(_ nanoseconds: UInt64, _ body: @escaping () -> Void) {
    after(nanoseconds) { [unowned self] in
      let idle = strands.first { $0.kind == .timer && $0.isResting }
      let count = strands.reduce(1) { $0 + ($1.kind == .timer ? 1 : 0) }
      restart(idle ?? addStrand(.timer, "timer \(count)"), body) {}
    }
  }

  /// Does something, which is no step, at a later time.
  func after(_ nanoseconds: UInt64, _ fire: @escaping () -> Void) {
    if let strand = Worker.current?.strand { readsTime(strand) }
    deadlines.timers.append(.init(time: now &+ nanoseconds, fire: fire))
  }

  // MARK: - Resources

  func resource(_ address: UInt, _ kind: Resource.Kind, name: String?) -> Resource {
    resources.resource(address, kind, name: name)
  }

  /// As if the last ones had never been used.
  func forgetResources(since count: Int) {
    for address in resources.forget(since: count) { parts[address] = nil }
  }

  func setTime(_ time: UInt64) { now = time }

  /// Addresses in the order in which the program shows them.
  func pointerNumber(_ address: UInt) -> Int { resources.pointerNumber(address) }

  /// What a strand makes is known again in other schedules, in which it is used in another order.
  func noteBirth(_ address: UInt) {
    if let strand = Worker.current?.strand { resources.noteBirth(address, by: strand) }
  }

  /// The memory may become another resource.
  func forget(_ address: UInt) {
    resources.forget(address)
    if !parts.isEmpty { parts[address] = nil }
  }

  // MARK: - What happens

  func record(
    _ strand: Strand, _ operation: EventKind, _ object: Int = -1, value: Int? = nil,
    at place: Place? = nil
  ) {
    if !strand.globals.isEmpty && operation != .violates { return }
    if events.count == limits.lastStep { stopThere() }
    events.append(
      Event(
        strand: Int32(strand.number), operation: operation, object: Int32(object), value: value,
        place: place))
  }

  func record(
    _ strand: Strand, _ operation: EventKind, text: String, at place: Place? = nil
  ) {
    texts.append(text)
    record(strand, operation, texts.count - 1, at: place)
  }

  /// The first one counts: what follows may follow from it.
  func violate(_ kind: Violation.Kind, _ text: String, at place: Place? = nil) {
    if let strand = Worker.current?.strand {
      record(strand, .violates, text: text, at: place)
    }
    note(Violation(kind: kind, text: text))
  }

  func note(_ violation: Violation) { self.violation = self.violation ?? violation }

  /// Ends the run where it is: nobody who is in it goes on.
  func stop(_ kind: Violation.Kind, _ text: String) { stop(Violation(kind: kind, text: text)) }

  func stop(_ violation: Violation) {
    note(violation)
    abandon()
  }

  /// The step after the last one that is wanted.
  private func stopThere() {
    race_hunt_stopped()
    abandon()
  }

  private func stopStuck() {
    note(stuck())
    abandon()
  }

  private func abandon() {
    guard let worker = Worker.current else { fatalError("a run is ended from outside") }
    isAbandoned = true
    worker.strand?.worker = nil
    worker.strand?.leaveRealLocks()
    batch.stop(after: self)
    race_hunt_leave()
  }
}
