// Files by path on the real system: the FileSystem that the engine uses outside tests.
// Every call is repeated when a signal interrupts it.
internal import Glibc

/// The operating system's files.
package struct LinuxFileSystem: FileSystem {
  package init() {}

  /// Opens a regular file.
  /// - Throws: EISDIR for a folder and EINVAL for a pipe or device, besides what open(2) gives.
  package func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    // O_NONBLOCK: opening a pipe must not wait for its other end. Regular files ignore it.
    var flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    flags |= mode.contains(.writable) ? O_RDWR : O_RDONLY
    if mode.contains(.create) { flags |= O_CREAT }
    if mode.contains(.exclusive) { flags |= O_CREAT | O_EXCL }
    if mode.contains(.noFollow) { flags |= O_NOFOLLOW }
    while true {
      let forks = shim_forks_so_far()
      let descriptor = try repeated("open", path) { Glibc.open(path, flags, 0o666) }
      let file: LinuxFile
      do throws(SystemError) {
        let status = try status(of: descriptor, path)
        try requireRegular(status, path)
        file = LinuxFile(
          descriptor: descriptor, path: path, identity: FileIdentity(status),
          isWritable: mode.contains(.writable))
      } catch {
        closeDescriptor(descriptor)
        throw error
      }
      // Else a child may have the descriptor, and would share its locks. What this opening has made
      // stays.
      if shim_forks_so_far() == forks { return file }
      flags &= ~O_EXCL
    }
  }

  package func identity(of path: String) throws(SystemError) -> FileIdentity {
    var description = stat()
    _ = try repeated("stat", path) { stat(path, &description) }
    try requireRegular(description, path)
    return FileIdentity(description)
  }

  package func followingLinks(_ path: String) throws(SystemError) -> String {
    var path = path
    // As many as the kernel follows.
    for _ in 0..<40 {
      var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
      shim_count_file_call()
      let length = readlink(path, &target, Int(PATH_MAX))
      // No link, or nothing: whoever opens the path says which.
      if length < 0 { return path }
      let link = String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      path = link.hasPrefix("/") ? link : folder(of: path) + "/" + link
    }
    throw SystemError(call: "readlink", path: path, code: ELOOP)
  }

  private func requireRegular(_ description: stat, _ path: String) throws(SystemError) {
    let kind = description.st_mode & S_IFMT
    if kind == S_IFDIR { throw SystemError(call: "open", path: path, code: EISDIR) }
    if kind != S_IFREG { throw SystemError(call: "open", path: path, code: EINVAL) }
  }

  package func openInMemory(name: String) throws(SystemError) -> any File {
    let path = "memory:\(name)"
    // The kernel limits the name, which only shows up in /proc, to 249 bytes.
    let label = String(name.prefix(60))
    let descriptor = try repeated("memfd_create", path) { shim_memory_file(label) }
    return LinuxFile(descriptor: descriptor, path: path)
  }

  package func exists(_ path: String) -> Bool { mode(of: path) != nil }

  package func isDirectory(_ path: String) -> Bool {
    mode(of: path).map { $0 & S_IFMT == S_IFDIR } ?? false
  }

  package func remove(_ path: String) throws(SystemError) {
    _ = try repeated("unlink", path) { unlink(path) }
  }

  package func rename(_ path: String, to newPath: String) throws(SystemError) {
    _ = try repeated("rename", path) { Glibc.rename(path, newPath) }
  }

  package func rename(_ path: String, toNew newPath: String) throws(SystemError) {
    let code = shim_rename_to_new(path, newPath)
    if code != 0 { throw SystemError(call: "rename", path: path, code: code) }
  }

  package func synchronizeFolder(_ path: String) throws(SystemError) {
    let descriptor = try repeated("open", path) {
      Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    defer { closeDescriptor(descriptor) }
    do {
      _ = try repeated("fsync", path) { fsync(descriptor) }
    } catch {
      // A file system that has nothing to sync for a folder says so by EINVAL.
      if error.code != EINVAL { throw error }
    }
  }

  package func watch(_ path: String, _ body: @escaping @Sendable () -> Void) -> FileWatch? {
    FileWatch(path, body)
  }

  /// True when the file, or the folder it would be made in, is on a network file system.
  package func isOnNetwork(_ path: String) -> Bool {
    var magic: UInt32 = 0
    if shim_file_system_magic(path, &magic) != 0,
      shim_file_system_magic(folder(of: path), &magic) != 0
    {
      return false
    }
    return Self.isNetwork(magic: magic)
  }

  /// Whether a magic number of statfs(2) is that of a network file system.
  ///
  /// FUSE is not among them: most of what it serves is local.
  package static func isNetwork(magic: UInt32) -> Bool {
    switch magic {
    case 0x6969,  // NFS
      0x517b, 0xfe53_4d42, 0xff53_4d42,  // SMB, SMB 2, CIFS
      0x0102_1997,  // 9p
      0x5346_414f, 0x6b41_4653,  // AFS by OpenAFS and by the kernel
      0x7375_7245, 0x00c3_6400:  // Coda, Ceph
      true
    default: false
    }
  }

  private func mode(of path: String) -> mode_t? {
    var description = stat()
    shim_count_file_call()
    guard stat(path, &description) == 0 else { return nil }
    return description.st_mode
  }
}

/// The folder part of a path; "." when it has none.
package func folder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// How many calls of the system the process has made for files, by all that goes through
/// `FileSystem`, `File` and `FileMapping`; news of writes by others (`FileWatch`) are not counted.
package func fileCalls() -> UInt64 { shim_file_calls() }

/// Leaves out of them what the calling thread does in `body`: who only looks at a file from time to
/// time does not belong to its work.
package func leavingOutFileCalls<Result>(_ body: () throws -> Result) rethrows -> Result {
  shim_leave_out_file_calls(1)
  defer { shim_leave_out_file_calls(0) }
  return try body()
}

func closeDescriptor(_ descriptor: Int32) {
  shim_count_file_call()
  close(descriptor)
}

/// Makes a system call until no signal interrupts it, and counts each.
///
/// Negative results are failures.
func repeated<Number: SignedInteger>(
  _ call: String, _ path: String, _ body: () -> Number
) throws(SystemError) -> Number {
  while true {
    shim_count_file_call()
    let result = body()
    if result >= 0 { return result }
    let code = errno
    if code != EINTR { throw SystemError(call: call, path: path, code: code) }
  }
}
