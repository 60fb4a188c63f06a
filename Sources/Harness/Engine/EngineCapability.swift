// What some engines can do and others cannot, a protocol each. A workload names what it needs; on
// an engine without it the workload is refused, in words.
package import Dispatch

/// Something that an engine may be able to do.
package enum EngineCapability: String, CaseIterable, Sendable {
  case actors
  case queues
  case observers
  case references
  case migrations
  case forbiddenUses

  /// As in "needs sessions of actors".
  package var words: String {
    switch self {
    case .actors: "sessions of actors"
    case .queues: "sessions of queues and asynchronous commits"
    case .observers: "observers"
    case .references: "frozen copies of single objects, references and lists"
    case .migrations: "migrations"
    case .forbiddenUses: "a stop at forbidden uses"
    }
  }

  package func isGiven(by driver: any EngineDriver.Type) -> Bool {
    switch self {
    case .actors: driver is any ActorEngine.Type
    case .queues: driver is any QueueEngine.Type
    case .observers: driver is any ObservingEngine.Type
    case .references: driver is any SharingEngine.Type
    case .migrations: driver is any MigratingEngine.Type
    case .forbiddenUses: driver is any ForbiddingEngine.Type
    }
  }
}

/// An engine that can do everything.
package typealias CompleteEngine = ActorEngine & QueueEngine & ObservingEngine & SharingEngine
  & MigratingEngine & ForbiddingEngine & WalkingEngine

/// A session of such an engine.
package typealias CompleteSession = ActorSession & QueueSession & SharingSession

// MARK: - Actors

/// An engine with sessions of actors.
package protocol ActorEngine: EngineDriver where Session: ActorSession {
  /// Opens the file for an actor, at its newest version; the session moves on `refresh` and when it
  /// writes only.
  func openSession(for actor: isolated any Actor) async throws -> Session
}

extension ActorEngine {
  package typealias Parcel = Session.Parcel
}

/// A session that an actor can have.
package protocol ActorSession: EngineSession {
  /// An object on its way to another session.
  associatedtype Parcel: Sendable

  /// Runs one transaction and commits it, without blocking the actor's thread.
  func writeAsynchronously(
    _ actor: isolated any Actor, _ body: () throws -> Void
  ) async throws
  /// An object for another session, as a reference or frozen; nil when there is none.
  func parcel(_ key: Int, isFrozen: Bool) -> Parcel?
  /// Reads an object from another session, once; false when it was deleted.
  func open(_ parcel: Parcel, into row: inout Row) -> Bool
}

// MARK: - Queues

/// An engine with sessions of queues, which commit asynchronously.
package protocol QueueEngine: EngineDriver where Session: QueueSession {
  /// Opens the file for a serial queue, at its newest version; called by a block of the queue.
  func openSession(on queue: DispatchQueue) throws -> Session
  /// The newest version that a session opened now would show.
  var visibleVersion: UInt64 { get }
}

/// A session that a queue can have.
package protocol QueueSession: EngineSession {
  /// Asks for a transaction; `body` runs in it, in the session's queue, some time later.
  func requestWrite(_ body: @escaping () -> Void)
  /// Inside the body of `requestWrite`: commits, and calls back in the session's queue once it is
  /// durable.
  func commitAsynchronously(
    allowsGrouping: Bool, _ completion: @escaping ((any Error)?) -> Void)
}

// MARK: - Frozen copies and references

/// An engine whose single objects, lists and results can be copied and handed on.
package protocol SharingEngine: EngineDriver where Session: SharingSession {}

/// A session of such an engine.
package protocol SharingSession: EngineSession {
  associatedtype Copy: EngineCopy
  associatedtype Reference: EngineReference

  /// Inside `write`: deletes the object and inserts it again as another one, changed once more.
  func replace(_ key: Int) -> Bool
  /// Inside `write`: sets the list and stamp of a group, and makes the group if there is none.
  func setGroup(_ group: Int, stamp: Int, members: [Int])
  /// The stamp of a group; nil when there is none.
  func groupStamp(_ group: Int) -> Int?

  /// A frozen copy of some content alone; nil when there is none.
  func copy(_ content: Content) -> Copy?
  /// A reference to some content; nil when there is none.
  func reference(to content: Content) -> Reference?
  /// Resolves a reference and reads what it refers to; false when that was deleted.
  func resolve(_ reference: Reference, into rows: inout [Row]) -> Bool
}

/// What can be copied and referred to.
package enum Content: Equatable, Sendable {
  case object(Int)
  /// The list of a group.
  case list(Int)
  /// The objects of some keys, in their order, by a query.
  case results(Range<Int>)
}

/// A frozen object, list or results, which any thread may read.
package protocol EngineCopy: Sendable {
  var version: UInt64 { get }
  /// Reads everything in it.
  func read(into rows: inout [Row])
}

/// Carries an object, list or results to another session.
package protocol EngineReference: Sendable {
  var isResolved: Bool { get }
}

// MARK: - Others

/// An engine with observers.
package protocol ObservingEngine: EngineDriver {
  /// Observes a part of the table in a place of its own, where `told` is called.
  func observe(
    _ part: ObservedPart,
    _ told: @escaping @Sendable (ObservedChange, any ObservedContent) -> Void
  ) throws -> any EngineObserver
}

/// An engine that brings its file to another form.
package protocol MigratingEngine: EngineDriver {
  /// Brings the file to another form of its class.
  ///
  /// Every session must be gone, pins may stay. Afterwards only `readMigrated` and what follows it
  /// can be called.
  func migrate() throws
  /// Goes over the whole table after `migrate`, in the order of keys.
  func readMigrated(_ body: (MigratedRow) throws -> Void) throws
}

/// An engine that stops at forbidden uses.
package protocol ForbiddingEngine: EngineDriver {
  /// Tries a forbidden use in a process of its own.
  func attempt(_ use: ForbiddenUse) throws -> ForbiddenUse.Outcome
}

/// An engine that can tell what its live versions reach.
package protocol WalkingEngine: EngineDriver {
  /// Bytes that some live version reaches, by a walk over all of them.
  func reachableBytes() throws -> UInt64
}

// MARK: - Workloads that need one

extension RunShared {
  /// The same, of an engine that is known by now to be of this type.
  package func narrowed<Able: EngineDriver>(to type: Able.Type) -> RunShared<Able> {
    guard let same = self as? RunShared<Able> else {
      preconditionFailure("\(type) is another engine than \(Driver.self)")
    }
    return same
  }

  /// The workload as one of the engine that this is about.
  package func widened(_ workload: any Workload) -> any Workload<Driver> {
    guard let same = workload as? any Workload<Driver> else {
      preconditionFailure("a workload of another engine than \(Driver.self)")
    }
    return same
  }
}
