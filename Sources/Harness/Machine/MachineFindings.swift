// What the facts of a machine mean for figures that are measured on it.

/// One thing that makes figures unreliable, or that has to be known to read them.
package struct MachineFinding: Codable, Equatable, Sendable {
  package enum Level: String, Codable, CaseIterable, Comparable, Sendable {
    case fine
    /// Figures are right, but say less than they seem to.
    case caution
    /// Figures of this machine, as it is now, should not be used.
    case bad

    package static func < (left: Level, right: Level) -> Bool {
      allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
    }
  }

  package var subject: String
  package var level: Level
  package var found: String
  /// What to do about it; nil where it is fine, or nothing can be done.
  package var advice: String?
}

extension MachineFacts {
  /// Each subject once, in a fixed order.
  package func findings() -> [MachineFinding] {
    [
      clockFinding, wakeFinding, governorFinding, coresFinding, containerFinding, memoryFinding,
      diskFinding, syncFinding, pressureFinding, buildFinding, countersFinding,
      limitsFinding,
    ]
  }

  private func finding(
    _ subject: String, _ level: MachineFinding.Level, _ found: String, _ advice: String? = nil
  ) -> MachineFinding {
    MachineFinding(subject: subject, level: level, found: found, advice: advice)
  }

  // MARK: - Time

  private var clockFinding: MachineFinding {
    let found =
      (clockSource ?? "unknown clock source")
      + (clockReadNs.map { ", \(decimal($0, places: 0)) ns a reading" } ?? "")
    if let clockReadNs, clockReadNs > 200 {
      return finding(
        "clock", .bad, found,
        "a reading is a system call: short operations are measured too long; boot with "
          + "clocksource=tsc, or in a container allow the vDSO's clock")
    }
    if let clockSource, ["hpet", "acpi_pm", "jiffies", "pit"].contains(clockSource) {
      return finding("clock", .bad, found, "a slow clock source; boot with clocksource=tsc")
    }
    return finding("clock", .fine, found)
  }

  private var wakeFinding: MachineFinding {
    guard let late = wakeLateP99Ns else {
      return finding(
        "wake-up", .caution, "not measured: fewer than 100 sleeps", "give more --duration")
    }
    let found = "sleeps of 1 ms end \(readableDuration(late)) late (p99)"
    if late > Verdict.generatorDelayNanosecondsMax {
      return finding(
        "wake-up", .bad, found,
        "open loops cannot keep their schedule: quieten the machine, or raise the priority")
    }
    return finding("wake-up", late > 300_000 ? .caution : .fine, found)
  }

  // MARK: - Processors

  private var governorFinding: MachineFinding {
    let turbo = isTurboOn.map { $0 ? ", turbo on" : ", turbo off" } ?? ""
    if governors.isEmpty {
      return finding(
        "governor", isVirtual ? .fine : .caution,
        isVirtual ? "hidden by the hypervisor" + turbo : "unknown" + turbo)
    }
    let found = governors.joined(separator: ", ") + turbo
    if governors != ["performance"] {
      return finding(
        "governor", .caution, found,
        "frequency follows the load: cpupower frequency-set -g performance")
    }
    return finding(
      "governor", isTurboOn == true ? .caution : .fine, found,
      isTurboOn == true
        ? "the frequency depends on temperature and on how many cores are busy; compare by turns only"
        : nil)
  }

  private var coresFinding: MachineFinding {
    var found = "\(cores) usable"
    if let coresOnline, coresOnline != cores { found += " of \(coresOnline)" }
    if let threadsPerCore, threadsPerCore > 1 { found += ", \(threadsPerCore) threads a core" }
    if isVirtual { found += ", virtual machine" }
    if let cpu { found += ", \(cpu)" }
    if cores < 2 {
      return finding(
        "cores", .bad, found, "readers and a writer take turns on one processor; use two or more")
    }
    if cores < 4 {
      return finding(
        "cores", .caution, found,
        "with more than \(cores) busy threads, tails are the wait for a processor")
    }
    return finding(
      "cores", isVirtual ? .caution : .fine, found,
      isVirtual ? "its processors may be shared with others; watch 'pressure'" : nil)
  }

