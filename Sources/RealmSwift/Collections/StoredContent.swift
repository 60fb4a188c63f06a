// Writes the whole content of a collection into a row. Where values that are there already are not
// to be written again, it changes only what differs.
internal import ObjectStore

/// A collection cell that gets its content element by element.
final class StoredContent {
  let table: StoredTable
  let kind: _CollectionKind
  private let group: GroupTransaction
  private let key: ObjectKey
  private let column: Int
  private let compares: Bool
  /// How many elements came.
  private var count = 0
  /// What a set or map has to hold in the end; only when comparing.
  private var kept: Set<[UInt8]> = []
  /// Integers that are not written yet: they go in together.
  private var integers: [Int64] = []

  /// Where what is given is gathered first, as it may be inside of what is there; nil where it
  /// cannot be.
  let keptForms: KeptForms?

  init(row: _RowWriter, column: Int) {
    table = row.binding.table!
    kind = _CollectionKind(rawValue: table.schema.columns[column].collection.rawValue)!
    group = row.group
    key = row.key
    self.column = column
    compares = row.compares
    keptForms = row.isNew || table.schema.columns[column].type != .any ? nil : KeptForms()
  }

  /// Takes the next element of a list, or one of a set.
  func add(_ value: ElementValue) {
    defer { count += 1 }
    if kind == .set {
      if compares { kept.insert(image(value)) }
      group.setInsert(table, key, column, value)
      return
    }
    if compares, count < elements().count {
      if !isEqual(elements(), count, value) {
        group.listSet(table, key, column, at: count, value)
      }
      return
    }
    if case .integer(let integer) = value {
      integers.append(integer)
      if integers.count == 1024 { flush() }
    } else {
      flush()
      group.listAppend(table, key, column, value)
    }
  }

  /// Sets an entry of a map.
  func set(_ name: String, _ value: ElementValue) {
    name._withBytes { name in
      if compares {
        kept.insert(Array(name))
        let row = self.row()
        if let position = row.reader.mapPosition(row.location, column, name),
          isEqual(row.reader.mapValues(row.location, column), position, value)
        {
          return
        }
      }
      group.mapSet(table, key, column, name, value)
    }
  }

  /// Writes what is left, and removes what did not come.
  func finish() {
    flush()
    guard compares else { return }
    switch kind {
    case .none: break
    case .list:
      let old = elements().count
      if old > count { group.listRemove(table, key, column, count..<old) }
    case .set:
      var gone: [[UInt8]] = []
      elements().forEach { _, value in
        if !kept.contains(image(value)) { gone.append(image(value)) }
        return true
      }
      for image in gone { withValue(image) { _ = group.setRemove(table, key, column, $0) } }
    case .map:
      var gone: [[UInt8]] = []
      let row = row()
      row.reader.mapKeys(row.location, column).forEach { _, value in
        if case .bytes(let name) = value, !kept.contains(Array(name)) { gone.append(Array(name)) }
        return true
      }
      for name in gone {
        name.withUnsafeBytes { _ = group.mapRemove(table, key, column, $0) }
      }
    }
  }

  private func flush() {
    if integers.isEmpty { return }
    integers.withUnsafeBufferPointer { group.listAppend(table, key, column, integers: $0) }
    integers.removeAll(keepingCapacity: true)
  }

  // MARK: - What is there

  private func row() -> (reader: TableReader, location: RowLocation) {
    let reader = group.reader(table)
    return (reader, reader.locate(key)!)
  }

  private func elements() -> ElementReader {
    let row = row()
    return row.reader.elements(row.location, column)
  }

  private func isEqual(_ elements: ElementReader, _ position: Int, _ value: ElementValue) -> Bool {
    switch value {
    case .null: return elements.isNull(at: position)
    case .integer(let value):
      return !elements.isNull(at: position) && elements.integer(at: position) == value
    case .bytes(let value):
      return elements.withBytes(at: position) { $0?.elementsEqual(value) ?? false }
    case .link(let key): return elements.link(at: position) == key
    }
  }

  /// An element of a set as bytes that tell it from all others.
  private func image(_ value: ElementValue) -> [UInt8] {
    switch value {
    case .null: return []
    case .integer(let value):
      // Both zeros are one element.
      let isZero = OrderKey.integer(value, table.schema.columns[column].type.order) == 0
      return [1] + withUnsafeBytes(of: isZero ? 0 : value) { Array($0) }
    case .bytes(let bytes): return [2] + Array(bytes)
    case .link(let key): return [3] + withUnsafeBytes(of: key.rawValue) { Array($0) }
    }
  }

  private func withValue(_ image: [UInt8], _ body: (ElementValue) -> Void) {
    image.withUnsafeBytes { bytes in
      guard let tag = bytes.first else { return body(.null) }
      let content = UnsafeRawBufferPointer(rebasing: bytes[1...])
      switch tag {
      case 1: body(.integer(content.loadUnaligned(as: Int64.self)))
      case 2: body(.bytes(content))
      default: body(.link(ObjectKey(rawValue: content.loadUnaligned(as: Int64.self))))
      }
    }
  }
}
