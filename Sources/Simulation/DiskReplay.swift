// What a disk holds after some operations: durable for certain, and what a power cut may or may not
// leave of the rest. Pure values; SimulatedDisk makes files of them.
//
// The model of the page cache and the disk below it:
// - a sector of 512 bytes is written whole or not at all, so it holds one of the contents that it
//   had since the file's last synchronize, never a mixture; sectors are independent of each other;
// - the length of a file is one of those that it had since then, earlier ones before later ones;
// - the entries of a folder are those after some prefix of its changes since its last synchronize;
// - a failed synchronize leaves its writes visible, and later ones pass over the pages they are in
//   until these are written again.
package import Platform

/// Something that changed a simulated disk.
package struct DiskOperation: Sendable, CustomStringConvertible {
  /// What happened.
  ///
  /// Files are named by their number on the disk.
  package enum Kind: Sendable {
    case create(path: String, file: UInt64)
    case rename(path: String, newPath: String, file: UInt64)
    case remove(path: String)
    case write(file: UInt64, offset: UInt64, bytes: [UInt8])
    case setLength(file: UInt64, length: UInt64)
    /// Covers the file's operations below a number: those that came before the call began.
    case synchronize(file: UInt64, below: Int)
    case failedSynchronize(file: UInt64)
    case synchronizeFolder(path: String)
  }

  package let kind: Kind
  package let thread: ThreadToken

  package var description: String {
    switch kind {
    case .create(let path, let file): "create \(path) as file \(file)"
    case .rename(let path, let newPath, _): "rename \(path) to \(newPath)"
    case .remove(let path): "remove \(path)"
    case .write(let file, let offset, let bytes):
      "write \(bytes.count) at \(offset) of file \(file)"
    case .setLength(let file, let length): "set length \(length) of file \(file)"
    case .synchronize(let file, let limit):
      "synchronize file \(file) below operation \(limit)"
    case .failedSynchronize(let file): "synchronize file \(file), failed"
    case .synchronizeFolder(let path): "synchronize folder \(path)"
    }
  }
}

/// What a power cut leaves of the operations that were not synchronized.
package enum PowerCut: CaseIterable, Sendable {
  /// None of them.
  case keepsNothing
  /// All of them, as after the kill of a process.
  case keepsEverything
  /// Those before a random one.
  case keepsPrefix
  /// Those before a random one, and some sectors of that.
  case tearsOne
  /// Each write whole or not at all.
  case picksWrites
  /// Each sector on its own.
  case picksSectors
}

/// Files and folders as they are on the medium.
struct DurableState: Sendable {
  var files: [UInt64: SparseBytes] = [:]
  var directory: [String: UInt64] = [:]
}

/// The durable state after a number of operations, and the operations that are not durable yet.
struct DiskReplay: Sendable {
  static let sectorLength: UInt64 = 512
  static let cachePageLength: UInt64 = 4096

  private enum Change {
    case write(offset: UInt64, bytes: [UInt8])
    case length(UInt64)
  }

  private struct PendingChange {
    let operation: Int
    var change: Change
    /// Set by a failed synchronize: the next one does not write it.
    var isLost = false
  }

  private struct PendingEntry {
    let operation: Int
    let folder: String
    let kind: DiskOperation.Kind
  }

  private(set) var durable: DurableState
  /// Operations taken so far.
  private(set) var position = 0
  private var pending: [UInt64: [PendingChange]] = [:]
  private var entries: [PendingEntry] = []
  /// Lengths as the cache has them.
  private var lengths: [UInt64: UInt64]

  init(_ durable: DurableState) {
    self.durable = durable
    lengths = durable.files.mapValues(\.length)
  }

  // MARK: - Taking operations

