// What a property wrapper can show: values whose changes can be followed, and of which the last
// form is found when they are deleted.
internal import ObjectStore

/// A value that a property wrapper can show.
protocol Followable {
  /// What follows the value's changes; made with the value as it is in the Realm's version.
  func makeFollower(_ keyPaths: [String]?) -> any ValueFollower
  /// The value as it was in a frozen Realm; nil when it was not there.
  func form(in old: ConfinedRealm) -> Any?
}

/// Follows the changes of a value.
protocol ValueFollower {
  /// What has to change so that there may be something to tell.
  var watched: Watched { get }
  /// Goes on to the newer version of a step, and says whether there is something to tell.
  func isChanged(by step: VersionStep) -> Bool
}

extension ObjectTracker: ValueFollower {
  func isChanged(by step: VersionStep) -> Bool { advance(step) != nil }
}

extension CollectionTracker: ValueFollower {
  func isChanged(by step: VersionStep) -> Bool { advance(step) != nil }
}

extension MapTracker: ValueFollower {
  func isChanged(by step: VersionStep) -> Bool { advance(step) != nil }
}

extension Followable where Self: ObjectBase {
  func makeFollower(_ keyPaths: [String]?) -> any ValueFollower {
    ObjectTracker(self, keyPaths: keyPaths)
  }

  func form(in old: ConfinedRealm) -> Any? { old.accessor(of: self) }
}

extension ObjectBase: Followable {}

extension Projection: Followable {
  func makeFollower(_ keyPaths: [String]?) -> any ValueFollower {
    let names = keyPaths ?? []
    let paths = ProjectedProperties.of(self)
      .filter { names.isEmpty || names.contains($0.name) }.map { $0.property.path ?? "" }
    return ObjectTracker(rootObject, keyPaths: paths)
  }

  func form(in old: ConfinedRealm) -> Any? {
    (old.accessor(of: rootObject) as? Root).map { Self(projecting: $0) }
  }
}

extension Followable where Self: TrackedCollection {
  func makeFollower(_ keyPaths: [String]?) -> any ValueFollower {
    makeTracker(keyPaths)
  }
}

extension List: Followable {
  func form(in old: ConfinedRealm) -> Any? { cell?.moved(to: old).map { List($0) } }
}

extension MutableSet: Followable {
  func form(in old: ConfinedRealm) -> Any? { cell?.moved(to: old).map { MutableSet($0) } }
}

extension Map: Followable {
  func makeFollower(_ keyPaths: [String]?) -> any ValueFollower {
    // Of no Realm, or inside of a mixed value: that was refused before.
    guard let cell else { preconditionFailure("a map without a place is not followed") }
    return MapTracker(cell, keyPaths: keyPaths)
  }

  func form(in old: ConfinedRealm) -> Any? { cell?.moved(to: old).map { Map($0) } }
}

extension Results: Followable {
  func form(in old: ConfinedRealm) -> Any? { source.moved(to: old).map { Results($0) } }
}

extension LinkingObjects: Followable {
  func form(in old: ConfinedRealm) -> Any? { nil }
}

extension AnyRealmCollection: Followable {
  func form(in old: ConfinedRealm) -> Any? { nil }
}

extension SectionedResults: Followable {
  func makeFollower(_ keyPaths: [String]?) -> any ValueFollower {
    CollectionTracker.make(source.results, keyPaths: keyPaths)
  }

  func form(in old: ConfinedRealm) -> Any? { nil }
}
