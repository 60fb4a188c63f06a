// A bound on the memory that the process may use, with the part of the page cache that it fills: a
// control group of the kernel, where the machine lets one be made.
import Foundation

/// The process in a group of its own, until `leave`.
struct MemoryLimit {
  private let group: URL

  /// Moves the process into a group with this much memory for whatever it touches from now on.
  ///
  /// Nil where no such group can be made: that takes the rights of an administrator, and a
  /// hierarchy of groups that counts memory.
  init?(bytes: Int) {
    guard let (parent, limit) = Self.hierarchy() else { return nil }
    group = parent.appendingPathComponent("peers-\(getpid())")
    do {
      try FileManager.default.createDirectory(at: group, withIntermediateDirectories: false)
    } catch { return nil }
    do {
      try Self.write(bytes, to: group.appendingPathComponent(limit))
      try Self.write(Int(getpid()), to: group.appendingPathComponent("cgroup.procs"))
    } catch {
      rmdir(group.path)
      return nil
    }
  }

  /// Moves the process back to where it was.
  func leave() throws {
    let parent = group.deletingLastPathComponent()
    try Self.write(Int(getpid()), to: parent.appendingPathComponent("cgroup.procs"))
    guard rmdir(group.path) == 0 else {
      throw PeerError("\(group.path): \(String(cString: strerror(errno)))")
    }
  }

  /// The process's own group and the name of its limit, in either version of the kernel's
  /// hierarchies.
  private static func hierarchy() -> (group: URL, limit: String)? {
    let lines = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
    for line in lines.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let isOwn = parts[1].split(separator: ",").contains("memory")
      guard isOwn || (parts[0] == "0" && parts[1].isEmpty) else { continue }
      let limit = isOwn ? "memory.limit_in_bytes" : "memory.max"
      let root = URL(fileURLWithPath: isOwn ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup")
      // Inside of a container the path may be that of the machine outside.
      for group in [root.appendingPathComponent(String(parts[2])), root]
      where FileManager.default.fileExists(
        atPath: group.appendingPathComponent("cgroup.procs").path)
      {
        return (group, limit)
      }
    }
    return nil
  }

  private static func write(_ number: Int, to file: URL) throws {
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    try handle.write(contentsOf: Data("\(number)".utf8))
  }
}
