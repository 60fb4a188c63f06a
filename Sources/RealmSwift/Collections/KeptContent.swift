// Mixed values on their way into a collection, or an object, that is changed on the same way. Lists
// and dictionaries of a managed mixed value are known by their places: once what is there is moved,
// replaced or removed, they show something else or nothing. So all that is given is read before
// anything is changed.
internal import ObjectStore

/// The stored forms of mixed values, read before the first of them is written.
final class KeptForms {
  private var bytes: [UInt8] = []
  /// Where each form is in `bytes`; nil for null.
  private var places: [Range<Int>?] = []

  func add(_ value: ElementValue) {
    switch value {
    case .null: places.append(nil)
    case .bytes(let form):
      let start = bytes.count
      bytes.append(contentsOf: form)
      places.append(start..<bytes.count)
    case .integer, .link: preconditionFailure("mixed values are stored as bytes")
    }
  }

  /// Runs `body` on each form, in the order in which they came.
  func forEach(_ body: (ElementValue) -> Void) {
    bytes.withUnsafeBytes { bytes in
      for place in places {
        if let place {
          body(.bytes(UnsafeRawBufferPointer(rebasing: bytes[place])))
        } else {
          body(.null)
        }
      }
    }
  }
}

extension CollectionCell {
  /// Gives the stored forms of elements to `body`, one by one, as `withValues` does; those that may
  /// be inside of this collection are all read before.
  func withKeptValues<Elements: Sequence>(
    _ elements: Elements, _ body: (ElementValue) -> Void
  ) where Elements.Element: RealmCollectionValue {
    withKeptValues(elements, behind: {}, body)
  }

  /// The same, when something has changed the collection.
  ///
  /// - Parameter change: is called once, between the reading and the first call of `body`.
  func withKeptValues<Elements: Sequence>(
    _ elements: Elements, behind change: () -> Void, _ body: (ElementValue) -> Void
  ) where Elements.Element: RealmCollectionValue {
    guard Elements.Element._rlmType == .any else {
      change()
      return withValues(elements, body)
    }
    let kept = KeptForms()
    withValues(elements) { kept.add($0) }
    change()
    kept.forEach(body)
  }
}

extension ObjectBase {
  /// Takes copies of the lists and dictionaries of a Realm that mixed values of this object refer
  /// to, which belongs to no Realm yet: its values are about to take the place of others.
  final func keepContent(_ schema: ClassSchema) {
    for property in schema.mixedProperties {
      let wrapper = pointer(to: property)
      let isValue = property.codec.declaredType == AnyRealmValue.self
      switch property.codec.value(wrapper, self) {
      case let list as List<AnyRealmValue>:
        guard AnyRealmValue.list(list).isPartlyInRealm else { continue }
        // Untyped collections are copied.
        if isValue {
          _ = property.codec.setValue(wrapper, self, list)
        } else if let copy = List<AnyRealmValue>._fromAny(list._untypedElements) {
          _ = list._takeContent(of: copy)
        }
      case let map as Map<String, AnyRealmValue>:
        guard AnyRealmValue.dictionary(map).isPartlyInRealm else { continue }
        if isValue {
          _ = property.codec.setValue(wrapper, self, map)
        } else if let copy = Map<String, AnyRealmValue>._fromAny(map._untypedEntries) {
          _ = map._takeContent(of: copy)
        }
      default: continue
      }
    }
  }
}

extension AnyRealmValue {
  /// Whether the value is a list or dictionary of a Realm, or holds one.
  fileprivate var isPartlyInRealm: Bool {
    var values = [self]
    // As in comparisons: no calls inside of calls.
    while let value = values.popLast() {
      switch value {
      case .list(let list):
        if list.realm != nil { return true }
        values += Array(list)
      case .dictionary(let map):
        if map.realm != nil { return true }
        values += map.values
      default: break
      }
    }
    return false
  }
}
