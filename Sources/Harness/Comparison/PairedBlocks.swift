// Runs two executables by turns on one machine: a block is a fresh process of each, in random
// order, on a fresh file; or, as a duet, both at once, each on a core of its own, which they swap.
// After each block every gate row is looked at; a confidence sequence makes that harmless.
internal import Foundation
internal import Platform

/// A comparison of two executables.
package struct PairedBlocks {
  private let executables: [String]
  /// Of the baseline and the candidate, the words after `run`.
  private let plans: [[String]]
  private let place: String
  private let budgetNanoseconds: UInt64
  private let rules: ComparisonRules
  private let seed: UInt64
  private let isDuet: Bool
  /// How long the turns of both sides of a block are; nil where one runs after the other.
  private let turnNanoseconds: UInt64?
  /// Whether both have one thread, so that they take turns on one processor.
  private let isOfOneThread: Bool
  private let clock = MonotonicClock()
  private let count: Int?

  /// - Parameters:
  ///   - candidateFlags: what the candidate's runs have beside the plan or instead of its flags,
  ///     where both differ on purpose.
  ///   - place: the folder that the blocks' own folder is made in: their files lie on its disk.
  ///   - count: how many blocks are run, decided or not; nil = until it is decided.
  package init(
    baseline: String, candidate: String, plan: [String], candidateFlags: [String] = [],
    in place: String,
    budgetNanoseconds: UInt64, seed: UInt64, rules: ComparisonRules, isDuet: Bool = false,
    turnNanoseconds: UInt64? = nil, isOfOneThread: Bool = false, count: Int? = nil
  ) throws(ResultsError) {
    for path in [baseline, candidate] {
      if case .folder? = try? FileCalls.kind(path, followsLinks: true) {
        throw ResultsError("'\(path)' is a folder, and no executable file")
      }
      guard FileManager.default.isExecutableFile(atPath: path) else {
        throw ResultsError("'\(path)' is no executable file")
      }
    }
    executables = [baseline, candidate]
    let replaced = candidateFlags.filter { $0.hasPrefix("--") }
      .map { $0.dropFirst(2).prefix { $0 != "=" } }
    plans = [
      plan,
      FlagValues.words(plan, without: Set(replaced.map(String.init)), known: RunFlags.known)
        + candidateFlags,
    ]
    self.place = place
    self.budgetNanoseconds = budgetNanoseconds
    self.rules = rules
    self.seed = seed
    self.isDuet = isDuet
    self.turnNanoseconds = turnNanoseconds
    self.isOfOneThread = isOfOneThread
    self.count = count
  }

  /// Runs blocks until every gate row is decided, the budget is used up, or the user has enough.
  package func run(
    interruption: any Interruption, progress: (String) -> Void
  ) throws -> Comparison {
    var random = RandomGenerator(seed: seed)
    let start = clock.nanoseconds()
    let folder: String
    let lock: FolderLock
    BlocksFolder.removeLeftOver(in: place)
    do { (folder, lock) = try BlocksFolder.make(in: place) } catch {
      throw ExecutableFailure(
        message: "cannot make a folder for the blocks in '\(place)': \(error.reason); give "
          + "compare.csv another place by --output: the files of the runs lie beside it",
        code: .failed)
    }
    defer { withExtendedLifetime(lock) { try? FileManager.default.removeItem(atPath: folder) } }
    let disk = MountPoint.holding(folder).map { "\($0.type) (\($0.source))" }
    let whereabouts = "files of the runs: in '\(place)', on \(disk ?? "an unknown file system")"
    progress(whereabouts)
    var runs: [[MeasuredRun]] = [[], []]
    var rows: [ComparedRow] = []
    var beyond: [GateRow] = []
    var isInterrupted = false
    var death: ExecutableFailure?
    var longest: UInt64 = 0
    var shortage: String?
    let allowed = Processors.allowed
    while true {
      let blockStart = clock.nanoseconds()
      var block: [MeasuredRun?] = [nil, nil]
      let order = random.next(upperBound: UInt64(2)) == UInt64(0) ? [0, 1] : [1, 0]
      let outputs = [0, 1].map { "\(folder)/\(runs[$0].count)-\($0)" }
      do {
        if isDuet || turnNanoseconds != nil {
          let cores =
            isDuet
            ? Self.duetCores(ofBlock: runs[0].count, allowed: allowed)
            : coresOfTurns(ofBlock: runs[0].count, allowed: allowed)
          let processes = try order.map { side in
            try begin(side, to: outputs[side], core: cores?[side])
          }
          let turns = turnNanoseconds.map {
            TurnTaking(processes, nanoseconds: $0, seed: random.next())
          }
          defer { turns?.end() }
          // Each is waited for, also when the other one has failed.
          let ends = zip(order, processes).map { side, process in
            (side, Result { try finish(process, outputs[side], interruption) })
          }
          for (side, end) in ends { block[side] = try end.get() }
        } else {
          for side in order {
            let process = try begin(side, to: outputs[side])
            block[side] = try finish(process, outputs[side], interruption)
          }
        }
      } catch let failure as ExecutableFailure {
        // The blocks before are whole.
        guard !runs[0].isEmpty else { throw failure }
        isInterrupted = failure.code == .interrupted && interruption.isRequested()
        if !isInterrupted { death = failure }
        break
      }
      for side in [0, 1] { runs[side].append(block[side]!) }
      if plans[0] == plans[1] {
        try SamePlan.check(runs[0] + runs[1])
      } else {
        for side in runs { try SamePlan.check(side) }
      }
      let judge = try PairedJudge(baseline: runs[0], candidate: runs[1], rules: rules)
      (rows, beyond) = judge.verdicts()
      let blocks = runs[0].count
      let open = rows.filter { $0.isGate && $0.verdict == .cannotTell && !$0.isUnknown }
      progress("block \(blocks): \(open.count) gate rows undecided")
      let now = clock.nanoseconds()
      longest = max(longest, now - blockStart)
      // What may not end within the budget is not begun.
      let isOver = now - start + longest > budgetNanoseconds
      let isEnough = count.map { blocks >= $0 } ?? judge.isDecided(rows)
      if isOver && !isEnough { shortage = self.shortage(after: blocks, longest) }
      if isEnough || isOver { break }
      if interruption.isRequested() {
        isInterrupted = true
        break
      }
    }
    var comparison = Comparison(
      baseline: runs[0], candidate: runs[1], rows: rows, beyond: beyond, rules: rules)
    comparison.place = whereabouts
    if plans[0] != plans[1], let differences = SamePlan.differences(runs[0], runs[1]) {
      comparison.warnings.append("the sides differ on purpose: \(differences)")
    }
    if let shortage { comparison.warnings.append(shortage) }
    comparison.failure = death
    if count == nil, !isInterrupted, death == nil, PairedJudge.hasRegression(rows, rules),
      !comparison.undecided.isEmpty
    {
      comparison.endsEarly = true
      comparison.warnings.append(
        "ended with the first regression, after \(runs[0].count) blocks; --every-row goes on until "
          + "all rows are decided")
    }
    if isInterrupted || death != nil {
      comparison.isInterrupted = isInterrupted
      comparison.warnings.append(
        "\(isInterrupted ? "interrupted" : "ended") after \(runs[0].count) blocks: what could not be "
          + "told may be told by more")
    }
    return comparison
  }

  /// What is said when the budget was too short for those blocks that decide, or were asked for.
  private func shortage(after blocks: Int, _ longest: UInt64) -> String? {
    let needed = max(PairedJudge.blocksMin, count ?? 0)
    guard blocks < needed else { return nil }
    let reason =
      count == nil ? "fewer than \(needed) decide nothing" : "\(needed) were asked for"
    return "the budget of \(readableDuration(budgetNanoseconds)) was over after \(blocks) "
      + "\(blocks == 1 ? "block" : "blocks") of up to \(readableDuration(longest)), and \(reason): "
      + "give --budget \(Self.budget(forBlocksOf: longest, count: needed)) or more"
  }

  /// A budget, in whole seconds, for some blocks and what is done between them.
  package static func budget(forBlocksOf nanoseconds: UInt64, count: Int) -> String {
    let whole = nanoseconds * UInt64(count)
    let seconds = (whole + whole / 10) / 1_000_000_000 + 1
    return Units.text(nanoseconds: seconds * 1_000_000_000)
  }

  private func begin(_ side: Int, to output: String, core: Int? = nil) throws -> ChildRun {
    try ChildRun(
      executables[side], plans[side], to: output, core: core, takesTurns: turnNanoseconds != nil)
  }

  private func finish(
    _ run: ChildRun, _ output: String, _ interruption: any Interruption
  ) throws -> MeasuredRun {
    // Files of a block are not needed any more once they are read.
    defer { try? FileManager.default.removeItem(atPath: output) }
    // A run may take longer than the budget, which says how much more it would need; one that hangs
    // would take for ever.
    let (twice, isTooLong) = budgetNanoseconds.multipliedReportingOverflow(by: 2)
    let limit = isTooLong || twice > .max / 2 ? nil : twice + 60_000_000_000
    return try run.finish(interruption, limit: limit)
  }

  // MARK: - Both at once

  /// The one processor of both sides; nil where they may use all.
  ///
  /// A thread that may choose stays where it is, and one processor of a virtual machine may have
  /// less time than another.
  private func coresOfTurns(ofBlock number: Int, allowed: [Int]) -> [Int]? {
    guard isOfOneThread, turnNanoseconds != nil, !allowed.isEmpty,
      FileManager.default.isExecutableFile(atPath: ChildRun.pinningTool)
    else { return nil }
    let core = allowed[number % allowed.count]
    return [core, core]
  }

  /// Why a plan cannot take turns of some milliseconds, or nil: what is due while a run is stopped
  /// waits for it.
  package static func obstacleToTurns(_ plan: [String]) -> String? {
    if let file = plan.first, file.hasSuffix(".json") {
      return "--turns takes no plan file, whose phases may go by the clock; name a workload"
    }
    let timed = ["--rate", "--read-rate", "--pin-interval", "--pin-age"]
    guard
      let flag = timed.first(where: { flag in
        plan.contains { $0 == flag || $0.hasPrefix(flag + "=") }
      })
    else { return nil }
    return
      "--turns is for runs that do all the time what they can; \(flag) goes by the clock, which does "
      + "not stop with a run"
  }

  /// The processors of baseline and candidate: the first two that this process may use, by turns,
  /// since one may be slower.
  ///
  /// - Parameter allowed: those that it may use; with fewer than two they are not known.
  package static func duetCores(ofBlock number: Int, allowed: [Int]) -> [Int] {
    let both = allowed.count >= 2 ? [allowed[0], allowed[1]] : [0, 1]
    return number % 2 == 0 ? both : [both[1], both[0]]
  }

  /// Why a plan cannot be run side by side, or nil: two that share a disk, or more than a core
  /// each, measure each other.
  package static func obstacleToDuet(_ settings: RunSettings, cores: Int) -> String? {
    let threads = settings.threadsInAll
    if cores < 2 { return "--duet needs two cores, and this process may use \(cores)" }
    if threads != 1 {
      return
        "--duet is for work of one thread; this plan has \(threads.map(String.init) ?? "others")"
        + ": two runs side by side would take each other's cores"
    }
    if settings.durability == .full && settings.writers > 0 {
      return "--duet is for work that does not sync; give --durability memory, or leave --duet out"
    }
    if !FileManager.default.isExecutableFile(atPath: ChildRun.pinningTool) {
      return "--duet needs \(ChildRun.pinningTool) (package util-linux)"
    }
    return nil
  }
}
