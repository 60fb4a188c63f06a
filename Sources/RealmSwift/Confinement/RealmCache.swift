// The open Realms of the process by file and place, without keeping them alive: a Realm that nobody
// uses is gone and pins nothing. Opening the same file with equal settings in the same place gives
// the same instance.
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
    @exclusivity(unchecked) fileprivate var entries: [Entry] = []

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
    // Unmanaged, not weak, so that counting references to a Realm stays fast. Its memory is there
    // while it is in here, and its constants are: its `deinit` waits for the lock to take it out.
    let realm: Unmanaged<ConfinedRealm>
    let place: Confinement.Identity
    let form: RealmForm

    /// Whether the place is neither a thread nor the main one.
    var isElsewhere: Bool {
      switch place {
      case .queue, .actor: true
      case .anyone, .thread, .main: false
      }
    }
  }

  // Realms are found and entered in the place that they are confined to; only the removal of dead
  // ones may come from elsewhere.
  private static let files = Monitor<[Location: OpenFile]>([:])

  // MARK: - Finding

  /// The Realm that this thread has opened last, if it is the one that a configuration and a queue,
  /// or the caller's place, would give.
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

  /// What is open of a configuration's file.
  struct Found: @unchecked Sendable {
    // @unchecked: Realms go to the place that they are confined to, where they are looked for.
    /// The Realm that the configuration would give.
    fileprivate(set) var realm: ConfinedRealm?
    /// What a Realm of equal settings was made of that is open in another place.
    fileprivate(set) var form: RealmForm?
    /// The Realms of the file; nil when there are none.
    fileprivate var file: OpenFile?
  }

  /// Looks for the Realm that a configuration would give in a place, or for a like one in another.
  static func find(_ configuration: Realm.Configuration, _ place: Confinement.Identity) -> Found {
    let location = Location(configuration)
    return files.withLock { files in
      var found = Found()
      guard let file = files[location] else { return found }
      found.file = file
      for index in file.entries.indices {
        let isHere = file.entries[index].place == place
        guard isHere || found.form == nil,
          file.entries[index].form.configuration.opensSameRealm(as: configuration)
        else { continue }
        if !isHere {
          found.form = file.entries[index].form
        } else if let realm = retainIfAlive(file.entries[index].realm) {
          found.realm = realm
          break
        }
      }
      return found
    }
  }

  /// Whether a live Realm of the file is open on any thread.
  static func hasLiveRealm(of store: Store) -> Bool {
    files.withLock { files in
      files.values.contains { $0.entries.contains { $0.form.store === store } }
    }
  }

  /// The open Realm of equal settings that is confined to the queue or actor by which the caller
  /// runs.
  ///
  /// The caller may be in several such places: a queue that hands its blocks to another one, actors
  /// of one executor. Then the Realm that is in a transaction is meant, else that of the queue by
  /// which the caller runs, else the one that was opened last.
  static func findHere(_ configuration: Realm.Configuration) -> ConfinedRealm? {
    let location = Location(configuration)
    let places = files.withLock { files in
      files[location]?.entries.compactMap { entry in
        entry.isElsewhere ? entry.realm._withUnsafeGuaranteedRef { $0.confinement } : nil
      } ?? []
    }
    let here = places.filter(\.isHere).compactMap { find(configuration, $0.identity).realm }
    if here.count <= 1 { return here.first }
    return here.first { $0.writing != nil || $0.held != nil }
      ?? here.first { $0.confinement.isInnermostQueue } ?? here.last
  }

  /// The live Realms that are confined to the calling thread.
  static func realms(ofThread thread: ThreadToken) -> [ConfinedRealm] {
    let place = Confinement.Identity.thread(thread.rawValue)
    // All leave the lock before they are let go: the last reference needs it.
    return files.withLock { files in
      var realms: [ConfinedRealm] = []
      for file in files.values {
        for entry in file.entries where entry.place == place {
          if let realm = retainIfAlive(entry.realm) { realms.append(realm) }
        }
      }
      return Carried(realms)
    }.value
  }

  /// The live Realms of a file in whose place the caller runs.
  static func findHere(of store: Store) -> [ConfinedRealm] {
    let thread = Confinement.Identity.thread(ThreadToken.current.rawValue)
    let entries = files.withLock { files in
      var entries: [(confinement: Confinement, form: RealmForm)] = []
      for file in files.values {
        for entry in file.entries where entry.form.store === store {
          // Of many writers most are other threads.
          if case .thread = entry.place, entry.place != thread { continue }
          let confinement = entry.realm._withUnsafeGuaranteedRef { $0.confinement }
          entries.append((confinement, entry.form))
        }
      }
      return entries
    }
    return entries.compactMap { entry in
      entry.confinement.isHere
        ? find(entry.form.configuration, entry.confinement.identity).realm : nil
    }
  }

  // MARK: - Entering

  /// - Parameters:
  ///   - form: what the Realm was made of.
  ///   - found: what was open when it was looked for.
  static func insert(_ realm: ConfinedRealm, _ form: RealmForm, _ found: Found? = nil) {
    let entry = Entry(
      realm: .passUnretained(realm), place: realm.confinement.identity, form: form)
    realm.openFile = files.withLock { files in
      let file: OpenFile
      // Without entries it is no longer known.
      if let known = found?.file, !known.entries.isEmpty {
        known.entries.append(entry)
        return known
      }
      let location = Location(realm.configuration)
      if let known = files[location] {
        file = known
      } else {
        file = OpenFile(location)
        files[location] = file
      }
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

/// What a Realm was made of: a further one can be made of the same.
final class RealmForm: Sendable {
  let store: Store
  let configuration: Realm.Configuration
  let schema: RealmSchema
  let classes: SchemaBindings

  init(
    store: Store, configuration: Realm.Configuration, schema: RealmSchema, classes: SchemaBindings
  ) {
    self.store = store
    self.configuration = configuration
    self.schema = schema
    self.classes = classes
  }
}
