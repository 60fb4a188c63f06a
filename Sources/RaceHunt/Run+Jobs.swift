// Jobs of tasks and actors: the column in which each of them runs.
internal import CRaceHunt

/// A task that lets others go first for more times than this waits for them.
private let yieldsOfWork = 10

extension Run {
  /// A task or an actor can go on with this job.
  @discardableResult
  func enqueue(_ job: UnownedJob, _ kind: JobKind) -> Strand {
    // Sound: an UnownedJob is one pointer, that of the runtime's job.
    let pointer = unsafeBitCast(job, to: UnsafeMutableRawPointer.self)
    let key = race_hunt_task_number(pointer)
    if kind != .preferring && key != 0 && !ownedTasks.contains(key) {
      ownedTasks.append(key)
      ActiveRuns.add(task: key, self)
    }
    Worker.current?.strand?.hasWoken = true
    if kind == .main { return enqueueOnMain(job) }
    let isYield = race_hunt_is_yield(pointer) != 0
    let strandKind: Strand.Kind = isYield ? .yield : key == 0 ? .actor : .task
    // An actor's jobs have no number, and memory of their own each time, so that their addresses
    // differ between runs: such a strand is whichever actor runs next.
    let known = strands.first { strand in
      strandKind == .task
        ? strand.key == key && key != 0 : strand.kind == strandKind && strand.isResting
    }
    let strand = known ?? addTask(strandKind, key: strandKind == .task ? key : 0)
    strand.jobs.append((job, kind))
    if strand.isResting { wake(strand) }
    if isYield, let task = Worker.current?.strand {
      task.yields += 1
      if task.yields > yieldsOfWork { yielding = strand }
    }
    return strand
  }

  /// Jobs need not come to a point, and may make others without end.
  func countJob() {
    jobs += 1
    if jobs > limits.points { stopWithoutEnd() }
  }

  /// The main actor's jobs run one after the other, and none beside the main queue's work: both
  /// are the main thread's.
  private func enqueueOnMain(_ job: UnownedJob) -> Strand {
    let known = strands.first { $0.kind == .main }
    let strand = known ?? addTask(.main, key: 0)
    let start = { [unowned self] in
      strand.jobs.append((job, .main))
      if strand.isResting { wake(strand) }
    }
    guard let mainQueue else {
      start()
      return strand
    }
    if known == nil { strand.state = .resting }
    mainQueue.items.append(QueueState.Item(isBarrier: true, start: start))
    mainQueue.pump()
    return strand
  }

  /// The program uses the main queue, from now on by turns with the main actor.
  func shareMain(with queue: QueueState) {
    mainQueue = queue
    if strands.contains(where: { $0.kind == .main && !$0.isResting }) { queue.occupy() }
  }

  /// Gives the column of the calling task the name that the program has given to that.
  ///
  /// The runtime tells it to the task alone.
  func nameTask(_ strand: Strand) {
    strand.mayHaveName = false
    guard let name = Task.name, !name.isEmpty else { return }
    let isTaken = strands.contains { $0.name == name }
    strand.name = isTaken ? "\(name) (\(strand.name))" : name
  }

  private func addTask(_ kind: Strand.Kind, key: UInt64) -> Strand {
    let count = strands.reduce(1) { $0 + ($1.kind == kind ? 1 : 0) }
    let name =
      switch kind {
      case .main: "main actor"
      case .yield: "yield \(count)"
      case .task where count == 1: "program"
      case .task: "task \(count - 1)"
      default: "actor \(count)"
      }
    let strand = Strand(
      number: strands.count, kind: kind, name: name, parent: Worker.current?.strand?.number,
      key: key)
    strands.append(strand)
    return strand
  }
}
