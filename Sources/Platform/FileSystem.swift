// The seam between the engine and files. Every system call on a file goes through these protocols,
// so that a simulated disk can record, cut, tear, reorder and fail them.
// What may not live here: policy (what to write, when to sync); that is Storage's.

/// How a file is opened.
package struct OpenMode: OptionSet, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }
  /// Reading and writing; without it reading only.
  package static let writable = OpenMode(rawValue: 1)
  /// Made when missing.
  package static let create = OpenMode(rawValue: 2)
  /// Fails when it is there already.
  package static let exclusive = OpenMode(rawValue: 4)
  /// Fails with ELOOP when the path is a symbolic link.
  package static let noFollow = OpenMode(rawValue: 8)
}

/// What one file is, whatever its path: links and relative paths give the same identity.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// Files by path.
package protocol FileSystem: Sendable {
  /// Stores of two numbers are as those of two processes, also within one; 0 is the real process.
  var process: UInt64 { get }
  func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File
  /// An anonymous file in memory that is gone with its last use.
  func openInMemory(name: String) throws(SystemError) -> any File
  /// What file the path leads to now; an error when there is none, or no regular one.
  func identity(of path: String) throws(SystemError) -> FileIdentity
  /// The path with the symbolic links followed that its last component may be, also where they end
  /// at nothing; those of its folders do not matter to who opens files beside it.
  func followingLinks(_ path: String) throws(SystemError) -> String
  func exists(_ path: String) -> Bool
  func isDirectory(_ path: String) -> Bool
  func remove(_ path: String) throws(SystemError)
  /// Takes the place of what has the new name.
  func rename(_ path: String, to newPath: String) throws(SystemError)
  /// Fails with EEXIST when something has the new name.
  func rename(_ path: String, toNew newPath: String) throws(SystemError)
  /// Makes creations, renames and removals in a folder durable.
  func synchronizeFolder(_ path: String) throws(SystemError)
  /// Tells of writes to a file until the watch goes; nil where that cannot be had.
  func watch(_ path: String, _ body: @escaping @Sendable () -> Void) -> FileWatch?
  /// True for network file systems, whose locks and maps cannot be trusted.
  func isOnNetwork(_ path: String) -> Bool
  /// Names this start of the machine that the files are on; 0 when unknown.
  ///
  /// A simulated disk has its own, so that a simulated power cut looks like a restart.
  var bootIdentifier: UInt64 { get }
  /// Whether a store may begin work of its own because some real time has passed: tidying while it
  /// is idle, following what other processes write.
  ///
  /// False where a test or an explored program decides what happens when: work that begins by
  /// chance would take locks that those who hold calls back never expected to be taken.
  var allowsUnpromptedWork: Bool { get }
}

extension FileSystem {
  package var process: UInt64 { 0 }

  package func watch(_ path: String, _ body: @escaping @Sendable () -> Void) -> FileWatch? { nil }

  package func followingLinks(_ path: String) throws(SystemError) -> String { path }

  package var bootIdentifier: UInt64 { systemBootIdentifier }

  package var allowsUnpromptedWork: Bool { true }

  package func identity(of path: String) throws(SystemError) -> FileIdentity {
    try open(path, []).identity()
  }
}

