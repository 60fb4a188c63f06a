// Joins the parts of a history into history.jsonl: in the order of time, with an index, a line at a
// time, so that memory does not depend on its length. A transaction whose process is gone ends with
// `info`.
internal import Foundation

/// The lines of a file, one after the other.
final class LineReader {
  private let file: FileHandle
  private var buffer: [UInt8] = []
  private var position = 0
  private var isAtEnd = false

  init(path: String) throws {
    try FileCalls.refuseEndless(path)
    file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
  }

  deinit { try? file.close() }

  /// The next line without its end; nil behind the last one.
  ///
  /// What has no end was not written whole: it is left out.
  func next() throws -> [UInt8]? {
    var searched = position
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { position = end + 1 }
        return Array(buffer[position..<end])
      }
      if isAtEnd { return nil }
      buffer.removeFirst(position)
      position = 0
      searched = buffer.count
      let more = try file.read(upToCount: 1 << 16) ?? Data()
      isAtEnd = more.isEmpty
      buffer += more
    }
  }
}

/// Makes one history of parts.
package enum HistoryMerge {
  /// A part, at its present line.
  private final class Source {
    let reader: LineReader
    var line: [UInt8]
    var time: UInt64
    /// The last line handed out, if it was an invocation.
    var invocation: [UInt8]?

    init?(_ path: String) throws {
      reader = try LineReader(path: path)
      guard let line = try reader.next() else { return nil }
      self.line = line
      time = try HistoryMerge.time(line)
    }

    /// Moves on; false at the end.
    func advance() throws -> Bool {
      invocation = HistoryMerge.isInvocation(line) ? line : nil
      guard let next = try reader.next() else { return false }
      line = next
      time = try HistoryMerge.time(next)
      return true
    }
  }

  private static let head = Array("{\"time\":".utf8)
  private static let invoke = Array("\"type\":\"invoke\"".utf8)

  private static func time(_ line: [UInt8]) throws -> UInt64 {
    let digits = line.dropFirst(head.count).prefix { (48...57).contains($0) }
    guard line.starts(with: head), let time = UInt64(String(decoding: digits, as: UTF8.self)) else {
      throw ResultsError("a part of the history is damaged")
    }
    return time
  }

  private static func isInvocation(_ line: [UInt8]) -> Bool {
    // Behind the numbers of time and process.
    line.prefix(80).split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(invoke) }
  }

  /// Writes `path` from all parts of some folders, and removes them; returns the number of lines.
  @discardableResult
  package static func join(_ folders: [String], to path: String) throws -> Int {
    var sources: [Source] = []
    for folder in folders {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      for name in names.sorted() where name.hasSuffix(".part") {
        if let source = try Source("\(folder)/\(name)") { sources.append(source) }
      }
    }
    guard FileManager.default.createFile(atPath: path, contents: nil) else {
      throw ResultsError("cannot make '\(path)'")
    }
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    defer { try? output.close() }
    var buffer: [UInt8] = []
    var index = 0
    func emit(_ line: [UInt8]) throws {
      buffer += "{\"index\":\(index),".utf8
      buffer += line.dropFirst()
      buffer.append(UInt8(ascii: "\n"))
      index += 1
      if buffer.count > 1 << 16 {
        try output.write(contentsOf: Data(buffer))
        buffer.removeAll(keepingCapacity: true)
      }
    }
    var unfinished: [[UInt8]] = []
    var last: UInt64 = 0
    while let source = sources.min(by: { $0.time < $1.time }) {
      last = source.time
      try emit(source.line)
      if try !source.advance() {
        if let invocation = source.invocation { unfinished.append(invocation) }
        sources.removeAll { $0 === source }
      }
    }
    for line in unfinished { try emit(indeterminate(line, at: last)) }
    try output.write(contentsOf: Data(buffer))
    for folder in folders { try FileManager.default.removeItem(atPath: folder) }
    return index
  }

  /// The end of a transaction of which nothing more is known.
  private static func indeterminate(_ invocation: [UInt8], at time: UInt64) -> [UInt8] {
    let text = String(decoding: invocation, as: UTF8.self)
    guard let comma = text.firstIndex(of: ",") else { return invocation }
    return Array(
      ("{\"time\":\(time)"
        + text[comma...].replacing(
          "\"type\":\"invoke\"", with: "\"type\":\"info\"", maxReplacements: 1
        )
        .dropLast() + ",\"error\":\"the process ended\"}").utf8)
  }
}
