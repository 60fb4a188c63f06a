// Figures that are 0 in some runs: there is no ratio to 0, but from no sync to one is a change.
internal import Foundation

/// Judges a row without a ratio.
enum ZeroFigures {
  /// The verdict on a row that is 0 in some run; nil for all others, which have a ratio.
  ///
  /// All runs of one side 0 and none of the other: a change, if that is exact (no side varies) or
  /// hardly ever happens by chance, which is once in as many ways as there are to divide the runs.
  /// Who looks again when more runs have come does not add to that: what is not so apart with few
  /// runs is not with more.
  /// - Parameters:
  ///   - baseline: two figures or more, as of the candidate.
  ///   - error: the chance that is taken for hardly ever.
  static func verdict(
    _ row: GateRow, _ baseline: [Double], _ candidate: [Double], error: Double
  ) -> (verdict: ComparisonVerdict, reason: String?)? {
    let zeros = [baseline, candidate].map { side in side.filter { $0 == 0 }.count }
    guard zeros[0] + zeros[1] > 0 else { return nil }
    let (count, other) = (baseline.count, candidate.count)
    switch (zeros[0], zeros[1]) {
    case (count, other): return (.same, nil)
    case (count, 0), (0, other):
      let isExact = Set(baseline).count == 1 && Set(candidate).count == 1
      guard isExact || chance(count, other) <= error else {
        return (.cannotTell, "0 on one side only: more runs tell whether by chance")
      }
      let isMore = zeros[0] == count
      return (
        isMore == row.isBetterWhenLarger ? .better : .worse,
        isMore ? "it was 0 in the baseline" : "it is 0 in the candidate"
      )
    default: return (.cannotTell, "0 in some runs, to which there is no ratio")
    }
  }

  /// That one side has all that are 0, if they are dealt out blindly.
  private static func chance(_ count: Int, _ other: Int) -> Double {
    let (n, m) = (Double(count), Double(other))
    return exp(lgamma(n + 1) + lgamma(m + 1) - lgamma(n + m + 1))
  }
}
