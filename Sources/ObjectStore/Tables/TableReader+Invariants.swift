// The complete check of what a table's columns own and of their trees of pairs, for tests and
// `realm-bench check`. What concerns several tables is in StoredSchema.checkInvariants.
internal import Storage
internal import Trees

extension TableReader {
  /// Walks collections, links and indexes.
  func checkPairs(_ table: StoredTable) -> [String] {
    var findings: [String] = []
    for (column, declared) in table.schema.columns.enumerated() {
      let name = "\(table.schema.name).\(declared.name)"
      if declared.collection != .none {
        forEachObject { key, location in
          findings += checkCollection(location, column, declared, "\(name) of \(key.rawValue)")
          return findings.count < 100
        }
      }
      let isIndexed = table.indexedColumns.contains(column)
      let holdsLinks = table.linkColumns.contains(column)
      let links = pairTree(column, .links)
      let index = pairTree(column, .index)
      findings += links.checkInvariants(name: "\(name) links")
      findings += index.checkInvariants(name: "\(name) index")
      if !findings.isEmpty { continue }
      let expected = holdsLinks ? allLinks(column, declared).sorted() : []
      if all(links) != expected {
        findings.append("\(name): \(links.count) pairs of links for \(expected.count) links")
      }
      var orders: [Pair] = []
      if isIndexed {
        forEachObject { key, location in
          orders.append(Pair(order(location, column), key.rawValue))
          return true
        }
      }
      if all(index) != orders.sorted() {
        findings.append("\(name): the index is not that of the values")
      }
    }
    return findings
  }

  private func all(_ tree: PairTree) -> [Pair] {
    var pairs: [Pair] = []
    tree.forEach {
      pairs.append($0)
      return true
    }
    return pairs
  }

  /// The pair that each link of a column must have.
  private func allLinks(_ column: Int, _ declared: ColumnSchema) -> [Pair] {
    var pairs: [Pair] = []
    forEachObject { key, location in
      func add(_ value: ElementValue) {
        switch value {
        case .link(let target): pairs.append(Pair(target.rawValue, key.rawValue))
        case .bytes(let bytes):
          AnyCoding.forEachLink(bytes) { _, packed in pairs.append(Pair(packed, key.rawValue)) }
        default: break
        }
      }
      func addAll(_ elements: ElementReader) {
        elements.forEach { _, value in
          add(value)
          return true
        }
      }
      switch declared.collection {
      case .list, .set: addAll(elements(location, column))
      case .map: addAll(mapValues(location, column))
      case .none where declared.type == .any:
        withBytes(location, column) { if let bytes = $0 { add(.bytes(bytes)) } }
      case .none: if let target = link(location, column) { add(.link(target)) }
      }
      return true
    }
    return pairs
  }

  private func checkCollection(
    _ location: RowLocation, _ column: Int, _ declared: ColumnSchema, _ name: String
  ) -> [String] {
    let cell = cell(location, column)
    if cell.isNone { return [] }
    guard declared.collection == .map else {
      let elements = elements(location, column)
      var findings = elements.tree.checkInvariants(isPacked: declared.type.isPacked, name: name)
      if elements.count == 0 { findings.append("\(name): an empty tree") }
      if declared.collection == .set { findings += checkSorted(elements, name) }
      return findings
    }
    let root = reader.pointer(cell)
    guard BlockHeader.kind(root) == .mapRoot, BlockHeader.count(root) == 2 else {
      return ["\(name): not the root of a map"]
    }
    let keys = mapKeys(location, column)
    let values = mapValues(location, column)
    var findings = keys.tree.checkInvariants(isPacked: false, name: "\(name) keys")
    findings += values.tree.checkInvariants(isPacked: declared.type.isPacked, name: name)
    if keys.count != values.count || keys.count == 0 {
      findings.append("\(name): \(keys.count) keys and \(values.count) values")
    }
    return findings + checkSorted(keys, "\(name) keys")
  }

  /// Each value once, in order.
  private func checkSorted(_ elements: ElementReader, _ name: String) -> [String] {
    var findings: [String] = []
    elements.forEach { position, value in
      if elements.search(value) != (position, true) {
        findings.append("\(name): element \(position) is not in order")
      }
      return findings.isEmpty
    }
    return findings
  }
}

extension StoredSchema {
  /// Checks all tables of a version, and that links between them lead somewhere.
  ///
  /// - Returns: what is wrong, one sentence each.
  package func checkInvariants(_ reader: (StoredTable) -> TableReader) -> [String] {
    let readers = tables.map(reader)
    var findings = tables.flatMap { readers[$0.index].checkInvariants($0) }
    if !findings.isEmpty { return findings }
    for table in tables {
      var owners: [Int64: Int] = [:]
      for place in incoming[table.index] {
        let origin = tables[place.table].schema.name
        readers[place.table].pairTree(place.column, .links).forEach { pair in
          owners[pair.first, default: 0] += 1
          if readers[table.index].locate(ObjectKey(rawValue: pair.first)) == nil {
            findings.append(
              "\(origin) \(pair.second) links to \(pair.first) of \(table.schema.name), which is gone"
            )
          }
          return true
        }
      }
      guard table.schema.isEmbedded else { continue }
      readers[table.index].forEachObject { key, _ in
        let count = owners[key.rawValue] ?? 0
        if count != 1 {
          findings.append("\(table.schema.name) \(key.rawValue) is embedded \(count) times")
        }
        return true
      }
    }
    return findings + checkAnyLinks(readers)
  }

  private func checkAnyLinks(_ readers: [TableReader]) -> [String] {
    var findings: [String] = []
    for place in anyColumns {
      readers[place.table].pairTree(place.column, .links).forEach { pair in
        let target = tables.first { AnyCoding.packed(tableKey: $0.tableKey).contains(pair.first) }
        let key = ObjectKey(rawValue: pair.first & (1 << 40 - 1))
        if target.flatMap({ readers[$0.index].locate(key) }) == nil {
          findings.append(
            "\(tables[place.table].schema.name) \(pair.second) has an `any` link to nothing")
        }
        return true
      }
    }
    return findings
  }
}
