// Files as the benchmark sees them from outside of the engines: sizes, the page cache, who has one
// open.
import CPeersShim
import Foundation
import Glibc

/// Bytes of a file; 0 when there is none.
func sizeOfFile(_ path: String) throws -> Int {
  var status = stat()
  guard stat(path, &status) == 0 else {
    if errno == ENOENT { return 0 }
    throw PeerError("\(path): \(String(cString: strerror(errno)))")
  }
  return Int(status.st_size)
}

/// Nanoseconds of the monotonic clock.
@inline(__always)
func now() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

/// Waits until no descriptor of this process refers to the file, up to 10 s.
///
/// An engine with a thread of its own may close a moment after its last user. There is no event for
/// it.
func waitUntilClosed(_ path: String) throws {
  let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  for _ in 0..<10_000 {
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let isOpen = descriptors.contains { descriptor in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor))
        == real
    }
    if !isOpen { return }
    Thread.sleep(forTimeInterval: 0.001)
  }
  throw PeerError("\(path) is still open")
}

/// Writes all dirty pages of the file system that holds a folder, so that none is written back
/// while a clock runs.
func flushFileSystem(holding folder: String) throws {
  let descriptor = open(folder, O_RDONLY)
  guard descriptor >= 0 else { throw PeerError("\(folder): cannot be opened") }
  defer { close(descriptor) }
  guard peers_sync_file_system(descriptor) == 0 else {
    throw PeerError("\(folder): cannot be synced")
  }
}

/// Syncs a closed file and drops it from the page cache.
///
/// An engine may keep its map of the file for a moment, and what is mapped stays.
/// - Throws: when more than a thousandth of it (and more than 64 pages) stays for seconds.
func dropFromCache(_ path: String) throws {
  let descriptor = open(path, O_RDONLY)
  guard descriptor >= 0 else { throw PeerError("\(path): cannot be opened") }
  defer { close(descriptor) }
  let size = try sizeOfFile(path)
  guard size > 0 else { return }
  let pages = (size + 4095) / 4096
  let start = now()
  while true {
    guard fsync(descriptor) == 0, posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0 else {
      throw PeerError("\(path): cannot be dropped from the page cache")
    }
    let resident = try residentPages(descriptor, size, pages, path)
    if resident <= max(64, pages / 1000) { return }
    guard now() - start < 5_000_000_000 else {
      throw PeerError("\(path): \(resident) of \(pages) pages stay in memory")
    }
    usleep(50_000)
  }
}

private func residentPages(
  _ descriptor: Int32, _ size: Int, _ pages: Int, _ path: String
) throws -> Int {
  guard let map = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0), map != MAP_FAILED else {
    throw PeerError("\(path): cannot be mapped")
  }
  defer { munmap(map, size) }
  var residence = [UInt8](repeating: 0, count: pages)
  guard mincore(map, size, &residence) == 0 else { throw PeerError("\(path): mincore failed") }
  return residence.count { $0 & 1 != 0 }
}

/// Files that this process may have open at once.
func descriptorLimit() -> Int {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  return Int(clamping: limit.rlim_cur)
}

/// Lets the process have as many open files as the system allows.
func raiseDescriptorLimit() {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  limit.rlim_cur = limit.rlim_max
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
