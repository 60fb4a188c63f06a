// Where hundreds of threads wait for one event, and go on together. Behind a lock each of them
// would have to be woken by the one before it: on a busy machine such a turn takes milliseconds.
internal import Platform

/// A place to wait at.
final class Gate: @unchecked Sendable {
  // @unchecked: `openings` is set once, freed in deinit, and points to an atomic.
  private let openings: UnsafeMutablePointer<Atomic<UInt64>>
  /// Who is woken looks again, and so does who was not.
  private static let patienceNanoseconds: UInt64 = 10_000_000_000

  init() {
    openings = .allocate(capacity: 1)
    openings.initialize(to: Atomic(0))
  }

  deinit {
    openings.deinitialize(count: 1)
    openings.deallocate()
  }

  /// Returns once `isPassed` holds; it is asked again after each opening.
  func wait(until isPassed: () -> Bool) {
    while true {
      // Acquiring, and before the question: who opens the gate later changes the word that is
      // waited on, so that no opening is missed.
      let seen = openings.pointee.load(ordering: .acquiring)
      if isPassed() { return }
      waitForChange(
        of: openings, from: seen, nanoseconds: Self.patienceNanoseconds, bits: .max)
    }
  }

  /// Has all who wait ask again.
  func open() {
    // Releasing: pairs with the load above; they see what was changed before.
    _ = openings.pointee.add(1, ordering: .acquiringAndReleasing)
    wake(waitingFor: openings, bits: .max)
  }
}
