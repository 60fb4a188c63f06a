// One open file of the operating system, and maps of it.
internal import Glibc

/// An open descriptor.
///
/// Closed at deinit; its byte locks go with it.
package final class LinuxFile: File {
  package let path: String
  private let descriptor: Int32
  /// What the file is, which never changes; nil while nobody has asked the system.
  private let knownIdentity: FileIdentity?
  private let isWritable: Bool
  /// The number by which forked children let go of the descriptor.
  private let kept: Int32
  /// Whether it ever had a lock.
  private let wasLocked = Atomic(false)
  /// A length that the process's limits allow.
  private let allowedLength = Atomic<UInt64>(0)

  /// Takes over the descriptor.
  init(
    descriptor: Int32, path: String, identity: FileIdentity? = nil, isWritable: Bool = false
  ) {
    self.descriptor = descriptor
    self.path = path
    knownIdentity = identity
    self.isWritable = isWritable
    kept = shim_keep_descriptor_from_children(descriptor)
  }

  deinit {
    // A child that is forked between the next two lines keeps the file open, but no lock.
    if wasLocked.load(ordering: .relaxed) { _ = shim_unlock_all_bytes(descriptor) }
    shim_forget_kept(kept)
    closeDescriptor(descriptor)
  }

  package func identity() throws(SystemError) -> FileIdentity {
    if let knownIdentity { return knownIdentity }
    return FileIdentity(try status())
  }

  /// Nil of a file that is only read: on an overlay it is another one, of the same identity, as
  /// soon as somebody writes to it.
  package var lastingIdentity: FileIdentity? { isWritable ? knownIdentity : nil }

  package func permissions() throws(SystemError) -> UInt32 { try status().st_mode & 0o7777 }

  package func setPermissions(_ permissions: UInt32) throws(SystemError) {
    _ = try repeated("fchmod", path) { fchmod(descriptor, permissions) }
  }

  package func takeOwner(of other: any File) -> Bool {
    guard let other = other as? LinuxFile, let wanted = try? other.status(),
      let own = try? status()
    else { return true }
    if own.st_uid == wanted.st_uid, own.st_gid == wanted.st_gid { return true }
    // Who may not give it away may at least give it to the group.
    return fchown(descriptor, wanted.st_uid, wanted.st_gid) == 0
      || fchown(descriptor, own.st_uid, wanted.st_gid) == 0
  }

  package func hasName() throws(SystemError) -> Bool { try nameCount() > 0 }

  package func nameCount() throws(SystemError) -> Int { Int(try status().st_nlink) }

  package func length() throws(SystemError) -> UInt64 { UInt64(try status().st_size) }

  package func setLength(_ length: UInt64) throws(SystemError) {
    guard let length = off_t(exactly: length) else { throw failure("ftruncate", EFBIG) }
    // Cutting is always allowed.
    if UInt64(length) > lengthLimit(for: UInt64(length)), try self.length() < UInt64(length) {
      throw failure("ftruncate", EFBIG)
    }
    _ = try repeated("ftruncate", path) { ftruncate(descriptor, length) }
  }

  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(SystemError) -> Int {
    guard let start = off_t(exactly: offset) else { throw failure("pread", EINVAL) }
    var done = 0
    while done < buffer.count {
      let received = try repeated("pread", path) {
        pread(descriptor, buffer.baseAddress! + done, buffer.count - done, start + off_t(done))
      }
      if received == 0 { break }
      done += received
    }
    return done
  }

  package func write(_ buffer: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
    guard let start = off_t(exactly: offset) else { throw failure("pwrite", EFBIG) }
    let limit = lengthLimit(for: offset + UInt64(buffer.count))
    var done = 0
    while done < buffer.count {
      if offset + UInt64(done) >= limit { throw failure("pwrite", EFBIG) }
      let written = try repeated("pwrite", path) {
        pwrite(descriptor, buffer.baseAddress! + done, buffer.count - done, start + off_t(done))
      }
      // Going on after no progress could go on for ever.
      if written == 0 { throw failure("pwrite", EIO) }
      if PlantedBug.ignoredShortWrite.isActive { return }
      done += written
    }
  }

  package func writeDurably(
    _ buffer: UnsafeRawBufferPointer, at offset: UInt64
  ) throws(SystemError) {
    guard let start = Int64(exactly: offset) else { throw failure("pwritev2", EFBIG) }
    let end = offset + UInt64(buffer.count)
    if end > lengthLimit(for: end) { throw failure("pwritev2", EFBIG) }
    let code = shim_write_durably(descriptor, buffer.baseAddress!, buffer.count, start)
    if code != 0 { throw failure("pwritev2", code) }
  }

  package func startWriting(_ range: Range<UInt64>) {
    shim_start_writing(descriptor, Int64(range.lowerBound), Int64(range.count))
  }

  package func bypassCache(_ isOn: Bool) { _ = shim_bypass_cache(descriptor, isOn ? 1 : 0) }

  package func bytesOnDisk(at offset: UInt64, length: Int) throws(SystemError) -> [UInt8]? {
    guard let start = Int64(exactly: offset) else { throw failure("pread", EINVAL) }
    var code: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      let received = shim_read_past_cache(descriptor, buffer.baseAddress, length, start)
      if received < 0 { code = Int32(-received) }
      count = max(0, Int(received))
    }
    if code == EOPNOTSUPP { return nil }
    if code != 0 { throw failure("pread", code) }
    return bytes
  }

  package func synchronize() throws(SystemError) {
    _ = try repeated("fdatasync", path) { fdatasync(descriptor) }
  }

  package func map(length: Int) throws(SystemError) -> any FileMapping {
    let mapping = try LinuxMapping(
      descriptor: descriptor, path: path, length: length, protection: PROT_READ)
    // Whoever reads knows what is read next; the kernel, which would read around each page that is
    // not in memory, does not, and drives out of a small memory what is needed.
    shim_count_file_call()
    madvise(mapping.base, length, MADV_RANDOM)
    return mapping
  }

  package func mapShared(length: Int) throws(SystemError) -> any FileMapping {
    while true {
      let forks = shim_forks_so_far()
      let mapping = try LinuxMapping(
        descriptor: descriptor, path: path, length: length, protection: PROT_READ | PROT_WRITE,
        isKeptFromChildren: true)
      // Else a child may have the map, and with it the file's locks.
      if shim_forks_so_far() == forks { return mapping }
    }
  }

  package func mapForOverwriting(length: Int) -> (any FileMapping)? {
    guard shim_overwrites_in_place(descriptor) == 1 else { return nil }
    return try? mapShared(length: length)
  }

  package func lockByte(_ byte: Int64, exclusive: Bool, wait: Bool) throws(SystemError) -> Bool {
    wasLocked.store(true, ordering: .relaxed)
    let code = shim_lock_byte(descriptor, byte, exclusive ? 1 : 0, wait ? 1 : 0)
    if code == 0 { return true }
    if !wait && (code == EAGAIN || code == EACCES) { return false }
    throw failure("lock", code)
  }

  package func unlockByte(_ byte: Int64) throws(SystemError) {
    let code = shim_unlock_byte(descriptor, byte)
    if code != 0 { throw failure("unlock", code) }
  }

  package func isByteLocked(_ byte: Int64) throws(SystemError) -> Bool {
    let answer = shim_byte_is_locked(descriptor, byte)
    if answer < 0 { throw failure("lock query", -answer) }
    return answer == 1
  }

  package func lockedByte(in range: Range<Int64>) throws(SystemError) -> Int64? {
    var start: Int64 = 0
    let answer = shim_first_locked(descriptor, range.lowerBound, Int64(range.count), &start)
    if answer < 0 { throw failure("lock query", -answer) }
    return answer == 1 ? max(start, range.lowerBound) : nil
  }

  /// How long the file may be (RLIMIT_FSIZE), when it is to be so long: for more the kernel would
  /// end the process by a signal.
  ///
  /// The system is asked once for each length, so that writing costs no further call; a limit that
  /// is lowered to less than the file has is not noticed.
  private func lengthLimit(for length: UInt64) -> UInt64 {
    if length <= allowedLength.load(ordering: .relaxed) { return .max }
    var limit = rlimit()
    shim_count_file_call()
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
    if length <= UInt64(limit.rlim_cur) { allowedLength.store(length, ordering: .relaxed) }
    return UInt64(limit.rlim_cur)
  }

  private func status() throws(SystemError) -> stat { try Platform.status(of: descriptor, path) }

  private func failure(_ call: String, _ code: Int32) -> SystemError {
    SystemError(call: call, path: path, code: code)
  }
}

