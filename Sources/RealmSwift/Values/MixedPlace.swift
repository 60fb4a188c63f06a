// The place of a list or dictionary inside of a mixed value: the place of the whole value in the
// file, and the way into it. Reading goes through the value's bytes, a change writes the whole
// value anew: one copy of its bytes, of which those that stay are not looked into.
internal import ObjectStore

/// A list or dictionary inside of a managed mixed value.
///
/// It is known by the positions and keys that lead to it, and shows what is there now: when an
/// element in front of it in the same list goes, it shows the next one.
@usableFromInline
final class MixedPlace {
  /// The property or collection that has the whole value.
  let cell: CollectionCell
  /// Of a collection the element comes first; then what leads from the value to what is inside.
  let steps: [PathStep]
  // Unchecked exclusivity: confined like the cell.
  /// What was read, if `generation` is the table's.
  ///
  /// Not used when frozen: several threads may read then.
  @exclusivity(unchecked) private var content: Content?
  @exclusivity(unchecked) private var generation: UInt64 = 0
  /// Look-ups until it is worth it to keep the content.
  @exclusivity(unchecked) private var lookUpsLeft = 0

  /// The collection's own bytes, and where its parts are in them.
  private struct Content {
    let bytes: [UInt8]
    let places: [Range<Int>]
  }

  init(_ cell: CollectionCell, _ steps: [PathStep]) {
    self.cell = cell
    self.steps = steps
  }

  /// How many collections can be inside of each other.
  static let depthMax = 100

  /// Stops because there are more.
  static func stopForDepth() -> Never {
    misuse(
      .argument,
      "Collections inside of a mixed value can be nested at most \(depthMax) deep.")
  }

  // MARK: - Reading

  /// Whether there is no such collection any more.
  func isInvalidated(_ tag: AnyTag) -> Bool {
    cell.isInvalidated
      || withRoot { $0.flatMap { MixedPath.part($0, inner) }?.first != tag.rawValue }
  }

  /// The number of elements or entries.
  func count(_ tag: AnyTag) -> Int { withParts(tag) { parts, _ in parts.count } }

  /// The value at a position of a list; stops when it is out of bounds.
  func value(at position: Int) -> AnyRealmValue {
    withParts(.list) { parts, places in
      checkBounds(position, parts.count)
      return value(parts, places, position) ?? .none
    }
  }

  /// The value of a key of a dictionary.
  func value(ofKey key: String) -> AnyRealmValue? {
    withParts(.dictionary) { parts, places in
      let part = key._withBytes { key in
        places.map { parts.part(ofKey: key, $0) }
          ?? parts.first { $0.key!.count == key.count && $0.key!.elementsEqual(key) }
      }
      return part.map { value($0.value, .key(key)) }
    }
  }

  /// The elements of a list.
  func values() -> [AnyRealmValue] {
    withParts(.list) { parts, _ in
      var values: [AnyRealmValue] = []
      parts.forEach { part in
        values.append(value(part.value, .index(part.index)))
        return true
      }
      return values
    }
  }

  /// The entries of a dictionary, in the order of their keys.
  func entries() -> [(key: String, value: AnyRealmValue)] {
    withParts(.dictionary) { parts, _ in
      var entries: [(key: String, value: AnyRealmValue)] = []
      parts.forEach { part in
        let key = String(_bytes: part.key!)
        entries.append((key, value(part.value, .key(key))))
        return true
      }
      return entries
    }
  }

  /// Runs `body` on each part of the collection until it returns false.
  func forEachPart(_ tag: AnyTag, _ body: (MixedParts.Part) -> Bool) {
    _ = withParts(tag) { parts, _ in parts.forEach(body) }
  }

  /// The value at an index of a list, or of the entries of a dictionary in the order of their keys.
  func value(_ tag: AnyTag, atIndex index: Int) -> AnyRealmValue? {
    withParts(tag) { value($0, $1, index) }
  }

  /// Runs `body` on the bytes of the value at an index, if there is one.
  func withValue(_ tag: AnyTag, atIndex index: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
    withParts(tag) { parts, places in
      if let part = Self.part(parts, places, index) { body(part.value) }
    }
  }

  private func value(
    _ parts: MixedParts, _ places: [Range<Int>]?, _ index: Int
  ) -> AnyRealmValue? {
    Self.part(parts, places, index).map { part in
      value(part.value, part.key.map { .key(String(_bytes: $0)) } ?? .index(index))
    }
  }

  private static func part(
    _ parts: MixedParts, _ places: [Range<Int>]?, _ index: Int
  ) -> MixedParts.Part? {
    guard let places else { return parts.first { $0.index == index } }
    return places.indices.contains(index) ? parts.part(index, at: places[index].lowerBound) : nil
  }

