// What observers of maps are told: keys instead of positions.
import Dispatch
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct MapObservingTests {
  private static func watched() async -> WatchedRealm {
    let watched = await WatchedRealm()
    await watched.write { realm in
      let kennel = addKennel(realm)
      kennel.numberMap["one"] = 1
      kennel.houndMap["a"] = Hound("A")
      kennel.houndMap["b"] = Hound("B")
    }
    await watched.run { watched in
      let kennel = watched.realm.kennel
      watched.tokens = [
        kennel.numberMap.observe { [unowned watched] in watched.note("numbers " + text($0)) },
        kennel.houndMap.observe { [unowned watched] in watched.note("hounds " + text($0)) },
        kennel.houndMap.observe(keyPaths: ["age"]) { [unowned watched] in
          watched.note("ages " + text($0))
        },
        kennel.houndMap.observe(keyPaths: [\Hound.name]) { [unowned watched] in
          watched.note("names " + text($0))
        },
      ]
    }
    await watched.expectTold([
      "numbers initial 1", "hounds initial 2", "ages initial 2", "names initial 2",
    ])
    return watched
  }

  @Test func keysThatComeGoAndChange() async {
    let watched = await Self.watched()
    await watched.write { realm in
      realm.kennel.numberMap["two"] = 2
      realm.kennel.numberMap["one"] = 1
    }
    await watched.expectTold(["numbers -[] +[\"two\"] ~[\"one\"]"])
    watched.writeElsewhere { $0.kennel.numberMap["one"] = nil }
    await watched.expectTold(["numbers -[\"one\"] +[] ~[]"])
    await watched.write { $0.kennel.numberMap.removeAll() }
    await watched.expectTold(["numbers -[\"two\"] +[] ~[]"])
  }

  @Test func objectsAsValues() async {
    let watched = await Self.watched()
    await watched.write { $0.hound("A").age = 4 }
    await watched.expectTold(["hounds -[] +[] ~[\"a\"]", "ages -[] +[] ~[\"a\"]"])
    await watched.write { $0.hound("B").name = "BB" }
    await watched.expectTold(["hounds -[] +[] ~[\"b\"]", "names -[] +[] ~[\"b\"]"])
    await watched.write { $0.kennel.houndMap["b"] = nil }
    await watched.expectTold([
      "hounds -[\"b\"] +[] ~[]", "ages -[\"b\"] +[] ~[]", "names -[\"b\"] +[] ~[]",
    ])
  }

  @Test func onAQueueAndOver() async {
    let watched = await Self.watched()
    let queue = DispatchQueue(label: "other")
    let log = Log()
    let told = Event()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.kennel.numberMap.observe(on: queue) { change in
          dispatchPrecondition(condition: .onQueue(queue))
          log.add(text(change))
          told.happen()
        })
    }
    await told.happened()
    await watched.write { $0.delete($0.kennel) }
    await told.happened(2)
    #expect(log.all == ["initial 1", "-[\"one\"] +[] ~[]"])
    #expect(await watched.told().contains("numbers -[\"one\"] +[] ~[]"))
  }

  @Test func unmanagedMapsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Kennel(1).numberMap.observe { _ in }
    }
    expectStop(result, "Change notifications are only supported on managed collections.")
  }
}
