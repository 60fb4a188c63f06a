// Why a schedule fails, and how a run that cannot go on is explained.

/// What is wrong with a schedule.
struct Violation: Sendable {
  enum Kind: String, Sendable {
    case check, thrown, deadlock, livelock
    case lostWakeUp = "lost wake-up"
    case stuckTask = "a task is never resumed"
    case hang, crash
    case notReproducible = "not reproducible"
  }

  let kind: Kind
  let text: String
}

extension Run {
  /// Nobody can go on, although somebody should.
  func stuck() -> Violation {
    var sentences: [String] = []
    var lost: (strand: Strand, condition: Resource, step: Int)?
    for strand in strands {
      guard case .blocked(let waiting, _) = strand.state else { continue }
      sentences.append("\(strand.name) \(text(of: waiting))")
      if case .condition(let resource) = waiting, let step = resource.unheardNotification {
        lost = (strand, resource, step)
      }
    }
    if let lost {
      return Violation(
        kind: .lostWakeUp,
        text: "lost wake-up: \(lost.strand.name) waits for \(lost.condition.name), which was "
          + "notified at step \(lost.step) when nobody waited" + uncontrolledText)
    }
    if !hasProgramEnded && !sentences.contains(where: { $0.hasPrefix("program ") }) {
      sentences.append(
        "the program waits for a task that nothing resumes (or that waits for something outside: a "
          + "timer, a queue, the main actor)")
    }
    let waits = strands.contains {
      if case .blocked = $0.state { return true }
      return false
    }
    return Violation(
      kind: waits ? .deadlock : .stuckTask,
      text: (waits ? "deadlock: " : "") + sentences.joined(separator: "; ") + uncontrolledText)
  }

  private func text(of waiting: Waiting) -> String {
    switch waiting {
    case .mutex(let resource):
      "waits for \(resource.name)" + (resource.owner.map { ", held by \($0.name)" } ?? "")
    case .condition(let resource): "waits for \(resource.name), which nobody notifies"
    case .channel(let resource, let sends):
      "waits to \(sends ? "send to" : "receive from") \(resource.name)"
    case .turn(let resource): "waits for \(resource.name)"
    case .end(let strand): "waits for the end of \(strand.name)"
    case .time: "sleeps"
    }
  }

  func livelockText() -> String {
    let busy = strands.max { $0.steps < $1.steps }
    return "livelock: no end after \(limits.points) steps"
      + (busy.map { ", \($0.steps) of them of \($0.name)" } ?? "")
  }
}
