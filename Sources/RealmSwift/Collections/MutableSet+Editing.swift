// Sets: changes.
internal import ObjectStore

extension MutableSet {
  /// Changes the elements of an unmanaged set; nobody else holds them meanwhile, who would be a
  /// reason to copy them.
  private func edit(_ body: (inout UniqueElements<Element>) -> Void) {
    guard case .unmanaged(var elements) = storage else { return }
    storage = .unmanaged(UniqueElements())
    body(&elements)
    storage = .unmanaged(elements)
  }

  /// Adds an element, unless it is in the set.
  ///
  /// Of a managed set only inside a transaction; here and below. An object that belongs to no Realm
  /// is added to the set's.
  public func insert(_ object: Element) { insert(objectsIn: CollectionOfOne(object)) }

  /// Adds the elements that are not in the set yet.
  public func insert<Elements: Sequence>(objectsIn objects: Elements)
  where Elements.Element == Element {
    // Taken first: the elements may be the set's own.
    let added = Array(objects)
    guard let cell else { return edit { for element in added { $0.insert(element) } } }
    let group = cell.requireWriting()
    cell.withValues(added) { group.setInsert(cell.storedTable, cell.key, cell.column, $0) }
    cell.changed()
  }

  /// Removes an element, if it is in the set; an object stays in the Realm.
  public func remove(_ object: Element) {
    guard let cell else { return edit { $0.remove(object) } }
    let group = cell.requireWriting()
    cell.withKnownValue(object) { group.setRemove(cell.storedTable, cell.key, cell.column, $0) }
    cell.changed()
  }

  /// Removes all elements; objects stay in the Realm.
  public func removeAll() {
    switch storage {
    case .unmanaged: storage = .unmanaged(UniqueElements())
    case .managed(let cell):
      let group = cell.requireWriting()
      group.removeAllElements(cell.storedTable, cell.key, cell.column)
      cell.changed()
    }
  }

  /// Removes the elements that are not in another set.
  public func formIntersection(_ other: MutableSet<Element>) {
    _ = cell?.requireWriting()
    for element in Array(self) where !other.contains(element) { remove(element) }
  }

  /// Removes the elements that are in another set.
  public func subtract(_ other: MutableSet<Element>) {
    _ = cell?.requireWriting()
    for element in Array(other) { remove(element) }
  }

  /// Adds the elements of another set.
  public func formUnion(_ other: MutableSet<Element>) { insert(objectsIn: Array(other)) }
}
