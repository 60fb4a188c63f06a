// Sessions and pins over an engine of connections. A snapshot is a connection in a read
// transaction. A pin shares the snapshot of its session, so that it shows exactly that version; the
// session takes another connection when it moves on. Writers of the process queue for a lock, as
// such engines advise, and a session stands on its own commit before the next one may begin.
internal import Foundation
internal import Glibc
internal import Platform

/// A driver of any engine of connections.
package final class ConnectionDriver<Engine: ConnectionEngine>: EngineDriver {
  package typealias Session = ConnectionSession<Engine>

  package static var name: String { Engine.name }

  let engine: Engine
  /// Held by the session that writes.
  let writing = Monitor(())
  /// Versions that pins keep.
  let pins = Atomic<Int>(0)
  private let commits = Atomic<UInt64>(0)
  private let newestVersion = Atomic<UInt64>(0)
  private let firstFailure = Monitor<(any Error)?>(nil)
  private let pool: ConnectionPool<Engine.Connection>

  package init(_ engine: Engine) throws {
    self.engine = engine
    pool = ConnectionPool()
    Self.raiseDescriptorLimit()
    // Makes what a new file has to hold.
    let connection = try engine.openConnection()
    newestVersion.store(try connection.beginReading(), ordering: .relaxed)
    connection.endReading()
    pool.giveBack(connection)
  }

  /// A connection may have several descriptors, and a pin is a connection.
  private static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  package var failure: (any Error)? { firstFailure.withLock { $0 } }

  /// Keeps the first failure of a call that cannot throw.
  func fail(_ error: any Error) { firstFailure.withLock { $0 = $0 ?? error } }

  /// A connection that reads nothing yet.
  func takeConnection() throws -> Engine.Connection { try pool.take() ?? engine.openConnection() }

  /// A snapshot of the newest version.
  func takeSnapshot() throws -> ConnectionSnapshot<Engine.Connection> {
    let connection = try takeConnection()
    do {
      return ConnectionSnapshot(connection, version: try connection.beginReading(), pool)
    } catch {
      pool.giveBack(connection)
      throw error
    }
  }

  func committed(_ version: UInt64) {
    commits.add(1, ordering: .relaxed)
    newestVersion.max(version, ordering: .relaxed)
  }

  package func openSession() throws -> Session { try Session(self) }

  package func statistics() throws -> EngineStatistics {
    if let failure { throw failure }
    var statistics = try glance()
    let space = try engine.space()
    statistics.liveBytes = space.live
    statistics.freeBytes = space.free
    statistics.commits = commits.load(ordering: .relaxed)
    statistics.writtenBytes = engine.counts.bytes
    return statistics
  }

  package func glance() throws -> EngineStatistics {
    var statistics = EngineStatistics()
    statistics.newestVersion = newestVersion.load(ordering: .relaxed)
    if let read = try engine.readVersions() {
      statistics.oldestPinnedVersion = read.oldest
      statistics.liveVersions = read.count
    }
    statistics.fileBytes = engine.files.reduce(0) { sum, path in
      if case .file(let bytes)? = try? FileCalls.kind(path) { return sum + bytes }
      return sum
    }
    statistics.syncs = engine.counts.syncs
    return statistics
  }

  package func checkInvariants() throws -> [String] { try engine.findings() }

  package func close() {
    pool.close()
    engine.close()
  }

  package func deleteFiles() throws {
    for path in engine.files where (try? FileCalls.kind(path)) != nil {
      try FileCalls.remove(path)
    }
  }
}

/// Connections that nobody uses at the moment.
final class ConnectionPool<Connection: EngineConnection>: @unchecked Sendable {
  // @unchecked: a connection is here or with one user, and moves under the lock.
  private let idle = Monitor<[Connection]>([])

  func take() -> Connection? { idle.withLock { $0.popLast() } }

  func giveBack(_ connection: Connection) {
    // What is one too many is closed by the caller's letting go, outside of the lock.
    idle.withLock { idle in
      if idle.count < 64 { idle.append(connection) }
    }
  }

  func close() {
    _ = idle.withLock { idle in
      defer { idle = [] }
      return idle
    }
  }
}

/// A connection in a read transaction, of a session and the pins that were made of it.
final class ConnectionSnapshot<Connection: EngineConnection>: @unchecked Sendable {
  // @unchecked: who is not alone with it uses the connection under the lock only, and the version
  // moves only while its session is alone with it.
  let connection: Connection
  var version: UInt64
  private let lock = Monitor(())
  private let pool: ConnectionPool<Connection>

  init(_ connection: Connection, version: UInt64, _ pool: ConnectionPool<Connection>) {
    self.connection = connection
    self.version = version
    self.pool = pool
  }

  deinit {
    connection.endReading()
    pool.giveBack(connection)
  }

  /// For those who share it.
  func locked<Value>(_ body: (Connection) throws -> Value) rethrows -> Value {
    try lock.withLock { _ in try body(connection) }
  }
}

