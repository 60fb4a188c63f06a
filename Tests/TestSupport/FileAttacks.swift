// What a disk that lies, or somebody who can write to the file, may make of it: every content that
// it would have without one of its writes, and every one with a page as it was before. Pure values,
// made of the operations of a simulated disk.
internal import Platform

/// What was written to one file of a simulated disk, in order.
package struct WrittenFile {
  static let pageLength = 4096

  private enum Change {
    case write(offset: Int, bytes: [UInt8])
    case length(Int)
  }

  private let changes: [Change]

  /// - Parameter path: the name that the file has in the end.
  package init(_ operations: [DiskOperation], path: String) {
    let number = operations.lazy.compactMap { operation -> UInt64? in
      switch operation.kind {
      case .create(let created, let file) where created == path: file
      case .rename(_, let newPath, let file) where newPath == path: file
      default: nil
      }
    }.last
    var changes: [Change] = []
    for operation in operations {
      switch operation.kind {
      case .write(let file, let offset, let bytes) where file == number:
        changes.append(.write(offset: Int(offset), bytes: bytes))
      case .setLength(let file, let length) where file == number:
        changes.append(.length(Int(length)))
      default: break
      }
    }
    self.changes = changes
  }

  /// The writes, by their place among all changes.
  package var writes: [Int] {
    changes.indices.filter { if case .write = changes[$0] { true } else { false } }
  }

  /// The file's content.
  ///
  /// - Parameter lost: a write that never reached the disk.
  package func content(without lost: Int? = nil) -> [UInt8] {
    var content: [UInt8] = []
    for (index, change) in changes.enumerated() {
      Self.make(change, of: &content, isLost: index == lost)
    }
    return content
  }

  private static func make(_ change: Change, of content: inout [UInt8], isLost: Bool = false) {
    switch change {
    case .length(let length): Self.setLength(length, &content)
    case .write(let offset, let bytes):
      // The length is kept elsewhere on the disk.
      if offset + bytes.count > content.count { setLength(offset + bytes.count, &content) }
      if !isLost { content.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
    }
  }

  private static func setLength(_ length: Int, _ content: inout [UInt8]) {
    if length < content.count {
      content.removeLast(content.count - length)
    } else {
      content.append(contentsOf: repeatElement(0, count: length - content.count))
    }
  }

  /// Each page of the file with every content that it had before and has no more, oldest first.
  package func formerPages() -> [(offset: Int, bytes: [UInt8])] {
    var content: [UInt8] = []
    var former: [Int: [[UInt8]]] = [:]
    for change in changes {
      let before = content
      Self.make(change, of: &content)
      for page in stride(from: 0, to: min(before.count, content.count), by: Self.pageLength) {
        let old = before[page..<min(page + Self.pageLength, before.count)]
        let new = content[page..<min(page + Self.pageLength, content.count)]
        if old.count == Self.pageLength, old != new { former[page, default: []].append(Array(old)) }
      }
    }
    var pages: [(offset: Int, bytes: [UInt8])] = []
    for (page, contents) in former.sorted(by: { $0.key < $1.key })
    where page + Self.pageLength <= content.count {
      let last = Array(content[page..<page + Self.pageLength])
      var seen: Set<[UInt8]> = [last]
      for bytes in contents where seen.insert(bytes).inserted { pages.append((page, bytes)) }
    }
    return pages
  }
}

extension SimulatedDisk {
  /// A disk of a machine that was started anew, with one file.
  package static func holding(_ content: [UInt8], path: String) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    try disk.open(path, [.writable, .create]).write(bytes: content, at: 0)
    return disk
  }
}
