// Results that look over several links, in a running transaction that changes what lies on the way.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

final class LedTask: Object {
  @Persisted var id = 0
  @Persisted var project: LedProject?
  @Persisted var reviewer: LedPerson?
  @Persisted var after: LedTask?
  @Persisted(originProperty: "after") var followers: LinkingObjects<LedTask>
  @Persisted var isOpen = false

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class LedProject: Object {
  @Persisted var team: LedTeam?
  @Persisted var helpers: List<LedPerson>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class LedTeam: Object {
  @Persisted var rank = 0
  @Persisted var lead: LedPerson?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class LedPerson: Object {
  @Persisted var isAway = false
  @Persisted(originProperty: "helpers") var helps: LinkingObjects<LedProject>
  @Persisted(originProperty: "lead") var leads: LinkingObjects<LedTeam>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct PassingPathsTests {
  private typealias Asked = (
    results: (Results<LedTask>) -> Results<LedTask>, isElement: (LedTask) -> Bool
  )

  /// Each with the same in plain Swift.
  private static var asked: [Asked] {
    [
      ({ $0.where { $0.project.team.rank > 2 } }, { ($0.project?.team?.rank ?? 0) > 2 }),
      (
        { $0.where { $0.project.team.rank > 3 || $0.reviewer.isAway == true } },
        { ($0.project?.team?.rank ?? 0) > 3 || $0.reviewer?.isAway == true }
      ),
      (
        { $0.where { $0.reviewer.isAway == true || $0.project.team.lead.isAway == true } },
        { $0.reviewer?.isAway == true || $0.project?.team?.lead?.isAway == true }
      ),
      (
        { $0.filter("ANY project.helpers.isAway == true") },
        { $0.project?.helpers.contains { $0.isAway } == true }
      ),
      ({ $0.where { $0.project.helpers.count > 1 } }, { ($0.project?.helpers.count ?? 0) > 1 }),
      ({ $0.where { $0.followers.isOpen == true } }, { $0.followers.contains { $0.isOpen } }),
      (
        { $0.where { $0.after.followers.isOpen == true } },
        { $0.after?.followers.contains { $0.isOpen } == true }
      ),
      ({ $0.filter("followers.@count > 1") }, { $0.followers.count > 1 }),
      ({ $0.where { $0.followers.count == 0 } }, { $0.followers.isEmpty }),
      ({ $0.where { $0.reviewer.helps.count > 0 } }, { ($0.reviewer?.helps.count ?? 0) > 0 }),
      (
        { $0.filter("ANY reviewer.leads.rank > 3") },
        { $0.reviewer?.leads.contains { $0.rank > 3 } == true }
      ),
    ]
  }

  @Test func whatLiesOnTheWayChanges() async {
    await withSeeds(2) { random in
      let realm = try Self.filled(&random)
      let tasks = realm.objects(LedTask.self)
      let asked = Self.asked.map { ($0.results(tasks), $0.isElement) }
      realm.beginWrite()
      for step in 0..<amount(600, debug: 120) {
        let number = step % asked.count
        let (results, isElement) = asked[number]
        let expected = Array(tasks.filter(isElement).map(\.id))
        // Asked often enough to be worth being known.
        for _ in 0..<3 { #expect(results.count == expected.count, "\(number) at \(step)") }
        #expect(results.map(\.id) == expected, "\(number) at \(step)")
        Self.change(realm, &random)
      }
      realm.cancelWrite()
    }
  }

  private static func filled(_ random: inout RandomGenerator) throws -> Realm {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString,
        objectTypes: [LedTask.self, LedProject.self, LedTeam.self, LedPerson.self]))
    try realm.write {
      for _ in 0..<60 { realm.create(LedPerson.self) }
      for _ in 0..<40 { realm.create(LedTeam.self) }
      for _ in 0..<300 { realm.create(LedProject.self) }
      for id in 0..<1_100 { realm.create(LedTask.self, value: ["id": id]) }
      for project in realm.objects(LedProject.self) {
        project.team = one(of: realm.objects(LedTeam.self), &random)
      }
      for task in realm.objects(LedTask.self) {
        task.project = one(of: realm.objects(LedProject.self), &random)
        task.reviewer = one(of: realm.objects(LedPerson.self), &random)
        task.after = one(of: realm.objects(LedTask.self), &random)
      }
    }
    return realm
  }

  private static func one<Element: Object>(
    of all: Results<Element>, _ random: inout RandomGenerator
  ) -> Element {
    all[Int(random.next() % UInt64(all.count))]
  }

  /// One object of one class: what others lead over it is told by nothing else.
  private static func change(_ realm: Realm, _ random: inout RandomGenerator) {
    let project = one(of: realm.objects(LedProject.self), &random)
    let team = one(of: realm.objects(LedTeam.self), &random)
    let person = one(of: realm.objects(LedPerson.self), &random)
    let task = one(of: realm.objects(LedTask.self), &random)
    switch random.next() % 12 {
    case 0: team.rank = Int(random.next() % 6)
    case 1: team.lead = person
    case 2, 3: person.isAway.toggle()
    case 4: project.team = random.next() % 4 == 0 ? nil : team
    case 5: project.helpers.append(person)
    case 6: if !project.helpers.isEmpty { project.helpers.removeLast() }
    case 7, 8: task.isOpen.toggle()
    case 9: task.after = one(of: realm.objects(LedTask.self), &random)
    case 10:
      switch random.next() % 8 {
      case 0: realm.delete(team)
      case 1: realm.delete(person)
      case 2, 3, 4: realm.delete(task)
      default: realm.delete(project)
      }
    default: task.project = project
    }
  }
}
