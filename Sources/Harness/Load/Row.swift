// One object as the workloads see it, and what its content has to be. Content follows from the
// seed, the object and the transaction that wrote it last, so that a reader can check every bit of
// it without a history. Nothing here touches an engine.
package import Foundation
internal import Platform

/// All properties of one object.
package struct Row: Sendable {
  package var id: Int = 0
  package var name: String = ""
  package var age: Int = 0
  package var score: Double = 0
  package var payload: Data = Data()
  /// Moved between the objects of a transaction; the table's total never changes.
  package var balance: Int = 0
  /// How often a read-modify-write has changed the object.
  package var changes: Int = 0
  /// Number of the transaction that wrote the object last; 0 from the load.
  package var stamp: Int = 0

  package init() {}

  /// The first property in which two rows differ bit for bit, with both values, or nil.
  package func difference(from other: Row) -> String? {
    if id != other.id { return "id \(id) and \(other.id)" }
    if stamp != other.stamp { return "stamp \(stamp) and \(other.stamp)" }
    if balance != other.balance { return "balance \(balance) and \(other.balance)" }
    if changes != other.changes { return "changes \(changes) and \(other.changes)" }
    if age != other.age { return "age \(age) and \(other.age)" }
    if score.bitPattern != other.score.bitPattern { return "score \(score) and \(other.score)" }
    if name != other.name { return "name '\(name)' and '\(other.name)'" }
    if payload != other.payload {
      return "payload (\(payload.count) and \(other.payload.count) bytes)"
    }
    return nil
  }

  /// A hash over every bit.
  package var digest: UInt64 {
    var value = mix(UInt64(bitPattern: Int64(id)))
    value = mix(value ^ UInt64(bitPattern: Int64(stamp)))
    value = mix(value ^ UInt64(bitPattern: Int64(balance)))
    value = mix(value ^ UInt64(bitPattern: Int64(changes)))
    value = mix(value ^ UInt64(bitPattern: Int64(age)))
    value = mix(value ^ score.bitPattern)
    var name = name
    value = name.withUTF8 { Self.digest(of: UnsafeRawBufferPointer($0), seed: value) }
    return payload.withUnsafeBytes { Self.digest(of: $0, seed: value) }
  }

  private static func digest(of bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    bytes.baseAddress.map { hash64($0, count: bytes.count, seed: seed) } ?? mix(seed)
  }
}

/// An object in the form that a migration gives it: name has another name, age another type, score
/// is gone, and a label has come that follows from name and age.
package struct MigratedRow: Sendable {
  /// Everything but the score.
  package var row = Row()
  package var label = ""

  package init() {}

  /// What the migration makes of an object.
  package static func label(of row: Row) -> String { label(name: row.name, age: row.age) }
  package static func label(name: String, age: Int) -> String { "\(name) (\(age))" }
}

/// Spreads 64 bits so that neighbours have nothing in common (the finalizer of splitmix64).
package func mix(_ number: UInt64) -> UInt64 {
  var value = number &+ 0x9e37_79b9_7f4a_7c15
  value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
  value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
  return value ^ (value >> 31)
}

/// Sizes of the payload in bytes, evenly spread from `minimum` to `maximum`.
package struct ValueSize: Equatable, Sendable {
  package var minimum: Int
  package var maximum: Int

  /// The sizes that half, nine tenths and 99 of 100 objects are at most; empty where all sizes
  /// between the ends are as frequent.
  package private(set) var percentiles: [Int] = []

  package init(minimum: Int, maximum: Int) {
    self.minimum = minimum
    self.maximum = maximum
  }

  /// As a file has them.
  ///
  /// - Parameter sizes: the least, p50, p90, p99 and the largest, none below the one before.
  package init(percentiles sizes: [Int]) {
    precondition(sizes.count == Self.shares.count && zip(sizes, sizes.dropFirst()).allSatisfy(<=))
    self.init(minimum: sizes[0], maximum: sizes[sizes.count - 1])
    percentiles = Array(sizes[1..<sizes.count - 1])
  }

  /// The largest that a run takes.
  package static let most = 16 << 20

  /// The shares of objects that `percentiles` and both ends stand for.
  package static let shares = [0, 0.5, 0.9, 0.99, 1]

  /// The size that a random number stands for.
  package func bytes(_ random: UInt64) -> Int {
    guard !percentiles.isEmpty else {
      return minimum + Int(random % UInt64(maximum - minimum + 1))
    }
    let share = Double(random >> 11) * 0x1p-53
    // All sizes between two of them are as frequent.
    var end = 1
    while end < Self.shares.count - 1 && share >= Self.shares[end] { end += 1 }
    let within = (share - Self.shares[end - 1]) / (Self.shares[end] - Self.shares[end - 1])
    let (low, high) = (size(end - 1), size(end))
    return low + Int((Double(high - low + 1) * within).rounded(.down))
  }

  /// The size of an object on average.
  package var mean: Double {
    guard !percentiles.isEmpty else { return Double(minimum + maximum) / 2 }
    return (1..<Self.shares.count).reduce(0) { sum, end in
      sum + (Self.shares[end] - Self.shares[end - 1]) * Double(size(end - 1) + size(end)) / 2
    }
  }

  private func size(_ place: Int) -> Int {
    place == 0 ? minimum : place == Self.shares.count - 1 ? maximum : percentiles[place - 1]
  }
}
