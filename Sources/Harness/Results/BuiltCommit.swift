// Which build a run is of: the identity that the linker gave the executable, and the commit that it
// was built from, where that can be known. What the working copy has now says nothing of an
// executable that was built before.
internal import Foundation
internal import Glibc

/// The commit that an executable was built from.
package struct BuiltCommit: Equatable, Sendable {
  package let commit: String
  /// Whether the working copy had changes beside.
  package let isDirty: Bool

  /// Of this process; nil where it cannot be known.
  static func ofThisProcess() -> BuiltCommit? {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .flatMap { BuiltCommit(executable: $0) }
  }

  /// Nil where it cannot be known.
  ///
  /// It is what the file `<executable>.commit` says, which scripts write that build an executable
  /// for keeping: a commit, and `changed` behind it where there were changes. Without one it is the
  /// commit of the working copy, if the executable lies where a build of that has put it, and no
  /// source is newer.
  package init?(executable: String) {
    if let noted = Self.noted(executable) {
      self = noted
      return
    }
    let folder = (executable as NSString).deletingLastPathComponent
    func git(_ arguments: [String]) -> String? {
      outputOfCommand("/usr/bin/env", ["git", "-C", folder] + arguments)
    }
    func line(_ arguments: [String]) -> String? {
      git(arguments)?.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    guard let top = line(["rev-parse", "--show-toplevel"]), !top.isEmpty,
      Self.isBuildFolder(folder, of: top),
      let built = Self.changed(executable),
      let files = git(["-C", top, "ls-files", "-z", "--", "Sources", "Package.swift"]),
      !Self.hasNewer(than: built, files.split(separator: "\0"), in: top),
      let commit = line(["rev-parse", "HEAD"]), !commit.isEmpty,
      let status = line(["status", "--porcelain", "--untracked-files=no"])
    else { return nil }
    self.commit = commit
    isDirty = !status.isEmpty
  }

  private init(_ commit: String, isDirty: Bool) {
    self.commit = commit
    self.isDirty = isDirty
  }

  /// What the file beside it says, unless the executable is newer.
  private static func noted(_ executable: String) -> BuiltCommit? {
    let path = executable + ".commit"
    guard let words = textOfFile(path)?.split(whereSeparator: \.isWhitespace),
      let commit = words.first, commit.count >= 40, commit.allSatisfy(\.isHexDigit),
      let built = changed(executable), let noted = changed(path), noted >= built
    else { return nil }
    return BuiltCommit(String(commit), isDirty: words.dropFirst().contains("changed"))
  }

  /// Whether it is `<working copy>/<scratch folder>/<machine>/<configuration>`, and no folder
  /// deeper down, where other commits are built.
  private static func isBuildFolder(_ folder: String, of top: String) -> Bool {
    guard folder.hasPrefix(top + "/") else { return false }
    let parts = folder.dropFirst(top.count + 1).split(separator: "/")
    // The manager of packages describes there what it has built.
    return parts.count == 3
      && FileManager.default.fileExists(atPath: folder + "/description.json")
  }

  /// Whether a file, or a folder of one, has changed since; what is gone has changed its folder.
  private static func hasNewer(
    than built: Int64, _ files: [Substring], in top: String
  ) -> Bool {
    var paths = Set(files.map(String.init))
    for file in files where file.contains("/") {
      paths.insert((String(file) as NSString).deletingLastPathComponent)
    }
    return paths.contains { path in changed(top + "/" + path).map { $0 > built } ?? true }
  }

  /// When a file was changed, in nanoseconds.
  private static func changed(_ path: String) -> Int64? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
  }
}

/// The identity that the linker gives each build, the same for the same content.
package enum BuildIdentity {
  /// In hexadecimal; nil where an executable has none.
  package static func of(executable: String) -> String? {
    guard let file = FileHandle(forReadingAtPath: executable) else { return nil }
    defer { try? file.close() }
    func bytes(_ offset: UInt64, _ count: Int) -> [UInt8] {
      guard (try? file.seek(toOffset: offset)) != nil else { return [] }
      return [UInt8]((try? file.read(upToCount: count)) ?? Data())
    }
    /// A number as this machine stores it.
    func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset + count <= bytes.count else { return nil }
      return (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * min($1, 7)) }
    }
    // The header of an ELF file of 64 bits, then its table of segments.
    let header = bytes(0, 64)
    guard header.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1]),
      let table = number(header, 32, 7), let size = number(header, 54, 2),
      let count = number(header, 56, 2), size >= 56
    else { return nil }
    let segments = bytes(UInt64(table), size * count)
    for start in stride(from: 0, to: segments.count, by: size) {
      let notes = 4
      guard number(segments, start, 4) == notes, let offset = number(segments, start + 8, 7),
        let length = number(segments, start + 32, 4), length < 1 << 20
      else { continue }
      let content = bytes(UInt64(offset), length)
      var next = 0
      while let name = number(content, next, 4), let bytes = number(content, next + 4, 4),
        let kind = number(content, next + 8, 4)
      {
        let value = next + 12 + (name + 3) / 4 * 4
        guard value + bytes <= content.count else { break }
        // Kind 3 of the owner GNU.
        if kind == 3, content[(next + 12)...].starts(with: [0x47, 0x4e, 0x55, 0]) {
          return content[value..<value + bytes].map { String(format: "%02x", $0) }.joined()
        }
        next = value + (bytes + 3) / 4 * 4
      }
    }
    return nil
  }
}
