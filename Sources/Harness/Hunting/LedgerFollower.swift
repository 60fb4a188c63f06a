// An observer of the ledger: it has a copy of what it knows, edits that by what it is told, and
// compares it with what there is.
internal import Foundation
internal import RaceHunt
internal import RealmSwift

/// What an observer knows; used where it is called.
final class LedgerFollower: @unchecked Sendable {
  // @unchecked: made in one place, then used only in the one where the observer is called.

  /// What is observed.
  enum Subject: Int, CaseIterable { case results, list, object, sections, realm }

  private let who: String
  private let judge: LedgerJudge
  /// Set where it is called, once its token was invalidated there.
  var isOver = false
  private var known: [LedgerState.Entry]?
  private var sections: [(key: Int, entries: [LedgerState.Entry])]?
  /// Transactions in what it was told last.
  private var total = 0

  init(_ subject: Subject, of who: String, _ judge: LedgerJudge) {
    self.who = "an observer of \(subject) of \(who)"
    self.judge = judge
  }

  private static func results(of realm: Realm) -> Results<HuntedEntry> {
    realm.objects(HuntedEntry.self).sorted(byKeyPath: "number")
  }

  private static func sections(of realm: Realm) -> SectionedResults<Int, HuntedEntry> {
    realm.objects(HuntedEntry.self).sectioned(
      by: \.group,
      sortDescriptors: [SortDescriptor(keyPath: "group"), SortDescriptor(keyPath: "number")])
  }

  /// Begins to observe something of a Realm.
  ///
  /// - Parameter queue: where it is called, if that is not where the Realm belongs.
  func begin(_ subject: Subject, _ realm: Realm, on queue: RaceHunt.DispatchQueue? = nil)
    -> NotificationToken?
  {
    guard let ledger = HuntedFile.ledger(realm) else { return nil }
    let place = queue?.real
    switch subject {
    case .results:
      return Self.results(of: realm).observe(on: place) { self.follow($0) }
    case .list: return ledger.entries.observe(on: place) { self.follow($0) }
    case .object:
      total = ledger.total
      return ledger.observe(on: place) { (change: ObjectChange<HuntedLedger>) in
        self.follow(change)
      }
    case .sections:
      return Self.sections(of: realm).observe(on: place) { self.follow($0) }
    case .realm:
      if queue != nil { return nil }
      total = ledger.total
      return realm.observe { _, realm in self.isCalled(realm) }
    }
  }

  /// Begins to observe something of a Realm on an actor, which may be another one.
  func begin<Place: Actor>(
    _ subject: Subject, _ realm: Realm, on actor: Place,
    _ isolation: isolated (any Actor)? = #isolation
  ) async -> NotificationToken? {
    guard let ledger = HuntedFile.ledger(realm) else { return nil }
    switch subject {
    case .results:
      return await Self.results(of: realm).observe(on: actor) { self.follow($1) }
    case .list: return await ledger.entries.observe(on: actor) { self.follow($1) }
    case .object:
      total = ledger.total
      return await ledger.observe(on: actor) { (_, change: ObjectChange<HuntedLedger>) in
        self.follow(change)
      }
    case .sections:
      return await Self.sections(of: realm).observe(on: actor) { self.follow($1) }
    case .realm: return nil
    }
  }

  /// Goes through the changes of something of a Realm, until its task is cancelled.
  func loop(
    over subject: Subject, of realm: Realm, _ isolation: isolated (any Actor)? = #isolation
  ) async {
    guard let ledger = HuntedFile.ledger(realm) else { return }
    switch subject {
    case .results:
      for await change in Self.results(of: realm).changes { follow(change) }
    case .list: for await change in ledger.entries.changes { follow(change) }
    case .object:
      total = ledger.total
      for await change in ledger.changes { follow(change) }
    case .sections:
      for await change in Self.sections(of: realm).changes { follow(change) }
    case .realm: break
    }
  }

  /// What has to hold at each call.
  private func isCalled(_ realm: Realm?) {
    guard let realm else { return check(false, "\(who) is called with what is in no Realm") }
    check(!isOver, "\(who) is called after its end")
    check(!realm.isInWriteTransaction, "\(who) is called inside of a transaction")
    total = judge.sees(realm, least: total, who)
  }

  /// Checks that it knows what a Realm shows that has just moved and told all.
  func knowsAll(of realm: Realm) {
    guard let known, let ledger = HuntedFile.ledger(realm) else { return }
    let entries = Array(ledger.entries.map(\.state))
    let isKnown = known == entries || known == entries.sorted { $0.number < $1.number }
    check(isKnown, "\(who) knows \(known) when a refresh has returned that shows \(entries)")
  }

