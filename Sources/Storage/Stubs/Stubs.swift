internal import Platform
internal import Synchronization

enum SpaceCodingError: Error { case bad }
struct SpaceDelta {
  var version: Version, taken: [Run], dead: [Run]
  var encodedLengthMax: Int { 30 + 20 * (taken.count + dead.count) }
  func append(to bytes: inout [UInt8]) {
    bytes.appendVariableLength(version.rawValue)
    for l in [taken, dead] { bytes.appendVariableLength(UInt64(l.count)); for r in l { bytes.appendVariableLength(r.offset); bytes.appendVariableLength(r.length) } }
  }
  static func decodeAll(_ bytes: [UInt8]) throws(SpaceCodingError) -> [SpaceDelta] {
    let r: [SpaceDelta]? = bytes.withUnsafeBytes { b in
      var p = 0; var out: [SpaceDelta] = []
      while p < b.count {
        guard let v = b.variableLength(at: &p, end: b.count) else { return nil }
        var ls: [[Run]] = []
        for _ in 0..<2 { guard let c = b.variableLength(at: &p, end: b.count) else { return nil }; var l: [Run] = []
          for _ in 0..<c { guard let o = b.variableLength(at: &p, end: b.count), let n = b.variableLength(at: &p, end: b.count) else { return nil }; l.append(Run(offset: o, length: n)) }; ls.append(l) }
        out.append(SpaceDelta(version: Version(v), taken: ls[0], dead: ls[1]))
      }
      return out
    }
    guard let r else { throw .bad }
    return r
  }
}
struct SpaceCheckpoint {
  struct Kept { var run: Run; var death: Version }
  var fileLength: UInt64, free: [Run], kept: [Kept]
  static func encodedLengthMax(freeRuns: Int, keptRuns: Int) -> Int { 40 + 20 * freeRuns + 30 * keptRuns }
  init(fileLength: UInt64, free: [Run], kept: [Kept]) { self.fileLength = fileLength; self.free = free; self.kept = kept }
  func encoded() -> [UInt8] {
    var b: [UInt8] = []
    b.appendVariableLength(fileLength); b.appendVariableLength(UInt64(free.count))
    for r in free { b.appendVariableLength(r.offset); b.appendVariableLength(r.length) }
    b.appendVariableLength(UInt64(kept.count))
    for k in kept { b.appendVariableLength(k.run.offset); b.appendVariableLength(k.run.length); b.appendVariableLength(k.death.rawValue) }
    return b
  }
  init(decoding bytes: [UInt8]) throws(SpaceCodingError) {
    var free: [Run] = [], kept: [Kept] = []; var f: UInt64 = 0
    bytes.withUnsafeBytes { b in
      var p = 0; func n() -> UInt64 { b.variableLength(at: &p, end: b.count)! }
      f = n(); for _ in 0..<n() { let o = n(); free.append(Run(offset: o, length: n())) }
      for _ in 0..<n() { let o = n(); let l = n(); kept.append(Kept(run: Run(offset: o, length: l), death: Version(n()))) }
    }
    self.init(fileLength: f, free: free, kept: kept)
  }
}
struct DurableHead: Equatable, Sendable { var version: Version; var home: Int }
struct PinSlot: Sendable { var n = 0 }
struct ForeignPinState { init() {} }
final class LockFile: Sendable {
  let h = Atomic<UInt64>(0), c = Atomic<UInt64>(0)
  static func makePrivate() -> LockFile { LockFile() }
  static func open(dataPath: String, fileIdentifier: (UInt64, UInt64), bootIdentifier: UInt64, fileSystem: any FileSystem) throws(StorageError) -> LockFile { LockFile() }
  var head: DurableHead { let v = h.load(ordering: .acquiring); return DurableHead(version: Version(v >> 8), home: Int(v & 255)) }
  func publishHead(version: Version, home: Int) { h.store(version.rawValue << 8 | UInt64(home), ordering: .releasing) }
  var committed: DurableHead { let v = c.load(ordering: .acquiring); return DurableHead(version: Version(v >> 8), home: Int(v & 255)) }
  func publishCommitted(version: Version, home: Int) { c.store(version.rawValue << 8 | UInt64(home), ordering: .releasing) }
  var wasHeldByAnother: Bool { false }
  var syncFailure: Int32? { nil }
  func markSyncFailed(_ code: Int32) {}
  func clearSyncFailure() {}
  func acquireWriteLock() throws(StorageError) {}
  func tryAcquireWriteLock() throws(StorageError) -> Bool { true }
  func releaseWriteLock() {}
  var otherProcessesWait: Bool { false }
  func publishPin(_ v: Version) -> PinSlot { PinSlot() }
  func withdrawPin(_ s: PinSlot) {}
  func foreignPins(since: inout ForeignPinState, reapNow: Bool) throws(StorageError) -> [Version]? { nil }
  var otherProcesses: Int { 0 }
  func close() {}
  static func withExclusiveUse(dataPath: String, fileSystem: any FileSystem, _ body: () throws(StorageError) -> Void) throws(StorageError) { try body() }
}
