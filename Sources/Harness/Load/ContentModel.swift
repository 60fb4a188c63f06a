// The rule by which transactions write objects: which keys transaction t writes, with what content,
// and how much balance it moves. Writer, readers and the final replay all use it, so that any
// snapshot can be judged alone. Nothing here touches an engine.
internal import Foundation

/// What every object of a run has to hold after each transaction.
package struct ContentModel: Sendable {
  package static let initialBalance = 1_000
  package static let objectsMax = 1 << 31

  package let seed: UInt64
  package let objects: Int
  package let batch: Int
  package let valueSize: ValueSize
  private let rule: Rule

  /// What transactions do with objects.
  package enum Rule: Sendable {
    /// Each rewrites a batch of objects, spread over the table.
    case rewrite
    /// Each rewrites the payload of one object that it chooses.
    case rewritePayload
    /// Each inserts the batch of objects that comes next.
    case insert
  }

  /// `batch` is at most `objects`.
  package init(
    seed: UInt64, objects: Int, batch: Int, valueSize: ValueSize, rule: Rule = .rewrite
  ) {
    precondition(batch > 0 && batch <= objects, "a batch of distinct objects")
    precondition(objects <= Self.objectsMax, "products of keys must fit in 63 bits")
    self.seed = mix(seed)
    self.objects = objects
    self.batch = batch
    self.valueSize = valueSize
    self.rule = rule
  }

  /// Balance of the whole table, in every snapshot.
  package var total: Int { objects * Self.initialBalance }

  // MARK: - Which objects a transaction writes

  /// The distinct keys of one transaction, from a random start in random equal steps.
  package struct Batch: Sendable {
    package let transaction: Int
    let start: Int
    let step: Int
    let objects: Int
    let amounts: UInt64?
    package let count: Int

    /// Key of the member at `position`.
    package func key(_ position: Int) -> Int {
      (start + position * step) % objects
    }

    /// What the member's balance changes by; the changes of a batch add up to 0.
    ///
    /// With the rule `.insert` nothing is moved.
    package func amount(_ position: Int) -> Int {
      guard let amounts else { return 0 }
      let pair = position & ~1
      if pair + 1 >= count { return 0 }
      let amount = 1 + Int(mix(amounts ^ UInt64(pair)) % 100)
      return position == pair ? -amount : amount
    }
  }

  /// The keys that transaction `transaction` writes; with `.rewritePayload` they say nothing.
  package func batch(of transaction: Int) -> Batch {
    if rule == .insert {
      let start = (transaction - 1) * batch
      return Batch(
        transaction: transaction, start: start, step: 1, objects: objects, amounts: nil,
        count: min(batch, objects - start))
    }
    let first = mix(seed ^ UInt64(transaction))
    let second = mix(first)
    var step = objects == 1 ? 1 : 1 + Int(second % UInt64(objects - 1))
    while Self.greatestCommonDivisor(step, objects) != 1 { step += 1 }
    return Batch(
      transaction: transaction, start: Int(first % UInt64(objects)), step: step % max(objects, 1),
      objects: objects, amounts: mix(second), count: batch)
  }

  private static func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
    var (larger, smaller) = (first, second)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return larger
  }

  // MARK: - Groups

  /// Objects with a list, in workloads that have some.
  package var groups: Int { max(1, min(1_000, objects / 16)) }

  /// The members that transaction `stamp` gives to a group; of the lower half of the keys, so that
  /// the objects of the upper half can be deleted.
  package func members(of group: Int, stamp: Int) -> [Int] {
    let first = mix(seed &+ 2 ^ mix(UInt64(group) << 32 ^ UInt64(stamp)))
    let keys = UInt64(max(1, objects / 2))
    return (0..<4 + Int(first % 5)).map { Int(mix(first &+ UInt64($0)) % keys) }
  }

  // MARK: - Content

  /// Twelve letters that follow from the key alone.
  package func name(of id: Int) -> String {
    let bits = nameBits(id)
    return String(unsafeUninitializedCapacity: 12) { buffer in
      for position in 0..<12 { buffer[position] = Self.letter(bits, position) }
      return 12
    }
  }

  private func nameBits(_ id: Int) -> UInt64 { mix(seed ^ mix(UInt64(id))) }

  /// Of sixteen, four bits each: no divisions, as readers compare it.
  private static func letter(_ bits: UInt64, _ position: Int) -> UInt8 {
    97 + UInt8(truncatingIfNeeded: bits >> UInt64(4 * position) & 15)
  }

  private func hasRightName(_ row: Row) -> Bool {
    var name = row.name
    let bits = nameBits(row.id)
    return name.withUTF8 { bytes in
      guard bytes.count == 12 else { return false }
      var difference: UInt8 = 0
      for position in 0..<12 { difference |= bytes[position] ^ Self.letter(bits, position) }
      return difference == 0
    }
  }

  /// Length of an object's payload, the same in every transaction.
  package func payloadCount(of id: Int) -> Int {
    valueSize.bytes(mix(seed &+ 1 ^ mix(UInt64(id))))
  }

  private func base(_ id: Int, _ stamp: Int) -> UInt64 {
    mix(seed ^ mix(UInt64(bitPattern: Int64(id)) ^ mix(UInt64(bitPattern: Int64(stamp)))))
  }

  /// A payload's word: by base and place alone, and of two bases never the same at one place.
  private static func word(_ base: UInt64, _ offset: Int) -> UInt64 {
    base &+ UInt64(truncatingIfNeeded: offset) &* 0x9e37_79b9_7f4a_7c15
  }

  /// Age and score, by the transaction that writes them.
  private func numbers(_ id: Int, _ stamp: Int) -> (age: Int, score: Double) {
    let base = base(id, rule == .rewritePayload ? 0 : stamp)
    return (Int(base % 100), Double(base >> 11) * 0x1p-53 * 1_000)
  }

  /// Sets age, score, payload and stamp as transaction `stamp` writes them; leaves the balance.
  package func fill(_ row: inout Row, stamp: Int) {
    let base = base(row.id, stamp)
    (row.age, row.score) = numbers(row.id, stamp)
    row.stamp = stamp
    let count = payloadCount(of: row.id)
    if row.payload.count != count { row.payload = Data(count: count) }
    row.payload.withUnsafeMutableBytes { bytes in
      var offset = 0
      while offset + 8 <= count {
        bytes.storeBytes(of: Self.word(base, offset), toByteOffset: offset, as: UInt64.self)
        offset += 8
      }
      var rest = Self.word(base, offset)
      while offset < count {
        bytes[offset] = UInt8(truncatingIfNeeded: rest)
        rest >>= 8
        offset += 1
      }
    }
  }

  /// The object as the load writes it.
  package func initialRow(_ id: Int) -> Row {
    var row = Row()
    fillInitially(&row, id: id)
    fill(&row, stamp: 0)
    return row
  }

  /// Sets what transactions leave as it is, and the balance.
  package func fillInitially(_ row: inout Row, id: Int) {
    row.id = id
    row.name = name(of: id)
    row.balance = Self.initialBalance
  }

  /// What is wrong with a row's content for its own stamp, or nil.
  ///
  /// The balance is not judged here.
  package func defect(in row: Row) -> String? {
    let base = base(row.id, row.stamp)
    let (age, score) = numbers(row.id, row.stamp)
    if row.age != age { return "age is \(row.age), expected \(age)" }
    if row.score.bitPattern != score.bitPattern {
      return "score is \(row.score), expected \(score)"
    }
    let count = payloadCount(of: row.id)
    if row.payload.count != count {
      return "payload has \(row.payload.count) bytes, expected \(count)"
    }
    if !hasRightName(row) {
      return "name is '\(row.name)', expected '\(name(of: row.id))'"
    }
    let wrong = row.payload.withUnsafeBytes { bytes -> Int? in
      var offset = 0
      while offset + 8 <= count {
        if bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) != Self.word(base, offset) {
          return offset
        }
        offset += 8
      }
      var rest = Self.word(base, offset)
      while offset < count {
        if bytes[offset] != UInt8(truncatingIfNeeded: rest) { return offset }
        rest >>= 8
        offset += 1
      }
      return nil
    }
    return wrong.map { "payload differs at byte \($0) of \(count)" }
  }
}
