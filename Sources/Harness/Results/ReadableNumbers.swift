// Numbers as people read them: in progress lines and summaries, never in files.

/// Thousands in groups of three.
package func grouped(_ number: Int) -> String {
  var digits = Array(String(number.magnitude))
  var position = digits.count - 3
  while position > 0 {
    digits.insert(",", at: position)
    position -= 3
  }
  return (number < 0 ? "-" : "") + String(digits)
}

/// Bytes in the largest binary unit, for people.
package func readableBytes(_ bytes: UInt64) -> String {
  var value = Double(bytes)
  for unit in ["B", "KiB", "MiB", "GiB"] {
    if value < 1_024 || unit == "GiB" {
      return unit == "B" ? "\(bytes) B" : decimal(value, places: 1) + " " + unit
    }
    value /= 1_024
  }
  return "\(bytes) B"
}

/// A duration with three digits or so, for people.
package func readableDuration(_ nanoseconds: UInt64) -> String {
  let value = Double(nanoseconds)
  switch nanoseconds {
  case 0..<1_000: return "\(nanoseconds) ns"
  case 1_000..<1_000_000: return decimal(value / 1e3, places: value < 1e5 ? 2 : 0) + " us"
  case 1_000_000..<1_000_000_000: return decimal(value / 1e6, places: value < 1e8 ? 2 : 0) + " ms"
  default: return decimal(value / 1e9, places: 2) + " s"
  }
}

/// A stretch of time that somebody waits for, to the second.
package func readableSeconds(_ nanoseconds: UInt64) -> String {
  let seconds = (nanoseconds + 500_000_000) / 1_000_000_000
  if seconds < 100 { return "\(seconds) s" }
  if seconds < 6_000 { return "\(seconds / 60) min \(seconds % 60) s" }
  return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
}
