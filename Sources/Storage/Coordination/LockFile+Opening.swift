// Joining the others: who opens the file alone makes it fit for the data file and this start of the
// machine; who does not must find it fit. All under the table lock.
package import Platform

extension LockFile {
  /// Opens, and if needed makes, the lock file of a data file.
  ///
  /// The caller has the data file open. It should check afterwards that the path still leads to it:
  /// another process may have deleted both files in between.
  /// - Parameters:
  ///   - dataFile: nil in tests of the lock file alone.
  ///   - generation: names the state of the data file as its last writer left it.
  ///   - bootIdentifier: names this start of the machine; 0 when unknown, which equals nothing.
  ///   - durability: how the data file will be written; nil for who only reads.
  /// - Throws: `incompatibleLockFile` when a live process uses the file in another way or it is
  ///   something else than a lock file, `alreadyOpen` when all slots are in use, the data file is
  ///   open by another lock file or others write it with another durability, `permissionDenied`,
  ///   `diskFull` and other failures of system calls.
  package static func open(
    dataPath: String, dataFile: (any File)? = nil, fileIdentifier: (UInt64, UInt64),
    generation: (() throws(StorageError) -> UInt64)? = nil, bootIdentifier: UInt64,
    durability: Durability? = nil, fileSystem: any FileSystem, clock: any Clock = MonotonicClock()
  ) throws(StorageError) -> LockFile {
    try withCurrentFile(dataPath, fileSystem) { (file) throws(StorageError) -> LockFile? in
      let subject = LockSubject(
        identifier: fileIdentifier, identity: try dataFile.map(identityForAll))
      if let dataFile, try identityForAll(file) == identityForAll(dataFile) {
        throw .incompatibleLockFile(path: file.path, reason: "it is the Realm file itself")
      }
      let table = try LockTable(file)
      return try table.withLock { () throws(StorageError) -> LockFile? in
        guard try leads(lockPath(dataPath), to: file, fileSystem) else { return nil }
        // Whoever replaces or deletes a file has the table lock. One that comes with the file of
        // before must not make the lock file that of its own: another one could not be opened.
        if let dataFile, try !leads(dataPath, to: dataFile, fileSystem) {
          throw .alreadyOpen(path: dataPath, reason: "it is being replaced")
        }
        guard try table.tryLock(LockByte.use, exclusive: false) else {
          throw .alreadyOpen(path: dataPath, reason: "its files are being deleted")
        }
        let share = try dataFile.map { (dataFile) throws(StorageError) in
          try DomainShare.take(of: dataFile, for: file)
        }
        do throws(StorageError) {
          let isAlone = try table.isAlone()
          var isFirstWriter = false
          if isAlone {
            try table.makeFit(subject, generation, bootIdentifier)
            table.noteDurability(durability)
          } else {
            try table.checkFit(subject)
            isFirstWriter = try table.agree(on: durability, dataPath)
          }
          guard let slot = try table.takeSlot() else {
            throw .alreadyOpen(
              path: dataPath, reason: "by \(LockLayout.slotCount) processes, the most there can be")
          }
          return LockFile(
            table: table, share: share, slot: slot, isFirstOpener: isAlone,
            isFirstWriter: isFirstWriter, path: file.path, clock: clock)
        } catch {
          share?.leave()
          throw error
        }
      }
    }
  }

  private static func identityForAll(_ file: any File) throws(StorageError) -> FileIdentity {
    try Store.converting { () throws(SystemError) in try file.identityForAll() }
  }

  /// The newest version that a data file once had, as far as its lock file tells.
  static func versionOnceKnown(
    dataPath: String, _ fileSystem: any FileSystem
  ) throws(StorageError) -> Version? {
    var words = [UInt64](repeating: 0, count: HeaderWord.count)
    do throws(SystemError) {
      let file = try fileSystem.open(lockPath(dataPath), .noFollow)
      var failure: SystemError?
      words.withUnsafeMutableBytes { buffer in
        do throws(SystemError) { _ = try file.read(into: buffer, at: 0) } catch { failure = error }
      }
      if let failure { throw failure }
    } catch {
      // What is no lock file is refused by who opens it.
      if error.isMissing || error.isLink || error.isDirectory || error.isNoRegularFile {
        return nil
      }
      throw openError(error, lockPath(dataPath))
    }
    guard words[HeaderWord.magic] == LockLayout.magic,
      words[HeaderWord.formatVersion] == LockLayout.formatVersion
    else { return nil }
    let head = DurableHead(rawValue: words[HeaderWord.head])
    return head.isUnknown ? nil : head.version
  }

