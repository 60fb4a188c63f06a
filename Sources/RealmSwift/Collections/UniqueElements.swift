// What a set that belongs to no Realm holds: each element once, found by what tells elements apart
// in a file. Inserting and removing take the same time however many elements there are.

/// The elements of an unmanaged set, in the order in which they came.
@usableFromInline
struct UniqueElements<Element: RealmCollectionValue> {
  private(set) var all: [Element] = []
  /// Positions of values by what tells them apart in a file.
  private var positions: [ValueIdentity: Int] = [:]
  /// Positions of objects.
  private var objects = ObjectPositions()

  init() {}

  init<Elements: Sequence>(_ elements: Elements) where Elements.Element == Element {
    for element in elements { insert(element) }
  }

  /// How an element is found.
  private enum Mark {
    case value(ValueIdentity)
    case object(ObjectBase)
    /// By its own equality, one element after the other: values that are stored as objects, and
    /// collections.
    case other

    init(_ element: Element) {
      if let object = UniqueElements.object(in: element) {
        self = .object(object)
        return
      }
      self = .other
      if Element._rlmType == .object { return }
      let identity = element._identity
      if case .other = identity { return }
      self = .value(identity)
    }
  }

  /// The object that an element is or links to.
  private static func object(in element: Element) -> ObjectBase? {
    if Element._rlmType == .object { return element as? ObjectBase }
    if Element._rlmType == .any, case .object(let object)? = element as? AnyRealmValue {
      return object
    }
    return nil
  }

  func position(of element: Element) -> Int? { position(of: element, Mark(element)) }

  private func position(of element: Element, _ mark: Mark) -> Int? {
    switch mark {
    case .value(let identity): return positions[identity]
    case .object(let object):
      if let position = objects.position(of: object) { return position }
      return objects.isComplete(for: object) ? nil : all.firstIndex(of: element)
    case .other: return all.firstIndex(of: element)
    }
  }

  /// The same before a change: objects that became managed are found faster from then on.
  private mutating func positionForChange(of element: Element, _ mark: Mark) -> Int? {
    if case .object(let object) = mark, objects.position(of: object) == nil,
      !objects.isComplete(for: object)
    {
      objects.noteIdentities(all.lazy.map { Self.object(in: $0) })
    }
    return position(of: element, mark)
  }

  mutating func insert(_ element: Element) {
    let mark = Mark(element)
    if positionForChange(of: element, mark) != nil { return }
    note(mark, at: all.count)
    all.append(element)
  }

  /// Takes an element out; the last one moves to its place.
  mutating func remove(_ element: Element) {
    guard let position = positionForChange(of: element, Mark(element)) else { return }
    forget(Mark(all[position]), at: position)
    let last = all.removeLast()
    if position == all.count { return }
    all[position] = last
    let mark = Mark(last)
    forget(mark, at: all.count)
    note(mark, at: position)
  }

  private mutating func note(_ mark: Mark, at position: Int) {
    switch mark {
    case .value(let identity): positions[identity] = position
    case .object(let object): objects.note(object, at: position)
    case .other: break
    }
  }

  private mutating func forget(_ mark: Mark, at position: Int) {
    switch mark {
    case .value(let identity): positions[identity] = nil
    case .object(let object): objects.forget(object, at: position)
    case .other: break
    }
  }
}

/// Positions of objects, which become managed without telling the sets that hold them.
///
/// Until then an object is equal to itself alone, and has no other identity than its address.
private struct ObjectPositions {
  private var byAddress: [ObjectIdentifier: Int] = [:]
  /// Positions of managed objects that other accessors can be equal to.
  private var byIdentity: [ManagedIdentity: Int] = [:]
  /// Whether objects without such an identity came in; they may have one now.
  private var hasUnidentified = false
  /// Whether there are objects that this cannot tell apart: of classes with an equality of their
  /// own, or added to a Realm as one and the same object.
  private var isUnsure = false

  /// Where an object is known to be.
  func position(of object: ObjectBase) -> Int? {
    byAddress[ObjectIdentifier(object)] ?? object.identityKey.flatMap { byIdentity[$0] }
  }

  /// Whether an object of which no position is known is not in the set.
  func isComplete(for object: ObjectBase) -> Bool {
    if isUnsure || Self.hasOwnEquality(object) { return false }
    return !hasUnidentified || object.identityKey == nil
  }

  mutating func note(_ object: ObjectBase, at position: Int) {
    byAddress[ObjectIdentifier(object)] = position
    if let identity = object.identityKey {
      byIdentity[identity] = position
    } else {
      hasUnidentified = true
    }
    if Self.hasOwnEquality(object) { isUnsure = true }
  }

  mutating func forget(_ object: ObjectBase, at position: Int) {
    byAddress[ObjectIdentifier(object)] = nil
    if let identity = object.identityKey, byIdentity[identity] == position {
      byIdentity[identity] = nil
    }
  }

  /// Looks at all elements again, of which some may have become managed.
  mutating func noteIdentities(_ objects: some Collection<ObjectBase?>) {
    if isUnsure { return }
    byIdentity.removeAll(keepingCapacity: true)
    hasUnidentified = false
    for (position, object) in objects.enumerated() {
      guard let object else { continue }
      guard let identity = object.identityKey else {
        hasUnidentified = true
        continue
      }
      if byIdentity.updateValue(position, forKey: identity) != nil { isUnsure = true }
    }
  }

  /// Whether the object's class says itself what is equal: `hash` is to be overridden then.
  private static func hasOwnEquality(_ object: ObjectBase) -> Bool {
    object.hash != object.ownHash
  }
}
