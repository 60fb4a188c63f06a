// Collections that are changed without a transaction block: what a list, a set or results offer
// behind `$`.
public import Foundation

/// A collection of a Realm that can be changed without a transaction block.
///
/// `$` of a property wrapper gives one, and so does a binding to a collection. Each change goes
/// into the write transaction that is open, or else into one of its own. Positions are those of the
/// collection as it is shown: what stands there is changed, or left alone with a message in the log
/// if others have removed it meanwhile.
@MainActor
public protocol BoundCollection<Value, Element> {
  /// The collection.
  associatedtype Value
  /// What is in it.
  associatedtype Element: RealmCollectionValue
  /// The collection as it is shown.
  var wrappedValue: Value { get }
  /// The collection to change: live, or frozen where no live one is at hand; nil when the object
  /// that has it was deleted.
  var _boundValue: Value? { get }
  /// The collection was changed; if it belongs to no Realm, nobody else can tell of it.
  func _didWrite()
}

extension Binding: BoundCollection where Value: RealmCollection {
  /// What is in the collection.
  public typealias Element = Value.Element
  /// The collection to change.
  public var _boundValue: Value? { location.read() }
}

extension Binding {
  /// The collection was changed; if it belongs to no Realm, nobody else can tell of it.
  public func _didWrite() { location.didWrite() }
}

extension BoundCollection where Value: ThreadConfined {
  /// Changes the collection, unless it is gone.
  ///
  /// - Parameters:
  ///   - prepare: looks at the collection as it is shown.
  ///   - isNeeded: whether there is anything to change in the live collection.
  ///   - body: changes the live collection.
  fileprivate func change<Prepared>(
    _ prepare: (Value) -> Prepared, if isNeeded: (Value, Prepared) -> Bool = { _, _ in true },
    _ body: (Value, Prepared) -> Void
  ) {
    guard let value = _boundValue, value.isFrozen || !value.isInvalidated else {
      return logDeleted(Value.self)
    }
    let prepared = prepare(value)
    if quickWrite(to: value, if: { isNeeded($0, prepared) }, { body($0, prepared) }) {
      _didWrite()
    }
  }

  fileprivate func change(if isNeeded: (Value) -> Bool = { _ in true }, _ body: (Value) -> Void) {
    guard let value = _boundValue else { return logDeleted(Value.self) }
    if quickWrite(to: value, if: isNeeded, body) { _didWrite() }
  }
}

// MARK: - Lists

extension BoundCollection where Value == List<Element> {
  /// Adds an element at the end; an object that belongs to no Realm is added to the list's.
  public func append(_ value: Element) {
    change { $0.append(liveForm(of: value, for: $0.realm)) }
  }

  /// Adds elements at the end.
  public func append<Elements: Sequence>(objectsIn values: Elements)
  where Elements.Element == Element {
    let values = Array(values)
    if values.isEmpty { return }
    change { list in
      list.append(objectsIn: values.map { liveForm(of: $0, for: list.realm) })
    }
  }

  /// Puts an element in front of the one that is shown at a position.
  public func insert(_ value: Element, at index: Int) {
    change {
      ShownElements($0, [index], orEnd: true)
    } _: { list, shown in
      list.insert(
        liveForm(of: value, for: list.realm), at: shown.places(in: list)[0] ?? list.count)
    }
  }

  /// Removes the element that is shown at a position; an object stays in the Realm.
  public func remove(at index: Int) { remove(atOffsets: IndexSet(integer: index)) }

  /// Removes the elements that are shown at positions; objects stay in the Realm.
  public func remove(atOffsets offsets: IndexSet) {
    if offsets.isEmpty { return }
    change {
      ShownElements($0, Array(offsets))
    } if: { list, shown in
      shown.foundPlaces(in: list) != nil
    } _: { list, shown in
      if let places = shown.foundPlaces(in: list) { list.remove(atOffsets: places) }
    }
  }

  /// Moves the elements that are shown at positions in front of the one that is shown at `offset`.
  public func move(fromOffsets offsets: IndexSet, toOffset offset: Int) {
    if offsets.isEmpty { return }
    change {
      (ShownElements($0, Array(offsets)), target: ShownElements($0, [offset], orEnd: true))
    } if: { list, shown in
      shown.0.foundPlaces(in: list) != nil
    } _: { list, shown in
      guard let places = shown.0.foundPlaces(in: list) else { return }
      list.move(fromOffsets: places, toOffset: shown.target.places(in: list)[0] ?? list.count)
    }
  }

  /// Removes all elements; objects stay in the Realm.
  public func removeAll() { change(if: { !$0.isEmpty }) { $0.removeAll() } }
}

