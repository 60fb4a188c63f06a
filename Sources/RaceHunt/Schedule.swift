// A schedule as a short text. Written down are only the turns: the decisions that differ from the
// plain order, in which a strand runs on until it waits, and then the one that was made first goes
// on.

/// The seed of the program's random numbers, those that are others, and the turns of a schedule.
struct Schedule: Sendable, Equatable, CustomStringConvertible {
  /// At the decision with this number this strand goes on.
  struct Turn: Sendable, Equatable {
    let decision: Int
    let strand: Int
  }

  let seed: UInt64
  let draws: Draws
  var turns: [Turn]

  init(seed: UInt64, draws: Draws = Draws(), turns: [Turn]) {
    self.seed = seed
    self.draws = draws
    self.turns = turns
  }

  /// As `1f:3>2,5>1`; without turns `1f:`; with other numbers than those of the seed
  /// `1f.0=2.7=0:3>2`.
  var description: String {
    let draws = draws.given.sorted { $0.key < $1.key }.map { ".\($0.key)=\($0.value)" }
    return String(seed, radix: 16) + draws.joined() + ":"
      + turns.map { "\($0.decision)>\($0.strand)" }.joined(separator: ",")
  }

  /// Nil for another text.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let numbers = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    guard let seed = UInt64(numbers[0], radix: 16) else { return nil }
    var draws = Draws()
    for draw in numbers.dropFirst() {
      let sides = draw.split(separator: "=", omittingEmptySubsequences: false)
      guard sides.count == 2, let index = Int(sides[0]), let value = Int(sides[1]), index >= 0,
        value >= 0, draws.given.updateValue(value, forKey: index) == nil
      else { return nil }
    }
    var turns: [Turn] = []
    for turn in parts[1].split(separator: ",") {
      let numbers = turn.split(separator: ">", omittingEmptySubsequences: false)
      guard numbers.count == 2, let decision = Int(numbers[0]), let strand = Int(numbers[1]),
        decision > turns.last?.decision ?? -1, strand >= 0
      else { return nil }
      turns.append(Turn(decision: decision, strand: strand))
    }
    self.init(seed: seed, draws: draws, turns: turns)
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
