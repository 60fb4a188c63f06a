// The invariants of snapshots that workloads check, and what is known when one is violated.
internal import Foundation

/// An invariant that this version checks.
package enum Invariant: String, CaseIterable, Sendable {
  case snapshotStability = "I1"
  case atomicity = "I2"
  case monotonicVersions = "I3"
  case readYourWrites = "I4"
  case frozenImmutability = "I5"
  case durablePrefix = "I6"
  case serialOrder = "I7"
  case exactChanges = "I8"
  case references = "I9"
  case spaceAccounting = "I10"
  case confinement = "I11"
  case completion = "I12"

  /// What every workload with readers and blocking writers can show.
  package static let ofSnapshots: [Invariant] = [
    .snapshotStability, .atomicity, .monotonicVersions, .readYourWrites, .serialOrder,
    .spaceAccounting,
  ]

  /// These and others, in order.
  static func ofSnapshots(and more: [Invariant]) -> [Invariant] {
    allCases.filter { ofSnapshots.contains($0) || more.contains($0) }
  }

  package var name: String { rawValue }
  /// Place in `allCases`; asked for in every check.
  package var position: Int {
    switch self {
    case .snapshotStability: 0
    case .atomicity: 1
    case .monotonicVersions: 2
    case .readYourWrites: 3
    case .frozenImmutability: 4
    case .durablePrefix: 5
    case .serialOrder: 6
    case .exactChanges: 7
    case .references: 8
    case .spaceAccounting: 9
    case .confinement: 10
    case .completion: 11
    }
  }

  /// One sentence for `list` and reports.
  package var summary: String {
    switch self {
    case .snapshotStability:
      "Whatever a pinned, frozen or un-refreshed reader has read, it reads again, bit for bit."
    case .atomicity: "No reader sees part of a transaction, or of a later one."
    case .monotonicVersions:
      "A reader never goes back, and a version number names one state only."
    case .readYourWrites:
      "After a write returns, its Realm and every Realm refreshed or opened later see it."
    case .frozenImmutability:
      "Frozen objects, lists and results keep their content and reject writes."
    case .durablePrefix: "What is acknowledged is durable, with all that was committed before it."
    case .serialOrder: "The transactions have one order, and no update is lost."
    case .exactChanges:
      "What an observer is told, done to its old copy, gives its new one; after its end it hears nothing."
    case .references:
      "A reference resolves once, to the same object at the same or a newer version, or to nil."
    case .spaceAccounting: "Reachable, free and held blocks make up the file, with no overlap."
    case .confinement: "Use from a wrong thread, queue or actor always stops, and says whose it is."
    case .completion:
      "An asynchronous commit completes once, in the order of commits, and never too late."
    }
  }

  /// Where workloads check it.
  package var place: String {
    switch self {
    case .snapshotStability: "readers: before each refresh, on frozen copies, on released pins"
    case .atomicity: "readers: every object read, the newest transaction, totals of snapshots"
    case .monotonicVersions: "readers: every refresh and reopening, digests of shared versions"
    case .readYourWrites: "writers after each commit, readers after each refresh and reopening"
    case .frozenImmutability:
      "freeze-cache: every hit of the cache; writes to frozen values in child processes"
    case .durablePrefix: "grouped-commit: every completion against what others can see"
    case .serialOrder:
      "the whole table at the end; transfers: each read in a transaction, each total"
    case .exactChanges: "observers: every call, and a refresh before each end"
    case .references:
      "reference-handoff and actor-hops: every resolution; a second one in child processes"
    case .spaceAccounting: "first writer between commits, and in full at the end"
    case .confinement: "queue-confined: wrong uses in child processes, at the end"
    case .completion: "grouped-commit: every request, commit and completion"
    }
  }
}

/// One finding of a checker.
package struct Violation: Error, Equatable, Sendable {
  package let invariant: Invariant
  /// What was violated, in one sentence.
  package let sentence: String
  /// The least that shows it, a line each.
  package let witness: [String]

  package init(_ invariant: Invariant, _ sentence: String, witness: [String]) {
    self.invariant = invariant
    self.sentence = sentence
    self.witness = witness
  }
}

/// How often one thread checked each invariant, and what the checking cost it.
package struct InvariantLedger: Sendable {
  package struct Entry: Sendable {
    package var checks: UInt64 = 0
    package var violations: UInt64 = 0
    package var costNanoseconds: UInt64 = 0
  }

  package private(set) var entries = [Entry](repeating: Entry(), count: Invariant.allCases.count)

  package init() {}

  package subscript(invariant: Invariant) -> Entry { entries[invariant.position] }

  package mutating func count(_ invariant: Invariant, checks: UInt64 = 1, cost: UInt64 = 0) {
    entries[invariant.position].checks += checks
    entries[invariant.position].costNanoseconds += cost
  }

  package mutating func countViolation(_ invariant: Invariant) {
    entries[invariant.position].violations += 1
  }

  package mutating func add(_ other: InvariantLedger) {
    for position in entries.indices {
      entries[position].checks += other.entries[position].checks
      entries[position].violations += other.entries[position].violations
      entries[position].costNanoseconds += other.entries[position].costNanoseconds
    }
  }

  /// Sum over all invariants.
  package var costNanoseconds: UInt64 { entries.reduce(0) { $0 + $1.costNanoseconds } }
}
