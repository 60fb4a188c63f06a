// Small programs of actors and tasks, drawn from a seed.
package import Platform

/// What some tasks do with the Realms of some actors.
package struct ScheduleProgram: Sendable {
  /// One thing that a task does; `actor` is the one that does it.
  package enum Step: Sendable {
    /// `asyncWrite`.
    case write(actor: Int, ScheduleModel.Ending)
    /// `writeAsync` and, after so many suspensions, `cancelAsyncWrite`.
    case block(actor: Int, cancelledAfter: Int?)
    /// A transaction that goes on over so many suspensions.
    case long(actor: Int, suspensions: Int)
    /// `asyncRefresh`.
    case refresh(actor: Int)
    /// A reference made by one actor and resolved by another, in a write or outside.
    case handOver(from: Int, to: Int, inWrite: Bool)
    /// Observes one actor's object on another one, or the same.
    case observe(actor: Int, on: Int)
    /// Cancels a task, perhaps itself.
    case cancel(task: Int)
    /// A call of an actor that does nothing.
    case visit(actor: Int)
    case suspend
  }

  package let actors: Int
  package let tasks: [[Step]]

  package init(actors: Int, tasks: [[Step]]) {
    self.actors = actors
    self.tasks = tasks
  }

  /// A random program for so many actors.
  package init(actors: Int, _ random: inout RandomGenerator) {
    func pick(_ count: Int) -> Int { Int(random.next(upperBound: UInt64(count))) }
    self.actors = actors
    var tasks: [[Step]] = []
    let count = 2 + pick(3)
    tasks.reserveCapacity(count)
    // Two open transactions would wait for each other with the only thread there is.
    let longTask = pick(count)
    for task in 0..<count {
      var steps: [Step] = []
      steps.reserveCapacity(4)
      for _ in 0...pick(3) {
        let actor = pick(actors)
        switch pick(13) {
        case 0, 1, 2: steps.append(.write(actor: actor, .commits))
        case 3: steps.append(.write(actor: actor, .fails))
        case 4:
          let endings: [ScheduleModel.Ending] = [.cancels, .commitsInside, .cancelsAndBegins]
          steps.append(.write(actor: actor, endings[pick(3)]))
        case 5: steps.append(.block(actor: actor, cancelledAfter: pick(2) == 0 ? nil : pick(4)))
        case 6 where task == longTask:
          steps.append(.long(actor: actor, suspensions: 1 + pick(4)))
        case 6, 7: steps.append(.refresh(actor: actor))
        case 8: steps.append(.handOver(from: actor, to: pick(actors), inWrite: pick(2) == 0))
        case 9: steps.append(.observe(actor: actor, on: pick(actors)))
        case 10, 11: steps.append(.cancel(task: pick(count)))
        default: steps.append(.suspend)
        }
      }
      tasks.append(steps)
    }
    self.tasks = tasks
  }
}
