// What a failing schedule says.

/// A schedule under which a program fails.
public struct RaceFailure: Error, CustomStringConvertible {
  /// How a program fails.
  public enum Kind: String, Sendable {
    /// A `check` does not hold.
    case check
    /// The program or one of its threads has thrown an error.
    case error
    /// Threads wait for each other.
    case deadlock
    /// A thread waits for a notification that came before it waited.
    case lostWakeUp = "lost wake-up"
    /// There are more steps than allowed.
    case livelock
    /// The closure has returned, and a task or thread of it goes on without end.
    case goesOn = "goes on after the end"
    /// The program waits for a task that nothing resumes.
    case stuckTask = "stuck task"
    /// A step does not end.
    case hang
    /// A trap, or an access to memory that is not there, ends the process.
    case crash
    /// Two runs of one schedule differ.
    case notReproducible = "not reproducible"
    /// The system has no thread to run the program on; says nothing of the program.
    case noThread = "no thread"
  }

  struct Found: Sendable {
    var schedules: Int
    let seconds: Double
    let seed: UInt64
    let strategy: Strategy
  }

  /// How it fails.
  public let kind: Kind
  /// What is violated, in one sentence.
  public let reason: String
  /// Seed and turns, for `replay`; empty when there is nothing to repeat.
  public let schedule: String
  /// The schedule as a table with a column a thread or task; switches are marked by `>`.
  public var table: String { CallLines.resolved(in: markedTable) }
  private let markedTable: String
  /// What the program has noted of itself, a line each with the step and who it was.
  package let history: String
  /// What the program has kept for this, by name.
  package let attachments: [(name: String, bytes: [UInt8])]
  /// How often the schedule goes on with another one than the plain order would.
  public let turns: Int
  /// How many schedules were run until this one; nil of a replay.
  public let schedules: Int?
  /// The seconds that it took to find it.
  public package(set) var seconds: Double?
  let found: Found?
  /// What the run has done that is not under control, where the reason does not say so.
  private let uncontrolled: String
  /// How many steps `replay` has to be allowed, where it would end elsewhere without being told.
  private let steps: Int?

  init(_ violation: Violation, _ schedule: Schedule, run: Run? = nil, found: Found? = nil) {
    kind =
      switch violation.kind {
      case .check: .check
      case .thrown: .error
      case .deadlock: .deadlock
      case .livelock: .livelock
      case .lostWakeUp: .lostWakeUp
      case .stuckTask: .stuckTask
      case .goesOn: .goesOn
      case .hang: .hang
      case .crash: .crash
      case .notReproducible: .notReproducible
      case .noThread: .noThread
      }
    reason = violation.text
    self.schedule = run == nil ? "" : schedule.description
    markedTable = run.map { ScheduleTable($0).text } ?? ""
    history = run?.history ?? ""
    attachments = run?.attachments ?? []
    turns = schedule.turns.count
    schedules = found?.schedules
    seconds = found?.seconds
    self.found = found
    steps = run.flatMap { Self.stepsToAllow($0) }
    let text = run?.uncontrolledText ?? ""
    uncontrolled = violation.text.hasSuffix(text) ? "" : String(text.dropFirst(2))
  }

  /// What ends the process in the middle of a run, as found and not made smaller.
  init(crash reason: String, of run: Run) {
    kind = .crash
    self.reason = reason
    schedule = run.schedule.description
    markedTable = ScheduleTable(run).text
    history = run.history
    attachments = run.attachments
    turns = run.turns.count
    schedules = run.number + 1
    seconds = nil
    found = nil
    steps = Self.stepsToAllow(run)
    uncontrolled = String(run.uncontrolledText.dropFirst(2))
  }

  /// A failure of a run that was not under control.
  package init(unscheduled reason: String, schedules: Int, seconds: Double) {
    kind = .check
    self.reason = reason
    schedule = ""
    markedTable = ""
    history = ""
    attachments = []
    turns = 0
    self.schedules = schedules
    self.seconds = seconds
    found = nil
    steps = nil
    uncontrolled = ""
  }

  /// Everything that is known, several lines.
  public var description: String {
    description { "try replay(\"\($0)\"\(stepsArgument)) { ... }" }
  }

  private static func stepsToAllow(_ run: Run) -> Int? {
    let (most, usual) = (run.limits.points, Limits().points)
    return most != usual && max(run.points, run.jobs) > min(most, usual) ? most : nil
  }

  /// Stands behind the schedule in what repeats it.
  package var stepsArgument: String { steps.map { ", steps: \($0)" } ?? "" }

  /// As `description`, with another way to repeat a schedule.
  package func description(repeated: (String) -> String) -> String {
    var text = reason + "\n"
    if !table.isEmpty { text += "\n" + table + "\n" }
    if !uncontrolled.isEmpty { text += uncontrolled + "\n" }
    if let found {
      text +=
        "seed \(found.seed), strategy \(found.strategy): found in schedule \(found.schedules), after "
        + "\(Self.thousandths(found.seconds)) s\n"
    }
    if !schedule.isEmpty { text += "to repeat it: \(repeated(schedule))\n" }
    return text
  }

  /// Three decimals, without Foundation.
  private static func thousandths(_ seconds: Double) -> String {
    let thousandths = Int((seconds * 1_000).rounded())
    let digits = String(thousandths % 1_000)
    return "\(thousandths / 1_000)." + String(repeating: "0", count: 3 - digits.count) + digits
  }
}
