// Properties of all elements of a collection at once, by name, and the operators of key paths:
//
//   @count                       the number of elements
//   @min.x  @max.x  @sum.x  @avg.x   of the values at the end of path x; x may be `self`
//   @unionOfObjects.x            the values, those that are nil left out
//   @distinctUnionOfObjects.x    the same, each once
//   @unionOfArrays.x             the elements of all collections that path x leads to
//   @distinctUnionOfArrays.x     the same, each once

extension RealmCollection {
  /// The values of a property of all elements, as an array.
  ///
  /// `self` stands for the elements themselves; keys that begin with "@" are operators, as in
  /// `value(forKeyPath:)`. Stops when there is no such property.
  public func value(forKey key: String) -> Any? {
    if key.hasPrefix("@") { return _value(forKeyPath: key) }
    return values(forKeyPath: key, whole: true)
  }

  /// The values at the end of a path of property names from each element, as an array; or what an
  /// operator makes of them, such as `@avg.age`.
  ///
  /// Stops when there is no such property.
  public func value(forKeyPath keyPath: String) -> Any? { _value(forKeyPath: keyPath) }

  func _value(forKeyPath keyPath: String) -> Any? {
    keyPath.hasPrefix("@")
      ? applyOperator(of: keyPath) : values(forKeyPath: keyPath, whole: false)
  }

  /// What the operator at the beginning of a path makes of the values at its end.
  func applyOperator(of keyPath: String) -> Any? {
    let parts = keyPath.split(separator: ".", maxSplits: 1).map { String($0) }
    let path = parts.count > 1 ? parts[1] : nil
    if parts[0] == "@count" && path == nil { return count }
    guard let path else { stopForOperator(keyPath) }
    let values = values(forKeyPath: path, whole: false)
    switch parts[0] {
    case "@min": return Aggregation(values.map { queryValue($0) }).min
    case "@max": return Aggregation(values.map { queryValue($0) }).max
    case "@sum":
      let sum = Aggregation(values.map { queryValue($0) }).sum
      return (sum as? Int64).map { Int($0) } ?? sum
    case "@avg": return Aggregation(values.map { queryValue($0) }).average
    case "@unionOfObjects": return values.compactMap { $0 }
    case "@distinctUnionOfObjects": return distinctValues(values)
    case "@unionOfArrays": return joined(values, keyPath).compactMap { $0 }
    case "@distinctUnionOfArrays": return distinctValues(joined(values, keyPath))
    default: stopForOperator(keyPath)
    }
  }

  /// The elements of collections, one after the other; stops when a value is none.
  private func joined(_ values: [Any?], _ keyPath: String) -> [Any?] {
    values.flatMap { value in
      if let elements = untypedElements(value) { return elements }
      misuse(.argument, "Key path '\(keyPath)' leads to values that are no collections.")
    }
  }

  /// The values that are not nil, each once.
  private func distinctValues(_ values: [Any?]) -> [Any] {
    var seen: Set<ValueIdentity> = []
    return values.compactMap { $0 }.filter { seen.insert(ValueIdentity($0)).inserted }
  }

  private func stopForOperator(_ keyPath: String) -> Never {
    misuse(.argument, "Unsupported KVC collection operator found in key path '\(keyPath)'")
  }

  /// The values that a path leads to from each element.
  ///
  /// - Parameter whole: the path is one property's name.
  func values(forKeyPath path: String, whole: Bool) -> [Any?] {
    if path == "self" { return map { $0._anyElement } }
    var path = Substring(path)
    if path.hasPrefix("self.") { path = path.dropFirst(5) }
    let name = String(path)
    return map { element in
      guard let object = element._anyElement as? ObjectBase else {
        if element._anyElement == nil { return nil }
        misuse(
          .argument, "Invalid property name '\(name)' for a collection of '\(Element._rlmType)'.")
      }
      return unwrapped(whole ? object.value(forKey: name) : object.value(forKeyPath: name))
    }
  }
}

extension RealmCollection where Element: ObjectBase {
  /// Sets a property of all elements.
  ///
  /// Stops outside of a transaction, when there is no such property, and when the value does not
  /// fit it.
  public func setValue(_ value: Any?, forKey key: String) {
    for object in self { object.setValue(value, forKey: key) }
  }
}

extension List: _KeyPathReadable {}
extension Results: _KeyPathReadable {}
extension LinkingObjects: _KeyPathReadable {}
extension MutableSet: _KeyPathReadable {}
