// Counters that follow from the plan of a run alone: they need no repeats, no one machine and no
// tolerance, since any growth of them is the program's.

/// Finds the counters without noise.
enum ExactCounters {
  /// The rows of some runs that repeat from run to run.
  ///
  /// Syncs a commit do where the work ends by operations and one writer commits by itself. While
  /// the file is filled written bytes do, too, with one seed. Later they depend on when the space
  /// of earlier versions was found to be free, by some thousandths even of a single thread; and
  /// what a file grows by, and its size, depend on idle time. So do calls of the system and what a
  /// commit allocates, for the same reason.
  ///
  /// Allocations of a single thread repeat with one seed where it only reads, by operations, and
  /// checks nothing: checks come by the clock, open Realms again, and draw from the random numbers
  /// that choose what is read.
  static func rows(of runs: [MeasuredRun]) -> Set<GateRow> {
    guard let first = runs.first else { return [] }
    let keys = runs.reduce(Set(first.rows.keys)) { $0.intersection($1.rows.keys) }
    let haveOneSeed = Set(runs.map(\.document.seed)).count == 1
    var exact: Set<GateRow> = []
    for key in keys {
      let isFilling = key.phase == Phase.load.name && runs.allSatisfy(isPlain)
      if isFilling || runs.allSatisfy(commitsByCount) {
        exact.insert(GateRow(row: key, metric: "syncs_per_commit"))
      }
      if isFilling && haveOneSeed {
        exact.insert(GateRow(row: key, metric: "written_bytes_per_commit"))
      }
      if haveOneSeed && runs.allSatisfy(isOfOneReader) {
        exact.insert(GateRow(row: key, metric: GateRow.allocations))
      }
    }
    return exact
  }

  /// One process of one engine, with nothing in the background, that came to its end.
  private static func isPlain(_ run: MeasuredRun) -> Bool {
    let settings = run.document.settings
    return run.document.status == RunStatus.complete.rawValue && settings.script == nil
      && (settings.processes ?? 1) == 1
  }

  /// One writer whose phases end by operations, and whose commits share no sync.
  private static func commitsByCount(_ run: MeasuredRun) -> Bool {
    let settings = run.document.settings
    let isGrouped = settings.group != nil || settings.inFlight != nil
    return isPlain(run) && !isGrouped && endsByOperations(settings)
      && (settings.threads ?? settings.writers) == 1
  }

  /// One thread whose phases end by operations, none of which commits, without checks.
  private static func isOfOneReader(_ run: MeasuredRun) -> Bool {
    let settings = run.document.settings
    guard isPlain(run), endsByOperations(settings), settings.invariants.isEmpty,
      settings.observers == nil, settings.queues == nil
    else { return false }
    let commits = run.rows.contains {
      $0.key.phase != Phase.load.name && $0.value["syncs_per_commit"] != nil
    }
    if commits { return false }
    return (settings.threads ?? (settings.readers ?? 0) + (settings.writers ?? 0)) == 1
  }

  private static func endsByOperations(_ settings: SettingsRecord) -> Bool {
    settings.operations != nil && (settings.warmupOps != nil || (settings.warmupNs ?? 0) == 0)
  }
}
