// Why a schedule fails, and how a run that cannot go on is explained.
internal import Foundation

/// What is wrong with a schedule.
struct Violation: Sendable {
  enum Kind: String, Sendable {
    case check, thrown, deadlock, livelock
    case lostWakeUp = "lost wake-up"
    case stuckTask = "a task is never resumed"
    case goesOn = "goes on after the end"
    case hang, crash
    case notReproducible = "not reproducible"
    /// Says nothing of the program.
    case noThread = "no thread"
  }

  let kind: Kind
  let text: String

  /// The system gives no thread for what would go on.
  static let noThread = Violation(
    kind: .noThread,
    text: "the system has no more threads to give, so the program could not be explored (see "
      + "'ulimit -u' and 'ulimit -v')")
}

/// What an error says of itself to users, if it says anything.
func words(of error: any Error) -> String {
  (error as? any LocalizedError)?.errorDescription ?? "\(error)"
}

extension Run {
  /// Nobody can go on, although somebody should.
  func stuck() -> Violation {
    var sentences: [String] = []
    var lost: (strand: Strand, condition: Resource, step: Int)?
    for strand in strands {
      guard case .blocked(let waiting, _) = strand.state else { continue }
      sentences.append("\(strand.name) \(text(of: waiting))")
      if case .condition(let resource) = waiting, let step = lostNotification(strand, resource) {
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
        "the program waits for a task that nothing resumes (or that waits for something that is not "
          + "under control)" + lastSteps)
    }
    let waits = strands.contains {
      if case .blocked = $0.state { return true }
      return false
    }
    return Violation(
      kind: waits ? .deadlock : .stuckTask,
      text: (waits ? "deadlock: " : "") + sentences.joined(separator: "; ") + uncontrolledText)
  }

  /// Whether some wait for locks of each other, which nothing from outside can end.
  var hasCycleOfLocks: Bool {
    func holder(_ strand: Strand) -> Strand? {
      guard case .blocked(.mutex(let resource), _) = strand.state else { return nil }
      return resource.owner
    }
    return strands.contains { strand in
      var next = holder(strand)
      for _ in strands {
        guard let found = next, found !== strand else { break }
        next = holder(found)
      }
      return next === strand
    }
  }

  /// What the program and its tasks have done last: the runtime does not tell which of them have
  /// ended.
  private var lastSteps: String {
    var texts: [String] = []
    for strand in strands where strand.kind == .task && strand.isResting {
      guard let step = events.lastIndex(where: { Int($0.strand) == strand.number })
      else { continue }
      let place = events[step].place.map { " at \($0.text)" } ?? ""
      texts.append("\(strand.name) is at step \(step + 1)\(place)")
    }
    if texts.isEmpty { return "" }
    let shown = texts.prefix(4).joined(separator: ", ")
    return "; last, \(shown)\(texts.count > 4 ? ", ..." : "")"
  }

  /// The step of another one's last notification before the strand has waited, and after it has
  /// last looked: one that came before the look has told it nothing.
  ///
  /// A look is also the locking of the mutex that it waits with, but for the last one: that may be
  /// for the wait alone, after a look of which nothing is known. Once others have had the mutex
  /// behind the notification, what was notified may have been taken.
  private func lostNotification(_ strand: Strand, _ condition: Resource) -> Int? {
    guard case .locks(let mutex) = strand.pending else { return nil }
    func locks(_ step: Int) -> Bool {
      events[step].operation == .locks && Int(events[step].object) == mutex.number
    }
    let own = events.indices.filter { Int(events[$0].strand) == strand.number }
    let wait = own.last {
      events[$0].operation == .waits && Int(events[$0].object) == condition.number
    }
    guard let wait else { return nil }
    let start = events.firstIndex {
      $0.operation == .starts && Int($0.object) == strand.number
    }
    let taken = own.last { $0 < wait && locks($0) } ?? -1
    var look =
      own.last { $0 < wait && $0 != taken && (events[$0].operation.isLook || locks($0)) }
      ?? start ?? -1
    // Who is woken and waits again has looked in between.
    if look >= 0, look < taken, events[look].operation.isEndOfWait,
      Int(events[look].object) == condition.number
    {
      look = taken
    }
    return condition.unheardNotifications.last { step in
      look < step - 1 && step - 1 < wait && Int(events[step - 1].strand) != strand.number
        && !events.indices[step..<wait].contains {
          locks($0) && Int(events[$0].strand) != strand.number
        }
    }
  }

  private func text(of waiting: Waiting) -> String {
    switch waiting {
    case .mutex(let resource): "waits for \(resource.name)" + holder(of: resource)
    case .lockCondition(let resource, let wanted):
      "waits for \(resource.name) with the condition \(wanted)" + holder(of: resource)
    case .condition(let resource): "waits for \(resource.name), which nobody notifies"
    case .channel(let resource, let sends):
      "waits to \(sends ? "send to" : "receive from") \(resource.name)"
    case .turn(let resource): "waits for \(resource.name)"
    case .end(let strand): "waits for the end of \(strand.name)"
    case .time: "sleeps"
    }
  }

  private func holder(of resource: Resource) -> String {
    guard let owner = resource.owner else { return "" }
    return ", held by \(owner.name)" + (owner.hasEnded ? ", which has ended" : "")
  }

  /// The program's closure has returned.
  func noteEnd() {
    hasProgramEnded = true
    for strand in strands { strand.stepsAtEnd = strand.steps }
  }

  /// There are too many steps: of the program, or of what it has left behind.
  func stopWithoutEnd() {
    // The one of a task that lets others go first is another column.
    let left = strands.filter { $0.kind != .yield && $0.steps > $0.stepsAtEnd }
    let last = left.max { $0.steps - $0.stepsAtEnd < $1.steps - $1.stepsAtEnd }
    let since = strands.reduce(0) { $0 + $1.steps - $1.stepsAtEnd }
    if hasProgramEnded, since > steps / 2, let last {
      let cure = last.kind == .thread ? "have it end, and join it" : "cancel it, and wait for it"
      return stop(
        .goesOn,
        "\(last.name) goes on after the program's end: the closure has returned \(since) steps ago; "
          + "\(cure) before the closure returns")
    }
    let busy = strands.max { $0.steps < $1.steps }
    stop(
      .livelock,
      "livelock: no end after \(limits.points) steps"
        + (busy.map { ", \($0.steps) of them of \($0.name)" } ?? "")
        + "; more for a long program: steps: \(limits.points * 10)")
  }
}
