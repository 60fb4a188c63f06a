// What the kernel's files say of limits and mounts.
internal import Foundation

/// The text of a small file, or nil.
package func textOfFile(_ path: String) -> String? {
  try? String(contentsOfFile: path, encoding: .utf8)
}

/// Limits that the container sets, by control groups of version 2 and of version 1, which some
/// machines have side by side.
///
/// `root` is where `/proc` and `/sys` are; another folder in tests.
enum ControlGroup {
  /// How often a limit of processors was used up.
  struct Throttling: Equatable, Sendable {
    /// Stretches of time that the limit is counted in.
    var periods: UInt64
    /// Those of them in which the processes were stopped.
    var throttled: UInt64
  }

  private enum Controller: String {
    case processors = "cpu"
    case memory
  }

  /// Folders that may limit this process, the innermost first.
  ///
  /// One that lies outside of the container cannot be seen, and the group that it stands for is the
  /// uppermost folder then.
  private static func folders(_ root: String, _ controller: Controller) -> [String] {
    let tree = root + "/sys/fs/cgroup"
    var folders: [String] = []
    func add(_ mount: String, _ path: Substring) {
      var path = String(path)
      while path.count > 1 {
        folders.append(mount + path)
        path = (path as NSString).deletingLastPathComponent
      }
      folders.append(mount)
    }
    for line in textOfFile(root + "/proc/self/cgroup")?.split(separator: "\n") ?? [] {
      // `0::/path` of version 2, `4:cpu,cpuacct:/path` of version 1.
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      if parts[1].isEmpty {
        add(tree, parts[2])
      } else if parts[1].split(separator: ",").contains(Substring(controller.rawValue)) {
        for name in Set([String(parts[1]), controller.rawValue]) {
          add("\(tree)/\(name)", parts[2])
        }
      }
    }
    return folders + [tree, "\(tree)/\(controller.rawValue)"]
  }

  static func processorLimit(_ root: String = "") -> Double? {
    folders(root, .processors).compactMap { folder -> Double? in
      let words = textOfFile(folder + "/cpu.max")?.split(whereSeparator: \.isWhitespace)
      let quota =
        words.map { $0.first.flatMap { Double($0) } } ?? number(folder, "cpu.cfs_quota_us")
      let period =
        words.map { $0.last.flatMap { Double($0) } } ?? number(folder, "cpu.cfs_period_us")
      // Version 2 says "no limit" with a word, version 1 with -1.
      guard let quota, let period, quota > 0, period > 0 else { return nil }
      return quota / period
    }.min()
  }

  static func memoryLimit(_ root: String = "") -> UInt64? {
    folders(root, .memory).compactMap { memoryLimit(of: $0) }.min()
  }

  /// What the groups leave of their limits; what the kernel would give back at once counts as free.
  static func memoryAvailable(_ root: String = "") -> UInt64? {
    folders(root, .memory).compactMap { folder -> UInt64? in
      guard let limit = memoryLimit(of: folder),
        let used = number(folder, "memory.current") ?? number(folder, "memory.usage_in_bytes")
      else { return nil }
      let cached =
        line("total_inactive_file", of: folder + "/memory.stat")
        ?? line("inactive_file", of: folder + "/memory.stat") ?? 0
      let held = UInt64(max(0, used)) - min(cached, UInt64(max(0, used)))
      return limit - min(held, limit)
    }.min()
  }

  private static func memoryLimit(of folder: String) -> UInt64? {
    let limit = number(folder, "memory.max") ?? number(folder, "memory.limit_in_bytes")
    // Version 1 says "no limit" with a huge number.
    return limit.flatMap { $0 >= 0 && $0 < 1e15 ? UInt64($0) : nil }
  }

  /// How often a limit has stopped the processes, by the group that was stopped most.
  static func throttling(_ root: String = "") -> Throttling? {
    folders(root, .processors).compactMap { folder -> Throttling? in
      let path = folder + "/cpu.stat"
      return line("nr_throttled", of: path).map {
        Throttling(periods: line("nr_periods", of: path) ?? 0, throttled: $0)
      }
    }.max { $0.throttled < $1.throttled }
  }

  /// The number behind a name in a file of such lines.
  private static func line(_ name: String, of path: String) -> UInt64? {
    textOfFile(path)?.split(separator: "\n").first { $0.hasPrefix(name + " ") }?
      .split(separator: " ").last.flatMap { UInt64($0) }
  }

  private static func number(_ folder: String, _ name: String) -> Double? {
    textOfFile("\(folder)/\(name)").flatMap {
      Double($0.trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }
}

/// The mounted file system that a folder lies on.
struct MountPoint {
  let type: String
  let source: String
  let options: String
  /// Major and minor number, as in `8:1`.
  let device: String

  /// - Parameter root: where `/proc` is.
  static func holding(_ folder: String, _ root: String = "") -> MountPoint? {
    let path = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    var best: (length: Int, mount: MountPoint)?
    for line in textOfFile(root + "/proc/self/mountinfo")?.split(separator: "\n") ?? [] {
      let halves = line.split(separator: " - ", maxSplits: 1)
      guard halves.count == 2 else { continue }
      let left = halves[0].split(separator: " ")
      let right = halves[1].split(separator: " ")
      guard left.count > 5, right.count > 1 else { continue }
      let point = String(left[4])
      let isInside = point == "/" || path == point || path.hasPrefix(point + "/")
      if isInside && point.count >= best?.length ?? 0 {
        let options = ([left[5]] + right.dropFirst(2)).joined(separator: ",")
        best = (
          point.count,
          MountPoint(
            type: String(right[0]), source: String(right[1]), options: options,
            device: String(left[2]))
        )
      }
    }
    return best?.mount
  }
}
