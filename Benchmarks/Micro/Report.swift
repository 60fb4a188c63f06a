// Timing and printing of benchmark rows.
import Foundation
import Platform

/// Collects rows and prints each as it is measured.
struct Report {
  private var lines = ["name,unit,median,min,max,repetitions"]
  private let clock = MonotonicClock()
  /// The rows that `--row` asks for; nil for all.
  private let wanted: Regex<AnyRegexOutput>?

  init() throws {
    wanted = try argument(after: "--row").map { try Regex($0) }
    print(lines[0])
  }

  /// Whether any of the rows is asked for; their whole names, as the expression may stand for any part.
  func wants(anyOf names: [String]) -> Bool { names.contains { wants($0) } }

  /// Whether the row is asked for.
  func wants(_ name: String) -> Bool {
    guard let wanted else { return true }
    return name.contains(wanted)
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

  /// Writes the file that `--csv` names.
  func finish() throws {
    guard let path = argument(after: "--csv") else { return }
    try (lines.joined(separator: "\n") + "\n").write(
      toFile: path, atomically: true, encoding: .utf8)
  }
}

/// The value of a flag.
func argument(after flag: String) -> String? {
  guard let index = CommandLine.arguments.firstIndex(of: flag),
    index + 1 < CommandLine.arguments.count
  else { return nil }
  return CommandLine.arguments[index + 1]
}
