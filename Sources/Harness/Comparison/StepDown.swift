// Holm's step-down procedure ("A simple sequentially rejective multiple test procedure", 1979): how
// the rows that decide share the chance of a false alarm.

/// Judges some rows together.
enum StepDown {
  /// Judges rows so that the chance that any row is called worse without being so stays within
  /// `error`.
  ///
  /// Each row gets an equal share; those of rows that are worse go to the others, since no false
  /// alarm can come from them any more. A row that is the same or better keeps its share: it was
  /// found not to be worse, which does not show that it could not have been called so.
  /// - Parameters:
  ///   - count: how many rows decide, among them those that nobody can tell of.
  ///   - judge: the row as it is with a share; it finds no fewer rows worse with a larger one.
  static func judge(
    _ rows: [GateRow], deciding count: Int, error: Double,
    by judge: (GateRow, Double) -> ComparedRow
  ) -> [ComparedRow] {
    var worse = 0
    while true {
      let share = error / Double(max(1, count - worse))
      let judged = rows.map { judge($0, share) }
      let found = judged.count { $0.isGate && $0.verdict == .worse }
      if found <= worse { return judged }
      worse = found
    }
  }
}
