// Which versions of a file are alive, and what they cost: the answer to "why does my file grow?".
internal import Storage

extension Realm {
  /// A version of the file that something keeps readable.
  public struct ActiveVersion: Sendable, Equatable {
    /// Its number; newer versions have larger ones.
    public let version: UInt64
    /// How long ago it was made, or first seen by the process that keeps it; nil when that is not
    /// known.
    public let age: Duration?
    /// Who keeps it.
    ///
    /// The thread, queue or actor that froze it last, or else whose Realm came to stand on it, or
    /// else the thread that made it. Of other processes: name and number, and the thread that made
    /// or first saw the version.
    public let owner: String
    /// Bytes of the file that would be free without it.
    ///
    /// Nil where only a writer knows.
    public let retainedBytes: Int?
    /// Whether it is the newest version, which is always kept.
    public let isNewest: Bool
  }

  /// The versions of the file that are alive in any process, oldest first.
  ///
  /// A live Realm keeps the version that it shows; frozen values and references keep theirs. Waits
  /// for other writers for a moment, and must not be called inside a transaction.
  /// - Throws: `Realm.Error` when the file cannot be read.
  /// - Complexity: O(blocks that old versions keep).
  public func activeVersions() throws -> [ActiveVersion] {
    confined.check()
    if confined.writing != nil {
      misuse(.transaction, "Active versions cannot be listed inside a write transaction.")
    }
    let statistics = try mappingErrors { () throws(StorageError) in
      try confined.store.statistics(countsRetained: true)
    }
    return statistics.versions.map { version in
      ActiveVersion(
        version: version.version.rawValue,
        age: version.ageNanoseconds.map { .nanoseconds(Int64(clamping: $0)) },
        owner: version.owner, retainedBytes: version.retainedBytes.map { Int($0) },
        isNewest: version.version == statistics.newestVersion)
    }
  }
}
