// Loops over changes whose actor writes on between their signal and their next round: what a round
// is told leads from what the loop had to what its collection shows at that moment.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// The elements of a collection, kept by what a loop is told.
@MainActor private final class ToldCopy {
  private(set) var identifiers: [Int] = []
  private(set) var rounds = 0
  let round = Event()

  func take<C: RealmCollection>(_ change: RealmCollectionChange<C>) where C.Element == Chore {
    switch change {
    case .initial(let collection): identifiers = Array(collection.map(\.id))
    case .update(let collection, let deletions, let insertions, let modifications):
      let shown = Array(collection.map(\.id))
      let before = identifiers.count
      guard deletions.allSatisfy({ $0 < before }), insertions.allSatisfy({ $0 < shown.count }),
        before - deletions.count + insertions.count == shown.count
      else {
        Issue.record("\(deletions), \(insertions) do not lead from \(identifiers) to \(shown)")
        break
      }
      #expect(!(deletions.isEmpty && insertions.isEmpty && modifications.isEmpty))
      for position in deletions.reversed() { identifiers.remove(at: position) }
      for position in insertions { identifiers.insert(shown[position], at: position) }
      #expect(identifiers == shown)
    case .error(let error): Issue.record(error)
    }
    rounds += 1
    round.happen()
  }

  /// Waits until the loop has been told of everything.
  func comes(to truth: () -> [Int]) async {
    while identifiers != truth() { await round.happened(rounds + 1) }
  }
}

@Suite(.ownThreads) struct ChangeSequenceModelTests {
  @Test func whatARoundIsToldIsThatOfItsMoment() async {
    await withSeeds(20) { random in
      var generator = random
      try await Self.run(&generator)
      random = generator
    }
  }

  @MainActor private static func run(_ random: inout RandomGenerator) async throws {
    let configuration = userConfiguration()
    let realm = try await Realm(configuration: configuration)
    let owner = try realm.write { addOwner(realm, chores: 3) }
    let sorted = realm.objects(Chore.self).sorted(by: \.title)
    let (copyOfSorted, copyOfList) = (ToldCopy(), ToldCopy())
    let loops = [
      Task { @MainActor in for await change in sorted.changes { copyOfSorted.take(change) } },
      Task { @MainActor in for await change in owner.chores.changes { copyOfList.take(change) } },
    ]
    // An observation cannot begin inside of a transaction.
    for copy in [copyOfSorted, copyOfList] { await copy.round.happened(1) }
    for step in 0..<60 {
      let chore = Chore(id: 1_000 + step, title: "\(Int.random(in: 0..<100, using: &random))")
      let position = Int.random(in: 0...owner.chores.count, using: &random)
      let some = owner.chores.randomElement(using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try realm.write { owner.chores.insert(chore, at: position) }
      case 1: try realm.write { if let some { realm.delete(some) } }
      case 2: try realm.write { some?.title = chore.title }
      case 3:
        // The loops may be woken inside of the transaction.
        realm.beginWrite()
        owner.chores.insert(chore, at: position)
        await Task.yield()
        try realm.commitWrite()
      case 4:
        realm.beginWrite()
        if let some { realm.delete(some) }
        await Task.yield()
        realm.cancelWrite()
      case 5: try await realm.asyncWrite { owner.chores.insert(chore, at: position) }
      case 6:
        let (identifier, title) = (chore.id, chore.title)
        await onThreadAsync {
          let realm = try! Realm(configuration: configuration)
          try! realm.write { realm.add(Chore(id: identifier, title: title)) }
        }
        realm.refresh()
      default: await Task.yield()
      }
    }
    await copyOfSorted.comes { Array(sorted.map(\.id)) }
    await copyOfList.comes { Array(owner.chores.map(\.id)) }
    for loop in loops {
      loop.cancel()
      await loop.value
    }
  }
}
