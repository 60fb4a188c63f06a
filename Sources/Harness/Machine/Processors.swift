// Which processors a run uses: those of --processors, for all of its threads and processes.
internal import CProcess
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
