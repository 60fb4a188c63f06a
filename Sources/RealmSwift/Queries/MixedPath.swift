// Values inside of mixed values: lists and dictionaries in their stored form, gone through in place. The
// form is described at `AnyTag`.
internal import ObjectStore

/// A way into an encoded mixed value.
enum MixedPath {
  /// Runs `body` on each value that the steps lead to, until it returns false.
  ///
  /// - Returns: false when `body` did.
  static func forEach(
    _ bytes: UnsafeRawBufferPointer, _ steps: ArraySlice<PathStep>, _ body: (PlanValue) -> Bool
  ) -> Bool {
    guard let step = steps.first else { return body(PlanValue(mixed: bytes)) }
    let rest = steps.dropFirst()
    guard let tag = bytes.first.flatMap({ AnyTag(rawValue: $0) }) else { return true }
    guard tag == .list || tag == .dictionary else { return true }
    var reader = Reader(bytes: bytes, position: 1)
    guard let count = reader.length() else { return true }
    for index in 0..<count {
      let key = tag == .dictionary ? reader.part() : nil
      guard let value = reader.part() else { return true }
      let isMeant: Bool
      switch step {
      case .anyElement: isMeant = true
      case .index(let wanted): isMeant = tag == .list && index == wanted
      case .key(let wanted): isMeant = key.map { $0.elementsEqual(wanted.utf8) } ?? false
      default: isMeant = false
      }
      if isMeant, !forEach(value, rest, body) { return false }
    }
    return true
  }

  /// Reads lengths and what they are of.
  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var position: Int

    mutating func length() -> Int? {
      guard position + 4 <= bytes.count else { return nil }
      let length = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
      position += 4
      return Int(UInt32(littleEndian: length))
    }

    mutating func part() -> UnsafeRawBufferPointer? {
      guard let length = length(), position + length <= bytes.count else { return nil }
      defer { position += length }
      return UnsafeRawBufferPointer(rebasing: bytes[position..<position + length])
    }
  }
}
