// The values of one path, one an element, in the form that sorting and grouping want: numbers of
// the same order, or bytes in place. Drawn from the leaves once.
internal import ObjectStore
internal import Platform
internal import Trees

/// The values that some elements have at the end of a path.
///
/// Bytes are borrowed: to be used where the Realm may be used, before it moves or changes.
final class SortColumn {
  /// Values as they are compared.
  enum Form {
    /// Unsigned numbers of the same order.
    case numbers
    /// Texts, data, and ids, by their bytes.
    case texts
    /// Decimals and mixed values.
    case others
  }

  let form: Form
  let count: Int
  private(set) var numbers = UnsafeMutableBufferPointer<UInt64>(start: nil, count: 0)
  private(set) var texts = UnsafeMutableBufferPointer<UnsafeRawBufferPointer>(start: nil, count: 0)
  private(set) var others: [PlanConstant] = []
  /// Whether each value is null; empty when none is.
  private(set) var nulls: [Bool] = []
  /// Texts that do not lie in one place of the file.
  private var copies: [UnsafeMutableRawBufferPointer] = []
  /// How much of the last of `copies` is in use.
  private var copied = 0

  private init(_ form: Form, _ count: Int) {
    self.form = form
    self.count = count
    switch form {
    case .numbers: numbers = .allocate(capacity: count)
    case .texts:
      texts = .allocate(capacity: count)
      texts.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0))
    case .others: others.reserveCapacity(count)
    }
  }

  deinit {
    numbers.deallocate()
    texts.deallocate()
    for copy in copies { copy.deallocate() }
  }

  /// - Parameters:
  ///   - items: the elements, by key or position.
  ///   - isOfObjects: whether they are objects.
  convenience init(
    _ path: PlanPath, _ items: UnsafeBufferPointer<Int64>, _ readers: PlanReaders,
    _ subjects: SubjectReader, isOfObjects: Bool
  ) {
    self.init(path.type.sortForm, items.count)
    if isOfObjects, form != .others, case .column(let column) = path.end,
      let links = path.onlyLinks, let reader = readers[path.start]
    {
      follow(links[...], reader, column, path.type, items, readers)
    } else {
      ask(path, items, readers, subjects)
    }
  }

  // MARK: - Drawing

  /// Draws the values of a column behind some links.
  private func follow(
    _ links: ArraySlice<(column: Int, target: Int)>, _ reader: TableReader, _ column: Int,
    _ type: PropertyType, _ keys: UnsafeBufferPointer<Int64>, _ readers: PlanReaders
  ) {
    guard let link = links.first else {
      return LinkedOrder.inKeyOrder(keys) { keys, place in
        draw(reader, column, type, keys, place)
      }
    }
    guard let next = readers[link.target] else { return (0..<count).forEach(setNull) }
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: keys.count) { targets in
      LinkedOrder.inKeyOrder(keys) { keys, place in
        if let place {
          let found = UnsafeMutablePointer<Int64>.allocate(capacity: keys.count)
          defer { found.deallocate() }
          reader.draw(keys, link.column, into: found) { found[$0] = -1 }
          for index in 0..<keys.count { targets[place(index)] = found[index] }
        } else {
          // No object has this key: what leads nowhere is null.
          reader.draw(keys, link.column, into: targets.baseAddress!) { targets[$0] = -1 }
        }
      }
      follow(
        links.dropFirst(), next, column, type, UnsafeBufferPointer(targets), readers)
    }
  }

  /// - Parameter place: where the value of each key belongs; nil for the same places.
  private func draw(
    _ reader: TableReader, _ column: Int, _ type: PropertyType,
    _ keys: UnsafeBufferPointer<Int64>, _ place: ((Int) -> Int)?
  ) {
    if form == .texts {
      return reader.drawBytes(keys, column) { index, bytes in
        let index = place?(index) ?? index
        guard let bytes else { return setNull(index) }
        texts[index] = bytes.count <= TableReader.drawnBytesMax ? bytes : copy(of: bytes)
      }
    }
    func draw(into values: UnsafeMutablePointer<Int64>) {
      reader.draw(keys, column, into: values) { setNull(place?($0) ?? $0) }
    }
    if let place {
      let values = UnsafeMutablePointer<Int64>.allocate(capacity: keys.count)
      defer { values.deallocate() }
      draw(into: values)
      for index in 0..<keys.count {
        numbers[place(index)] = UInt64(bitPattern: values[index])
      }
    } else {
      numbers.withMemoryRebound(to: Int64.self) { draw(into: $0.baseAddress.unsafelyUnwrapped) }
    }
    Self.makeOrdered(numbers, type)
  }

  /// Packed values become numbers of the same order.
  private static func makeOrdered(
    _ numbers: UnsafeMutableBufferPointer<UInt64>, _ type: PropertyType
  ) {
    let sign: UInt64 = PlantedBug.unsignedSort.isActive ? 0 : 1 &<< 63
    switch type {
    case .double, .date:
      for index in numbers.indices {
        let key = OrderKey.integer(Int64(bitPattern: numbers[index]), .double)
        numbers[index] = UInt64(bitPattern: key) ^ sign
      }
    case .float:
      for index in numbers.indices {
        let key = OrderKey.integer(Int64(bitPattern: numbers[index]), .float)
        numbers[index] = UInt64(bitPattern: key) ^ sign
      }
    default: for index in numbers.indices { numbers[index] ^= sign }
    }
  }

  /// Asks each element for the path's value.
  private func ask(
    _ path: PlanPath, _ items: UnsafeBufferPointer<Int64>, _ readers: PlanReaders,
    _ subjects: SubjectReader
  ) {
    let isOfSubject = path.hops.isEmpty
    subjects.forEachSubject(items) { index, subject in
      // No path leads on from a value.
      if isOfSubject, case .value(let value) = subject { return set(index, value) }
      var isSet = false
      if let subject {
        path.forEach(subject, readers) { value in
          set(index, value)
          isSet = true
          return false
        }
      }
      if !isSet { set(index, .null) }
    }
  }

  private func set(_ index: Int, _ value: PlanValue) {
    if form == .others { return others.append(PlanConstant(value)) }
    let sign: UInt64 = 1 &<< 63
    if let key = value.orderKey {
      numbers[index] = UInt64(bitPattern: key) ^ sign
      return
    }
    switch value {
    case .link(_, let key): numbers[index] = UInt64(bitPattern: key.rawValue) ^ sign
    case .text(let bytes), .bytes(_, let bytes): texts[index] = copy(of: bytes)
    default:
      if form == .numbers { numbers[index] = 0 }
      setNull(index)
    }
  }

  private func setNull(_ index: Int) {
    if nulls.isEmpty { nulls = Array(repeating: false, count: count) }
    nulls[index] = true
  }

  private func copy(of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    if bytes.isEmpty { return UnsafeRawBufferPointer(start: nil, count: 0) }
    if copies.isEmpty || copied + bytes.count > copies[copies.count - 1].count {
      // Many short ones share one piece of memory.
      let capacity = max(bytes.count, copies.isEmpty ? 1_024 : 65_536)
      copies.append(.allocate(byteCount: capacity, alignment: 1))
      copied = 0
    }
    let copy = UnsafeMutableRawBufferPointer(
      rebasing: copies[copies.count - 1][copied..<copied + bytes.count])
    copy.copyMemory(from: bytes)
    copied += bytes.count
    return UnsafeRawBufferPointer(copy)
  }

  // MARK: - Comparing

  /// Whether a value is null.
  @inline(__always)
  func isNull(_ index: Int) -> Bool {
    if form == .others { return others[index].isNull }
    return !nulls.isEmpty && nulls[index]
  }

  /// Runs `body` on a value of decimals or mixed values, or on the bytes of others; numbers are
  /// integers.
  func withValue(_ index: Int, _ body: (PlanValue) -> Void) {
    if isNull(index) { return body(.null) }
    switch form {
    case .numbers: body(.integer(Int64(bitPattern: numbers[index])))
    case .texts: body(.text(texts[index]))
    case .others: others[index].withValue(body)
    }
  }

  /// The order of a value to one of the same or another column of the path; null comes first.
  func order(_ left: Int, _ other: SortColumn, _ right: Int) -> PlanOrder {
    if isNull(left) || other.isNull(right) {
      if isNull(left) == other.isNull(right) { return .equal }
      return isNull(left) ? .less : .greater
    }
    switch form {
    case .numbers:
      let (first, second) = (numbers[left], other.numbers[right])
      return first == second ? .equal : first < second ? .less : .greater
    case .texts: return PlanValue.order(texts[left], other.texts[right])
    case .others:
      return others[left].withValue { first in
        other.others[right].withValue { first.sortOrder($0) }
      }
    }
  }
}

