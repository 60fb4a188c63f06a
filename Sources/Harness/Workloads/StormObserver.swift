// One observer of the workload notify-storm. Its calls come elsewhere; the thread gathers what they
// measured and found, and at times ends the observation and begins another one.
internal import Platform

/// An observer; made and used on its own thread.
final class StormObserver<Driver: ObservingEngine>: Worker {
  /// After so many calls another observation begins.
  private static var callsOfOne: Int { 64 }

  private let shared: RunShared<Driver>
  private let commits: CommitBegins
  private let number: Int
  private var pace: ThreadPace
  private(set) var ledger = InvariantLedger()
  var pausedNanoseconds: UInt64 { 0 }
  private var observations = 0

  /// What the calls of one observation have found.
  private struct Findings {
    var copy = ObservedCopy()
    var isEnded = false
    var calls = 0
    var checks: UInt64 = 0
    var latencies: [(called: UInt64, nanoseconds: UInt64)] = []
    var row = Row()
    var violation: Violation?
  }

  init(
    number: Int, shared: RunShared<Driver>, commits: CommitBegins, handover: Handover
  ) throws {
    self.number = number
    self.shared = shared
    self.commits = commits
    pace = ThreadPace(
      control: shared.control, handover: handover, random: shared.random(thread: number))
  }

  func run() throws {
    defer { pace.finish() }
    pace.waitForStart()
    while pace.follow() { try observe() }
  }

  /// Observes for a number of calls, or until the run is over.
  private func observe() throws {
    observations += 1
    let part = ObservedPart(rawValue: (number + observations) % ObservedPart.allCases.count)!
    let place = "observer \(number) of part '\(part)'"
    let findings = Monitor(Findings())
    let isChecked = shared.plan.checks(.exactChanges)
    let (commits, clock) = (commits, MonotonicClock())
    let observer = try shared.driver.observe(part) { change, content in
      // Before the content is looked at, which takes the longer the more objects there are.
      let called = clock.nanoseconds()
      findings.withLock { findings in
        findings.calls += 1
        guard findings.violation == nil else { return }
        if findings.isEnded {
          if isChecked {
            findings.violation = Violation(
              .exactChanges, "An observer was called after its end.", witness: [place])
          }
          return
        }
        if isChecked {
          findings.checks += 1
          findings.violation = findings.copy.apply(change, content, place: place)
        }
        let stamp =
          isChecked
          ? findings.copy.newestStamp : change.newestStamp(in: content, reading: &findings.row)
        if !change.isFirst, let begun = commits.time(of: stamp) {
          findings.latencies.append((called, called - min(begun, called)))
        }
      }
      findings.notifyAll()
    }
    var isOver = false
    while !isOver {
      isOver = !pace.follow() || findings.withLock { $0.calls >= Self.callsOfOne }
      if !isOver { try gather(findings) }
    }
    // Everything that is owed is told now, the first call too: the copy is the newest content.
    observer.refresh { content in
      findings.withLock { findings in
        guard isChecked, findings.violation == nil else { return }
        findings.checks += 1
        findings.violation = findings.copy.compare(content, place: "\(place), refreshed")
      }
    }
    observer.end()
    findings.withLock { $0.isEnded = true }
    // A call that comes in spite of it finds the observation ended.
    observer.refresh { _ in }
    try gather(findings)
  }

  /// Takes over what calls have found, after a moment without any.
  private func gather(_ findings: Monitor<Findings>) throws {
    _ = findings.wait(nanoseconds: 2_000_000) { !$0.latencies.isEmpty || $0.violation != nil }
    let (checks, latencies, violation) = findings.withLock { findings in
      defer {
        findings.checks = 0
        findings.latencies = []
      }
      return (findings.checks, findings.latencies, findings.violation)
    }
    if checks > 0 { ledger.count(.exactChanges, checks: checks) }
    // Phase by phase: each other one than the thread's takes figures of its own.
    var rest = latencies[...]
    while let first = rest.first {
      let phase = pace.phase(at: first.called)
      let together = rest.prefix { pace.phase(at: $0.called) == phase }
      pace.record(0, in: phase, lasting: together.map { $0.nanoseconds })
      rest = rest.dropFirst(together.count)
    }
    if let violation { throw violation }
  }
}
