// `doctor`: what it reads from a machine's files, and what each fact is judged to mean.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.ownThreads) struct DoctorTests {
  private let folder = TemporaryFolder()

  /// A machine that nothing is wrong with.
  private func soundMachine() -> MachineFacts {
    var facts = MachineFacts(folder: "/data")
    facts.cores = 8
    facts.coresOnline = 8
    facts.governors = ["performance"]
    facts.isTurboOn = false
    facts.clockSource = "tsc"
    facts.clockReadNs = 22
    facts.wakeLateP99Ns = 90_000
    facts.memoryBytes = 32 << 30
    facts.memoryAvailableBytes = 20 << 30
    facts.fileSystem = "ext4"
    facts.fileSystemSource = "/dev/nvme0n1p2"
    facts.mountOptions = "rw,relatime"
    facts.device = "nvme0n1"
    facts.isRotational = false
    facts.diskFreeBytes = 100 << 30
    facts.writeP50Ns = 2_000
    facts.syncP50Ns = 400_000
    facts.syncP99Ns = 900_000
    facts.syncSamples = 500
    facts.watchedS = 2
    var disturbance = MachineDisturbance()
    disturbance.stealPercent = 0
    disturbance.othersPercent = 0
    disturbance.processorPressurePercent = 0
    facts.disturbance = disturbance
    facts.build = "release"
    facts.allocator = "jemalloc 5"
    facts.openFilesMax = 65_536
    facts.mapsMax = 65_530
    return facts
  }

  @Test func nothingIsSaidAgainstASoundMachine() {
    let findings = soundMachine().findings()
    for finding in findings { #expect(finding.level == .fine, "\(finding)") }
    #expect(Set(findings.map(\.subject)).count == findings.count)
    #expect(DoctorVerb.text(findings, .fine).contains("can be relied on"))
  }

  /// A virtual disk says that it turns, whatever it is: quick syncs are not held against it.
  @Test func virtualDisksAreNotTakenAtTheirWord() {
    var facts = soundMachine()
    facts.device = "vda"
    facts.isRotational = true
    facts.syncP50Ns = 86_000
    facts.syncP99Ns = 120_000
    #expect(facts.findings().allSatisfy { $0.level == .fine })
  }

  private static let faults:
    [(subject: String, level: MachineFinding.Level, change: @Sendable (inout MachineFacts) -> Void)] =
      [
        ("clock", .bad, { $0.clockReadNs = 900 }),
        ("clock", .bad, { $0.clockSource = "hpet" }),
        ("wake-up", .bad, { $0.wakeLateP99Ns = 4_000_000 }),
        ("wake-up", .caution, { $0.wakeLateP99Ns = nil }),
        ("governor", .caution, { $0.governors = ["powersave"] }),
        ("governor", .caution, { $0.isTurboOn = true }),
        ("cores", .bad, { $0.cores = 1 }),
        ("cores", .caution, { $0.cores = 2 }),
        ("cores", .caution, { $0.isVirtual = true }),
        ("container", .bad, { $0.cgroupCpuLimitCores = 1.5 }),
        ("memory", .caution, { $0.swapUsedBytes = 1 << 30 }),
        ("memory", .bad, { $0.memoryAvailableBytes = 1 << 20 }),
        ("memory", .bad, { $0.cgroupMemoryLimitBytes = 64 << 20 }),
        (
          "memory", .bad,
          {
            $0.cgroupMemoryLimitBytes = 4 << 30
            $0.cgroupMemoryAvailableBytes = 100 << 20
          }
        ),
        ("disk", .bad, { $0.fileSystem = "tmpfs" }),
        ("disk", .bad, { $0.fileSystem = "nfs4" }),
        ("disk", .bad, { $0.diskFreeBytes = 1 << 20 }),
        ("disk", .caution, { $0.fileSystem = "overlay" }),
        ("sync", .bad, { $0.syncP50Ns = nil }),
        ("sync", .bad, { $0.syncP50Ns = 900 }),
        ("sync", .bad, { $0.mountOptions = "rw,nobarrier" }),
        (
          "sync", .bad,
          {
            $0.device = "sda"
            $0.isRotational = true
            $0.syncP50Ns = 300_000
          }
        ),
        ("sync", .caution, { $0.syncP99Ns = 40_000_000 }),
        ("pressure", .bad, { $0.disturbance?.stealPercent = 12 }),
        ("pressure", .bad, { $0.disturbance?.othersPercent = 60 }),
        ("pressure", .caution, { $0.disturbance?.processorPressurePercent = 30 }),
        ("build", .bad, { $0.build = "debug" }),
        ("limits", .caution, { $0.openFilesMax = 256 }),
      ]

  @Test(arguments: faults.indices)
  func eachFaultIsFoundWithWhatToDo(_ number: Int) throws {
    let fault = Self.faults[number]
    var facts = soundMachine()
    fault.change(&facts)
    let findings = facts.findings()
    let worse = findings.filter { $0.level != .fine }
    #expect(worse.contains { $0.subject == fault.subject && $0.level == fault.level })
    if fault.level == .bad {
      #expect(worse.first { $0.subject == fault.subject }?.advice != nil)
    }
  }

  /// A folder in place of `/`.
  private func makeRoot(_ files: [String: String]) throws -> String {
    let root = folder.path + "/root"
    for (name, text) in files {
      let path = root + "/" + name
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    return root
  }

  /// Limits of version 1 may be those of a group around the process's own.
  @Test func controlGroupsOfVersionOneAreRead() throws {
    let root = try makeRoot([
      "proc/self/cgroup": "5:memory:/a/b\n4:cpu,cpuacct:/a/b\n3:cpuset:/a\n",
      "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
      "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
      "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "250000\n",
      "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n",
      "sys/fs/cgroup/cpu,cpuacct/a/cpu.stat":
        "nr_periods 40\nnr_throttled 9\nthrottled_time 5\n",
      "sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us": "-1\n",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1000000\n",
      "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "900000\n",
      "sys/fs/cgroup/memory/a/memory.stat": "cache 700000\ntotal_inactive_file 500000\n",
    ])
    let facts = MachineFacts(folder: folder.path, root: root)
    #expect(facts.cgroupCpuLimitCores == 2.5 && facts.cgroupThrottled == 9)
    #expect(facts.cgroupMemoryLimitBytes == 1_000_000)
    #expect(facts.cgroupMemoryAvailableBytes == 600_000)
    #expect(Processors.usable(of: 8, root: root) == 2.5)
    #expect(Processors.usable(of: 2, root: root) == 2)
  }

  /// Containers often see their own group only, in the place of all.
  @Test func controlGroupsOfVersionOneThatLieOutsideAreFoundAtTheTop() throws {
    let root = try makeRoot([
      "proc/self/cgroup": "4:cpu,cpuacct:/docker/abc\n5:memory:/docker/abc\n",
      "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000\n",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
      "sys/fs/cgroup/cpu/cpu.stat": "nr_periods 4\nnr_throttled 1\n",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "67108864\n",
      "sys/fs/cgroup/memory/memory.usage_in_bytes": "1048576\n",
    ])
    let facts = MachineFacts(folder: folder.path, root: root)
    #expect(facts.cgroupCpuLimitCores == 1.5 && facts.cgroupThrottled == 1)
    #expect(facts.cgroupMemoryAvailableBytes == 63 << 20)
    #expect(facts.findings().contains { $0.subject == "memory" && $0.level == .bad })
  }

  /// The files of a machine with a quota, a slow clock and a rotating disk, in a folder.
  @Test func factsAreThoseOfTheKernelsFiles() throws {
    let device = URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path
    let files = [
      "proc/cpuinfo":
        "processor\t: 0\nmodel name\t: Test CPU\nsiblings\t: 4\ncpu cores\t: 2\n"
        + "flags\t\t: fpu hypervisor\nprocessor\t: 1\n",
      "proc/meminfo":
        "MemTotal: 2048 kB\nMemAvailable: 1024 kB\nSwapTotal: 100 kB\nSwapFree: 40 kB\n",
      "proc/loadavg": "1.25 1 1 1/1 1\n",
      "proc/self/cgroup": "0::/job\n",
      "sys/fs/cgroup/job/cpu.max": "150000 100000\n",
      "sys/fs/cgroup/job/cpu.stat": "usage_usec 1\nnr_throttled 17\n",
      "sys/fs/cgroup/job/memory.max": "1048576\n",
      "sys/fs/cgroup/job/memory.current": "1048000\n",
      "sys/fs/cgroup/job/memory.stat": "anon 5\ninactive_file 1000\n",
      "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
      "sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
      "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
      "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
      "sys/dev/block/8:1/partition": "1\n",
      "sys/dev/block/queue/rotational": "1\n",
      "sys/dev/block/queue/write_cache": "write back\n",
      "proc/self/mountinfo":
        "1 0 0:1 / / rw - rootfs rootfs rw\n"
        + "2 1 8:1 / \(device) rw,noatime - ext4 /dev/sda1 rw,nobarrier\n",
    ]
    let root = try makeRoot(files)
    let facts = MachineFacts(folder: folder.path, root: root)
    #expect(facts.cpu == "Test CPU" && facts.threadsPerCore == 2 && facts.isVirtual)
    #expect(facts.coresOnline == 2 && facts.loadAverage == 1.25)
    #expect(facts.cgroupCpuLimitCores == 1.5 && facts.cgroupThrottled == 17)
    #expect(facts.cgroupMemoryLimitBytes == 1_048_576)
    #expect(facts.cgroupMemoryAvailableBytes == 1_576)
    #expect(Processors.usable(of: 4, root: root) == 1.5)
    #expect(facts.memoryAvailableBytes == 1_024 << 10 && facts.swapUsedBytes == 60 << 10)
    #expect(facts.governors == ["powersave"] && facts.isTurboOn == false)
    #expect(facts.clockSource == "hpet" && facts.hugePages == "madvise")
    #expect(facts.fileSystem == "ext4" && facts.fileSystemSource == "/dev/sda1")
    #expect(facts.mountOptions == "rw,noatime,rw,nobarrier")
    #expect(facts.isRotational == true && facts.writeCache == "write back")
  }

  private func doctor(_ words: [String]) throws -> (code: ExitCode, output: String) {
    let output = CollectedOutput()
    let code = try DoctorVerb.run(words, console: output.console())
    return (code, output.output)
  }

  @Test func thisMachineIsMeasuredAndNothingIsLeft() throws {
    let line = ["--path", folder.path, "--duration", "300ms", "--format", "json"]
    let (code, output) = try doctor(line)
    #expect(code == .success)
    let read = try #require(
      try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    let facts = try #require(read["facts"] as? [String: Any])
    #expect((facts["clock_read_ns"] as? Double ?? 0) > 0)
    #expect((facts["sync_samples"] as? Int ?? 0) > 0)
    #expect((read["findings"] as? [[String: Any]])?.count == 12)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    // Tests are debug builds at times: what is bad ends with 4 when that is asked for.
    let strict = try doctor(["--path", folder.path, "--duration", "100ms", "--strict"])
    let isBad = strict.output.contains("are unreliable")
    #expect(strict.code == (isBad ? .inconclusive : .success))
    let markdown = try doctor(["--path", folder.path, "--duration=100ms", "--format=markdown"])
    #expect(markdown.output.contains("| sync |"))
  }

  @Test(arguments: [
    "now", "--path /dev/null", "--path /nowhere/at/all", "--duration 1", "--duration 1ms",
    "--format xml", "--strict=yes", "--pth .",
  ])
  func badInputIsRefused(_ line: String) {
    #expect(throws: UsageError.self) {
      try doctor(line.split(separator: " ").map(String.init))
    }
  }

  /// The file on which the disk is measured would be left.
  @Test func whoIsInterruptedLeavesNothing() throws {
    struct Always: Interruption { func isRequested() -> Bool { true } }
    let folder = TemporaryFolder()
    let output = CollectedOutput()
    let code = try DoctorVerb.run(
      ["--path", folder.path, "--duration", "1h"], console: output.console(),
      interruption: Always())
    #expect(code == .interrupted && output.output.isEmpty && output.errors.contains("interrupted"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
