// Realm.Error and the one place where errors of the engine become it.
public import Foundation
internal import Platform
internal import Storage

extension Realm {
  /// An error that opening, writing or copying a Realm can throw.
  ///
  /// Catch it as `Realm.Error`, by a code (`catch Realm.Error.fileNotFound`), or as `NSError` with
  /// domain `io.realm`.
  public struct Error: _BridgedStoredNSError, Sendable {
    // `_ObjectiveCBridgeable` below is written by hand: it is what makes `as NSError` match on
    // Linux. @unchecked is not needed: NSError is immutable and Sendable.
    /// The error in its untyped form.
    public let _nsError: NSError

    /// Wraps an untyped error of this domain.
    public init(_nsError error: NSError) { _nsError = error }

    /// The domain of all these errors.
    public static var errorDomain: String { "io.realm" }
    /// The domain of all these errors.
    public static var _nsErrorDomain: String { "io.realm" }

    /// What went wrong.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
      /// The error that carries such a code.
      public typealias _ErrorType = Realm.Error
      /// Something that has no code of its own; the description says what.
      case fail = 1
      /// The file cannot be opened: a folder in its place, or a file in the place of its folder.
      case fileAccess = 2
      /// Owner or mode of the file or its folder forbid it.
      case filePermissionDenied = 3
      /// The file to be made is there already.
      case fileExists = 4
      /// No such file, or no such folder to make it in.
      case fileNotFound = 5
      /// The file has an older format and was opened read-only.
      case fileFormatUpgradeRequired = 6
      /// The lock file belongs to another version.
      case incompatibleLockFile = 8
      /// No address space is left to map the file.
      case addressSpaceExhausted = 9
      /// The classes differ from those in the file, and nothing migrates them.
      case schemaMismatch = 10
      /// The file is open, here with other settings or in another process.
      case alreadyOpen = 12
      /// An argument cannot be used.
      case invalidInput = 13
      /// The disk or quota is full.
      case outOfDiskSpace = 14
      /// Not used for local files.
      case incompatibleSession = 15
      /// The file's format is not one that this version reads.
      case unsupportedFileFormatVersion = 16
      /// Not used for local files.
      case multipleSyncAgents = 17
      /// Not used for local files.
      case subscriptionFailed = 18
      /// A read, write or sync of the file failed.
      case fileOperationFailed = 19
      /// Not a Realm file, damaged, or encrypted with another key.
      case invalidDatabase = 20
      /// Not used for local files.
      case incompatibleHistories = 21
      /// Not used for local files.
      case noSubscriptionForWrite = 22
    }

    /// Something that has no code of its own; the description says what.
    public static var fail: Code { .fail }
    /// Something that has no code of its own; the description says what.
    public static var callFailed: Code { .fail }
    /// The file cannot be opened: a folder in its place, or a file in the place of its folder.
    public static var fileAccess: Code { .fileAccess }
    /// Owner or mode of the file or its folder forbid it.
    public static var filePermissionDenied: Code { .filePermissionDenied }
    /// The file to be made is there already.
    public static var fileExists: Code { .fileExists }
    /// No such file, or no such folder to make it in.
    public static var fileNotFound: Code { .fileNotFound }
    /// The file has an older format and was opened read-only.
    public static var fileFormatUpgradeRequired: Code { .fileFormatUpgradeRequired }
    /// The lock file belongs to another version.
    public static var incompatibleLockFile: Code { .incompatibleLockFile }
    /// No address space is left to map the file.
    public static var addressSpaceExhausted: Code { .addressSpaceExhausted }
    /// The classes differ from those in the file, and nothing migrates them.
    public static var schemaMismatch: Code { .schemaMismatch }
    /// The file is open, here with other settings or in another process.
    public static var alreadyOpen: Code { .alreadyOpen }
    /// An argument cannot be used.
    public static var invalidInput: Code { .invalidInput }
    /// The disk or quota is full.
    public static var outOfDiskSpace: Code { .outOfDiskSpace }
    /// Not used for local files.
    public static var incompatibleSession: Code { .incompatibleSession }
    /// The file's format is not one that this version reads.
    public static var unsupportedFileFormatVersion: Code { .unsupportedFileFormatVersion }
    /// Not used for local files.
    public static var multipleSyncAgents: Code { .multipleSyncAgents }
    /// Not used for local files.
    public static var subscriptionFailed: Code { .subscriptionFailed }
    /// A read, write or sync of the file failed.
    public static var fileOperationFailed: Code { .fileOperationFailed }
    /// Not a Realm file, damaged, or encrypted with another key.
    public static var invalidDatabase: Code { .invalidDatabase }
    /// Not used for local files.
    public static var incompatibleHistories: Code { .incompatibleHistories }
    /// Not used for local files.
    public static var noSubscriptionForWrite: Code { .noSubscriptionForWrite }

