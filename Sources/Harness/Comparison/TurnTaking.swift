// Lets two processes run by turns of some milliseconds, so that what disturbs the machine meets
// both alike: a slow second of the hypervisor is shared, where it falls on one of two runs that
// follow each other. Each has the processors to itself in its turns.
internal import Glibc
internal import Platform

/// Two runs that have begun, of which one is stopped (SIGSTOP) at any time.
struct TurnTaking {
  /// Tells a run that it takes turns: the other one is no disturbance.
  static let variable = "REALM_BENCH_TAKES_TURNS"

  static var isTaken: Bool { getenv(variable) != nil }

  private let isOver: Monitor<Bool>
  private let thread: Platform.Thread

  /// - Parameter nanoseconds: how long a turn is in the mean; they vary by half, so that no rhythm
  ///   of the runs has always the same one.
  init(_ members: [ChildRun], nanoseconds: UInt64, seed: UInt64) {
    for member in members.dropFirst() { member.pause() }
    let isOver = Monitor(false)
    self.isOver = isOver
    thread = Platform.Thread.start(name: "turns") {
      var random = RandomGenerator(seed: seed)
      var turn = 0
      while !isOver.withLock({ $0 }), members.contains(where: \.isRunning) {
        // Whoever is alone keeps to its turns: it would be faster with those of the other.
        members[turn].resume()
        sleep(nanoseconds: nanoseconds / 2 + random.next(upperBound: nanoseconds))
        members[turn].pause()
        turn = (turn + 1) % members.count
      }
      for member in members { member.resume() }
    }
  }

  /// Lets all of them run from now on.
  func end() {
    isOver.withLock { $0 = true }
    thread.join()
  }
}
