// Bytes of the file that belong together: the unit in which space is counted, taken and given back.

/// A contiguous part of the file; offset and length are multiples of 16.
package struct Run: Hashable, Sendable, CustomStringConvertible {
  /// Runs end at or below this.
  package static let endMax = BlockReference.offsetEnd

  package var offset: UInt64
  package var length: UInt64

  package init(offset: UInt64, length: UInt64) {
    self.offset = offset
    self.length = length
  }

  /// The first byte behind the run.
  package var end: UInt64 { offset &+ length }

  package var description: String { "run \(offset) ..< \(end)" }

  /// What of the run lies in a part of the file, which has some of it.
  func part(from start: UInt64, to end: UInt64) -> Run {
    let offset = max(offset, start)
    return Run(offset: offset, length: min(self.end, end) - offset)
  }

  /// Whether offset and length are such as runs may have.
  var isValid: Bool {
    (offset | length) & 15 == 0 && length > 0 && offset < Self.endMax
      && length <= Self.endMax - offset
  }
}

extension Run: SortedElement {
  var key: UInt64 { offset }
  var weight: UInt64 { length }
}
