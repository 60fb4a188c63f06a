// What the rows ask of LMDB; see LMDBEngine for how it is set up.
import CLMDB
import Foundation

final class LMDBSession: Session {
  private let engine: LMDBEngine
  /// Reset between reads: keeps its slot, holds no version.
  private let reader: LMDBReader
  private let record = UnsafeMutableRawPointer.allocate(
    byteCount: LMDBRecord.bytes, alignment: 8)

  init(_ engine: LMDBEngine) throws {
    self.engine = engine
    reader = try LMDBReader(engine)
    mdb_txn_reset(reader.transaction)
  }

  deinit { record.deallocate() }

  /// Reads in the newest version.
  private func reading<Value>(_ body: (OpaquePointer) throws -> Value) throws -> Value {
    try checkLMDB(mdb_txn_renew(reader.transaction))
    defer { mdb_txn_reset(reader.transaction) }
    return try body(reader.transaction)
  }

  /// Writes by a cursor in one transaction.
  private func writing(_ body: (OpaquePointer) throws -> Void) throws {
    var transaction: OpaquePointer?
    try checkLMDB(mdb_txn_begin(engine.environment, nil, 0, &transaction))
    do {
      var cursor: OpaquePointer?
      try checkLMDB(mdb_cursor_open(transaction, engine.database, &cursor))
      defer { mdb_cursor_close(cursor) }
      try body(cursor!)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try checkLMDB(mdb_txn_commit(transaction))
  }

  func insert(_ population: Population) throws {
    try writing { cursor in
      for id in 0..<population.count {
        var value = MDB_val(mv_size: LMDBRecord.bytes, mv_data: nil)
        try withKey(id) { key in
          try checkLMDB(mdb_cursor_put(cursor, &key, &value, UInt32(MDB_APPEND | MDB_RESERVE)))
        }
        LMDBRecord.write(id, population, to: value.mv_data)
      }
    }
  }

  func delete(_ keys: [Int]) throws {
    try writing { cursor in
      for id in keys {
        var value = MDB_val()
        try withKey(id) { key in
          try checkLMDB(mdb_cursor_get(cursor, &key, &value, MDB_SET))
          try checkLMDB(mdb_cursor_del(cursor, 0))
        }
      }
    }
  }

  func deleteAll() throws {
    try writing { cursor in
      try checkLMDB(mdb_drop(mdb_cursor_txn(cursor), engine.database, 0))
    }
  }

  func setAge(_ id: Int, _ age: Int) throws {
    try writing { cursor in
      try withKey(id) { key in
        var value = MDB_val()
        try checkLMDB(mdb_cursor_get(cursor, &key, &value, MDB_SET))
        record.copyMemory(from: value.mv_data, byteCount: value.mv_size)
        record.storeBytes(of: UInt8(age), toByteOffset: LMDBRecord.ageOffset, as: UInt8.self)
        value.mv_data = record
        try checkLMDB(mdb_cursor_put(cursor, &key, &value, UInt32(MDB_CURRENT)))
      }
    }
  }

  func count() throws -> Int {
    try reading { transaction in
      var statistics = MDB_stat()
      try checkLMDB(mdb_stat(transaction, engine.database, &statistics))
      return Int(statistics.ms_entries)
    }
  }

  func person(_ id: Int) throws -> PersonValues? {
    try reading { transaction in
      var value = MDB_val()
      let result = withKey(id) { mdb_get(transaction, engine.database, &$0, &value) }
      if result == MDB_NOTFOUND { return nil }
      try checkLMDB(result)
      return LMDBRecord.read(id, value)
    }
  }

  func lookup(_ keys: ArraySlice<Int>) throws -> Int {
    try reading { transaction in
      let database = engine.database
      var sum = 0
      for id in keys {
        var value = MDB_val()
        try checkLMDB(withKey(id) { mdb_get(transaction, database, &$0, &value) })
        sum &+= LMDBRecord.age(value)
      }
      return sum
    }
  }

  /// A found object is a pointer into the map; there is nothing that the engine would do.
  func readHeld(_ key: Int, times: Int) throws -> Int? { nil }

  func iterate() throws -> Int { try sum { LMDBRecord.age($0) } }

  func sumOfAges() throws -> Int { try sum { LMDBRecord.age($0) } }

  func count(age: Int) throws -> Int { try sum { LMDBRecord.age($0) == age ? 1 : 0 } }

  func count(above age: Int, prefix: String) throws -> Int {
    let prefix = Array(prefix.utf8)
    return try sum {
      LMDBRecord.age($0) > age && LMDBRecord.name($0).starts(with: prefix) ? 1 : 0
    }
  }

  /// Goes through all objects: it has nothing else for sums and conditions.
  @inline(__always)
  private func sum(_ body: (MDB_val) -> Int) throws -> Int {
    try reading { transaction in
      var cursor: OpaquePointer?
      try checkLMDB(mdb_cursor_open(transaction, engine.database, &cursor))
      defer { mdb_cursor_close(cursor) }
      var key = MDB_val()
      var value = MDB_val()
      var sum = 0
      var result = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
      while result == 0 {
        sum &+= body(value)
        result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
      }
      if result != MDB_NOTFOUND { try checkLMDB(result) }
      return sum
    }
  }

  func freeze(times: Int) throws {
    for _ in 0..<times {
      try checkLMDB(mdb_txn_renew(reader.transaction))
      mdb_txn_reset(reader.transaction)
    }
  }

  /// Compares the newest transaction's number with the reader's.
  func refresh(times: Int) throws -> Int {
    try reading { transaction in
      var newer = 0
      var information = MDB_envinfo()
      for _ in 0..<times {
        try checkLMDB(mdb_env_info(engine.environment, &information))
        if information.me_last_txnid != mdb_txn_id(transaction) {
          mdb_txn_reset(transaction)
          try checkLMDB(mdb_txn_renew(transaction))
          newer += 1
        }
      }
      return newer
    }
  }

  func pin() throws -> AnyObject { try LMDBReader(engine) }

  /// LMDB gives nothing back: its only way is a compacted copy into another file.
  func settle() throws {}
}

/// A key in LMDB's form.
@inline(__always)
private func withKey<Value>(_ id: Int, _ body: (inout MDB_val) throws -> Value) rethrows -> Value {
  var number = UInt(id)
  return try withUnsafeMutableBytes(of: &number) { bytes in
    var key = MDB_val(mv_size: MemoryLayout<UInt>.size, mv_data: bytes.baseAddress)
    return try body(&key)
  }
}