  private static func openError(_ error: SystemError, _ path: String) -> StorageError {
    if error.isPermission { return .permissionDenied(path: path, reason: error.reason) }
    return error.isOutOfSpace ? .diskFull(error) : .system(error)
  }

  /// Runs `body`, which may delete the data file and the lock file, while nobody has them open.
  ///
  /// - Throws: `alreadyOpen` when anyone has, this process included; besides what `body` throws.
  package static func withExclusiveUse<Value>(
    dataPath: String, fileSystem: any FileSystem, _ body: () throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try withCurrentFile(dataPath, fileSystem) { (file) throws(StorageError) -> Value? in
      let table = try LockTable(file)
      return try table.withLock { () throws(StorageError) -> Value? in
        guard try leads(lockPath(dataPath), to: file, fileSystem) else { return nil }
        guard try table.tryLock(LockByte.use) else {
          throw .alreadyOpen(path: dataPath, reason: "in this process or another one")
        }
        // Given back before the table lock is: else the next opener would find the file in use.
        defer { table.unlock(LockByte.use) }
        return try body()
      }
    }
  }

  /// Runs `body`, which puts another file in the place of the data file, while nobody else has it
  /// open or can open it.
  ///
  /// - Parameter body: gives what the new file is; nil when it has made none.
  /// - Returns: false when someone else has the file open, so that `body` was not run, or when it
  ///   has made no file.
  func replaceDataFile(
    _ body: () throws(StorageError) -> LockSubject?
  ) throws(StorageError) -> Bool {
    guard let table else { return false }
    stopIfForked()
    return try table.withLock { () throws(StorageError) -> Bool in
      guard try table.isAlone(), let subject = try body() else { return false }
      table.beginAnew(subject)
      return true
    }
  }

  static func lockPath(_ dataPath: String) -> String { dataPath + ".lock" }

  /// Opens the lock file and runs `body`, again while that says by nil that the file was deleted
  /// between its opening and its locking.
  private static func withCurrentFile<Value>(
    _ dataPath: String, _ fileSystem: any FileSystem,
    _ body: (any File) throws(StorageError) -> Value?
  ) throws(StorageError) -> Value {
    let path = lockPath(dataPath)
    for _ in 0..<1000 {
      let file: any File
      do throws(SystemError) {
        file = try fileSystem.open(path, [.writable, .create, .noFollow])
      } catch {
        if error.isLink {
          throw .incompatibleLockFile(
            path: path, reason: "it is a symbolic link, which is not followed; remove the link")
        }
        if error.isNoRegularFile {
          throw .incompatibleLockFile(path: path, reason: "it is no regular file; move it away")
        }
        if error.isMissing { throw .parentMissing(path: dataPath) }
        if error.isDirectory { throw .isDirectory(path: path) }
        throw openError(error, path)
      }
      if let value = try body(file) { return value }
    }
    throw .alreadyOpen(path: dataPath, reason: "its lock file is deleted again and again")
  }

  private static func leads(
    _ path: String, to file: any File, _ fileSystem: any FileSystem
  ) throws(StorageError) -> Bool {
    try Store.converting { () throws(SystemError) in
      try Store.leads(path, to: try file.identity(), fileSystem)
    }
  }
}

/// What a lock file belongs to.
struct LockSubject {
  /// By its header.
  let identifier: (UInt64, UInt64)
  /// By the system; nil where a test has no data file.
  let identity: FileIdentity?
}

extension LockTable {
  /// Whether this opening, which shares the use byte, is the only one.
  ///
  /// Right for any format version: all others hold the byte, and none can be between opening and
  /// having it, because this one has the table lock.
  func isAlone() throws(StorageError) -> Bool {
    guard try tryLock(LockByte.use, exclusive: true) else { return false }
    try lock(LockByte.use, exclusive: false)
    return true
  }

