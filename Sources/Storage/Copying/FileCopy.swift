// A new file with the live blocks of one version, one after the other: children before parents, so
// each block is complete when it is written, and memory is two buffers, whatever the size of the
// file. The file gets its name when all of it is durable; a kill before that leaves
// `NAME.unfinished`, which the next copy to the same place takes over.
internal import Glibc
internal import Platform

/// One copy being written.
struct FileCopy: ~Copyable {
  /// What is copied: a snapshot's version, or what a running transaction sees.
  struct Source {
    let reader: BlockReader
    let root: BlockReference
    let version: Version
    /// More bytes than this cannot be reached unless blocks are reached twice.
    let bytesMax: UInt64
    let path: String
  }

  /// Written by one call, which the kernel keeps as one: see `EarlyWriter.pieceLength`.
  private static let pieceLength = Int(EarlyWriter.pieceLength)
  /// A piece, and the end of a block that begins in it.
  private static let bufferLength = pieceLength + BlockHeader.blockLengthMax + FileCipher.overhead

  private let source: Source
  private let file: any File
  private var header: FileHeader
  private let cipher: FileCipher?
  private var buffer: UnsafeMutableRawPointer
  /// Holds what is being written while `buffer` is filled; nil before the first piece, like
  /// `pieces`.
  private var otherBuffer: UnsafeMutableRawPointer?
  private var pieces: PieceWriter?
  /// Place of the buffer in the file.
  private var start = FileHeader.dataStart
  private var used = 0
  /// Bytes of all blocks so far.
  private var copied: UInt64 = 0

  private init(
    _ source: Source, _ file: any File, _ header: FileHeader, _ cipher: FileCipher?
  ) {
    self.source = source
    self.file = file
    self.header = header
    self.cipher = cipher
    buffer = Self.makeBuffer()
  }

  deinit {
    // First: it reads a buffer.
    pieces?.end()
    buffer.deallocate()
    otherBuffer?.deallocate()
  }

  private static func makeBuffer() -> UnsafeMutableRawPointer {
    .allocate(byteCount: bufferLength, alignment: FileHeader.pageLength)
  }

  // MARK: - Files

  static func unfinishedPath(_ path: String) -> String { path + ".unfinished" }

  /// Writes a file under a name that is free.
  ///
  /// Durable on return, its name too.
  ///
  /// - Parameter original: of which it is a copy; nobody may do more with the copy, but its owner
  ///   may write it. Nil for the usual permissions.
  static func write(
    _ source: Source, toNew path: String, key: [UInt8]?, of original: (any File)?,
    _ fileSystem: any FileSystem
  ) throws(StorageError) {
    if fileSystem.exists(path) { throw .fileExists(path: path) }
    try write(source, beside: path, key: key, fileSystem) { (file) throws(SystemError) in
      guard let original else { return }
      // What the process gives new files, and no more.
      let readAndWritten = try file.permissions() & 0o666
      try restrict(file, to: try original.permissions() & readAndWritten | 0o600)
    } finish: { (file, header) throws(StorageError) in
      do throws(StorageError) {
        try name(file, header, path, fileSystem)
      } catch {
        // Somebody else has made a file of that name meanwhile, and uses it.
        if case .alreadyOpen = error, fileSystem.exists(path) { throw .fileExists(path: path) }
        throw error
      }
    }
  }

  /// Gives a copy its name, for good.
  ///
  /// Nobody may open it before its header is as it stays: who opens it may write another one.
  private static func name(
    _ file: any File, _ header: FileHeader, _ path: String, _ fileSystem: any FileSystem
  ) throws(StorageError) {
    let lockPath = LockFile.lockPath(path)
    // What has that name already may be anybody's, and stays.
    let makesLockFile = !fileSystem.exists(lockPath)
    try LockFile.withExclusiveUse(dataPath: path, fileSystem: fileSystem) {
      () throws(StorageError) in
      // Whoever opens the copy makes a lock file of its own.
      defer { if makesLockFile { try? fileSystem.remove(lockPath) } }
      do throws(SystemError) {
        try fileSystem.rename(unfinishedPath(path), toNew: path)
      } catch {
        throw error.alreadyExists ? .fileExists(path: path) : .system(error)
      }
      do throws(SystemError) {
        try fileSystem.synchronizeFolder(Store.parentFolder(of: path))
        var header = header
        header.flags.remove(.nameUnsynced)
        try Store.write(header, to: file)
      } catch {
        try? fileSystem.remove(path)
        throw error.isOutOfSpace ? .diskFull(error) : .system(error)
      }
    }
  }

