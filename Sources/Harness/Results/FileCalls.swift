// System calls on the files of results: each acts on the path itself and never on what a link leads
// to, and tells what went wrong.
internal import Foundation
internal import Glibc
internal import Platform

/// What stands at a path.
enum EntryKind {
  case file(bytes: UInt64)
  case folder
  case link
  /// A pipe, a socket or a device.
  case other

  /// In words, with an article.
  var words: String {
    switch self {
    case .file: "a file"
    case .folder: "a folder"
    case .link: "a link"
    case .other: "a device, pipe or socket"
    }
  }
}

/// The calls.
enum FileCalls {
  private static func check(
    _ call: String, _ path: String, _ body: () -> Int32
  ) throws(SystemError) -> Int32 {
    while true {
      let result = body()
      if result >= 0 { return result }
      if errno != EINTR { throw SystemError(call: call, path: path, code: errno) }
    }
  }

  /// What stands at a path; nil when nothing does.
  /// - Parameter followsLinks: whether a link counts as what it leads to.
  static func kind(
    _ path: String, followsLinks: Bool = false
  ) throws(SystemError) -> EntryKind? {
    var description = stat()
    do throws(SystemError) {
      _ = try check("stat", path) {
        followsLinks ? stat(path, &description) : lstat(path, &description)
      }
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
    switch description.st_mode & S_IFMT {
    case S_IFREG: return .file(bytes: UInt64(description.st_size))
    case S_IFDIR: return .folder
    case S_IFLNK: return .link
    default: return .other
    }
  }

  /// Refuses what is there and no file: whoever opens a pipe waits for somebody who writes to it.
  static func refuseEndless(_ path: String) throws(ResultsError) {
    if case .other? = try? kind(path, followsLinks: true) {
      throw ResultsError("'\(path)' is a device, pipe or socket, no file; take the original")
    }
  }

  /// Makes a folder that was not there; EEXIST when something has its name.
  static func makeFolder(_ path: String) throws(SystemError) {
    _ = try check("mkdir", path) { mkdir(path, 0o777) }
  }

  /// The same with the folders above it, which may be there.
  static func makeFolders(_ path: String) throws(SystemError) {
    if let kind = try kind(path, followsLinks: true) {
      if case .folder = kind { return }
      throw SystemError(call: "mkdir", path: path, code: ENOTDIR)
    }
    let parent = Platform.folder(of: path)
    if parent != path && parent != "." { try makeFolders(parent) }
    do throws(SystemError) { try makeFolder(path) } catch {
      // Another process may have made it meanwhile.
      if error.code != EEXIST { throw error }
    }
  }

  /// Makes a folder for temporary files that nobody else has.
  static func makeTemporaryFolder(_ prefix: String) throws(SystemError) -> String {
    // mkdtemp replaces six letters X at the end by what makes the name new.
    var path = Array(
      (NSTemporaryDirectory() + prefix + String(repeating: "X", count: 6)).utf8CString)
    guard path.withUnsafeMutableBufferPointer({ mkdtemp($0.baseAddress!) }) != nil else {
      throw SystemError(call: "mkdtemp", path: NSTemporaryDirectory(), code: errno)
    }
    return path.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  /// Makes a file for measuring the disk that nobody else has; the caller removes it.
  static func openTemporaryFile(_ name: String, in folder: String) throws(SystemError) -> any File {
    let path = try nameNew("\(folder)/\(name)-\(processIdentifier)", ".tmp") {
      (path) throws(SystemError) in try writeNew("", to: path)
    }
    return try LinuxFileSystem().open(path, [.writable])
  }

  static func remove(_ path: String) throws(SystemError) {
    _ = try check("unlink", path) { unlink(path) }
  }

  /// Removes a folder if nothing is in it.
  static func removeIfEmpty(_ path: String) { _ = rmdir(path) }

  /// Takes the place of a file that has the new name.
  static func rename(_ path: String, to newPath: String) throws(SystemError) {
    _ = try check("rename", path) { Glibc.rename(path, newPath) }
  }

  /// Names in a folder, sorted.
  static func names(in folder: String) throws(SystemError) -> [String] {
    guard let stream = opendir(folder) else {
      throw SystemError(call: "opendir", path: folder, code: errno)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The end of the name of a file that is being written.
  static let partial = ".partial"

  /// Writes a whole file beside a path and renames it: what is there stays until then.
  static func replace(_ path: String, by text: String) throws(SystemError) {
    try replace(path, by: Array(text.utf8))
  }

  static func replace(_ path: String, by bytes: [UInt8]) throws(SystemError) {
    try complete(path, bytes) { (partial) throws(SystemError) in try rename(partial, to: path) }
  }

  /// Makes a whole file that was not there; EEXIST when something has its name by then.
  static func make(_ path: String, of text: String) throws(SystemError) {
    try complete(path, Array(text.utf8)) { (partial) throws(SystemError) in
      try LinuxFileSystem().rename(partial, toNew: path)
    }
  }

  /// Writes a whole file beside a path, which `move` brings there.
  private static func complete(
    _ path: String, _ bytes: [UInt8], _ move: (String) throws(SystemError) -> Void
  ) throws(SystemError) {
    let partial = try nameNew(path, Self.partial) { (name) throws(SystemError) in
      try write([], to: name, flags: O_EXCL)
    }
    do throws(SystemError) {
      try write(bytes, to: partial, flags: O_TRUNC)
      try move(partial)
    } catch {
      // Best effort: the failure is told, and nothing needs the half file.
      try? remove(partial)
      throw error
    }
  }

  /// Makes something of a name that nobody has, with a number before its end if need be.
  private static func nameNew(
    _ start: String, _ end: String, _ make: (String) throws(SystemError) -> Void
  ) throws(SystemError) -> String {
    var number = 1
    while true {
      let name = number == 1 ? start + end : "\(start)-\(number)\(end)"
      do throws(SystemError) {
        try make(name)
        return name
      } catch {
        guard error.alreadyExists, number < 100_000 else { throw error }
        number += 1
      }
    }
  }

  /// Makes a folder of its own, with a number at the end of its name if need be.
  static func makeNewFolder(_ path: String) throws(SystemError) -> String {
    try nameNew(path, "") { (name) throws(SystemError) in try makeFolder(name) }
  }

  /// Writes a whole file that is there, as it stands.
  static func overwrite(_ path: String, by text: String) throws(SystemError) {
    let descriptor = try check("open", path) { open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) }
    defer { close(descriptor) }
    try write(text, to: descriptor, path)
  }

  /// Writes a file that was not there; EEXIST when something has its name.
  static func writeNew(_ text: String, to path: String) throws(SystemError) {
    try write(Array(text.utf8), to: path, flags: O_EXCL)
  }

  /// Makes a file, or makes it longer, so that it has that much of the disk.
  static func allocate(_ bytes: Int, to path: String) throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW
    let descriptor = try check("open", path) { open(path, flags, 0o666) }
    defer { close(descriptor) }
    let code = posix_fallocate(descriptor, 0, off_t(bytes))
    if code != 0 { throw SystemError(call: "posix_fallocate", path: path, code: code) }
  }

  private static func write(
    _ bytes: [UInt8], to path: String, flags: Int32
  ) throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags
    let descriptor = try check("open", path) { open(path, flags, 0o666) }
    defer { close(descriptor) }
    try write(bytes, to: descriptor, path)
  }

  /// Adds to the end of a file, all of it or nothing.
  static func append(_ text: String, to path: String) throws(SystemError) {
    let descriptor = try check("open", path) { open(path, O_WRONLY | O_APPEND | O_CLOEXEC) }
    defer { close(descriptor) }
    let length = lseek(descriptor, 0, SEEK_END)
    do throws(SystemError) {
      try write(text, to: descriptor, path)
    } catch {
      // Best effort: half a line would make the whole file unreadable.
      _ = ftruncate(descriptor, length)
      throw error
    }
  }

  /// Writes to what is open already.
  static func write(
    _ text: String, to descriptor: Int32, _ path: String
  ) throws(SystemError) {
    try write(Array(text.utf8), to: descriptor, path)
  }

  private static func write(
    _ bytes: [UInt8], to descriptor: Int32, _ path: String
  ) throws(SystemError) {
    var bytes = bytes[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0 {
        if errno == EINTR { continue }
        throw SystemError(call: "write", path: path, code: errno)
      }
      bytes = bytes.dropFirst(written)
    }
  }

  /// Not 0, which stands for a hash that is still to come.
  private static let firstSeed: UInt64 = 1

  /// XXH3 of a whole file in 16 hexadecimal digits; nil when it cannot be read.
  static func hash(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 1 << 20, alignment: 4_096) { buffer in
      var sum = firstSeed
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count < 0 { return nil }
        if count == 0 { return hexadecimal(sum) }
        // Each part is the seed of the next one, so that their order counts.
        sum = hash64(buffer.baseAddress!, count: count, seed: sum)
      }
    }
  }

  /// The same of a text.
  static func hash(ofText text: String) -> String {
    let bytes = Array(text.utf8)
    return hexadecimal(
      bytes.withUnsafeBytes { hash64($0.baseAddress!, count: $0.count, seed: firstSeed) })
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The path without links, if it leads to something.
  static func resolved(_ path: String) -> String? {
    guard let pointer = realpath(path, nil) else { return nil }
    defer { free(pointer) }
    return String(cString: pointer)
  }

  /// Whether two paths lead to the same or into one another; a path to nothing counts by its
  /// folder.
  static func overlap(_ one: String, _ other: String) -> Bool {
    guard let one = place(one), let other = place(other) else { return false }
    // Byte by byte: a name that begins with an accent has no '/' of its own before it.
    func lies(_ inner: String, in outer: String) -> Bool {
      inner.utf8.starts(with: (outer + "/").utf8)
    }
    return one == other || lies(one, in: other) || lies(other, in: one)
  }

  /// Whether two paths lead to the same, by the same rule.
  static func isSame(_ one: String, _ other: String) -> Bool {
    place(one).map { $0 == place(other) } ?? false
  }

  private static func place(_ path: String) -> String? {
    if let whole = resolved(path) { return whole }
    // By bytes, for the same reason.
    let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    let start = path.utf8.first == UInt8(ascii: "/") ? "/" : "./"
    guard let folder = resolved(start + parts.dropLast().joined(separator: "/")) else {
      return nil
    }
    return folder + "/" + (parts.last ?? "")
  }
}

