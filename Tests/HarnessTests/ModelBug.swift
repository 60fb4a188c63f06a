// The ways in which the model engine can be wrong, and the checkers that have to find each.
import Harness

/// One way for an engine to be wrong.
enum ModelBug: String, CaseIterable, Sendable {
  /// A pin shows the newest version instead of its own.
  case pinMoves
  /// An un-refreshed session shows the newest version's rows at times.
  case sessionMoves
  /// Half of a transaction is published before the rest.
  case tornCommit
  /// A transaction's stamp is stored, but not the rest of the row.
  case halfRow
  /// One object of a batch is not stored.
  case droppedUpdate
  /// A kept object stays on the version at which it was taken.
  case staleHeldObject
  /// A refresh moves to an older version.
  case goesBack
  /// Two states have the same number.
  case numberTwice
  /// A commit is not visible to others when it returns.
  case lateVisibility
  /// A commit is not visible to its own session.
  case ownWriteHidden
  /// The walk over the file finds something.
  case leak
  /// A change of a balance is lost, and nothing else.
  case lostBalance
  /// An object that a transaction inserts is not stored.
  case droppedInsert
  /// A transaction is acknowledged, and the next one does not stand on it.
  case lostTransaction
  /// Two transactions of two threads run at once, on the same version.
  case noWriteLock
  /// A migration leaves an object out.
  case objectNotMigrated
  /// A migration forgets one object's new property.
  case labelNotMigrated
  /// The disk says no.
  case failingWrite
  /// A reference resolves to another object.
  case otherReference
  /// A reference resolves to an object as it was before.
  case staleReference
  /// A reference resolves to nothing.
  case lostReference
  /// A completion is called twice.
  case doubleCompletion
  /// A completion is never called.
  case lostCompletion
  /// Completions come in another order than commits.
  case swappedCompletions
  /// A completion is called before others can see the commit.
  case earlyCompletion
  /// A frozen value shows the newest version.
  case copyMoves
  /// A frozen value is of another version than its source.
  case copyOfAnother
  /// A reference is resolved to the object behind its own.
  case referenceToNeighbour
  /// A reference is resolved to the object that has taken the place of its own.
  case referenceToSuccessor
  /// A reference is resolved to nil at times.
  case referenceToNothing
  /// A reference can be resolved again.
  case referenceTwice
  /// A reference does not move the session that resolves it.
  case referenceBehind
  /// What is forbidden goes through.
  case notStopped
  /// What is forbidden stops without saying why.
  case stoppedByAccident
  /// A deletion is left out of what an observer is told.
  case droppedDeletion
  /// After two deletions a position is told that is one too large.
  case shiftedPosition
  /// Of several commits that are told at once, only the last one is.
  case lostCommitOfObserver
  /// An observer is called after its end.
  case toldAfterEnd
  /// An observer is never called.
  case neverTold

  /// Found by the observers of notify-storm.
  static let ofObservers: [ModelBug] = [
    .droppedDeletion, .shiftedPosition, .lostCommitOfObserver, .toldAfterEnd, .neverTold,
  ]

  /// The checker of readers-writer that has to find it with all others off.
  var invariant: Invariant? {
    switch self {
    case .pinMoves, .sessionMoves: .snapshotStability
    case .tornCommit, .halfRow, .droppedUpdate, .staleHeldObject: .atomicity
    case .goesBack, .numberTwice: .monotonicVersions
    case .lateVisibility, .ownWriteHidden: .readYourWrites
    case .leak: .spaceAccounting
    case .lostBalance: .serialOrder
    case .failingWrite, .lostTransaction, .noWriteLock, .droppedInsert, .objectNotMigrated,
      .labelNotMigrated, .otherReference, .staleReference, .lostReference,
      .doubleCompletion, .lostCompletion, .swappedCompletions,
      .earlyCompletion, .copyMoves, .copyOfAnother, .referenceToNeighbour, .referenceToSuccessor,
      .referenceToNothing, .referenceTwice, .referenceBehind, .notStopped, .stoppedByAccident,
      .droppedDeletion, .shiftedPosition, .lostCommitOfObserver, .toldAfterEnd,
      .neverTold:
      nil
    }
  }

  /// The checker of transfer that has to find it with all others off.
  var transferInvariant: Invariant? {
    switch self {
    case .lostTransaction, .noWriteLock: .serialOrder
    case .staleHeldObject: nil
    default: invariant
    }
  }

  /// The checker of actor-hops that has to find it with all others off.
  var actorInvariant: Invariant? {
    switch self {
    case .otherReference, .staleReference, .lostReference: .references
    case .goesBack, .numberTwice: .monotonicVersions
    case .lateVisibility, .ownWriteHidden: .readYourWrites
    case .pinMoves: .snapshotStability
    default: nil
    }
  }

  /// The checker of mixed, with all its operations, that has to find it with all others off.
  var mixedInvariant: Invariant? {
    switch self {
    case .lostTransaction, .noWriteLock: .serialOrder
    case .droppedInsert: .atomicity
    // Nothing moves between objects here, and one object is the whole transaction.
    case .tornCommit, .lostBalance, .staleHeldObject: nil
    // Seen by who has written it only.
    case .droppedUpdate: .readYourWrites
    default: invariant
    }
  }
}
