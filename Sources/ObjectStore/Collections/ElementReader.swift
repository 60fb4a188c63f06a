// Reading one collection of one version, or of a running transaction until its next change. A
// trivial value like TableReader.
public import Storage
public import Trees

/// The elements of a list or set, or the keys or values of a map.
///
/// Valid as long as the TableReader that gave it.
@frozen @usableFromInline
package struct ElementReader {
  @usableFromInline let tree: ElementTree
  @usableFromInline let order: ElementOrder
  /// Whether integers are object keys.
  @usableFromInline let isLinks: Bool
  /// Number of elements.
  @usableFromInline package let count: Int

  @inlinable
  init(reader: BlockReader, root: BlockReference, order: ElementOrder, isLinks: Bool) {
    tree = ElementTree(reader: reader, root: root)
    self.order = order
    self.isLinks = isLinks
    count = tree.count
  }

  /// A packed element; unspecified for null.
  ///
  /// - Precondition: the position is below `count`; here and below.
  /// - Complexity: O(log n).
  @inlinable
  package func integer(at position: Int) -> Int64 {
    precondition(position >= 0 && position < count, "a position behind a collection's end")
    return tree.integer(at: position)
  }

  /// Whether an element is null.
  ///
  /// - Complexity: O(log n).
  @inlinable
  package func isNull(at position: Int) -> Bool {
    precondition(position >= 0 && position < count, "a position behind a collection's end")
    return tree.isNull(at: position)
  }

  /// Runs `body` on an element's bytes; nil for null.
  ///
  /// The bytes are valid inside `body` only.
  ///
  /// - Complexity: O(log n).
  @inlinable
  package func withBytes<Result>(
    at position: Int, _ body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    precondition(position >= 0 && position < count, "a position behind a collection's end")
    return try tree.withBytes(at: position, body)
  }

  /// The object that an element links to; nil for null, which a map's value may be.
  ///
  /// - Complexity: O(log n).
  @inlinable
  package func link(at position: Int) -> ObjectKey? {
    precondition(position >= 0 && position < count, "a position behind a collection's end")
    let (leaf, row) = tree.leaf(at: position)
    checkLeaf(leaf)
    return PackedLeaf.isNull(leaf, row)
      ? nil : ObjectKey(rawValue: PackedLeaf.value(leaf, row))
  }

  /// Stops if a leaf is not of the kind that its elements have.
  @inlinable @inline(__always)
  func checkLeaf(_ leaf: UnsafeRawPointer) {
    ElementTree.checkLeaf(tree.reader, leaf, isPacked: order != .bytes)
  }

  /// `ElementTree.forEachLeaf` with leaves of the right kind.
  @inline(__always)
  func forEachLeaf(
    from position: Int = 0,
    _ body: (_ first: Int, _ leaf: UnsafeRawPointer, _ rows: Int) -> Bool
  ) {
    tree.forEachLeaf(from: position) { first, leaf, rows in
      checkLeaf(leaf)
      return body(first, leaf, rows)
    }
  }

  /// Where a value is first.
  ///
  /// - Parameter sorted: the elements are a set's or a map's keys.
  /// - Complexity: O(log n) when sorted, else O(n).
  package func position(of value: ElementValue, sorted: Bool) -> Int? {
    if sorted {
      let (position, isThere) = search(value)
      return isThere ? position : nil
    }
    if case .integer(let integer) = value, order == .signed {
      return positions(ofInteger: integer, maximum: 1).first
    }
    if case .link(let key) = value { return positions(ofInteger: key.rawValue, maximum: 1).first }
    var found: Int?
    forEachLeaf { first, leaf, rows in
      for row in 0..<rows where isEqual(leaf, row, value) {
        found = first + row
        return false
      }
      return true
    }
    return found
  }

  /// Runs `body` on each element from a position on, in order, until it returns false.
  ///
  /// Bytes are valid inside `body` only.
  package func forEach(
    from position: Int = 0, _ body: (_ position: Int, _ value: ElementValue) -> Bool
  ) {
    forEachLeaf(from: position) { first, leaf, rows in
      var row = max(position - first, 0)
      if order == .bytes {
        while row < rows {
          let goesOn = ElementTree.withBytes(tree.reader, leaf, row) { bytes in
            body(first + row, bytes.map { .bytes($0) } ?? .null)
          }
          if !goesOn { return false }
          row += 1
        }
        return true
      }
      return withUnsafeTemporaryAllocation(of: Int64.self, capacity: PackedLeaf.rowsMax) { values in
        PackedLeaf.unpack(leaf, into: values.baseAddress!)
        let hasNulls = PackedLeaf.hasNulls(leaf)
        while row < rows {
          let value: ElementValue
          if hasNulls && PackedLeaf.isNull(leaf, row) {
            value = .null
          } else if isLinks {
            value = .link(ObjectKey(rawValue: values[row]))
          } else {
            value = .integer(values[row])
          }
          if !body(first + row, value) { return false }
          row += 1
        }
        return true
      }
    }
  }

  /// Copies packed elements from a position on until `values` is full or they end; what null gives
  /// is unspecified.
  ///
  /// For those who go through a list in order: a leaf at a time, no call an element.
  ///
  /// - Returns: elements copied.
  package func copyIntegers(
    from position: Int, into values: UnsafeMutableBufferPointer<Int64>
  ) -> Int {
    var copied = 0
    if values.isEmpty { return 0 }
    forEachLeaf(from: position) { first, leaf, rows in
      let row = max(position - first, 0)
      let part = min(rows - row, values.count - copied)
      if row == 0 && values.count - copied >= rows {
        PackedLeaf.unpack(leaf, into: values.baseAddress! + copied)
      } else {
        for index in 0..<part { values[copied + index] = PackedLeaf.value(leaf, row + index) }
      }
      copied += part
      return copied < values.count
    }
    return copied
  }

  // MARK: - Searching

  /// Where a value of a sorted collection is, or would have to be put; both zeros are one number.
  ///
  /// - Complexity: O(log n).
  func search(_ value: ElementValue) -> (position: Int, isThere: Bool) {
    switch value {
    case .null: return (0, count > 0 && tree.isNull(at: 0))
    case .integer(let integer):
      let wanted = OrderKey.integer(integer, order)
      return tree.search { leaf, row in
        checkLeaf(leaf)
        if PackedLeaf.isNull(leaf, row) { return -1 }
        let found = OrderKey.integer(PackedLeaf.value(leaf, row), order)
        return found < wanted ? -1 : found == wanted ? 0 : 1
      }
    case .link(let key):
      return tree.search { leaf, row in
        checkLeaf(leaf)
        if PackedLeaf.isNull(leaf, row) { return -1 }
        let found = PackedLeaf.value(leaf, row)
        return found < key.rawValue ? -1 : found == key.rawValue ? 0 : 1
      }
    case .bytes(let wanted):
      return tree.search { leaf, row in
        if _fastPath(BlockHeader.kind(leaf) == .bytesLeaf && !BytesLeaf.isNull(leaf, row)) {
          return BytesLeaf.bytes(leaf, row).compare(to: wanted)
        }
        return ElementTree.withBytes(tree.reader, leaf, row) { bytes in
          bytes.map { $0.compare(to: wanted) } ?? -1
        }
      }
    }
  }

  /// Whether an element equals a value; both zeros are one number.
  private func isEqual(_ leaf: UnsafeRawPointer, _ row: Int, _ value: ElementValue) -> Bool {
    switch value {
    case .null: return ElementTree.isNull(leaf, row)
    case .integer(let integer):
      return !PackedLeaf.isNull(leaf, row)
        && OrderKey.integer(PackedLeaf.value(leaf, row), order) == OrderKey.integer(integer, order)
    case .link(let key):
      return !PackedLeaf.isNull(leaf, row) && PackedLeaf.value(leaf, row) == key.rawValue
    case .bytes(let wanted):
      return ElementTree.withBytes(tree.reader, leaf, row) { bytes in
        bytes.map { $0.hasSameBytes(as: wanted) } ?? false
      }
    }
  }

  /// Positions of links to an object, ascending.
  package func positions(of target: ObjectKey) -> [Int] { positions(ofInteger: target.rawValue) }

  /// Positions of a packed value, ascending.
  func positions(ofInteger value: Int64, maximum: Int = .max) -> [Int] {
    var found: [Int] = []
    forEachLeaf { first, leaf, rows in
      if PackedLeaf.count(leaf, equalTo: value) == 0 { return true }
      for row in 0..<rows
      where PackedLeaf.value(leaf, row) == value && !PackedLeaf.isNull(leaf, row) {
        found.append(first + row)
        if found.count == maximum { return false }
      }
      return true
    }
    return found
  }
}
