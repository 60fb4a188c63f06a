// The public Realm: a struct around the confined instance. Opening, settings and versions are here;
// transactions, objects and frozen forms in the files beside.
public import Dispatch
public import Foundation
internal import ObjectStore
internal import Storage

/// A database, or one version of it, as seen from one place.
///
/// A Realm and everything that comes out of it may only be used on the thread, queue or actor that
/// it was opened for; frozen ones can be used anywhere. It shows one version of the file until it
/// is refreshed or writes.
public struct Realm: Equatable {
  let confined: ConfinedRealm

  init(_ confined: ConfinedRealm) { self.confined = confined }

  /// Opens the Realm of the default configuration.
  ///
  /// - Parameter queue: confines the Realm to this serial queue, on which the caller has to run.
  /// - Throws: `Realm.Error`.
  public init(queue: DispatchQueue? = nil) throws {
    try self.init(configuration: .defaultConfiguration, queue: queue)
  }

  /// Opens a Realm.
  ///
  /// It is confined to the calling thread, or to a serial queue; the main thread, the main actor
  /// and the main queue are one place. The same file, settings and place give the same instance.
  /// Classes that the file does not know are added to it.
  ///
  /// Stops when the queue is concurrent, or the caller does not run on it.
  /// - Throws: `Realm.Error`: `fileNotFound`, `filePermissionDenied`, `fileAccess`,
  ///   `invalidDatabase`, `schemaMismatch`, `alreadyOpen` and others.
  public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
    confined = try ConfinedRealm.open(configuration, on: queue)
  }

  /// Opens the Realm of a file, with all else as in the default configuration.
  ///
  /// - Throws: `Realm.Error`.
  public init(fileURL: URL) throws {
    var configuration = Configuration.defaultConfiguration
    configuration.fileURL = fileURL
    try self.init(configuration: configuration)
  }

  /// The settings that the Realm was opened with.
  public var configuration: Configuration { confined.configuration }

  /// The classes that the Realm holds.
  public var schema: Schema { confined.schema.publicForm }

  /// Whether there is no object in the Realm.
  ///
  /// - Complexity: O(classes).
  public var isEmpty: Bool {
    confined.check()
    return confined.bindings.allSatisfy { binding in
      (confined.reader(of: confined.table(binding))?.count ?? 0) == 0
    }
  }

  /// Whether both are the same instance.
  public static func == (left: Realm, right: Realm) -> Bool { left.confined === right.confined }

  // MARK: - Versions

  /// Moves to the newest version.
  ///
  /// - Returns: whether there was a newer one. Always false when frozen, and inside a transaction.
  /// - Complexity: O(1); one comparison when there is nothing new.
  @discardableResult
  public func refresh() -> Bool {
    do { return try confined.refresh() } catch {
      misuse(.storage, "The Realm cannot be refreshed: \(error)")
    }
  }

  /// Whether the Realm moves to newer versions by itself, when others commit.
  ///
  /// It does so between the jobs of its queue, actor or run loop, never in the middle of one. True
  /// unless set, where one of them drives the Realm; a thread without a run loop has to call
  /// `refresh`. Stops when it is turned on for a frozen Realm.
  public var autorefresh: Bool {
    get { confined.autorefresh }
    nonmutating set { confined.autorefresh = newValue }
  }

  /// Lets go of the version that the Realm shows, so that the file need not keep it.
  ///
  /// A running transaction is rolled back; asynchronous writes that have not begun are dropped, and
  /// their completions get an error; commits that are on their way to the disk are waited for. All
  /// objects and collections of the Realm are invalid from now on; the Realm itself shows the
  /// newest version when it is used next. Of a frozen Realm the values end, and its version is let
  /// go with the last of them.
  public func invalidate() { confined.invalidate() }
}

@available(*, unavailable)
extension Realm: Sendable {}

// MARK: - Transactions