  /// Makes the file fit for its only opener: keeps what the last ones have left where it is theirs
  /// to tell, else begins anew.
  fileprivate func makeFit(
    _ file: LockSubject, _ generation: (() throws(StorageError) -> UInt64)?, _ boot: UInt64
  ) throws(StorageError) {
    try refuseForeign()
    let isFit = try findUnfitness(file) == nil
    let oldBoot = isFit ? value(HeaderWord.boot) : 0
    if isFit, boot != 0, oldBoot == boot || PlantedBug.staleBoot.isActive {
      // Head and failed sync stay. Everybody who held anything is dead.
      store(0, HeaderWord.live)
      store(0, HeaderWord.waiting)
      store(0, HeaderWord.loneWriter)
      store(0, HeaderWord.writer)
      if value(HeaderWord.closingSync) != 0 {
        if value(HeaderWord.failedSync) == 0 {
          store(LockFile.failure(SystemError.inputOutput), HeaderWord.failedSync)
        }
        store(0, HeaderWord.closingSync)
      }
      if try !knowsHead(generation) {
        store(0, HeaderWord.head)
        store(0, HeaderWord.committed)
        store(0, HeaderWord.closedGeneration)
      }
      if try keepSegments() { return }
      let slots = words + LockLayout.slotStart / 8
      for index in 0..<LockLayout.slotCount * LockLayout.wordsPerSlot {
        slots[index].store(0, ordering: .relaxed)
      }
      try cut()
      return
    }
    // What a failed sync has left must be written again, unless a restart has surely undone it.
    let failure = isFit && (boot == 0 || oldBoot == 0) ? value(HeaderWord.failedSync) : 0
    try erase()
    store(LockLayout.formatVersion, HeaderWord.formatVersion)
    note(file)
    store(boot, HeaderWord.boot)
    store(failure, HeaderWord.failedSync)
    // The first ticket has a number before it.
    store(1, HeaderWord.nextTicket)
    // Last: a file whose maker was killed before this is begun anew by the next opener.
    words[HeaderWord.isInitialised].store(1, ordering: .releasing)
  }

  /// Whether the head is that of the data file as it is.
  ///
  /// After a clean close it is not when somebody has put back a copy since, which has its own
  /// header; nor when somebody has written to the lock file.
  private func knowsHead(
    _ generation: (() throws(StorageError) -> UInt64)?
  ) throws(StorageError) -> Bool {
    let heads = [HeaderWord.head, HeaderWord.committed].map { DurableHead(rawValue: value($0)) }
    guard heads.allSatisfy(\.isPossible) else { return false }
    let closed = value(HeaderWord.closedGeneration)
    guard closed != 0, let generation else { return true }
    guard value(HeaderWord.closedHead) == value(HeaderWord.head) else { return false }
    return try closed == generation()
  }

  /// Notes of what state of the data file the head is, for who opens it next.
  ///
  /// By the only one who has it open.
  func noteClosed(_ generation: UInt64) {
    store(value(HeaderWord.head), HeaderWord.closedHead)
    store(generation, HeaderWord.closedGeneration)
  }

  /// Makes the file that of another data file, whose newest version nobody has noted yet.
  ///
  /// Only for one who has both to itself.
  fileprivate func beginAnew(_ file: LockSubject) {
    // Before the identifier: a kill in between leaves a lock file of the wrong file, which is begun
    // anew.
    store(0, HeaderWord.head)
    store(0, HeaderWord.committed)
    store(0, HeaderWord.failedSync)
    store(0, HeaderWord.closedGeneration)
    note(file)
  }

  private func note(_ file: LockSubject) {
    store(file.identifier.0, HeaderWord.fileHigh)
    store(file.identifier.1, HeaderWord.fileLow)
    store(file.identity?.device ?? 0, HeaderWord.dataDevice)
    store(file.identity?.inode ?? 0, HeaderWord.dataInode)
  }

