// How values of collections travel between Swift and the file: a source that elements are read
// from, a sink that they are given to. Values know which function of them to call.
internal import ObjectStore

/// The elements of a managed collection, in one version or a running transaction.
///
/// Trivial, so that handing it around counts no references: whoever has it keeps the Realm.
public struct _ElementSource {
  let elements: ElementReader
  private let unmanagedRealm: Unmanaged<ConfinedRealm>
  /// The table that links lead to.
  let target: TablePointer?
  /// What the elements belong to.
  let owner: ElementOwner
  /// Packed values that were copied ahead, and the position of the first.
  @usableFromInline var ahead = UnsafeBufferPointer<Int64>(start: nil, count: 0)
  @usableFromInline var aheadStart = 0
  /// Whether the Realm has left the version that the elements are of: what they link to may have
  /// been deleted since, and counts as null then.
  var isLeft = false

  init(
    elements: ElementReader, realm: ConfinedRealm, target: TablePointer?, owner: ElementOwner
  ) {
    self.elements = elements
    unmanagedRealm = .passUnretained(realm)
    self.target = target
    self.owner = owner
  }

  var realm: ConfinedRealm { unmanagedRealm._withUnsafeGuaranteedRef { $0 } }

  /// The position behind the values that were copied ahead.
  @inlinable @inline(__always)
  var windowEnd: Int { aheadStart &+ ahead.count }

  /// The packed value at a position.
  @inlinable @inline(__always)
  func integer(_ position: Int) -> Int64 {
    let offset = position &- aheadStart
    if offset >= 0, offset < ahead.count {
      return ahead.baseAddress.unsafelyUnwrapped[offset]
    }
    return storedInteger(position)
  }

  @usableFromInline
  func storedInteger(_ position: Int) -> Int64 { elements.integer(at: position) }

  /// Whether there is no value at a position.
  func isNull(_ position: Int) -> Bool {
    if elements.isNull(at: position) { return true }
    guard isLeft, let target, let key = elements.link(at: position) else { return false }
    return realm.reader(of: target)?.locate(key) == nil
  }

  /// Runs `body` on the bytes at a position.
  func withBytes<Result>(_ position: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    elements.withBytes(at: position) { body($0 ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  /// The object that is linked at a position.
  @usableFromInline
  func object(_ position: Int) -> ObjectBase {
    guard let target, let key = elements.link(at: position),
      let object = realm.accessor(target, key)
    else {
      misuse(.storage, "A collection links to an object that does not exist: the file is damaged.")
    }
    return object
  }
}

/// Takes the values of elements.
public struct _ElementSink {
  let realm: ConfinedRealm
  // Unmanaged, as a sink gets one element after the other: whoever makes it keeps them.
  private let unmanagedLinks: Unmanaged<LinkInsertion>?
  let kind: _CollectionKind
  let take: (ElementValue) -> Void

  init(
    realm: ConfinedRealm, links: LinkInsertion?, kind: _CollectionKind,
    take: @escaping (ElementValue) -> Void
  ) {
    self.realm = realm
    unmanagedLinks = links.map { .passUnretained($0) }
    self.kind = kind
    self.take = take
  }

  /// Adds what is linked to; nil where nothing is written, as in look-ups.
  var links: LinkInsertion? { unmanagedLinks?.takeUnretainedValue() }

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
  func link(_ object: ObjectBase, _ objectClass: ObjectBase.Type) {
    guard let unmanagedLinks else {
      if let key = realm.key(of: object) { take(.link(key)) }
      return
    }
    requireClass(object, objectClass)
    unmanagedLinks._withUnsafeGuaranteedRef { links in
      if object._table != nil, object.isEmbedded, !links.copies {
        misuse(
          .ownership, "Cannot add an existing managed embedded object to a \(kind.typeName).")
      }
      take(.link(links.key(of: object)))
    }
  }

  /// A link to the object that a value stands for: an object, or values to make one from.
  func link(from value: Any, _ objectClass: ObjectBase.Type) {
    if let links { take(.link(links.key(from: value, objectClass))) }
  }
}

extension _CollectionKind {
  /// The word for it in messages.
  var typeName: String {
    switch self {
    case .none: return "property"
    case .list: return "List"
    case .set: return "Set"
    case .map: return "Dictionary"
    }
  }
}

/// Stops unless an object is of the very class that a link leads to.
func requireClass(_ object: ObjectBase, _ objectClass: ObjectBase.Type) {
  if type(of: object) != objectClass {
    misuse(
      .argument,
      "An object of class '\(type(of: object).className())' cannot be linked where "
        + "'\(objectClass.className())' is expected.")
  }
}

extension _RowWriter {
  /// Replaces the elements of a list or set.
  func setElements<Elements: Sequence>(
    _ column: Int, _ elements: Elements, _ write: (Elements.Element, _ElementSink) -> Void
  ) {
    let content = StoredContent(row: self, column: column)
    let kept = content.keptForms
    if kept == nil && !isNew && !compares { group.removeAllElements(content.table, key, column) }
    let sink = _ElementSink(realm: links.realm, links: links, kind: content.kind) {
      if let kept { kept.add($0) } else { content.add($0) }
    }
    for element in elements { write(element, sink) }
    if let kept {
      if !compares { group.removeAllElements(content.table, key, column) }
      kept.forEach { content.add($0) }
    }
    content.finish()
  }

  /// Replaces the content of a map.
  func setEntries<Entries: Sequence, Value>(
    _ column: Int, _ entries: Entries, _ write: (Value, _ElementSink) -> Void
  ) where Entries.Element == (key: String, value: Value) {
    let content = StoredContent(row: self, column: column)
    let kept = content.keptForms
    if kept == nil && !isNew && !compares { group.removeAllElements(content.table, key, column) }
    var names: [String] = []
    for (name, value) in entries {
      let sink = _ElementSink(realm: links.realm, links: links, kind: .map) { value in
        if let kept { kept.add(value) } else { content.set(name, value) }
      }
      write(value, sink)
      if kept != nil { names.append(name) }
    }
    if let kept {
      if !compares { group.removeAllElements(content.table, key, column) }
      var index = 0
      kept.forEach {
        content.set(names[index], $0)
        index += 1
      }
    }
    content.finish()
  }
}
