// Orders and sections of projections by key paths of the projection: what such a key path reads
// from the object is the property that counts.

extension ProjectionObservable {
  /// The path, from the object, of what a key path of the projection reads; stops when that is
  /// none.
  static func path(of keyPath: PartialKeyPath<Self>) -> String {
    let path = KeyPathRecording.path(of: Root.self) { object in
      Self(projecting: unsafeDowncast(object, to: Root.self))[keyPath: keyPath]
    }
    guard let path else { stop(for: keyPath) }
    return path
  }

  /// Stops because a key path leads to no projected property.
  static func stop(for keyPath: PartialKeyPath<Self>) -> Never {
    misuse(
      .argument,
      "Cannot apply a keypath to '\(Self.self)': \(keyPath) does not lead to a projected property.")
  }
}

extension RealmCollection where Element: ProjectionObservable {
  /// The elements sorted by a projected property.
  public func sorted<Value: _HasPersistedType>(
    by keyPath: KeyPath<Element, Value>, ascending: Bool = true
  ) -> Results<Element> where Value.PersistedType: SortableType {
    sorted(byKeyPath: Element.path(of: keyPath), ascending: ascending)
  }

  /// The elements sorted by a projected property, in sections of elements with the same value.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    let ordered = sorted(byKeyPath: Element.path(of: keyPath), ascending: ascending)
    return SectionedResults(SectionSource(ordered) { $0[keyPath: keyPath] })
  }

  /// The elements sorted by several properties of the object, in sections of elements with the same
  /// value of a projected property.
  ///
  /// Stops when there is no descriptor, and when the first one is of another property.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    let sections = sectioned(by: { $0[keyPath: keyPath] }, sortDescriptors: sortDescriptors)
    if sortDescriptors[0].keyPath != Element.path(of: keyPath) { stopForSectionKey() }
    return sections
  }
}
