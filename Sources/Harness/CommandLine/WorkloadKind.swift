// The workloads of `run`. This list and the workload's own file are the only places that know one
// of the tool's; those of a program of its own come before them.

/// A workload that `run` knows.
package struct WorkloadKind: Hashable, Sendable {
  /// All workloads, in the order in which they are listed.
  package static var allCases: [WorkloadKind] {
    Tool.current.workloads.map { WorkloadKind($0) } + own
  }

  /// The tool's own.
  private static let own: [WorkloadKind] = [
    .readersWriter, .transfer, .mixed, .bulkLoad, .migration, .actorHops, .groupedCommit,
    .freezeCache, .pinnedGrowth, .queueConfined, .referenceHandoff, .notifyStorm,
  ]

  /// What is known of it.
  package let facts: any WorkloadDescription.Type

  package init(_ facts: any WorkloadDescription.Type) { self.facts = facts }

  /// The workload of that name, or nil.
  package init?(rawValue: String) {
    guard let kind = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = kind
  }

  /// Its name on the command line and in the result files.
  package var rawValue: String { facts.name }
  package var invariants: [Invariant] { facts.invariants }

  package static func == (left: WorkloadKind, right: WorkloadKind) -> Bool {
    left.rawValue == right.rawValue
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension RunSettings {
  /// The workload on an engine.
  package func makeWorkload<Driver: EngineDriver>(
    _ driver: Driver, versions: VersionLog = VersionLog()
  ) -> any Workload<Driver> {
    workload.facts.make(
      RunShared(driver: driver, plan: plan, versions: versions) { [member] pins in
        if let member { member.board.note(pins: pins, of: member.number) }
      })
  }
}
