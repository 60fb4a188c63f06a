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
    var position = 0
    recording.withUnsafeBytes { bytes in
      while position < bytes.count {
        let length = Int(bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
        let entry = position + 4
        precondition(entry + length <= bytes.count, "a recording that ends in an entry")
        take(UnsafeRawBufferPointer(rebasing: bytes[entry..<entry + length]))
        position = entry + length
        ends.append((UInt64(position), operations.count))
      }
    }
  }

  private mutating func take(_ entry: UnsafeRawBufferPointer) {
    let call = RecordedCall(rawValue: entry[0])!
    let process = entry.loadUnaligned(fromByteOffset: 1, as: UInt32.self)
    let inode = entry.loadUnaligned(fromByteOffset: 5, as: UInt64.self)
    let number = entry.loadUnaligned(fromByteOffset: 13, as: UInt64.self)
    let bytes = entry[21...]
    func add(_ kind: DiskOperation.Kind) {
      operations.append(
        DiskOperation(kind: kind, thread: ThreadToken(rawValue: UInt64(process))))
      processes[process, default: 0] += 1
    }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    switch call {
    case .create:
      // Two that make it at the same time both say so.
      if let known = directory[text], files[inode] == known { return }
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

extension SimulatedDisk {
  /// A disk that has gone through the same as the real one, for its images.
  package convenience init(_ history: RecordedHistory) {
    self.init()
    state.withLock { $0.operations = history.operations }
  }
}
