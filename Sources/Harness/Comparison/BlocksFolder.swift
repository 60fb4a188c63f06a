// The folder in which `compare --executables` has its runs while it goes on. One that a compare has
// left which was killed is removed by the next: its own, and nothing that somebody else has put
// there.
internal import Foundation
internal import Glibc
internal import Platform

/// Makes and removes folders of blocks.
enum BlocksFolder {
  private static let name = "compare-blocks"

  /// Makes one, which is known to be in use as long as the lock is kept.
  static func make(in place: String) throws(SystemError) -> (path: String, lock: FolderLock) {
    var tries = 0
    while true {
      let path = try FileCalls.makeNewFolder(place + "/" + name)
      do throws(SystemError) { return (path, try FolderLock(path)) } catch {
        tries += 1
        // Another compare has taken it for one that was left, before it had its lock.
        guard error.isMissing, tries < 10 else { throw error }
      }
    }
  }

  /// Removes what compares have left in a place that were killed.
  ///
  /// Best effort: a folder that cannot be removed is in nobody's way.
  static func removeLeftOver(in place: String) {
    for entry in (try? FileCalls.names(in: place)) ?? [] where isName(entry) {
      let path = place + "/" + entry
      guard case .folder? = try? FileCalls.kind(path), !FolderLock.isTaken(path) else { continue }
      try? remove(path)
    }
  }

  private static func isName(_ entry: String) -> Bool {
    entry == name || entry.hasPrefix(name + "-") && Int(entry.dropFirst(name.count + 1)) != nil
  }

  /// Removes a folder if all that is in it are runs of blocks, to which nobody writes any more.
  private static func remove(_ path: String) throws {
    let runs = try FileCalls.names(in: path)
    guard runs.allSatisfy(isRun) else { return }
    var contents: [FolderContents] = []
    for run in runs {
      guard case .folder? = try FileCalls.kind(path + "/" + run),
        !FolderLock.isTaken(path + "/" + run)
      else { return }
      contents.append(try FolderContents(of: path + "/" + run))
    }
    guard contents.allSatisfy(\.foreign.isEmpty) else { return }
    for (run, content) in zip(runs, contents) {
      try content.removeFiles()
      FileCalls.removeIfEmpty(path + "/" + run)
    }
    FileCalls.removeIfEmpty(path)
  }

  /// As in 12-0: the block, and the side.
  private static func isRun(_ name: String) -> Bool {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 && Int(parts[0]) != nil && ["0", "1"].contains(parts[1])
  }
}
