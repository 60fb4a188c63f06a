// The list of all benchmarks, in the order in which they run: what syncs first, before others have
// left dirty pages behind.

enum AllRows {
  static func benchmarks(_ fixtures: Fixtures) -> [Benchmark] {
    [
      LimitRows.syncs(fixtures),
      LimitRows.memory(fixtures),
      LimitRows.dependentReads(fixtures),
      CommitRows.durable(fixtures),
      ThreadRows.durableCommits(fixtures),
      OwnRows.groupedCommits(fixtures),
      BulkRows.insert(fixtures),
      BulkRows.insertFromValues(fixtures),
      ReadRows.lookup(fixtures),
      ReadRows.readHeld(fixtures),
      ReadRows.iterate(fixtures),
      ReadRows.sum(fixtures),
      ReadRows.countEqual(fixtures),
      ReadRows.filterAndPrefix(fixtures),
      ReadRows.freeze(fixtures),
      ReadRows.refresh(fixtures),
      OpenRows.open(fixtures),
      OpenRows.cold(fixtures),
      SmallMemoryRows.reads(fixtures),
      CommitRows.memory(fixtures),
      ThreadRows.readersAndWriter(fixtures),
      OwnRows.notification(fixtures),
      GrowthRows.pins(0, fixtures),
      GrowthRows.pins(1, fixtures),
      GrowthRows.pins(100, fixtures),
      GrowthRows.pins(10_000, fixtures),
      GrowthRows.shrink(fixtures),
      GrowthRows.shrinkAfterDeletes(fixtures),
      BulkRows.delete(fixtures),
      LimitRows.linkHop(fixtures),
      ModelRows.scenario(fixtures),
      SchemaRows.migrations(fixtures),
      CopyRows.all(fixtures),
      EncryptionRows.all(fixtures),
    ] + WriteRows.all(fixtures)
  }

  /// The rows whose cost could depend on the size of the file.
  static func scale(_ fixtures: Fixtures) -> [Benchmark] {
    [
      CommitRows.durable(fixtures, withVariants: false),
      BulkRows.insertFromValues(fixtures, withBytes: true),
      LimitRows.dependentReads(fixtures),
      ReadRows.lookup(fixtures),
      ReadRows.iterate(fixtures),
      ReadRows.freeze(fixtures),
      ReadRows.refresh(fixtures),
      OpenRows.open(fixtures),
      OpenRows.cold(fixtures),
      SmallMemoryRows.reads(fixtures),
      CommitRows.memory(fixtures, withVariants: false),
    ]
  }
}
