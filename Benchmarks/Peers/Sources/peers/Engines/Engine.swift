// The seam between rows and engines: an engine with one file, and a session of it for each thread.
// What takes nanoseconds is asked for in bulk, so that each engine's loop is plain code of its own
// and pays nothing for this seam.
import Foundation

/// What a commit promises when it returns.
enum Durability: String, Sendable {
  /// Survives a power cut.
  case full
  /// A power cut may take the last commits back, but never damages the file. Only SQLite has it.
  case normal
  /// Survives the end of the process, not a power cut.
  case memory
  /// As `memory`; LMDB writes through its map instead of by calls.
  case memoryThroughMap = "memory-writemap"

  /// Only contestants of one class are compared.
  var comparedAs: Durability { self == .memoryThroughMap ? .memory : self }
}

/// Which engine.
enum EngineName: String, CaseIterable, Sendable {
  case ours, sqlite, lmdb
  /// The physical limit of a row: what the machine needs for the least work that could do.
  case raw
}

/// An engine with a durability: one line of a row.
struct Contestant: Hashable, Sendable {
  let engine: EngineName
  let durability: Durability

  init(_ engine: EngineName, _ durability: Durability) {
    self.engine = engine
    self.durability = durability
  }

  /// The engines, each with one durability, without the physical limit.
  static func engines(_ durability: Durability) -> [Contestant] {
    [Contestant(.ours, durability), Contestant(.sqlite, durability), Contestant(.lmdb, durability)]
  }
}

/// How an engine is set up, beside its path.
struct EngineSettings: Sendable {
  /// A folder that belongs to this engine and file alone.
  var folder: String
  var durability: Durability
  /// About as many objects will be in the file; sizes caches and maps.
  var objects: Int
  /// At most so many pins are held at once.
  var pins = 0
  /// The file is not in memory and will be read at random places.
  var isCold = false
  /// Bytes of memory that the process may use; nil: more than the file has.
  var memory: Int?
  /// The file should give space back, where an engine has to be told beforehand.
  var shrinks = false
}

/// An engine that has its file open; used by many threads.
protocol Engine: AnyObject, Sendable {
  /// The files that hold the data, without those that only hold locks.
  var files: [String] { get }
  /// A session for the calling thread.
  func openSession() throws -> any Session
  /// Bytes of the file that are in use or were, as a file without holes would have them.
  func fileBytes() throws -> Int
  /// Bytes of the file that hold the newest version's content.
  func liveBytes() throws -> Int
  /// Bytes that some version sees which is kept, the newest included; nil when the engine does not
  /// tell.
  func visibleBytes() throws -> Int?
  /// Lets go of the file. All sessions and pins are gone.
  func close() throws
}

/// One thread's way to the file.
///
/// Keeps no version while nothing is asked of it, once `rest` is called.
protocol Session: AnyObject {
  /// Makes what `insert` needs in the engine's own form, where the engine has one.
  func makeReady(_ population: Population)
  /// Puts all objects in, in one transaction.
  func insert(_ population: Population) throws
  /// Removes objects in one transaction.
  func delete(_ keys: [Int]) throws
  /// Removes all objects in one transaction.
  func deleteAll() throws
  /// Sets the age of one object in one transaction.
  func setAge(_ key: Int, _ age: Int) throws

  func count() throws -> Int
  /// All values of an object, for checks.
  func person(_ key: Int) throws -> PersonValues?
  /// Finds objects by key in the newest version; the sum of their ages. Throws when one is missing.
  func lookup(_ keys: ArraySlice<Int>) throws -> Int
  /// Holds an object and reads its age again and again; the sum. Nil: no such thing.
  func readHeld(_ key: Int, times: Int) throws -> Int?
  /// Goes through all objects and reads the age of each; the sum.
  func iterate() throws -> Int
  /// The sum of all ages, by what the engine has for sums.
  func sumOfAges() throws -> Int
  /// The number of objects of an age.
  func count(age: Int) throws -> Int
  /// The number of objects above an age whose name begins with a text.
  func count(above age: Int, prefix: String) throws -> Int
  /// Takes the newest version and lets it go, again and again.
  func freeze(times: Int) throws
  /// Looks whether there is a newer version, again and again; how often there was.
  func refresh(times: Int) throws -> Int
  /// Keeps the newest version until what is returned is released.
  func pin() throws -> AnyObject
  /// Lets go of the version that was read last.
  func rest()
  /// Does, or waits for, what the engine has for giving space back when idle.
  func settle() throws
}

extension Session {
  func makeReady(_ population: Population) {}
  func rest() {}
}

/// An error of a peer, or a wrong result of any engine.
struct PeerError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension EngineName {
  /// Opens or makes the file.
  ///
  /// `raw` is no engine.
  func open(_ settings: EngineSettings) throws -> any Engine {
    switch self {
    case .ours: try RealmEngine(settings)
    case .sqlite: try SQLiteEngine(settings)
    case .lmdb: try LMDBEngine(settings)
    case .raw: throw PeerError("the physical limit has no engine")
    }
  }
}
