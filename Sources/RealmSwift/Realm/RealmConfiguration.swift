// Settings of a Realm. A value: changing one never changes a Realm that is open. What the layer
// below wants of them, equality and the description are in RealmConfiguration+Comparing.swift.
// `@preconcurrency` lets code of Swift 5 give functions that are not `@Sendable`.
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
    /// Shared by all copies; a change makes a new one.
    ///
    /// So copies are cheap, and two configurations that share are equal without a look at the
    /// settings.
    private(set) var shared: Shared

    /// Settings that never change.
    final class Shared: Sendable {
      let settings: Settings
      init(_ settings: Settings) { self.settings = settings }
    }

    struct Settings: Sendable {
      var location = Location.none {
        didSet { place = location.place }
      }
      /// The location as a text: making it of a URL takes longer than all else in finding an open
      /// Realm.
      private(set) var place = ""
      var types: [ObjectBase.Type]?
      var isReadOnly = false
      var deletesOnMismatch = false
      var key: Data?
      var migration: Identified<MigrationBlock>?
      var compaction: Identified<@Sendable (Int, Int) -> Bool>?
      var schemaVersion: UInt64 = 0
      var maximumNumberOfActiveVersions: UInt?
      var durability = Durability.full
      var seedFilePath: URL?
      var syncConfiguration: SyncConfiguration?
      /// Where files are; nil for the machine's.
      var fileSystem: (any FileSystem)?
    }

    enum Location: Sendable, Equatable {
      case file(URL)
      case memory(String)
      case none

      fileprivate var place: String {
        switch self {
        case .file(let url): url.path
        case .memory(let identifier): identifier
        case .none: ""
        }
      }
    }

    var settings: Settings { shared.settings }

    mutating func change(_ body: (inout Settings) -> Void) {
      var settings = shared.settings
      body(&settings)
      shared = Shared(settings)
    }

    /// Version of the classes; raise it when they change.
    public var schemaVersion: UInt64 {
      get { settings.schemaVersion }
      set { change { $0.schemaVersion = newValue } }
    }

    /// The most versions of the file that may be alive at once; a commit that would leave more
    /// throws.
    ///
    /// Nil: no limit.
    public var maximumNumberOfActiveVersions: UInt? {
      get { settings.maximumNumberOfActiveVersions }
      set { change { $0.maximumNumberOfActiveVersions = newValue } }
    }

    /// What a commit promises when it returns; the same for all that have the file open.
    public var durability: Durability {
      get { settings.durability }
      set { change { $0.durability = newValue } }
    }

    /// A Realm file whose content a new file starts with.
    ///
    /// Not looked at when the file is there already.
    public var seedFilePath: URL? {
      get { settings.seedFilePath }
      set { change { $0.seedFilePath = newValue } }
    }

    /// Settings of a synchronised Realm, which every form of opening refuses.
    public var syncConfiguration: SyncConfiguration? {
      get { settings.syncConfiguration }
      set { change { $0.syncConfiguration = newValue } }
    }

    /// Settings for one Realm.
    ///
    /// Stops when neither a file nor an identifier is given. Settings that contradict each other,
    /// and a key that has not 64 bytes, are an error when a Realm is opened with them.
    /// - Parameters:
    ///   - fileURL: the file; `default.realm` in the current folder unless given.
    ///   - inMemoryIdentifier: names a Realm without a file, which goes with its last use.
    ///   - syncConfiguration: not supported; opening throws.
    ///   - encryptionKey: 64 bytes with which the file is encrypted.
    ///   - readOnly: the file is never written.
    ///   - schemaVersion: version of the classes.
    ///   - migrationBlock: called when the file has an older version of the classes.
    ///   - deleteRealmIfMigrationNeeded: start over with an empty file when the classes have
    ///     changed.
    ///   - shouldCompactOnLaunch: asked by whoever opens the file first; gets the file's bytes and
    ///     the used ones among them.
    ///   - objectTypes: the classes that the Realm holds; nil for every class of the process.
    ///   - seedFilePath: a Realm file whose content a new file starts with.
    ///   - durability: what a commit promises when it returns.
    @preconcurrency
    public init(
      fileURL: URL? = Configuration.defaultFileURL, inMemoryIdentifier: String? = nil,
      syncConfiguration: SyncConfiguration? = nil, encryptionKey: Data? = nil,
      readOnly: Bool = false, schemaVersion: UInt64 = 0, migrationBlock: MigrationBlock? = nil,
      deleteRealmIfMigrationNeeded: Bool = false,
      shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil,
      objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil,
      durability: Durability = .full
    ) {
      var settings = Settings()
      settings.schemaVersion = schemaVersion
      settings.syncConfiguration = syncConfiguration
      settings.seedFilePath = seedFilePath
      settings.durability = durability
      settings.migration = migrationBlock.map { Identified($0) }
      if let inMemoryIdentifier {
        settings.location = .memory(inMemoryIdentifier)
      } else if let fileURL {
        settings.location = .file(fileURL)
      } else {
        misuse(
          .configuration, "A Realm Configuration must specify a path or an in-memory identifier.")
      }
      shared = Shared(settings)
      // By the setters, which check.
      if encryptionKey != nil { self.encryptionKey = encryptionKey }
      if readOnly { self.readOnly = true }
      if deleteRealmIfMigrationNeeded { self.deleteRealmIfMigrationNeeded = true }
      if shouldCompactOnLaunch != nil { self.shouldCompactOnLaunch = shouldCompactOnLaunch }
      if objectTypes != nil { self.objectTypes = objectTypes }
    }

    /// Where a Realm lives unless a configuration says otherwise: in the folder that was the
    /// current one when this was first asked for.
    public static var defaultFileURL: URL? { initialDefaultFileURL }

    /// Settings of `Realm()`.
    public static var defaultConfiguration: Configuration {
      get { storedDefault.withLock { $0 } ?? initialDefault }
      set { storedDefault.withLock { $0 = newValue } }
    }

    // MARK: - Place

    /// The file.
    ///
    /// Setting it clears `inMemoryIdentifier`.
    public var fileURL: URL? {
      get {
        if case .file(let url) = settings.location { return url }
        return nil
      }
      set {
        guard let newValue else {
          if case .file = settings.location { change { $0.location = .none } }
          return
        }
        change { $0.location = .file(newValue) }
      }
    }

    /// Name of a Realm without a file.
    ///
    /// Setting it clears `fileURL`.
    public var inMemoryIdentifier: String? {
      get {
        if case .memory(let identifier) = settings.location { return identifier }
        return nil
      }
      set {
        guard let newValue else {
          if case .memory = settings.location { change { $0.location = .none } }
          return
        }
        change { $0.location = .memory(newValue) }
      }
    }

    // MARK: - Use of the file

    /// The 64 bytes with which the file is encrypted.
    ///
    /// Setting it stops when the key has another length.
    public var encryptionKey: Data? {
      get { settings.key }
      set { change { $0.key = newValue } }
    }

    /// Whether the file is never written.
    public var readOnly: Bool {
      get { settings.isReadOnly }
      set { change { $0.isReadOnly = newValue } }
    }

    /// Asked by whoever opens the file first, of all processes, before it is used.
    ///
    /// Gets the bytes of the file, and how many of them hold data; the file is compacted when it
    /// answers true.
    @preconcurrency
    public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)? {
      get { settings.compaction?.value }
      set { change { $0.compaction = newValue.map { Identified($0) } } }
    }

    // MARK: - Classes

    /// Called when the file has an older schema version, before the Realm is used.
    ///
    /// All that it does is one transaction with the change of the classes.
    @preconcurrency
    public var migrationBlock: MigrationBlock? {
      get { settings.migration?.value }
      set { change { $0.migration = newValue.map { Identified($0) } } }
    }

    /// Whether to start over with an empty file when the classes have changed.
    public var deleteRealmIfMigrationNeeded: Bool {
      get { settings.deletesOnMismatch }
      set { change { $0.deletesOnMismatch = newValue } }
    }

    /// The classes that the Realm holds.
    ///
    /// Nil: every class of the process whose `shouldIncludeInDefaultSchema()` is true. Setting it
    /// stops when one of them cannot be stored.
    public var objectTypes: [ObjectBase.Type]? {
      get { settings.types }
      set {
        for type in newValue ?? [] where !canBeStored(type) {
          misuse(.schema, "Can't add non-Object type '\(type)' to a schema.")
        }
        change { $0.types = newValue }
      }
    }
  }
}

private let storedDefault = Monitor<Realm.Configuration?>(nil)
private let initialDefault = Realm.Configuration()
private let initialDefaultFileURL = URL(
  fileURLWithPath: FileManager.default.currentDirectoryPath
).appendingPathComponent("default.realm")

/// Whether a class is a client's.
private func canBeStored(_ type: ObjectBase.Type) -> Bool {
  type is Object.Type && type != Object.self && type != DynamicObject.self
    || type is EmbeddedObject.Type && type != EmbeddedObject.self
}

/// Throws `invalidInput` unless a key has the length of one.
func checkKeyLength(_ key: Data?, _ path: String?) throws {
  if let key, key.count != 64 {
    throw Realm.Error(.invalidInput, "Encryption key must be exactly 64 bytes long", path: path)
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
