// Collections as untyped code sees them: in values from outside, and in copies of objects.
internal import Foundation

/// The elements of an untyped collection; none for nil, nil when it is no collection.
func untypedElements(_ value: Any?) -> [Any?]? {
  if let values = instance(value, of: NSArray.self) { return values.map { $0 } }
  switch value {
  case nil: return []
  case let mixed as AnyRealmValue: return untypedElements(mixed._anyValue)
  case let values as [Any]: return values
  case let values as any _UntypedElements: return values._untypedElements
  case let values as Set<AnyHashable>: return values.map { $0.base }
  case let values as any Collection where isOfElements(values): return values.untypedElements
  default: return nil
  }
}

/// Whether a collection of Swift's is no value of another kind: a text, a dictionary, or a type of
/// the client's that is stored as one value.
private func isOfElements(_ values: any Collection) -> Bool {
  switch values {
  case is any StringProtocol, is Data, is [AnyHashable: Any], is any _UntypedEntries,
    is any _CustomPersistable, is any PersistableEnum:
    false
  default: true
  }
}

extension Collection {
  fileprivate var untypedElements: [Any?] { map { $0 } }
}

/// A collection whose elements untyped code can see.
protocol _UntypedElements {
  var _untypedElements: [Any?] { get }
}

extension RealmCollectionValue {
  /// Whether elements of this type may be nil.
  ///
  /// A client's type that is stored as an object may not, though a property of it is a link, which
  /// may.
  static var _isOptionalElement: Bool {
    _rlmOptional && !(Self.self is any _CustomPersistable.Type)
  }

  /// Whether an untyped value can be an element.
  static func _acceptsElement(_ value: Any?) -> Bool {
    guard let objectClass = _rlmObjectClass else { return _elementFromAny(value) != nil }
    guard let value else { return _isOptionalElement }
    guard let object = objectValue(value) else {
      return InputValues.canHold(value) || value is Self
    }
    return object is Self || object.isNamed(as: objectClass)
  }

  /// Gives what an untyped value stands for to a managed collection.
  static func _writeAnyElement(_ value: Any?, to sink: _ElementSink) {
    // A cast of a decimal number succeeds, and rounds.
    if !isObject, decimalText(value) == nil, let element = value as? Self {
      element._writeElement(to: sink)
    } else if let objectClass = _rlmObjectClass, let value {
      sink.link(from: value, objectClass)
    } else if let element = _elementFromAny(value) {
      element._writeElement(to: sink)
    } else {
      misuse(
        .argument,
        "Invalid value '\(ValueText.of(value))' for a collection of '\(_rlmType)'.")
    }
  }
}

extension _UntypedElements where Self: RealmCollection {
  var _untypedElements: [Any?] { map { $0._anyElement } }
}

extension Results: _UntypedElements {}
extension LinkingObjects: _UntypedElements {}
extension AnyRealmCollection: _UntypedElements {}

/// A map whose entries untyped code can see.
protocol _UntypedEntries {
  var _untypedEntries: [StoredText: Any?] { get }
}

/// The entries of an untyped map; none for nil, nil when it is no map.
func untypedEntries(_ value: Any?) -> [StoredText: Any?]? {
  if let values = instance(value, of: NSDictionary.self) {
    return (values as? [String: Any]).map { byStoredText($0) }
  }
  switch value {
  case nil: return [:]
  case let mixed as AnyRealmValue: return untypedEntries(mixed._anyValue)
  case let map as any _UntypedEntries: return map._untypedEntries
  case let values as [StoredText: Any?]: return values
  case let values as [String: Any?]: return byStoredText(values)
  default: return nil
  }
}

private func byStoredText(_ values: [String: Any?]) -> [StoredText: Any?] {
  Dictionary(uniqueKeysWithValues: values.map { (StoredText($0.key), $0.value) })
}
