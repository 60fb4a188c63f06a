// How values of collections travel between Swift and the file: a source that elements are read from, a
// sink that they are given to. Values know which function of them to call.
internal import ObjectStore

/// The elements of a managed collection, in one version or a running transaction.
public struct _ElementSource {
  let elements: ElementReader
  let realm: ConfinedRealm
  /// The table that links lead to.
  let target: TablePointer?

  /// The packed value at a position.
  func integer(_ position: Int) -> Int64 { elements.integer(at: position) }

  /// Whether there is no value at a position.
  func isNull(_ position: Int) -> Bool { elements.isNull(at: position) }

  /// Runs `body` on the bytes at a position.
  func withBytes<Result>(_ position: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    elements.withBytes(at: position) { body($0 ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  /// The object that is linked at a position.
  func object(_ position: Int) -> ObjectBase {
    guard let target, let key = elements.link(at: position),
      let object = realm.accessor(target, key)
    else {
      misuse(.storage, "A collection links to an object that does not exist: the file is damaged.")
    }
    return object
  }
}

/// Takes the value of one element.
public struct _ElementSink {
  let realm: ConfinedRealm
  /// Adds what is linked to; nil where nothing is written, as in look-ups.
  let links: LinkInsertion?
  let take: (ElementValue) -> Void

  /// No value.
  func null() { take(.null) }

  /// A packed value.
  func integer(_ value: Int64) { take(.integer(value)) }

  /// Bytes, which are valid during the call.
  func bytes(_ value: UnsafeRawBufferPointer) {
    if value.count > valueLengthMax {
      misuse(
        .argument,
        "The value has \(value.count) bytes; at most \(valueLengthMax) can be stored.")
    }
    take(.bytes(value))
  }

  /// A link; an unmanaged object is added to the Realm.
  func link(_ object: ObjectBase) {
    if let links {
      take(.link(links.key(of: object)))
    } else if let key = realm.key(of: object) {
      take(.link(key))
    }
  }

  /// A link to the object that a value stands for: an object, or values to make one from.
  func link(from value: Any, _ objectClass: ObjectBase.Type) {
    if let links { take(.link(links.key(from: value, objectClass))) }
  }
}

extension _RowWriter {
  /// Replaces the elements of a list or set.
  func setElements<Elements: Sequence>(
    _ column: Int, _ elements: Elements, _ write: (Elements.Element, _ElementSink) -> Void
  ) {
    let table = binding.table!
    if !isNew { group.removeAllElements(table, key, column) }
    let isSet = table.schema.columns[column].collection == .set
    let (group, key) = (group, key)
    let sink = _ElementSink(realm: links.realm, links: links) { value in
      if isSet {
        group.setInsert(table, key, column, value)
      } else {
        group.listAppend(table, key, column, value)
      }
    }
    for element in elements { write(element, sink) }
  }

  /// Replaces the content of a map.
  func setEntries<Entries: Sequence, Value>(
    _ column: Int, _ entries: Entries, _ write: (Value, _ElementSink) -> Void
  ) where Entries.Element == (key: String, value: Value) {
    let table = binding.table!
    if !isNew { group.removeAllElements(table, key, column) }
    for (name, value) in entries {
      let (group, key) = (group, key)
      let sink = _ElementSink(realm: links.realm, links: links) { value in
        name._withBytes { _ = group.mapSet(table, key, column, $0, value) }
      }
      write(value, sink)
    }
  }
}
