// The ways of going through collections that are neither tables nor stored elements: arrays, known
// keys.
internal import ObjectStore

/// Goes through positions that are known to be there when iteration begins.
final class PositionCursor<Element>: ElementCursor<Element> {
  private let count: () -> Int
  private let element: (Int) -> Element
  private var position = 0
  private let end: Int

  /// - Parameters:
  ///   - count: the number of elements, which may shrink on the way.
  ///   - element: the element at a position below it.
  init(count: @escaping () -> Int, element: @escaping (Int) -> Element) {
    self.count = count
    self.element = element
    end = count()
  }

  override func next() -> Element? {
    guard position < min(end, count()) else { return nil }
    defer { position += 1 }
    return element(position)
  }
}

/// Goes through an array.
@usableFromInline
class ArrayCursor<Element>: ElementCursor<Element> {
  private let elements: [Element]
  private var position = 0

  @usableFromInline
  init(_ elements: [Element]) { self.elements = elements }

  @usableFromInline
  override func next() -> Element? {
    guard position < elements.count else { return nil }
    defer { position += 1 }
    return elements[position]
  }
}

/// Goes through elements that were copied because a transaction may change what they are read from.
@usableFromInline
final class CopyCursor<Element: RealmCollectionValue>: ArrayCursor<Element> {
  @usableFromInline
  override func next() -> Element? { super.next()?.unlessDeleted }
}

extension RealmCollectionValue {
  /// The value; nil, or none, in the place of an object that was deleted since it was read.
  var unlessDeleted: Self {
    guard Self._rlmType == .any || Self.isObject, let object = _anyElement as? ObjectBase,
      object.isInvalidated
    else { return self }
    return Self._elementFromAny(nil) ?? self
  }

  /// Whether values are objects of a Realm, perhaps optional, and no own types stored as such.
  static var isObject: Bool {
    if _rlmType != .object { return false }
    let type: Any.Type = (Self.self as? any OptionalProtocol.Type)?._wrappedType ?? Self.self
    return type is ObjectBase.Type
  }
}

/// Goes through objects whose keys are known; those deleted on the way are left out.
final class KeyCursor<Element>: ElementCursor<Element> {
  private let keys: [ObjectKey]
  private let element: (ObjectKey) -> Element?
  private var position = 0

  init(keys: [ObjectKey], element: @escaping (ObjectKey) -> Element?) {
    self.keys = keys
    self.element = element
  }

  override func next() -> Element? {
    while position < keys.count {
      defer { position += 1 }
      if let element = element(keys[position]) { return element }
    }
    return nil
  }
}
