// Actors with their Realms on which programs are run, one schedule after the other.
internal import Platform
package import RealmSwift

/// Runs schedules; used by one thread at a time, which must not be one of those that run tasks.
package final class ScheduleStage: Sendable {
  private let executor: SteppedExecutor
  private let actors: [JournalActor]
  /// What every Realm shows since the audit of the last schedule; nil before the first, and after
  /// one that went wrong.
  private let known = Monitor<JournalState?>(nil)

  /// What a schedule has shown.
  package struct Result: Sendable {
    package let steps: Int
    package let violations: [String]
    /// How many tasks were cancelled before their write.
    package let cancelledWrites: Int
    private let events: [ScheduleEvent]

    fileprivate init(_ steps: Int, _ model: ScheduleModel) {
      self.steps = steps
      violations = model.violations
      cancelledWrites = model.cancelledWrites
      events = model.events
    }

    /// What has happened, in order: equal for equal schedules.
    package var trace: [String] { events.map { $0.description } }
  }

  package init(actors count: Int, _ configuration: Realm.Configuration) async throws {
    let executor = SteppedExecutor()
    // The jobs that the Realms themselves send to their actors are steps, too.
    actors = try await ActorJobs.$executor.withValue(executor) {
      var actors: [JournalActor] = []
      for number in 0..<count {
        actors.append(try await JournalActor(number, configuration))
      }
      return actors
    }
    self.executor = executor
  }

  /// Runs a program in the order that a seed gives.
  ///
  /// - Parameters:
  ///   - cancellation: cancels a task of the program before a step, whoever runs there.
  ///   - settles: false for a program that uses no Realm.
  package func run(
    _ program: ScheduleProgram, seed: UInt64, cancellation: (task: Int, step: Int)? = nil,
    settles: Bool = true
  ) -> Result {
    var random = RandomGenerator(seed: seed)
    let model = ScheduleModel(settles ? start() : JournalState())
    let tasks = TaskList(count: program.tasks.count)
    for (number, steps) in program.tasks.enumerated() {
      tasks.add(
        Task(executorPreference: executor) { [actors] in
          for (position, step) in steps.enumerated() {
            await Self.perform(
              step, entry: (number + 1) * 1_000 + position * 100, actors, tasks, model)
          }
          tasks.end(number)
        })
    }
    var steps = executor.run { step, count in
      if let cancellation, cancellation.step == step {
        model.note(.cancelsFromOutside(task: cancellation.task))
        tasks.cancel(cancellation.task)
      }
      return Int(random.next(upperBound: UInt64(count)))
    }
    let unfinished = tasks.unfinished
    for task in unfinished { model.violate("task \(task) is never resumed") }
    if settles && unfinished.isEmpty {
      Task(executorPreference: executor) { [actors] in
        for actor in actors { await actor.audit(model) }
      }
      steps += executor.run { _, count in Int(random.next(upperBound: UInt64(count))) }
      model.checkEnd()
      model.endObservers()
      tasks.dropTokens()
      // What ends with the observers belongs to this schedule.
      _ = executor.run { _, _ in 0 }
      // The audit has seen every Realm show it.
      if model.violations.isEmpty { known.withLock { $0 = model.committed } }
    }
    return Result(steps, model)
  }

  /// The state that every Realm shows when a schedule begins, with nothing left to run: each starts
  /// alike.
  ///
  /// The audit of the schedule before has seen to it, or else this does.
  private func start() -> JournalState {
    let audited = known.withLock { known in
      defer { known = nil }
      return known
    }
    return audited ?? settle()
  }

  /// Runs what is left, and brings every Realm to the newest version.
  private func settle() -> JournalState {
    let found = Monitor(JournalState())
    Task(executorPreference: executor) { [actors] in
      for actor in actors {
        let state = await actor.newestState()
        found.withLock { $0 = state }
      }
    }
    _ = executor.run { _, _ in 0 }
    return found.withLock { $0 }
  }

  /// Does a step of a program.
  package static func perform(
    _ step: ScheduleProgram.Step, entry: Int, _ actors: [JournalActor], _ tasks: TaskList,
    _ model: ScheduleModel
  ) async {
    switch step {
    case .write(let actor, let ending): await actors[actor].write(entry, ending, model)
    case .block(let actor, let cancelledAfter):
      let identifier = await actors[actor].writeBlock(entry, model)
      guard let cancelledAfter else { return }
      for _ in 0..<cancelledAfter { await Task.yield() }
      do { try await actors[actor].cancel(identifier, entry, model) } catch {
        model.violate("\(error)")
      }
    case .long(let actor, let suspensions):
      do {
        try await actors[actor].writeSlowly(entry, suspensions: suspensions, model)
      } catch { model.violate("\(error)") }
    case .refresh(let actor): await actors[actor].refresh(model)
    case .handOver(let from, let to, let inWrite):
      guard let (reference, least) = await actors[from].makeReference() else { return }
      await actors[to].resolve(reference, least: least, inWrite: inWrite ? entry : nil, model)
    case .observe(let actor, let on):
      let token = await actors[actor].observe(entry, on: actors[on], model)
      if let token { tasks.keep(token) }
    case .cancel(let task):
      model.note(.cancels(task: task))
      tasks.cancel(task)
    case .visit(let actor): await actors[actor].visit()
    case .suspend: await Task.yield()
    }
  }
}
