// LMDB, set up as its documents advise for speed:
// - one environment a process, the map larger than the file will ever be;
// - MDB_INTEGERKEY: keys are numbers of the machine's own form; objects are packed records, read in
//   place;
// - MDB_NOTLS, and each reader resets and renews one transaction, so that its slot stays its own;
// - MDB_NOMEMINIT: no zeroing of pages that are overwritten anyway;
// - bulk: MDB_APPEND by a cursor in key order, values written into the page (MDB_RESERVE);
// - a change finds its object and writes it back by one cursor (MDB_CURRENT): one descent (get and
//   put measured the same);
// - `full` syncs pages and meta page; `memory` is MDB_NOSYNC; `memory-writemap` MDB_NOSYNC and
//   MDB_WRITEMAP, the fastest it has (MDB_MAPASYNC would add a system call a commit);
// - a file that is not in memory: MDB_NORDAHEAD, since lookups are at random places.
import CLMDB
import Foundation

final class LMDBEngine: Engine, @unchecked Sendable {
  // @unchecked: an environment may be used by all threads.
  let environment: OpaquePointer
  private(set) var database: MDB_dbi = 0
  private let path: String

  init(_ settings: EngineSettings) throws {
    path = settings.folder + "/person.lmdb"
    var environment: OpaquePointer?
    try checkLMDB(mdb_env_create(&environment))
    self.environment = environment!
    try checkLMDB(mdb_env_set_mapsize(self.environment, max(4 << 30, settings.objects * 512)))
    try checkLMDB(mdb_env_set_maxreaders(self.environment, UInt32(settings.pins + 64)))
    var flags = MDB_NOSUBDIR | MDB_NOTLS | MDB_NOMEMINIT
    switch settings.durability {
    case .full: break
    case .normal: throw PeerError("lmdb: no such durability")
    case .memory: flags |= MDB_NOSYNC
    case .memoryThroughMap: flags |= MDB_NOSYNC | MDB_WRITEMAP
    }
    if settings.isCold { flags |= MDB_NORDAHEAD }
    let isNew = try sizeOfFile(path) == 0
    try checkLMDB(mdb_env_open(self.environment, path, UInt32(flags), 0o644))
    var transaction: OpaquePointer?
    try checkLMDB(
      mdb_txn_begin(self.environment, nil, isNew ? 0 : UInt32(MDB_RDONLY), &transaction))
    try checkLMDB(
      mdb_dbi_open(
        transaction, nil, UInt32(MDB_INTEGERKEY | (isNew ? MDB_CREATE : 0)), &database))
    try checkLMDB(mdb_txn_commit(transaction))
  }

  var files: [String] { [path] }

  func openSession() throws -> any Session { try LMDBSession(self) }

  /// Up to the last page in use: with a writable map the file is as long as the map, a hole.
  func fileBytes() throws -> Int {
    var information = MDB_envinfo()
    try checkLMDB(mdb_env_info(environment, &information))
    var statistics = MDB_stat()
    try checkLMDB(mdb_env_stat(environment, &statistics))
    return (information.me_last_pgno + 1) * Int(statistics.ms_psize)
  }

  /// The pages of the objects' tree and of that of free pages, and the two meta pages.
  func liveBytes() throws -> Int {
    let reader = try LMDBReader(self)
    var pages = 2
    var pageBytes = 0
    for database: MDB_dbi in [0, database] {
      var statistics = MDB_stat()
      try checkLMDB(mdb_stat(reader.transaction, database, &statistics))
      pages +=
        statistics.ms_branch_pages + statistics.ms_leaf_pages + statistics.ms_overflow_pages
      pageBytes = Int(statistics.ms_psize)
    }
    return pages * pageBytes
  }

  func visibleBytes() throws -> Int? { nil }

  func close() throws {
    mdb_env_close(environment)
    try waitUntilClosed(path)
  }
}

/// Turns a result code of LMDB into an error.
@inline(__always)
func checkLMDB(_ result: Int32) throws {
  if result != 0 { throw lmdbFailure(result) }
}

@inline(never)
private func lmdbFailure(_ result: Int32) -> PeerError {
  PeerError("lmdb: \(String(cString: mdb_strerror(result)))")
}

/// A read transaction that holds the version that it began on.
final class LMDBReader {
  let transaction: OpaquePointer

  init(_ engine: LMDBEngine) throws {
    var transaction: OpaquePointer?
    try checkLMDB(mdb_txn_begin(engine.environment, nil, UInt32(MDB_RDONLY), &transaction))
    self.transaction = transaction!
  }

  deinit { mdb_txn_abort(transaction) }
}

/// An object as LMDB stores it: score, age, lengths, then name and payload.
enum LMDBRecord {
  static let ageOffset = 8
  private static let nameLengthOffset = 9
  private static let payloadLengthOffset = 10
  private static let contentOffset = 12
  static let bytes = contentOffset + Population.nameBytes + Population.payloadBytes

  @inline(__always)
  static func age(_ value: MDB_val) -> Int {
    Int(value.mv_data.load(fromByteOffset: ageOffset, as: UInt8.self))
  }

  @inline(__always)
  static func name(_ value: MDB_val) -> UnsafeRawBufferPointer {
    let length = value.mv_data.load(fromByteOffset: nameLengthOffset, as: UInt8.self)
    return UnsafeRawBufferPointer(start: value.mv_data + contentOffset, count: Int(length))
  }

  static func write(_ id: Int, _ population: Population, to place: UnsafeMutableRawPointer) {
    let name = population.name(id)
    let payload = population.payload(id)
    place.storeBytes(of: Population.score(id), as: Double.self)
    place.storeBytes(of: UInt8(Population.age(id)), toByteOffset: ageOffset, as: UInt8.self)
    place.storeBytes(of: UInt8(name.count), toByteOffset: nameLengthOffset, as: UInt8.self)
    place.storeBytes(
      of: UInt16(payload.count), toByteOffset: payloadLengthOffset, as: UInt16.self)
    (place + contentOffset).copyMemory(from: name.baseAddress!, byteCount: name.count)
    (place + contentOffset + name.count)
      .copyMemory(from: payload.baseAddress!, byteCount: payload.count)
  }

  static func read(_ id: Int, _ value: MDB_val) -> PersonValues {
    let bytes = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    let nameEnd = contentOffset + Int(bytes[nameLengthOffset])
    let payloadLength = Int(
      bytes.loadUnaligned(fromByteOffset: payloadLengthOffset, as: UInt16.self))
    return PersonValues(
      id: id, name: String(decoding: bytes[contentOffset..<nameEnd], as: UTF8.self),
      age: age(value), score: bytes.loadUnaligned(as: Double.self),
      payload: Array(bytes[nameEnd..<nameEnd + payloadLength]))
  }
}
