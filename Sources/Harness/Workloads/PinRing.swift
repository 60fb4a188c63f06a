// The pins that a run keeps on purpose (--pins): a ring of frozen versions. What leaves it is read
// again, by whichever thread comes along, before it is released.
internal import Platform

/// A pin with some of what was read in it when it was taken.
package struct KeptPin<Pin: EnginePin>: Sendable {
  package let pin: Pin
  package let rows: [Row]
  /// What the whole table added up to, if that was asked for.
  package let total: TableTotal?

  package init(pin: Pin, rows: [Row], total: TableTotal? = nil) {
    self.pin = pin
    self.rows = rows
    self.total = total
  }

  /// How many checks `verify` makes.
  package var checks: UInt64 { UInt64(rows.count) + (total == nil ? 0 : 1) }

  /// Reads everything again.
  package func verify(place: String) -> Violation? {
    var again = Row()
    for row in rows {
      let isFound = pin.read(row.id, into: &again)
      if let violation = SnapshotStabilityCheck.compare(
        first: row, again: isFound ? again : nil, version: pin.version, place: place)
      {
        return violation
      }
    }
    guard let total else { return nil }
    return SnapshotStabilityCheck.compare(
      first: total, again: pin.total(), version: pin.version, place: place)
  }
}

/// Pins up to a number and an age; those that go wait to be verified.
package final class PinRing<Pin: EnginePin>: Sendable {
  private struct Entry: Sendable {
    let pin: KeptPin<Pin>
    let takenAt: UInt64
  }

  private struct State: Sendable {
    /// Oldest first, from `first` on.
    var kept: [Entry?] = []
    var first = 0
    var retired: [KeptPin<Pin>] = []
    var isClosed = false
    var random: RandomGenerator

    var count: Int { kept.count - first }

    /// Takes out the one at a position, counted from the oldest.
    mutating func retire(_ position: Int) {
      guard let entry = kept[first + position] else { preconditionFailure("a kept pin") }
      retired.append(entry.pin)
      if position == 0 {
        kept[first] = nil
        first += 1
        if first > 64 && first > kept.count / 2 {
          kept.removeFirst(first)
          first = 0
        }
      } else {
        kept.remove(at: first + position)
      }
    }
  }

  private let capacity: Int
  private let release: ReleaseOrder
  private let ageNanoseconds: UInt64?
  private let clock = MonotonicClock()
  private let state: Monitor<State>
  private let retiredCount = Atomic<Int>(0)

  package init(
    capacity: Int, release: ReleaseOrder = .oldest, ageNanoseconds: UInt64? = nil,
    seed: UInt64 = 1
  ) {
    self.capacity = capacity
    self.release = release
    self.ageNanoseconds = ageNanoseconds
    state = Monitor(State(random: RandomGenerator(seed: mix(seed))))
  }

  /// Adds a pin; those that are too many or too old wait to be verified.
  ///
  /// False when the ring is closed and the pin stays with the caller.
  @discardableResult
  package func keep(_ pin: KeptPin<Pin>) -> Bool {
    let now = clock.nanoseconds()
    return state.withLock { state in
      if state.isClosed { return false }
      if state.count == capacity && capacity > 0 {
        switch release {
        case .oldest: state.retire(0)
        case .newest: state.retire(state.count - 1)
        case .random: state.retire(Int(state.random.next(upperBound: UInt64(state.count))))
        }
      }
      state.kept.append(Entry(pin: pin, takenAt: now))
      if let ageNanoseconds {
        while state.count > 0, let oldest = state.kept[state.first],
          now - min(now, oldest.takenAt) > ageNanoseconds
        {
          state.retire(0)
        }
      }
      retiredCount.store(state.retired.count, ordering: .relaxed)
      return true
    }
  }

  /// How many are kept.
  package var count: Int { state.withLock { $0.count } }

  /// How many wait to be verified; a hint.
  package var waiting: Int { retiredCount.load(ordering: .relaxed) }

  /// Takes one that waits to be verified; the caller releases it by letting it go.
  package func takeRetired() -> KeptPin<Pin>? {
    state.withLock { state in
      defer { retiredCount.store(state.retired.count, ordering: .relaxed) }
      return state.retired.popLast()
    }
  }

  /// Takes everything, waiting or kept; from now on nothing is kept.
  package func close() -> [KeptPin<Pin>] {
    state.withLock { state in
      state.isClosed = true
      let all = state.retired + state.kept.compactMap { $0?.pin }
      state.retired = []
      state.kept = []
      state.first = 0
      retiredCount.store(0, ordering: .relaxed)
      return all
    }
  }
}
