// What the schedules before have shown of a program: how many steps its strands make, and with
// what. Estimates: a schedule may go another way.
internal import Glibc

/// Steps of the program, by strand and by what they are done with.
final class Profile {
  /// Most decisions of a schedule.
  private(set) var decisions = 20
  /// Steps of each strand, on average over the last schedules.
  private(set) var steps: [Double] = []
  /// The same of each resource, by its key.
  private(set) var stepsByKey: [UInt64: [Double]] = [:]
  /// Resources that more than one strand uses and one changes, without a lock that all of them
  /// have, in the order in which they have been seen.
  private(set) var sharedKeys: [UInt64] = []
  /// How much there is to find at each of them.
  private var weights: [Double] = []
  private var places: [UInt64: Int] = [:]
  /// Who has started whom.
  private var parents: [Int?] = []
  /// More resources than these are not told apart.
  private static let keysMax = 10_000

  func learn(_ run: Run) {
    // A livelock says nothing about the others.
    if run.decisions >= 2_000 && run.violation?.kind == .livelock { return }
    decisions = max(decisions, min(run.decisions, 100_000))
    Self.average(&steps, run.strands.lazy.map { Double($0.steps) })
    for strand in run.strands where strand.number >= parents.count {
      parents.append(strand.parent)
    }
    for resource in run.resourceList where !resource.steps.isEmpty {
      learn(
        resource.key, resource.steps.lazy.map { Double($0) },
        isOpen: resource.isChanged && !resource.isGuarded,
        strands: resource.steps.count { $0 > 0 })
    }
    let workers = run.strands.count { $0.jobSteps > 0 }
    if workers > 0 {
      learn(
        Resource.jobsKey, run.strands.lazy.map { Double($0.jobSteps) }, isOpen: true,
        strands: workers)
    }
  }

  /// - Parameter isOpen: whether the orders of the steps may matter.
  private func learn(
    _ key: UInt64, _ steps: some Sequence<Double>, isOpen: Bool, strands: Int
  ) {
    if stepsByKey[key] == nil && stepsByKey.count >= Self.keysMax { return }
    Self.average(&stepsByKey[key, default: []], steps)
    if places[key] == nil {
      if !isOpen || strands < 2 { return }
      places[key] = sharedKeys.count
      sharedKeys.append(key)
      weights.append(0)
    }
    weights[places[key]!] = Self.weight(stepsByKey[key]!)
  }

  /// The first schedule counts whole, later ones a fifth.
  ///
  /// One in which strands spin has many steps more than others will have: it counts as if it had
  /// four times as many as are known.
  private static func average(_ known: inout [Double], _ seen: some Sequence<Double>) {
    for (strand, count) in seen.enumerated() {
      if strand < known.count {
        known[strand] += (min(count, known[strand] * 4 + 16) - known[strand]) * 0.2
      } else {
        known.append(count)
      }
    }
  }

  /// About the logarithm of the number of orders of so many steps of each strand: what has many
  /// orders has more that were not tried yet.
  private static func weight(_ steps: [Double]) -> Double {
    func term(_ count: Double) -> Double { count > 0 ? count * log(count) : 0 }
    return max(steps.reduce(term(steps.reduce(0, +))) { $0 - term($1) }, 0.1)
  }

  /// One of the shared resources; those with more orders are likelier.
  func drawKey(_ random: inout Random) -> UInt64? {
    var drawn = random.nextFraction() * weights.reduce(0, +)
    for (key, weight) in zip(sharedKeys, weights) {
      drawn -= weight
      if drawn < 0 { return key }
    }
    return sharedKeys.last
  }

  /// Who has started a strand; nil of the first one, and of those that were not seen yet.
  func parent(of strand: Int) -> Int? {
    guard strand < parents.count, let parent = parents[strand], parent < strand else { return nil }
    return parent
  }

  /// Whether a strand has started another one, or one that has.
  func isAncestor(_ strand: Int, of other: Int) -> Bool {
    var next = parent(of: other)
    while let ancestor = next {
      if ancestor == strand { return true }
      next = parent(of: ancestor)
    }
    return false
  }
}
