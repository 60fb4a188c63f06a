// LMDB with packed records of nine values. Set up as in Engines/LMDBEngine.swift.
import CLMDB
import Foundation

final class LMDBWide: WideDriver {
  private let engine: LMDBEngine
  private let record = UnsafeMutableRawPointer.allocate(
    byteCount: LMDBWideRecord.bytes, alignment: 8)

  init(folder: String, durability: Durability, objects: Int) throws {
    engine = try LMDBEngine(
      EngineSettings(folder: folder, durability: durability, objects: objects * 4))
  }

  deinit { record.deallocate() }

  func run(_ change: WideChange, _ objects: [WideValues]) throws {
    try writing { cursor in
      switch change {
      case .whole, .wholeNear, .byName, .upsertNone, .upsertSome, .upsertAll:
        for values in objects {
          LMDBWideRecord.write(values, to: record)
          try put(values.id, cursor, 0)
        }
      case .insert, .create:
        for values in objects {
          LMDBWideRecord.write(values, to: record)
          try put(values.id, cursor, UInt32(MDB_APPEND))
        }
      case .number, .text:
        for values in objects {
          try self.change(values.id, cursor) {
            if change == .text {
              LMDBWideRecord.setName(values, in: record)
            } else {
              LMDBWideRecord.setCount(values.count, in: record)
            }
          }
        }
      case .numberWhere:
        for values in objects {
          try self.change(values.id, cursor) {
            LMDBWideRecord.setCount(objects[0].count, in: record)
          }
        }
      case .delete, .deleteWhere:
        for values in objects {
          var value = MDB_val()
          try withKey(values.id) { key in
            try checkLMDB(mdb_cursor_get(cursor, &key, &value, MDB_SET))
            try checkLMDB(mdb_cursor_del(cursor, 0))
          }
        }
      }
    }
  }

  private func put(_ id: Int, _ cursor: OpaquePointer, _ flags: UInt32) throws {
    var value = MDB_val(mv_size: LMDBWideRecord.bytes, mv_data: record)
    try withKey(id) { try checkLMDB(mdb_cursor_put(cursor, &$0, &value, flags)) }
  }

  /// Finds a record, changes a copy of it, and writes that.
  private func change(_ id: Int, _ cursor: OpaquePointer, _ body: () -> Void) throws {
    try withKey(id) { key in
      var value = MDB_val()
      try checkLMDB(mdb_cursor_get(cursor, &key, &value, MDB_SET))
      record.copyMemory(from: value.mv_data, byteCount: value.mv_size)
      body()
      value.mv_data = record
      try checkLMDB(mdb_cursor_put(cursor, &key, &value, UInt32(MDB_CURRENT)))
    }
  }

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

  func values(_ id: Int) throws -> WideValues? {
    let reader = try LMDBReader(engine)
    var value = MDB_val()
    let result = withKey(id) { mdb_get(reader.transaction, engine.database, &$0, &value) }
    if result == MDB_NOTFOUND { return nil }
    try checkLMDB(result)
    return LMDBWideRecord.read(id, value.mv_data)
  }

  func count() throws -> Int {
    let reader = try LMDBReader(engine)
    var statistics = MDB_stat()
    try checkLMDB(mdb_stat(reader.transaction, engine.database, &statistics))
    return Int(statistics.ms_entries)
  }

  func close() throws { try engine.close() }
}

/// Count, rank, score, date, whether it is active; then the texts and the payload, whose lengths
/// are the same in all objects.
private enum LMDBWideRecord {
  private static let nameOffset = 40
  private static let noteOffset = nameOffset + WideValues.nameBytes
  private static let payloadOffset = noteOffset + WideValues.noteBytes
  static let bytes = payloadOffset + WideValues.payloadBytes

  static func write(_ values: WideValues, to place: UnsafeMutableRawPointer) {
    setCount(values.count, in: place)
    place.storeBytes(of: values.rank, toByteOffset: 8, as: Int.self)
    place.storeBytes(of: values.score, toByteOffset: 16, as: Double.self)
    place.storeBytes(
      of: values.date.timeIntervalSinceReferenceDate, toByteOffset: 24, as: Double.self)
    place.storeBytes(of: values.isActive ? 1 : 0, toByteOffset: 32, as: Int.self)
    setName(values, in: place)
    copy(values.note, to: place + noteOffset)
    values.payload.withUnsafeBytes {
      (place + payloadOffset).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
    }
  }

  static func setCount(_ count: Int, in place: UnsafeMutableRawPointer) {
    place.storeBytes(of: count, as: Int.self)
  }

  static func setName(_ values: WideValues, in place: UnsafeMutableRawPointer) {
    copy(values.name, to: place + nameOffset)
  }

  private static func copy(_ text: String, to place: UnsafeMutableRawPointer) {
    var text = text
    text.withUTF8 { place.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
  }

  static func read(_ id: Int, _ place: UnsafeMutableRawPointer) -> WideValues {
    func text(_ offset: Int, _ count: Int) -> String {
      String(decoding: UnsafeRawBufferPointer(start: place + offset, count: count), as: UTF8.self)
    }
    var values = WideValues(id, seed: 0)
    values.count = place.loadUnaligned(as: Int.self)
    values.rank = place.loadUnaligned(fromByteOffset: 8, as: Int.self)
    values.score = place.loadUnaligned(fromByteOffset: 16, as: Double.self)
    values.date = Date(
      timeIntervalSinceReferenceDate: place.loadUnaligned(fromByteOffset: 24, as: Double.self))
    values.isActive = place.loadUnaligned(fromByteOffset: 32, as: Int.self) == 1
    values.name = text(nameOffset, WideValues.nameBytes)
    values.note = text(noteOffset, WideValues.noteBytes)
    values.payload = Data(bytes: place + payloadOffset, count: WideValues.payloadBytes)
    return values
  }
}

/// A key in LMDB's form.
private func withKey<Value>(_ id: Int, _ body: (inout MDB_val) throws -> Value) rethrows -> Value {
  var number = UInt(id)
  return try withUnsafeMutableBytes(of: &number) { bytes in
    var key = MDB_val(mv_size: MemoryLayout<UInt>.size, mv_data: bytes.baseAddress)
    return try body(&key)
  }
}
