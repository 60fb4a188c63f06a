// What all collections of a Realm can be asked for: conditions, orders and distinct values.
public import Foundation

extension RealmCollection {
  // MARK: - Conditions

  /// The elements that fulfil a condition in `NSPredicate`'s format.
  ///
  /// Stops when the format cannot be read, or names what the elements do not have.
  ///
  ///     realm.objects(Person.self).filter("age > %@ AND name BEGINSWITH[c] %@", 18, "a")
  public func filter(_ predicateFormat: String, _ arguments: Any...) -> Results<Element> {
    let tree = PredicateParser.parse(predicateFormat, arguments.map { unwrapped($0) })
    return Results(querySource().filtered(tree))
  }

  /// The elements that fulfil a predicate; see `NSPredicate(format:)`.
  public func filter(_ predicate: NSPredicate) -> Results<Element> {
    Results(querySource().filtered(PredicateTree(predicate)))
  }

  /// The elements that fulfil a condition.
  ///
  ///     realm.objects(Person.self).where { $0.age > 18 && $0.name.starts(with: "A") }
  public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
    Results(querySource().filtered(isIncluded(.root).content.condition))
  }

  /// The position of the first element that fulfils a condition; here and below also in unmanaged
  /// lists.
  public func index(matching predicateFormat: String, _ arguments: Any...) -> Int? {
    position(matching: PredicateParser.parse(predicateFormat, arguments.map { unwrapped($0) }))
  }

  /// The position of the first element that fulfils a predicate.
  public func index(matching predicate: NSPredicate) -> Int? {
    position(matching: PredicateTree(predicate))
  }

  /// The position of the first element that fulfils a condition.
  public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
    position(matching: isIncluded(.root).content.condition)
  }

  /// Elements that belong to no Realm are asked one by one.
  private func position(matching tree: PredicateTree) -> Int? {
    if realm != nil { return querySource().position(matching: tree) }
    return firstIndex { PlainCondition(subject: $0).holds(tree) }
  }

  // MARK: - Orders

  /// The elements sorted by a property; links on the way are separated by dots.
  ///
  /// Null comes first. Stops when there is no such property.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The elements sorted by several properties, the first one first.
  public func sorted<Descriptors: Sequence>(by descriptors: Descriptors) -> Results<Element>
  where Descriptors.Element == SortDescriptor {
    Results(querySource().ordered(.sort(Array(descriptors))))
  }

  // MARK: - Distinct values

  /// The first element of each combination of values of some properties; all elements without
  /// properties.
  public func distinct<KeyPaths: Sequence>(by keyPaths: KeyPaths) -> Results<Element>
  where KeyPaths.Element == String {
    let keyPaths = Array(keyPaths)
    let source = querySource()
    return Results(keyPaths.isEmpty ? source : source.ordered(.distinct(keyPaths)))
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The elements sorted by a property.
  public func sorted<Value: _HasPersistedType>(
    by keyPath: KeyPath<Element, Value>, ascending: Bool = true
  ) -> Results<Element> where Value.PersistedType: SortableType {
    sorted(byKeyPath: _name(for: keyPath), ascending: ascending)
  }

  /// The first element of each combination of values of some properties.
  public func distinct<KeyPaths: Sequence>(by keyPaths: KeyPaths) -> Results<Element>
  where KeyPaths.Element == PartialKeyPath<Element> {
    distinct(by: keyPaths.map { _name(for: $0) })
  }
}

extension RealmCollection where Element.PersistedType: SortableType {
  /// The values in order; own types and enums in the order of their stored form.
  public func sorted(ascending: Bool = true) -> Results<Element> {
    sorted(byKeyPath: "self", ascending: ascending)
  }

  /// The different values, in the order in which each comes first.
  public func distinct() -> Results<Element> { distinct(by: ["self"]) }
}
