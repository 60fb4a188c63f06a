// Which settings are equal, which open the same Realm, how they read as text, and what the layer
// below wants of them.
internal import Foundation
internal import Platform
internal import Storage

extension Realm.Configuration: Equatable {
  /// Whether all settings are equal.
  ///
  /// Closures are equal when one is a copy of the other's setting.
  public static func == (left: Realm.Configuration, right: Realm.Configuration) -> Bool {
    left.opensSameRealm(as: right) && left.settings.migration == right.settings.migration
      && left.settings.compaction == right.settings.compaction
      && left.deleteRealmIfMigrationNeeded == right.deleteRealmIfMigrationNeeded
      && left.seedFilePath == right.seedFilePath
  }

  /// Whether an open Realm of one fits the other: all settings but those that matter only until a
  /// Realm is open.
  ///
  /// Settings of a synchronised Realm fit nothing that is open, since opening refuses them.
  func opensSameRealm(as other: Realm.Configuration) -> Bool {
    if shared === other.shared { return true }
    // The same file by another way of writing its URL is the same place.
    return settings.place == other.settings.place && isInMemory == other.isInMemory
      && readOnly == other.readOnly
      && schemaVersion == other.schemaVersion && encryptionKey == other.encryptionKey
      && maximumNumberOfActiveVersions == other.maximumNumberOfActiveVersions
      && durability == other.durability && syncConfiguration == other.syncConfiguration
      && process == other.process
      && objectTypes?.map { ObjectIdentifier($0) }
        == other.objectTypes?.map { ObjectIdentifier($0) }
  }
}

extension Realm.Configuration {
  private var isInMemory: Bool {
    if case .memory = settings.location { true } else { false }
  }

  /// The process as which the file is used: on a simulated disk there are several in one, each with
  /// a store of its own.
  private var process: UInt64 { settings.fileSystem?.process ?? 0 }
}

extension Realm.Configuration: CustomStringConvertible {
  /// All settings, one a line; of the key and the closures only whether they are set.
  public var description: String {
    let names = objectTypes.map { types in
      "[" + types.map { $0.className() }.joined(separator: ", ") + "]"
    }
    let limit = maximumNumberOfActiveVersions.map { String($0) }
    return """
      Realm.Configuration {
      \tfileURL = \(fileURL?.absoluteString ?? "(null)");
      \tinMemoryIdentifier = \(inMemoryIdentifier ?? "(null)");
      \tencryptionKey = \(encryptionKey == nil ? "(null)" : "(set)");
      \treadOnly = \(readOnly);
      \tschemaVersion = \(schemaVersion);
      \tmigrationBlock = \(settings.migration == nil ? "(null)" : "(set)");
      \tdeleteRealmIfMigrationNeeded = \(deleteRealmIfMigrationNeeded);
      \tshouldCompactOnLaunch = \(settings.compaction == nil ? "(null)" : "(set)");
      \tmaximumNumberOfActiveVersions = \(limit ?? "(null)");
      \tdurability = \(durability);
      \tobjectTypes = \(names ?? "(null)");
      \tseedFilePath = \(seedFilePath?.path ?? "(null)");
      }
      """
  }
}

extension Realm.Configuration {
  /// Where the Realm is, for messages.
  var place: String { shared.settings.place }

  /// The same settings as the layer below wants them.
  ///
  /// Stops when there is neither a file nor an identifier.
  var storeOptions: StoreOptions {
    if case .none = settings.location {
      misuse(
        .configuration, "A Realm Configuration must specify a path or an in-memory identifier.")
    }
    var options = StoreOptions(
      path: place, inMemoryIdentifier: inMemoryIdentifier, isReadOnly: readOnly,
      durability: durability == .full && inMemoryIdentifier == nil ? .full : .memory,
      maximumNumberOfActiveVersions: maximumNumberOfActiveVersions.map { UInt64($0) },
      encryptionKey: encryptionKey.map { [UInt8]($0) }, shouldCompact: shouldCompactOnLaunch)
    options.commitLog = .whenScattered
    if let fileSystem = settings.fileSystem { options.fileSystem = fileSystem }
    return options
  }

  /// - Throws: `invalidInput` for settings that contradict each other, or a key that is none.
  func validate() throws {
    func refuse(_ setting: String) -> Realm.Error {
      Realm.Error(
        .invalidInput, "Cannot set `\(setting)` when `readOnly` is set.", path: place)
    }
    try checkKeyLength(encryptionKey, place)
    if readOnly && deleteRealmIfMigrationNeeded { throw refuse("deleteRealmIfMigrationNeeded") }
    if readOnly && shouldCompactOnLaunch != nil { throw refuse("shouldCompactOnLaunch") }
  }
}
