// What the machine itself takes: a sync, a byte of memory, and how many cores there are. Answers
// name these costs, so that they can be carried over to another disk or processor.
internal import Foundation
internal import Glibc
internal import Platform

/// Costs that no engine can undercut.
package struct MachineCosts: Codable, Equatable, Sendable {
  /// Median of a write and sync of 4 KB.
  package var syncNanoseconds: Double?
  /// Of copying memory that is in no cache; nil where nobody has measured it, as on the machine of
  /// earlier runs.
  package var memoryBytesPerSecond: Double?
  /// Those whose time there is, as far as a container's limit leaves it.
  package var cores: Double

  package init(syncNanoseconds: Double?, memoryBytesPerSecond: Double?, cores: Double) {
    self.syncNanoseconds = syncNanoseconds
    self.memoryBytesPerSecond = memoryBytesPerSecond
    self.cores = cores
  }

  /// Measures them; takes about a second.
  package static func measured(folder: String) -> MachineCosts {
    let syncs = measureRawSync(folder: folder)
    return MachineCosts(
      syncNanoseconds: syncs.isEmpty ? nil : Double(syncs[syncs.count / 2]),
      memoryBytesPerSecond: memoryBandwidth(),
      cores: Processors.usable())
  }

  /// Those of the machine that runs were made on, as far as they tell.
  package init(of runs: [PlanObservation]) {
    let syncs = runs.compactMap(\.rawSyncNanoseconds)
    self.init(
      syncNanoseconds: syncs.isEmpty ? nil : median(syncs), memoryBytesPerSecond: nil,
      cores: runs.map(\.hardware.usableCores).max() ?? 1)
  }

  /// The best of some copies of 64 MiB, read and written bytes together.
  private static func memoryBandwidth() -> Double {
    let length = 64 << 20
    let clock = MonotonicClock()
    let from = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 4_096)
    let to = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 4_096)
    defer {
      from.deallocate()
      to.deallocate()
    }
    // Not `initializeMemory`, which a debug build does a byte at a time.
    memset(from.baseAddress!, 1, length)
    memset(to.baseAddress!, 2, length)
    var best = UInt64.max
    for _ in 0..<5 {
      let start = clock.nanoseconds()
      to.copyMemory(from: UnsafeRawBufferPointer(from))
      best = min(best, clock.nanoseconds() - start)
    }
    return 2 * Double(length) * 1e9 / Double(max(1, best))
  }
}
