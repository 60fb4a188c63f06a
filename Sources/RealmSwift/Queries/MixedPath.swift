// Values inside of mixed values: lists and dictionaries in their stored form, gone through in
// place. The form is described at `AnyTag`.
internal import Glibc
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

  /// Where the values on the way of the steps are: the whole value first, what they lead to last;
  /// nil when there is nothing.
  static func way(
    _ bytes: UnsafeRawBufferPointer, _ steps: ArraySlice<PathStep>
  ) -> [Range<Int>]? {
    var way = [0..<bytes.count]
    for step in steps {
      let outer = UnsafeRawBufferPointer(rebasing: bytes[way[way.count - 1]])
      guard let part = MixedParts(outer)?.first(where: { $0.isMeant(by: step) }) else { return nil }
      let start = part.value.baseAddress! - bytes.baseAddress!
      way.append(start..<start + part.value.count)
    }
    return way
  }

  /// The value with other bytes for some of those of the last value on a way.
  ///
  /// What stays is copied as it is.
  ///
  /// - Parameters:
  ///   - range: which bytes of the last value.
  ///   - count: how many parts the last value has afterwards; nil if that is in the new bytes.
  static func replacing(
    _ bytes: UnsafeRawBufferPointer, _ way: [Range<Int>], _ range: Range<Int>,
    with new: [UInt8], count: Int? = nil
  ) -> [UInt8] {
    let place = way[way.count - 1]
    let start = place.lowerBound + range.lowerBound
    let growth = new.count - range.count
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + growth)
    result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<start]))
    result.append(contentsOf: new)
    result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[(start + range.count)...]))
    result.withUnsafeMutableBytes { result in
      // Each value on the way stands behind its own length.
      for passed in way.dropFirst() {
        setNumber(passed.count + growth, result, passed.lowerBound - 4)
      }
      if let count { setNumber(count, result, place.lowerBound + 1) }
    }
    return result
  }

  private static func setNumber(
    _ number: Int, _ bytes: UnsafeMutableRawBufferPointer, _ position: Int
  ) {
    // What is too long for its length is too long to be stored, and refused then.
    bytes.storeBytes(
      of: UInt32(truncatingIfNeeded: number).littleEndian, toByteOffset: position, as: UInt32.self)
  }
}

/// The content of an encoded list or dictionary.
struct MixedParts {
  let tag: AnyTag
  /// How many parts it says that it has.
  let count: Int
  let bytes: UnsafeRawBufferPointer

  /// A value of a list or dictionary.
  struct Part {
    let index: Int
    let isLast: Bool
    /// Where it stands in the collection's bytes, together with the lengths of key and value.
    let place: Range<Int>
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
    var position = Self.start
    for index in 0..<count {
      guard let part = part(index, at: position) else { return true }
      if !body(part) { return false }
      position = part.place.upperBound
    }
    return true
  }

  /// The part that begins at a place; nil when the bytes there are none.
  func part(_ index: Int, at start: Int) -> Part? {
    var position = start
    let key = tag == .dictionary ? Self.part(bytes, &position) : nil
    if tag == .dictionary, key == nil { return nil }
    guard let value = Self.part(bytes, &position) else { return nil }
    return Part(
      index: index, isLast: index == count - 1, place: start..<position, key: key, value: value)
  }

  /// Where the first part begins: behind the tag and the number of parts.
  static let start = 5

  /// Where each part is.
  var places: [Range<Int>] {
    var places: [Range<Int>] = []
    forEach { part in
      places.append(part.place)
      return true
    }
    return places
  }

  /// The bytes of some parts of a list, by their positions.
  func places(of range: Range<Int>) -> Range<Int> {
    // What is added at the end needs no look at what is in front of it.
    if range.lowerBound >= count { return bytes.count..<bytes.count }
    var (lower, upper) = (bytes.count, bytes.count)
    forEach { part in
      if part.index == range.lowerBound { lower = part.place.lowerBound }
      if part.index == range.upperBound { upper = part.place.lowerBound }
      return part.index < range.upperBound
    }
    return lower..<upper
  }

  /// The bytes of the entry of a key of a dictionary; empty, and where it belongs, when there is
  /// none.
  func place(ofKey key: UnsafeRawBufferPointer) -> Range<Int> {
    var found = bytes.count..<bytes.count
    forEach { part in
      let order = Self.order(part.key!, key)
      if order < 0 { return true }
      found = order == 0 ? part.place : part.place.lowerBound..<part.place.lowerBound
      return false
    }
    return found
  }

  /// The part with a key of a dictionary, by where the parts are; nil without such a one.
  func part(ofKey key: UnsafeRawBufferPointer, _ places: [Range<Int>]) -> Part? {
    var (lower, upper) = (0, places.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      guard let part = part(middle, at: places[middle].lowerBound) else { return nil }
      let order = Self.order(part.key!, key)
      if order == 0 { return part }
      if order < 0 { lower = middle + 1 } else { upper = middle }
    }
    return nil
  }

  /// The stored form of a dictionary that has the entries of two; those of the other one where both
  /// have a key.
  func merged(with other: MixedParts) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + other.bytes.count)
    result.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<Self.start]))
    var total: UInt32 = 0
    func take(_ part: Part, of parts: MixedParts) {
      result.append(contentsOf: UnsafeRawBufferPointer(rebasing: parts.bytes[part.place]))
      total += 1
    }
    // Both are in the order of their keys.
    var added = other.part(0, at: Self.start)
    forEach { part in
      while let next = added {
        let order = Self.order(next.key!, part.key!)
        if order > 0 { break }
        take(next, of: other)
        added = other.part(next.index + 1, at: next.place.upperBound)
        if order == 0 { return true }
      }
      take(part, of: self)
      return true
    }
    while let next = added {
      take(next, of: other)
      added = other.part(next.index + 1, at: next.place.upperBound)
    }
    withUnsafeBytes(of: total.littleEndian) { result.replaceSubrange(1..<Self.start, with: $0) }
    return result
  }

  /// Below zero when the left key comes first, zero when both are one.
  private static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int
  {
    let count = min(left.count, right.count)
    let order = count == 0 ? 0 : Int(memcmp(left.baseAddress!, right.baseAddress!, count))
    return order == 0 ? left.count - right.count : order
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