/// A lock of a file that several processes add to; the kernel takes it from a process that ends.
struct FileLock {
  /// How long somebody else is waited for: a line takes milliseconds.
  private static let nanosecondsMax: UInt64 = 30_000_000_000

  private let descriptor: Int32

  /// Waits until nobody else has it; makes the file, empty, where there is none.
  ///
  /// - Throws: `EWOULDBLOCK` where somebody keeps it.
  init(making path: String) throws(SystemError) {
    descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw SystemError(call: "open", path: path, code: errno) }
    if !Self.lock(descriptor, LOCK_EX) {
      close(descriptor)
      throw SystemError(call: "flock", path: path, code: EWOULDBLOCK)
    }
  }

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Keeps others from adding while a file is read; nil where there is none, or it is kept: then
  /// the reader sees what there is.
  static func shared(_ path: String) -> FileLock? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    if lock(descriptor, LOCK_SH) { return FileLock(descriptor: descriptor) }
    close(descriptor)
    return nil
  }

  /// False when somebody kept it for so long.
  ///
  /// It asks again and again: a wait in the kernel has no end of its own.
  private static func lock(_ descriptor: Int32, _ kind: Int32) -> Bool {
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    // A file system without locks says so by another error; there nobody is kept out.
    while flock(descriptor, kind | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
      guard clock.nanoseconds() - start < nanosecondsMax else { return false }
      sleep(nanoseconds: 1_000_000)
    }
    return true
  }

  func giveUp() { close(descriptor) }
}

/// A lock of a folder while a run writes to it; the kernel takes it from a process that ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// - Throws: `EWOULDBLOCK` when another run has it.
  init(_ folder: String) throws(SystemError) {
    descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { throw SystemError(call: "open", path: folder, code: errno) }
    // A file system without locks says so by another error; there nobody is kept out.
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK {
      close(descriptor)
      throw SystemError(call: "flock", path: folder, code: EWOULDBLOCK)
    }
  }

  /// Whether another run has the lock of a folder.
  static func isTaken(_ folder: String) -> Bool {
    do throws(SystemError) { _ = try FolderLock(folder) } catch { return error.code == EWOULDBLOCK }
    return false
  }

  deinit {
    // A child that is just being started has the descriptor, too, and would keep the lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
