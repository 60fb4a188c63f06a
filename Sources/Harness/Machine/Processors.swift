// Which processors a run uses: those of --processors, for all of its threads and processes; and how
// much of their time, which a container may limit.
internal import CProcess
internal import Foundation
internal import Platform

/// The processors of the machine, by number.
package enum Processors {
  /// Of a set of them, a bit each.
  private static let bytes = 1_024 / 8

  /// Those that this process may use, in order.
  package static var allowed: [Int] {
    var bits = [UInt8](repeating: 0, count: bytes)
    guard process_get_processors(&bits, Int32(bytes)) == 0 else { return [] }
    return (0..<bytes * 8).filter { bits[$0 / 8] & 1 << ($0 % 8) != 0 }
  }

  /// How many this process may use.
  static var allowedCount: Int {
    let count = allowed.count
    return count > 0 ? count : ProcessInfo.processInfo.activeProcessorCount
  }

  /// How many processors' time this process may use: that of those that it may run on, as far as a
  /// limit of its container leaves it.
  ///
  /// - Parameters:
  ///   - count: how many it runs on; nil for all that it may.
  ///   - root: where `/proc` and `/sys` are; another folder in tests.
  package static func usable(of count: Int? = nil, root: String = "") -> Double {
    return limited(Double(count ?? allowedCount), to: ControlGroup.processorLimit(root))
  }

  /// So many processors under a limit of their time.
  static func limited(_ count: Double, to limit: Double?) -> Double { min(count, limit ?? count) }

  /// As in `2` or `1.5`.
  static func text(of count: Double) -> String {
    count == count.rounded() ? String(Int(count)) : decimal(count, places: 2)
  }

  /// How many a text such as `0-3,6` names; nil where it is none.
  static func count(in text: String) -> Int? {
    var count = 0
    for part in text.split(separator: ",") {
      let ends = part.split(separator: "-").compactMap { Int($0) }
      guard let first = ends.first, let last = ends.last, last >= first else { return nil }
      count += last - first + 1
    }
    return count > 0 ? count : nil
  }

  /// Has the calling thread, and all that it starts from then on, use these alone.
  static func use(_ numbers: [Int]) throws(SystemError) {
    var bits = [UInt8](repeating: 0, count: bytes)
    for number in numbers where number < bytes * 8 { bits[number / 8] |= 1 << (number % 8) }
    let code = process_set_processors(bits, Int32(bytes))
    if code != 0 { throw SystemError(call: "sched_setaffinity", path: text(numbers), code: code) }
  }

  /// Reads `0-3,6`.
  static func list(_ text: String, flag: String) throws(UsageError) -> [Int] {
    var numbers: Set<Int> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1],
        first >= 0, last >= first, last < 100_000
      else { throw UsageError("\(flag): '\(text)' is no list of processors such as 0-3,6") }
      if let twice = (first...last).first(where: numbers.contains) {
        throw UsageError("\(flag): \(twice) is named twice")
      }
      numbers.formUnion(first...last)
    }
    let allowed = allowed
    if let other = numbers.sorted().first(where: { !allowed.contains($0) }) {
      throw UsageError(
        "\(flag): \(other) is none of the processors that this process may use (\(Self.text(allowed)))"
      )
    }
    return numbers.sorted()
  }

  /// As in `0-3,6`.
  package static func text(_ numbers: [Int]) -> String {
    var parts: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = parts.last, last.upperBound + 1 == number {
        parts[parts.count - 1] = last.lowerBound...number
      } else {
        parts.append(number...number)
      }
    }
    return parts.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
      .joined(separator: ",")
  }
}
