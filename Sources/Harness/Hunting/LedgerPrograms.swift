// Programs in which threads, queues and actors use Realms of one file together, made from the seed
// of their schedule: who there is, in which process, and what each of them does.
internal import Platform
internal import RaceHunt

/// Programs of a ledger.
enum LedgerPrograms {
  private enum Place: Int, CaseIterable { case thread, queue, actor }

  static let all = [
    HuntProgram(
      name: "realm-mixed",
      summary: "threads, queues and actors of one process or two, with all of the interface",
      hasBug: false, needsControlledEngine: true, steps: 300_000, warmUps: 150,
      program: { try await run(Place.allCases, usersMax: 5, stepsMax: 30) }),
    HuntProgram(
      name: "realm-mixed-cut",
      summary: "the same, and what a kill or a power cut at any operation leaves",
      hasBug: false, needsControlledEngine: true, steps: 300_000, warmUps: 150,
      program: { try await run(Place.allCases, usersMax: 4, stepsMax: 20, endsEarly: true) }),
    HuntProgram(
      name: "realm-queues",
      summary: "queues whose Realms write asynchronously, cancel that and observe",
      hasBug: false, needsControlledEngine: true, steps: 300_000, warmUps: 150,
      program: { try await run([.queue], usersMax: 3, stepsMax: 18) }),
  ]

  /// - Parameters:
  ///   - stepsMax: so many steps at most, of all users.
  ///   - endsEarly: whether what the end of the processes or of the machine leaves is judged, too.
  private static func run(
    _ places: [Place], usersMax: Int, stepsMax: Int, endsEarly: Bool = false
  ) async throws {
    let count = 2 + random(below: usersMax - 1)
    let processes = 1 + random(below: 2)
    let chosen = (0..<count).map { _ in places[random(below: places.count)] }
    let plans = chosen.map { place in
      let choices =
        switch place {
        case .thread: LedgerUser.Step.ofThreads
        case .queue: LedgerUser.Step.ofQueues
        case .actor: LedgerUser.Step.ofActors
        }
      return (0..<1 + random(below: stepsMax / count)).map { _ in
        choices[random(below: choices.count)]
      }
    }
    let queues = chosen.indices.filter { chosen[$0] == .queue }
      .map { (user: $0, queue: RaceHunt.DispatchQueue(label: "queue of user \($0)")) }
    let shared = SharedLedger(users: count, processes: processes, queues: queues.map { $0.queue })
    let begin = Platform.Monitor(0)
    RealmPrograms.onThread("founder") {
      let operations = try shared.found()
      begin.withLock { $0 = operations }
    }
    func user(_ number: Int) -> LedgerUser {
      LedgerUser(number, shared, isThread: chosen[number] == .thread)
    }
    let working = queues.map { LedgerQueue(user($0.user), $0.queue, plans[$0.user]) }
    for queue in working { queue.start() }
    let tasks = chosen.indices.filter { chosen[$0] == .actor }.map { number in
      let (actor, plan) = (LedgerActor(user(number)), plans[number])
      return Task { await actor.perform(plan) }
    }
    let threads = chosen.indices.filter { chosen[$0] == .thread }
      .map { user($0).start(plans[$0]) }
    for task in tasks { await task.value }
    for thread in threads { thread.join() }
    for queue in working { queue.wait() }
    RealmPrograms.onThread("judge") { try shared.judgeEnd() }
    if endsEarly {
      RealmPrograms.onThread("judge of the end") {
        try shared.judgeCut(from: begin.withLock { $0 })
      }
    }
  }
}
