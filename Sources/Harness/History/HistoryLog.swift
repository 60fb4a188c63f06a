// What transactions did and saw, in the shape of Jepsen's histories: an `invoke` and then an `ok`,
// `fail` or `info` for each, with micro-operations [f, key, value] where f is `r` or `w`. A value
// is the number of the transaction that wrote it, so each is written once to a key; null is what
// the load left. While a run goes on each process of the history writes a file of its own, so
// memory stays bounded and nobody waits; HistoryMerge joins them.
internal import Foundation
internal import Glibc
internal import Platform

/// A read or a write of one key.
package struct MicroOperation: Equatable, Sendable {
  package var isWrite: Bool
  package var key: Int
  /// The transaction that wrote what was read or is written; nil = the load, or not known yet.
  package var value: Int?

  package init(isWrite: Bool, key: Int, value: Int?) {
    self.isWrite = isWrite
    self.key = key
    self.value = value
  }
}

/// How a transaction ended.
package enum HistoryOutcome: String, Sendable {
  case ok
  /// It has certainly changed nothing.
  case fail
  /// Nobody knows whether it has.
  case info
}

/// The history of a run while it goes on.
package final class HistoryLog: Sendable {
  private struct State: Sendable {
    var parts = 0
    var unused: [HistoryPart] = []
    var failure: String?
  }

  /// Where the parts are.
  package let folder: String
  private let firstProcess: Int
  private let state = Monitor(State())

  /// - Parameter firstProcess: processes of the history are numbered from here.
  package init(folder: String, firstProcess: Int = 0) throws {
    self.folder = folder
    self.firstProcess = firstProcess
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// The file of one process of the history, for one user at a time.
  package func takePart() throws -> HistoryPart {
    if let part = state.withLock({ $0.unused.popLast() }) { return part }
    let number = state.withLock { state in
      defer { state.parts += 1 }
      return firstProcess + state.parts
    }
    let state = state
    return try HistoryPart(path: "\(folder)/\(number).part", process: number) { failure in
      state.withLock { $0.failure = $0.failure ?? failure }
    }
  }

  /// Gives a part back: the next session goes on with it.
  package func giveBack(_ part: HistoryPart) {
    part.flush()
    state.withLock { $0.unused.append(part) }
  }

  /// What went wrong with writing, if anything.
  package var failure: String? { state.withLock { $0.failure } }
}

/// One process of the history; used by one thread at a time.
package final class HistoryPart: @unchecked Sendable {
  // @unchecked: who holds a part uses it alone; HistoryLog's lock hands it on.
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  package let process: Int
  private var hasFailed = false
  private let report: @Sendable (String) -> Void

  /// - Parameter report: gets the first failure to write.
  init(path: String, process: Int, report: @escaping @Sendable (String) -> Void) throws {
    self.report = report
    self.process = process
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw ResultsError("cannot make '\(path)': \(String(cString: strerror(errno)))")
    }
    buffer.reserveCapacity(1 << 16)
  }

  deinit { close(descriptor) }

  /// A transaction begins; values of reads are not known yet.
  package func invoke(at time: UInt64, _ operations: [MicroOperation]) {
    begin(time, "invoke")
    add(operations, knowsReads: false)
    buffer += "]}\n".utf8
  }

  /// The transaction that was begun last has ended.
  package func complete(
    _ outcome: HistoryOutcome, at time: UInt64, _ operations: [MicroOperation],
    error: String? = nil
  ) {
    begin(time, outcome.rawValue)
    add(operations, knowsReads: outcome == .ok)
    buffer += "]".utf8
    if let error { buffer += ",\"error\":\(Self.quoted(error))".utf8 }
    buffer += "}\n".utf8
    if buffer.count > 1 << 16 { flush() }
  }

  private func begin(_ time: UInt64, _ type: String) {
    buffer +=
      "{\"time\":\(time),\"process\":\(process),\"type\":\"\(type)\",\"f\":\"txn\",\"value\":["
      .utf8
  }

  private func add(_ operations: [MicroOperation], knowsReads: Bool) {
    for (position, operation) in operations.enumerated() {
      if position > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer += (operation.isWrite ? "[\"w\"," : "[\"r\",").utf8
      buffer += String(operation.key).utf8
      buffer.append(UInt8(ascii: ","))
      if let value = operation.value, operation.isWrite || knowsReads {
        buffer += String(value).utf8
      } else {
        buffer += "null".utf8
      }
      buffer.append(UInt8(ascii: "]"))
    }
  }

  private static func quoted(_ text: String) -> String {
    (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
  }

  /// Writes what has been gathered.
  package func flush() {
    var rest = buffer[...]
    while !rest.isEmpty && !hasFailed {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0 && errno == EINTR { continue }
      if written <= 0 {
        hasFailed = true
        report("cannot write the history: \(String(cString: strerror(errno)))")
      } else {
        rest = rest.dropFirst(written)
      }
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
