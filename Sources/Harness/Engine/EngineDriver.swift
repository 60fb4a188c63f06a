// The seam between workloads and the engine they drive. The only driver of realm-bench goes through
// RealmSwift's public API; tests put a small model engine here, whole or with bugs planted in it,
// to prove that the checkers find what they are for. A session belongs to one thread or queue, a
// pin, a frozen copy and a reference to anyone.
package import Dispatch

/// An engine on one file.
package protocol EngineDriver: Sendable {
  associatedtype Session: EngineSession
  typealias Parcel = Session.Parcel

  /// As in the result files.
  static var name: String { get }

  /// Opens the file for the calling thread, at its newest version.
  func openSession() throws -> Session
  /// Opens the file for an actor, at its newest version; the session moves on `refresh` and when it
  /// writes only.
  func openSession(for actor: isolated any Actor) async throws -> Session
  /// Opens the file for a serial queue, at its newest version; called by a block of the queue.
  func openSession(on queue: DispatchQueue) throws -> Session
  /// Observes a part of the table in a place of its own, where `told` is called.
  func observe(
    _ part: ObservedPart,
    _ told: @escaping @Sendable (ObservedChange, any ObservedContent) -> Void
  ) throws -> any EngineObserver
  /// Brings the file to another form of its class.
  ///
  /// Every session must be gone, pins may stay. Afterwards only `readMigrated` and what follows it
  /// can be called.
  func migrate() throws
  /// Goes over the whole table after `migrate`, in the order of keys.
  func readMigrated(_ body: (MigratedRow) throws -> Void) throws
  /// Counters and sizes, without pinning a version.
  ///
  /// While a long transaction is running those that only a writer knows are the last ones noted.
  func statistics() throws -> EngineStatistics
  /// What can be told at any time, also while a long transaction is running.
  func glance() throws -> EngineStatistics
  /// The newest version that a Realm opened now would show.
  var visibleVersion: UInt64 { get }
  /// Bytes that some live version reaches, by a walk over all of them.
  func reachableBytes() throws -> UInt64
  /// Tries a forbidden use in a process of its own.
  func attempt(_ use: ForbiddenUse) throws -> ForbiddenUse.Outcome
  /// Walks every structure of the file (I10); returns what is wrong.
  func checkInvariants() throws -> [String]
  /// Lets go of the file and waits until nothing of the process has it open.
  ///
  /// Every session and pin must be gone. Only `deleteFiles` may follow.
  func close()
  /// Removes the file and what belongs to it; after `close`.
  func deleteFiles() throws
}

/// One thread's view of the file: a snapshot that moves on `refresh` and `write` only.
package protocol EngineSession: AnyObject {
  associatedtype Pin: EnginePin
  /// An object that is kept and read again.
  associatedtype Held
  /// An object on its way to another session.
  associatedtype Parcel: Sendable
  associatedtype Copy: EngineCopy
  associatedtype Reference: EngineReference

  /// Number of the version that the session sees.
  var version: UInt64 { get }
  /// Moves to the newest version; true when it changed.
  func refresh() -> Bool
  /// Looks the object up by its key and reads these properties; false when there is none.
  func read(_ key: Int, _ parts: RowParts, into row: inout Row) -> Bool
  func hold(_ key: Int) -> Held?
  /// Reads all properties of a kept object.
  func read(_ held: Held, into row: inout Row)
  /// Reads all properties of up to `rows.count` objects, in the order of insertion from the one at
  /// `position` on; returns how many there are.
  func scan(from position: Int, into rows: inout [Row]) -> Int
  /// Goes over the whole table and adds it up.
  func total() -> TableTotal
  /// A frozen copy of what the session sees now.
  func pin() -> Pin
  /// Runs one transaction and commits it; durable on return unless the run says otherwise.
  func write(_ body: () throws -> Void) throws
  /// The same for a session of an actor, without blocking its thread.
  func writeAsynchronously(
    _ actor: isolated any Actor, _ body: () throws -> Void
  ) async throws
  /// An object for another session, as a reference or frozen; nil when there is none.
  func parcel(_ key: Int, isFrozen: Bool) -> Parcel?
  /// Reads an object from another session, once; false when it was deleted.
  func open(_ parcel: Parcel, into row: inout Row) -> Bool
  /// Inside `write`: adds an object.
  func insert(_ row: Row)
  /// Inside `write`: looks the object up, lets `change` alter these properties, and stores them;
  /// false when there is none.
  ///
  /// The row has the object's key, balance, changes and stamp; the rest is undefined, except for
  /// `.record`.
  func update(_ key: Int, _ parts: RowParts, _ change: (inout Row) -> Void) -> Bool
  /// Inside `write`: removes the object; false when there is none.
  func delete(_ key: Int) -> Bool
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

  /// Asks for a transaction; `body` runs in it, in the session's queue, some time later.
  func requestWrite(_ body: @escaping () -> Void)
  /// Inside the body of `requestWrite`: commits, and calls back in the session's queue once it is
  /// durable.
  func commitAsynchronously(
    allowsGrouping: Bool, _ completion: @escaping ((any Error)?) -> Void)
}

/// What can be copied and referred to.
package enum Content: Equatable, Sendable {
  case object(Int)
  /// The list of a group.
  case list(Int)
  /// The objects of some keys, in their order, by a query.
  case results(Range<Int>)
}

extension EngineSession {
  /// Looks the object up by its key and reads all its properties; false when there is none.
  @inline(__always)
  package func read(_ key: Int, into row: inout Row) -> Bool { read(key, .all, into: &row) }
}

/// Properties that an operation reads or stores.
package enum RowParts: Sendable {
  /// Reads: every property. Stores: age, score, payload, balance and stamp.
  case all
  /// Balance, changes and stamp.
  case account
  /// Stores payload and stamp.
  case payload
  /// A read-modify-write: reads every property, stores payload, changes and stamp.
  case record
}

/// A version that is kept and can be read from any thread.
package protocol EnginePin: Sendable {
  var version: UInt64 { get }
  func read(_ key: Int, into row: inout Row) -> Bool
  /// Goes over the whole table and adds it up.
  func total() -> TableTotal
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

/// What a pass over the whole table adds up to.
package struct TableTotal: Equatable, Sendable {
  package private(set) var count = 0
  package private(set) var balance = 0
  package private(set) var changes = 0
  /// The largest stamp: the last transaction that the snapshot holds.
  package private(set) var newestStamp = 0
  /// A hash of what was added, in this order.
  package private(set) var digest: UInt64 = 0

  package init() {}

  /// Adds an object.
  @inline(__always)
  package mutating func add(balance: Int, changes: Int, stamp: Int) {
    count += 1
    self.balance += balance
    self.changes += changes
    newestStamp = max(newestStamp, stamp)
    let content = UInt64(truncatingIfNeeded: balance &+ changes << 20 &+ stamp << 40)
    digest = (digest ^ content) &* 0x9e37_79b9_7f4a_7c15
  }
}

/// What an engine counts about its file.
package struct EngineStatistics: Sendable {
  package var newestVersion: UInt64 = 0
  package var oldestPinnedVersion: UInt64 = 0
  package var liveVersions = 0
  package var oldestPinAgeNanoseconds: UInt64 = 0
  package var fileBytes: UInt64 = 0
  /// Nil, as are the others that can be, while a transaction keeps its numbers to itself.
  package var liveBytes: UInt64?
  package var heldBytes: UInt64?
  package var freeBytes: UInt64?
  package var writtenBytes: UInt64?
  package var commits: UInt64?
  package var syncs: UInt64 = 0

  package init() {}
}