/// What the system knows of an open file.
func status(of descriptor: Int32, _ path: String) throws(SystemError) -> stat {
  var description = stat()
  _ = try repeated("fstat", path) { fstat(descriptor, &description) }
  return description
}

extension FileIdentity {
  init(_ description: stat) {
    self.init(device: UInt64(description.st_dev), inode: UInt64(description.st_ino))
  }
}

/// A shared map of a file.
///
/// It takes address space, not memory, so it may be far longer than the file.
///
/// Touching a page past the file's end stops the process: the owner keeps to the file's length. The
/// words name the file, which somebody else may have cut.
package final class LinuxMapping: FileMapping, @unchecked Sendable {
  // @unchecked: `base` never changes; what lies behind it is guarded by the rules of its owner.
  package let base: UnsafeMutableRawPointer
  package let length: Int
  /// The number by which forked children let go of the map.
  private let kept: Int32
  /// The number by which a page that is not there is told.
  private let guarded: Int32

  /// - Parameter isKeptFromChildren: forked children find zeros there.
  init(
    descriptor: Int32, path: String, length: Int, protection: Int32,
    isKeptFromChildren: Bool = false
  ) throws(SystemError) {
    shim_count_file_call()
    let memory = mmap(nil, length, protection, MAP_SHARED | MAP_NORESERVE, descriptor, 0)
    guard let memory, memory != MAP_FAILED else {
      throw SystemError(call: "mmap", path: path, code: errno)
    }
    base = memory
    self.length = length
    kept = isKeptFromChildren ? shim_keep_map_from_children(memory, length) : -1
    guarded = shim_guard_map(memory, length, path)
  }

  deinit {
    shim_forget_kept(kept)
    // First: another map may be put in this place as soon as it is free.
    shim_end_guard(guarded)
    shim_count_file_call()
    munmap(base, length)
  }

  package func readAhead(_ range: Range<Int>) {
    // The kernel takes whole pages only.
    let start = range.lowerBound / pageLength * pageLength
    // What goes wrong here shows when the bytes are read.
    shim_count_file_call()
    madvise(base + start, range.upperBound - start, MADV_WILLNEED)
  }

  package func isInMemory(_ offset: Int) -> Bool {
    var isResident: UInt8 = 0
    let page = base + offset / pageLength * pageLength
    shim_count_file_call()
    return mincore(page, 1, &isResident) == 0 && isResident & 1 != 0
  }
}
