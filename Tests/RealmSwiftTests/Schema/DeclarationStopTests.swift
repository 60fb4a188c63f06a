// Declarations and conditions that cannot be meant, and the messages that they are refused with.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Target: Object {
  @Persisted var name: String
  @Persisted var others: List<Target>
  @Persisted var friends: List<Target>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class OptionalList: Object {
  @Persisted var targets: List<Target?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class OptionalSet: Object {
  @Persisted var targets: MutableSet<Target?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RequiredMap: Object {
  @Persisted var targets: Map<String, Target>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RequiredLink: Object {
  @Persisted var target: Target
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class NoOrigin: Object {
  @Persisted var targets: LinkingObjects<Target>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct DeclarationStopTests {
  @Test func collectionsOfObjects() {
    expectRefusal(
      [OptionalList.self, Target.self],
      "List<Target> property 'targets' must not be marked as optional.")
    expectRefusal(
      [OptionalSet.self, Target.self],
      "MutableSet<Target> property 'targets' must not be marked as optional.")
    expectRefusal(
      [RequiredMap.self, Target.self],
      "Map<String, Target> property 'targets' must be marked as optional.")
  }

  @Test func links() {
    expectRefusal(
      [RequiredLink.self, Target.self], "Object property 'target' must be marked as optional.")
    expectRefusal(
      [NoOrigin.self, Target.self],
      "LinkingObjects<Target> property 'targets' must set the origin property name with "
        + "@Persisted(originProperty:")
  }

  private func expectRefusal(
    _ types: [ObjectBase.Type], _ message: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: Realm.Error.self, sourceLocation: sourceLocation) {
      _ = try memoryRealm(types)
    }
    #expect(error?.code == .fail, sourceLocation: sourceLocation)
    #expect(
      error?.localizedDescription.contains(message) == true, sourceLocation: sourceLocation)
  }

  @Test func pathsThatLeadNowhere() async {
    let aggregate = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm([Target.self]).objects(Target.self).filter("name.@avg == 1") }
    expectStop(
      aggregate,
      "Invalid keypath 'name.@avg': Property 'Target.name' is not a link or collection and can only "
        + "appear at the end of a keypath.")
    let columns = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let targets = try memoryRealm([Target.self]).objects(Target.self)
      _ = targets.where { $0.others.name == $0.friends.name }
    }
    expectStop(columns, "Comparing two collection columns is not permitted.")
    let subquery = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let targets = try memoryRealm([Target.self]).objects(Target.self)
      _ = targets.where { ($0.name == "a").count == 1 }
    }
    expectStop(subquery, "Subqueries must contain a keypath starting with a collection.")
  }

  @Test func unmanagedCollectionsAreNotFrozen() async {
    let map = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Map<String, Int>().freeze() }
    expectStop(map, "Unmanaged maps cannot be frozen.")
    let set = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = MutableSet<Int>().freeze() }
    expectStop(set, "Unmanaged sets cannot be frozen.")
  }
}
