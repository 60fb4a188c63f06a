// What a benchmark is: rows that one measurement fills, the contestants, and how they take turns.
import Foundation

/// What a row's figures count.
enum Unit: String, Sendable {
  case nanoseconds = "ns"
  case perSecond = "1/s"
  case bytesPerSecond = "bytes/s"
  case bytes
  case bytesPerCommit = "bytes/commit"
  case ratio

  var isHigherBetter: Bool { self == .perSecond || self == .bytesPerSecond }
}

/// A line of the table.
struct Row: Sendable {
  let name: String
  let unit: Unit

  init(_ name: String, _ unit: Unit) {
    self.name = name
    self.unit = unit
  }
}

/// What one contestant did in one repetition.
struct Measurement {
  /// By the row's name; a row that does not apply is left out.
  var values: [String: Double]
  /// Of what was read or is in the file afterwards; the same for all engines of a repetition.
  ///
  /// Nil where nothing was read: the physical limits.
  var checksum: Int?
}

/// A measurement that fills some rows.
struct Benchmark {
  let rows: [Row]
  /// In the order of the table.
  let contestants: [Contestant]
  /// Objects in its files, where that is not the run's size.
  let objects: Int?
  /// Repetitions that are not counted, to warm caches.
  let warmUps: Int
  /// Lets all contestants take part, in the given order.
  let run: (_ order: [Contestant], _ repetition: Int) throws -> [Contestant: Measurement]

  /// Contestants that measure together, for example commit by commit.
  init(
    _ rows: [Row], _ contestants: [Contestant], warmUps: Int = 0, objects: Int? = nil,
    together: @escaping ([Contestant], Int) throws -> [Contestant: Measurement]
  ) {
    self.rows = rows
    self.contestants = contestants
    self.warmUps = warmUps
    self.objects = objects
    run = together
  }

  /// Contestants that measure in turn.
  init(
    _ rows: [Row], _ contestants: [Contestant], warmUps: Int = 0, objects: Int? = nil,
    each: @escaping (Contestant, Int) throws -> Measurement
  ) {
    self.init(rows, contestants, warmUps: warmUps, objects: objects) { order, repetition in
      var results: [Contestant: Measurement] = [:]
      for contestant in order { results[contestant] = try each(contestant, repetition) }
      return results
    }
  }
}

/// A percentile of sorted samples; nil unless there are 10 / (1 - percentile) of them.
func percentile(_ percentile: Double, of sorted: [UInt64]) -> Double? {
  guard percentile == 0.5 || Double(sorted.count) >= 9.999 / (1 - percentile) else { return nil }
  return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * percentile))])
}
