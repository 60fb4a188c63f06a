// Settings of a Realm. A value: changing one never changes a Realm that is open. What the layer below
// wants of them, equality and the description are in RealmConfiguration+Comparing.swift.
public import Foundation
internal import Platform
internal import Storage

extension Realm {
  /// What a commit promises when it returns.
  public enum Durability: Sendable {
    /// Survives a power cut.
    case full
    /// Survives the end of the process, not a power cut.
    case memory
  }

  /// How a Realm is opened: where its file is and which classes it holds.
  public struct Configuration: Sendable {
    var location: Location
    private var types: [ObjectBase.Type]?
    private var isReadOnly = false
    private var deletesOnMismatch = false
    private var key: Data?
    var migration: Identified<MigrationBlock>?
    var compaction: Identified<@Sendable (Int, Int) -> Bool>?

    enum Location: Sendable, Equatable {
      case file(URL)
      case memory(String)
      case none
    }

    /// Version of the classes; raise it when they change.
    public var schemaVersion: UInt64
    /// The most versions of the file that may be alive at once; a commit that would leave more throws.
    ///
    /// Nil: no limit.
    public var maximumNumberOfActiveVersions: UInt?
    /// What a commit promises when it returns; the same for all that have the file open.
    public var durability: Durability = .full
    /// A Realm file whose content a new file starts with.
    ///
    /// Not looked at when the file is there already.
    public var seedFilePath: URL?
    /// Settings of a synchronised Realm, which every form of opening refuses.
    public var syncConfiguration: SyncConfiguration?

    /// Settings for one Realm.
    ///
    /// Stops when neither a file nor an identifier is given, when a key has not 64 bytes, and when
    /// `readOnly` is set together with `deleteRealmIfMigrationNeeded` or `shouldCompactOnLaunch`.
    /// - Parameters:
    ///   - fileURL: the file; `default.realm` in the current folder unless given.
    ///   - inMemoryIdentifier: names a Realm without a file, which goes with its last use.
    ///   - syncConfiguration: not supported; opening throws.
    ///   - encryptionKey: 64 bytes with which the file is encrypted.
    ///   - readOnly: the file is never written.
    ///   - schemaVersion: version of the classes.
    ///   - migrationBlock: called when the file has an older version of the classes.
    ///   - deleteRealmIfMigrationNeeded: start over with an empty file when the classes have changed.
    ///   - shouldCompactOnLaunch: asked by whoever opens the file first; gets the file's bytes and the
    ///     used ones among them.
    ///   - objectTypes: the classes that the Realm holds; nil for every class of the process.
    ///   - seedFilePath: a Realm file whose content a new file starts with.
    public init(
      fileURL: URL? = Configuration.defaultFileURL, inMemoryIdentifier: String? = nil,
      syncConfiguration: SyncConfiguration? = nil, encryptionKey: Data? = nil,
      readOnly: Bool = false, schemaVersion: UInt64 = 0, migrationBlock: MigrationBlock? = nil,
      deleteRealmIfMigrationNeeded: Bool = false,
      shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil,
      objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil
    ) {
      if let inMemoryIdentifier {
        location = .memory(inMemoryIdentifier)
      } else if let fileURL {
        location = .file(fileURL)
      } else {
        misuse(
          .configuration, "A Realm Configuration must specify a path or an in-memory identifier.")
      }
      self.schemaVersion = schemaVersion
      self.syncConfiguration = syncConfiguration
      self.seedFilePath = seedFilePath
      // By the setters, which check.
      self.encryptionKey = encryptionKey
      self.readOnly = readOnly
      self.migrationBlock = migrationBlock
      self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
      self.shouldCompactOnLaunch = shouldCompactOnLaunch
      self.objectTypes = objectTypes
    }

    /// Where a Realm lives unless a configuration says otherwise.
    public static var defaultFileURL: URL? {
      URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        .appendingPathComponent("default.realm")
    }

    /// Settings of `Realm()`.
    public static var defaultConfiguration: Configuration {
      get { storedDefault.withLock { $0 } ?? Configuration() }
      set { storedDefault.withLock { $0 = newValue } }
    }

