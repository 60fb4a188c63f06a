// Classes of the older style: lists, sets, maps, linking objects and boxes as constants, without
// `@Persisted`; and classes of which something, or everything, would silently not be stored.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Team: Object {
  let count = RealmOptional<Int>()
  let names = List<String>()
  let tags = MutableSet<String>()
  let scores = Map<String, Int>()
  let players = List<Player>()
  let captain = Map<String, Player?>()
  let rooms = List<Room>()
  let kept = List<String>()
  override class func ignoredProperties() -> [String] { ["kept"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Player: Object {
  let teams = LinkingObjects(fromType: Team.self, property: "players")
  let number = RealmProperty<Int?>()
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Room: EmbeddedObject {
  let seats = List<Int>()
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let classes: [ObjectBase.Type] = [Team.self, Player.self, Room.self]

private class Unmarked: Object {
  dynamic var rating: Int = 0
  dynamic var comment: String?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class HalfMarked: Object {
  let names = List<String>()
  dynamic var rating: Int = 0
  lazy var shown = "\(rating)"
  lazy var later = List<Int>()
  var perhaps: MutableSet<Int>?
  let limit = 5
  private(set) var formatter: Formatter?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Mixture: Object {
  @Persisted var id: Int
  let names = List<String>()
  var plain = 0
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Declared so that nothing of it would be stored, beside what is.
private class Late: Object {
  @Persisted var id: Int
  lazy var names = List<String>()
  let scores: Map<String, Int>? = Map<String, Int>()
  let rank: RealmProperty<Int?>? = RealmProperty<Int?>()
  /// Of another object.
  var lent: List<Int>?
  lazy var meant = List<Int>()
  override class func ignoredProperties() -> [String] { ["meant"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class OptionalConstant: Object {
  let ages = List<Int>()
  let names: List<String>? = List<String>()
  lazy var rank = RealmOptional<Int>()
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class MixedLinks: Object {
  @Persisted var id: Int
  let teams = LinkingObjects(fromType: Team.self, property: "players")
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Assignable: Object {
  var names = List<String>()
  var age = RealmOptional<Int>()
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Ignoring: Object {
  let names = List<String>()
  var plain = 0
  override class func ignoredProperties() -> [String] { ["plain"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Base: Object {
  var isShown = false
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Derived: Base {
  @Persisted var id: Int
}

private class Empty: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class EmptyInside: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct OlderClassTests {
  private func team(in realm: Realm) throws -> Team {
    let (team, player) = (Team(), Player())
    team.count.value = 3
    team.names.append(objectsIn: ["Ann", "Bo"])
    team.tags.insert("x")
    team.scores["a"] = 1
    team.players.append(objectsIn: [player, player])
    team.captain["now"] = player
    let room = Room()
    room.seats.append(12)
    team.rooms.append(room)
    team.kept.append("here")
    try realm.write { realm.add(team) }
    return team
  }

  @Test func constantsAreStored() throws {
    let folder = TemporaryFolder()
    try onEachOpening(folder.configuration("teams.realm", classes)) { realm in
      let team = try team(in: realm)
      #expect(
        team.objectSchema.properties.map(\.name)
          == ["count", "names", "tags", "scores", "players", "captain", "rooms"])
      // The object that was added goes on as an accessor.
      try realm.write {
        team.names.append("Cy")
        team.scores["b"] = 2
        team.rooms[0].seats.append(13)
      }
      #expect(team.players[0].teams.count == 2 && team.kept.count == 1)
    } second: { realm in
      let team = try #require(realm.objects(Team.self).first)
      #expect(Array(team.names) == ["Ann", "Bo", "Cy"] && Array(team.tags) == ["x"])
      #expect(team.scores["a"] == 1 && team.scores["b"] == 2 && team.count.value == 3)
      #expect(Array(team.rooms[0].seats) == [12, 13] && team.kept.isEmpty)
      let player = try #require(realm.objects(Player.self).first)
      #expect(
        realm.objects(Player.self).count == 1
          && player.teams.filter { $0.isSameObject(as: team) }.count == 2)
      #expect(team.captain["now"]??.isSameObject(as: player) == true)
    }
  }

  @Test func formsAndEnds() throws {
    let realm = try memoryRealm(classes)
    let team = try team(in: realm)
    let player = team.players[0]
    let frozen = team.freeze()
    try realm.write {
      team.names.removeAll()
      team.players.removeLast()
    }
    #expect(frozen.names.count == 2 && frozen.names.isFrozen && frozen.tags.contains("x"))
    #expect(frozen.players[0].teams.count == 2 && player.teams.count == 1)
    #expect(frozen.thaw()?.names.isEmpty == true && frozen.names.thaw() == team.names)
    realm.beginWrite()
    team.names.append("gone")
    realm.cancelWrite()
    #expect(team.names.isEmpty && team.names.realm != nil)
    try realm.write { realm.delete(team) }
    #expect(team.names.isInvalidated && player.teams.isEmpty && !frozen.names.isInvalidated)
  }

  @Test func otherThreadsAndCopies() throws {
    let realm = try memoryRealm(classes)
    let team = try team(in: realm)
    let reference = ThreadSafeReference(to: team)
    let configuration = realm.configuration
    onThread {
      #expect(throws: Never.self) {
        let realm = try Realm(configuration: configuration)
        let team = try #require(realm.resolve(reference))
        try realm.write { team.names.append("there") }
      }
    }
    realm.refresh()
    #expect(team.names.last == "there")
    let copy = Team(value: team)
    #expect(copy.realm == nil && Array(copy.names) == ["Ann", "Bo", "there"])
    #expect(copy.scores["a"] == 1 && copy.rooms[0].seats[0] == 12)
    try realm.write { realm.create(Team.self, value: ["names": ["n"], "scores": ["s": 5]]) }
    let made = try #require(realm.objects(Team.self).last)
    #expect(Array(made.names) == ["n"] && made.scores["s"] == 5)
    try realm.write { made.setValue(["p", "q"], forKey: "names") }
    #expect(Array(made.names) == ["p", "q"])
    try realm.write { made.setValue(made.names, forKey: "names") }
    #expect(made.names.count == 2)
  }

  @Test func conditions() throws {
    let realm = try memoryRealm(classes)
    _ = try team(in: realm)
    let teams = realm.objects(Team.self)
    #expect(teams.where { $0.names.contains("Ann") }.count == 1)
    #expect(teams.where { $0.players.count == 2 }.count == 1)
    #expect(teams.where { $0.tags.contains("y") || $0.scores["a"] == 1 }.count == 1)
    #expect(teams.filter("ANY names == 'Bo' AND scores['a'] == 1 AND count == 3").count == 1)
    #expect(realm.objects(Player.self).where { $0.teams.count == 2 }.count == 1)
    #expect(realm.objects(Player.self).filter("ANY teams.names == 'Ann'").count == 1)
  }

  @Test func observers() async {
    let watched = await WatchedRealm(memoryConfiguration(classes))
    await watched.run { watched in
      let team = try self.team(in: watched.realm)
      watched.tokens.append(
        team.names.observe { change in
          if case .update(_, _, let insertions, _) = change { watched.note("names \(insertions)") }
        })
      watched.tokens.append(
        watched.realm.objects(Team.self).observe(
          keyPaths: [\Team.names, \Team.players[0].number]
        ) { change in
          if case .update(_, _, _, let modifications) = change {
            watched.note("teams \(modifications)")
          }
        })
    }
    await watched.expectTold([])
    await watched.write { $0.objects(Team.self)[0].names.append("Di") }
    await watched.expectTold(["names [2]", "teams [0]"], afterCalls: 2)
    await watched.write { $0.objects(Team.self)[0].scores["c"] = 4 }
    await watched.write { $0.objects(Player.self)[0].number.value = 7 }
    await watched.expectTold(["teams [0]"], afterCalls: 3)
  }

  @Test func migrations() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration("teams.realm", classes)
    try autoreleasepool { _ = try team(in: try Realm(configuration: configuration)) }
    var next = configuration
    next.schemaVersion = 1
    next.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Team") { old, new in
        #expect(old?.dynamicList("players").count == 2)
        new?["names"] = ["renamed"]
      }
    }
    let realm = try Realm(configuration: next)
    #expect(realm.objects(Team.self).first.map { Array($0.names) } == ["renamed"])
  }

  // MARK: - What would not be stored

  private func refusal(
    _ types: [ObjectBase.Type], sourceLocation: SourceLocation = #_sourceLocation
  ) -> String {
    let error = #expect(throws: Realm.Error.self, sourceLocation: sourceLocation) {
      _ = try memoryRealm(types)
    }
    return error?.localizedDescription ?? ""
  }

  @Test func nothingIsStored() {
    let message = refusal([Unmarked.self])
    for part in [
      "No properties are defined for 'Unmarked'.",
      "Property 'Unmarked.rating' of type 'Int' is not stored. Declare it as '@Persisted var rating: "
        + "Int', or name it in `ignoredProperties()`.",
      "'@Persisted var comment: String?'",
    ] { #expect(message.contains(part), "\(message)") }
    #expect(refusal([Empty.self]).contains("No properties are defined for 'Empty'."))
    #expect(refusal([EmptyInside.self]).contains("No properties are defined for 'EmptyInside'."))
    #expect(refusal([Base.self]).contains("Property 'Base.isShown' of type 'Bool' is not stored."))
  }

  @Test func someIsNotStored() {
    let half = refusal([HalfMarked.self])
    #expect(half.contains("Property 'HalfMarked.rating' of type 'Int' is not stored."))
    #expect(half.contains("Property 'HalfMarked.later' of type 'List<Int>' is not stored, because"))
    #expect(half.contains("Property 'HalfMarked.perhaps' of type 'MutableSet<Int>' is not stored,"))
    #expect(!half.contains("shown") && !half.contains("limit") && !half.contains("formatter"))
    let late = refusal([Late.self])
    for part in [
      "Property 'Late.names' of type 'List<String>' is not stored, because it is lazy. Declare it as "
        + "'@Persisted var names: List<String>', or name it in `ignoredProperties()`.",
      "'Late.scores' of type 'Map<String, Int>' is not stored, because it is optional.",
      "'@Persisted var rank: Int?'",
    ] { #expect(late.contains(part), "\(late)") }
    #expect(!late.contains("lent") && !late.contains("meant"), "\(late)")
    let constant = refusal([OptionalConstant.self])
    #expect(
      constant.contains("'OptionalConstant.names' of type 'List<String>' is not stored, because")
        && constant.contains("'@Persisted var rank: Int?'"), "\(constant)")
    let mixture = refusal([Mixture.self])
    #expect(
      mixture.contains("Property 'Mixture.names' of type 'List<String>' is not stored")
        && mixture.contains("'@Persisted var names: List<String>'") && !mixture.contains("plain"))
    #expect(
      refusal([MixedLinks.self] + classes)
        .contains("'@Persisted(originProperty: \"players\") var teams: LinkingObjects<Team>'"))
    let assignable = refusal([Assignable.self])
    #expect(
      assignable.contains("Property 'Assignable.names' of type 'List<String>' has to be declared")
        && assignable.contains("Property 'Assignable.age'"))
  }

  @Test func whatIsMeantIsLeftAlone() throws {
    let realm = try memoryRealm([Ignoring.self, Base.self, Derived.self])
    try realm.write { _ = realm.create(Derived.self, value: ["id": 3]) }
    #expect(realm.objects(Derived.self).first?.id == 3)
  }

  @Test func anObjectOfAClassWithoutPropertiesIsNotAdded() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Base.self, Derived.self])
      try realm.write { realm.add(Base()) }
    }
    expectStop(
      result,
      "An object of class 'Base' cannot be added, because nothing of it would be stored.")
  }
}