    /// Hashes the code: the untyped error's own hash never ends in Foundation on Linux.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// The file that the error is about.
    public var fileURL: URL? {
      (_nsError.userInfo[NSFilePathErrorKey] as? String).map { URL(fileURLWithPath: $0) }
    }
  }
}

// MARK: - Bridging

extension Realm.Error: _ObjectiveCBridgeable {
  /// The error in its untyped form.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// Wraps an untyped error.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Realm.Error?) {
    result = Realm.Error(_nsError: source)
  }

  /// Wraps an untyped error if it is of this domain.
  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout Realm.Error?
  ) -> Bool {
    guard source.domain == errorDomain else { return false }
    result = Realm.Error(_nsError: source)
    return true
  }

  /// Wraps an untyped error.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Realm.Error {
    Realm.Error(_nsError: source ?? NSError(domain: errorDomain, code: Code.fail.rawValue))
  }
}

// MARK: - Making

extension Realm.Error {
  /// An error with a code, a text and the path that it is about.
  init(_ code: Code, _ description: String, path: String?) {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
    if let path { userInfo[NSFilePathErrorKey] = path }
    self.init(
      _nsError: NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: userInfo))
  }

  /// The public form of an error of the engine.
  init(_ error: StorageError) {
    let code: Code
    let path: String
    switch error {
    case .system(let error):
      (code, path) = (error.isUnusablePath ? .fileAccess : .fileOperationFailed, error.path)
    case .diskFull(let error): (code, path) = (.outOfDiskSpace, error.path)
    case .fileNotFound(let file), .parentMissing(let file): (code, path) = (.fileNotFound, file)
    case .fileExists(let file): (code, path) = (.fileExists, file)
    case .permissionDenied(let file, _): (code, path) = (.filePermissionDenied, file)
    case .isDirectory(let file): (code, path) = (.fileAccess, file)
    case .notADatabase(let file, _): (code, path) = (.invalidDatabase, file)
    case .unsupportedFormat(let file, _): (code, path) = (.unsupportedFileFormatVersion, file)
    case .formatUpgradeRequired(let file, _): (code, path) = (.fileFormatUpgradeRequired, file)
    case .damaged(let file, _, _, _): (code, path) = (.invalidDatabase, file)
    case .logNotRepeated(let file, _): (code, path) = (.fileAccess, file)
    case .incompatibleLockFile(let file, _): (code, path) = (.incompatibleLockFile, file)
    case .addressSpaceExhausted(let file, _): (code, path) = (.addressSpaceExhausted, file)
    case .alreadyOpen(let file, _): (code, path) = (.alreadyOpen, file)
    case .previousSyncFailure(let file, _): (code, path) = (.fileOperationFailed, file)
    case .tooManyVersions(let file, _, _): (code, path) = (.fail, file)
    case .threadsExhausted(let file, _, _): (code, path) = (.fail, file)
    case .readOnly(let file): (code, path) = (.filePermissionDenied, file)
    case .invariant(let file, _): (code, path) = (.invalidDatabase, file)
    }
    var text = error.description
    if case .alreadyOpen(let file, let reason) = error, reason.hasPrefix("with ") {
      text = "Realm at path '\(file)' already opened \(reason)."
    }
    self.init(code, text, path: path)
  }
}

/// Runs an operation of the engine and throws its error in the public form.
@inline(__always)
func mappingErrors<Value>(_ body: () throws(StorageError) -> Value) throws -> Value {
  do throws(StorageError) { return try body() } catch { throw Realm.Error(error) }
}
