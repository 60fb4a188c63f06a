// Verifies a history again, from its file alone: its shape, and that it is strictly serializable.
// Values are numbers of transactions in the order of their commits, so the order need not be
// searched for: each transaction has to see one snapshot, which holds everything that had ended
// before it began.
internal import Foundation

/// What a history shows.
package struct HistoryVerdict: Codable, Sendable {
  package var path: String
  package var transactions = 0
  package var writes = 0
  package var reads = 0
  package var indeterminate = 0
  /// What is wrong with its shape; nothing else is judged then.
  package var damage: String?
  /// The first violation: one sentence, and its witness.
  package var violation: String?
  package var witness: [String] = []
}

/// Judges a history.
package struct HistoryCheck {
  /// One line.
  struct Event: Decodable {
    var index: Int
    var time: UInt64
    var process: Int
    var type: String
    var f: String
    var value: [MicroEvent]
    var error: String?
  }

  /// `[f, key, value]`.
  struct MicroEvent: Decodable {
    var f: String
    var key: Int
    var value: Int?

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      f = try container.decode(String.self)
      key = try container.decode(Int.self)
      value = try container.decodeNil() ? nil : container.decode(Int.self)
      guard container.isAtEnd, f == "r" || f == "w" else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "no [f, key, value]")
      }
    }
  }

  private struct Damage: ErrorInWords {
    let message: String
    var words: String { message }
  }

  private var verdict: HistoryVerdict
  /// By key, the transactions that wrote it, in their order.
  private var writers: [Int: [Int]] = [:]
  /// Transactions that are known to have failed.
  private var failed: Set<Int> = []

  /// Reads and judges a file.
  package static func check(_ path: String) -> HistoryVerdict {
    var check = HistoryCheck(verdict: HistoryVerdict(path: path))
    do {
      try check.gather(path)
      try check.judge(path)
    } catch let damage as Damage {
      check.verdict.damage = damage.message
    } catch {
      check.verdict.damage = error.explanation
    }
    return check.verdict
  }

  private init(verdict: HistoryVerdict) { self.verdict = verdict }

  // MARK: - Shape

  private static func forEach(_ path: String, _ body: (Event) throws -> Void) throws {
    let reader = try LineReader(path: path)
    let decoder = JSONDecoder()
    var number = 0
    while let line = try reader.next() {
      guard let event = try? decoder.decode(Event.self, from: Data(line)) else {
        throw Damage(message: "line \(number + 1) is no event of a history")
      }
      guard event.index == number else {
        throw Damage(message: "line \(number + 1) has index \(event.index)")
      }
      try body(event)
      number += 1
    }
  }

  /// The first pass: every process has one transaction at a time, and who wrote what.
  private mutating func gather(_ path: String) throws {
    var open: [Int: Event] = [:]
    var last: UInt64 = 0
    var writers = writers
    // By value, the keys.
    var unknown: [Int: [Int]] = [:]
    var (failed, verdict) = (failed, verdict)
    try Self.forEach(path) { event in
      let place = "line \(event.index + 1)"
      guard event.time >= last else { throw Damage(message: "\(place): time goes back") }
      last = event.time
      guard event.f == "txn" else { throw Damage(message: "\(place): f is '\(event.f)'") }
      if event.type == "invoke" {
        guard open.updateValue(event, forKey: event.process) == nil else {
          throw Damage(message: "\(place): process \(event.process) has not ended its last one")
        }
        return
      }
      guard ["ok", "fail", "info"].contains(event.type),
        let begin = open.removeValue(forKey: event.process)
      else { throw Damage(message: "\(place): '\(event.type)' ends nothing") }
      guard
        begin.value.map({ [$0.f, String($0.key)] }) == event.value.map({ [$0.f, String($0.key)] })
      else { throw Damage(message: "\(place): other operations than those invoked") }
      verdict.transactions += 1
      if event.type == "info" { verdict.indeterminate += 1 }
      for operation in event.value {
        if operation.f == "r" {
          verdict.reads += 1
        } else if let value = operation.value {
          verdict.writes += 1
          switch event.type {
          case "fail": failed.insert(value)
          case "info": unknown[value, default: []].append(operation.key)
          default: writers[operation.key, default: []].append(value)
          }
        }
      }
    }
    guard open.isEmpty else {
      throw Damage(message: "process \(open.keys.min()!) never ends its last transaction")
    }
    // Nothing is in order, whatever is asked of it.
    guard verdict.transactions > 0 else { throw Damage(message: "it holds no transaction") }
    // Of a transaction whose end is not known, what somebody has read did happen.
    if !unknown.isEmpty {
      try Self.forEach(path) { event in
        for operation in event.value where event.type == "ok" && operation.f == "r" {
          guard let value = operation.value, let keys = unknown.removeValue(forKey: value) else {
            continue
          }
          for key in keys { writers[key, default: []].append(value) }
        }
      }
    }
    for key in writers.keys {
      writers[key]!.sort()
      let values = writers[key]!
      for (left, right) in zip(values, values.dropFirst()) where left == right {
        throw Damage(message: "value \(left) is written twice to key \(key)")
      }
    }
    (self.writers, self.failed, self.verdict) = (writers, failed, verdict)
  }

  // MARK: - Order

  /// The second pass: each transaction that is known to have happened against its snapshot.
  private mutating func judge(_ path: String) throws {
    // The newest transaction that had ended, or that one which had ended has seen, at each
    // process's last invocation.
    var acknowledged = 0
    var before: [Int: Int] = [:]
    var found: (String, [String])?
    try Self.forEach(path) { event in
      if event.type == "invoke" {
        before[event.process] = acknowledged
        return
      }
      let floor = before.removeValue(forKey: event.process) ?? 0
      guard event.type == "ok", found == nil else { return }
      found = judge(event, after: floor)
      acknowledged = max(acknowledged, event.value.compactMap(\.value).max() ?? 0)
    }
    if let found { (verdict.violation, verdict.witness) = found }
  }

  /// A transaction sees one snapshot: the transactions up to some number, without its own.
  private func judge(_ event: Event, after floor: Int) -> (String, [String])? {
    let own = event.value.filter { $0.f == "w" }.compactMap(\.value).max()
    // The snapshots that are possible: at least what had ended before; a writer stands right below
    // itself.
    var low = own.map { $0 - 1 } ?? floor
    var high = own.map { $0 - 1 } ?? Int.max
    var lowest =
      own.map { "it wrote as transaction \($0), so it stands on all before" }
      ?? "what had ended or was seen before it began, up to transaction \(floor)"
    var highest = own.map { "its own number \($0)" } ?? ""
    let name = "process \(event.process), line \(event.index + 1)"
    for operation in event.value
    where operation.f == "r" && (own == nil || operation.value != own) {
      let writers = writers[operation.key] ?? []
      let value = operation.value ?? 0
      if value != 0 && !writers.contains(sorted: value) {
        let kind = failed.contains(value) ? "of a transaction that failed" : "that nobody wrote"
        return (
          "A transaction read a value \(kind).",
          ["\(name): read \(value) at key \(operation.key)"]
        )
      }
      // From the transaction that wrote the value to the one before the next that wrote the key.
      if value > low {
        low = value
        lowest = "key \(operation.key) was read as written by transaction \(value)"
      }
      if let next = writers.first(above: value), next - 1 < high {
        high = next - 1
        highest =
          "key \(operation.key) was read as written by transaction \(value), and \(next) wrote it next"
      }
    }
    guard low > high else { return nil }
    return (
      "A transaction saw no single snapshot that was up to date when it began.",
      ["\(name): \(lowest)", "\(name): \(highest)"]
    )
  }
}

extension [Int] {
  /// Whether a sorted array holds a value.
  fileprivate func contains(sorted value: Int) -> Bool {
    let position = firstPosition { $0 >= value }
    return position < count && self[position] == value
  }

  /// The first element of a sorted array that is larger.
  fileprivate func first(above value: Int) -> Int? {
    let position = firstPosition { $0 > value }
    return position < count ? self[position] : nil
  }

  private func firstPosition(_ isBehind: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