  private var containerFinding: MachineFinding {
    var parts: [String] = []
    if let limit = cgroupCpuLimitCores { parts.append("\(decimal(limit, places: 2)) processors") }
    if let limit = cgroupMemoryLimitBytes { parts.append("\(readableBytes(limit)) of memory") }
    guard !parts.isEmpty else { return finding("container", .fine, "no limits") }
    let throttled = cgroupThrottled.map { ", stopped \(grouped(Int($0))) times so far" } ?? ""
    let found = "limited to " + parts.joined(separator: ", ") + throttled
    if let limit = cgroupCpuLimitCores, limit < Double(cores) {
      return finding(
        "container", .bad, found,
        "the limit stops all threads for milliseconds when they use it up: give whole processors "
          + "(a set of them instead of a quota), or use fewer threads than \(decimal(limit, places: 2))"
      )
    }
    return finding("container", cgroupCpuLimitCores == nil ? .fine : .caution, found)
  }

  private var memoryFinding: MachineFinding {
    var found = readableBytes(memoryBytes)
    if let memoryAvailableBytes { found += ", \(readableBytes(memoryAvailableBytes)) available" }
    // Where it is not known how much is in use, the limit is what there may be.
    let left = cgroupMemoryAvailableBytes ?? cgroupMemoryLimitBytes
    if let left { found += ", \(readableBytes(left)) left by the container" }
    if let hugePages { found += ", huge pages \(hugePages)" }
    let least: UInt64 = 512 << 20
    if let left, left < least {
      return finding(
        "memory", .bad, found,
        "the file will not stay in memory; end other programs of the container, or raise its limit")
    }
    if let memoryAvailableBytes, memoryAvailableBytes < least {
      return finding("memory", .bad, found, "the file will not stay in memory; end other programs")
    }
    if let swapUsedBytes, swapUsedBytes > 0 {
      return finding(
        "memory", .caution, found + ", \(readableBytes(swapUsedBytes)) swapped out",
        "pages that come back from the disk look like slow reads: swapoff -a, or a smaller table")
    }
    return finding("memory", .fine, found)
  }

  // MARK: - Disk

  /// File systems that keep everything in memory.
  private static let memoryFileSystems: Set = ["tmpfs", "ramfs"]
  private static let remoteFileSystems: Set = [
    "nfs", "nfs4", "cifs", "smb3", "9p", "fuse", "fuse.sshfs", "virtiofs", "ceph", "glusterfs",
    "drvfs",
  ]

  /// What a hypervisor's disk says of itself is its default, not what lies behind it.
  private var isVirtualDisk: Bool {
    device?.hasPrefix("vd") == true || device?.hasPrefix("xvd") == true
  }

  private var turns: Bool { isRotational == true && !isVirtualDisk }

  private var diskFinding: MachineFinding {
    var parts = [fileSystem ?? "unknown file system"]
    if let fileSystemSource { parts[0] += " on \(fileSystemSource)" }
    if let isRotational {
      let kind =
        isVirtualDisk
        ? "virtual"
        : device?.hasPrefix("nvme") == true ? "NVMe" : isRotational ? "rotating" : "solid state"
      parts.append("\(kind) (\(device ?? "?"))")
    }
    if let writeCache { parts.append(writeCache) }
    if let diskFreeBytes { parts.append("\(readableBytes(diskFreeBytes)) free") }
    let found = parts.joined(separator: ", ")
    guard let fileSystem else { return finding("disk", .caution, found) }
    if Self.memoryFileSystems.contains(fileSystem) {
      return finding(
        "disk", .bad, found, "nothing reaches a disk here: give a folder of a real one by --path")
    }
    if Self.remoteFileSystems.contains(fileSystem) {
      return finding(
        "disk", .bad, found, "a file system of another machine or of the host: use a local disk")
    }
    if let diskFreeBytes, diskFreeBytes < 1 << 30 {
      return finding("disk", .bad, found, "less than 1 GiB is free; old versions need room")
    }
    if fileSystem == "overlay" {
      return finding(
        "disk", .caution, found, "the layers of a container; mount a volume for the data")
    }
    if turns {
      return finding("disk", .caution, found, "each sync waits for the disk to turn")
    }
    return finding("disk", .fine, found)
  }