/// One open file.
///
/// Calls may come from several threads.
package protocol File: AnyObject, Sendable {
  var path: String { get }
  func identity() throws(SystemError) -> FileIdentity
  /// The same as other processes see it; different only where a test makes one process look like
  /// several.
  func identityForAll() throws(SystemError) -> FileIdentity
  /// Who may do what with it.
  func permissions() throws(SystemError) -> UInt32
  func setPermissions(_ permissions: UInt32) throws(SystemError)
  /// Gives it to the owner and group of another one, where the system allows it.
  ///
  /// - Returns: whether it is of the same group.
  func takeOwner(of other: any File) -> Bool
  /// Whether any path leads to the file.
  func hasName() throws(SystemError) -> Bool
  /// How many names it has.
  func nameCount() throws(SystemError) -> Int
  /// The same where maps of the file may be kept for another opening of it: whoever opens what has
  /// this identity finds the bytes of the map; nil where that is not sure.
  var lastingIdentity: FileIdentity? { get }
  func length() throws(SystemError) -> UInt64
  /// Grows with zeros or cuts.
  func setLength(_ length: UInt64) throws(SystemError)
  /// Reads up to `buffer.count` bytes; fewer only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemError)
    -> Int
  /// Writes all of `buffer`; continues after short writes.
  func write(_ buffer: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError)
  /// The same, and makes these bytes durable, though perhaps nothing else that was written.
  ///
  /// After an error it is not known what is in the file.
  func writeDurably(_ buffer: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError)
  /// Starts to bring what was written in a range to the disk, so that `synchronize` has less to
  /// wait for.
  ///
  /// A hint; nothing happens where that is impossible.
  func startWriting(_ range: Range<UInt64>)
  /// Lets whole pages of memory that are written from now on go to the disk without a copy in the
  /// page cache, or ends that.
  ///
  /// A hint. Meanwhile a write can fail with `SystemError.isMisaligned` where the disk wants more
  /// than pages.
  func bypassCache(_ isOn: Bool)
  /// What the disk holds at a place, whatever the page cache says of it: after a failed sync that
  /// may be another content. Fewer bytes only at the end of the file; nil where nobody can tell.
  ///
  /// What waits to be written is written first, though perhaps not durably.
  func bytesOnDisk(at offset: UInt64, length: Int) throws(SystemError) -> [UInt8]?
  /// Makes what was written before durable (fdatasync).
  func synchronize() throws(SystemError)
  /// Maps `length` bytes from the file's start for reading; may reach past its end.
  ///
  /// Touching a page reads no other from the disk: see `FileMapping.readAhead`.
  func map(length: Int) throws(SystemError) -> any FileMapping
  /// Maps `length` bytes for reading and writing, shared between processes.
  func mapShared(length: Int) throws(SystemError) -> any FileMapping
  /// Maps `length` bytes so that what this process has written there before can be overwritten
  /// without a call; nil where that could fail, as on a file system that gives changed pages new
  /// places.
  func mapForOverwriting(length: Int) -> (any FileMapping)?
  /// Locks one byte for this open file. Returns false when it is taken and `wait` is false.
  func lockByte(_ byte: Int64, exclusive: Bool, wait: Bool) throws(SystemError) -> Bool
  func unlockByte(_ byte: Int64) throws(SystemError)
  /// Whether another open file holds a lock on the byte.
  func isByteLocked(_ byte: Int64) throws(SystemError) -> Bool
  /// Where a lock begins that another open file holds in a range of bytes; any of them, nil when
  /// there is none.
  func lockedByte(in range: Range<Int64>) throws(SystemError) -> Int64?
}

extension File {
  /// What is at a place: so many bytes, fewer only at the end of the file.
  package func bytes(at offset: UInt64, length: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      do throws(SystemError) {
        count = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch {
        failure = error
        count = 0
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// The same as the page cache has it, or as the disk has it where that can be told.
  package func bytes(
    at offset: UInt64, length: Int, onDisk: Bool
  ) throws(SystemError) -> [UInt8] {
    if onDisk, let bytes = try bytesOnDisk(at: offset, length: length) { return bytes }
    return try bytes(at: offset, length: length)
  }

  package func bytesOnDisk(at offset: UInt64, length: Int) throws(SystemError) -> [UInt8]? { nil }
  package func identityForAll() throws(SystemError) -> FileIdentity { try identity() }
  package func permissions() throws(SystemError) -> UInt32 { 0o666 }
  package func setPermissions(_ permissions: UInt32) throws(SystemError) {}
  package func takeOwner(of other: any File) -> Bool { true }
  package func hasName() throws(SystemError) -> Bool { true }
  package func nameCount() throws(SystemError) -> Int { 1 }
  package var lastingIdentity: FileIdentity? { nil }
  package func writeDurably(
    _ buffer: UnsafeRawBufferPointer, at offset: UInt64
  ) throws(SystemError) {
    try write(buffer, at: offset)
    try synchronize()
  }

  package func startWriting(_ range: Range<UInt64>) {}
  package func bypassCache(_ isOn: Bool) {}
  package func mapForOverwriting(length: Int) -> (any FileMapping)? { nil }
}

/// An address range backed by a file.
///
/// Unmapped when the last reference goes.
package protocol FileMapping: AnyObject, Sendable {
  /// Start of the range. Valid while this object lives, and reading `base` does not keep it alive:
  /// hold the object in a stored property or by `withExtendedLifetime` around the use of the bytes.
  var base: UnsafeMutableRawPointer { get }
  var length: Int { get }
  /// Starts to read what of a range is not in memory from the disk.
  ///
  /// A hint; nothing happens where that is impossible.
  func readAhead(_ range: Range<Int>)
  /// Whether the page at an offset is in memory; may be said of any page of another user's file.
  func isInMemory(_ offset: Int) -> Bool
}

extension FileMapping {
  package func readAhead(_ range: Range<Int>) {}
  package func isInMemory(_ offset: Int) -> Bool { true }
}
