// The open Realms of the process by file and place, without keeping them alive: a Realm that nobody uses
// is gone and pins nothing. Opening the same file with equal settings in the same place gives the same
// instance.
internal import Foundation
internal import Platform
internal import Storage

/// Finds the Realm that is open already.
enum RealmCache {
  private struct Location: Hashable {
    let name: String
    let isInMemory: Bool

    init(_ configuration: Realm.Configuration) {
      isInMemory = configuration.inMemoryIdentifier != nil
      name = configuration.place
    }
  }

  private struct Key: Hashable {
    let location: Location
    let place: Confinement.Identity

    init(_ configuration: Realm.Configuration, _ confinement: Confinement) {
      location = Location(configuration)
      place = confinement.identity
    }
  }

  // Entries are found and entered in the place that they are confined to; only the removal of dead ones
  // may come from elsewhere.
  private struct Entries: @unchecked Sendable {
    // @unchecked: a Realm taken out of here is handed only to code in the place that is part of its key.
    // Unmanaged, not weak, so that counting references to a Realm stays fast. Its memory is there while
    // it is in here: its `deinit` waits for the lock to take it out.
    var byKey: [Key: [Unmanaged<ConfinedRealm>]] = [:]
    /// How many of them each store has.
    var stores: [ObjectIdentifier: Int] = [:]
    /// Places of a file's Realms that are neither a thread nor the main one.
    var others: [Location: [Confinement]] = [:]
  }

  private static let entries = Monitor(Entries())

  /// The open Realm that a configuration would give.
  static func find(_ configuration: Realm.Configuration, _ confinement: Confinement)
    -> ConfinedRealm?
  {
    // The references leave the lock before they are compared: releasing one may end a Realm.
    let key = Key(configuration, confinement)
    let realms = candidates(key)
    return realms.first { $0.configuration.opensSameRealm(as: configuration) }
  }

  /// Any open live Realm of the same file in this place, whatever its other settings.
  static func findAny(like configuration: Realm.Configuration, _ confinement: Confinement)
    -> ConfinedRealm?
  {
    candidates(Key(configuration, confinement)).first
  }

  /// Whether a live Realm of the file is open on any thread.
  static func hasLiveRealm(of store: Store) -> Bool {
    let identifier = ObjectIdentifier(store)
    return entries.withLock { $0.stores[identifier, default: 0] > 0 }
  }

  /// The open Realm of equal settings that is confined to the queue or actor by which the caller runs.
  static func findHere(_ configuration: Realm.Configuration) -> ConfinedRealm? {
    let places = entries.withLock { $0.others[Location(configuration)] ?? [] }
    for place in places where place.isHere {
      if let realm = find(configuration, place) { return realm }
    }
    return nil
  }

  static func insert(_ realm: ConfinedRealm) {
    let key = Key(realm.configuration, realm.confinement)
    let reference = Unmanaged.passUnretained(realm)
    let store = ObjectIdentifier(realm.store)
    entries.withLock { entries in
      entries.byKey[key, default: []].append(reference)
      entries.stores[store, default: 0] += 1
      if realm.confinement.token == Confinement.elsewhereToken {
        entries.others[key.location, default: []].append(realm.confinement)
      }
    }
  }

  static func forget(_ realm: ConfinedRealm) {
    let key = Key(realm.configuration, realm.confinement)
    let address = Unmanaged.passUnretained(realm).toOpaque()
    let store = ObjectIdentifier(realm.store)
    entries.withLock { entries in
      guard let index = entries.byKey[key]?.firstIndex(where: { $0.toOpaque() == address }) else {
        return
      }
      entries.byKey[key]!.remove(at: index)
      if entries.byKey[key]!.isEmpty { entries.byKey[key] = nil }
      let count = entries.stores[store]! - 1
      entries.stores[store] = count == 0 ? nil : count
      if realm.confinement.token == Confinement.elsewhereToken,
        let index = entries.others[key.location]?.firstIndex(where: { $0.identity == key.place })
      {
        entries.others[key.location]!.remove(at: index)
        if entries.others[key.location]!.isEmpty { entries.others[key.location] = nil }
      }
    }
  }

  private static func candidates(_ key: Key) -> [ConfinedRealm] {
    let found = entries.withLock { entries in
      Candidates(realms: entries.byKey[key]?.compactMap { retainIfAlive($0) } ?? [])
    }
    return found.realms
  }

  private struct Candidates: @unchecked Sendable {
    // @unchecked: they go to the place that is part of their key, where they are looked for.
    let realms: [ConfinedRealm]
  }
}
