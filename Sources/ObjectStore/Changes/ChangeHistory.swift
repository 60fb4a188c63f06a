// The change sets of the newest commits of this process, kept for as long as an observing Realm has
// yet to pass them. One a store. Commits of others, and those made while nobody observed, are not
// in it: their versions have to be compared.
internal import Platform
package import Storage

/// The change sets of a store's newest versions.
package final class ChangeHistory: StoreCompanion {
  /// Notes that are kept at most: a Realm that stays behind for long compares versions.
  private static let notesMax = 1_000_000

  private struct State {
    /// In the order of versions.
    var entries: [Entry] = []
    /// Notes in all entries.
    var notes = 0
    /// Where observing Realms stand, by their numbers.
    var standing: [UInt64: Version] = [:]
    var nextReader: UInt64 = 0
  }

  /// One commit.
  private struct Entry {
    let version: Version
    /// The version that it was built on.
    let base: Version
    let changes: ChangeSet
    let notes: Int
  }

  private let state = Monitor(State())
  /// How many Realms observe.
  private let readers = Atomic<UInt64>(0)

  package init() {}

  /// The history of a store.
  package static func of(_ store: Store) -> ChangeHistory {
    store.companion { ChangeHistory() }
  }

  /// Whether somebody observes, so that transactions which begin now have to be recorded.
  ///
  /// - Complexity: one load.
  package var isObserved: Bool {
    // Relaxed: who registers too late for a transaction compares versions.
    readers.load(ordering: .relaxed) > 0
  }

  // MARK: - Writing

  /// Keeps what a commit changed, unless nobody observes.
  ///
  /// To be called when the commit cannot fail any more but by its sync, before others can see the
  /// version. A version that is lost by a failed sync does no harm: none is built on it, and its
  /// number is not used again.
  package func append(_ changes: ChangeSet, base: Version, version: Version) {
    let notes = changes.notes
    let dropped: [Entry] = state.withLock { state in
      if state.standing.isEmpty { return [] }
      state.entries.append(Entry(version: version, base: base, changes: changes, notes: notes))
      state.notes += notes
      if state.notes <= Self.notesMax { return [] }
      defer {
        state.entries = []
        state.notes = 0
      }
      return state.entries
    }
    // Freed without the lock.
    withExtendedLifetime(dropped) {}
  }

  package func willTidy(from base: Version, to version: Version) {
    append(ChangeSet(), base: base, version: version)
  }

  // MARK: - Observing

  /// An observing Realm's place in the history; gives up with its last reference.
  package final class Reader: Sendable {
    private let history: ChangeHistory
    private let number: UInt64
    /// Where it stands: mostly it is told again.
    private let standing: Atomic<UInt64>

    fileprivate init(_ history: ChangeHistory, _ number: UInt64, _ version: Version) {
      self.history = history
      self.number = number
      standing = Atomic(version.rawValue)
    }

    deinit { history.leave(number) }

    /// The Realm's observers know everything up to this version from now on.
    package func stand(on version: Version) {
      // Relaxed: one place tells it, one call after the other.
      if standing.exchange(version.rawValue, ordering: .relaxed) == version.rawValue { return }
      history.move(number, to: version)
    }
  }

  /// Notes that a Realm which stands on a version has observers.
  package func register(standingOn version: Version) -> Reader {
    readers.add(1, ordering: .relaxed)
    let number = state.withLock { state in
      defer { state.nextReader += 1 }
      state.standing[state.nextReader] = version
      return state.nextReader
    }
    return Reader(self, number, version)
  }

  private func move(_ reader: UInt64, to version: Version) {
    let passed = state.withLock { state in
      state.standing[reader] = version
      return Self.takePassed(&state)
    }
    withExtendedLifetime(passed) {}
  }

  private func leave(_ reader: UInt64) {
    readers.subtract(1, ordering: .relaxed)
    let passed = state.withLock { state in
      state.standing[reader] = nil
      return Self.takePassed(&state)
    }
    withExtendedLifetime(passed) {}
  }

  /// Takes the entries out that no observing Realm has yet to pass; they are dropped without the
  /// lock.
  ///
  /// One that stays behind costs the others nothing, however many entries it keeps.
  private static func takePassed(_ state: inout State) -> [Entry] {
    let oldest = state.standing.values.min() ?? Version(.max)
    let kept = state.entries.firstIndex { $0.version > oldest } ?? state.entries.endIndex
    if kept == 0 { return [] }
    var passed = state.entries
    if kept == passed.endIndex {
      state.entries = []
    } else {
      state.entries = Array(passed[kept...])
      passed.removeSubrange(kept...)
    }
    for entry in passed { state.notes -= entry.notes }
    return passed
  }

  /// Everything that changed between two versions.
  ///
  /// - Returns: nil when a commit between them was not recorded.
  package func changes(after old: Version, through new: Version) -> ChangeSet? {
    let sets: [ChangeSet]? = state.withLock { state in
      var sets: [ChangeSet] = []
      var version = new
      for entry in state.entries.reversed() where entry.version <= version {
        // One of those between was not recorded.
        if version <= old || entry.version < version { break }
        sets.append(entry.changes)
        version = entry.base
      }
      return version == old ? sets : nil
    }
    guard var sets, let oldest = sets.popLast() else { return sets == nil ? nil : ChangeSet() }
    #if PLANTED_BUGS
      if !sets.isEmpty, PlantedBug.loseMergedCommit.strikes(everyCalls: 3) { sets.removeLast() }
    #endif
    var result = oldest
    result.merge(sets.reversed())
    return result
  }
}
