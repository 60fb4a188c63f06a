// News of writes to files, by this or another process: one thread for all watched files, which
// sleeps until the kernel has something to tell. It stays, since ending to listen to the kernel
// takes milliseconds. So does the kernel's watch of a file for a moment: to end it wakes the
// thread, and mostly the file is opened again.
internal import Glibc

/// Tells of writes to one file until its last reference goes.
package final class FileWatch: Sendable {
  private let number: Int32
  private let body: @Sendable () -> Void

  /// Watches a file; nil when the system cannot.
  ///
  /// - Parameter body: called on a thread of its own after each write, or once after several.
  package init?(_ path: String, _ body: @escaping @Sendable () -> Void) {
    guard let number = FileWatches.add(path) else { return nil }
    self.number = number
    self.body = body
    FileWatches.register(number, ObjectIdentifier(self), body)
  }

  deinit { FileWatches.remove(number, ObjectIdentifier(self)) }
}

/// The watched files of the process.
private enum FileWatches {
  private struct State {
    var descriptor: Int32 = -1
    /// By the kernel's number; the same file has the same one.
    var bodies: [Int32: [ObjectIdentifier: @Sendable () -> Void]] = [:]
    /// Files that are about to get a body.
    var pending = 0
    /// Whose watch could not be ended because of these.
    var overdue: [Int32] = []
    /// Whose watch ends in a moment, if nobody listens then.
    var kept: Set<Int32> = []
  }

  private static let state = Monitor(State())

  static func add(_ path: String) -> Int32? {
    // Quick system calls under the lock: the numbers are the kernel's.
    state.withLock { state in
      if state.descriptor < 0 {
        guard let descriptor = beginFollowing() else { return nil }
        state.descriptor = descriptor
      }
      let number = shim_watches_add(state.descriptor, path)
      if number >= 0 { state.pending += 1 }
      return number < 0 ? nil : number
    }
  }

  /// Starts the thread; nil where the system has no descriptor or no thread to give: the next one
  /// who watches tries again.
  private static func beginFollowing() -> Int32? {
    let descriptor = shim_watches_open()
    if descriptor < 0 { return nil }
    guard let thread = Thread.startIfPossible(name: "realm-follow", { follow(descriptor) }) else {
      close(descriptor)
      return nil
    }
    thread.detach()
    return descriptor
  }

  static func register(
    _ number: Int32, _ identifier: ObjectIdentifier, _ body: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      state.pending -= 1
      state.bodies[number, default: [:]][identifier] = body
      guard state.pending == 0 else { return }
      let overdue = state.overdue
      state.overdue = []
      for number in overdue where state.bodies[number]?.isEmpty == true { forget(number, &state) }
    }
  }

  private static func forget(_ number: Int32, _ state: inout State) {
    state.bodies[number] = nil
    _ = shim_watches_remove(state.descriptor, number)
  }

  static func remove(_ number: Int32, _ identifier: ObjectIdentifier) {
    // The body leaves the lock before it goes.
    let (old, isUnused) = state.withLock { state in
      let old = state.bodies[number]?.removeValue(forKey: identifier)
      let isUnused = state.bodies[number]?.isEmpty == true
      return (old, isUnused && state.kept.insert(number).inserted)
    }
    withExtendedLifetime(old) {}
    if isUnused { Spares.keep(UnusedWatch(number: number), for: nil) }
  }

  /// A file that nobody listens to; ends the kernel's watch when it goes, unless somebody does by
  /// then.
  private final class UnusedWatch: Sendable {
    private let number: Int32

    init(number: Int32) { self.number = number }

    deinit { FileWatches.forgetIfUnused(number) }
  }

  private static func forgetIfUnused(_ number: Int32) {
    state.withLock { state in
      state.kept.remove(number)
      guard state.bodies[number]?.isEmpty == true else { return }
      // One of those that are about to get a body may be this one.
      if state.pending > 0 { state.overdue.append(number) } else { forget(number, &state) }
    }
  }

  private static func follow(_ descriptor: Int32) {
    var numbers = [Int32](repeating: 0, count: 64)
    while true {
      let count = shim_watches_wait(descriptor, &numbers, Int32(numbers.count))
      if count < 0, count != -EINTR { return }
      let told = Set(numbers.prefix(Int(max(0, count))))
      let bodies = state.withLock { state in
        // -1: there was more than the kernel keeps, of any file.
        (told.contains(-1) ? Set(state.bodies.keys) : told).flatMap { number in
          state.bodies[number].map { Array($0.values) } ?? []
        }
      }
      for body in bodies { body() }
    }
  }
}
