// The content of a file as a value: cheap to copy, holes cost nothing.

/// Bytes of a file; what was never written is zero.
///
/// Bytes may lie past `length` until it is set.
struct SparseBytes: Sendable {
  private static let pageLength = 4096

  /// What one page holds; missing pages are zero.
  private var pages: [UInt64: [UInt8]] = [:]
  var length: UInt64 = 0

  /// Puts bytes in place without changing the length.
  mutating func place(_ bytes: ArraySlice<UInt8>, at offset: UInt64) {
    var rest = bytes
    var offset = offset
    while !rest.isEmpty {
      let (number, start) = offset.quotientAndRemainder(dividingBy: UInt64(Self.pageLength))
      let count = min(rest.count, Self.pageLength - Int(start))
      let part = rest.prefix(count)
      pages[number, default: [UInt8](repeating: 0, count: Self.pageLength)]
        .replaceSubrange(Int(start)..<Int(start) + count, with: part)
      rest = rest.dropFirst(count)
      offset += UInt64(count)
    }
  }

  /// Bytes at a place; fewer only at the length.
  func bytes(at offset: UInt64, length count: Int) -> [UInt8] {
    let end = min(length, offset + UInt64(count))
    if offset >= end { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(end - offset))
    for index in bytes.indices {
      let (number, start) = (offset + UInt64(index))
        .quotientAndRemainder(dividingBy: UInt64(Self.pageLength))
      if let page = pages[number] { bytes[index] = page[Int(start)] }
    }
    return bytes
  }

  /// Makes everything from `offset` on zero.
  mutating func cut(from offset: UInt64) {
    let (number, start) = offset.quotientAndRemainder(dividingBy: UInt64(Self.pageLength))
    pages = pages.filter { $0.key <= number }
    guard pages[number] != nil else { return }
    for index in Int(start)..<Self.pageLength { pages[number]![index] = 0 }
  }

  /// Sets the length; what lies past it is zero afterwards.
  mutating func setLength(_ length: UInt64) {
    cut(from: length)
    self.length = length
  }

  /// Calls `body` with each page that was written, cut at the length.
  func forEachPage<E: Error>(_ body: (UInt64, ArraySlice<UInt8>) throws(E) -> Void) throws(E) {
    for (number, page) in pages {
      let start = number * UInt64(Self.pageLength)
      if start >= length { continue }
      try body(start, page.prefix(Int(min(UInt64(page.count), length - start))))
    }
  }
}
