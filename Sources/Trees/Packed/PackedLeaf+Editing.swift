// Changing packed leaves inside a transaction. A value that the present base and width cannot hold
// re-encodes the leaf; everything else is one store.
internal import Glibc
package import Storage

extension PackedLeaf {
  /// Stores into a leaf of this transaction, if base, width and length allow it; also behind the
  /// last row.
  ///
  /// - Returns: false when nothing was stored; `set` does the work then.
  @inline(__always)
  static func storeIfFits(_ block: UnsafeMutableRawPointer, _ row: Int, _ value: Int64) -> Bool {
    let flags = BlockHeader.width(block)
    let element = UInt64(bitPattern: value &- base(block))
    if element > elementMax(code: flags & 7) { return false }
    let rows = rows(block)
    if row >= rows {
      if row > rows || row == rowsMax { return false }
      let start = nullsOffset &+ (Int(flags &>> 7) &<< 5)
      let end = start &+ ((row &+ 1) &* bits(code: flags & 7) &+ 7) &>> 3
      if end > BlockHeader.blockLength(block) { return false }
      BlockHeader.setCount(block, row &+ 1)
    } else if flags & nullsFlag != 0 {
      setNullBit(block, row, false)
    }
    storeElement(block, flags: flags, row, element)
    return true
  }

  @inline(__always)
  static func storeElement(
    _ block: UnsafeMutableRawPointer, flags: UInt8, _ row: Int, _ element: UInt64
  ) {
    let elements = block + nullsOffset + (Int(flags >> 7) &<< 5)
    switch flags & 7 {
    case 4:
      elements.storeBytes(of: UInt8(truncatingIfNeeded: element), toByteOffset: row, as: UInt8.self)
    case 7: elements.store(element, at: row &<< 3)
    case 5: elements.store(UInt16(truncatingIfNeeded: element), at: row &<< 1)
    case 6: elements.store(UInt32(truncatingIfNeeded: element), at: row &<< 2)
    case 0: break
    case let code:
      // 1, 2 or 4 bits: code 1, 2, 3.
      let bits = 1 &<< (Int(code) &- 1)
      let bit = row &<< (Int(code) &- 1)
      let shift = UInt8(truncatingIfNeeded: bit & 7)
      let mask = UInt8(truncatingIfNeeded: (1 &<< bits) &- 1) &<< shift
      let byte = elements.load(fromByteOffset: bit &>> 3, as: UInt8.self)
      elements.storeBytes(
        of: byte & ~mask | (UInt8(truncatingIfNeeded: element) &<< shift), toByteOffset: bit &>> 3,
        as: UInt8.self)
    }
  }

  /// Sets a row; rows between the leaf's end and this one get the default.
  ///
  /// - Parameters:
  ///   - isOptional: the column's default is null, else 0.
  ///   - reserve: payload bytes that a new leaf will probably need.
  package static func set(
    _ editor: BlockEditor, _ reference: inout BlockReference, _ row: Int, _ value: Int64,
    isOptional: Bool, reserve: Int = 0
  ) {
    precondition(row < rowsMax, "row \(row) in a leaf of at most \(rowsMax)")
    if reference.isNone {
      reference = editor.allocate(kind: .packedLeaf, count: 0, payloadBytes: max(reserve, 8))
      if reserve > 8 { editor.resize(reference, payloadBytes: 8) }
    } else if !reference.isProvisional {
      reference = editor.mutable(reference)
    }
    var block = editor.pointer(reference)
    let rows = rows(block)
    let flags = BlockHeader.width(block)
    let element = UInt64(bitPattern: value &- base(block))
    let pads = row > rows
    guard element <= elementMax(code: flags & 7), !(pads && !padsAreStorable(block, isOptional))
    else {
      reencode(editor, reference, row, value, isOptional: isOptional)
      return
    }
    let hasNulls = flags & nullsFlag != 0
    if row >= rows {
      editor.resize(
        reference, payloadBytes: payloadBytes(rows: row + 1, code: flags & 7, nulls: hasNulls))
      block = editor.pointer(reference)
      BlockHeader.setCount(block, row + 1)
      if pads {
        let zero = UInt64(bitPattern: 0 &- base(block))
        for padded in rows..<row {
          if isOptional {
            setNullBit(block, padded, true)
          } else {
            storeElement(block, flags: flags, padded, zero)
          }
        }
      }
    } else if hasNulls {
      setNullBit(block, row, false)
    }
    storeElement(block, flags: flags, row, element)
  }

