// Locks that are older than a schedule: those of globals, and of whatever a program made before.
// Another exploration of the process may take the same ones, in another order. So one schedule at a
// time has such locks, up to its end; in the machine two of them would wait for each other.
internal import CRaceHunt
internal import Synchronization

/// Whose schedule may have locks that are older than it: who comes first, is first.
private enum GlobalLocks {
  private static let taken = Synchronization.Atomic<UInt32>(0)
  /// How many have given them back; the kernel looks at it while others wait.
  ///
  /// Sound: allocated once, and never freed.
  private nonisolated(unsafe) static let givenBack = {
    let word = UnsafeMutablePointer<Synchronization.Atomic<UInt32>>.allocate(capacity: 1)
    word.initialize(to: Synchronization.Atomic(0))
    return word
  }()
  private static var word: UnsafePointer<UInt32> {
    UnsafeRawPointer(givenBack).assumingMemoryBound(to: UInt32.self)
  }

  /// Nanoseconds after which one that waits shows that it has not come to a halt.
  private static let slice: UInt64 = 10_000_000

  static func take(whileWaiting: () -> Void) {
    let turn = taken.wrappingAdd(1, ordering: .relaxed).oldValue
    while true {
      let now = givenBack.pointee.load(ordering: .acquiring)
      if now == turn { return }
      whileWaiting()
      race_hunt_wait(word, now, slice)
    }
  }

  static func giveBack() {
    givenBack.pointee.wrappingAdd(1, ordering: .releasing)
    race_hunt_wake_many(word, Int32.max)
  }
}

extension Run {
  /// Waits until no other schedule of the process has locks that are older than it.
  func takeGlobalLocks() {
    if hasGlobalLocks { return }
    GlobalLocks.take { pool.pass() }
    hasGlobalLocks = true
  }

  /// Called once no strand goes on.
  func giveBackGlobalLocks() {
    if !hasGlobalLocks { return }
    hasGlobalLocks = false
    GlobalLocks.giveBack()
  }
}