  mutating func take(_ operation: DiskOperation) {
    switch operation.kind {
    case .create(let path, let file):
      lengths[file] = 0
      entries.append(
        PendingEntry(operation: position, folder: folder(of: path), kind: operation.kind))
    case .rename(_, let path, _), .remove(let path):
      entries.append(
        PendingEntry(operation: position, folder: folder(of: path), kind: operation.kind))
    case .write(let file, let offset, let bytes):
      note(file, .write(offset: offset, bytes: bytes))
      let end = offset + UInt64(bytes.count)
      if end > lengths[file] ?? 0 { setLength(file, end) }
    case .setLength(let file, let length):
      setLength(file, length)
    case .synchronize(let file, let limit):
      synchronize(file, below: limit)
    case .failedSynchronize(let file):
      for index in (pending[file] ?? []).indices {
        if case .write = pending[file]![index].change { pending[file]![index].isLost = true }
      }
    case .synchronizeFolder(let path):
      for entry in entries where entry.folder == path { Self.apply(entry, to: &durable.directory) }
      entries.removeAll { $0.folder == path }
    }
    position += 1
  }

  private mutating func note(_ file: UInt64, _ change: Change) {
    pending[file, default: []].append(PendingChange(operation: position, change: change))
  }

  private mutating func setLength(_ file: UInt64, _ length: UInt64) {
    lengths[file] = length
    note(file, .length(length))
  }

  private mutating func synchronize(_ file: UInt64, below limit: Int) {
    guard let all = pending.removeValue(forKey: file) else { return }
    // Changes are in the order of their operations.
    let changes = all.prefix { $0.operation < limit }
    var content = durable.files[file] ?? SparseBytes()
    // The kernel writes whole pages, so a page that was written again takes its lost bytes along.
    var dirtyPages: Set<UInt64>?
    if changes.contains(where: \.isLost) {
      dirtyPages = []
      for case .write(let offset, let bytes) in changes.lazy.filter({ !$0.isLost }).map(\.change) {
        Self.forEachPiece(of: bytes, at: offset, length: Self.cachePageLength) { page, _ in
          dirtyPages?.insert(page)
        }
      }
    }
    var stillLost: [PendingChange] = []
    for change in changes {
      switch change.change {
      case .length(let length):
        if length < content.length {
          content.cut(from: length)
          // What lay behind is gone for good, and cutting a page writes it.
          stillLost.removeAll { lost in
            guard case .write(let offset, let bytes) = lost.change else { return false }
            return offset + UInt64(bytes.count) > length
          }
        }
        content.length = length
      case .write(let offset, let bytes):
        guard change.isLost, let dirtyPages else {
          content.place(bytes[...], at: offset)
          continue
        }
        Self.forEachPiece(of: bytes, at: offset, length: Self.cachePageLength) { page, piece in
          let start = offset + UInt64(piece.startIndex)
          if dirtyPages.contains(page) {
            content.place(piece, at: start)
          } else {
            var rest = change
            rest.change = .write(offset: start, bytes: Array(piece))
            stillLost.append(rest)
          }
        }
      }
    }
    durable.files[file] = content
    let rest = stillLost + all.dropFirst(changes.count)
    if !rest.isEmpty { pending[file] = rest }
  }

  /// What who reads past the page cache finds: all that was written, but what a failed synchronize
  /// has lost.
  func bytesOnDisk(of file: UInt64, at offset: UInt64, length: Int) -> [UInt8] {
    // What would be durable after another synchronize.
    var written = self
    written.synchronize(file, below: position)
    let content = written.durable.files[file] ?? SparseBytes()
    return content.bytes(at: offset, length: length)
  }

  // MARK: - Power cuts

