// Objects and values by item: the keys of objects, the positions of values. What orders, trackers
// and positions of elements are read with.
internal import ObjectStore

/// Finds what conditions are asked about, by item.
struct SubjectReader {
  private enum Place {
    case objects(TableReader)
    case values(ElementReader, PropertyType)
    case nested(any QueryOrigin)
  }

  private let place: Place

  init(_ origin: any QueryOrigin) {
    if let reader = origin.table.flatMap({ origin.realm.reader(of: $0) }) {
      place = .objects(reader)
    } else if origin.table == nil, let origin = origin as? CellOrigin,
      let content = origin.cell.contentIfThere()
    {
      place = .values(content, origin.type)
    } else {
      place = .nested(origin)
    }
  }

  init(_ reader: TableReader) { place = .objects(reader) }

  init(_ elements: ElementReader, _ type: PropertyType) { place = .values(elements, type) }

  /// Runs `body` on the object or value of each of some items, in their order; with nil when it is
  /// gone.
  func forEachSubject(_ items: UnsafeBufferPointer<Int64>, _ body: (Int, PlanSubject?) -> Void) {
    if case .values(let elements, let type) = place {
      let count = elements.count
      var index = 0
      while index < items.count {
        let first = items[index]
        guard first < count else {
          body(index, nil)
          index += 1
          continue
        }
        // Those that lie one after the other are read so.
        let offset = first - Int64(index)
        elements.forEach(from: Int(first)) { _, value in
          body(index, .value(PlanValue(value, type, target: -1)))
          index += 1
          return index < items.count && items[index] - Int64(index) == offset
        }
      }
      return
    }
    for (index, item) in items.enumerated() {
      if withSubject(item, { body(index, $0) }) == nil { body(index, nil) }
    }
  }

  /// Runs `body` on the object or value of an item; nil when it is gone.
  @discardableResult
  func withSubject<Result>(_ item: Int64, _ body: (PlanSubject) -> Result) -> Result? {
    switch place {
    case .objects(let reader):
      let key = ObjectKey(rawValue: item)
      return reader.locate(key).map { body(.object(key, $0)) }
    case .values(let elements, let type):
      guard item < elements.count else { return nil }
      var result: Result?
      elements.forEach(from: Int(item)) { _, value in
        result = body(.value(PlanValue(value, type, target: -1)))
        return false
      }
      return result
    case .nested(let origin):
      var result: Result?
      origin.withValue(at: Int(item)) { result = body(.value($0)) }
      return result
    }
  }
}
