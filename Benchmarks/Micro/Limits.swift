// Raw limits of the machine and the spikes behind docs/decisions 0003, 0005 and 0007.
import Foundation
import Platform
import Storage
import Synchronization

/// pwrite + fdatasync of one page at random warm places: the floor of a durable commit.
func rawLimits(_ report: inout Report) throws {
  let file = try LinuxFileSystem().open(folder.path + "/raw", [.writable, .create])
  let pages = 16_384
  let page = [UInt8](repeating: 1, count: 4096)
  for index in 0..<pages {
    try page.withUnsafeBytes { try file.write($0, at: UInt64(index * 4096)) }
  }
  try file.synchronize()
  var random = RandomGenerator(seed: 1)
  try report.latency(
    "raw-write-sync-4-KB", repetitions: repetitions, calls: isQuick ? 100 : 400
  ) { _ in
    let place = Int.random(in: 0..<pages, using: &random) * 4096
    try page.withUnsafeBytes { try file.write($0, at: UInt64(place)) }
    try file.synchronize()
  }
}

/// Taking the newest version: hazard slot and retain as the engine does it, next to a mutex.
func snapshotSpike(_ report: inout Report) throws {
  let store = try Store.open(StoreOptions(path: "", inMemoryIdentifier: "spike"))
  let calls = 1_000_000
  try report.time("pin-newest-hazard-slot", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { _ = try store.pinNewest() }
  }
  let guarded = Mutex(try store.pinNewest())
  report.time("pin-newest-mutex", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { _ = guarded.withLock { $0 } }
  }
  for (name, useHazard) in [("hazard-slot", true), ("mutex", false)] {
    report.time(
      "pin-newest-\(name)-2-threads", repetitions: repetitions, calls: calls
    ) {
      let threads = (0..<2).map { number in
        Thread.start(name: "spike-\(number)") {
          for _ in 0..<calls {
            if useHazard {
              _ = try? store.pinNewest()
            } else {
              _ = guarded.withLock { $0 }
            }
          }
        }
      }
      for thread in threads { thread.join() }
    }
  }
}

/// Record homes: one write and one sync of 4 KB in a home, next to the same with a second page, as
/// a list of homes in the header would need.
func recordSpike(_ report: inout Report) throws {
  let file = try LinuxFileSystem().open(folder.path + "/homes", [.writable, .create])
  let page = [UInt8](repeating: 1, count: 4096)
  for index in 0..<4096 {
    try page.withUnsafeBytes { try file.write($0, at: UInt64(index * 4096)) }
  }
  try file.synchronize()
  var random = RandomGenerator(seed: 2)
  for (name, pages) in [("record-home-and-cold-unit", 2), ("and-header-page", 3)] {
    try report.latency(
      "sync-\(name)", repetitions: repetitions, calls: isQuick ? 100 : 400
    ) { call in
      try page.withUnsafeBytes { bytes in
        try file.write(bytes, at: UInt64((2 + call % 4) * 4096))
        let place = Int.random(in: 16..<4096, using: &random) * 4096
        try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<512]), at: UInt64(place))
        if pages == 3 { try file.write(bytes, at: UInt64(call % 2 * 4096)) }
      }
      try file.synchronize()
    }
  }
}

/// Pins across processes: publishing and withdrawing one, and what the writer pays to look.
func processPinSpike(_ report: inout Report) throws {
  let path = folder.path + "/pins.realm"
  let fileSystem = LinuxFileSystem()
  let lock = try LockFile.open(
    dataPath: path, fileIdentifier: (1, 2), bootIdentifier: 3, fileSystem: fileSystem)
  let other = try LockFile.open(
    dataPath: path, fileIdentifier: (1, 2), bootIdentifier: 3, fileSystem: fileSystem)
  lock.publishHead(version: Version(1), home: 0)
  let calls = 1_000_000
  report.time("process-pin-publish-withdraw", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { lock.withdrawPin(lock.publishPin(Version(1))) }
  }
  let pin = lock.publishPin(Version(1))
  var state = ForeignPinState()
  try report.time("process-pins-unchanged", repetitions: repetitions, calls: calls) {
    for _ in 0..<calls { _ = try other.foreignPins(since: &state) }
  }
  lock.withdrawPin(pin)
  other.close()
  lock.close()
}
