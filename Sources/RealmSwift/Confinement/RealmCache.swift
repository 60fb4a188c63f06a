// The open Realms of the process by file and place, without keeping them alive: a Realm that nobody uses
// is gone and pins nothing. Opening the same file with equal settings in the same place gives the same
// instance.
internal import Dispatch
internal import Foundation
internal import ObjectStore
internal import Platform
internal import Storage

/// Finds the Realm that is open already.
enum RealmCache {
  /// The live Realms of one file name, or of one in memory, while there are any.
  final class OpenFile: @unchecked Sendable {
    // @unchecked: `entries` is guarded by the cache's monitor.
    fileprivate let location: Location
    fileprivate var entries: [Entry] = []

    fileprivate init(_ location: Location) { self.location = location }
  }

  fileprivate struct Location: Hashable {
    let name: String
    let isInMemory: Bool

    init(_ configuration: Realm.Configuration) {
      isInMemory = configuration.inMemoryIdentifier != nil
      name = configuration.place
    }
  }

  /// A live Realm.
  fileprivate struct Entry {
    // Unmanaged, not weak, so that counting references to a Realm stays fast. Its memory is there while
    // it is in here: its `deinit` waits for the lock to take it out.
    let realm: Unmanaged<ConfinedRealm>
    let confinement: Confinement
    let form: Form
  }

  /// What a Realm was made of: a further one can be made of the same.
  struct Form: Sendable {
    let store: Store
    let configuration: Realm.Configuration
    let schema: RealmSchema
    let classes: SchemaBindings
  }

  // Realms are found and entered in the place that they are confined to; only the removal of dead ones
  // may come from elsewhere.
  private static let files = Monitor<[Location: OpenFile]>([:])

  // MARK: - Finding

  /// The Realm that this thread has opened last, if it is the one that a configuration and a queue, or
  /// the caller's place, would give.
  static func findLast(
    _ configuration: Realm.Configuration, _ queue: DispatchQueue?
  ) -> ConfinedRealm? {
    // Where the thread runs is asked anew each time: a worker runs blocks of many queues.
    guard let realm = RememberedObject.find(ConfinedRealm.self),
      realm.configuration.shared === configuration.shared,
      realm.confinement.isPlaceHere(for: queue)
    else { return nil }
    return realm
  }

  /// The open Realm that a configuration would give.
  static func find(_ configuration: Realm.Configuration, _ confinement: Confinement)
    -> ConfinedRealm?
  {
    let location = Location(configuration)
    let place = confinement.identity
    // References leave the lock before they are released: that may end a Realm.
    return files.withLock { files in
      var found = Found()
      for entry in files[location]?.entries ?? [] where entry.confinement.identity == place {
        guard let realm = retainIfAlive(entry.realm) else { continue }
        if entry.form.configuration.opensSameRealm(as: configuration) {
          found.realm = realm
          break
        }
        found.others.append(realm)
      }
      return found
    }.realm
  }

  private struct Found: @unchecked Sendable {
    // @unchecked: they go to the place that they are confined to, where they are looked for.
    var realm: ConfinedRealm?
    var others: [ConfinedRealm] = []
  }

  /// What a Realm of equal settings was made of that is open in any place.
  static func findForm(_ configuration: Realm.Configuration) -> Form? {
    let location = Location(configuration)
    return files.withLock { files in
      files[location]?.entries.last {
        $0.form.configuration.opensSameRealm(as: configuration)
      }?.form
    }
  }

  /// Whether a live Realm of the file is open on any thread.
  static func hasLiveRealm(of store: Store) -> Bool {
    files.withLock { files in
      files.values.contains { $0.entries.contains { $0.form.store === store } }
    }
  }

  /// The open Realm of equal settings that is confined to the queue or actor by which the caller runs.
  static func findHere(_ configuration: Realm.Configuration) -> ConfinedRealm? {
    let location = Location(configuration)
    let places = files.withLock { files in
      files[location]?.entries.compactMap { entry in
        entry.confinement.token == Confinement.elsewhereToken ? entry.confinement : nil
      } ?? []
    }
    for place in places where place.isHere {
      if let realm = find(configuration, place) { return realm }
    }
    return nil
  }

  // MARK: - Entering

  static func insert(_ realm: ConfinedRealm) {
    let location = Location(realm.configuration)
    let entry = Entry(
      realm: .passUnretained(realm), confinement: realm.confinement,
      form: Form(
        store: realm.store, configuration: realm.configuration, schema: realm.schema,
        classes: realm.classes))
    realm.openFile = files.withLock { files in
      let file = files[location] ?? OpenFile(location)
      if file.entries.isEmpty { files[location] = file }
      file.entries.append(entry)
      return file
    }
  }

  /// Called by a Realm's `deinit`.
  static func forget(_ realm: ConfinedRealm) {
    guard let file = realm.openFile else { return }
    let address = Unmanaged.passUnretained(realm).toOpaque()
    // The form leaves the lock before it goes.
    let old = files.withLock { files in
      let index = file.entries.firstIndex { $0.realm.toOpaque() == address }!
      let old = file.entries.remove(at: index)
      if file.entries.isEmpty { files[file.location] = nil }
      return old.form
    }
    withExtendedLifetime(old) {}
  }
}
