// Bytes of the file that belong together: the unit in which space is counted, taken and given back.

/// A contiguous part of the file; start and length are multiples of 16.
package struct Run: Hashable, Sendable, CustomStringConvertible {
  package var offset: UInt64
  package var length: UInt64

  package init(offset: UInt64, length: UInt64) {
    self.offset = offset
    self.length = length
  }

  /// The first byte behind the run.
  package var end: UInt64 { offset + length }

  package var description: String { "run \(offset) ..< \(end)" }
}
