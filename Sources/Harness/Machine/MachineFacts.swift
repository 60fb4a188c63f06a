// What decides whether figures of this machine can be relied on, as `doctor` finds it: from the
// kernel's files and by some measurements of a second. Judging is done in MachineFindings.
internal import Foundation
internal import Glibc
internal import Platform

/// Facts of the machine and of the folder that data goes to; nil where they could not be found out.
package struct MachineFacts: Codable, Equatable, Sendable {
  // Processors.
  package var cpu: String?
  /// Those that this process may run on.
  package var cores = 1
  package var coresOnline: Int?
  package var cgroupCpuLimitCores: Double?
  /// Times that the control group's limit has stopped its processes, since it exists.
  package var cgroupThrottled: UInt64?
  package var threadsPerCore: Int?
  package var isVirtual = false
  package var governors: [String] = []
  package var isTurboOn: Bool?
  package var loadAverage: Double?

  // Clock.
  package var clockSource: String?
  package var clockReadNs: Double?
  /// How late sleeps of 1 ms ended: what an open loop adds to its starts.
  package var wakeLateP99Ns: UInt64?

  // Memory.
  package var memoryBytes: UInt64 = 0
  package var memoryAvailableBytes: UInt64?
  package var cgroupMemoryLimitBytes: UInt64?
  /// What the limit leaves now.
  package var cgroupMemoryAvailableBytes: UInt64?
  package var swapUsedBytes: UInt64?
  package var hugePages: String?

  // Disk.
  package var folder: String
  package var fileSystem: String?
  package var fileSystemSource: String?
  package var mountOptions: String?
  package var device: String?
  package var isRotational: Bool?
  /// As the kernel has it: `write back` or `write through`.
  package var writeCache: String?
  package var diskFreeBytes: UInt64?
  package var writeP50Ns: UInt64?
  package var syncP50Ns: UInt64?
  package var syncP99Ns: UInt64?
  package var syncSamples = 0

  // What happened while it watched.
  package var watchedS: Double = 0
  package var disturbance: MachineDisturbance?

  // The tool.
  package var build = BuildFacts.mode
  package var allocator = Allocator.shared.name
  package var countsAllocations = ThreadWork.countsAllocations
  package var countsInstructions = ThreadWork.countsInstructions
  package var openFilesMax: UInt64?
  package var mapsMax: UInt64?

  package init(folder: String) { self.folder = folder }

  /// Reads the kernel's files.
  ///
  /// - Parameter root: where `/proc` and `/sys` are; another folder in tests.
  package init(folder: String, root: String) {
    self.init(folder: folder)
    readProcessors(root)
    readMemory(root)
    readDisk(root)
    clockSource = Self.word(
      root + "/sys/devices/system/clocksource/clocksource0/current_clocksource")
    mapsMax = Self.word(root + "/proc/sys/vm/max_map_count").flatMap { UInt64($0) }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      openFilesMax = UInt64(limit.rlim_cur)
    }
  }

  private static func word(_ path: String) -> String? {
    textOfFile(path)?.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  // MARK: - Processors

  private mutating func readProcessors(_ root: String) {
    let lines = textOfFile(root + "/proc/cpuinfo")?.split(separator: "\n") ?? []
    func value(_ name: String) -> String? {
      lines.first { $0.hasPrefix(name) }?.split(separator: ":", maxSplits: 1).last
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }
    cpu = value("model name")
    isVirtual = value("flags")?.split(separator: " ").contains("hypervisor") ?? false
    if let siblings = value("siblings").flatMap(Int.init),
      let cores = value("cpu cores").flatMap(Int.init), cores > 0
    {
      threadsPerCore = siblings / cores
    }
    cores = ProcessInfo.processInfo.activeProcessorCount
    coresOnline = lines.count { $0.hasPrefix("processor") }
    if coresOnline == 0 { coresOnline = nil }
    cgroupCpuLimitCores = ControlGroup.processorLimit(root)
    cgroupThrottled = ControlGroup.throttling(root)?.throttled
    loadAverage = textOfFile(root + "/proc/loadavg")?.split(separator: " ").first
      .flatMap { Double($0) }
    let folder = root + "/sys/devices/system/cpu"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let found = names.compactMap { Self.word("\(folder)/\($0)/cpufreq/scaling_governor") }
    governors = Set(found).sorted()
    if let text = Self.word(folder + "/intel_pstate/no_turbo") {
      isTurboOn = text == "0"
    } else if let text = Self.word(folder + "/cpufreq/boost") {
      isTurboOn = text == "1"
    }
  }

  // MARK: - Memory

  private mutating func readMemory(_ root: String) {
    var bytes: [String: UInt64] = [:]
    for line in textOfFile(root + "/proc/meminfo")?.split(separator: "\n") ?? [] {
      let words = line.split(whereSeparator: { $0 == " " || $0 == ":" })
      if words.count >= 2, let kilobytes = UInt64(words[1]) {
        bytes[String(words[0])] = kilobytes << 10
      }
    }
    memoryBytes = bytes["MemTotal"] ?? ProcessInfo.processInfo.physicalMemory
    memoryAvailableBytes = bytes["MemAvailable"]
    if let total = bytes["SwapTotal"], let free = bytes["SwapFree"] {
      swapUsedBytes = total - min(free, total)
    }
    cgroupMemoryLimitBytes = ControlGroup.memoryLimit(root)
    cgroupMemoryAvailableBytes = ControlGroup.memoryAvailable(root)
    // As in `always [madvise] never`.
    hugePages = Self.word(root + "/sys/kernel/mm/transparent_hugepage/enabled")
      .flatMap { $0.split(separator: "[").last?.split(separator: "]").first.map(String.init) }
  }

  // MARK: - Disk

  private mutating func readDisk(_ root: String) {
    if let mount = MountPoint.holding(folder, root) {
      fileSystem = mount.type
      fileSystemSource = mount.source
      mountOptions = mount.options
      readDevice(root + "/sys/dev/block/" + mount.device)
    }
    var space = statvfs()
    if statvfs(folder, &space) == 0 {
      diskFreeBytes = UInt64(space.f_bavail) * UInt64(space.f_frsize)
    }
  }

  /// The queue belongs to the whole disk; of a partition it is one folder up.
  private mutating func readDevice(_ link: String) {
    let path = URL(fileURLWithPath: link).resolvingSymlinksInPath()
    guard FileManager.default.fileExists(atPath: path.path) else { return }
    device = path.lastPathComponent
    for disk in [path, path.deletingLastPathComponent()] {
      guard let rotational = Self.word(disk.path + "/queue/rotational") else { continue }
      device = disk.lastPathComponent
      isRotational = rotational == "1"
      writeCache = Self.word(disk.path + "/queue/write_cache")
      return
    }
  }

  // MARK: - Measurements

  /// Measures clock, wake-ups and disk, and watches what else goes on, for about so long.
  package mutating func measure(
    nanoseconds: UInt64, _ interruption: (any Interruption)? = nil
  ) {
    let watch = MachineWatch()
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    clockReadNs = Self.clockCost(clock)
    wakeLateP99Ns = Self.wakeDelays(clock, nanoseconds: min(nanoseconds / 4, 250_000_000))
    let costs = measureDisk(
      folder: folder, nanosecondsMax: max(nanoseconds / 2, 50_000_000), interruption)
    writeP50Ns = costs.writes.isEmpty ? nil : costs.writes[costs.writes.count / 2]
    syncP50Ns = costs.syncs.isEmpty ? nil : costs.syncs[costs.syncs.count / 2]
    syncP99Ns = costs.syncs.count < 100 ? nil : costs.syncs[costs.syncs.count * 99 / 100]
    syncSamples = costs.syncs.count
    let end = start + nanoseconds
    while clock.nanoseconds() < end, interruption?.isRequested() != true {
      sleep(nanoseconds: min(end - min(end, clock.nanoseconds()), 20_000_000))
    }
    watchedS = Double(clock.nanoseconds() - start) / 1e9
    disturbance = watch.disturbance()
  }

  private static func clockCost(_ clock: MonotonicClock) -> Double {
    // The least of some rounds: an interruption is no cost of the clock.
    (0..<10).map { _ in
      let start = clock.nanoseconds()
      for _ in 0..<1_000 { _ = clock.nanoseconds() }
      return Double(clock.nanoseconds() - start) / 1_001
    }.min() ?? 0
  }

  private static func wakeDelays(_ clock: MonotonicClock, nanoseconds: UInt64) -> UInt64? {
    var delays: [UInt64] = []
    let end = clock.nanoseconds() + nanoseconds
    while clock.nanoseconds() < end {
      let due = clock.nanoseconds() + 1_000_000
      sleep(nanoseconds: 1_000_000)
      delays.append(clock.nanoseconds() - min(due, clock.nanoseconds()))
    }
    return delays.count < 100 ? nil : delays.sorted()[delays.count * 99 / 100]
  }

  /// Times of pwrite alone, and of the fdatasync behind it, both sorted.
  private func measureDisk(
    folder: String, nanosecondsMax: UInt64, _ interruption: (any Interruption)?
  ) -> (writes: [UInt64], syncs: [UInt64]) {
    let clock = MonotonicClock()
    guard let file = try? FileCalls.openTemporaryFile("realm-bench-doctor", in: folder) else {
      return ([], [])
    }
    defer { try? FileCalls.remove(file.path) }
    var random = RandomGenerator(seed: 1)
    var (writes, syncs): ([UInt64], [UInt64]) = ([], [])
    let pages = 256
    withUnsafeTemporaryAllocation(byteCount: pages * 4_096, alignment: 4_096) { memory in
      memory.initializeMemory(as: UInt8.self, repeating: 0x5a)
      let page = UnsafeRawBufferPointer(rebasing: memory[0..<4_096])
      do {
        try file.write(UnsafeRawBufferPointer(memory), at: 0)
        try file.synchronize()
        let begin = clock.nanoseconds()
        while syncs.count < 1_000, clock.nanoseconds() - begin < nanosecondsMax,
          interruption?.isRequested() != true
        {
          let start = clock.nanoseconds()
          try file.write(page, at: random.next(upperBound: UInt64(pages)) * 4_096)
          let written = clock.nanoseconds()
          try file.synchronize()
          writes.append(written - start)
          syncs.append(clock.nanoseconds() - written)
        }
      } catch {
        (writes, syncs) = ([], [])
      }
    }
    return (writes.sorted(), syncs.sorted())
  }
}
