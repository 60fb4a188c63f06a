// Uses that have to stop the process: in a wrong place (I11), of frozen values (I5), of references
// that were resolved (I9). Each is tried in a process of its own, by the hidden verb `attempt` of
// the tool.
internal import Foundation

/// A use that the engine must not let pass.
package struct ForbiddenUse: Equatable, Sendable {
  /// Where the Realm belongs.
  package enum Owner: String, CaseIterable, Sendable {
    case main
    case thread
    case queue
    case actor
  }

  /// Where it is used.
  package enum Offender: String, CaseIterable, Sendable {
    case thread
    /// A block of another queue.
    case queue
    /// A block of another queue, run by the very thread that ran the owner's.
    case sameThread = "same-thread"
    case actor
    /// A task that no actor isolates.
    case task
  }

  /// What is done there.
  package enum Action: String, CaseIterable, Sendable {
    case read
    case lookup
    case count
    case iterate
    case refresh
    case freeze
    case begin
    case set
  }

  package enum Kind: Equatable, Sendable {
    case place(Owner, Offender, Action)
    case frozenSet
    case frozenAppend
    case frozenWrite
    case frozenBegin
    case resolveTwice
  }

  package let kind: Kind

  package init(_ kind: Kind) { self.kind = kind }

  package init?(name: String) {
    guard let use = Self.all.first(where: { $0.name == name }) else { return nil }
    self = use
  }

  /// How an attempt ended.
  package struct Outcome: Equatable, Sendable {
    /// Ended by the engine, not by itself.
    package var isStopped: Bool
    /// What the process said last.
    package var text: String

    package init(isStopped: Bool, text: String) {
      self.isStopped = isStopped
      self.text = text
    }
  }

  // MARK: - All of them

  /// Wrong places: every owner, offender and action that exist together.
  package static let places: [ForbiddenUse] = Owner.allCases.flatMap { owner in
    Offender.allCases.flatMap { offender in
      Action.allCases.map { ForbiddenUse(.place(owner, offender, $0)) }
    }
  }.filter(\.isForbidden)

  /// Changes of frozen values.
  package static let ofFrozen: [ForbiddenUse] = [
    .init(.frozenSet), .init(.frozenAppend), .init(.frozenWrite), .init(.frozenBegin),
  ]
  package static let ofReferences: [ForbiddenUse] = [.init(.resolveTwice)]
  package static let all = places + ofFrozen + ofReferences

  private var isForbidden: Bool {
    // A block that a thread runs itself is that thread's.
    guard case .place(let owner, .sameThread, _) = kind else { return true }
    return owner == .queue
  }

  /// As in `queue-read-from-thread`.
  package var name: String {
    switch kind {
    case .place(let owner, let offender, let action):
      "\(owner.rawValue)-\(action.rawValue)-from-\(offender.rawValue)"
    case .frozenSet: "frozen-set"
    case .frozenAppend: "frozen-append"
    case .frozenWrite: "frozen-write"
    case .frozenBegin: "frozen-begin-async"
    case .resolveTwice: "reference-twice"
    }
  }

  package var invariant: Invariant {
    switch kind {
    case .place: .confinement
    case .frozenSet, .frozenAppend, .frozenWrite, .frozenBegin: .frozenImmutability
    case .resolveTwice: .references
    }
  }

  /// What the engine has to say when it stops.
  package var phrases: [String] {
    switch kind {
    case .place(let owner, let offender, _):
      ["Realm accessed from incorrect thread.", Self.text(owner), Self.text(offender)]
    case .frozenSet, .frozenAppend: ["frozen"]
    case .frozenWrite, .frozenBegin: ["Can't perform transactions on a frozen Realm"]
    case .resolveTwice: ["Can only resolve a thread safe reference once."]
    }
  }

  private static func text(_ owner: Owner) -> String {
    switch owner {
    case .main: "belongs to the main thread"
    case .thread: "belongs to the thread 'owner'"
    case .queue: "belongs to the queue 'owner'"
    case .actor: "belongs to the actor OwningActor"
    }
  }

  private static func text(_ offender: Offender) -> String {
    switch offender {
    case .thread: "used on the thread 'offender'"
    case .queue, .sameThread: "used on the queue 'offender'"
    case .actor: "used on the actor OffendingActor"
    case .task: "used on the thread"
    }
  }

  // MARK: - The process

  /// What runs now, as the kernel knows it.
  package static var ownExecutable: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  }

  /// The verb of the tool that tries one use; not for users, so help does not show it.
  package static let verb = "attempt"

  /// Starts a process that tries it, and waits for its end.
  ///
  /// - Throws: where it cannot be started, or goes on for much longer than an attempt takes.
  package func run(by tool: String) throws -> Outcome {
    // The trace of a stop takes seconds to write, and the place of the call a second to find.
    let process = try StartedProcess(
      tool, [Self.verb, name], hasInput: false, output: .nowhere, errors: .gathered,
      environment: ["SWIFT_BACKTRACE": "enable=no", "REALM_NAMES_CALLS": "0"])
    guard let end = process.wait(nanoseconds: Self.nanosecondsMax) else {
      process.stop()
      throw ResultsError(
        "the process that tries '\(name)' had not ended after "
          + "\(readableDuration(Self.nanosecondsMax)), and was ended")
    }
    if case .signal = end { return Outcome(isStopped: true, text: process.errors) }
    return Outcome(isStopped: false, text: process.errors)
  }

  private static let nanosecondsMax: UInt64 = 120_000_000_000
}

/// I5, I9, I11: a forbidden use ends the process, with words that help.
package enum ForbiddenUseCheck {
  package static func judge(_ outcome: ForbiddenUse.Outcome, of use: ForbiddenUse) -> Violation? {
    let lines = outcome.text.split(separator: "\n").map(String.init)
    // A stop's message comes before a trace.
    let said = lines.last { $0.contains("Fatal error: ") } ?? lines.last ?? "nothing"
    let words = outcome.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if !outcome.isStopped {
      return Violation(
        use.invariant, "A use that has to stop the process went through.",
        witness: ["\(use.name), tried in a process of its own; it said: \(said)"])
    }
    guard let missing = use.phrases.first(where: { !words.contains($0) }) else { return nil }
    return Violation(
      use.invariant, "A use that has to stop was stopped by something else, or without its reason.",
      witness: ["\(use.name): expected \"\(missing)\"; the process said: \(said)"])
  }
}

extension FinalCheck where Driver: ForbiddingEngine {
  /// Tries up to `count` forbidden uses, each in a process of its own; which ones follows from the
  /// seed.
  package static func checkForbidden(
    _ uses: [ForbiddenUse], count: Int, _ shared: RunShared<Driver>,
    _ ledger: inout InvariantLedger
  ) throws {
    guard let invariant = uses.first?.invariant, shared.plan.checks(invariant) else { return }
    // A step that has no divisor in common with the number of uses visits each of them.
    let step = stride(from: 7, to: 2 * uses.count + 8, by: 2).first { step in
      uses.count == 1 || (2...uses.count).allSatisfy { uses.count % $0 != 0 || step % $0 != 0 }
    }!
    let first = Int(mix(shared.plan.seed) % UInt64(uses.count))
    for number in 0..<min(count, uses.count) {
      try shared.control.checkNotLeft()
      let use = uses[(first + number * step) % uses.count]
      let outcome = try shared.driver.attempt(use)
      ledger.count(invariant)
      if let violation = ForbiddenUseCheck.judge(outcome, of: use) { throw violation }
    }
  }
}