  /// No device with power-loss protection is faster than this; what is has not asked a device.
  private static let honestSyncNanosecondsMin: UInt64 = 8_000

  private var syncFinding: MachineFinding {
    guard let sync = syncP50Ns else {
      return finding(
        "sync", .bad, "'\(folder)' cannot be written to", "give a folder by --path that can")
    }
    let found =
      "write and fdatasync of 4 KB: p50 \(readableDuration((writeP50Ns ?? 0) + sync))"
      + (syncP99Ns.map { ", p99 of the sync \(readableDuration($0))" } ?? "")
      + ", \(syncSamples) samples"
    let options = mountOptions?.split(separator: ",").map(String.init) ?? []
    if let option = options.first(where: { ["nobarrier", "barrier=0", "eatmydata"].contains($0) }) {
      return finding(
        "sync", .bad, found + "; mounted with \(option)",
        "a sync does not reach the disk: acknowledged commits can be lost in a power cut")
    }
    if sync < Self.honestSyncNanosecondsMin || (writeP50Ns.map { sync < 2 * $0 } ?? false) {
      return finding(
        "sync", .bad, found,
        "too quick to have asked a disk: durable commits are measured as if they were not")
    }
    if turns && sync < 2_000_000 {
      return finding(
        "sync", .bad, found,
        "a rotating disk cannot be that quick: its cache answers; hdparm -W0, or a battery")
    }
    if let tail = syncP99Ns, tail > 10 * sync {
      return finding(
        "sync", .caution, found, "the tail of durable commits is the disk's: take more samples")
    }
    return finding("sync", .fine, found)
  }

  // MARK: - Others

  private var pressureFinding: MachineFinding {
    guard let disturbance else { return finding("pressure", .caution, "not measured") }
    func text(_ name: String, _ percent: Double?) -> String? {
      percent.map { "\(name) \(decimal($0, places: 1)) %" }
    }
    let parts = [
      text("steal", disturbance.stealPercent), text("others", disturbance.othersPercent),
      text("wait for a processor", disturbance.processorPressurePercent),
      text("wait for the disk", disturbance.diskPressurePercent),
      loadAverage.map { "load \(decimal($0, places: 2))" },
    ]
    let found =
      parts.compactMap(\.self).joined(separator: ", ") + " in \(decimal(watchedS, places: 1)) s"
    if let steal = disturbance.stealPercent, steal > Verdict.stealPercentMax {
      return finding(
        "pressure", .bad, found, "the hypervisor gives the processors to others; another host")
    }
    if let others = disturbance.othersPercent, others > Verdict.othersPercentMax {
      return finding("pressure", .bad, found, "end the other processes first")
    }
    let isBusy =
      (disturbance.stealPercent ?? 0) > Verdict.stealPercentNoted
      || (disturbance.othersPercent ?? 0) > Verdict.othersPercentNoted
      || (disturbance.processorPressurePercent ?? 0) > Verdict.pressurePercentNoted
    return finding(
      "pressure", isBusy ? .caution : .fine, found,
      isBusy ? "something else runs; repeat with --replicas and compare" : nil)
  }

  private var buildFinding: MachineFinding {
    let found = "\(build), allocator \(allocator)"
    if build != "release" {
      return finding(
        "build", .bad, found,
        "figures of a debug build say nothing about speed: swift build -c release")
    }
    if allocator == "system" {
      return finding(
        "build", .caution, found, "without jemalloc growth.csv has no allocated bytes")
    }
    return finding("build", .fine, found)
  }

  /// Nothing is wrong with a machine that counts less: columns are empty.
  private var countersFinding: MachineFinding {
    let allocations = countsAllocations ? "allocations are counted" : "no allocations (sanitizer)"
    let instructions =
      countsInstructions
      ? "instructions are counted" : "no instructions: no counter that a program can read"
    return finding("counters", .fine, "\(allocations), \(instructions)")
  }

  private var limitsFinding: MachineFinding {
    let found =
      "\(openFilesMax.map { String($0) } ?? "unknown") open files, "
      + "\(mapsMax.map { String($0) } ?? "unknown") maps"
    if let openFilesMax, openFilesMax < 1_024 {
      return finding("limits", .caution, found, "raise it for many processes: ulimit -n 8192")
    }
    return finding("limits", .fine, found)
  }
}