    // MARK: - Place

    /// The file.
    ///
    /// Setting it clears `inMemoryIdentifier`.
    public var fileURL: URL? {
      get {
        if case .file(let url) = location { return url }
        return nil
      }
      set {
        guard let newValue else {
          if case .file = location { location = .none }
          return
        }
        location = .file(newValue)
      }
    }

    /// Name of a Realm without a file.
    ///
    /// Setting it clears `fileURL`.
    public var inMemoryIdentifier: String? {
      get {
        if case .memory(let identifier) = location { return identifier }
        return nil
      }
      set {
        guard let newValue else {
          if case .memory = location { location = .none }
          return
        }
        location = .memory(newValue)
      }
    }

    // MARK: - Use of the file

    /// The 64 bytes with which the file is encrypted.
    ///
    /// Setting it stops when the key has another length.
    public var encryptionKey: Data? {
      get { key }
      set {
        checkKeyLength(newValue)
        key = newValue
      }
    }

    /// Whether the file is never written.
    public var readOnly: Bool {
      get { isReadOnly }
      set {
        if newValue, deletesOnMismatch {
          misuse(
            .configuration, "Cannot set `readOnly` when `deleteRealmIfMigrationNeeded` is set.")
        }
        if newValue, compaction != nil {
          misuse(.configuration, "Cannot set `readOnly` when `shouldCompactOnLaunch` is set.")
        }
        isReadOnly = newValue
      }
    }

    /// Asked by whoever opens the file first, of all processes, before it is used.
    ///
    /// Gets the bytes of the file, and how many of them hold data; the file is compacted when it
    /// answers true.
    public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)? {
      get { compaction?.value }
      set {
        if newValue != nil, isReadOnly {
          misuse(.configuration, "Cannot set `shouldCompactOnLaunch` when `readOnly` is set.")
        }
        compaction = newValue.map { Identified($0) }
      }
    }

    // MARK: - Classes

    /// Called when the file has an older schema version, before the Realm is used.
    ///
    /// All that it does is one transaction with the change of the classes.
    public var migrationBlock: MigrationBlock? {
      get { migration?.value }
      set { migration = newValue.map { Identified($0) } }
    }

    /// Whether to start over with an empty file when the classes have changed.
    public var deleteRealmIfMigrationNeeded: Bool {
      get { deletesOnMismatch }
      set {
        if newValue, isReadOnly {
          misuse(
            .configuration, "Cannot set `deleteRealmIfMigrationNeeded` when `readOnly` is set.")
        }
        deletesOnMismatch = newValue
      }
    }

    /// The classes that the Realm holds.
    ///
    /// Nil: every class of the process whose `shouldIncludeInDefaultSchema()` is true. Setting it stops
    /// when one of them cannot be stored.
    public var objectTypes: [ObjectBase.Type]? {
      get { types }
      set {
        for type in newValue ?? [] where !canBeStored(type) {
          misuse(.schema, "Can't add non-Object type '\(type)' to a schema.")
        }
        types = newValue
      }
    }
  }
}

private let storedDefault = Monitor<Realm.Configuration?>(nil)

/// Whether a class is a client's.
private func canBeStored(_ type: ObjectBase.Type) -> Bool {
  type is Object.Type && type != Object.self && type != DynamicObject.self
    || type is EmbeddedObject.Type && type != EmbeddedObject.self
}

/// Stops unless a key has the length of one.
func checkKeyLength(_ key: Data?) {
  if let key, key.count != 64 {
    misuse(.configuration, "Encryption key must be exactly 64 bytes long")
  }
}

/// Settings of a synchronised Realm.
///
/// There are none on Linux: a configuration that holds one is refused by every form of opening. The
/// type is here so that programs that name it compile.
public struct SyncConfiguration: Sendable, Equatable {
  /// Settings that nothing can be opened with.
  public init() {}
}

/// A closure that can be told from others: copies of one setting are equal, two closures never are.
final class Identified<Value: Sendable>: Sendable, Equatable {
  let value: Value

  init(_ value: Value) { self.value = value }

  static func == (left: Identified, right: Identified) -> Bool { left === right }
}
