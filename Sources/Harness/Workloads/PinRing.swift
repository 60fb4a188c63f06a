// The pins that a run keeps on purpose (--pins): a ring of frozen versions. What leaves the ring is
// read again, by whichever thread comes along, before it is released.
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

/// A ring of pins, the oldest leaving when a new one comes.
package final class PinRing<Pin: EnginePin>: Sendable {
  private struct State: Sendable {
    var kept: [KeptPin<Pin>] = []
    var oldest = 0
    var retired: [KeptPin<Pin>] = []
  }

  private let capacity: Int
  private let state = Monitor(State())
  private let retiredCount = Atomic<Int>(0)

  package init(capacity: Int) { self.capacity = capacity }

  /// Adds a pin; the one that it displaces waits to be verified.
  package func keep(_ pin: KeptPin<Pin>) {
    state.withLock { state in
      if state.kept.count < capacity {
        state.kept.append(pin)
        return
      }
      state.retired.append(state.kept[state.oldest])
      state.kept[state.oldest] = pin
      state.oldest = (state.oldest + 1) % capacity
      retiredCount.store(state.retired.count, ordering: .relaxed)
    }
  }

  /// How many wait to be verified; a hint.
  package var waiting: Int { retiredCount.load(ordering: .relaxed) }

  /// Takes one that waits to be verified; the caller releases it by letting it go.
  package func takeRetired() -> KeptPin<Pin>? {
    state.withLock { state in
      defer { retiredCount.store(state.retired.count, ordering: .relaxed) }
      return state.retired.popLast()
    }
  }

  /// Takes everything, waiting or kept.
  package func takeAll() -> [KeptPin<Pin>] {
    state.withLock { state in
      let all = state.retired + state.kept
      state.retired = []
      state.kept = []
      state.oldest = 0
      retiredCount.store(0, ordering: .relaxed)
      return all
    }
  }
}
