// The one place where a programmer error ends the process. Everything that api.md marks as a stop
// goes through `misuse`, before any lock is taken, so that a message never hides behind a deadlock.
internal import Platform

/// What sort of rule was broken.
package enum MisuseKind: String, Sendable {
  /// Used on another thread than its own.
  case confinement
  /// A change to something frozen.
  case frozen
  /// Outside of, or inside, a write transaction.
  case transaction
  /// Deleted, or its Realm was invalidated.
  case invalidated
  /// A position that is not there.
  case bounds
  /// Classes that cannot be stored, or do not fit the file.
  case schema
  /// Settings that exclude each other.
  case configuration
  /// A value that a property or call cannot take.
  case argument
  /// An object of another Realm, or not managed at all.
  case ownership
  /// The file failed where the caller cannot be told by a thrown error.
  case storage
}

/// A broken rule, as the observer hears of it.
package struct Misuse: Sendable {
  package let kind: MisuseKind
  package let message: String
  /// To whom the value belongs, if that is what the message is about.
  package let owner: String?
  /// Who used it.
  package let offender: String?
}

private let observer = Monitor<(@Sendable (Misuse) -> Void)?>(nil)

/// Sets who hears of a misuse before the process stops; nil for nobody.
package func setMisuseObserver(_ body: (@Sendable (Misuse) -> Void)?) {
  observer.withLock { $0 = body }
}

/// Tells the observer and stops the process with the message and the place of the program's call.
@inline(never)
package func misuse(
  _ kind: MisuseKind, _ message: String, owner: String? = nil, offender: String? = nil
) -> Never {
  // Taken out of the lock first: the observer may use Realms.
  let report = observer.withLock { $0 }
  report?(Misuse(kind: kind, message: message, owner: owner, offender: offender))
  fatalError(callOfTheClient().map { "\(message) (called at \($0))" } ?? message)
}
