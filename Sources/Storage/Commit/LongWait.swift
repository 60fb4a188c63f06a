// News of long waits for the write lock.
internal import Platform

/// A thread has waited long for the write lock of a file.
package struct LongWait: Sendable {
  package let path: String
  /// Who has the lock; nil when it is kept free for somebody.
  package let holder: String?
  /// Who waits for it in this process, in order: the first few.
  package let waiters: [String]
  /// How many wait in all.
  package let waitersInAll: Int
  /// How many threads run tasks, where the holder needs one of them and none has been free for
  /// seconds; else nil.
  package let busyThreads: Int?

  /// Names of waiters that are given; all of many would be a page, and each of them may ask.
  static let waitersNamed = 3

  package init(
    path: String, holder: String?, waiters: [String], waitersInAll: Int, busyThreads: Int? = nil
  ) {
    self.busyThreads = busyThreads
    self.path = path
    self.holder = holder
    self.waiters = waiters
    self.waitersInAll = waitersInAll
  }

  private static let observer = Monitor<(@Sendable (LongWait) -> Void)?>(nil)
  private static let observersOfFiles = Monitor<[String: @Sendable (LongWait) -> Void]>([:])

  /// Sets who hears of long waits, on the thread that waits.
  package static func setObserver(_ body: (@Sendable (LongWait) -> Void)?) {
    observer.withLock { $0 = body }
  }

  /// Sets who hears of those of one file besides, for tests, which run side by side.
  package static func setObserver(ofFile path: String, _ body: (@Sendable (LongWait) -> Void)?) {
    observersOfFiles.withLock { $0[path] = body }
  }

  func report() {
    // Called with no lock held.
    let bodies = [Self.observer.withLock { $0 }, Self.observersOfFiles.withLock { $0[path] }]
    for body in bodies { body?(self) }
  }
}
