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

  /// What the shares add up to.
  private let total: Int

  private init(_ text: String, _ shares: [(operation: Operation, percent: Int)]) {
    self.text = text
    self.shares = shares
    total = shares.reduce(0) { $0 + $1.percent }
  }

  /// Of operations that are no mix of the tool's; at least one has a share.
  package init(_ shares: [(operation: Operation, percent: Int)]) {
    let shares = shares.filter { $0.percent > 0 }
    precondition(!shares.isEmpty, "a mix has an operation")
    self.init(
      shares.map { "\($0.operation.rawValue):\($0.percent)" }.joined(separator: ","), shares)
  }

  /// The part that an operation, by its place in `shares`, has of all.
  package func part(_ position: Int) -> Double {
    Double(shares[position].percent) / Double(total)
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
  ///
  /// Of other operations than the tool's there are no letters.
  package init?(_ text: String, of operations: [Operation] = Self.operations) {
    let preset = Self.presets.first { $0.text == text }
    if let preset, operations == Self.operations {
      self = preset
      return
    }
    var percents: [Operation: Int] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: ":", omittingEmptySubsequences: false)
      guard words.count == 2, let operation = Operation(rawValue: String(words[0])),
        operations.contains(operation), percents[operation] == nil,
        // `Int` alone would take a sign.
        Units.isDigits(String(words[1])), let percent = Int(words[1]), (1...100).contains(percent)
      else { return nil }
      percents[operation] = percent
    }
    guard percents.values.reduce(0, +) == 100 else { return nil }
    self.init(
      text,
      operations.compactMap { operation in percents[operation].map { (operation, $0) } })
  }

  package static func == (left: OperationMix, right: OperationMix) -> Bool {
    left.shares.elementsEqual(right.shares, by: ==)
  }

  /// Shares of operations, to show how they are written.
  package static func example(_ operations: [Operation]) -> String {
    guard operations.count > 1 else { return "\(operations[0].rawValue):100" }
    return "\(operations[0].rawValue):80,\(operations[1].rawValue):20"
  }

  /// Which objects are asked for when nothing is said: D reads what is new, the others what is
  /// popular.
  package var defaultKeys: KeyDistribution { text == "D" ? .latest : .zipf(exponent: 0.99) }

  /// Draws an operation, as its place in `shares`.
  package func next(_ random: inout RandomGenerator) -> Int {
    var left = Int(random.next(upperBound: UInt64(total)))
    for (position, share) in shares.enumerated() {
      left -= share.percent
      if left < 0 { return position }
    }
    preconditionFailure("the shares of a mix add up to their total")
  }
}
