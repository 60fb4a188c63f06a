// What the schedules before have shown of a program: how many steps its strands make, and with
// what. Estimates: a schedule may go another way.

/// Steps of the program, by strand and by what they are done with.
final class Profile {
  /// Most decisions of a schedule.
  private(set) var decisions = 20
  /// Steps of each strand, on average over the last schedules.
  private(set) var steps: [Double] = []
  /// The same of each resource, by its key.
  private(set) var stepsByKey: [UInt64: [Double]] = [:]
  /// Resources that more than one strand uses, in the order in which they have been seen.
  private(set) var sharedKeys: [UInt64] = []
  private var knownShared: Set<UInt64> = []
  /// Who has started whom.
  private(set) var parents: [Int?] = []
  /// More resources than these are not told apart.
  private static let keysMax = 10_000

  func learn(_ run: Run) {
    // A livelock says nothing about the others.
    if run.decisions >= 2_000 && run.violation?.kind == .livelock { return }
    decisions = max(decisions, min(run.decisions, 100_000))
    Self.average(&steps, run.strands.map { Double($0.steps) })
    for strand in run.strands where strand.number >= parents.count {
      parents.append(strand.parent)
    }
    for resource in run.resourceList where !resource.steps.isEmpty {
      if stepsByKey[resource.key] == nil && stepsByKey.count >= Self.keysMax { continue }
      Self.average(&stepsByKey[resource.key, default: []], resource.steps.map(Double.init))
      if resource.steps.count(where: { $0 > 0 }) > 1 && knownShared.insert(resource.key).inserted {
        sharedKeys.append(resource.key)
      }
    }
  }

  /// The first schedule counts whole, later ones a fifth.
  private static func average(_ known: inout [Double], _ seen: [Double]) {
    for (strand, count) in seen.enumerated() {
      if strand < known.count {
        known[strand] += (count - known[strand]) * 0.2
      } else {
        known.append(count)
      }
    }
  }

  /// Whether a strand has started another one, or one that has.
  func isAncestor(_ strand: Int, of other: Int) -> Bool {
    var next = other < parents.count ? parents[other] : nil
    while let parent = next {
      if parent == strand { return true }
      next = parent < other && parent < parents.count ? parents[parent] : nil
    }
    return false
  }
}
