// Threads of two processes that open a Realm file with older and newer schema versions, migrate it,
// write and close it: an app and its extension while both are brought to a new version.
internal import Foundation
internal import ObjectStore
internal import Platform
internal import RaceHunt
internal import RealmSwift
internal import Simulation
internal import Storage

/// A counter, and how often it was migrated.
final class HuntedSetting: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var value: Int
  @Persisted var migrations: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Programs of openings.
enum RealmOpeningPrograms {
  static let all = [
    HuntProgram(
      name: "realm-openings",
      summary: "threads of two processes open a file with several schema versions, and migrate it",
      hasBug: false, needsControlledEngine: true, steps: 60_000, warmUps: 60,
      program: { try run(users: 2 + random(below: 2)) }),
    HuntProgram(
      name: "realm-start-over",
      summary: "the same, and a file of another version is deleted and made anew",
      hasBug: false, needsControlledEngine: true, steps: 60_000, warmUps: 60,
      program: { try startOver(users: 2 + random(below: 2)) }),
  ]

  /// What users share.
  private struct Shared: Sendable {
    let users: Int
    let disk: SimulatedDisk
    let told: Platform.Monitor<StoreTold>
    /// Migrations whose block has begun, and those whose opening has returned.
    let migrations = Platform.Monitor((begun: 0, done: 0))

