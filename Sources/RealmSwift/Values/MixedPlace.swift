// The place of a list or dictionary inside of a mixed value: the place of the whole value in the
// file, and the way into it. Reading goes through the value's bytes, a change writes the whole
// value anew.
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
  func count(_ tag: AnyTag) -> Int { withParts(tag) { $0.count } }

  /// The value at a position of a list; stops when it is out of bounds.
  func value(at position: Int) -> AnyRealmValue {
    checkBounds(position, count(.list))
    return value(.list, atIndex: position) ?? .none
  }

  /// The value of a key of a dictionary.
  func value(ofKey key: String) -> AnyRealmValue? {
    withParts(.dictionary) { parts in
      parts.first { $0.key!.elementsEqual(key.utf8) }.map { value($0.value, .key(key)) }
    }
  }

  /// The elements of a list.
  func values() -> [AnyRealmValue] {
    withParts(.list) { parts in
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
    withParts(.dictionary) { parts in
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
    _ = withParts(tag) { $0.forEach(body) }
  }

  /// The value at an index of a list, or of the entries of a dictionary in the order of their keys.
  func value(_ tag: AnyTag, atIndex index: Int) -> AnyRealmValue? {
    withParts(tag) { parts in
      parts.first { $0.index == index }.map { part in
        value(part.value, part.key.map { .key(String(_bytes: $0)) } ?? .index(index))
      }
    }
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

  /// Runs `body` on the collection's content; stops when it is gone.
  private func withParts<Result>(_ tag: AnyTag, _ body: (MixedParts) -> Result) -> Result {
    withRoot { bytes in
      guard let parts = bytes.flatMap({ MixedPath.part($0, inner) }).flatMap({ MixedParts($0) }),
        parts.tag == tag
      else { misuse(.invalidated, "Object has been deleted or invalidated.") }
      return body(parts)
    }
  }

  // MARK: - Changing

  /// Replaces the elements of a list by what `change` makes of them.
  func editList(_ change: (inout [AnyRealmValue]) -> Void) {
    _ = cell.requireWriting()
    var values = values()
    change(&values)
    replace { $0.append(list: values) }
  }

  /// Replaces the entries of a dictionary by what `change` makes of them.
  func editEntries(_ change: (inout [StoredText: AnyRealmValue]) -> Void) {
    _ = cell.requireWriting()
    var entries = Dictionary(
      uniqueKeysWithValues: entries().map { (StoredText($0.key), $0.value) })
    change(&entries)
    replace { $0.append(dictionary: entries) }
  }

  /// Writes the whole value with another collection in this place.
  private func replace(_ write: (inout AnyValueWriter) -> Void) {
    let group = cell.requireWriting()
    let links = LinkInsertion(cell.realm, .error)
    // What is inside of the new content is read from the old value: that is still there.
    var writer = AnyValueWriter(links)
    write(&writer)
    let bytes = withRoot { root in
      root.flatMap { MixedPath.replacing($0, inner, with: writer.bytes) }
    }
    guard let bytes else {
      misuse(.invalidated, "Object has been deleted or invalidated.")
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
