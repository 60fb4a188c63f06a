// The list of all benchmarks, in the order in which they run: what syncs first, before others have left
// dirty pages behind.

enum AllRows {
  static func benchmarks(_ fixtures: Fixtures) -> [Benchmark] {
    [
      CommitRows.durable(fixtures),
      BulkRows.insert(fixtures),
      ReadRows.lookup(fixtures),
      OpenRows.open(fixtures),
      CommitRows.memory(fixtures),
    ]
  }

  /// Rows of the contract that wait for their part of the public API.
  static let missing: [(row: String, needs: String)] = [
    ("commit-grouped-64", "asynchronous commits that are grouped (`commitAsyncWrite`)"),
    ("sum", "aggregates of Results"),
    ("count-equal", "queries by predicate"),
    ("filter-and-prefix", "queries by predicate"),
    ("notify-1-change", "notifications"),
  ]
}