  /// A state that the disk may be in when the power goes now.
  func afterPowerCut(_ cut: PowerCut, _ random: inout RandomGenerator) -> DurableState {
    let undecided = pending.values.joined().map(\.operation) + entries.map(\.operation)
    let first = undecided.min() ?? position
    // For the ordered cuts: operations below `limit` are kept.
    var limit = position
    switch cut {
    case .keepsNothing: limit = 0
    case .keepsEverything: break
    case .keepsPrefix, .tearsOne:
      limit = first + Int(random.next(upperBound: UInt64(position - first + 1)))
    case .picksWrites, .picksSectors: limit = 0
    }
    var state = durable
    // Sorted, so that the same seed gives the same state.
    for file in pending.keys.sorted() {
      state.files[file] = content(of: file, cut, limit: limit, &random)
    }
    var folderLimits: [String: Int] = [:]
    for entry in entries where folderLimits[entry.folder] == nil {
      switch cut {
      case .picksWrites, .picksSectors:
        folderLimits[entry.folder] =
          first + Int(random.next(upperBound: UInt64(position - first + 1)))
      default: folderLimits[entry.folder] = limit
      }
    }
    for entry in entries where entry.operation < folderLimits[entry.folder]! {
      Self.apply(entry, to: &state.directory)
    }
    // A file whose entry was kept but none of its content is empty.
    for file in state.directory.values where state.files[file] == nil {
      state.files[file] = SparseBytes()
    }
    let named = Set(state.directory.values)
    state.files = state.files.filter { named.contains($0.key) }
    return state
  }

  private func content(
    of file: UInt64, _ cut: PowerCut, limit: Int, _ random: inout RandomGenerator
  ) -> SparseBytes {
    let changes = pending[file]!
    var content = durable.files[file] ?? SparseBytes()
    // The last write that each sector was reached by on the medium; earlier ones are in it.
    var lastWrite: [UInt64: Int] = [:]
    for (index, change) in changes.enumerated() {
      guard case .write(let offset, let bytes) = change.change else { continue }
      let isWholeKept = change.operation < limit || (cut == .picksWrites && random.oneIn(2))
      let isTorn = cut == .picksSectors || (cut == .tearsOne && change.operation == limit)
      guard isWholeKept || isTorn else { continue }
      Self.forEachPiece(of: bytes, at: offset, length: Self.sectorLength) { sector, _ in
        if isWholeKept || random.oneIn(2) { lastWrite[sector] = index }
      }
    }
    let lengthCount = changes.count { if case .length = $0.change { true } else { false } }
    var lengthsLeft = Int.max
    if cut == .picksWrites || cut == .picksSectors {
      lengthsLeft = Int(random.next(upperBound: UInt64(lengthCount + 1)))
    }
    for (index, change) in changes.enumerated() {
      switch change.change {
      case .write(let offset, let bytes):
        Self.forEachPiece(of: bytes, at: offset, length: Self.sectorLength) { sector, piece in
          if let last = lastWrite[sector], index <= last {
            content.place(piece, at: offset + UInt64(piece.startIndex))
          }
        }
      case .length(let length):
        // Of a torn write both are possible: its new length or the old one.
        let isKept =
          lengthsLeft != Int.max
          ? lengthsLeft > 0
          : change.operation < limit
            || (cut == .tearsOne && change.operation == limit && random.oneIn(2))
        guard isKept else { continue }
        if lengthsLeft != Int.max { lengthsLeft -= 1 }
        if length < content.length { content.cut(from: length) }
        content.length = length
      }
    }
    content.setLength(content.length)
    return content
  }

  private static func apply(_ entry: PendingEntry, to directory: inout [String: UInt64]) {
    switch entry.kind {
    case .create(let path, let file): directory[path] = file
    case .rename(let path, let newPath, let file):
      if directory[path] == file { directory[path] = nil }
      directory[newPath] = file
    case .remove(let path): directory[path] = nil
    default: preconditionFailure("not a change of a folder")
    }
  }

  /// Calls `body` with the number of each aligned piece that the bytes touch, and its bytes.
  private static func forEachPiece(
    of bytes: [UInt8], at offset: UInt64, length: UInt64,
    _ body: (UInt64, ArraySlice<UInt8>) -> Void
  ) {
    var done = 0
    while done < bytes.count {
      let start = offset + UInt64(done)
      let count = min(bytes.count - done, Int(length - start % length))
      body(start / length, bytes[done..<done + count])
      done += count
    }
  }
}
