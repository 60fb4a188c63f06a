// How a suspended task is told to go on. One is made for each asynchronous write, so it has no
// lock.
internal import Platform

/// Wakes one suspended task.
final class TaskSignal: Sendable {
  private static let isIdle: UInt = 0
  private static let isSet: UInt = 1

  /// Idle, set, or the continuation of the task that waits, which is an address.
  private let state = Atomic<UInt>(0)
  private let done = Atomic(false)
  /// The retained `Failure`, once there is one.
  private let storedFailure = Atomic<UInt>(0)

  private final class Failure {
    let error: Realm.Error
    init(_ error: Realm.Error) { self.error = error }
  }

  deinit {
    if let failure = Self.failure(storedFailure.load(ordering: .acquiring)) { failure.release() }
  }

  /// Wakes the task, or keeps its next wait from suspending.
  func send(failure: Realm.Error? = nil, isDone: Bool = false) {
    if let failure { keep(failure) }
    if isDone { done.store(true, ordering: .releasing) }
    // Releasing: what was stored before is seen by the task that goes on.
    let old = state.exchange(Self.isSet, ordering: .acquiringAndReleasing)
    if old != Self.isIdle && old != Self.isSet { Self.continuation(old).resume() }
  }

  /// Suspends until the next signal.
  func wait(_ isolation: isolated (any Actor)?) async {
    if takeSignal() { return }
    await withUnsafeContinuation(isolation: isolation) {
      (continuation: UnsafeContinuation<Void, Never>) in
      // One pointer; see `continuation`, which turns it back.
      let waiting = unsafeBitCast(continuation, to: UInt.self)
      let (isWaiting, _) = state.compareExchange(
        expected: Self.isIdle, desired: waiting, ordering: .acquiringAndReleasing)
      if !isWaiting { continuation.resume() }
    }
    _ = takeSignal()
  }

  /// Whether the next wait would not suspend; it does from here on.
  func takeSignal() -> Bool {
    state.compareExchange(
      expected: Self.isSet, desired: Self.isIdle, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Why the operation cannot go on.
  var failure: Realm.Error? {
    Self.failure(storedFailure.load(ordering: .acquiring))?.takeUnretainedValue().error
  }

  var isDone: Bool { done.load(ordering: .acquiring) }

  /// The first failure stays.
  private func keep(_ failure: Realm.Error) {
    let kept = Unmanaged.passRetained(Failure(failure))
    let (isKept, _) = storedFailure.compareExchange(
      expected: 0, desired: UInt(bitPattern: kept.toOpaque()), ordering: .acquiringAndReleasing)
    if !isKept { kept.release() }
  }

  private static func failure(_ word: UInt) -> Unmanaged<Failure>? {
    UnsafeRawPointer(bitPattern: word).map { Unmanaged.fromOpaque($0) }
  }

  /// The continuation that a word stands for.
  ///
  /// Sound: it is one pointer, that of the suspended task, which lives until it is resumed, and
  /// whoever takes the word out of `state` resumes it once. One task waits at a time.
  private static func continuation(_ word: UInt) -> UnsafeContinuation<Void, Never> {
    unsafeBitCast(word, to: UnsafeContinuation<Void, Never>.self)
  }
}
