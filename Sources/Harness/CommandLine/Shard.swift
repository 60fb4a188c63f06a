// One of the parts of a run or a hunt, each on a machine or in a process of its own.
internal import Foundation

/// One part of a run that many machines share.
package struct Shard: Equatable, Sendable {
  package let number: Int
  package let count: Int

  /// The whole of what is shared out.
  static let whole = Shard()

  private init() { (number, count) = (1, 1) }

  /// Reads `2/4`.
  package init(_ text: String, flag: String) throws(UsageError) {
    // `Int` alone would take a sign.
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map {
      Units.isDigits(String($0)) ? Int($0) : nil
    }
    guard parts.count == 2, let number = parts[0], let count = parts[1], count >= 1,
      count <= 100_000, (1...count).contains(number)
    else {
      throw UsageError("\(flag): '\(text)' is not of the form K/N with K from 1 to N, such as 2/4")
    }
    (self.number, self.count) = (number, count)
  }

  package var text: String { "\(number)/\(count)" }

  /// The folder that one of them has among the others.
  static func folderName(_ number: Int) -> String { "shard-" + String(format: "%03d", number) }

  /// Names the parts of a whole that have no folder; nil where all have one.
  static func missing(_ count: Int, _ folders: [Int: String]) -> String? {
    let missing = (1...count).filter { folders[$0] == nil }.map { "\($0)/\(count)" }
    guard !missing.isEmpty else { return nil }
    let others = missing.count > 8 ? " and \(missing.count - 8) more" : ""
    return "shards are missing: \(missing.prefix(8).joined(separator: ", "))\(others)"
  }
}
