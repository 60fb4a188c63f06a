// What observers of projections are told.
import Dispatch
import Platform
import RealmSwift
import TestSupport
import Testing

private final class KennelView: Projection<Kennel> {
  @Projected(\Kennel.name) var title
  @Projected(\Kennel.guardian?.name) var guardian
  @Projected(\Kennel.mainBox?.size) var size
  @Projected(\Kennel.hounds.projectTo.name) var hounds: ProjectedCollection<String>
  @Projected(\Kennel.numbers) var numbers
}

private final class GuardView: Projection<Kennel> {
  @Projected(\Kennel.guardian) var guardian
}

@Suite(.ownThreads) struct ProjectionObservingTests {
  private static func view(_ realm: Realm) -> KennelView { KennelView(projecting: realm.kennel) }

  @Test func changesHaveTheNamesOfTheProjection() async {
    let watched = await WatchedRealm()
    await watched.write { realm in
      let kennel = addKennel(realm, hounds: ["Ada", "Bob"])
      kennel.guardian = kennel.hounds[0]
      kennel.mainBox = Box(1)
    }
    await watched.run { watched in
      watched.tokens.append(
        Self.view(watched.realm).observe { [unowned watched] change in
          if case .change(let view, _) = change { #expect(view.realm == watched.realm) }
          watched.note(text(change))
        })
    }
    await watched.write { $0.kennel.name = "home" }
    await watched.expectTold(["title nil>home"], afterCalls: 1)
    // Through a link, and of an element; own changes come without old values.
    await watched.write { $0.hound("Ada").name = "Eve" }
    await watched.expectTold(["guardian nil>Eve hounds nil>nil"], afterCalls: 2)
    await watched.write { realm in
      realm.kennel.mainBox?.size = 7
      realm.kennel.numbers.append(1)
    }
    await watched.expectTold(["size nil>7 numbers nil>nil"], afterCalls: 3)
    // What is not projected.
    await watched.write { realm in
      realm.hound("Eve").age = 9
      realm.kennel.names.append("a")
    }
    // Others' changes, with old values.
    watched.writeElsewhere { realm in
      realm.kennel.name = "away"
      realm.kennel.guardian = nil
    }
    await watched.run { $0.realm.refresh() }
    await watched.expectTold(["title home>away guardian Eve>nil"], afterCalls: 4)
    await watched.write { $0.delete($0.kennel) }
    await watched.expectTold(["deleted"], afterCalls: 5)
  }

  /// As of objects, as they are now.
  @Test func linkedObjects() async {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0, hounds: ["Ada", "Bob"]) }
    await watched.run { watched in
      watched.tokens.append(
        GuardView(projecting: watched.realm.kennel).observe { [unowned watched] change in
          watched.note(text(change))
        })
    }
    await watched.write { $0.kennel.guardian = $0.hound("Ada") }
    await watched.expectTold(["guardian nil>Ada"], afterCalls: 1)
    watched.writeElsewhere { realm in
      realm.kennel.guardian = realm.hound("Bob")
      realm.hound("Ada").name = "Eve"
    }
    await watched.run { $0.realm.refresh() }
    await watched.expectTold(["guardian Eve>Bob"], afterCalls: 2)
    watched.writeElsewhere { $0.delete($0.hound("Bob")) }
    await watched.run { $0.realm.refresh() }
    await watched.expectTold(["guardian nil>nil"], afterCalls: 3)
  }

  @Test func keyPathsAndPlaces() async {
    let watched = await WatchedRealm()
    let queue = DispatchQueue(label: "elsewhere")
    let log = Log()
    let told = Event()
    await watched.write { addKennel($0, hounds: ["Ada"]) }
    await watched.run { watched in
      let view = Self.view(watched.realm)
      watched.tokens = [
        view.observe(keyPaths: ["title"]) { [unowned watched] in watched.note("a " + text($0)) },
        view.observe(keyPaths: [\.hounds, \.size]) { [unowned watched] in
          watched.note("b " + text($0))
        },
        view.observe(keyPaths: [\KennelView.title], on: queue) { change in
          dispatchPrecondition(condition: .onQueue(queue))
          log.add(text(change))
          told.happen()
        },
      ]
    }
    await watched.write { $0.kennel.name = "home" }
    await watched.expectTold(["a title nil>home"], afterCalls: 1)
    await told.happened(1)
    #expect(log.all == ["title >home"])
    await watched.write { $0.hound("Ada").name = "Eve" }
    await watched.expectTold(["b hounds nil>nil"], afterCalls: 2)
    await watched.run { watched in
      try watched.realm.write(withoutNotifying: watched.tokens.dropLast()) {
        watched.realm.kennel.name = "away"
      }
    }
    await watched.run { watched in watched.tokens.forEach { $0.invalidate() } }
    await watched.write { $0.kennel.name = "nobody" }
    await watched.expectTold([])
  }

  @Test func collectionsWithKeyPaths() async {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0, hounds: ["Ada"]) }
    await watched.run { watched in
      let views = watched.realm.objects(KennelView.self)
      let paths: [(String, [PartialKeyPath<KennelView>])] = [
        ("title", [\.title]), ("hounds", [\.hounds, \.size]), ("none", []),
      ]
      watched.tokens = paths.map { name, keyPaths in
        views.observe(keyPaths: keyPaths) { [unowned watched] in
          watched.note("\(name) " + text($0))
        }
      }
    }
    await watched.expectTold(
      ["title initial 1", "hounds initial 1", "none initial 1"], afterCalls: 3)
    await watched.write { $0.kennel.name = "home" }
    await watched.expectTold(["title -[] +[] ~[0]"], afterCalls: 4)
    await watched.write { $0.hound("Ada").name = "Eve" }
    await watched.expectTold(["hounds -[] +[] ~[0]"], afterCalls: 5)
  }

  private actor Watcher {
    private var realm: Realm!
    private(set) var lines: [String] = []

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
      try await realm.asyncWrite { _ = addKennel(realm) }
    }

    func rename(_ name: String) async throws {
      try await realm.asyncWrite { realm.kennel.name = name }
    }

    func observe(_ told: Event) async -> NotificationToken {
      await ProjectionObservingTests.view(realm).observe(on: self) { watcher, change in
        watcher.lines.append(text(change))
        told.happen()
      }
    }
  }

  @Test func onAnActor() async throws {
    let told = Event()
    let watcher = try await Watcher(memoryConfiguration(kennelClasses))
    let token = await watcher.observe(told)
    try await watcher.rename("home")
    await told.happened()
    #expect(await watcher.lines == ["title nil>home"])
    token.invalidate()
  }

  @Test func stops() async {
    let unmanaged = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = KennelView(projecting: Kennel(1)).observe { _ in }
    }
    expectStop(unmanaged, "Change notifications are only supported on managed objects.")
    let name = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let watched = await WatchedRealm()
      await watched.write { addKennel($0) }
      await watched.run { _ = Self.view($0.realm).observe(keyPaths: ["name"]) { _ in } }
    }
    expectStop(name, "Cannot observe key path 'name'")
  }
}
