// The invariants of snapshots that workloads check, and what is known when one is violated.
internal import Foundation
internal import Platform

/// Something that has to hold all the time, and that runs check.
///
/// A number, because it is asked for in every check; everything else is looked up.
package struct Invariant: Hashable, Sendable, CustomStringConvertible {
  /// What is known of one.
  struct Facts: Sendable {
    let name: String
    /// One sentence for `list` and reports.
    let summary: String
    /// Where workloads check it.
    let place: String
  }

  /// Place in `allCases`.
  package let position: Int

  private init(_ position: Int) { self.position = position }

  // MARK: - The tool's own

  package static let snapshotStability = Invariant(0)
  package static let atomicity = Invariant(1)
  package static let monotonicVersions = Invariant(2)
  package static let readYourWrites = Invariant(3)
  package static let frozenImmutability = Invariant(4)
  package static let durablePrefix = Invariant(5)
  package static let serialOrder = Invariant(6)
  package static let exactChanges = Invariant(7)
  package static let references = Invariant(8)
  package static let spaceAccounting = Invariant(9)
  package static let confinement = Invariant(10)
  package static let completion = Invariant(11)

  /// In the order of their positions.
  private static let own: [Facts] = [
    Facts(
      name: "I1",
      summary:
        "Whatever a pinned, frozen or un-refreshed reader has read, it reads again, bit for bit.",
      place: "readers: before each refresh, on frozen copies, on released pins"),
    Facts(
      name: "I2", summary: "No reader sees part of a transaction, or of a later one.",
      place: "readers: every object read, the newest transaction, totals of snapshots"),
    Facts(
      name: "I3", summary: "A reader never goes back, and a version number names one state only.",
      place: "readers: every refresh and reopening, digests of shared versions"),
    Facts(
      name: "I4",
      summary:
        "After a write returns, its Realm and every Realm refreshed or opened later see it.",
      place: "writers after each commit, readers after each refresh and reopening"),
    Facts(
      name: "I5",
      summary: "Frozen objects, lists and results keep their content and reject writes.",
      place: "freeze-cache: every hit of the cache; writes to frozen values in child processes"),
    Facts(
      name: "I6",
      summary: "What is acknowledged is durable, with all that was committed before it.",
      place: "grouped-commit: every completion against what others can see"),
    Facts(
      name: "I7", summary: "The transactions have one order, and no update is lost.",
      place: "the whole table at the end; transfers: each read in a transaction, each total"),
    Facts(
      name: "I8",
      summary:
        "What an observer is told, done to its old copy, gives its new one; after its end it hears nothing.",
      place: "observers: every call, and a refresh before each end"),
    Facts(
      name: "I9",
      summary:
        "A reference resolves once, to the same object at the same or a newer version, or to nil.",
      place: "reference-handoff and actor-hops: every resolution; a second one in child processes"),
    Facts(
      name: "I10",
      summary: "Reachable, free and held blocks make up the file, with no overlap.",
      place: "first writer between commits, and in full at the end"),
    Facts(
      name: "I11",
      summary: "Use from a wrong thread, queue or actor always stops, and says whose it is.",
      place: "queue-confined: wrong uses in child processes, at the end"),
    Facts(
      name: "I12",
      summary:
        "An asynchronous commit completes once, in the order of commits, and never too late.",
      place: "grouped-commit: every request, commit and completion"),
  ]

  /// What every workload with readers and blocking writers can show.
  package static let ofSnapshots: [Invariant] = [
    .snapshotStability, .atomicity, .monotonicVersions, .readYourWrites, .serialOrder,
    .spaceAccounting,
  ]

  /// These and others, in order.
  static func ofSnapshots(and more: [Invariant]) -> [Invariant] {
    allCases.filter { ofSnapshots.contains($0) || more.contains($0) }
  }

  // MARK: - Those of a program

  private static let added = Monitor<[Facts]>([])

  /// Adds an invariant, or finds the one of this name; nil if that one says something else.
  package static func adding(_ name: String, summary: String, place: String) -> Invariant? {
    if own.contains(where: { $0.name == name }) { return nil }
    return added.withLock { added in
      if let position = added.firstIndex(where: { $0.name == name }) {
        return added[position].summary == summary ? Invariant(own.count + position) : nil
      }
      added.append(Facts(name: name, summary: summary, place: place))
      return Invariant(own.count + added.count - 1)
    }
  }

  private var facts: Facts {
    position < Self.own.count
      ? Self.own[position] : Self.added.withLock { $0[position - Self.own.count] }
  }

  // MARK: - What is known of one

  /// All, in their order.
  package static var allCases: [Invariant] { (0..<count).map(Invariant.init) }
  fileprivate static var count: Int { own.count + added.withLock { $0.count } }

  /// The invariant of this name; nil if this program has none.
  package init?(rawValue: String) {
    guard let invariant = Self.allCases.first(where: { $0.name == rawValue }) else { return nil }
    self = invariant
  }

  /// Its name on the command line and in the result files.
  package var name: String { facts.name }
  package var rawValue: String { name }
  package var description: String { name }
  /// One sentence for `list` and reports.
  package var summary: String { facts.summary }
  /// Where workloads check it.
  package var place: String { facts.place }
}

/// One finding of a checker.
package struct Violation: ErrorInWords, Equatable, Sendable {
  package let invariant: Invariant
  /// What was violated, in one sentence.
  package let sentence: String
  /// The least that shows it, a line each.
  package let witness: [String]
  package var words: String { "\(invariant.name) violated: \(sentence)" }

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

  package private(set) var entries = [Entry](repeating: Entry(), count: Invariant.count)

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
