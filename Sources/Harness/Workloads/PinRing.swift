// The pins that a run keeps on purpose (--pins): a ring of frozen versions, and none beside them:
// each would hold space that nobody asked for. Every pin is read again once, by a reader while it
// is the next to leave, or else by the writer that lets it go.
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

/// Pins up to a number and an age.
package final class PinRing<Pin: EnginePin>: Sendable {
  private struct Entry: Sendable {
    let pin: KeptPin<Pin>
    let takenAt: UInt64
    /// Whether a reader has taken it to be verified.
    var isTaken = false
  }

  private struct State: Sendable {
    /// Oldest first, from `first` on.
    var kept: [Entry?] = []
    var first = 0
    var isClosed = false
    var random: RandomGenerator

    var count: Int { kept.count - first }

    /// Takes out the one at a position, counted from the oldest.
    mutating func remove(_ position: Int) -> Entry {
      guard let entry = kept[first + position] else { preconditionFailure("a kept pin") }
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
      return entry
    }
  }

  private let capacity: Int
  private let release: ReleaseOrder
  private let ageNanoseconds: UInt64?
  private let clock = MonotonicClock()
  private let state: Monitor<State>
  private let isOneDue = Atomic<Bool>(false)
  private let tell: @Sendable (Int) -> Void

  /// Makes an empty ring.
  ///
  /// - Parameter tell: Told how many are kept, in the order of the changes, with the ring's lock
  ///   held.
  package init(
    capacity: Int, release: ReleaseOrder = .oldest, ageNanoseconds: UInt64? = nil,
    seed: UInt64 = 1, tell: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.tell = tell
    self.capacity = capacity
    self.release = release
    self.ageNanoseconds = ageNanoseconds
    state = Monitor(State(random: RandomGenerator(seed: mix(seed))))
  }

  /// Adds a pin; those that are too many or too old leave.
  ///
  /// - Returns: What left without being verified, which the caller does and releases; nil when the
  ///   ring is closed and the pin stays with the caller.
  package func keep(_ pin: KeptPin<Pin>) -> [KeptPin<Pin>]? {
    let now = clock.nanoseconds()
    // Released by this thread after the lock.
    var left: [Entry] = []
    let isKept = state.withLock { state in
      if state.isClosed { return false }
      if state.count == capacity && capacity > 0 {
        switch release {
        case .oldest: left.append(state.remove(0))
        case .newest: left.append(state.remove(state.count - 1))
        case .random:
          left.append(state.remove(Int(state.random.next(upperBound: UInt64(state.count)))))
        }
      }
      state.kept.append(Entry(pin: pin, takenAt: now))
      if let ageNanoseconds {
        while state.count > 0, let oldest = state.kept[state.first],
          now - min(now, oldest.takenAt) > ageNanoseconds
        {
          left.append(state.remove(0))
        }
      }
      isOneDue.store(due(state) != nil, ordering: .relaxed)
      tell(state.count)
      return true
    }
    return isKept ? left.filter { !$0.isTaken }.map(\.pin) : nil
  }

  /// The position in `kept` of the pin that leaves next, when nobody has verified it.
  private func due(_ state: State) -> Int? {
    guard capacity > 0, state.count == capacity else { return nil }
    let next: Int? =
      switch release {
      case .oldest: state.first
      case .newest: state.kept.count - 1
      case .random: nil
      }
    return next.flatMap { state.kept[$0]?.isTaken == false ? $0 : nil }
  }

  /// How many are kept.
  package var count: Int { state.withLock { $0.count } }

  /// Whether the pin that leaves next is still to be verified; a hint.
  package var hasOneDue: Bool { isOneDue.load(ordering: .relaxed) }

  /// The pin that leaves next, once; the caller verifies it.
  package func takeDue() -> KeptPin<Pin>? {
    state.withLock { state in
      isOneDue.store(false, ordering: .relaxed)
      guard let position = due(state) else { return nil }
      state.kept[position]?.isTaken = true
      return state.kept[position]?.pin
    }
  }

  /// Takes everything; from now on nothing is kept.
  package func close() -> [KeptPin<Pin>] {
    state.withLock { state in
      state.isClosed = true
      let all = state.kept.compactMap { $0?.pin }
      state.kept = []
      state.first = 0
      isOneDue.store(false, ordering: .relaxed)
      tell(0)
      return all
    }
  }
}
