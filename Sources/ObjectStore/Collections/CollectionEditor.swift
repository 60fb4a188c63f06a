// The collection that a transaction changed last. It stays open, so that one element after another
// goes into the same leaf without a descent from the table's root.
internal import Storage
internal import Trees

/// One open collection of an object.
///
/// Belongs to one GroupTransaction.
final class CollectionEditor {
  /// Elements of a list or set, or values of a map.
  let elements: ElementTreeEditor
  /// Keys of a map.
  let keys: ElementTreeEditor
  /// Place of the open collection; table -1 if none is open.
  @exclusivity(unchecked) fileprivate(set) var table = -1
  @exclusivity(unchecked) fileprivate(set) var key: Int64 = 0
  @exclusivity(unchecked) fileprivate(set) var column = 0
  /// What the table's tree had written out by then; more means that blocks are not where they were.
  @exclusivity(unchecked) fileprivate var sealCount = 0
  /// What the object's cell refers to.
  @exclusivity(unchecked) fileprivate var cell = BlockReference.none
  @exclusivity(unchecked) fileprivate var traits: ColumnTraits
  @exclusivity(unchecked) fileprivate(set) var isMap = false

  fileprivate init(_ editor: BlockEditor, _ traits: ColumnTraits) {
    elements = ElementTreeEditor(editor)
    keys = ElementTreeEditor(editor)
    self.traits = traits
  }

  /// Forgets the open collection.
  func close() { table = -1 }

  /// Reads the elements as they are now.
  var reader: ElementReader {
    ElementReader(
      reader: elements.tree.reader, root: elements.root, order: traits.order,
      isLinks: traits.isLink)
  }

  /// Reads the keys as they are now.
  var keyReader: ElementReader {
    ElementReader(reader: keys.tree.reader, root: keys.root, order: .bytes, isLinks: false)
  }

  /// Puts a value before a position, or at the end.
  func insert(_ value: ElementValue, at position: Int) {
    switch value {
    case .integer(let integer): elements.insert(integer: integer, at: position)
    case .link(let key): elements.insert(integer: key.rawValue, at: position)
    case .bytes(let bytes): elements.insert(bytes: bytes, at: position)
    case .null:
      if traits.isPacked {
        elements.insert(integer: nil, at: position)
      } else {
        elements.insert(bytes: nil, at: position)
      }
    }
  }

  /// Changes an element.
  func set(_ value: ElementValue, at position: Int) {
    switch value {
    case .integer(let integer): elements.set(integer: integer, at: position)
    case .link(let key): elements.set(integer: key.rawValue, at: position)
    case .bytes(let bytes): elements.set(bytes: bytes, at: position)
    case .null:
      if traits.isPacked {
        elements.set(integer: nil, at: position)
      } else {
        elements.set(bytes: nil, at: position)
      }
    }
  }
}

extension GroupTransaction {
  /// Runs `change` on a collection, and stores what its object's cell refers to then.
  @inline(__always)
  func withCollection<Result>(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int,
    _ change: (TableEditor, CollectionEditor) -> Result
  ) -> Result {
    withTable(table) { tableEditor in
      let opened = collection ?? makeCollection(table.traits[column])
      return opened._withUnsafeGuaranteedRef { collection in
        if _slowPath(
          collection.key != key.rawValue || collection.column != column
            || collection.table != table.index
            || collection.sealCount != tableEditor.tree.sealCount)
        {
          open(collection, tableEditor, key, column)
        }
        let result = change(tableEditor, collection)
        if collection.isMap {
          storeMap(collection, tableEditor)
        } else if collection.elements.root != collection.cell {
          store(collection.elements.root, collection, tableEditor)
        }
        return result
      }
    }
  }

  @inline(never)
  private func makeCollection(_ traits: ColumnTraits) -> Unmanaged<CollectionEditor> {
    let made = Unmanaged.passRetained(CollectionEditor(editor, traits))
    collection = made
    return made
  }

  @inline(never)
  private func open(
    _ collection: CollectionEditor, _ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int
  ) {
    let table = tableEditor.table
    let reader = tableEditor.lookup
    guard let location = reader.locate(key) else { stopForMissing(tableEditor, key) }
    let cell = reader.cell(location, column)
    collection.table = table.index
    collection.key = key.rawValue
    collection.column = column
    collection.sealCount = tableEditor.tree.sealCount
    collection.cell = cell
    collection.traits = table.traits[column]
    collection.isMap = table.schema.columns[column].collection == .map
    let isPacked = collection.traits.isPacked
    if !collection.isMap {
      collection.elements.open(cell, isPacked: isPacked)
      return
    }
    let root = cell.isNone ? nil : editor.reader.pointer(cell, .mapRoot)
    collection.keys.open(root.map { BlockHeader.reference($0, 0) } ?? .none, isPacked: false)
    collection.elements.open(
      root.map { BlockHeader.reference($0, 1) } ?? .none, isPacked: isPacked)
  }

  private func store(
    _ cell: BlockReference, _ collection: CollectionEditor, _ tableEditor: TableEditor
  ) {
    collection.cell = cell
    _ = tableEditor.tree.setReference(collection.key, collection.column, cell)
    collection.sealCount = tableEditor.tree.sealCount
  }

  private func storeMap(_ collection: CollectionEditor, _ tableEditor: TableEditor) {
    let keys = collection.keys.root
    let values = collection.elements.root
    var cell = collection.cell
    if cell.isNone {
      if keys.isNone { return }
      cell = editor.allocate(kind: .mapRoot, count: 2, payloadBytes: 16)
    } else {
      let root = editor.reader.pointer(cell, .mapRoot)
      if BlockHeader.reference(root, 0) == keys, BlockHeader.reference(root, 1) == values { return }
      if keys.isNone {
        editor.free(cell)
        store(.none, collection, tableEditor)
        return
      }
      cell = editor.mutable(cell)
    }
    BlockHeader.setReference(editor.pointer(cell), 0, keys)
    BlockHeader.setReference(editor.pointer(cell), 1, values)
    if cell != collection.cell { store(cell, collection, tableEditor) }
  }

  /// Forgets the open collection: its blocks may go or move.
  func closeCollection() {
    if let collection { collection._withUnsafeGuaranteedRef { $0.close() } }
  }
}
