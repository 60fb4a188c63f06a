// What one thread measures in one stretch of a run, and the hand-over to the coordinator: the
// thread gives a full set away once an interval and takes an empty one, so that recording needs no
// lock and nobody reads a histogram that another thread writes.
internal import Platform

/// A part of a run with rows of its own.
package struct Phase: Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let load = Phase(rawValue: 0)
  package static let warmup = Phase(rawValue: 1)
  package static let measure = Phase(rawValue: 2)
  /// After the measured phase: pins have gone, the file becomes shorter.
  package static let recover = Phase(rawValue: 3)
  /// Those that every run knows, in their order.
  package static let own: [Phase] = [.load, .warmup, .measure, .recover]

  /// A step of the measured phase, as a plan has it; counted from 0.
  package static func step(_ number: Int) -> Phase {
    precondition(number >= 0 && number < stepsMax, "a plan has up to \(stepsMax) steps")
    return Phase(rawValue: firstStep + UInt8(number))
  }

  private static let firstStep: UInt8 = 8
  package static let stepsMax = 32

  /// The number of the step that this is, if it is one.
  package var step: Int? { rawValue >= Self.firstStep ? Int(rawValue - Self.firstStep) : nil }

  /// Whether what happens in it belongs to the run's figures.
  package var isMeasured: Bool { self == .measure || step != nil }

  /// Its name where no plan gives it another one.
  package var name: String {
    if let step { return "step-\(step + 1)" }
    return ["load", "warmup", "measure", "recover"][Int(rawValue)]
  }
}

/// Figures of one operation.
package final class OperationMeasurements {
  /// From the start of the operation to its end.
  package let service = LatencyHistogram()
  /// From the moment it was due to its end; open loop only.
  package let response: LatencyHistogram?
  /// Of each that was due and has not ended: how long it had waited when its thread gave up.
  package let leftOut: LatencyHistogram?
  /// From the moment it was due and its thread free to its start: what the generator added.
  package let generatorDelay: LatencyHistogram?
  /// What those have taken beside time of which a thread knows where they began and ended.
  package private(set) var work = OperationWork()
  package var errors: UInt64 = 0
  package var late: UInt64 = 0
  /// Those that were due and that nobody started.
  package var skipped: UInt64 = 0
  /// Of a closed loop: those that had begun, and waited for others until long after the end.
  package var givenUp: UInt64 = 0
  /// For how long at most.
  package var givenUpLongest: UInt64 = 0
  /// When the last one of a thread with a schedule ended; 0 in a closed loop.
  package var lastEnd: UInt64 = 0
  /// Whether a thread that did some of them could not be waited for.
  package var isTruncated = false

  package init(isOpenLoop: Bool) {
    response = isOpenLoop ? LatencyHistogram() : nil
    leftOut = isOpenLoop ? LatencyHistogram() : nil
    generatorDelay = isOpenLoop ? LatencyHistogram() : nil
  }

  /// Records an operation that one thread has done from its begin to its end.
  @inline(__always)
  package func record(_ nanoseconds: UInt64, _ work: ThreadWork) {
    service.record(nanoseconds)
    self.work.record(work)
  }

  package func add(_ other: OperationMeasurements) {
    service.add(other.service)
    work.add(other.work)
    if let delays = other.response { response?.add(delays) }
    if let waits = other.leftOut { leftOut?.add(waits) }
    if let delays = other.generatorDelay { generatorDelay?.add(delays) }
    errors += other.errors
    late += other.late
    skipped += other.skipped
    givenUp += other.givenUp
    givenUpLongest = max(givenUpLongest, other.givenUpLongest)
    lastEnd = max(lastEnd, other.lastEnd)
    isTruncated = isTruncated || other.isTruncated
  }

  /// What is known of the response times; nil in a closed loop.
  package var responses: ResponseTimes? {
    guard let response, let leftOut else { return nil }
    var times = ResponseTimes(done: response, leftOut: leftOut)
    times.isWhole = !isTruncated
    return times
  }

  package func reset() {
    service.reset()
    response?.reset()
    leftOut?.reset()
    generatorDelay?.reset()
    work = OperationWork()
    errors = 0
    late = 0
    skipped = 0
    givenUp = 0
    givenUpLongest = 0
    lastEnd = 0
    isTruncated = false
  }
}

/// A set of figures for the operations of one thread, of one phase.
package final class Measurements {
  package let operations: [Operation]
  package let figures: [OperationMeasurements]
  package var phase = Phase.warmup

  /// `openLoop`: the operations that follow a schedule.
  package init(_ operations: [Operation], openLoop: Set<Operation> = []) {
    self.operations = operations
    figures = operations.map { OperationMeasurements(isOpenLoop: openLoop.contains($0)) }
  }

  package func figures(of operation: Operation) -> OperationMeasurements? {
    operations.firstIndex(of: operation).map { figures[$0] }
  }

  package func reset() {
    for figure in figures { figure.reset() }
  }
}

/// Passes sets of figures from one measuring thread to the coordinator and back.
package final class Handover: Sendable {
  private struct State {
    var full: [Measurements] = []
    var empty: [Measurements]
  }

  private let state: Monitor<State>
  /// What the coordinator sees of the thread's waits.
  package let lockWait = LockWait()

  /// Two spare sets: the thread never waits unless the coordinator misses two intervals.
  package init(_ operations: [Operation], openLoop: Set<Operation> = []) {
    state = Monitor(
      State(empty: (0..<3).map { _ in Measurements(operations, openLoop: openLoop) }))
  }

  /// An empty set for the thread to fill.
  ///
  /// Waits until the coordinator has given one back.
  package func take(phase: Phase) -> Measurements {
    let measurements = state.wait(until: { !$0.empty.isEmpty }, then: { $0.empty.removeLast() })
    measurements.phase = phase
    return measurements
  }

  /// Gives a set away; the thread must not touch it afterwards.
  package func put(_ measurements: Measurements) {
    state.withLock { $0.full.append(measurements) }
  }

  /// Runs `body` on each set given away since the last call, then empties it for reuse.
  package func collect(_ body: (Measurements) -> Void) {
    let full = state.withLock { state in
      defer { state.full = [] }
      return state.full
    }
    guard !full.isEmpty else { return }
    for measurements in full {
      body(measurements)
      measurements.reset()
    }
    state.withLock { $0.empty.append(contentsOf: full) }
    state.notifyAll()
  }
}
