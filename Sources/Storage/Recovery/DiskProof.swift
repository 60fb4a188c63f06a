// Whether a version is on the disk, for readers who can neither ask a lock file nor write anything
// again. After a failed sync the page cache shows what the disk does not have, and calls it clean:
// another sync succeeds and proves nothing. So they read past the cache what the newest record
// needs. Whoever may write needs no proof, but writes it again (`Store.rewrite`).
internal import Platform

/// Tells of which records all is on the disk.
struct DiskProof: Sendable {
  private let file: any File
  private let header: FileHeader
  private let cipher: FileCipher?
  /// The newest version that the commit log has, and whether it would be repeated over newer ones.
  private let logged: (version: Version, isRepeated: Bool)?

  /// - Throws: when the commit log, by which the newest versions are durable, cannot be read.
  init(
    _ file: any File, _ header: FileHeader, _ cipher: FileCipher?, _ options: StoreOptions
  ) throws(StorageError) {
    self.file = file
    self.header = header
    self.cipher = cipher
    // A log that is missing is needed after a restart only, and an error then.
    guard header.isLogged, let log = try? Store.openLog(header, file, options) else {
      logged = nil
      return
    }
    let content = try LogContent(log.file, log.header, isOnDisk: true)
    logged = (content.version ?? Version(0), content.hasWhatIsNotInPlace)
  }

  /// Whether a power cut would leave the version; true where nobody can tell.
  func isOnDisk(_ found: FoundRecord) -> Bool {
    let record = found.record
    if let logged {
      if record.version <= logged.version { return true }
      // What the log has is written over it.
      if logged.isRepeated || record.isProvenByLog { return false }
    }
    let home = header.homes[found.home]
    do throws(SystemError) {
      guard let bytes = try file.bytesOnDisk(at: home, length: CommitRecord.lengthMax) else {
        return true
      }
      let stored = bytes.withUnsafeBytes {
        CommitRecord.decode($0, salt: header.salt, home: home, cipher)
      }
      guard stored == record else { return false }
      // A record without extents was written when they had been synced.
      var hashes: [UInt64] = []
      for extent in record.extents {
        guard let bytes = try file.bytesOnDisk(at: extent.offset, length: Int(extent.length)) else {
          return true
        }
        hashes.append(bytes.withUnsafeBytes { CommitRecord.hash($0, at: extent.offset) })
      }
      return hashes.isEmpty || CommitRecord.contentHash(hashes) == record.contentHash
    } catch {
      // The failure itself, told to whoever asks first. Any other one says nothing of the disk.
      return error.code != SystemError.inputOutput
    }
  }
}
