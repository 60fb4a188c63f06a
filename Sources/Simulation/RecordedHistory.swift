// What a recording of real processes holds, as the history of a simulated disk, for power cuts at
// any point of it.
internal import Platform

/// The operations of some processes in their order, and what they have noted between them.
package struct RecordedHistory: Sendable {
  package struct Mark: Sendable {
    /// Operations before it.
    package let position: Int
    package let process: UInt32
    package let name: String
    package let number: UInt64
    package let value: UInt64
  }

  package private(set) var operations: [DiskOperation] = []
  package private(set) var marks: [Mark] = []
  /// Processes by how many operations each has.
  package private(set) var processes: [UInt32: Int] = [:]
  /// Of each entry where it ends in the recording, and how many operations there are then.
  private var ends: [(end: UInt64, operations: Int)] = []
  private var directory: [String: UInt64] = [:]
  /// Numbers of the files by their inodes, which the system gives again.
  private var files: [UInt64: UInt64] = [:]
  private var lastFile: UInt64 = 0

  /// - Precondition: a whole recording that begins in an empty folder.
  package init(_ recording: [UInt8]) {
    recording.withUnsafeBytes { bytes in
      var position = 0
      while position < bytes.count {
        let length = Int(bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
        let entry = position + 4
        precondition(entry + length <= bytes.count, "a recording that ends in an entry")
        position = entry + length
        take(RecordedEntry(bytes[entry..<position]))
        ends.append((UInt64(position), operations.count))
      }
    }
  }

  /// How many operations there were when a process did its last one; nil where it did none.
  package func lastPosition(of process: UInt32) -> Int? {
    operations.lastIndex { $0.thread == ThreadToken(rawValue: UInt64(process)) }.map { $0 + 1 }
  }

  private mutating func take(_ entry: RecordedEntry) {
    let (process, inode, number, bytes) = (entry.process, entry.file, entry.number, entry.bytes)
    func add(_ kind: DiskOperation.Kind) {
      operations.append(
        DiskOperation(kind: kind, thread: ThreadToken(rawValue: UInt64(process))))
      processes[process, default: 0] += 1
    }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    precondition(!entry.needsFile || files[inode] != nil, "nobody has made the file \(inode)")
    switch entry.call {
    case .create:
      lastFile += 1
      files[inode] = lastFile
      directory[text] = lastFile
      add(.create(path: text, file: lastFile))
    case .rename:
      let paths = text.split(separator: "\n").map(String.init)
      let file = directory.removeValue(forKey: paths[0])!
      directory[paths[1]] = file
      add(.rename(path: paths[0], newPath: paths[1], file: file))
    case .remove:
      directory[text] = nil
      add(.remove(path: text))
    case .write: add(.write(file: files[inode]!, offset: number, bytes: Array(bytes)))
    case .durableWrite:
      add(.write(file: files[inode]!, offset: number, bytes: Array(bytes)))
      // Only logs are written so, and by nothing else.
      add(.synchronize(file: files[inode]!, below: operations.count))
    case .setLength: add(.setLength(file: files[inode]!, length: number))
    case .synchronize:
      let covered = ends.last { $0.end <= number }?.operations ?? 0
      add(.synchronize(file: files[inode]!, below: covered))
    case .synchronizeFolder: add(.synchronizeFolder(path: text))
    case .mark:
      marks.append(
        Mark(
          position: operations.count, process: process, name: text, number: number, value: inode))
    }
  }
}

/// One entry of a recording; see RecordingFileSystem.swift.
private struct RecordedEntry {
  /// Bytes before those that the call is about.
  private static let headLength = 21

  let call: RecordedCall
  let process: UInt32
  let file: UInt64
  let number: UInt64
  let bytes: Slice<UnsafeRawBufferPointer>

  init(_ entry: Slice<UnsafeRawBufferPointer>) {
    let head = UnsafeRawBufferPointer(rebasing: entry)
    call = RecordedCall(rawValue: head[0])!
    process = head.loadUnaligned(fromByteOffset: 1, as: UInt32.self)
    file = head.loadUnaligned(fromByteOffset: 5, as: UInt64.self)
    number = head.loadUnaligned(fromByteOffset: 13, as: UInt64.self)
    bytes = entry.dropFirst(Self.headLength)
  }

  /// Whether it is about a file that has to be there.
  var needsFile: Bool {
    switch call {
    case .write, .durableWrite, .setLength, .synchronize: true
    case .create, .rename, .remove, .synchronizeFolder, .mark: false
    }
  }
}

extension SimulatedDisk {
  /// A disk that has gone through the same as the real one, for its images.
  package convenience init(_ history: RecordedHistory) {
    self.init()
    state.withLock { $0.operations = history.operations }
  }
}