extension BoundCollection where Value == List<Element>, Element: ObjectBase {
  /// Removes an object from the list, at its first place; it stays in the Realm.
  public func remove(_ object: Element) {
    let place = { (list: List<Element>) in
      list.firstIndex { StoredBits.sameObject($0, object) }
    }
    change(if: { place($0) != nil }) { list in place(list).map { list.remove(at: $0) } }
  }
}

// MARK: - Sets

extension BoundCollection where Value == MutableSet<Element> {
  /// Adds an element, unless it is in the set.
  public func insert(_ value: Element) {
    change(if: { !$0.contains(liveForm(of: value, for: $0.realm)) }) { set in
      set.insert(liveForm(of: value, for: set.realm))
    }
  }

  /// Removes an element, if it is in the set; an object stays in the Realm.
  public func remove(_ value: Element) {
    change(if: { $0.contains(liveForm(of: value, for: $0.realm)) }) { set in
      set.remove(liveForm(of: value, for: set.realm))
    }
  }

  /// Removes the elements that are shown at positions; objects stay in the Realm.
  public func remove(atOffsets offsets: IndexSet) {
    if offsets.isEmpty { return }
    change {
      $0.objects(at: offsets)
    } _: { set, values in
      for value in values where !isDeleted(value) {
        set.remove(liveForm(of: value, for: set.realm))
      }
    }
  }

  /// Removes all elements; objects stay in the Realm.
  public func removeAll() { change(if: { !$0.isEmpty }) { $0.removeAll() } }
}

/// Whether an element of a live collection is an object that is gone.
@MainActor
private func isDeleted<Element>(_ value: Element) -> Bool {
  (value as? any ThreadConfined)?.isInvalidated ?? false
}

// MARK: - Results

extension BoundCollection where Value == Results<Element>, Element: Object {
  /// Adds an object to the Realm of the results.
  ///
  /// One that is in the Realm already is left alone. The results show it if it fulfils their
  /// conditions. Stops when the object, or one that it links to, belongs to another Realm, and when
  /// its primary key is there already.
  public func append(_ object: Element) {
    change(if: { !isInFile(object, of: $0.source.realm) }) { $0.realm?.add(object) }
  }
}

/// Whether an object is in a Realm's file, in whichever version.
func isInFile(_ object: Object, of realm: ConfinedRealm) -> Bool {
  object.realm.map { $0.confined.store === realm.store } ?? false
}

extension BoundCollection where Value == Results<Element>, Element: ObjectBase & ThreadConfined {
  /// Deletes an object from the Realm.
  public func remove(_ object: Element) { deleteManaged(object) }

  /// Deletes the objects that are shown at positions from the Realm.
  public func remove(atOffsets offsets: IndexSet) {
    guard let results = _boundValue else { return logDeleted(Value.self) }
    deleteQuickly(results.objects(at: offsets), of: results)
  }
}

extension BoundCollection where Value == Results<Element>, Element: ProjectionObservable {
  /// Adds the object that a projection shows to the Realm of the results; see `append` of objects.
  public func append(_ projection: Element) where Element.Root: Object {
    let object = projection.rootObject
    change(if: { !isInFile(object, of: $0.source.realm) }) { $0.realm?.add(object) }
  }

  /// Deletes the object that a projection shows from the Realm.
  public func remove(_ projection: Element) { deleteManaged(projection.rootObject) }

  /// Deletes the objects that are shown at positions from the Realm.
  public func remove(atOffsets offsets: IndexSet) {
    guard let results = _boundValue else { return logDeleted(Value.self) }
    deleteQuickly(results.objects(at: offsets).map(\.rootObject), of: results)
  }
}

/// Deletes an object; stops when it belongs to no Realm.
func deleteManaged<Element: ObjectBase & ThreadConfined>(_ object: Element) {
  if object.realm == nil {
    misuse(.ownership, "Can only delete an object from the Realm it belongs to.")
  }
  deleteQuickly(object)
}

/// Deletes objects in one transaction; those that are gone already are left out.
func deleteQuickly<Element: ObjectBase & ThreadConfined, Collection: ThreadConfined>(
  _ objects: [Element], of collection: Collection
) {
  if objects.isEmpty { return }
  quickWrite(to: collection) { live in
    for object in objects {
      if !object.isFrozen, object.isInvalidated {
        logDeleted(Element.self)
      } else if let object = object.isFrozen ? object.thaw() : object {
        live.realm?.delete(object)
      } else {
        logDeleted(Element.self)
      }
    }
  }
}
