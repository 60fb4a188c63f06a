// `run --processes N`: N processes of this tool work on one file. This one fills it, starts them,
// has them begin together, watches, judges what they leave, and joins what they have measured:
// histograms are added, samples stand below each other, nothing is averaged.
internal import Foundation
internal import Glibc
internal import Platform

/// Runs a workload in several processes.
package final class ProcessRun<Driver: EngineDriver> {
  private let workload: any Workload<Driver>
  private let settings: RunSettings
  private let arguments: [String]
  private let path: String
  private let folder: ResultsFolder
  private let tool: String
  private let interruption: any Interruption
  private let progress: ProgressLine
  private let series: ([Sample], GrowthPoint?) -> Void
  private let clock = MonotonicClock()
  private let probe: StatisticsProbe<Driver>
  private var lock: LockWatch<Driver>
  private var outcome: RunOutcome
  private var began: UInt64 = 0
  private var children: [ChildProcess] = []
  private var isInterrupted = false
  /// They were told to end before their time.
  private var areTold = false
  /// Those that were told because they went on or stood still, by number, with words for it.
  private var late: [Int: String] = [:]
  private var failures: [String] = []

  /// How long one that is told to end may take.
  private static var patienceNanoseconds: UInt64 { 30_000_000_000 }

  /// - Parameter arguments: those of `run`, as given.
  package init(
    _ workload: any Workload<Driver>, settings: RunSettings, arguments: [String], path: String,
    folder: ResultsFolder, tool: String, interruption: any Interruption, progress: ProgressLine,
    series: @escaping ([Sample], GrowthPoint?) -> Void
  ) {
    self.workload = workload
    self.settings = settings
    self.arguments = arguments
    self.path = path
    self.folder = folder
    self.tool = tool
    self.interruption = interruption
    self.progress = progress
    self.series = series
    probe = StatisticsProbe(workload.shared.driver)
    lock = LockWatch(workload.shared.driver)
    outcome = RunOutcome(collector: Collector(openLoop: settings.openLoop))
  }

  /// Runs everything; failures and violations are part of what is returned.
  package func run(_ board: ProcessBoard, at boardPath: String) -> RunOutcome {
    began = clock.nanoseconds()
    // Beside this thread, which must never wait for the write lock.
    probe.start()
    defer { probe.end() }
    do {
      if load() {
        try start(boardPath)
        let before = statistics()
        watch(board)
        join(before: before)
        if canCheckEnd { checkEnd(board) }
      }
    } catch {
      failures.append(error.explanation)
    }
    end()
    outcome.objects = workload.objects
    outcome.transactions = board.versions.transactions
    outcome.failure = failures.isEmpty ? nil : failures.joined(separator: "; ")
    if outcome.violation != nil || outcome.failure != nil {
      outcome.status = .failed
    } else if isInterrupted {
      outcome.status = .interrupted
    }
    return outcome
  }

  private func note(_ violation: Violation, by thread: String) {
    if outcome.violation == nil { outcome.violation = (violation, thread) }
    var ledger = InvariantLedger()
    ledger.countViolation(violation.invariant)
    outcome.ledger.add(ledger)
  }

  private func statistics() -> EngineStatistics {
    (try? workload.shared.driver.glance()) ?? EngineStatistics()
  }

  // MARK: - Load

  /// False when the run ends here.
  private func load() -> Bool {
    let before = statistics()
    let start = clock.nanoseconds()
    let end = SetUp(workload, settings, interruption, progress)
      .run(&lock, loaded: &outcome.loadedObjects)
    switch end {
    case .whole: break
    case .interrupted: isInterrupted = true
    case .left:
      isInterrupted = true
      outcome.unended.append("load")
    case .stuck(let words):
      failures.append("loading the table: \(words)")
      outcome.unended.append("load")
    case .failed(let words): failures.append("loading the table: \(words)")
    }
    outcome.phases.append(
      PhaseOutcome(
        phase: .load, start: start, elapsedSeconds: Double(clock.nanoseconds() - start) / 1e9,
        before: before, after: statistics()))
    return !isInterrupted && failures.isEmpty
  }

  // MARK: - Processes

  /// Where one of them writes to.
  static func folder(of number: Int, in folder: String) -> String {
    "\(folder)/process-" + String(format: "%03d", number)
  }

  private func folder(of number: Int) -> String { Self.folder(of: number, in: folder.path) }

  private func start(_ boardPath: String) throws {
    let ofAll: Set = [
      "processes", "output", "path", "baseline", "save-baseline", "threshold", "format", "replicas",
      "overwrite", "keep-file", "strict",
    ]
    // Behind a '--' of the user's they would be words like its workload.
    let words =
      ["--path", path, "--keep-file"]
      + FlagValues.words(arguments, without: ofAll, known: RunFlags.known)
    for number in 1...settings.processes {
      children.append(
        try ChildProcess(
          tool, ["run", "--output", folder(of: number)] + words, isSilent: true,
          environment: ProcessMember.environment(
            number: number, of: settings.processes, board: boardPath)))
    }
  }

  /// Lets them begin when all are ready, and returns when all have ended.
  private func watch(_ board: ProcessBoard) {
    progress.step("waiting for \(settings.processes) processes to open the file ...")
    while board.readyProcesses < children.count, children.allSatisfy(\.isRunning) {
      if wantsEnd() { break }
      sleep(nanoseconds: 1_000_000)
    }
    let isReady = board.readyProcesses == children.count
    // Who has ended before the begin has failed: the others have nothing to wait for.
    if isReady && !isInterrupted { board.begin() } else { tellAll() }
    let start = clock.nanoseconds()
    var nextInterval = start + settings.intervalNanoseconds
    /// When those that go on are told, and when they are ended.
    var deadline: UInt64?
    var isTold = areTold
    if isTold { deadline = start + Self.patienceNanoseconds }
    while children.contains(where: \.isRunning) {
      sleep(nanoseconds: 5_000_000)
      let now = clock.nanoseconds()
      if !isTold && (wantsEnd() || hasFound(start)) {
        tellAll()
        isTold = true
        deadline = now + Self.patienceNanoseconds
      }
      if !isTold, children.contains(where: { !$0.isRunning && $0.exitCode != nil }) {
        // Operations may take any time, unless those who do them were stopped; a phase that ends by
        // the clock ends for all at once.
        let standsStill = settings.operationsOfPhase == nil || areStopped
        deadline = standsStill ? deadline ?? now + settings.patienceNanoseconds : nil
      }
      if let limit = deadline, now > limit {
        if isTold {
          for child in children where child.isRunning { child.end() }
        } else {
          noteLate()
          tellAll()
          isTold = true
        }
        deadline = now + Self.patienceNanoseconds
      }
      if now >= nextInterval {
        noteGrowth(at: now, board)
        nextInterval = now + settings.intervalNanoseconds
        showProgress(since: start, now)
      }
    }
    noteGrowth(at: clock.nanoseconds(), board)
  }

  /// Whether each that goes on was stopped by somebody.
  private var areStopped: Bool { children.allSatisfy { !$0.isRunning || $0.isStopped } }

  /// Notes who goes on when the others have ended: what they have not done is missing.
  private func noteLate() {
    for (position, child) in children.enumerated() where child.isRunning {
      late[position + 1] =
        child.isStopped
        ? "stood still: somebody had stopped it (SIGSTOP)" : "did not end with the others"
    }
  }

  private func wantsEnd() -> Bool {
    if !isInterrupted && interruption.isRequested() { isInterrupted = true }
    return isInterrupted
  }

  /// Whether one has ended with a violation: nothing that the others do would say more.
  private func hasFound(_ start: UInt64) -> Bool {
    children.contains { !$0.isRunning && $0.exitCode == .invariantViolated }
  }

  private func tellAll() {
    areTold = true
    for child in children where child.isRunning { child.tell() }
  }

  /// However this run ends, none of them goes on.
  private func end() {
    for child in children where child.isRunning { child.end() }
    for child in children { _ = child.ending() }
  }

  private func noteGrowth(at now: UInt64, _ board: ProcessBoard) {
    let statistics =
      (try? probe.statistics(
        withinNanoseconds: min(100_000_000, settings.intervalNanoseconds))) ?? statistics()
    // Memory, syncs and written bytes of this process would say nothing of those that work.
    var whole = statistics
    whole.writtenBytes = nil
    let point = GrowthPoint(
      phase: phase(board), elapsedSeconds: Double(now - began) / 1e9, statistics: whole,
      pins: children.indices.reduce(0) { sum, position in
        children[position].isRunning ? sum + board.pins(of: position + 1) : sum
      },
      objects: workload.objects,
      transactions: workload.shared.versions.transactions)
    outcome.growth.append(point)
    series([], point)
  }

  /// What they are doing: those who are to measure do not begin before they have warmed up.
  private func phase(_ board: ProcessBoard) -> Phase {
    let warmsUp = settings.warmupNanoseconds > 0 || settings.warmupOperations != nil
    return warmsUp && !board.isMeasured ? .warmup : .measure
  }

  private func showProgress(since start: UInt64, _ now: UInt64) {
    let length = settings.warmupNanoseconds + settings.durationNanoseconds
    let isByTime = settings.operationsOfPhase == nil
    progress.show(
      "measure", fraction: isByTime ? min(1, Double(now - start) / Double(max(1, length))) : 0,
      "\(settings.processes) processes, \(grouped(workload.shared.versions.transactions)) "
        + "transactions")
  }

  // MARK: - What they have measured

  private func join(before: EngineStatistics) {
    var elapsed = 0.0
    var (commits, syncs, bytes): (UInt64, UInt64, UInt64) = (0, 0, 0)
    var areCounted = true
    var rates: [Operation: [Double]] = [:]
    for (position, child) in children.enumerated() {
      let number = position + 1
      let ending = child.ending()
      let part = try? MemberResults(folder(of: number), settings)
      noteEnd(number, ending, part)
      guard let part else { continue }
      if let violation = part.violation {
        note(violation, by: "process \(number), \(part.document.violation?.thread ?? "")")
      }
      outcome.ledger.add(part.ledger)
      outcome.threadNanoseconds += part.threadNanoseconds
      outcome.pausedNanoseconds += part.document.overhead.pausedNs
      outcome.busyThreads += part.busyThreads
      outcome.reasonsOfProcesses += part.document.verdict.reasons
        .filter { reason in
          [Verdict.lateStarts, " were given up ", " never finished one"]
            .contains(where: reason.contains)
        }
        .map { "process \(number): \($0)" }
      outcome.cautionsOfProcesses += (part.document.verdict.cautions ?? [])
        .filter { $0.contains(Verdict.standstill) }.map { "process \(number): \($0)" }
      noteWait(part)
      outcome.unended += (part.document.unended ?? []).map { "process \(number), \($0)" }
      elapsed = max(elapsed, part.elapsedSeconds)
      outcome.collector.absorb(part.measurements)
      let phase = part.document.phases.first { $0.name == Phase.measure.name }
      commits += part.transactions
      if let phase, let partSyncs = phase.syncs {
        syncs += partSyncs
        bytes += phase.writtenBytes ?? 0
      } else {
        areCounted = false
      }
      for (operation, values) in part.rates {
        var sums = rates[operation] ?? []
        for (place, value) in values.enumerated() {
          if place < sums.count { sums[place] += value } else { sums.append(value) }
        }
        rates[operation] = sums
      }
      for sample in part.samples(process: number) {
        outcome.sampleCount += 1
        append(sample)
      }
    }
    flush()
    outcome.rates = rates
    guard elapsed > 0 else { return }
    var (first, last) = (before, statistics())
    first.syncs = 0
    last.syncs = syncs
    (first.commits, last.commits) = areCounted ? (0, commits) : (nil, nil)
    (first.writtenBytes, last.writtenBytes) = areCounted ? (0, bytes) : (nil, nil)
    // Each process counts its own.
    (first.fileCalls, last.fileCalls) = (nil, nil)
    outcome.phases.append(
      PhaseOutcome(
        phase: .measure, start: 0, elapsedSeconds: elapsed, before: first, after: last))
  }

  /// Whether it has left threads to themselves that wait for the write lock.
  private func noteWait(_ part: MemberResults) {
    guard part.document.keptWaiting == true else { return }
    outcome.areKeptWaiting = true
    outcome.keeper = outcome.keeper ?? part.document.keeper
  }

  /// What is to be said of how one has ended.
  private func noteEnd(_ number: Int, _ ending: ChildProcess.Ending, _ part: MemberResults?) {
    let name = "process \(number)"
    if let late = late[number], ending.code != .success {
      failures.append(
        "\(name) \(late), and was told to end \(readableDuration(settings.patienceNanoseconds)) "
          + "after them: what it had not done by then is missing"
          + (ending.signal == nil
            ? ""
            : ", and what it had measured, but for its samples in "
              + folder(of: number)))
    } else if isInterrupted, ending.signal == SIGTERM {
      // Told to end before it could hear of it: it had not begun, as the results say.
    } else if let signal = ending.signal {
      failures.append(
        "\(name) was ended by signal \(signal) before the run was over: what it had measured is "
          + "missing, but for its samples in \(folder(of: number))")
    } else if let failure = part?.document.failure {
      failures.append("\(name): \(failure)")
    } else if ending.code == .interrupted && !areTold {
      failures.append("\(name) was told to end before the run was over: its figures are partial")
    } else if part == nil
      || ![.success, .inconclusive, .interrupted, .invariantViolated].contains(ending.code)
    {
      let said = ending.errors.isEmpty ? "exit code \(ending.code.rawValue)" : ending.errors
      failures.append("\(name): \(said)")
    }
  }

  private var pending: [Sample] = []

  private func append(_ sample: Sample) { pending.append(sample) }

  /// The samples stand in one table; the rows of growth are there.
  private func flush() {
    guard !pending.isEmpty else { return }
    series(pending, nil)
    pending = []
  }

  // MARK: - End

  /// Who waits for the write lock says that the check would, too.
  private var canCheckEnd: Bool {
    outcome.violation == nil && !isInterrupted && outcome.unended.isEmpty
  }

  private func checkEnd(_ board: ProcessBoard) {
    progress.step("checking the whole table and file ...")
    let workload = workload
    let end = EndCheck.run(settings, workload.shared.control, interruption, &lock) { ledger in
      try Self.checkEnd(workload, board, &ledger)
    }
    isInterrupted = end.isInterrupted
    end.note(in: &outcome)
    outcome.ledger.add(end.ledger)
    if let violation = end.error as? Violation {
      note(violation, by: "final check")
    } else if let error = end.error {
      failures.append(error.explanation)
    }
  }

  private static func checkEnd(
    _ workload: any Workload<Driver>, _ board: ProcessBoard, _ ledger: inout InvariantLedger
  ) throws {
    let session = try workload.shared.driver.openSession()
    let model = workload.shared.plan.model
    var row = Row()
    board.versions.dropUncommitted { transaction in
      session.read(model.batch(of: transaction).key(0), .account, into: &row)
        && row.stamp == transaction
    }
    try workload.checkEnd(&ledger)
  }
}
