// Values inside of mixed values: lists and dictionaries in their stored form, gone through in
// place. The form is described at `AnyTag`.
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
    guard let parts = MixedParts(bytes) else { return true }
    let rest = steps.dropFirst()
    return parts.forEach { !$0.isMeant(by: step) || forEach($0.value, rest, body) }
  }

  /// The value that steps lead to, each of them to one value; nil when there is none.
  static func part(
    _ bytes: UnsafeRawBufferPointer, _ steps: ArraySlice<PathStep>
  ) -> UnsafeRawBufferPointer? {
    var bytes = bytes
    for step in steps {
      guard let part = MixedParts(bytes)?.first(where: { $0.isMeant(by: step) }) else { return nil }
      bytes = part.value
    }
    return bytes
  }

  /// The value with another one where the steps lead to; nil when there is nothing.
  static func replacing(
    _ bytes: UnsafeRawBufferPointer, _ steps: ArraySlice<PathStep>, with value: [UInt8]
  ) -> [UInt8]? {
    guard let part = part(bytes, steps), let whole = bytes.baseAddress else { return nil }
    var result = Array(bytes)
    let start = part.baseAddress! - whole
    result.replaceSubrange(start..<start + part.count, with: value)
    // Each value on the way stands behind its own length.
    for depth in 1..<steps.count + 1 {
      guard let passed = Self.part(bytes, steps.prefix(depth)) else { return nil }
      let length = UInt32(passed.count + value.count - part.count)
      result.withUnsafeMutableBytes {
        $0.storeBytes(
          of: length.littleEndian, toByteOffset: passed.baseAddress! - whole - 4, as: UInt32.self)
      }
    }
    return result
  }
}

/// The content of an encoded list or dictionary.
struct MixedParts {
  let tag: AnyTag
  /// How many parts it says that it has.
  let count: Int
  private let bytes: UnsafeRawBufferPointer

  /// A value of a list or dictionary.
  struct Part {
    let index: Int
    let isLast: Bool
    /// UTF-8; nil in a list.
    let key: UnsafeRawBufferPointer?
    let value: UnsafeRawBufferPointer

    func isMeant(by step: PathStep) -> Bool {
      switch step {
      case .anyElement: return true
      case .index(let wanted): return key == nil && index == wanted
      case .last: return key == nil && isLast
      case .key(let wanted): return key.map { $0.elementsEqual(wanted.utf8) } ?? false
      default: return false
      }
    }
  }

  /// Nil when the value is neither list nor dictionary.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let tag = bytes.first.flatMap({ AnyTag(rawValue: $0) }),
      tag == .list || tag == .dictionary
    else { return nil }
    var start = 1
    guard let count = Self.length(bytes, &start) else { return nil }
    self.tag = tag
    self.count = count
    self.bytes = bytes
  }

  /// Runs `body` on each part until it returns false; false when it did.
  ///
  /// Ends early where the bytes are no parts.
  @discardableResult
  func forEach(_ body: (Part) -> Bool) -> Bool {
    var position = 5
    for index in 0..<count {
      let key = tag == .dictionary ? Self.part(bytes, &position) : nil
      if tag == .dictionary, key == nil { return true }
      guard let value = Self.part(bytes, &position) else { return true }
      let part = Part(index: index, isLast: index == count - 1, key: key, value: value)
      if !body(part) { return false }
    }
    return true
  }

  func first(where isMeant: (Part) -> Bool) -> Part? {
    var found: Part?
    forEach { part in
      if isMeant(part) { found = part }
      return found == nil
    }
    return found
  }

  private static func length(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Int? {
    guard position + 4 <= bytes.count else { return nil }
    defer { position += 4 }
    let length = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
    return Int(UInt32(littleEndian: length))
  }

  private static func part(
    _ bytes: UnsafeRawBufferPointer, _ position: inout Int
  ) -> UnsafeRawBufferPointer? {
    guard let length = length(bytes, &position), position + length <= bytes.count else {
      return nil
    }
    defer { position += length }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + length])
  }
}