  private func value(_ bytes: UnsafeRawBufferPointer, _ step: PathStep) -> AnyRealmValue {
    cell.realm.anyValue(bytes) { MixedPlace(cell, steps + [step]) }
  }

  /// The steps inside of the value.
  private var inner: ArraySlice<PathStep> { cell.kind == .none ? steps[...] : steps.dropFirst() }

  /// Runs `body` on the bytes of the whole value; nil when there is none.
  private func withRoot<Result>(_ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
    let row = cell.requireRow()
    if cell.kind == .none { return row.reader.withBytes(row.location, cell.column, body) }
    let elements = cell.requireContent()
    guard let position = rootPosition(row), position < elements.count else { return body(nil) }
    return elements.withBytes(at: position, body)
  }

  /// The position of the whole value among the values of its collection.
  private func rootPosition(_ row: (reader: TableReader, location: RowLocation)) -> Int? {
    switch steps[0] {
    case .index(let position): return position
    case .key(let key):
      return key._withBytes { row.reader.mapPosition(row.location, cell.column, $0) }
    default: return nil
    }
  }

  /// Runs `body` on the collection's content, and on where its parts are if that is known; stops
  /// when it is gone.
  private func withParts<Result>(
    _ tag: AnyTag, _ body: (MixedParts, [Range<Int>]?) -> Result
  ) -> Result {
    if let content = currentContent() {
      return content.bytes.withUnsafeBytes { bytes in
        guard let parts = MixedParts(bytes), parts.tag == tag else { stopForInvalidation() }
        return body(parts, content.places)
      }
    }
    return withRoot { bytes in
      guard let part = bytes.flatMap({ MixedPath.part($0, inner) }), let parts = MixedParts(part),
        parts.tag == tag
      else { stopForInvalidation() }
      noteLookUp(parts)
      return body(parts, content?.places)
    }
  }

  /// The content, if it was kept and is as it was, and the caller may read it.
  private func currentContent() -> Content? {
    let table = cell.table
    guard let content, table.pointee.generation == generation, table.pointee.isOwnerHere else {
      return nil
    }
    return content
  }

  /// Keeps the content when it was asked for several times with nothing changed in between.
  private func noteLookUp(_ parts: MixedParts) {
    if cell.realm.isFrozen { return }
    if generation != cell.table.pointee.generation {
      generation = cell.table.pointee.generation
      content = nil
      lookUpsLeft = 4
    }
    lookUpsLeft -= 1
    if lookUpsLeft == 0 { content = Content(bytes: Array(parts.bytes), places: parts.places) }
  }

  /// Stops when there is no such collection any more.
  func requireThere(_ tag: AnyTag) { if isInvalidated(tag) { stopForInvalidation() } }

  private func stopForInvalidation() -> Never {
    misuse(.invalidated, "Object has been deleted or invalidated.")
  }

  // MARK: - Changing

  /// Replaces elements of a list by others.
  ///
  /// - Parameter range: which ones of how many.
  func replaceElements(
    with values: [AnyRealmValue], _ range: (_ count: Int) -> Range<Int>
  ) {
    replaceParts(.list) { parts in
      let range = range(parts.count)
      return (parts.places(of: range), parts.count - range.count + values.count)
    } write: { writer in
      for value in values { writer.append(inside: value) }
    }
  }

