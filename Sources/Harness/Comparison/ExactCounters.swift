// Counters that follow from the plan of a run alone: they need no repeats, no one machine and no
// tolerance, since any growth of them is the program's.

/// Finds the counters without noise.
enum ExactCounters {
  /// The rows of some runs that repeat from run to run.
  ///
  /// Syncs a commit do where the work ends by operations and one writer commits by itself. While
  /// the file is filled written bytes do, too, with one seed. Later they depend on when the space
  /// of earlier versions was found to be free, by some thousandths even of a single thread; and
  /// what a file grows by, and its size, depend on idle time.
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

  private static func endsByOperations(_ settings: SettingsRecord) -> Bool {
    settings.operations != nil && (settings.warmupOps != nil || (settings.warmupNs ?? 0) == 0)
  }
}
