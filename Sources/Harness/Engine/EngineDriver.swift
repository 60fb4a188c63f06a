// The seam between workloads and the engine they drive: what every engine gives. What only some can
// do stands in EngineCapability.swift. The driver of realm goes through RealmSwift's public API;
// tests put a small model engine here, whole or with bugs planted in it, to prove that the checkers
// find what they are for. A session belongs to one thread or queue, a pin to anyone.

/// An engine on one file.
package protocol EngineDriver: Sendable {
  associatedtype Session: EngineSession

  /// As in the result files.
  static var name: String { get }

  /// Opens the file for the calling thread, at its newest version.
  func openSession() throws -> Session
  /// Counters and sizes, without pinning a version.
  ///
  /// While a long transaction is running those that only a writer knows are the last ones noted.
  func statistics() throws -> EngineStatistics
  /// What can be told at any time, also while a long transaction is running.
  func glance() throws -> EngineStatistics
  /// What has gone wrong in a call that cannot throw; what threads see after it says nothing.
  var failure: (any Error)? { get }
  /// The wait for the write lock, which another process has, that keeps this one from writing now;
  /// nil when nothing does, or when the engine does not tell.
  func foreignWait() -> ForeignWait?
  /// Walks every structure of the file (I10); returns what is wrong.
  func checkInvariants() throws -> [String]
  /// Lets go of the file and waits until nothing of the process has it open.
  ///
  /// Every session and pin must be gone. Only `deleteFiles` may follow.
  func close()
  /// Removes the file and what belongs to it; after `close`.
  func deleteFiles() throws
}

extension EngineDriver {
  package var failure: (any Error)? { nil }
  package func foreignWait() -> ForeignWait? { nil }
}

/// A wait for the write lock, which another process has.
package struct ForeignWait: Equatable, Sendable {
  /// The same number is the same wait: each turn of this process has its own.
  package let number: UInt64
  /// Who has the lock, as in `process 'server' (412)`.
  package let writer: String

  package init(number: UInt64, writer: String) {
    self.number = number
    self.writer = writer
  }
}

/// One thread's view of the file: a snapshot that moves on `refresh` and `write` only.
package protocol EngineSession: AnyObject {
  associatedtype Pin: EnginePin
  /// An object that is kept and read again.
  associatedtype Held

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
  /// Nil, as are the two that follow, of an engine that does not tell who reads what.
  package var oldestPinnedVersion: UInt64?
  package var liveVersions: Int?
  package var oldestPinAgeNanoseconds: UInt64?
  package var fileBytes: UInt64 = 0
  /// Nil, as are the others that can be, while a transaction keeps its numbers to itself.
  package var liveBytes: UInt64?
  package var heldBytes: UInt64?
  package var freeBytes: UInt64?
  package var writtenBytes: UInt64?
  package var commits: UInt64?
  package var syncs: UInt64 = 0
  /// Calls of the system for the engine's files; nil of an engine that does not count them.
  package var fileCalls: UInt64?

  package init() {}
}
