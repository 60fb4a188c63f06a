// What the kernel's files say of limits and mounts.
internal import Foundation

/// The text of a small file, or nil.
package func textOfFile(_ path: String) -> String? {
  try? String(contentsOfFile: path, encoding: .utf8)
}

/// Limits that the container sets.
enum ControlGroup {
  /// Folders of version 2 that may limit this process, the innermost first.
  private static func folders(_ root: String) -> [String] {
    guard
      let line = textOfFile(root + "/proc/self/cgroup")?.split(separator: "\n").first(
        where: { $0.hasPrefix("0::") })
    else { return [] }
    var path = String(line.dropFirst(3))
    var folders: [String] = []
    while path.count > 1 {
      folders.append(root + "/sys/fs/cgroup" + path)
      path = (path as NSString).deletingLastPathComponent
    }
    return folders + [root + "/sys/fs/cgroup"]
  }

  /// - Parameter root: where `/proc` and `/sys` are.
  static func processorLimit(_ root: String = "") -> Double? {
    let limits = folders(root).compactMap { folder -> Double? in
      guard let words = textOfFile(folder + "/cpu.max")?.split(whereSeparator: \.isWhitespace),
        words.count == 2, let quota = Double(words[0]), let period = Double(words[1])
      else { return nil }
      return quota / period
    }
    return limits.min() ?? versionOneProcessorLimit(root)
  }

  private static func versionOneProcessorLimit(_ root: String) -> Double? {
    let folder = root + "/sys/fs/cgroup/cpu/"
    guard let quota = number(folder + "cpu.cfs_quota_us"), quota > 0,
      let period = number(folder + "cpu.cfs_period_us"), period > 0
    else { return nil }
    return quota / period
  }

  static func memoryLimit(_ root: String = "") -> UInt64? {
    let limits = folders(root).compactMap { number($0 + "/memory.max") }
    let limit = limits.min() ?? number(root + "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    // Version 1 says "no limit" with a huge number.
    return limit.flatMap { $0 < 1e15 ? UInt64($0) : nil }
  }

  /// How often a limit has stopped the processes of one of the groups.
  static func timesThrottled(_ root: String) -> UInt64? {
    folders(root).compactMap { folder -> UInt64? in
      let lines = textOfFile(folder + "/cpu.stat")?.split(separator: "\n") ?? []
      return lines.first { $0.hasPrefix("nr_throttled ") }?.split(separator: " ").last
        .flatMap { UInt64($0) }
    }.max()
  }

  private static func number(_ path: String) -> Double? {
    textOfFile(path).flatMap { Double($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
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
