// Sums, means and extremes of packed values, a leaf at a time. The results are those of one value
// after another in the order of the rows, to the last bit: sums of integers wrap, those of floating
// point numbers are rounded at each step.
internal import Storage
internal import Trees

/// What packed values come to; null ones do not count.
package struct PackedFolding {
  /// What the bits of a value mean.
  package enum Form: Sendable {
    case integers, doubles, floats
  }

  /// What is made of them.
  package enum Purpose: Sendable {
    case sum, mean, least, greatest
  }

  private let form: Form
  private let purpose: Purpose
  /// Number of values.
  package private(set) var count = 0
  /// The sum of integers; wraps on overflow.
  package private(set) var sum: Int64 = 0
  /// The sum of floating point numbers; of integers for their mean.
  package private(set) var total = 0.0
  /// The least or greatest integer; nil when there is none.
  package private(set) var integer: Int64?
  /// The least or greatest floating point number.
  package private(set) var number: Double?

  package init(_ purpose: Purpose, of form: Form) {
    self.purpose = purpose
    self.form = form
  }

  /// Adds the values that some rows of a cluster have in a column.
  package mutating func add(
    _ table: TableReader, _ cluster: UnsafeRawPointer, _ column: Int, _ rows: RowSet
  ) {
    let leaf = table.leaf(cluster, column)
    let stored = leaf.map { PackedLeaf.rows($0) } ?? 0
    let hasDefaults = table.optionalColumns[column] == 0
    if rows == table.allRows(cluster) {
      if let leaf { add(leaf) }
      // Rows behind the leaf's end come behind it.
      if hasDefaults { addZeros(Cluster.rows(cluster) - stored) }
      return
    }
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: PackedLeaf.rowsMax) { buffer in
      let values = buffer.baseAddress.unsafelyUnwrapped
      var nulls = RowSet()
      if let leaf {
        PackedLeaf.unpack(leaf, into: values)
        nulls = RowSet(words: PackedLeaf.nulls(leaf))
      }
      rows.forEach { row in
        if row >= stored {
          if hasDefaults { addValue(0) }
        } else if !nulls.contains(row) {
          addValue(values[row])
        }
        return true
      }
    }
  }

  /// Adds the values of a whole leaf.
  mutating func add(_ leaf: UnsafeRawPointer) {
    let present = PackedLeaf.rows(leaf) - PackedLeaf.nullCount(leaf)
    if form == .integers {
      switch purpose {
      case .sum:
        sum &+= PackedLeaf.sum(leaf)
        count += present
        return
      case .mean:
        // As long as no partial sum is rounded, one addition gives what many do.
        if PackedLeaf.magnitudeMax(leaf) * Double(present) + total.magnitude <= 0x1p53 {
          total += Double(PackedLeaf.sum(leaf))
          count += present
          return
        }
      case .least, .greatest:
        if let range = PackedLeaf.range(leaf) {
          addValue(purpose == .least ? range.lowerBound : range.upperBound)
          count += present - 1
        }
        return
      }
    }
    addEach(leaf)
  }

  private mutating func addEach(_ leaf: UnsafeRawPointer) {
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: PackedLeaf.rowsMax) { buffer in
      let values = buffer.baseAddress.unsafelyUnwrapped
      let rows = PackedLeaf.unpack(leaf, into: values)
      if PackedLeaf.hasNulls(leaf) {
        for row in 0..<rows where !PackedLeaf.isNull(leaf, row) { addValue(values[row]) }
      } else {
        for row in 0..<rows { addValue(values[row]) }
      }
    }
  }

  private mutating func addZeros(_ rows: Int) {
    if rows <= 0 { return }
    // One decides on extremes, and changes no sum, as any number of them.
    addValue(0)
    count += rows - 1
  }

  @inline(__always)
  private mutating func addValue(_ value: Int64) {
    count &+= 1
    switch form {
    case .integers:
      switch purpose {
      case .sum: sum &+= value
      case .mean: total += Double(value)
      case .least: if value < integer ?? .max || integer == nil { integer = value }
      case .greatest: if value > integer ?? .min || integer == nil { integer = value }
      }
    case .doubles: addNumber(Double(bitPattern: UInt64(bitPattern: value)))
    case .floats: addNumber(Double(Float(bitPattern: UInt32(truncatingIfNeeded: value))))
    }
  }

  /// The first of equal numbers stays; what is no number comes behind all numbers, as in an order.
  @inline(__always)
  private mutating func addNumber(_ value: Double) {
    switch purpose {
    case .sum, .mean: total += value
    case .least:
      if let number, !(value < number || number.isNaN && !value.isNaN) { return }
      number = value
    case .greatest:
      if let number, !(value > number || value.isNaN && !number.isNaN) { return }
      number = value
    }
  }
}

extension ElementReader {
  /// Adds all packed elements.
  package func add(to folding: inout PackedFolding) {
    forEachLeaf { _, leaf, _ in
      folding.add(leaf)
      return true
    }
  }
}
