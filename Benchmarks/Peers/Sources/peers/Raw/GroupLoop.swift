// The limit of durable commits by many threads: a bare loop of leaders and followers over one file.
import Foundation
import Glibc

/// A group commit without anything to commit: each thread writes a page, who is free syncs for all.
final class GroupLoop: @unchecked Sendable {
  // @unchecked: everything below the lock is touched only under it.
  private let file: RawFile
  private let lock = NSCondition()
  private let isSideBySide: Bool
  private var pages: SeededRandom
  private var written = 0
  private var durable = 0
  private var isSyncing = false

  /// Pages go to random places, as those of the floor of one thread, or side by side, so that a
  /// group is one extent.
  init(_ file: RawFile, isSideBySide: Bool, seed: Int) {
    self.file = file
    self.isSideBySide = isSideBySide
    pages = SeededRandom(seed: UInt64(seed))
  }

  /// Returns when the page is durable.
  func commit() throws {
    lock.lock()
    defer { lock.unlock() }
    try file.writePage(isSideBySide ? written % file.pages : pages.next(below: file.pages))
    written += 1
    let mine = written
    while durable < mine {
      if isSyncing {
        lock.wait()
        continue
      }
      isSyncing = true
      let target = written
      lock.unlock()
      let result = Result { try file.synchronize() }
      lock.lock()
      isSyncing = false
      try result.get()
      durable = target
      lock.broadcast()
    }
  }
}