  /// Makes sure that what is about to be written to is a lock file, or the beginning of one.
  private func refuseForeign() throws(StorageError) {
    let length = Int(clamping: try fileLength())
    if length == 0 || words[0].load(ordering: .relaxed) == LockLayout.magic { return }
    // The magic is written first, but a full disk cuts it and a power cut keeps no order.
    if length <= LockLayout.keptLength {
      let bytes = UnsafeRawBufferPointer(start: words, count: length)
      let magic = withUnsafeBytes(of: LockLayout.magic.littleEndian) { Array($0) }
      let isBegun = (0...magic.count).contains { count in
        bytes.starts(with: magic.prefix(count)) && bytes.dropFirst(count).allSatisfy { $0 == 0 }
      }
      if isBegun { return }
    }
    throw .incompatibleLockFile(
      path: path,
      reason: "it is something else than a lock file, and was left as it is; move it away, or "
        + "remove it if nothing needs it")
  }

  /// Frees all slots and leaves them the segments that they have, if those are few: cutting the
  /// file and making it longer again takes as long as all else in an opening.
  private func keepSegments() throws(StorageError) -> Bool {
    guard try fileLength() <= UInt64(LockLayout.keptLength) else { return false }
    do throws(StorageError) {
      for slot in 0..<LockLayout.slotCount where holdsPins(slot) { try clear(slot) }
      return true
    } catch {
      // A slot that contradicts itself.
      return false
    }
  }

  /// Makes sure that those who have the file open use it as this process would.
  fileprivate func checkFit(_ file: LockSubject) throws(StorageError) {
    // The boot needs no look: a process that lives was started in this one.
    if let reason = try findUnfitness(file) {
      throw .incompatibleLockFile(path: path, reason: "a live process uses it, but \(reason)")
    }
  }

  /// What is wrong with the header; nil when it fits.
  private func findUnfitness(_ file: LockSubject) throws(StorageError) -> String? {
    guard try fileLength() >= UInt64(LockLayout.baseLength) else { return "it is too short" }
    guard value(HeaderWord.magic) == LockLayout.magic else { return "it is no lock file" }
    let version = value(HeaderWord.formatVersion)
    guard version == LockLayout.formatVersion else {
      return "its format version is \(version), not \(LockLayout.formatVersion)"
    }
    guard value(HeaderWord.isInitialised) == 1 else { return "it is not initialised" }
    if PlantedBug.foreignLockFile.isActive { return nil }
    guard value(HeaderWord.fileHigh) == file.identifier.0,
      value(HeaderWord.fileLow) == file.identifier.1,
      value(HeaderWord.dataDevice) == file.identity?.device ?? 0,
      value(HeaderWord.dataInode) == file.identity?.inode ?? 0
    else {
      return "it belongs to another Realm file"
    }
    return nil
  }

  /// Says how the file is used, by who has it alone.
  fileprivate func noteDurability(_ durability: Durability?) {
    store(durability.map { UInt64($0.rawValue) + 1 } ?? 0, HeaderWord.durability)
  }

  /// Says that nobody writes the file now.
  func forgetDurability() { store(0, HeaderWord.durability) }

  /// Refuses who would write a file with syncs that others write without, or the reverse.
  ///
  /// Here and not by the mark in the data file's header: of those who open it at the same time
  /// nobody may have come to set that.
  ///
  /// - Returns: whether nobody wrote it yet, or does any more, so that this one has chosen.
  fileprivate func agree(
    on durability: Durability?, _ dataPath: String
  ) throws(StorageError) -> Bool {
    guard let durability else { return false }
    let word = value(HeaderWord.durability)
    if word == 0 {
      noteDurability(durability)
      return true
    }
    if word == UInt64(durability.rawValue) + 1 { return false }
    let way = durability == .full ? "without sync" : "with full durability"
    throw .alreadyOpen(path: dataPath, reason: "\(way), in another process")
  }

  // Relaxed: the table lock orders the header's words.
  private func value(_ word: Int) -> UInt64 { words[word].load(ordering: .relaxed) }
  private func store(_ value: UInt64, _ word: Int) { words[word].store(value, ordering: .relaxed) }
}