  /// Writes a file and puts it in the place of another one.
  ///
  /// A power cut may bring the other one back until the folder was synced, which an opening does.
  ///
  /// - Parameter original: the other one, whose owner and permissions the new one gets.
  /// - Returns: what the new file is.
  static func write(
    _ source: Source, replacing path: String, key: [UInt8]?, of original: any File,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> LockSubject {
    var subject: LockSubject?
    try write(source, beside: path, key: key, fileSystem) { (file) throws(SystemError) in
      let isOfGroup = file.takeOwner(of: original)
      // What the group may do is not meant for another group.
      try restrict(file, to: try original.permissions() & (isOfGroup ? 0o7777 : 0o7707))
    } finish: { (file, header) throws(StorageError) in
      subject = try Store.converting { () throws(SystemError) in
        let identity = try file.identityForAll()
        try fileSystem.rename(unfinishedPath(path), to: path)
        return LockSubject(identifier: header.identifier, identity: identity)
      }
    }
    return subject!
  }

  /// Sets permissions; where that cannot be done it is an error only if more is allowed now.
  private static func restrict(
    _ file: any File, to permissions: UInt32
  ) throws(SystemError) {
    do throws(SystemError) { try file.setPermissions(permissions) } catch {
      if try file.permissions() & ~permissions != 0 { throw error }
    }
  }

  /// Writes a durable file beside a path.
  ///
  /// - Parameters:
  ///   - prepare: says who may use it, before anything is in it.
  ///   - finish: gives it its name.
  private static func write(
    _ source: Source, beside path: String, key: [UInt8]?, _ fileSystem: any FileSystem,
    prepare: (any File) throws(SystemError) -> Void,
    finish: (any File, FileHeader) throws(StorageError) -> Void
  ) throws(StorageError) {
    let file = try openUnfinished(path, fileSystem)
    do throws(StorageError) {
      try Store.converting { () throws(SystemError) in try prepare(file) }
      var (header, cipher) = FileHeader.makeNew(key: key)
      header.flags = .nameUnsynced
      var copy = FileCopy(source, file, header, cipher)
      header = try copy.writeAll()
      try finish(file, header)
    } catch {
      try? fileSystem.remove(unfinishedPath(path))
      throw error
    }
  }

  /// A file that nobody else writes to, empty.
  ///
  /// - Parameter waits: for somebody who makes a file of that name, else that is an error.
  static func openUnfinished(
    _ path: String, _ fileSystem: any FileSystem, waits: Bool = false
  ) throws(StorageError) -> any File {
    let unfinished = unfinishedPath(path)
    while true {
      let file: any File
      var isLocked = false
      do throws(SystemError) {
        file = try fileSystem.open(unfinished, [.writable, .create, .noFollow])
        isLocked = try file.lockByte(Store.creationLockByte, exclusive: true, wait: waits)
        // Between opening and locking someone may have finished it, or given up.
        if isLocked {
          guard try Store.leads(unfinished, to: try file.identity(), fileSystem) else { continue }
          try file.setLength(0)
        }
      } catch {
        if isLocked { try? fileSystem.remove(unfinished) }
        throw Store.openingError(error, path: path)
      }
      if isLocked { return file }
      throw .alreadyOpen(path: path, reason: "a copy of that name is being written")
    }
  }

  // MARK: - Content

  /// Writes blocks, record and header, and syncs them.
  private mutating func writeAll() throws(StorageError) -> FileHeader {
    let root = try copy(source.root, depth: 0)
    try writeRest()
    let page = UInt64(FileHeader.pageLength)
    let length = (start + page - 1) / page * page
    var deltas: [UInt8] = []
    if start > FileHeader.dataStart {
      // Without a checkpoint all of a file is free; one delta says what is not.
      let taken = Run(offset: FileHeader.dataStart, length: start - FileHeader.dataStart)
      SpaceDelta(version: source.version, taken: [taken], dead: []).append(to: &deltas)
    }
    let record = CommitRecord(
      version: source.version, root: root,
      durableVersion: Version(source.version.rawValue - 1), fileLength: length,
      spaceCheckpoint: .none, spaceLog: .none, commits: 0, contentHash: 0, extents: [],
      deltas: deltas)
    header.durableMark = source.version.rawValue
    let encoded = record.encoded(salt: header.salt, home: header.homes[0], cipher)!
    try Store.converting { () throws(SystemError) in
      try file.setLength(length)
      try Store.write(encoded[...], to: file, at: header.homes[0])
      for copy in FileHeader.copies { try Store.write(header.encoded()[...], to: file, at: copy) }
      if !PlantedBug.copyNotSynced.isActive { try file.synchronize() }
    }
    return header
  }

  /// Copies a block and all below it.
  ///
  /// - Returns: its place in the new file.
  private mutating func copy(
    _ reference: BlockReference, depth: Int
  ) throws(StorageError) -> BlockReference {
    if reference.isNone { return .none }
    guard source.reader.provisional != nil || !reference.isProvisional else {
      throw damaged(reference, "the reference points outside the file")
    }
    try source.reader.verifyStored(reference)
    let block = source.reader.pointer(reference)
    let length = BlockHeader.blockLength(block)
    copied += UInt64(length)
    guard depth < 64, copied <= source.bytesMax else {
      throw damaged(reference, "it is reached more than once")
    }
    var children: [BlockReference] = []
    if BlockHeader.kind(block).isNode {
      children.reserveCapacity(BlockHeader.count(block))
      for index in 0..<BlockHeader.count(block) {
        children.append(try copy(BlockHeader.reference(block, index), depth: depth + 1))
      }
    }
    let overhead = cipher == nil ? 0 : FileCipher.overhead
    let place = start + UInt64(used)
    let target = buffer + used + overhead
    memcpy(target, block, length)
    for (index, child) in children.enumerated() { BlockHeader.setReference(target, index, child) }
    let birth = reference.isProvisional ? source.version : BlockHeader.birth(block)
    BlockHeader.setBirth(target, birth)
    if let cipher {
      BlockHeader.setChecksum(target, 0)
      cipher.seal(target, length, at: place)
    } else {
      BlockHeader.setChecksum(
        target,
        BlockHeader.expectedChecksum(target, length: length, at: place, salt: header.salt))
    }
    let copy = BlockReference(offset: place, BirthTag(birth))
    used += overhead + length
    let rest = Self.pieceLength - Int(start % EarlyWriter.pieceLength)
    if used >= rest { try startPiece(rest) }
    return copy
  }

  /// Starts to write the first bytes of the buffer, and goes on in the other one.
  private mutating func startPiece(_ count: Int) throws(StorageError) {
    let pieces = pieces ?? PieceWriter(file)
    self.pieces = pieces
    let bytes = UnsafeRawBufferPointer(start: buffer, count: count)
    try Store.converting { () throws(SystemError) in try pieces.write(bytes, at: start) }
    // What was being written from the other one has been.
    let next = otherBuffer ?? Self.makeBuffer()
    otherBuffer = buffer
    used -= count
    start += UInt64(count)
    memcpy(next, buffer + count, used)
    buffer = next
  }

  /// Writes what is left in the buffer, when all before it is written.
  private mutating func writeRest() throws(StorageError) {
    let bytes = UnsafeRawBufferPointer(start: buffer, count: used)
    try Store.converting { () throws(SystemError) in
      try pieces?.finish()
      try file.write(bytes, at: start)
    }
    start += UInt64(used)
    used = 0
  }

  private func damaged(_ reference: BlockReference, _ reason: String) -> StorageError {
    .damaged(
      path: source.path, block: reference.offset, version: source.version.rawValue,
      reason: reason)
  }
}

extension Store {
  /// Writes a compact file with the newest version, or that of a snapshot of this store.
  ///
  /// Durable on return; after an error there is no file.
  ///
  /// - Throws: `fileExists` when something has the name, `damaged` when a block is, and what the
  ///   disk says.
  /// - Complexity: O(live bytes); memory does not grow with the file.
  package func writeCopy(
    to path: String, of snapshot: Snapshot? = nil, encryptionKey: [UInt8]? = nil
  ) throws(StorageError) {
    let snapshot = if let snapshot { snapshot } else { try pinNewest() }
    // What is copied is in the file, and stays.
    try waitForDurability(snapshot.version)
    try FileCopy.write(
      try source(snapshot), toNew: path, key: encryptionKey, of: isInMemory ? nil : file,
      options.fileSystem)
    withExtendedLifetime(snapshot) {}
  }

  func source(_ snapshot: Snapshot) throws(StorageError) -> FileCopy.Source {
    FileCopy.Source(
      reader: snapshot.reader, root: snapshot.root, version: snapshot.version,
      bytesMax: try Store.converting { () throws(SystemError) in try file.length() }, path: path)
  }
}

extension WriteTransaction {
  /// Writes a compact file with what the transaction has made of its base so far: what is below
  /// `root`.
  ///
  /// As `Store.writeCopy`.
  package func writeCopy(to path: String, encryptionKey: [UInt8]? = nil) throws(StorageError) {
    try store.writeDeferred(before: self)
    let length = try Store.converting { () throws(SystemError) in try store.file.length() }
    let source = FileCopy.Source(
      reader: editor.reader, root: root, version: version,
      bytesMax: length + UInt64(editor.provisionalBytes), path: store.path)
    try FileCopy.write(
      source, toNew: path, key: encryptionKey, of: store.isInMemory ? nil : store.file,
      store.options.fileSystem)
  }
}
