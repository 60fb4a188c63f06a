// Proportions of operations, after the core workloads A to F of the Yahoo! Cloud Serving Benchmark.
package import Platform

/// What a thread of the workload mixed does, in percent.
package struct OperationMix: Equatable, Sendable {
  /// The operations that occur, in the order of `operations`, with their percentages.
  package let shares: [(operation: Operation, percent: Int)]
  /// A letter, or the shares as written.
  package let text: String

  /// Operations that a mix can have.
  package static let operations: [Operation] = [.read, .update, .insert, .scan, .readModifyWrite]

  private init(_ text: String, _ shares: [(operation: Operation, percent: Int)]) {
    self.text = text
    self.shares = shares
  }

  package static let updateHeavy = OperationMix("A", [(.read, 50), (.update, 50)])

  /// The core workloads by letter.
  private static let presets = [
    updateHeavy,
    OperationMix("B", [(.read, 95), (.update, 5)]),
    OperationMix("C", [(.read, 100)]),
    OperationMix("D", [(.read, 95), (.insert, 5)]),
    OperationMix("E", [(.insert, 5), (.scan, 95)]),
    OperationMix("F", [(.read, 50), (.readModifyWrite, 50)]),
  ]

  /// Reads a letter from A to F, or shares such as `read:70,update:30`.
  package init?(_ text: String) {
    if let preset = Self.presets.first(where: { $0.text == text }) {
      self = preset
      return
    }
    var percents: [Operation: Int] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: ":", omittingEmptySubsequences: false)
      guard words.count == 2, let operation = Operation(rawValue: String(words[0])),
        Self.operations.contains(operation), percents[operation] == nil,
        let percent = Int(words[1]), (1...100).contains(percent)
      else { return nil }
      percents[operation] = percent
    }
    guard percents.values.reduce(0, +) == 100 else { return nil }
    self.init(
      text,
      Self.operations.compactMap { operation in percents[operation].map { (operation, $0) } })
  }

  package static func == (left: OperationMix, right: OperationMix) -> Bool {
    left.shares.elementsEqual(right.shares, by: ==)
  }

  /// Which objects are asked for when nothing is said: D reads what is new, the others what is
  /// popular.
  package var defaultKeys: KeyDistribution { text == "D" ? .latest : .zipf(exponent: 0.99) }

  /// Draws an operation, as its place in `shares`.
  package func next(_ random: inout RandomGenerator) -> Int {
    var left = Int(random.next(upperBound: UInt64(100)))
    for (position, share) in shares.enumerated() {
      left -= share.percent
      if left < 0 { return position }
    }
    preconditionFailure("the shares of a mix add up to 100")
  }
}