  /// Adds a row before another, or at the end; nil is null.
  ///
  /// For leaves without defaults: every row is stored.
  static func insert(
    _ editor: BlockEditor, _ reference: inout BlockReference, _ row: Int, _ value: Int64?
  ) {
    let rows = reference.isNone ? 0 : rows(editor.reader.pointer(reference))
    if let value, row == rows {
      set(editor, &reference, row, value, isOptional: false)
      return
    }
    if !reference.isNone {
      reference = editor.mutable(reference)
      if insertInPlace(editor, reference, row, value, rows: rows) { return }
    }
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: rowsMax) { values in
      withUnsafeTemporaryAllocation(byteCount: nullsLength, alignment: 8) { nulls in
        let start = values.baseAddress!
        let nullBits = nulls.baseAddress!
        memset(nullBits, 0, nullsLength)
        var hasNulls = value == nil
        var growsDown = false
        if !reference.isNone {
          let block = UnsafeRawPointer(editor.pointer(reference))
          growsDown = value.map { $0 < base(block) } ?? false
          unpack(block, into: start)
          if Self.hasNulls(block) {
            memcpy(nullBits, block + nullsOffset, nullsLength)
            hasNulls = true
          }
        }
        memmove(start + row + 1, start + row, (rows - row) * 8)
        values[row] = value ?? 0
        insertBit(nullBits, at: row, value == nil)
        if reference.isNone {
          reference = editor.allocate(kind: .packedLeaf, count: 0, payloadBytes: 8)
        }
        write(
          editor, reference, UnsafeBufferPointer(rebasing: values[0...rows]),
          nulls: hasNulls ? UnsafeRawPointer(nullBits) : nil, growsDown: growsDown)
      }
    }
  }

  /// - Returns: false when the leaf's form does not allow it.
  private static func insertInPlace(
    _ editor: BlockEditor, _ reference: BlockReference, _ row: Int, _ value: Int64?, rows: Int
  ) -> Bool {
    var block = editor.pointer(reference)
    let flags = BlockHeader.width(block)
    let code = flags & 7
    let hasNulls = flags & nullsFlag != 0
    let element = value.map { UInt64(bitPattern: $0 &- base(block)) } ?? 0
    guard code == 0 || code >= 4, hasNulls || value != nil, element <= elementMax(code: code) else {
      return false
    }
    editor.resize(
      reference, payloadBytes: payloadBytes(rows: rows + 1, code: code, nulls: hasNulls))
    block = editor.pointer(reference)
    let size = bits(code: code) / 8
    let place = block + nullsOffset + (hasNulls ? nullsLength : 0) + row * size
    memmove(place + size, place, (rows - row) * size)
    storeElement(block, flags: flags, row, element)
    if hasNulls { insertBit(block + nullsOffset, at: row, value == nil) }
    BlockHeader.setCount(block, rows + 1)
    return true
  }

  /// Moves the rows from `row` on into a new leaf.
  ///
  /// Neither part may be empty.
  static func split(
    _ editor: BlockEditor, _ reference: BlockReference, at row: Int
  ) -> BlockReference {
    let rows = rows(editor.pointer(reference))
    var right = BlockReference.none
    withRows(editor.pointer(reference)) { values, nulls in
      var rightNulls: UnsafeMutableRawPointer?
      withUnsafeTemporaryAllocation(byteCount: nullsLength, alignment: 8) { moved in
        memset(moved.baseAddress!, 0, nullsLength)
        if let nulls {
          for later in row..<rows where bit(nulls, later) {
            setBit(moved.baseAddress!, later - row, true)
            setBit(nulls, later, false)
            rightNulls = moved.baseAddress
          }
        }
        encode(
          editor, &right, UnsafeBufferPointer(rebasing: values[row..<rows]),
          nulls: rightNulls.map { UnsafeRawPointer($0) })
      }
      var left = reference
      encode(
        editor, &left, UnsafeBufferPointer(rebasing: values[0..<row]),
        nulls: nulls.map { UnsafeRawPointer($0) })
    }
    return right
  }

  /// Adds all rows of another leaf behind this one's.
  static func append(
    _ editor: BlockEditor, _ reference: BlockReference, leaf source: BlockReference
  ) {
    let other = editor.reader.pointer(source)
    let added = rows(other)
    withRows(editor.pointer(reference)) { values, nulls in
      let rows = rows(editor.pointer(reference))
      unpack(other, into: values.baseAddress! + rows)
      var hasNulls = nulls != nil
      withUnsafeTemporaryAllocation(byteCount: nullsLength, alignment: 8) { merged in
        let bits = merged.baseAddress!
        if let nulls { memcpy(bits, nulls, nullsLength) } else { memset(bits, 0, nullsLength) }
        for row in 0..<added where isNull(other, row) {
          setBit(bits, rows + row, true)
          hasNulls = true
        }
        var target = reference
        encode(
          editor, &target, UnsafeBufferPointer(rebasing: values[0..<rows + added]),
          nulls: hasNulls ? UnsafeRawPointer(bits) : nil)
      }
    }
  }

  /// Runs `body` on a leaf's unpacked values, with room for another leaf's behind them, and a copy
  /// of its null bitmap.
  private static func withRows(
    _ block: UnsafeRawPointer,
    _ body: (UnsafeMutableBufferPointer<Int64>, UnsafeMutableRawPointer?) -> Void
  ) {
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: 2 * rowsMax) { values in
      unpack(block, into: values.baseAddress!)
      withUnsafeTemporaryAllocation(byteCount: nullsLength, alignment: 8) { nulls in
        if hasNulls(block) { memcpy(nulls.baseAddress!, block + nullsOffset, nullsLength) }
        body(values, hasNulls(block) ? nulls.baseAddress : nil)
      }
    }
  }

  /// Makes a row null; rows between the leaf's end and this one get null too.
  ///
  /// For optional columns only: rows that the leaf does not have are null already.
  package static func setNull(
    _ editor: BlockEditor, _ reference: inout BlockReference, _ row: Int
  ) {
    if reference.isNone || row >= rows(editor.reader.pointer(reference)) { return }
    reference = editor.mutable(reference)
    if !hasNulls(editor.pointer(reference)) { addNulls(editor, reference) }
    let block = editor.pointer(reference)
    setNullBit(block, row, true)
    storeElement(block, flags: BlockHeader.width(block), row, 0)
  }

  /// Removes a row; later rows move up by one.
  ///
  /// The leaf vanishes with its last row.
  package static func remove(
    _ editor: BlockEditor, _ reference: inout BlockReference, _ row: Int
  ) {
    if reference.isNone { return }
    let old = editor.reader.pointer(reference)
    let rows = rows(old)
    if row >= rows { return }
    if rows == 1 {
      editor.free(reference)
      reference = .none
      return
    }
    reference = editor.mutable(reference)
    let block = editor.pointer(reference)
    let flags = BlockHeader.width(block)
    let code = flags & 7
    let hasNulls = flags & nullsFlag != 0
    let elements = block + nullsOffset + (hasNulls ? nullsLength : 0)
    if code >= 4 {
      let size = bits(code: code) / 8
      memmove(elements + row * size, elements + (row + 1) * size, (rows - row - 1) * size)
    } else if code > 0 {
      removeBits(
        elements, at: row * bits(code: code), count: bits(code: code), of: rows * bits(code: code))
    }
    if hasNulls { removeBits(block + nullsOffset, at: row, count: 1, of: rowsMax) }
    // What is behind the last row is zero, so that equal content means equal bytes.
    if code > 0 { storeElement(block, flags: flags, rows - 1, 0) }
    BlockHeader.setCount(block, rows - 1)
    editor.resize(
      reference, payloadBytes: payloadBytes(rows: rows - 1, code: code, nulls: hasNulls))
  }

  /// Replaces the leaf by one that holds `values` in the narrowest form.
  ///
  /// - Parameter nulls: 32 bytes, one bit a row; nil if no row is null.
  package static func encode(
    _ editor: BlockEditor, _ reference: inout BlockReference,
    _ values: UnsafeBufferPointer<Int64>, nulls: UnsafeRawPointer?
  ) {
    precondition(values.count <= rowsMax && !values.isEmpty, "\(values.count) rows in a leaf")
    if reference.isNone {
      reference = editor.allocate(kind: .packedLeaf, count: 0, payloadBytes: 8)
    } else {
      reference = editor.mutable(reference)
    }
    write(editor, reference, values, nulls: nulls, growsDown: false)
  }

  // MARK: - Re-encoding

  /// Whether rows of the default can be added in the present form.
  private static func padsAreStorable(_ block: UnsafeRawPointer, _ isOptional: Bool) -> Bool {
    if isOptional { return hasNulls(block) }
    return UInt64(bitPattern: 0 &- base(block)) <= elementMax(code: widthCode(block))
  }

  private static func reencode(
    _ editor: BlockEditor, _ reference: BlockReference, _ row: Int, _ value: Int64,
    isOptional: Bool
  ) {
    let block = UnsafeRawPointer(editor.pointer(reference))
    let oldRows = rows(block)
    let oldBase = base(block)
    // As few as there are: beyond a kilobyte the memory is that of the heap.
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: max(oldRows, row + 1)) { values in
      withUnsafeTemporaryAllocation(byteCount: nullsLength, alignment: 8) { nulls in
        unpack(block, into: values.baseAddress!)
        let nullBits = nulls.baseAddress!
        var hasNulls = hasNulls(block)
        if hasNulls {
          memcpy(nullBits, block + nullsOffset, nullsLength)
        } else {
          memset(nullBits, 0, nullsLength)
        }
        if row > oldRows {
          for padded in oldRows..<row {
            values[padded] = 0
            if isOptional { setBit(nullBits, padded, true) }
          }
          if isOptional { hasNulls = true }
        }
        values[row] = value
        setBit(nullBits, row, false)
        let rows = max(oldRows, row + 1)
        write(
          editor, reference, UnsafeBufferPointer(rebasing: values[0..<rows]),
          nulls: hasNulls ? UnsafeRawPointer(nullBits) : nil,
          growsDown: oldRows > 0 && value < oldBase)
      }
    }
  }

  /// Writes a whole leaf.
  ///
  /// `growsDown`: leave room below the smallest value, not above the largest, so that descending
  /// values do not re-encode the leaf each time.
  private static func write(
    _ editor: BlockEditor, _ reference: BlockReference, _ values: UnsafeBufferPointer<Int64>,
    nulls: UnsafeRawPointer?, growsDown: Bool
  ) {
    var least = Int64.max
    var greatest = Int64.min
    if let nulls {
      for row in 0..<values.count where !bit(nulls, row) {
        least = min(least, values[row])
        greatest = max(greatest, values[row])
      }
      if least > greatest { (least, greatest) = (0, 0) }
    } else {
      for value in values {
        least = min(least, value)
        greatest = max(greatest, value)
      }
    }
    let plainCode = least < 0 ? 7 : code(for: UInt64(bitPattern: greatest))
    var code = code(for: UInt64(bitPattern: greatest &- least))
    var base: Int64 = 0
    if code >= plainCode {
      code = plainCode
    } else {
      base = least
      if growsDown {
        let (lowest, overflow) = greatest.subtractingReportingOverflow(
          Int64(bitPattern: elementMax(code: code)))
        if !overflow { base = least >= 0 ? max(lowest, 0) : lowest }
      }
    }
    editor.resize(
      reference,
      payloadBytes: payloadBytes(rows: values.count, code: code, nulls: nulls != nil))
    let block = editor.pointer(reference)
    let flags = code | (nulls != nil ? nullsFlag : 0)
    BlockHeader.setWidth(block, flags)
    BlockHeader.setCount(block, values.count)
    memset(
      block + BlockHeader.length, 0, BlockHeader.blockLength(block) - BlockHeader.length)
    block.store(base, at: baseOffset)
    if let nulls { memcpy(block + nullsOffset, nulls, nullsLength) }
    pack(block, flags: flags, base: base, values, nulls: nulls)
  }

  private static func pack(
    _ block: UnsafeMutableRawPointer, flags: UInt8, base: Int64,
    _ values: UnsafeBufferPointer<Int64>, nulls: UnsafeRawPointer?
  ) {
    let elements = block + nullsOffset + (Int(flags >> 7) << 5)
    if nulls != nil {
      for row in 0..<values.count where !bit(nulls!, row) {
        storeElement(block, flags: flags, row, UInt64(bitPattern: values[row] &- base))
      }
      return
    }
    switch flags & 7 {
    case 4:
      for row in 0..<values.count {
        elements.storeBytes(
          of: UInt8(truncatingIfNeeded: values[row] &- base), toByteOffset: row, as: UInt8.self)
      }
    case 7:
      for row in 0..<values.count { elements.store(values[row] &- base, at: row &<< 3) }
    default:
      for row in 0..<values.count {
        storeElement(block, flags: flags, row, UInt64(bitPattern: values[row] &- base))
      }
    }
  }

  private static func addNulls(_ editor: BlockEditor, _ reference: BlockReference) {
    let rows = rows(editor.pointer(reference))
    let flags = BlockHeader.width(editor.pointer(reference))
    let payload = payloadBytes(rows: rows, code: flags & 7, nulls: false)
    editor.resize(reference, payloadBytes: payload + nullsLength)
    let block = editor.pointer(reference)
    memmove(block + nullsOffset + nullsLength, block + nullsOffset, payload - 8)
    memset(block + nullsOffset, 0, nullsLength)
    BlockHeader.setWidth(block, flags | nullsFlag)
  }

  // MARK: - Bits

  private static func setNullBit(_ block: UnsafeMutableRawPointer, _ row: Int, _ isNull: Bool) {
    setBit(block + nullsOffset, row, isNull)
  }
}

