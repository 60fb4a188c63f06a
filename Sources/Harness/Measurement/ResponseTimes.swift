// Response times of an open loop. Of an operation that was due and left out only the time for which
// it has waited is known: its response would have lasted that long at least. A percentile is a
// figure where those operations cannot change it, however long they would have taken.

/// What is known of the response times of all operations that were due.
package struct ResponseTimes {
  /// Of all that were due; what was left out stands there with the time for which it has waited.
  package let all: LatencyHistogram
  /// Those of `all` that were left out.
  package let leftOut: LatencyHistogram
  /// Whether all that were due are among them; if not, no percentile is known.
  package var isWhole = true

  /// - Parameter all: holds `leftOut`, too.
  package init(all: LatencyHistogram, leftOut: LatencyHistogram) {
    self.all = all
    self.leftOut = leftOut
  }

  /// From those that have ended, and those that have not.
  package init(done: LatencyHistogram, leftOut: LatencyHistogram) {
    self.leftOut = leftOut
    if leftOut.count == 0 {
      all = done
    } else {
      all = LatencyHistogram()
      all.add(done)
      all.add(leftOut)
    }
  }

  /// A percentile; nil when there are too few operations, or when those left out could change it.
  package func value(at percentile: Percentile) -> UInt64? {
    guard isWhole, let least = all.value(at: percentile) else { return nil }
    if leftOut.count == 0 { return least }
    let most = all.value(
      ofRank: all.rank(partsPer10000: percentile.partsPer10000), without: leftOut)
    return most == least ? least : nil
  }

  /// What a percentile is at least, from as many operations as it takes.
  package func least(at percentile: Percentile) -> UInt64? {
    isWhole ? all.value(at: percentile) : nil
  }

  /// The longest one; nil when there is none, or when one left out could have taken longer.
  package var maximum: UInt64? {
    all.count == 0 || leftOut.count > 0 || !isWhole ? nil : all.maximum
  }

  /// Whether enough operations were due for a percentile and it is not known all the same.
  package func isUnknown(_ percentile: Percentile) -> Bool {
    all.value(at: percentile) != nil && value(at: percentile) == nil
  }

  /// The lowest percentile that is not known because of what was left out.
  package var firstUnknown: Percentile? { Percentile.allCases.first(where: isUnknown) }

  /// All of them in the format of `.hgrm` files.
  package func percentileText() -> String {
    guard leftOut.count > 0 else { return all.percentileText() }
    return all.percentileText()
      + "#[Left out = \(leftOut.count), counted with the time for which they had waited]\n"
  }
}
