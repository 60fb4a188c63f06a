// Timing and printing of benchmark rows.
import Foundation
import Platform

/// Collects rows and prints each as it is measured.
struct Report {
  private var lines = ["name,unit,median,min,max,repetitions"]
  private let clock = MonotonicClock()
  private let options: Options
  /// The rows that were asked about, when they are only to be named.
  private let named = Names()

  private final class Names {
    var all: [String] = []
  }

  init(_ options: Options) {
    self.options = options
    if !options.namesRows { print(lines[0]) }
  }

  /// Whether any of the rows is asked for; their whole names, as the expression may stand for any
  /// part.
  func wants(anyOf names: [String]) -> Bool { !names.filter(wants).isEmpty }

  /// Whether the row is asked for.
  func wants(_ name: String) -> Bool {
    if options.namesRows {
      if !named.all.contains(name) { named.all.append(name) }
      return false
    }
    return options.rows.map { name.contains($0) } ?? true
  }

  /// One row from samples in the row's unit.
  mutating func add(_ name: String, unit: String, _ samples: [Double]) {
    guard wants(name), !samples.isEmpty else { return }
    let sorted = samples.sorted()
    let numbers = [sorted[sorted.count / 2], sorted[0], sorted[sorted.count - 1]]
      .map { String(format: "%.4g", $0) }
    let line = "\(name),\(unit),\(numbers.joined(separator: ",")),\(samples.count)"
    lines.append(line)
    print(line)
  }

  /// Nanoseconds a call, the whole repeated.
  mutating func time(
    _ name: String, repetitions: Int, calls: Int, _ body: () throws -> Void
  ) rethrows {
    guard wants(name) else { return }
    var samples: [Double] = []
    for _ in 0..<repetitions {
      let start = clock.nanoseconds()
      try body()
      samples.append(Double(clock.nanoseconds() - start) / Double(calls))
    }
    add(name, unit: "ns", samples)
  }

  /// Nanoseconds a call of several rows that take turns: what else the machine does meets all of
  /// them.
  mutating func turns(
    _ rounds: Int, calls: Int, _ rows: [(name: String, body: () -> Void)]
  ) {
    let rows = rows.filter { wants($0.name) }
    var samples = rows.map { _ in [Double]() }
    for round in 0..<rounds {
      for offset in rows.indices {
        let index = (offset + round) % rows.count
        let start = clock.nanoseconds()
        rows[index].body()
        samples[index].append(Double(clock.nanoseconds() - start) / Double(calls))
      }
    }
    for (row, samples) in zip(rows, samples) { add(row.name, unit: "ns", samples) }
  }

  /// Median latency in ns of single calls, one sample a repetition.
  mutating func latency(
    _ name: String, repetitions: Int, calls: Int, _ body: (Int) throws -> Void
  ) rethrows {
    guard wants(name) else { return }
    var medians: [Double] = []
    for _ in 0..<repetitions {
      var times: [UInt64] = []
      times.reserveCapacity(calls)
      for call in 0..<calls {
        let start = clock.nanoseconds()
        try body(call)
        times.append(clock.nanoseconds() - start)
      }
      times.sort()
      medians.append(Double(times[calls / 2]))
    }
    add(name, unit: "ns", medians)
  }

  /// Writes the file that `--csv` names, or the help.
  func finish() throws {
    if options.namesRows {
      print(Options.help + "\n\nRows:\n" + named.all.map { "  \($0)" }.joined(separator: "\n"))
    }
    guard let path = options.csvPath else { return }
    try (lines.joined(separator: "\n") + "\n").write(
      toFile: path, atomically: true, encoding: .utf8)
  }
}
