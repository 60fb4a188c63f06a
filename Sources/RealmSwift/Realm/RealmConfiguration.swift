// Settings of a Realm. A value: changing one never changes a Realm that is open.
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
  public struct Configuration: Sendable, Equatable, CustomStringConvertible {
    private var location: Location
    private var types: [ObjectBase.Type]?
    private var isReadOnly: Bool
    private var deletesOnMismatch: Bool

    private enum Location: Sendable, Equatable {
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

    /// Settings for one Realm.
    ///
    /// Stops when neither a file nor an identifier is given, or when `deleteRealmIfMigrationNeeded`
    /// and `readOnly` are both set.
    /// - Parameters:
    ///   - fileURL: the file; `default.realm` in the current folder unless given.
    ///   - inMemoryIdentifier: names a Realm without a file, which goes with its last use.
    ///   - readOnly: the file is never written.
    ///   - schemaVersion: version of the classes.
    ///   - deleteRealmIfMigrationNeeded: start over with an empty file when the classes have changed.
    ///   - objectTypes: the classes that the Realm holds; nil for every class of the process.
    public init(
      fileURL: URL? = Configuration.defaultFileURL, inMemoryIdentifier: String? = nil,
      readOnly: Bool = false, schemaVersion: UInt64 = 0, deleteRealmIfMigrationNeeded: Bool = false,
      objectTypes: [ObjectBase.Type]? = nil
    ) {
      if let inMemoryIdentifier {
        location = .memory(inMemoryIdentifier)
      } else if let fileURL {
        location = .file(fileURL)
      } else {
        misuse(
          .configuration, "A Realm Configuration must specify a path or an in-memory identifier.")
      }
      isReadOnly = false
      deletesOnMismatch = false
      self.schemaVersion = schemaVersion
      self.readOnly = readOnly
      self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
      self.objectTypes = objectTypes
    }

    /// Where a Realm lives unless a configuration says otherwise.
    public static var defaultFileURL: URL? {
      URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        .appendingPathComponent("default.realm")
    }

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

    /// Whether the file is never written.
    public var readOnly: Bool {
      get { isReadOnly }
      set {
        if newValue, deletesOnMismatch {
          misuse(
            .configuration, "Cannot set `readOnly` when `deleteRealmIfMigrationNeeded` is set.")
        }
        isReadOnly = newValue
      }
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
    /// Nil: every class of the process whose `shouldIncludeInDefaultSchema()` is true.
    public var objectTypes: [ObjectBase.Type]? {
      get { types }
      set {
        for type in newValue ?? [] where !(type is Object.Type) || type == Object.self {
          misuse(.schema, "Can't add non-Object type '\(type)' to a schema.")
        }
        types = newValue
      }
    }

    /// Settings of `Realm()`.
    public static var defaultConfiguration: Configuration {
      get { storedDefault.withLock { $0 } ?? Configuration() }
      set { storedDefault.withLock { $0 = newValue } }
    }

    /// Whether all settings are equal.
    public static func == (left: Configuration, right: Configuration) -> Bool {
      left.location == right.location && left.isReadOnly == right.isReadOnly
        && left.schemaVersion == right.schemaVersion
        && left.deletesOnMismatch == right.deletesOnMismatch
        && left.maximumNumberOfActiveVersions == right.maximumNumberOfActiveVersions
        && left.durability == right.durability
        && left.types?.map { ObjectIdentifier($0) } == right.types?.map { ObjectIdentifier($0) }
    }

    /// All settings, one a line.
    public var description: String {
      let limit = maximumNumberOfActiveVersions.map { String($0) } ?? "(null)"
      let names = types.map { types in
        "[" + types.map { $0.className() }.joined(separator: ", ") + "]"
      }
      return """
        Realm.Configuration {
        \tfileURL = \(fileURL?.absoluteString ?? "(null)");
        \tinMemoryIdentifier = \(inMemoryIdentifier ?? "(null)");
        \treadOnly = \(readOnly);
        \tschemaVersion = \(schemaVersion);
        \tdeleteRealmIfMigrationNeeded = \(deleteRealmIfMigrationNeeded);
        \tmaximumNumberOfActiveVersions = \(limit);
        \tdurability = \(durability);
        \tobjectTypes = \(names ?? "(null)");
        }
        """
    }
  }
}

private let storedDefault = Monitor<Realm.Configuration?>(nil)

extension Realm.Configuration {
  /// The same settings as the layer below wants them.
  ///
  /// Stops when there is neither a file nor an identifier.
  var storeOptions: StoreOptions {
    let path: String
    if let inMemoryIdentifier {
      path = inMemoryIdentifier
    } else if let fileURL {
      path = fileURL.path
    } else {
      misuse(
        .configuration, "A Realm Configuration must specify a path or an in-memory identifier.")
    }
    return StoreOptions(
      path: path, inMemoryIdentifier: inMemoryIdentifier, isReadOnly: readOnly,
      durability: durability == .full && inMemoryIdentifier == nil ? .full : .memory,
      maximumNumberOfActiveVersions: maximumNumberOfActiveVersions.map { UInt64($0) })
  }
}
