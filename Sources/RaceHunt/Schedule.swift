// A schedule as a short text. Written down are only the turns: the decisions that differ from the
// plain order, in which a strand runs on until it waits, and then the one that was made first goes
// on.

/// The seed of the program's random numbers and the turns of a schedule.
struct Schedule: Sendable, Equatable, CustomStringConvertible {
  /// At the decision with this number this strand goes on.
  struct Turn: Sendable, Equatable {
    let decision: Int
    let strand: Int
  }

  let seed: UInt64
  var turns: [Turn]

  init(seed: UInt64, turns: [Turn]) {
    self.seed = seed
    self.turns = turns
  }

  /// As `1f:3>2,5>1`; without turns `1f:`.
  var description: String {
    String(seed, radix: 16) + ":"
      + turns.map { "\($0.decision)>\($0.strand)" }.joined(separator: ",")
  }

  /// Nil for another text.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let seed = UInt64(parts[0], radix: 16) else { return nil }
    var turns: [Turn] = []
    for turn in parts[1].split(separator: ",") {
      let numbers = turn.split(separator: ">", omittingEmptySubsequences: false)
      guard numbers.count == 2, let decision = Int(numbers[0]), let strand = Int(numbers[1]),
        decision > turns.last?.decision ?? -1, strand >= 0
      else { return nil }
      turns.append(Turn(decision: decision, strand: strand))
    }
    self.init(seed: seed, turns: turns)
  }

  /// Throws for another text.
  static func parsed(_ text: String) throws(RaceFailure) -> Schedule {
    if let schedule = Schedule(text) { return schedule }
    throw RaceFailure(
      .init(kind: .thrown, text: mistake(in: text) ?? ""), Schedule(seed: 0, turns: []))
  }

  /// Why a text is none; nil for one that is.
  fileprivate static func mistake(in text: String) -> String? {
    if Schedule(text) != nil { return nil }
    let shown = text.count > 60 ? "\(text.prefix(60))..." : text
    return "'\(shown)' is not a schedule, such as 1f:3>2,5>1; give the text that a failure shows "
      + "behind \"to repeat it\""
  }
}

/// Why a text is no schedule; nil for one that is.
package func mistake(inSchedule text: String) -> String? { Schedule.mistake(in: text) }