extension Realm {
  /// Runs a block in a write transaction and commits what it has changed.
  ///
  /// Waits for other writers of the file first, and moves to the newest version; what is owed to
  /// observers is told to them before. When the block throws, its changes are rolled back and the
  /// error is thrown on. A block may commit or cancel by itself; then nothing more is done. Stops
  /// when a transaction is running already, on a frozen and on a read-only Realm.
  /// - Parameters:
  ///   - tokens: whose observers are not told of these changes: they have made them already, where
  ///     they show them. Stops when one observes another Realm.
  ///   - block: makes the changes.
  /// - Returns: what the block returns.
  /// - Throws: the block's error, or a `Realm.Error` when the changes cannot be stored; they are
  ///   rolled back then.
  /// - Complexity: O(changes), and one sync to the disk that is shared with other writers.
  @discardableResult
  public func write<Result>(
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> Result
  ) throws -> Result {
    try mappingErrors { () throws(StorageError) in try confined.beginWrite() }
    let result: Result
    do {
      result = try block()
    } catch {
      if isInWriteTransaction { cancelWrite() }
      throw error
    }
    if isInWriteTransaction { try commitWrite(withoutNotifying: tokens) }
    return result
  }

  /// Begins a write transaction: waits for other writers and moves to the newest version.
  ///
  /// Stops when one is running already, on a frozen and on a read-only Realm, and when the file
  /// cannot be written; `write` throws in the last case.
  public func beginWrite() {
    do { try confined.beginWrite() } catch {
      misuse(.storage, "The write transaction cannot begin: \(error)")
    }
  }

  /// Makes the changes of the running transaction a version.
  ///
  /// It is durable on return.
  ///
  /// Stops when no transaction is running.
  /// - Parameter tokens: whose observers are not told of these changes. Stops when one observes
  ///   another Realm.
  /// - Throws: `Realm.Error` when the changes cannot be stored; they are rolled back then.
  public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
    for token in tokens where !token.slot.canSkip(confined) {
      misuse(
        .ownership,
        "Incorrect Realm: only notifications for the Realm being modified can be skipped.")
    }
    try mappingErrors { () throws(StorageError) in
      try confined.commitWrite(withoutNotifying: tokens)
    }
  }

  /// Drops the changes of the running transaction.
  ///
  /// Objects that it has added are invalid from now on. Stops when no transaction is running.
  public func cancelWrite() { confined.cancelWrite() }

  /// Whether a write transaction is running on this Realm.
  public var isInWriteTransaction: Bool {
    confined.check()
    return confined.writing != nil
  }
}

// MARK: - Frozen forms

extension Realm {
  /// Whether the Realm shows one version for ever and may be used from any thread.
  public var isFrozen: Bool { confined.isFrozen }

  /// The Realm's current version, immutable and usable from any thread.
  ///
  /// The file keeps the version for as long as the frozen Realm, or anything from it, is held.
  /// Inside a transaction: the version that it began on.
  /// - Complexity: O(1), no disk access.
  public func freeze() -> Realm { Realm(confined.frozen()) }

  /// The live Realm of a frozen one for the calling thread; a live Realm itself.
  public func thaw() -> Realm {
    confined.check()
    return confined.isFrozen ? Realm(ConfinedRealm.thawOrStop(confined)) : self
  }

  /// An immutable copy of an object, usable from any thread.
  public func freeze<T: ObjectBase>(_ object: T) -> T { object.freeze() }

  /// The live form of a frozen object, for the calling thread; nil when it was deleted.
  public func thaw<T: ObjectBase>(_ object: T) -> T? { object.thaw() }

  /// An immutable copy of a collection, usable from any thread.
  public func freeze<Collection: RealmCollection>(_ collection: Collection) -> Collection {
    collection.freeze()
  }

  /// The live form of a frozen collection, for the calling thread.
  public func thaw<Collection: RealmCollection>(_ collection: Collection) -> Collection? {
    collection.thaw()
  }
}
