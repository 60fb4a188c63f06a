// What was let go a moment ago and takes long to make: maps of files with their page tables,
// watches of the kernel. A program that opens a file for each piece of work closes it as often;
// whoever opens it again soon finds them here. After half a second at the latest they are given
// back, by a thread that ends when there is nothing left.

/// Objects that nobody uses, kept for a moment.
package enum Spares {
  package typealias Object = AnyObject & Sendable

  /// What an object can be used for again.
  package struct Use: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case reading, coordination }
    let kind: Kind
    let file: FileIdentity
    let length: Int

    /// - Parameter file: what keeps the object alive also keeps the file, so that no other one has
    ///   its identity; and whatever the file holds shows through the object.
    package init(_ kind: Kind, of file: FileIdentity, length: Int) {
      self.kind = kind
      self.file = file
      self.length = length
    }
  }

  private struct Entry {
    let use: Use?
    let object: any Object
  }

  private struct State {
    /// Kept since the thread has last looked, and before.
    var younger: [Entry] = []
    var older: [Entry] = []
    var isRunning = false
  }

  private static let state = Monitor(State())
  private static let generation = forkGeneration
  /// How often the thread looks: an object stays for one to two times as long.
  private static let turnNanoseconds: UInt64 = 250_000_000
  /// More than the last few files are not worth the memory.
  private static let countMax = 16

  /// Keeps an object for a moment.
  ///
  /// - Parameter use: what `take` finds it by; nil of one that is only to go later.
  package static func keep(_ object: any Object, for use: Use?) {
    // In a forked child there is no thread to let it go, and the lock may be held for ever.
    if forkGeneration != generation { return }
    let (starts, old) = state.withLock { state in
      state.younger.append(Entry(use: use, object: object))
      let isFull = state.younger.count + state.older.count > countMax
      let old = isFull ? dropOldest(&state) : nil
      defer { state.isRunning = true }
      return (!state.isRunning, old)
    }
    // Objects go outside of the lock.
    withExtendedLifetime(old) {}
    guard starts else { return }
    if let thread = Thread.startIfPossible(name: "realm-spares", { letGo() }) {
      thread.detach()
    } else {
      // Nobody would let go of it later.
      state.withLock { $0.isRunning = false }
      drop()
    }
  }

  private static func dropOldest(_ state: inout State) -> Entry {
    state.older.isEmpty ? state.younger.removeFirst() : state.older.removeFirst()
  }

  /// The object that was kept last for a use; it is the caller's alone.
  package static func take(_ use: Use) -> (any Object)? {
    if forkGeneration != generation { return nil }
    return state.withLock { state in
      if let index = state.younger.lastIndex(where: { $0.use == use }) {
        return state.younger.remove(at: index).object
      }
      guard let index = state.older.lastIndex(where: { $0.use == use }) else { return nil }
      return state.older.remove(at: index).object
    }
  }

  /// Lets go of all now.
  package static func drop() {
    if forkGeneration != generation { return }
    let old = state.withLock { state in
      let old = state.younger + state.older
      state.younger = []
      state.older = []
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// The thread's work.
  private static func letGo() {
    while true {
      _ = state.wait(nanoseconds: turnNanoseconds) { _ in false }
      let (old, isDone) = state.withLock { state in
        let old = state.older
        state.older = state.younger
        state.younger = []
        state.isRunning = !state.older.isEmpty
        return (old, state.older.isEmpty)
      }
      withExtendedLifetime(old) {}
      if isDone { return }
    }
  }
}
