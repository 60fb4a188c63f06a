// What a run was measured on: machine, limits, disk, build. Figures without it cannot be compared.
internal import Foundation
internal import Glibc
internal import Platform

/// The machine and build of a run, for run.json.
///
/// Nil fields could not be found out.
package struct EnvironmentRecord: Codable, Sendable {
  package var cpu: String?
  package var cores: Int
  package var cgroupCpuLimitCores: Double?
  package var cgroupMemoryLimitBytes: UInt64?
  package var memoryBytes: UInt64
  package var kernel: String?
  package var hostName: String
  /// Tells machines apart that look alike; nil in runs of versions that did not record it.
  package var machineId: String?
  /// What the clock moves by; nil in runs of versions that did not record it.
  package var clockTickNs: UInt64?
  package var fileSystem: String?
  package var fileSystemSource: String?
  /// pwrite + fdatasync of 4 KB at random places of a warm file, here and now.
  package var rawSyncP50Ns: UInt64?
  package var rawSyncP90Ns: UInt64?
  package var rawSyncSamples: Int
  package var swift: String
  package var build: String
  /// What the executable was built from; nil where that cannot be known.
  package var commit: String?
  package var isDirty: Bool?
  /// The identity that the linker gave the executable; nil in runs of versions that did not record
  /// it.
  package var buildId: String?
  package var allocator: String
  package var tool: String
  package var schemaVersion: Int

  /// Finds out everything; takes up to a second for the disk.
  package init(folder: String) {
    let hardware = Hardware.here()
    cpu = hardware.cpu
    cores = hardware.cores
    cgroupCpuLimitCores = hardware.processorLimit
    cgroupMemoryLimitBytes = ControlGroup.memoryLimit()
    memoryBytes = hardware.memoryBytes
    let release = textOfFile("/proc/sys/kernel/osrelease")
    kernel = release.map { "Linux " + $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    hostName = ProcessInfo.processInfo.hostName
    machineId = MachineIdentity.here()
    clockTickNs = ClockTick.measure()
    let mount = MountPoint.holding(folder)
    fileSystem = mount?.type
    fileSystemSource = mount?.source
    let syncs = measureRawSync(folder: folder)
    rawSyncP50Ns = syncs.isEmpty ? nil : syncs[syncs.count / 2]
    rawSyncP90Ns = syncs.count < 100 ? nil : syncs[syncs.count * 9 / 10]
    rawSyncSamples = syncs.count
    swift = BuildFacts.swiftVersion
    build = BuildFacts.mode
    let built = BuiltCommit.ofThisProcess()
    commit = built?.commit
    isDirty = built?.isDirty
    buildId = BuildIdentity.of(executable: "/proc/self/exe")
    allocator = Allocator.shared.name
    tool = "realm-bench " + ResultSchema.toolVersion
    schemaVersion = ResultSchema.version
  }
}

/// Facts that the compiler knows.
package enum BuildFacts {
  package static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3.1)
      "6.3.1 or later 6.3"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }

  package static var isDebug: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  package static var mode: String { isDebug ? "debug" : "release" }
}

/// The memory allocator of the process: jemalloc when it is linked, which counts what it gave away.
package final class Allocator: Sendable {
  package static let shared = Allocator()

  private typealias Control =
    @convention(c) (
      UnsafePointer<CChar>, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?,
      UnsafeMutableRawPointer?, Int
    ) -> Int32

  private let control: Control?
  /// As in run.json.
  package let name: String

  private init() {
    // jemalloc declares `mallctl` with exactly this type, and nobody else has a function of that
    // name.
    control = dlsym(nil, "mallctl").map { unsafeBitCast($0, to: Control.self) }
    guard let control else {
      name = "system"
      return
    }
    var version: UnsafePointer<CChar>?
    var size = MemoryLayout<UnsafePointer<CChar>?>.size
    let failure = control("version", &version, &size, nil, 0)
    name = "jemalloc " + (failure == 0 ? version.map { String(cString: $0) } ?? "" : "")
  }

  /// Bytes that the program holds, or nil without jemalloc.
  package func allocatedBytes() -> UInt64? {
    guard let control else { return nil }
    // The counters are as of the last epoch.
    var epoch: UInt64 = 1
    guard control("epoch", nil, nil, &epoch, MemoryLayout<UInt64>.size) == 0 else { return nil }
    var bytes = 0
    var size = MemoryLayout<Int>.size
    guard control("stats.allocated", &bytes, &size, nil, 0) == 0 else { return nil }
    return UInt64(bytes)
  }
}

/// Times of pwrite + fdatasync of 4 KB in a folder, sorted; empty when it cannot be written to.
package func measureRawSync(
  folder: String, samples: Int = 100, nanosecondsMax: UInt64 = 500_000_000
) -> [UInt64] {
  let clock = MonotonicClock()
  guard let file = try? FileCalls.openTemporaryFile("raw-sync", in: folder) else { return [] }
  defer { try? FileCalls.remove(file.path) }
  let pages = 256
  var random = RandomGenerator(seed: 1)
  var times: [UInt64] = []
  let begin = clock.nanoseconds()
  withUnsafeTemporaryAllocation(byteCount: pages * 4_096, alignment: 4_096) { memory in
    memory.initializeMemory(as: UInt8.self, repeating: 0x5a)
    do {
      try file.write(UnsafeRawBufferPointer(memory), at: 0)
      try file.synchronize()
      let page = UnsafeRawBufferPointer(rebasing: memory[0..<4_096])
      while times.count < samples, clock.nanoseconds() - begin < nanosecondsMax {
        let offset = random.next(upperBound: UInt64(pages)) * 4_096
        let start = clock.nanoseconds()
        try file.write(page, at: offset)
        try file.synchronize()
        times.append(clock.nanoseconds() - start)
      }
    } catch {
      times = []
    }
  }
  return times.sorted()
}

/// An allocator that a program can be linked with.
package enum AllocatorChoice: String, CaseIterable, Sendable {
  case jemalloc
  case system

  /// Throws when the process has another one, which is a matter of its build.
  ///
  /// - Parameter name: as in run.json.
  package func check(_ name: String) throws(UsageError) {
    if name.hasPrefix(rawValue) { return }
    let remedy =
      switch self {
      case .jemalloc: "build with the trait Jemalloc, and libjemalloc-dev"
      case .system: "build with --disable-default-traits"
      }
    throw UsageError("--allocator \(rawValue): this program has \(name); \(remedy)")
  }
}
