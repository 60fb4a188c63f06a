// The workload actor-hops: chains of actors, each with a Realm of its own, hand objects on: as
// references, frozen and as plain values; the last one of a chain writes. One measuring thread a
// chain sends the letters; the actors run on the threads of Swift's tasks.
internal import Platform

extension WorkloadKind {
  package static let actorHops = WorkloadKind(ActorHopsDescription.self)
}

/// What the tool knows of actor-hops before it runs.
package enum ActorHopsDescription: WorkloadDescription {
  package static let name = "actor-hops"
  package static let summary =
    "chains of actors hand objects on as references, frozen and as values"
  package static let help = """
    Each of --threads chains has --readers actors, each with a Realm of its own. A letter goes through
    the chain (operation 'chain', in --hops from one actor to the next, behind the last one to the
    first): an object as a reference, as a frozen object or as plain values, which each actor checks.
    After each --refresh-every-th letter the actor that has it commits --batch objects by asyncWrite.
    With --rate the letters follow a schedule.

      realm-bench run actor-hops --threads 2 --readers 4 --duration 5s --rate 2000/s
    """
  package static let flags = Flags.table.union(Flags.load).union([
    "threads", "readers", "hops", "batch",
  ])
  package static let scheduled: Set<Operation> = [.chain]
  package static let invariants: [Invariant] = Invariant.ofSnapshots(and: [.references])

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.threads = 2
    settings.readers = 4
    settings.objects = 10_000
    settings.batch = 1
    settings.refreshEvery = 16
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    [.chain, .hop, .write]
  }

  package static func threads(of operation: Operation, _ settings: RunSettings) -> Int {
    settings.threads
  }

  /// Actors go on with what others have begun, on any thread.
  package static func countsWork(of operation: Operation) -> Bool { false }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.threads) chains of \(settings.readers) actors, "
      + (settings.hops.map { "\(grouped($0)) hops, " } ?? "")
      + "\(grouped(settings.objects)) objects, batch \(settings.batch)"
  }

  package static func check(_ settings: RunSettings) throws(UsageError) {
    if settings.readers < 2 {
      throw UsageError("--readers \(settings.readers): a chain has two actors at least")
    }
  }

  package static let needs: Set<EngineCapability> = [.actors]

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> {
    func make<Able: ActorEngine>(_ engine: Able.Type) -> any Workload<Driver> {
      shared.widened(ActorHops(shared.narrowed(to: engine)))
    }
    guard let able = Driver.self as? any ActorEngine.Type else {
      preconditionFailure("refused before: \(needs)")
    }
    return make(able)
  }
}

/// Letters go through chains of actors.
package struct ActorHops<Driver: ActorEngine>: Workload {
  package let shared: RunShared<Driver>

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  package var threads: [WorkerPlan] {
    let shared = shared
    return (1...shared.plan.threads).map { number in
      WorkerPlan("chain \(number)", operations: [.chain, .hop, .write]) { handover in
        try HopChain(number: number, shared: shared, handover: handover)
      }
    }
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    try ReadersWriter(shared).checkEnd(&ledger)
  }
}

/// Places in the plan of a chain's thread.
enum HopFigure: Int { case chain, hop, write }

/// Sends letters through the actors of one chain; made and used on its own thread.
package final class HopChain<Driver: ActorEngine>: Worker {
  /// What one letter has shown.
  private struct Round: Sendable {
    var hops: [UInt64] = []
    /// When the last actor had it.
    var end: UInt64 = 0
    var write: UInt64?
    /// How long a write has waited that nobody waits for.
    var givenUp: UInt64?
  }

  private let shared: RunShared<Driver>
  private let actors: [HopActor<Driver>]
  /// Those that a letter goes to, one after the other.
  private let path: [HopActor<Driver>]
  private let clock = MonotonicClock()
  package private(set) var ledger = InvariantLedger()
  package var pausedNanoseconds: UInt64 { pace.pausedNanoseconds }
  private var pace: ThreadPace
  private var rounds = 0

  package init(number: Int, shared: RunShared<Driver>, handover: Handover) throws {
    self.shared = shared
    actors = try waitForTask {
      var actors: [HopActor<Driver>] = []
      for position in 1...shared.plan.readers {
        actors.append(try await HopActor(shared, chain: number, position: position))
      }
      return actors
    }
    path = (0...(shared.plan.hops ?? actors.count - 1)).map { [actors] in
      actors[$0 % actors.count]
    }
    pace = ThreadPace(
      control: shared.control, handover: handover,
      openLoad: shared.plan.openLoad(thread: number, of: shared.plan.threads),
      random: shared.random(thread: number))
  }

  /// Sends letters until the run stops.
  package func run() throws {
    defer { pace.finish() }
    pace.waitForStart()
    while let turn = pace.nextTurn() { try send(turn) }
    let actors = actors
    ledger = waitForTask {
      var ledger = InvariantLedger()
      for actor in actors { ledger.add(await actor.ledger) }
      return ledger
    }
  }

  private func send(_ turn: ThreadPace.Turn) throws {
    rounds += 1
    let writes = rounds % shared.plan.refreshEvery == 0
    let path = path
    let (clock, lockWait) = (clock, pace.lockWait)
    // An actor waits for the lock in its stead.
    if writes { pace.tellOwner() }
    let start = clock.nanoseconds()
    let round: Round
    do {
      round = try waitForTask {
        try await Self.send(
          through: path, writes: writes, isScheduled: turn.isScheduled, lockWait, clock)
      }
    } catch {
      if !(error is Violation) {
        pace.measurements.figures[HopFigure.write.rawValue].errors += 1
      }
      throw error
    }
    pace.record(HopFigure.chain.rawValue, turn, start: start, end: round.end)
    for hop in round.hops {
      pace.measurements.figures[HopFigure.hop.rawValue].service.record(hop)
    }
    if let write = round.write {
      pace.measurements.figures[HopFigure.write.rawValue].service.record(write)
    }
    if let waited = round.givenUp { pace.giveUp(HopFigure.write.rawValue, after: waited) }
  }

  private static func send(
    through actors: [HopActor<Driver>], writes: Bool, isScheduled: Bool, _ lockWait: LockWait,
    _ clock: MonotonicClock
  ) async throws -> Round {
    var round = Round()
    var letter: Letter<Driver.Parcel>?
    for (position, actor) in actors.enumerated() {
      let (next, hop) = try await actor.pass(letter)
      letter = next
      if position > 0 { round.hops.append(hop) }
    }
    round.end = clock.nanoseconds()
    guard writes else { return round }
    do {
      round.write = try await actors.last!.commit(lockWait, isScheduled: isScheduled)
    } catch is RunControl.GivenUp {
      round.givenUp = clock.nanoseconds() - round.end
    }
    return round
  }
}

/// Runs a body in a task of no actor, and blocks the calling thread until it is done.
private func waitForTask<Value: Sendable, Failure: Error>(
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) throws(Failure) -> Value {
  let result = Monitor<Result<Value, Failure>?>(nil)
  Task.detached {
    let value: Result<Value, Failure>
    do throws(Failure) { value = .success(try await body()) } catch { value = .failure(error) }
    result.withLock { $0 = value }
    result.notifyAll()
  }
  return try result.wait(until: { $0 != nil }, then: { $0! }).get()
}
