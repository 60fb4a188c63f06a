// Everything that can go wrong below the object layer. RealmSwift maps it once to Realm.Error.
package import Platform

/// An error of the storage engine: what, where, and what to do.
package enum StorageError: Error, Equatable, Sendable {
  /// A system call failed.
  case system(SystemError)
  /// The disk or quota is full; nothing of the transaction is in the file.
  case diskFull(SystemError)
  case fileNotFound(path: String)
  /// Something has the name that a new file was to get.
  case fileExists(path: String)
  case parentMissing(path: String)
  case permissionDenied(path: String, reason: String)
  case isDirectory(path: String)
  /// Not a file of this format: foreign, empty of sense, or truncated.
  case notADatabase(path: String, reason: String)
  /// A vendor's file or a newer format.
  case unsupportedFormat(path: String, reason: String)
  case formatUpgradeRequired(path: String, reason: String)
  /// The newest commits are in the log beside the file, and have to be written to it first.
  case logNotRepeated(path: String, log: String)
  /// Bytes that fail their checksum or point nowhere.
  case damaged(path: String, block: UInt64, version: UInt64, reason: String)
  case incompatibleLockFile(path: String, reason: String)
  /// The process may not map so many bytes more.
  case addressSpaceExhausted(path: String, bytes: UInt64)
  /// Open with other settings, or in another process.
  case alreadyOpen(path: String, reason: String)
  /// A sync failed earlier: nothing more can be written until everyone has closed the file.
  case previousSyncFailure(path: String, reason: String)
  case tooManyVersions(path: String, limit: UInt64, live: UInt64)
  case readOnly(path: String)
  /// All threads that run tasks wait for the write lock, and its holder needs one of them to go on.
  case threadsExhausted(path: String, holder: String, threads: Int)
  case invariant(path: String, reason: String)
}

extension StorageError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .system(let error): return error.description
    case .diskFull(let error) where error.code == SystemError.fileTooLarge:
      return "The file cannot be longer: \(error). The transaction was rolled back; raise the "
        + "limit of the process (ulimit -f, RLIMIT_FSIZE), or delete objects, and try again."
    case .diskFull(let error):
      return
        "The disk is full: \(error). The transaction was rolled back; free space and try again."
    case .fileNotFound(let path):
      return "No file at '\(path)'. Only opening it for writing makes one; check the path."
    case .fileExists(let path):
      return "'\(path)' exists already. Remove it first or choose another path."
    case .parentMissing(let path):
      // The kernel's own folders, such as /proc, say so of each new file.
      return "The folder of '\(path)' does not exist, or takes no new files. Create it first, or "
        + "choose another path."
    case .permissionDenied(let path, let reason):
      return "No permission for '\(path)': \(reason). Check the owner and mode of file and folder."
    case .isDirectory(let path):
      return "'\(path)' is a folder; a Realm needs the path of a file."
    case .notADatabase(let path, let reason):
      return "'\(path)' is not a Realm file: \(reason). It was left untouched."
    case .unsupportedFormat(let path, let reason):
      return
        "'\(path)' has a format that this version cannot read: \(reason). It was left untouched."
    case .formatUpgradeRequired(let path, let reason):
      return "'\(path)' has an older format: \(reason). Open it once for writing to upgrade it."
    case .logNotRepeated(let path, let log):
      return
        "'\(path)' cannot be read yet: the machine was restarted while it was written to, and its "
        + "newest commits are in '\(log)' only. Open it once for writing."
    case .damaged(let path, let block, let version, let reason):
      return "'\(path)' is damaged: block \(block) of version \(version): \(reason). "
        + "Restore a backup; 'realm-bench check' lists every damaged block."
    case .incompatibleLockFile(let path, let reason):
      return "The lock file '\(path)' cannot be used: \(reason)."
    case .addressSpaceExhausted(let path, let bytes):
      return "No address space left to map \(bytes) bytes of '\(path)'. Raise the limits of the "
        + "process (ulimit -v and -d, RLIMIT_AS and RLIMIT_DATA), or of the machine where "
        + "vm.overcommit_memory is 2 (vm.overcommit_ratio), or release frozen Realms and references."
    case .alreadyOpen(let path, let reason): return "'\(path)' is already open: \(reason)."
    case .previousSyncFailure(let path, let reason):
      return "'\(path)' can only be read: an earlier sync failed (\(reason)). "
        + "Close it everywhere, check the disk, and open it again."
    case .tooManyVersions(let path, let limit, let live):
      return "'\(path)' has \(live) live versions, more than the limit of \(limit). "
        + "Release frozen Realms, objects and references, or raise maximumNumberOfActiveVersions."
    case .threadsExhausted(let path, let holder, let threads):
      return "All \(threads) threads that run tasks wait for the write lock of '\(path)' or of "
        + "another Realm, and \(holder), whose transaction has it, needs one of them to go on: nobody "
        + "could. This write was given up. Do not keep transactions open across suspensions, and "
        + "use asyncWrite in tasks."
    case .readOnly(let path): return "'\(path)' was opened read-only."
    case .invariant(let path, let reason): return "'\(path)' breaks an invariant: \(reason)."
    }
  }
}
