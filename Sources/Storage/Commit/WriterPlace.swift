// Who writes: for messages about long waits, and for the list of live versions.
package import Platform

/// Something that names a place of the process, such as a queue or an actor.
package protocol PlaceName: AnyObject, Sendable {
  var description: String { get }
}

/// Where a transaction runs.
package enum WriterPlace: Sendable {
  case thread(ThreadNumber)
  case named(any PlaceName)

  package var description: String {
    switch self {
    case .thread(let number): number.description
    case .named(let name): name.description
    }
  }
}

/// A thread has waited long for the write lock of a file.
package struct LongWait: Sendable {
  package let path: String
  /// Who has the lock; nil when it is kept free for somebody.
  package let holder: String?
  /// Who waits for it, in order.
  package let waiters: [String]

  private static let observer = Monitor<(@Sendable (LongWait) -> Void)?>(nil)

  /// Sets who hears of long waits, on the thread that waits.
  package static func setObserver(_ body: (@Sendable (LongWait) -> Void)?) {
    observer.withLock { $0 = body }
  }

  func report() {
    // Called with no lock held.
    let body = Self.observer.withLock { $0 }
    body?(self)
  }
}
