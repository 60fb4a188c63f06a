// Which changes of objects an observer of a collection or object wants to be told.
internal import ObjectStore

/// The key paths that an observer listed, in the terms of a class; stops when one cannot be used.
struct KeyPathFilter {
  /// What the observer asked for.
  enum Scope {
    /// Nothing was listed: for collections everything up to four links away, for objects their own
    /// properties.
    case everything
    /// An empty list: for collections only the collection itself, for objects their own properties.
    case nothing
    /// The names of each listed key path.
    case listed([[String]])
  }

  let scope: Scope

  /// - Parameters:
  ///   - keyPaths: names with dots; the last one may be `*`.
  ///   - realm: the Realm of the observed object or collection.
  ///   - objectClass: the class of the object or the elements; nil for elements that are no objects.
  init(_ keyPaths: [String]?, _ realm: ConfinedRealm, _ objectClass: ObjectBase.Type?) {
    guard let keyPaths else {
      scope = .everything
      return
    }
    scope =
      keyPaths.isEmpty
      ? .nothing
      : .listed(
        keyPaths.map { $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
      )
  }
}