extension PropertyType {
  /// How values of the sort are compared with each other.
  fileprivate var sortForm: SortColumn.Form {
    switch self {
    case .int, .bool, .float, .double, .date, .object: .numbers
    case .string, .data, .UUID, .objectId: .texts
    default: .others
    }
  }
}

extension PlanPath {
  /// The links on the way, when there is nothing else.
  fileprivate var onlyLinks: [(column: Int, target: Int)]? {
    var links: [(column: Int, target: Int)] = []
    for hop in hops {
      guard case .link(let column, let target) = hop else { return nil }
      links.append((column, target))
    }
    return links
  }
}

/// Keys of linked objects, brought into their order where they are many, so that leaves are read
/// one after the other.
private enum LinkedOrder {
  /// Runs `body` on the keys, in their order unless it takes longer than it helps.
  ///
  /// - Parameter body: gets the keys and the place at which each was; nil for the same places.
  static func inKeyOrder(
    _ keys: UnsafeBufferPointer<Int64>,
    _ body: (UnsafeBufferPointer<Int64>, ((Int) -> Int)?) -> Void
  ) {
    let count = keys.count
    let indexBits = 64 - UInt64(max(count - 1, 1)).leadingZeroBitCount
    var isAscending = true
    var greatest: Int64 = 0
    for index in 0..<count {
      greatest = max(greatest, keys[index])
      if index > 0, keys[index] < keys[index - 1] { isAscending = false }
    }
    // One for no object is added.
    let keyBits = 64 - UInt64(greatest + 1).leadingZeroBitCount
    if isAscending || count < 1_024 || keyBits + indexBits > 64 { return body(keys, nil) }
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2 * count) { buffer in
      let numbers = UnsafeMutableBufferPointer(rebasing: buffer[..<count])
      let scratch = UnsafeMutableBufferPointer(rebasing: buffer[count...])
      for index in 0..<count {
        numbers[index] = UInt64(keys[index] + 1) &<< UInt64(indexBits) | UInt64(index)
      }
      radixSort(numbers, bits: indexBits, to: indexBits + keyBits, scratch: scratch)
      scratch.withMemoryRebound(to: Int64.self) { sorted in
        for index in 0..<count { sorted[index] = Int64(numbers[index] &>> UInt64(indexBits)) - 1 }
        let mask: UInt64 = (1 &<< UInt64(indexBits)) - 1
        body(UnsafeBufferPointer(sorted)) { Int(truncatingIfNeeded: numbers[$0] & mask) }
      }
    }
  }
}
