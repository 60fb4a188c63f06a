// Finds a lost update in a program of a Realm, repeats it, and finds none when it is mended. The
// program reads outside of its write: what another task writes in between is lost.
import Foundation
import RaceHunt
import RealmSwift

final class Article: Object {
  @Persisted(primaryKey: true) var number = 1
  @Persisted var likes = 0
}

/// Answers whether somebody may vote.
actor Voters {
  private var names: Set<String> = []
  func admit(_ name: String) -> Bool { names.insert(name).inserted }
}

@main struct Program {
  /// Makes all of its state anew: each schedule has a database of its own, in memory.
  @Sendable static func vote(isMended: Bool) async throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "votes \(UUID().uuidString)", objectTypes: [Article.self])
    // A database in memory is there as long as somebody has it open.
    let kept = try begin(configuration)
    defer { withExtendedLifetime(kept) {} }
    let voters = Voters()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in ["Ann", "Bob"] {
        group.addTask { try await like(name, voters, configuration, isMended: isMended) }
      }
      try await group.waitForAll()
    }
    let likes = try likes(configuration)
    check(likes == 2, "a vote is lost: \(likes) of 2")
  }

  static func like(
    _ name: String, _ voters: Voters, _ configuration: Realm.Configuration, isMended: Bool
  ) async throws {
    let seen = try likes(configuration)
    guard await voters.admit(name) else { return }
    try add(configuration, seen: isMended ? nil : seen)
  }

  static func begin(_ configuration: Realm.Configuration) throws -> Realm {
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Article()) }
    return realm
  }

  /// One more than was seen; nil for what is there in the write.
  static func add(_ configuration: Realm.Configuration, seen: Int?) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write {
      let article = realm.object(ofType: Article.self, forPrimaryKey: 1)!
      article.likes = (seen ?? article.likes) + 1
    }
  }

  static func likes(_ configuration: Realm.Configuration) throws -> Int {
    let realm = try Realm(configuration: configuration)
    realm.refresh()
    return realm.object(ofType: Article.self, forPrimaryKey: 1)!.likes
  }

  static func main() async throws {
    do {
      try await explore { try await vote(isMended: false) }
      preconditionFailure("the race was not found")
    } catch {
      print(error)
      precondition(error.seconds! < 1, "it took \(error.seconds!) s")
      do {
        try await replay(error.schedule) { try await vote(isMended: false) }
        preconditionFailure("the schedule does not fail again")
      } catch let again {
        precondition(again.reason == error.reason && again.table == error.table)
        print("repeated: \(again.reason)")
      }
    }
    let exploration = try await explore(iterations: 200) { try await vote(isMended: true) }
    print("mended: no failure in \(exploration.schedules) schedules")
  }
}