/// Whether a bit of a bitmap is set.
func bit(_ bytes: UnsafeRawPointer, _ index: Int) -> Bool {
  bytes.load(fromByteOffset: index &>> 3, as: UInt8.self) & (1 &<< UInt8(index & 7)) != 0
}

/// Sets or clears a bit of a bitmap.
func setBit(_ bytes: UnsafeMutableRawPointer, _ index: Int, _ isSet: Bool) {
  let byte = bytes.load(fromByteOffset: index &>> 3, as: UInt8.self)
  let mask: UInt8 = 1 &<< UInt8(index & 7)
  bytes.storeBytes(
    of: isSet ? byte | mask : byte & ~mask, toByteOffset: index &>> 3, as: UInt8.self)
}

/// Inserts a bit into a bitmap of 256 bits; the last one falls out.
func insertBit(_ bytes: UnsafeMutableRawPointer, at position: Int, _ isSet: Bool) {
  var word = 3
  while word > position >> 6 {
    let low = bytes.integer(at: word * 8 - 8, as: UInt64.self)
    bytes.store(bytes.integer(at: word * 8, as: UInt64.self) << 1 | low >> 63, at: word * 8)
    word -= 1
  }
  let old = bytes.integer(at: word * 8, as: UInt64.self)
  let below: UInt64 = (1 << UInt64(position & 63)) - 1
  let moved = (old & ~below) << 1
  bytes.store(
    old & below | moved | (isSet ? 1 << UInt64(position & 63) : 0), at: word * 8)
}