    func configuration(
      _ system: any FileSystem, _ version: UInt64
    ) -> Realm.Configuration {
      var configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: "/data/openings-\(disk.number).realm"),
        objectTypes: [HuntedSetting.self])
      configuration.fileSystem = system
      configuration.schemaVersion = version
      return configuration
    }

    /// Checks that each version was migrated to once.
    func judge(_ realm: Realm, from version: Int, _ since: Int, _ what: String) {
      let settings = realm.objects(HuntedSetting.self).sorted(byKeyPath: "number")
      let all = Array(settings.map(\.migrations))
      let begun = migrations.withLock { $0.begun }
      check(
        all.count == 1 + users && Set(all).count == 1,
        "\(what) is migrated in part: \(all) of \(1 + users)")
      // Version 1 was there before.
      check(
        (since...max(since, begun)).contains(all[0]) && all[0] <= last - 1
          && (all[0] > 0 || version == 1),
        "\(what) of schema version \(version) was migrated \(all[0]) times; \(since) migrations "
          + "were done before, and \(begun) begun")
      CountingUser.judge(settings.map { UInt64($0.value) })
    }
  }

  /// The newest schema version.
  private static let last = 3

  private static func run(users: Int) throws {
    let disk = HuntedDisk.make()
    let systems = (0..<2).map { HuntedDisk.system(disk, process: $0) }
    let shared = Shared(
      users: users, disk: disk, told: Platform.Monitor(StoreTold(threads: users)))
    RealmPrograms.onThread("founder") {
      let realm = try Realm(configuration: shared.configuration(systems[0], 1))
      try realm.write {
        for number in 0...users { realm.create(HuntedSetting.self, value: ["number": number]) }
      }
    }
    let begin = disk.operationCount
    let threads = (0..<users).map { number in
      let versions = (0..<1 + random(below: 3)).map { _ in 1 + random(below: last) }
      return Platform.Thread.start(name: "user \(number)") {
        for version in versions {
          do {
            try use(shared, systems[number % systems.count], number, version)
          } catch { check(false, "user \(number) fails with schema version \(version): \(error)") }
        }
      }
    }
    for thread in threads { thread.join() }
    RealmPrograms.onThread("judge") {
      let end = shared.told.withLock { $0 }
      let image = disk.killImage()
      try judgeImage(image, shared, end, shared.migrations.withLock { $0.done }, "the end")
      let (cut, operation) = HuntedDisk.powerCut(disk, from: begin)
      try judgeImage(cut, shared, end.at(operation: operation), 0, "a power cut")
    }
  }

  private static func judgeImage(
    _ image: SimulatedDisk, _ shared: Shared, _ told: StoreTold, _ done: Int, _ what: String
  ) throws {
    let configuration = shared.configuration(image, UInt64(last))
    let version = try schemaVersion(configuration.fileURL!.path, image)
    // The last one may have to be migrated for this.
    let before = shared.migrations.withLock { $0 }
    shared.migrations.withLock { $0.begun += version < last ? 1 : 0 }
    defer { shared.migrations.withLock { $0 = before } }
    let realm = try Realm(configuration: migrating(configuration))
    shared.judge(realm, from: last, done, what)
    told.judge(
      realm.objects(HuntedSetting.self).sorted(byKeyPath: "number").map { UInt64($0.value) }, what)
    for finding in try realm.checkInvariants().findings { check(false, "\(what): \(finding)") }
  }

  /// The schema version of a file.
  private static func schemaVersion(_ path: String, _ disk: SimulatedDisk) throws -> Int {
    let store = try Store.open(StoreOptions(path: path, fileSystem: disk))
    let snapshot = try store.pinNewest()
    return Int(try StoredSchema.load(snapshot.reader, root: snapshot.root).schemaVersion)
  }

  private static func migrating(
    _ configuration: Realm.Configuration, _ begins: @escaping @Sendable () -> Void = {}
  ) -> Realm.Configuration {
    var configuration = configuration
    configuration.migrationBlock = { migration, _ in
      begins()
      migration.enumerateObjects(ofType: HuntedSetting.className()) { old, new in
        new!["migrations"] = (old!["migrations"] as! Int) + 1
      }
    }
    return configuration
  }

  /// Opens the file, writes and closes it.
  private static func use(
    _ shared: Shared, _ system: FaultFileSystem, _ number: Int, _ version: Int
  ) throws {
    let done = shared.migrations.withLock { $0.done }
    let hasMigrated = Platform.Monitor(false)
    let configuration = migrating(shared.configuration(system, UInt64(version))) {
      shared.migrations.withLock { $0.begun += 1 }
      hasMigrated.withLock { $0 = true }
    }
    let realm: Realm
    do {
      realm = try Realm(configuration: configuration)
    } catch let error as Realm.Error where error.code == .schemaMismatch {
      // Another one was there with a newer version.
      return check(version < last, "the newest schema version is refused: \(error)")
    } catch let error as Realm.Error where error.code == .alreadyOpen {
      return check(version > 1, "the oldest schema version cannot be opened: \(error)")
    }
    if hasMigrated.withLock({ $0 }) { shared.migrations.withLock { $0.done += 1 } }
    shared.judge(realm, from: version, done, "the Realm of user \(number)")
    for _ in 0..<1 + random(below: 2) {
      shared.told.withLock { $0.begun[number] += 1 }
      try realm.write {
        shared.judge(realm, from: version, done, "a transaction of user \(number)")
        for counter in [0, 1 + number] {
          realm.object(ofType: HuntedSetting.self, forPrimaryKey: counter)!.value += 1
        }
      }
      shared.told.withLock { $0.acknowledge(number, on: shared.disk) }
    }
  }

  // MARK: - Starting over

  private static func startOver(users: Int) throws {
    let disk = HuntedDisk.make()
    let systems = (0..<2 + random(below: 2)).map { HuntedDisk.system(disk, process: $0) }
    let shared = Shared(
      users: users, disk: disk, told: Platform.Monitor(StoreTold(threads: users)))
    // All want the same version, and nobody deletes what one of them has made.
    let areAgreed = random(below: 2) == 0
    let counted = Platform.Monitor(0)
    // Each deletion is worth a line to users, and not to a hunt.
    if Logger.shared.level > .warn { Logger.shared.level = .warn }
    let isMissing = random(below: 2) == 0
    RealmPrograms.onThread("founder") {
      // In any case, so that what a process makes once for all Realms is there.
      let configuration = shared.configuration(systems[0], 1)
      do { _ = try Realm(configuration: configuration) }
      if isMissing { _ = try Realm.deleteFiles(for: configuration) }
    }
    let threads = (0..<users).map { number in
      let versions = (0..<1 + random(below: 3)).map { _ in
        areAgreed ? 2 : UInt64(1 + random(below: 2))
      }
      return Platform.Thread.start(name: "user \(number)") {
        for version in versions {
          var configuration = shared.configuration(systems[number % systems.count], version)
          configuration.deleteRealmIfMigrationNeeded = true
          do {
            try useNew(configuration, number) { counted.withLock { $0 += 1 } }
          } catch let error as Realm.Error where error.code == .alreadyOpen && !areAgreed {
            // Somebody uses it with the other version all the time.
          } catch { check(false, "user \(number) fails with schema version \(version): \(error)") }
        }
      }
    }
    for thread in threads { thread.join() }
    RealmPrograms.onThread("judge") {
      var configuration = shared.configuration(disk, areAgreed ? 2 : 1)
      configuration.deleteRealmIfMigrationNeeded = true
      let realm = try Realm(configuration: configuration)
      if areAgreed {
        let value = realm.object(ofType: HuntedSetting.self, forPrimaryKey: 0)?.value ?? 0
        let all = counted.withLock { $0 }
        check(value == all, "all have counted to \(all), and the file has \(value)")
      }
      for finding in try realm.checkInvariants().findings { check(false, "\(finding)") }
    }
  }

  /// Opens the file, perhaps a new one, and counts there: nobody deletes what is open.
  private static func useNew(
    _ configuration: Realm.Configuration, _ number: Int, _ hasCounted: () -> Void
  ) throws {
    let realm = try Realm(configuration: configuration)
    var seen = 0
    for _ in 0..<1 + random(below: 3) {
      try realm.write {
        let setting =
          realm.object(ofType: HuntedSetting.self, forPrimaryKey: 0)
          ?? realm.create(HuntedSetting.self, value: ["number": 0])
        check(
          setting.value >= seen, "user \(number) finds \(setting.value) and has counted to \(seen)")
        setting.value += 1
        seen = setting.value
      }
      hasCounted()
    }
  }
}
