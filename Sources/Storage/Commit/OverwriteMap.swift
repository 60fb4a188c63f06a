// Writing without system calls, for files that promise to survive the end of the process and no
// more: what a process has stored in a shared map is in the page cache, as what it has written is.
//
// Storing into a map cannot report an error: on a full disk it is a signal. So only pages go this
// way that a call of this process has written before, on file systems that keep such pages where
// they are. Everything else is written by calls, and noted here.
internal import Glibc
internal import Platform

/// Overwrites pages of one file.
///
/// Write lock only.
final class OverwriteMap {
  /// Longer runs are written faster by a call.
  private static let lengthMax = 64 << 10

  private let file: any File
  // Unchecked exclusivity, here and below: only the holder of the write lock touches it, in short
  // accesses.
  @exclusivity(unchecked) private var mapping: any FileMapping
  /// Where the mapping is, kept by it: asking a mapping costs more than the store that is to be
  /// made.
  @exclusivity(unchecked) private var base: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var length: Int
  /// One bit a page that was written by a call, and was not cut off since.
  @exclusivity(unchecked) private var written: [UInt64] = []

  /// Nil where overwriting a page could fail.
  init?(_ file: any File, length: Int) {
    guard let mapping = file.mapForOverwriting(length: length) else { return nil }
    self.file = file
    self.mapping = mapping
    base = mapping.base
    self.length = mapping.length
  }

  /// Maps more, when readers do: what lies behind the map is written by calls.
  func cover(_ length: Int) {
    guard length > self.length, let larger = file.mapForOverwriting(length: length) else { return }
    mapping = larger
    base = larger.base
    self.length = larger.length
  }

  /// Writes bytes if all of their pages may be overwritten.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    let end = offset + UInt64(bytes.count)
    guard bytes.count <= Self.lengthMax, end <= UInt64(length) else { return false }
    for page in Self.pages(offset, bytes.count) {
      if page >> 6 >= written.count || written[page >> 6] & (1 << UInt64(page & 63)) == 0 {
        return false
      }
    }
    memcpy(base + Int(offset), bytes.baseAddress!, bytes.count)
    return true
  }

  /// A call has written these bytes.
  func didWrite(_ count: Int, at offset: UInt64) {
    let pages = Self.pages(offset, count)
    let words = pages.upperBound / 64 + 1
    if words > written.count {
      written += repeatElement(0, count: max(words, 2 * written.count) - written.count)
    }
    for page in pages { written[page >> 6] |= 1 << UInt64(page & 63) }
  }

  /// The file has been cut, or another process has written, which may have cut it.
  func forget() {
    if PlantedBug.mapNotForgotten.isActive { return }
    written.removeAll(keepingCapacity: true)
  }

  private static func pages(_ offset: UInt64, _ count: Int) -> Range<Int> {
    let page = UInt64(pageLength)
    return Int(offset / page)..<Int((offset + UInt64(count) + page - 1) / page)
  }
}