  /// Brings the elements of a list into another order, or leaves some of them out.
  ///
  /// - Parameter change: of the positions.
  func rearrange(_ change: (inout [Int]) -> Void) {
    store(LinkInsertion(cell.realm, .error)) { root in
      guard let way = MixedPath.way(root, inner), let parts = parts(.list, root, way) else {
        return nil
      }
      let places = parts.places
      var order = Array(places.indices)
      change(&order)
      var bytes: [UInt8] = []
      bytes.reserveCapacity(parts.bytes.count)
      for position in order {
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: parts.bytes[places[position]]))
      }
      return MixedPath.replacing(
        root, way, MixedParts.start..<parts.bytes.count, with: bytes, count: order.count)
    }
  }

  /// Sets the value of a key of a dictionary.
  func setEntry(_ key: String, _ value: AnyRealmValue) {
    replaceParts(.dictionary) { parts in
      let place = key._withBytes { parts.place(ofKey: $0) }
      return (place, parts.count + (place.isEmpty ? 1 : 0))
    } write: { writer in
      writer.append(key: key)
      writer.append(inside: value)
    }
  }

  /// Sets the values of several keys of a dictionary.
  func setEntries(_ entries: [StoredText: AnyRealmValue]) {
    _ = cell.requireWriting()
    let links = LinkInsertion(cell.realm, .error)
    // Before the dictionary is looked for, as in `replaceParts`.
    var writer = AnyValueWriter(links, inside: inner.count)
    writer.append(dictionary: entries)
    store(links) { root in
      guard let way = MixedPath.way(root, inner), let parts = parts(.dictionary, root, way) else {
        return nil
      }
      let merged = writer.bytes.withUnsafeBytes { parts.merged(with: MixedParts($0)!) }
      return MixedPath.replacing(root, way, 0..<parts.bytes.count, with: merged)
    }
  }

  /// Removes a key of a dictionary, if it is there.
  func removeEntry(_ key: String) {
    _ = cell.requireWriting()
    let isThere = withParts(.dictionary) { parts, _ in
      key._withBytes { !parts.place(ofKey: $0).isEmpty }
    }
    if !isThere { return }
    replaceParts(.dictionary) { parts in
      (key._withBytes { parts.place(ofKey: $0) }, parts.count - 1)
    } write: { _ in
    }
  }

  /// Removes the entries of a dictionary.
  func removeEntries() {
    replaceParts(.dictionary) { parts in
      (MixedParts.start..<parts.bytes.count, 0)
    } write: { _ in
    }
  }

  /// Writes the whole value with other parts for some of this collection.
  ///
  /// - Parameters:
  ///   - find: which bytes are replaced, and how many parts there are afterwards.
  ///   - write: writes the new parts.
  private func replaceParts(
    _ tag: AnyTag, _ find: (MixedParts) -> (place: Range<Int>, count: Int),
    write: (inout AnyValueWriter) -> Void
  ) {
    _ = cell.requireWriting()
    let links = LinkInsertion(cell.realm, .error)
    // Before the parts are looked for: to add objects can move the value. New content may be part
    // of the old value, which is still there.
    var writer = AnyValueWriter(links, inside: inner.count)
    write(&writer)
    store(links) { root in
      guard let way = MixedPath.way(root, inner), let parts = parts(tag, root, way) else {
        return nil
      }
      let found = find(parts)
      return MixedPath.replacing(root, way, found.place, with: writer.bytes, count: found.count)
    }
  }

  /// The parts of the collection that a way leads to; nil when it is another sort of value.
  private func parts(
    _ tag: AnyTag, _ root: UnsafeRawBufferPointer, _ way: [Range<Int>]
  ) -> MixedParts? {
    let bytes = UnsafeRawBufferPointer(rebasing: root[way[way.count - 1]])
    return MixedParts(bytes).flatMap { $0.tag == tag ? $0 : nil }
  }

  /// Stores what is made of the whole value's bytes; stops when that is nil, or too long.
  private func store(_ links: LinkInsertion, _ make: (UnsafeRawBufferPointer) -> [UInt8]?) {
    let group = cell.requireWriting()
    guard let bytes = withRoot({ root in root.flatMap { make($0) } }) else {
      stopForInvalidation()
    }
    if bytes.count > valueLengthMax {
      misuse(
        .argument,
        "The value has \(bytes.count) bytes; at most \(valueLengthMax) can be stored.")
    }
    let (table, key, column) = (cell.storedTable, cell.key, cell.column)
    bytes.withUnsafeBytes { bytes in
      switch steps.first {
      case .index(let position) where cell.kind == .list:
        group.listSet(table, key, column, at: position, .bytes(bytes))
      case .key(let name) where cell.kind == .map:
        name._withBytes { _ = group.mapSet(table, key, column, $0, .bytes(bytes)) }
      default: group.setBytes(table, key, column, bytes)
      }
    }
    links.finish()
    cell.changed()
  }

  // MARK: - Forms

  /// The place in the frozen Realm of the current version.
  func frozen() -> MixedPlace { MixedPlace(cell.frozen(), steps) }

  /// The place in the live Realm; nil when the object or the collection is gone.
  func thawed(_ tag: AnyTag) -> MixedPlace? {
    guard let place = cell.thawed().map({ MixedPlace($0, steps) }), !place.isInvalidated(tag) else {
      return nil
    }
    return place
  }

  /// Whether both are the same collection of the same Realm.
  func isSame(as other: MixedPlace) -> Bool { cell.isSame(as: other.cell) && steps == other.steps }
}

/// A collection that can be inside of a mixed value.
protocol InsideMixedValue {
  /// Where it is; nil when it is not inside of one.
  var nestedPlace: MixedPlace? { get }
}

extension List: InsideMixedValue {}
extension Map: InsideMixedValue {}
