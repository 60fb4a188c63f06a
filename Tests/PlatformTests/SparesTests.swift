// What is kept for a moment after its last user: found again once, and let go by itself.
import Glibc
import Platform
import TestSupport
import Testing

/// One at a time: what is kept belongs to the whole process.
@Suite(.serialized, .ownThreads) struct SparesTests {
  /// Says when it goes.
  private final class Kept: Sendable {
    let isGone: Monitor<Bool>

    init(_ isGone: Monitor<Bool>) { self.isGone = isGone }

    deinit {
      isGone.withLock { $0 = true }
      isGone.notifyAll()
    }
  }

  private func use(_ inode: UInt64, length: Int = 1) -> Spares.Use {
    // No file has this device.
    Spares.Use(.reading, of: FileIdentity(device: .max, inode: inode), length: length)
  }

  @Test func isFoundOnceAndForItsUseOnly() {
    let isGone = Monitor(false)
    Spares.keep(Kept(isGone), for: use(1))
    #expect(Spares.take(use(2)) == nil)
    #expect(Spares.take(use(1, length: 2)) == nil)
    let other = Spares.Use(.coordination, of: FileIdentity(device: .max, inode: 1), length: 1)
    #expect(Spares.take(other) == nil)
    // Unless the machine has taken half a second for this.
    let found = Spares.take(use(1))
    #expect(found is Kept || isGone.withLock { $0 })
    #expect(Spares.take(use(1)) == nil)
    if found != nil { #expect(!isGone.withLock { $0 }) }
  }

  @Test func goesByItself() {
    // Twice: the thread that lets go ends, and begins again.
    for _ in 0..<2 {
      let isGone = Monitor(false)
      Spares.keep(Kept(isGone), for: use(3))
      #expect(isGone.wait(nanoseconds: waitLimitNanoseconds) { $0 })
      #expect(Spares.take(use(3)) == nil)
    }
  }

  @Test func allGoAtOnce() {
    let kept = (0..<3).map { _ in Monitor(false) }
    for (number, isGone) in kept.enumerated() {
      Spares.keep(Kept(isGone), for: number == 0 ? nil : use(4))
    }
    Spares.drop()
    #expect(kept.allSatisfy { $0.withLock { $0 } })
  }

  @Test func onlyAFewStay() {
    let first = Monitor(false)
    Spares.keep(Kept(first), for: use(5))
    for _ in 0..<16 { Spares.keep(Kept(Monitor(false)), for: use(6)) }
    #expect(first.withLock { $0 })
  }

  /// On an overlay a file that was opened for reading only becomes another one when somebody writes
  /// to it.
  @Test func onlyFilesThatAreWrittenHaveALastingIdentity() throws {
    let path = "/tmp/spares-\(processIdentifier)"
    let system = LinuxFileSystem()
    let file = try system.open(path, [.writable, .create])
    defer { unlink(path) }
    #expect(try file.lastingIdentity == file.identity())
    #expect(try system.open(path, []).lastingIdentity == nil)
    #expect(try system.openInMemory(name: "spares").lastingIdentity == nil)
  }
}
