// Links inside a transaction: every link has its pair in the tree of links of its column.
internal import Trees

extension GroupTransaction {
  /// Makes an object's to-one link lead to another object, or nowhere.
  ///
  /// An embedded object that it led to is deleted.
  ///
  /// - Precondition: both objects exist; an embedded target is not linked yet.
  package func setLink(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ target: ObjectKey?
  ) {
    withTable(table) { tableEditor in
      let lookup = tableEditor.lookup
      guard let location = lookup.locate(key) else { stopForMissing(tableEditor, key) }
      let old = lookup.link(location, column)
      noteModified(tableEditor, key, column)
      if old == target {
        // An assignment is a change, also of the same value; without a changed block there is no
        // version.
        if tableEditor.recorder != nil {
          storeInteger(tableEditor, key, column, target?.rawValue, true)
        }
        return
      }
      storeInteger(tableEditor, key, column, target?.rawValue, true)
      tableEditor.changePairs(column, .links) { pairs in
        if let old { pairs.remove(Pair(old.rawValue, key.rawValue)) }
        if let target { pairs.insert(Pair(target.rawValue, key.rawValue)) }
      }
      if let old { tableEditor.noteLink(column, to: old) }
      if let target { tableEditor.noteLink(column, to: target) }
      if let old { orphan(table.index, column, old) }
    }
    deleteOrphans()
  }

  /// A new object of an embedded table, with defaults.
  ///
  /// The caller links it at once.
  package func insertEmbedded(_ table: StoredTable) -> ObjectKey { insert(table) }

  // MARK: - Pairs of links

  /// Enters the links in a value that a column of links or `any` has got.
  func addLinks(
    _ tableEditor: TableEditor, _ column: Int, _ origin: ObjectKey, _ value: ElementValue
  ) {
    switch value {
    case .link(let target):
      tableEditor.changePairs(column, .links) {
        $0.insert(Pair(target.rawValue, origin.rawValue))
      }
      tableEditor.noteLink(column, to: target)
    case .bytes(let bytes):
      guard tableEditor.table.traits[column].isAny, AnyCoding.mayHoldLinks(bytes) else { return }
      tableEditor.changePairs(column, .links) { pairs in
        AnyCoding.forEachLink(bytes) { _, packed in pairs.insert(Pair(packed, origin.rawValue)) }
      }
    case .null: break
    case .integer:
      precondition(!tableEditor.table.traits[column].isLink, "an integer in a column of links")
    }
  }

  /// Takes back the links in a value that a column of links or `any` loses.
  func removeLinks(
    _ tableEditor: TableEditor, _ column: Int, _ origin: ObjectKey, _ value: ElementValue
  ) {
    switch value {
    case .link(let target):
      tableEditor.changePairs(column, .links) {
        _ = $0.remove(Pair(target.rawValue, origin.rawValue))
      }
      tableEditor.noteLink(column, to: target)
      orphan(tableEditor.table.index, column, target)
    case .bytes(let bytes):
      guard tableEditor.table.traits[column].isAny, AnyCoding.mayHoldLinks(bytes) else { return }
      tableEditor.changePairs(column, .links) { pairs in
        AnyCoding.forEachLink(bytes) { _, packed in
          pairs.remove(Pair(packed, origin.rawValue))
        }
      }
    case .null, .integer: break
    }
  }

  /// The same for some elements of a collection.
  func removeLinks(
    _ tableEditor: TableEditor, _ column: Int, _ origin: ObjectKey, _ elements: ElementReader,
    _ range: Range<Int>
  ) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= elements.count, "\(range) of \(elements.count)")
    if range.isEmpty { return }
    elements.forEach(from: range.lowerBound) { position, value in
      removeLinks(tableEditor, column, origin, value)
      return position + 1 < range.upperBound
    }
  }

  /// An object has lost a link: if it is embedded it goes at the next `deleteOrphans`.
  func orphan(_ table: Int, _ column: Int, _ target: ObjectKey) {
    if let embedded = schema.embeddedTarget(table, column) { orphans.append((embedded, target)) }
  }

  /// Deletes the embedded objects that have no link any more, with all that they own.
  @inline(__always)
  func deleteOrphans() {
    if _slowPath(!orphans.isEmpty) { deleteAllOrphans() }
  }

  @inline(never)
  private func deleteAllOrphans() {
    closeCollection()
    // Deleting one may add those that it owns: a list of work, so that no chain is too long.
    while let orphan = orphans.popLast() {
      if !isLinked(orphan.table, orphan.key) { deleteObject(orphan.table, orphan.key) }
    }
  }

  /// Whether a typed link leads to an object.
  private func isLinked(_ table: Int, _ key: ObjectKey) -> Bool {
    schema.incoming[table].contains { place in
      var isLinked = false
      reader(schema.tables[place.table]).pairTree(place.column, .links)
        .forEach(from: Pair(key.rawValue, .min)) { pair in
          isLinked = pair.first == key.rawValue
          return false
        }
      return isLinked
    }
  }
}