  private func follow<Collection: RealmCollection>(_ change: RealmCollectionChange<Collection>)
  where Collection.Element == HuntedEntry {
    switch change {
    case .error(let error): check(false, "\(who) fails: \(error)")
    case .initial(let entries):
      isCalled(entries.realm)
      check(known == nil, "\(who) begins twice")
      known = entries.map(\.state)
    case .update(let entries, let deletions, let insertions, let modifications):
      isCalled(entries.realm)
      guard var copy = known else { return check(false, "\(who) is told before it begins") }
      let there = Array(entries.map(\.state))
      let told = "\(who) knows \(copy), is told -\(deletions) +\(insertions) ~\(modifications)"
      edit(&copy, deletions, insertions, modifications, there, told)
      check(copy == there, "\(told), which gives \(copy), and there is \(there)")
      known = there
    }
  }

  /// Changes a copy of some entries as an observer is told to.
  private func edit(
    _ copy: inout [LedgerState.Entry], _ deletions: [Int], _ insertions: [Int],
    _ modifications: [Int], _ there: [LedgerState.Entry], _ told: String
  ) {
    let isPossible =
      deletions.allSatisfy(copy.indices.contains)
      && (insertions + modifications).allSatisfy(there.indices.contains)
      && copy.count - deletions.count + insertions.count == there.count
    guard isPossible else { return check(false, "\(told), and there is \(there)") }
    for position in deletions.reversed() { copy.remove(at: position) }
    for position in insertions { copy.insert(there[position], at: position) }
    for position in modifications { copy[position] = there[position] }
  }

  private func follow(_ change: ObjectChange<HuntedLedger>) {
    switch change {
    case .error(let error): check(false, "\(who) fails: \(error)")
    case .deleted: check(false, "\(who) is told that the ledger is gone")
    case .change(let ledger, let properties):
      let old = total
      isCalled(ledger.realm)
      let change = properties.first { $0.name == "total" }
      check(
        change != nil && ledger.total > old,
        "\(who) knows \(old) transactions and is told of \(properties.map(\.name)) when there are "
          + "\(ledger.total)")
      let values = (change?.oldValue as? Int, change?.newValue as? Int)
      check(
        (values.0 == nil || values.0 == old) && values.1 == ledger.total,
        "\(who) knows \(old) transactions and is told that \(values) are the old and new ones; there "
          + "are \(ledger.total)")
    }
  }

  private func follow(_ change: SectionedResultsChange<SectionedResults<Int, HuntedEntry>>) {
    switch change {
    case .initial(let found):
      isCalled(found.realm)
      check(sections == nil, "\(who) begins twice")
      sections = Self.content(found)
    case .update(
      let found, let deletions, let insertions, let modifications, let coming, let going):
      isCalled(found.realm)
      guard let old = sections else { return check(false, "\(who) is told before it begins") }
      let there = Self.content(found)
      let told =
        "\(who) knows \(old), is told -\(deletions) +\(insertions) ~\(modifications), sections "
        + "-\(Array(going)) +\(Array(coming))"
      guard let copy = Self.edited(old, deletions, insertions, modifications, coming, going, there)
      else { return check(false, "\(told), and there is \(there)") }
      check(
        copy.elementsEqual(there) { $0.key == $1.key && $0.entries == $1.entries },
        "\(told), which gives \(copy), and there is \(there)")
      sections = there
    }
  }

  private static func content(
    _ found: SectionedResults<Int, HuntedEntry>
  ) -> [(key: Int, entries: [LedgerState.Entry])] {
    found.map { (key: $0.key, entries: $0.map(\.state)) }
  }

  /// A copy of some sections, changed as an observer is told to; nil where that is impossible.
  private static func edited(
    _ old: [(key: Int, entries: [LedgerState.Entry])], _ deletions: [IndexPath],
    _ insertions: [IndexPath], _ modifications: [IndexPath], _ coming: IndexSet, _ going: IndexSet,
    _ there: [(key: Int, entries: [LedgerState.Entry])]
  ) -> [(key: Int, entries: [LedgerState.Entry])]? {
    var copy = old
    for path in deletions.reversed() {
      guard copy.indices.contains(path[0]), copy[path[0]].entries.indices.contains(path[1])
      else { return nil }
      copy[path[0]].entries.remove(at: path[1])
    }
    for section in going.reversed() {
      guard copy.indices.contains(section), copy[section].entries.isEmpty else { return nil }
      copy.remove(at: section)
    }
    for section in coming {
      guard there.indices.contains(section), section <= copy.count else { return nil }
      copy.insert((there[section].key, []), at: section)
    }
    guard copy.count == there.count else { return nil }
    for path in insertions {
      guard there.indices.contains(path[0]), there[path[0]].entries.indices.contains(path[1]),
        path[1] <= copy[path[0]].entries.count
      else { return nil }
      copy[path[0]].entries.insert(there[path[0]].entries[path[1]], at: path[1])
    }
    for path in modifications {
      guard there.indices.contains(path[0]), there[path[0]].entries.indices.contains(path[1]),
        copy[path[0]].entries.indices.contains(path[1])
      else { return nil }
      copy[path[0]].entries[path[1]] = there[path[0]].entries[path[1]]
    }
    return copy
  }
}