/// Removes `count` bits (1, 2 or 4, aligned to themselves) from a bitmap of `length` bits; the
/// freed bits at its end become zero.
func removeBits(_ bytes: UnsafeMutableRawPointer, at position: Int, count: Int, of length: Int) {
  let last = (length + 7) / 8 - 1
  var index = position / 8
  let shift = UInt8(count)
  let keep = UInt8(truncatingIfNeeded: (1 << (position & 7)) - 1)
  let first = bytes.load(fromByteOffset: index, as: UInt8.self)
  var next = index < last ? bytes.load(fromByteOffset: index + 1, as: UInt8.self) : 0
  let moved = first & ~keep
  // Bits below the removed ones stay; those above come down.
  let lowered = (moved & ~(((1 << shift) &- 1) &<< UInt8(position & 7))) &>> shift
  bytes.storeBytes(
    of: (first & keep) | lowered | (next &<< (8 - shift)), toByteOffset: index, as: UInt8.self)
  index += 1
  // The rest comes down as it is, eight bytes at a time while there are so many and one behind
  // them.
  while index + 8 <= last {
    let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    next = bytes.load(fromByteOffset: index + 8, as: UInt8.self)
    let lowered = word &>> UInt64(shift) | UInt64(next) &<< (64 - UInt64(shift))
    bytes.storeBytes(of: lowered.littleEndian, toByteOffset: index, as: UInt64.self)
    index += 8
  }
  while index <= last {
    let byte = next
    next = index < last ? bytes.load(fromByteOffset: index + 1, as: UInt8.self) : 0
    bytes.storeBytes(
      of: (byte &>> shift) | (next &<< (8 - shift)), toByteOffset: index, as: UInt8.self)
    index += 1
  }
}
