// LMDB: one environment, keys in the machine's own form, objects as packed records, and a map so
// large that it never has to grow while somebody reads. A read transaction is no thread's own
// (MDB_NOTLS), so that it can be kept as a pin. Durability full syncs pages and meta page, memory
// is MDB_NOSYNC.
#if PEERS
  internal import CCountedCalls
  internal import CLMDBLibrary
  internal import Foundation
  internal import Platform

  /// LMDB on one file.
  package final class LMDBEngine: ConnectionEngine, @unchecked Sendable {
    // @unchecked: an environment may be used by all threads.
    package static let name = "lmdb"

    fileprivate let environment: OpaquePointer
    fileprivate private(set) var database: MDB_dbi = 0
    private let opening: EngineOpening
    private let calls: CountedCalls

    /// Makes the file, or opens it.
    package init(_ opening: EngineOpening) throws {
      self.opening = opening
      calls = try CountedCalls(opening.path)
      environment = try Self.open(opening)
      var transaction: OpaquePointer?
      try check(mdb_txn_begin(environment, nil, 0, &transaction))
      try check(
        mdb_dbi_open(transaction, nil, UInt32(MDB_INTEGERKEY | MDB_CREATE), &database))
      try check(mdb_txn_commit(transaction))
      // The first commit of an empty table writes nothing that counts.
      var first = Row()
      first.id = 0
      let connection = try openConnection()
      if try mapStatistics().ms_entries == 0 {
        try connection.beginWriting()
        try connection.insert(first)
        _ = try connection.delete(0)
        _ = try connection.commit()
        try calls.check(opening.durability)
      }
    }

    /// The largest map that the address space takes: it cannot grow while somebody reads.
    private static func open(_ opening: EngineOpening) throws -> OpaquePointer {
      var bytes = 1 << 40
      while true {
        var environment: OpaquePointer?
        try check(mdb_env_create(&environment))
        try check(mdb_env_set_mapsize(environment, bytes))
        try check(mdb_env_set_maxreaders(environment, UInt32(opening.transactionsMax)))
        var flags = MDB_NOSUBDIR | MDB_NOTLS | MDB_NOMEMINIT
        if opening.durability == .memory { flags |= MDB_NOSYNC }
        let result = mdb_env_open(environment, opening.path, UInt32(flags), 0o644)
        if result == 0, let environment { return environment }
        mdb_env_close(environment)
        guard result == ENOMEM, bytes > 1 << 30 else {
          throw EngineFailure(
            "lmdb: '\(opening.path)' cannot be opened: \(String(cString: mdb_strerror(result)))")
        }
        bytes /= 2
      }
    }

    package var files: [String] { [opening.path, opening.path + "-lock"] }
    package var counts: (syncs: UInt64, bytes: UInt64) { calls.counts }

    package func openConnection() throws -> LMDBConnection { try LMDBConnection(self) }

    private func mapStatistics() throws -> MDB_stat {
      var statistics = MDB_stat()
      try check(mdb_env_stat(environment, &statistics))
      return statistics
    }

    /// The pages of the objects' tree and of that of free pages, and the two meta pages.
    package func space() throws -> (live: UInt64?, free: UInt64?) {
      var transaction: OpaquePointer?
      try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
      defer { mdb_txn_abort(transaction) }
      let (pages, bytes) = try livePages(transaction)
      return (UInt64(pages * bytes), nil)
    }

    private func livePages(_ transaction: OpaquePointer?) throws -> (pages: Int, bytes: Int) {
      var (pages, bytes) = (2, 0)
      for database: MDB_dbi in [0, database] {
        var statistics = MDB_stat()
        try check(mdb_stat(transaction, database, &statistics))
        pages +=
          statistics.ms_branch_pages + statistics.ms_leaf_pages + statistics.ms_overflow_pages
        bytes = Int(statistics.ms_psize)
      }
      return (pages, bytes)
    }

    /// From the table of readers: a line each, with its transaction or a dash.
    package func readVersions() throws -> (oldest: UInt64, count: Int)? {
      var text = Data()
      let result = withUnsafeMutablePointer(to: &text) { text in
        mdb_reader_list(
          environment,
          { line, context in
            guard let line, let context else { return 0 }
            context.assumingMemoryBound(to: Data.self).pointee
              .append(contentsOf: String(cString: line).utf8)
            return 0
          }, text)
      }
      guard result >= 0 else { return nil }
      let versions = Set(
        String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
          line.split(separator: " ").last.flatMap { UInt64($0) }
        })
      var information = MDB_envinfo()
      try check(mdb_env_info(environment, &information))
      let newest = UInt64(information.me_last_txnid)
      return (versions.min() ?? newest, versions.union([newest]).count)
    }

    /// Every page is a meta page, of a tree, or in the list of free pages; LMDB has no check of its
    /// own.
    package func findings() throws -> [String] {
      // The length is the newest commit's: without pause another one may come between.
      for _ in 0..<1_000 {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        var information = MDB_envinfo()
        try check(mdb_env_info(environment, &information))
        guard information.me_last_txnid == mdb_txn_id(transaction) else { continue }
        let (live, _) = try livePages(transaction)
        let free = try freePages(transaction)
        let all = information.me_last_pgno + 1
        return live + free == all
          ? [] : ["\(live) pages are in use and \(free) are free, of \(all)"]
      }
      return []
    }

    private func freePages(_ transaction: OpaquePointer?) throws -> Int {
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, 0, &cursor))
      defer { mdb_cursor_close(cursor) }
      var (key, value) = (MDB_val(), MDB_val())
      var pages = 0
      var result = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
      while result == 0 {
        // A list begins with its length.
        pages += value.mv_data.loadUnaligned(as: Int.self)
        result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
      }
      if result != MDB_NOTFOUND { try check(result) }
      return pages
    }

    package func close() {
      mdb_env_close(environment)
      calls.end()
    }
  }

  /// Turns a result code of LMDB into an error.
  @inline(__always)
  private func check(_ result: Int32) throws {
    if result != 0 { throw EngineFailure("lmdb: \(String(cString: mdb_strerror(result)))") }
  }

  /// A transaction at a time.
  package final class LMDBConnection: EngineConnection {
    private let engine: LMDBEngine
    /// Reset between two snapshots: keeps its slot, holds no version.
    private let reader: OpaquePointer
    private var isReading = false
    private var writer: OpaquePointer?
    private var record: [UInt8] = []

    init(_ engine: LMDBEngine) throws {
      self.engine = engine
      var reader: OpaquePointer?
      try check(mdb_txn_begin(engine.environment, nil, UInt32(MDB_RDONLY), &reader))
      guard let reader else { throw EngineFailure("lmdb: no transaction") }
      self.reader = reader
      mdb_txn_reset(reader)
    }

    deinit {
      rollBack()
      mdb_txn_abort(reader)
    }

    private var transaction: OpaquePointer { writer ?? reader }

    package func beginReading() throws -> UInt64 {
      try check(mdb_txn_renew(reader))
      isReading = true
      return UInt64(mdb_txn_id(reader))
    }

    package func endReading() {
      if isReading { mdb_txn_reset(reader) }
      isReading = false
    }

    package func beginWriting() throws {
      try check(mdb_txn_begin(engine.environment, nil, 0, &writer))
    }

    package func commit() throws -> UInt64 {
      let number = UInt64(mdb_txn_id(transaction))
      // Whether it works or not, the transaction is gone.
      let ending = writer
      writer = nil
      try check(mdb_txn_commit(ending))
      return number
    }

    package func rollBack() {
      if let writer { mdb_txn_abort(writer) }
      writer = nil
    }

    // MARK: - Objects

    @inline(__always)
    private func withKey<Value>(_ id: Int, _ body: (inout MDB_val) throws -> Value) rethrows
      -> Value
    {
      var number = UInt(bitPattern: id)
      return try withUnsafeMutableBytes(of: &number) { bytes in
        var key = MDB_val(mv_size: MemoryLayout<UInt>.size, mv_data: bytes.baseAddress)
        return try body(&key)
      }
    }

    /// The bytes of a record, which stay until the next change or the end of the transaction.
    @inline(__always)
    private func find(_ key: Int) throws -> UnsafeRawBufferPointer? {
      var value = MDB_val()
      let result = withKey(key) { mdb_get(transaction, engine.database, &$0, &value) }
      if result == MDB_NOTFOUND { return nil }
      try check(result)
      return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    package func read(_ key: Int, _ parts: RowParts, into row: inout Row) throws -> Bool {
      guard let bytes = try find(key) else { return false }
      LMDBRecord.read(key, bytes, parts, into: &row)
      return true
    }

    private func forEach(
      from first: Int, _ body: (Int, UnsafeRawBufferPointer) -> Bool
    ) throws {
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, engine.database, &cursor))
      defer { mdb_cursor_close(cursor) }
      var value = MDB_val()
      try withKey(first) { key in
        var result = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
        while result == 0 {
          let number = key.mv_data.loadUnaligned(as: Int.self)
          let bytes = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
          guard body(number, bytes) else { return }
          result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        if result != MDB_NOTFOUND { try check(result) }
      }
    }

    package func scan(from key: Int, into rows: inout [Row]) throws -> Int {
      var count = 0
      let length = rows.count
      if length == 0 { return 0 }
      try rows.withUnsafeMutableBufferPointer { rows in
        try forEach(from: key) { key, bytes in
          LMDBRecord.read(key, bytes, .all, into: &rows[count])
          count += 1
          return count < length
        }
      }
      return count
    }

    package func total() throws -> TableTotal {
      var total = TableTotal()
      try forEach(from: 0) { _, bytes in
        total.add(
          balance: LMDBRecord.integer(bytes, LMDBRecord.balance),
          changes: LMDBRecord.integer(bytes, LMDBRecord.changes),
          stamp: LMDBRecord.integer(bytes, LMDBRecord.stamp))
        return true
      }
      return total
    }

    package func insert(_ row: Row) throws { try put(row, UInt32(MDB_RESERVE)) }

    package func store(_ row: Row, _ parts: RowParts) throws {
      guard parts == .account else {
        // The rest of the record is as it was.
        var whole = Row()
        guard try read(row.id, .all, into: &whole) else { return }
        whole.stamp = row.stamp
        whole.payload = row.payload
        switch parts {
        case .all:
          whole.age = row.age
          whole.score = row.score
          whole.balance = row.balance
        case .record: whole.changes = row.changes
        default: break
        }
        return try put(whole, UInt32(MDB_RESERVE))
      }
      guard let bytes = try find(row.id) else { return }
      record.removeAll(keepingCapacity: true)
      record.append(contentsOf: bytes)
      try record.withUnsafeMutableBytes { record in
        LMDBRecord.setAccount(row, record)
        var value = MDB_val(mv_size: record.count, mv_data: record.baseAddress)
        try withKey(row.id) { try check(mdb_put(writer, engine.database, &$0, &value, 0)) }
      }
    }

    private func put(_ row: Row, _ flags: UInt32) throws {
      var name = row.name
      try name.withUTF8 { name in
        var value = MDB_val(
          mv_size: LMDBRecord.content + name.count + row.payload.count, mv_data: nil)
        try withKey(row.id) { try check(mdb_put(writer, engine.database, &$0, &value, flags)) }
        LMDBRecord.write(
          row, name, to: UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size))
      }
    }

    package func delete(_ key: Int) throws -> Bool {
      let result = withKey(key) { mdb_del(writer, engine.database, &$0, nil) }
      if result == MDB_NOTFOUND { return false }
      try check(result)
      return true
    }
  }

  /// An object as it is stored: numbers of eight bytes, the length of the name, name and payload.
  private enum LMDBRecord {
    private static let age = 0
    private static let score = 8
    static let balance = 16
    static let changes = 24
    static let stamp = 32
    private static let nameLength = 40
    static let content = 48

    @inline(__always)
    static func integer(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Int {
      bytes.loadUnaligned(fromByteOffset: place, as: Int.self)
    }

    @inline(__always)
    static func read(
      _ key: Int, _ bytes: UnsafeRawBufferPointer, _ parts: RowParts, into row: inout Row
    ) {
      row.id = key
      row.balance = integer(bytes, balance)
      row.changes = integer(bytes, changes)
      row.stamp = integer(bytes, stamp)
      guard parts == .all else { return }
      row.age = integer(bytes, age)
      row.score = bytes.loadUnaligned(fromByteOffset: score, as: Double.self)
      let end = content + integer(bytes, nameLength)
      row.name = String(decoding: bytes[content..<end], as: UTF8.self)
      row.setPayload(UnsafeRawBufferPointer(rebasing: bytes[end...]))
    }

    static func setAccount(_ row: Row, _ bytes: UnsafeMutableRawBufferPointer) {
      bytes.storeBytes(of: row.balance, toByteOffset: balance, as: Int.self)
      bytes.storeBytes(of: row.changes, toByteOffset: changes, as: Int.self)
      bytes.storeBytes(of: row.stamp, toByteOffset: stamp, as: Int.self)
    }

    static func write(
      _ row: Row, _ name: UnsafeBufferPointer<UInt8>, to bytes: UnsafeMutableRawBufferPointer
    ) {
      setAccount(row, bytes)
      bytes.storeBytes(of: row.age, toByteOffset: age, as: Int.self)
      bytes.storeBytes(of: row.score, toByteOffset: score, as: Double.self)
      bytes.storeBytes(of: name.count, toByteOffset: nameLength, as: Int.self)
      let end = content + name.count
      UnsafeMutableRawBufferPointer(rebasing: bytes[content..<end]).copyBytes(from: name)
      row.payload.withUnsafeBytes { payload in
        UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyBytes(from: payload)
      }
    }
  }
#endif