/// One thread's session.
package final class ConnectionSession<Engine: ConnectionEngine>: EngineSession {
  /// The key of an object that is read again: such engines have no objects to keep.
  package struct Held {
    let key: Int
  }

  private let driver: ConnectionDriver<Engine>
  private var snapshot: ConnectionSnapshot<Engine.Connection>
  /// Inside a write transaction.
  private var isWriting = false
  /// What a change that cannot throw has met.
  private var failure: (any Error)?
  private var scratch = Row()

  init(_ driver: ConnectionDriver<Engine>) throws {
    self.driver = driver
    snapshot = try driver.takeSnapshot()
  }

  package var version: UInt64 { snapshot.version }

  /// Whether no pin shares the snapshot.
  private var isAlone: Bool { isKnownUniquelyReferenced(&snapshot) }

  /// Runs a read on the snapshot.
  @inline(__always)
  private func reading<Value>(_ none: Value, _ body: (Engine.Connection) throws -> Value) -> Value {
    do {
      if isAlone { return try body(snapshot.connection) }
      return try snapshot.locked(body)
    } catch {
      note(error)
      return none
    }
  }

  private func note(_ error: any Error) {
    failure = failure ?? error
    // What a transaction meets is thrown at its end.
    if !isWriting { driver.fail(error) }
  }

  package func refresh() -> Bool {
    let before = snapshot.version
    do {
      if isAlone {
        snapshot.connection.endReading()
        snapshot.version = try snapshot.connection.beginReading()
      } else {
        snapshot = try driver.takeSnapshot()
      }
    } catch {
      note(error)
    }
    return snapshot.version != before
  }

  package func read(_ key: Int, _ parts: RowParts, into row: inout Row) -> Bool {
    reading(false) { try $0.read(key, parts, into: &row) }
  }

  package func hold(_ key: Int) -> Held? {
    read(key, .account, into: &scratch) ? Held(key: key) : nil
  }

  package func read(_ held: Held, into row: inout Row) { _ = read(held.key, .all, into: &row) }

  package func scan(from position: Int, into rows: inout [Row]) -> Int {
    reading(0) { try $0.scan(from: position, into: &rows) }
  }

  package func total() -> TableTotal { reading(TableTotal()) { try $0.total() } }

  package func pin() -> ConnectionPin<Engine> { ConnectionPin(snapshot, driver) }

  package func write(_ body: () throws -> Void) throws {
    try driver.writing.withLock { _ in
      // A pin keeps the version that the session stands on.
      if !isAlone { snapshot = try driver.takeSnapshot() }
      let connection = snapshot.connection
      connection.endReading()
      var isDone = false
      defer {
        isWriting = false
        if !isDone { _ = refresh() }
      }
      try connection.beginWriting()
      isWriting = true
      failure = nil
      do {
        try body()
        if let failure { throw failure }
      } catch {
        connection.rollBack()
        throw error
      }
      let version = try connection.commit()
      driver.committed(version)
      try driver.engine.afterCommit(connection, pins: driver.pins.load(ordering: .relaxed))
      snapshot.version = try connection.beginReading()
      isDone = true
      guard snapshot.version == version else {
        throw EngineFailure(
          "\(Engine.name): version \(snapshot.version) is newer than the commit of version "
            + "\(version): another process writes to the file")
      }
    }
  }

  private func writing<Value>(_ none: Value, _ body: (Engine.Connection) throws -> Value) -> Value {
    precondition(isWriting, "changes belong into a transaction")
    do {
      return try body(snapshot.connection)
    } catch {
      note(error)
      return none
    }
  }

  package func insert(_ row: Row) { writing(()) { try $0.insert(row) } }

  package func update(_ key: Int, _ parts: RowParts, _ change: (inout Row) -> Void) -> Bool {
    // Out of the session, whose memory nobody else may look at meanwhile.
    var row = Row()
    swap(&row, &scratch)
    defer { swap(&row, &scratch) }
    let isFound = writing(false) {
      try $0.read(key, parts == .record ? .all : .account, into: &row)
    }
    guard isFound else { return false }
    change(&row)
    return writing(false) {
      try $0.store(row, parts)
      return true
    }
  }

  package func delete(_ key: Int) -> Bool { writing(false) { try $0.delete(key) } }
}

/// A version that is kept: a snapshot that others may read, too.
package final class ConnectionPin<Engine: ConnectionEngine>: EnginePin {
  private let snapshot: ConnectionSnapshot<Engine.Connection>
  private let driver: ConnectionDriver<Engine>
  package let version: UInt64

  init(_ snapshot: ConnectionSnapshot<Engine.Connection>, _ driver: ConnectionDriver<Engine>) {
    self.snapshot = snapshot
    self.driver = driver
    version = snapshot.version
    driver.pins.add(1, ordering: .relaxed)
  }

  deinit { driver.pins.subtract(1, ordering: .relaxed) }

  package func read(_ key: Int, into row: inout Row) -> Bool {
    do {
      return try snapshot.locked { try $0.read(key, .all, into: &row) }
    } catch {
      driver.fail(error)
      return false
    }
  }

  package func total() -> TableTotal {
    do {
      return try snapshot.locked { try $0.total() }
    } catch {
      driver.fail(error)
      return TableTotal()
    }
  }
}
