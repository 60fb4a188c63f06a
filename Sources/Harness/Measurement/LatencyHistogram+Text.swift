// HdrHistogram's percentile text (.hgrm), which its plotter and other tools read. Every bucket that
// holds something gets a line with the running total, so that files merge without loss.
internal import Foundation

extension LatencyHistogram {
  /// The distribution in HdrHistogram's percentile format, in nanoseconds.
  package func percentileText() -> String {
    var text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
    var total: UInt64 = 0
    var squares = 0.0
    let average = mean ?? 0
    forEachBucket { value, bucketCount in
      total += bucketCount
      let distance = Double(value) - average
      squares += distance * distance * Double(bucketCount)
      let fraction = Double(total) / Double(self.count)
      if total == self.count {
        text += String(format: "%12.3f %2.12f %10ld\n", Double(value), 1.0, Int(total))
      } else {
        text += String(
          format: "%12.3f %2.12f %10ld %14.2f\n", Double(value), fraction, Int(total),
          1 / (1 - fraction))
      }
    }
    let deviation = count == 0 ? 0 : (squares / Double(count)).squareRoot()
    text += String(
      format: "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", average, deviation)
    text += String(
      format: "#[Max     = %12.3f, Total count    = %12ld]\n", Double(maximum), Int(count))
    text += String(format: "#[Buckets = %12ld, SubBuckets     = %12ld]\n", 30, 2048)
    return text
  }

  /// Reads a distribution back from its text, to merge files of several runs.
  ///
  /// Returns nil when a line is not of the format, or the end is missing. The sum is rebuilt from
  /// the buckets.
  package convenience init?(percentileText text: String) {
    self.init()
    var total = 0
    var toldTotal: Int?
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if line.hasPrefix("#[Max"), line.hasSuffix("]") {
        toldTotal = Int(line.dropLast().split(separator: " ").last ?? "")
      }
      guard let first = words.first, !first.hasPrefix("#"), first != "Value" else { continue }
      guard words.count >= 3, let value = Double(first), let running = Int(words[2]),
        value >= 0, value <= Double(UInt64.max / 2), running >= total
      else { return nil }
      record(UInt64(value), times: UInt64(running - total))
      total = running
    }
    // A file that was cut has lost its longest times.
    guard toldTotal == total else { return nil }
  }
}
