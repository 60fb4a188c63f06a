// The parser: what it accepts, and every refusal with its text, because users script against both.
import Harness
import TestSupport
import Testing

@Suite(.ownThreads) struct CommandLineTests {
  private func settings(
    _ line: String, _ workload: WorkloadKind = .readersWriter
  ) throws -> RunSettings {
    let words = line.split(separator: " ").map(String.init)
    let flags = try FlagValues(words, known: RunFlags.known)
    return try RunFlags.settings(flags, for: workload).0
  }

  /// Runs in processes of their own get the words of the whole, without what concerns it alone;
  /// also in the forms that other tools have.
  @Test func wordsForAPartLeaveOutFlagsWithTheirValues() {
    func words(_ line: String) -> String {
      FlagValues.words(
        line.split(separator: " ").map(String.init), without: ["output", "overwrite", "replicas"],
        known: RunFlags.known
      ).joined(separator: " ")
    }
    #expect(words("mixed --output a --mix B --replicas=3 --overwrite") == "mixed --mix B")
    #expect(words("mixed -o a --rate 5/s") == "mixed --rate 5/s")
    #expect(words("-o=a mixed --keep-file") == "mixed --keep-file")
    #expect(words("--path --output") == "--path --output")
    #expect(words("mixed --output a -- --output b") == "mixed -- --output b")
  }

  private func refusal(_ line: String, _ workload: WorkloadKind = .readersWriter) -> String {
    do {
      _ = try settings(line, workload)
      return ""
    } catch {
      return (error as? UsageError)?.message ?? "\(error)"
    }
  }

  @Test func everyFlagIsRead() throws {
    let read = try settings(
      "--readers 3 --writers 2 --objects 500 --value-size 1KiB --duration 1.5s --warmup 0s"
        + " --batch 20 --rate 2000/s --arrivals poisson --read-keys zipf:0.9 --refresh-every 4"
        + " --durability memory --pins 7 --pin-every 3 --seed 18446744073709551615"
        + " --interval 250ms --path /tmp/x.realm --keep-file --output /tmp/o --overwrite"
        + " --format json --invariants I10,I1 --strict --engine realm"
        + " --threshold write.response_p99_ns<2000000 --threshold=file_bytes<=1000")
    #expect(read.readers == 3 && read.writers == 2 && read.objects == 500 && read.batch == 20)
    #expect(read.valueSize == ValueSize(minimum: 1_024, maximum: 1_024))
    #expect(read.durationNanoseconds == 1_500_000_000 && read.warmupNanoseconds == 0)
    #expect(read.ratePerSecond == 2_000 && read.arrivals == .poisson)
    #expect(read.readKeys == .zipf(exponent: 0.9) && read.refreshEvery == 4)
    #expect(read.durability == .memory && read.pins == 7 && read.pinEvery == 3)
    #expect(read.seed == .max && read.intervalNanoseconds == 250_000_000)
    #expect(read.path == "/tmp/x.realm" && read.keepsFile && read.output == "/tmp/o")
    #expect(read.overwrites && read.format == .json && read.isStrict)
    #expect(read.invariants == [.snapshotStability, .spaceAccounting])
    #expect(read.thresholds.map(\.column) == ["response_p99_ns", "file_bytes"])
    #expect(try settings("--ops 5").operations == 5)
    #expect(try settings("--check-rate 0.25").checkRate == 0.25)
    let full = try settings("--invariants full")
    #expect(full.checkRate == 1 && full.invariants == WorkloadKind.readersWriter.invariants)
    #expect(full.command.contains("--invariants full") && full.plan.checksFully)
    #expect(try settings("--check-rate 0.25").command.contains("--check-rate 0.25"))
    #expect(try settings("--invariants none").invariants.isEmpty)
    #expect(try settings("--quick --readers 9").readers == 9)
    #expect(try settings("--objects 3").batch == 3)
  }

  @Test(
    arguments: [
      ("--reader 3", "unknown flag '--reader'; did you mean '--readers'?"),
      ("-readers 3", "unknown flag '-readers'; did you mean '--readers'?"),
      ("--zzzzzzzzz", "unknown flag '--zzzzzzzzz'; see 'realm-bench' for help"),
      ("--seed 1 --seed 2", "--seed is given twice"),
      ("--quick=yes", "--quick takes no value, but has 'yes'"),
      ("--readers", "--readers needs a value: N"),
      ("--readers --writers 1", "--readers needs a value: N"),
      ("--readers=", "--readers needs a value: N"),
      ("--readers x", "--readers needs a whole number, not 'x'"),
      ("--readers -1", "--readers needs a whole number, not '-1'"),
      ("--readers 9999", "--readers: 9999 is not between 0 and 1024"),
      (
        "--readers 99999999999999999999",
        "--readers: 99999999999999999999 is not between 0 and 1024"
      ),
      ("--batch 0", "--batch: 0 is not between 1 and 1000000"),
      ("--duration 30", "--duration: '30' has no unit; write a duration such as 30s or 500ms"),
      (
        "--duration 5sek",
        "--duration: 'sek' is not a unit of a duration (ns, us, ms, s, m, h, d); did you mean 5s?"
      ),
      ("--duration 0s", "--duration is 0"),
      ("--duration soon", "--duration needs a duration such as 30s or 500ms, not 'soon'"),
      ("--value-size 100", "--value-size: '100' has no unit; write a size such as 100B or 4KiB"),
      (
        "--value-size 4KB",
        "--value-size: 'KB' is a power of 1,000 for some and of 1,024 for others; write 4KiB, or 4000B"
      ),
      ("--value-size 0.3B", "--value-size: '0.3B' is not a whole number of bytes"),
      ("--value-size uniform:9B..1B", "--value-size: 'uniform:9B..1B' begins above its end"),
      (
        "--value-size uniform:9B", "--value-size: 'uniform:9B' is not of the form uniform:10B..200B"
      ),
      ("--value-size 1GiB", "--value-size: at most 16MiB"),
      ("--rate 2000", "--rate needs a rate with its unit, such as 2000/s; did you mean 2000/s?"),
      ("--rate fast", "--rate needs a rate with its unit, such as 2000/s, not 'fast'"),
      ("--rate 0/s", "--rate: '0/s' is not a rate above 0, such as 2000/s"),
      ("--arrivals fixed", "--arrivals means nothing without --rate"),
      (
        "--rate 1/s --arrivals poison",
        "--arrivals: 'poison' is not one of fixed, poisson; did you mean 'poisson'?"
      ),
      ("--pin-every 3", "--pin-every means nothing without --pins"),
      (
        "--duration 1s --ops 5",
        "--duration and --ops contradict each other: a run ends by time or by count"
      ),
      ("--durability disk", "--durability: 'disk' is not one of full, memory"),
      ("--seed -4", "--seed needs a whole number from 0 to 2^64-1, not '-4'"),
      (
        "--read-keys zipf",
        "--read-keys: 'zipf' is not one of uniform, zipf:0.99, latest, hotspot:0.2:0.8"
      ),
      (
        "--read-keys hotspot:2:0.5",
        "--read-keys: 'hotspot:2:0.5' is not one of uniform, zipf:0.99, latest, hotspot:0.2:0.8"
      ),
      (
        "--invariants I1,I5",
        "--invariants: 'I5' is not checked by this workload (all, none, full, or of I1, I2, I3, I4, I7, I10)"
      ),
      ("--check-rate 2", "--check-rate needs a share from 0 to 1, not '2'"),
      (
        "--check-rate 0.5 --invariants full",
        "--check-rate and --invariants full contradict each other: full checks every read"
      ),
      ("--engine lmbd", "--engine: 'lmbd' is not one of realm, sqlite, lmdb; did you mean 'lmdb'?"),
      ("--readers 0 --writers 0", "--readers 0 and --writers 0: nothing to run"),
      ("--objects 5 --batch 6", "--batch 6 is more than --objects 5"),
      ("--writers 0 --rate 5/s", "--rate needs a writer: --writers is 0"),
      ("--writers 0 --pins 5", "--pins needs a writer: --writers is 0"),
      ("--readers 0 --refresh-every 5", "--refresh-every needs a reader: --readers is 0"),
      ("--readers 0 --read-keys latest", "--read-keys needs a reader: --readers is 0"),
      ("--readers 0 --check-rate 0.5", "--check-rate needs a reader: --readers is 0"),
      ("--writers 0 --batch 5", "--batch needs a writer: --writers is 0"),
      ("--pins 0 --pin-interval 5ms", "--pin-interval needs a pin: --pins is 0"),
      (
        "--check-rate 0.5 --invariants none",
        "--check-rate and --invariants none contradict each other: nothing is checked"
      ),
      ("--invariants I1,I2,I1", "--invariants: 'I1' is named twice"),
      ("--threshold foo.service_p99_ns<5", "--threshold: 'foo' is not an operation"),
      ("--interval 1ms", "--interval: at least 10ms"),
      (
        "--overwrite --dry-run",
        "--overwrite and --dry-run contradict each other: a dry run writes nothing"
      ),
      ("--hops 3", "--hops: the workload readers-writer does not use this flag"),
      ("--allocator x", "--allocator: 'x' is not one of jemalloc, system"),
      (
        "--threshold write",
        "--threshold: 'write' is not of the form 'write.response_p99_ns<2000000' (< <= > >= ==, the number in the column's unit)"
      ),
      (
        "--threshold wrote.count>1",
        "--threshold: 'wrote' is not an operation; did you mean 'write'?"
      ),
      (
        "--threshold write.service_p98_ns<1",
        "--threshold: 'service_p98_ns' is not a numeric column of summary.csv; did you mean 'service_p90_ns'?"
      ),
      (
        "--threshold file_byte<1",
        "--threshold: 'file_byte' is not a numeric column of growth.csv; did you mean 'file_bytes'?"
      ),
      (
        "--threshold write.response_p99_ns<2",
        "--threshold 'write.response_p99_ns<2': a closed loop leaves 'response_p99_ns' empty; give --rate, or use a service_ column"
      ),
      (
        "--rate 5/s --threshold read.response_p99_ns<2",
        "--threshold 'read.response_p99_ns<2': a closed loop leaves 'response_p99_ns' empty; use a service_ column"
      ),
      (
        "--readers 0 --threshold read.count>2",
        "--threshold 'read.count>2': this run measures no 'read' (only write)"
      ),
      (
        "--threshold read.syncs_per_commit<2",
        "--threshold 'read.syncs_per_commit<2': only 'write' has 'syncs_per_commit'"
      ),
    ])
  func refuses(line: String, text: String) {
    #expect(refusal(line) == text)
  }

  @Test(
    arguments: [
      ("--readers 3", "--readers: the workload mixed does not use this flag; it has --threads"),
      ("--threads 0", "--threads: 0 is not between 1 and 1024"),
      (
        "--mix G",
        "--mix: 'G' is neither A to F nor shares that add up to 100, such as read:70,update:30 (of read, update, insert, scan, read-modify-write)"
      ),
      (
        "--mix C --threshold update.count>1",
        "--threshold 'update.count>1': this run measures no 'update' (only read, refresh)"
      ),
      (
        "--threshold update.response_p99_ns<2",
        "--threshold 'update.response_p99_ns<2': a closed loop leaves 'response_p99_ns' empty; give --rate, or use a service_ column"
      ),
      (
        "--threshold read.syncs_per_commit<2",
        "--threshold 'read.syncs_per_commit<2': only 'update' has 'syncs_per_commit'"
      ),
    ])
  func mixedRefuses(line: String, text: String) {
    #expect(refusal(line, .mixed) == text)
  }

  @Test(
    arguments: [
      (
        "--duration 3s",
        "--duration: the workload bulk-load does not use this flag; it has --objects"
      ),
      ("--writers 0", "--writers 0: nothing to run"),
      ("--objects 5 --batch 6", "--batch 6 is more than --objects 5"),
      (
        "--invariants I1",
        "--invariants: 'I1' is not checked by this workload (all, none, full, or of I2, I3, I4, I7, I10)"
      ),
    ])
  func bulkLoadRefuses(line: String, text: String) {
    #expect(refusal(line, .bulkLoad) == text)
  }

  @Test(
    arguments: [
      ("--rate 5/s", "--rate: the workload migration-under-load does not use this flag"),
      ("--objects 5 --batch 6", "--batch 6 is more than --objects 5"),
    ])
  func migrationRefuses(line: String, text: String) {
    #expect(refusal(line, .migration) == text)
  }

  @Test(
    arguments: [
      (
        "--group 8 --in-flight 4", WorkloadKind.groupedCommit,
        "--in-flight 4 is less than --group 8"
      ),
      ("--patience 0s", .groupedCommit, "--patience is 0"),
      ("--pins 3", .groupedCommit, "--pins: the workload grouped-commit does not use this flag"),
      (
        "--cached trees", .freezeCache,
        "--cached: 'trees' is not one of objects, lists, results"
      ),
      ("--pins 0", .freezeCache, "--pins: 0 is not between 1 and 1000000"),
      ("--churn 2", .freezeCache, "--churn needs a share from 0 to 1, not '2'"),
      (
        "--release sideways", .pinnedGrowth,
        "--release: 'sideways' is not one of oldest, newest, random"
      ),
      ("--writers 0", .pinnedGrowth, "--writers 0: nothing to run"),
      ("--readers 1", .actorHops, "--readers 1: a chain has two actors at least"),
      ("--readers 0", .referenceHandoff, "--readers 0: nobody resolves the references"),
      (
        "--threads 3", .queueConfined,
        "--threads: the workload queue-confined does not use this flag; it has --queues"
      ),
      (
        "--readers 3", .notifyStorm,
        "--readers: the workload notify-storm does not use this flag; it has --writers and --observers"
      ),
      ("--writers 0", .notifyStorm, "--writers 0: nothing to run"),
      (
        "--threshold durable.response_p99_ns<2", .groupedCommit,
        "--threshold 'durable.response_p99_ns<2': a closed loop leaves 'response_p99_ns' empty; use a service_ column"
      ),
    ])
  func threadWorkloadsRefuse(line: String, workload: WorkloadKind, text: String) {
    #expect(refusal(line, workload) == text)
  }

  /// What was refused would be, too, where a command is repeated.
  @Test(arguments: ["--readers 0", "--writers 0"])
  func commandsWithoutThreadsRepeatThemselves(line: String) throws {
    let first = try settings(line)
    let words = first.command.split(separator: " ").dropFirst(3).joined(separator: " ")
    #expect(try settings(words).command == first.command)
  }

  /// Help shows a flag where it is taken.
  @Test func onlyTheirOwnWorkloadsShowProcesses() {
    for workload in WorkloadKind.allCases {
      let isShown = Help.run(workload).contains("--processes")
      #expect(isShown == workload.facts.takesProcesses, "\(workload)")
    }
  }

  @Test func threadWorkloadsHaveTheirFlags() throws {
    let grouped = try settings("--group 100 --queues 3 --patience 2s", .groupedCommit)
    #expect(grouped.group == 100 && grouped.inFlight == 200 && grouped.queues == 3)
    #expect(grouped.patienceNanoseconds == 2_000_000_000)
    #expect(try settings("--group 100 --in-flight 150", .groupedCommit).inFlight == 150)
    let cache = try settings("--cached lists,results --churn 0.25 --pin-age 3s", .freezeCache)
    #expect(cache.cached == [.lists, .results] && cache.churn == 0.25)
    #expect(cache.pinAgeNanoseconds == 3_000_000_000)
    // A cache keeps no versions besides.
    let plan = try settings("--pins 50", .freezeCache).plan
    #expect(plan.cacheSize == 50 && plan.pins == 0)
    #expect(cache.plan.cacheSize == 1_000 && cache.command.contains("--pins 1000 "))
    let growth = try settings("--pin-every 7 --release newest --pins 0", .pinnedGrowth)
    #expect(growth.pinEvery == 7 && growth.release == .newest && growth.pins == 0)
    #expect(growth.command.contains("--pins 0 "))
    #expect(try settings("--write-every 5", .referenceHandoff).writeEvery == 5)
    #expect(try settings("", .referenceHandoff).plan.writeEvery == 16)
    #expect(try settings("--attempts 0", .queueConfined).attempts == 0)
    let hops = try settings("--hops 9", .actorHops)
    #expect(hops.plan.hops == 9 && hops.command.contains("--hops 9 "))
    #expect(try settings("", .actorHops).plan.hops == nil)
  }

  @Test func anotherAllocatorIsRefused() throws {
    try AllocatorChoice.jemalloc.check("jemalloc 5.3")
    try AllocatorChoice.system.check("system")
    let error = #expect(throws: UsageError.self) { try AllocatorChoice.jemalloc.check("system") }
    #expect(error?.message.contains("this program has system; build with the trait") == true)
    #expect(throws: UsageError.self) { try AllocatorChoice.system.check("jemalloc 5.3") }
    let (own, other) =
      Allocator.shared.name == "system" ? ("system", "jemalloc") : ("jemalloc", "system")
    #expect(try settings("--allocator \(own)").engines == ["realm"])
    #expect(throws: UsageError.self) { try settings("--allocator \(other)") }
  }

  @Test func eachWorkloadHasItsDefaultsAndCommand() throws {
    let mixed = try settings("--mix D --threads 3 --scan-length 7 --rate 5/s", .mixed)
    #expect(mixed.readKeys == .latest && mixed.threads == 3 && mixed.scanLength == 7)
    #expect(try settings("--mix D --read-keys uniform", .mixed).readKeys == .uniform)
    #expect(try settings("", .mixed).readKeys == .zipf(exponent: 0.99))
    let load = try settings("", .bulkLoad)
    #expect(load.objects == 1_000_000 && load.operationsOfPhase == 100 && load.openLoop.isEmpty)
    #expect(try settings("--quick", .bulkLoad).objects == 100_000)
    for workload in WorkloadKind.allCases {
      let first = try settings("--seed 4 --quick", workload)
      let words = first.command.split(separator: " ").dropFirst(3).joined(separator: " ")
      #expect(try settings(words, workload).command == first.command)
    }
  }

  @Test(
    arguments: [
      ("--read-keys latest", "--read-keys: the workload transfer does not use this flag"),
      ("--batch 3", "--batch: transfer changes accounts in pairs, so not 3"),
      (
        "--threshold read.count>2",
        "--threshold 'read.count>2': this run measures no 'read' (only sum, refresh, freeze, write)"
      ),
    ])
  func transferRefuses(line: String, text: String) {
    #expect(refusal(line, .transfer) == text)
  }

  /// What nobody counts would be missed after the whole run.
  @Test func thresholdsOnWhatNobodyCountsAreRefused() {
    let allocations = "allocations_per_operation<5"
    let isCounted = refusal("--threshold write.\(allocations)").isEmpty
    #expect(isCounted == ThreadWork.countsAllocations)
    let instructions = refusal("--threshold read.instructions_per_operation<5")
    #expect(instructions.isEmpty == ThreadWork.countsInstructions, "\(instructions)")
    for (line, workload, operation) in [
      ("durable", WorkloadKind.groupedCommit, "durable"), ("hop", .queueConfined, "hop"),
      ("notify", .notifyStorm, "notify"), ("chain", .actorHops, "chain"),
    ] {
      #expect(
        refusal("--threshold \(line).\(allocations)", workload)
          .contains("'\(operation)' is not done by one thread"))
    }
    for column in ["allocations_per_operation", "system_calls_per_commit"] {
      #expect(
        refusal("--processes 2 --threshold write.\(column)<5")
          == "--threshold 'write.\(column)<5': with --processes '\(column)' stays empty, since each "
          + "process counts its own")
    }
  }

  @Test func thresholdsCompare() throws {
    #expect(try Threshold("write.count<10").isMet(by: "9"))
    #expect(!(try Threshold("write.count<10").isMet(by: "10")))
    #expect(try Threshold("write.count <= 10").isMet(by: "10"))
    #expect(try Threshold("file_bytes>=1.5").isMet(by: "1.5"))
    #expect(try Threshold("file_bytes==2").isMet(by: "2.0"))
    #expect(!(try Threshold("file_bytes>2").isMet(by: nil)))
    #expect(!(try Threshold("file_bytes>2").isMet(by: "")))
  }

  /// One reader of numbers for all flags, and for the questions of `plan`.
  @Test func numbersAreReadAlikeEverywhere() throws {
    #expect(try settings("--seed 1e3").seed == 1_000)
    #expect(try settings("--seed 10k").seed == 10_000)
    #expect(try settings("--seed 18446744073709551615").seed == .max)
    #expect(try settings("--check-rate 1/32").checkRate == 1.0 / 32)
    #expect(try settings("--check-rate 5%").checkRate == 0.05)
    #expect(refusal("--rate 1e30/s") == "--rate: '1e30/s' is too high; up to 1G/s")
    #expect(
      refusal("--objects +5") == "--objects needs a whole number, not '+5'; did you mean 5?")
    #expect(
      refusal("--check-rate 1/0") == "--check-rate needs a share from 0 to 1, not '1/0'")
    let asked = try PlanQuestion("file size at pins=1_000 age=1m30s rate=1k/s objects=1e6")
    #expect(asked.setting.pins == 1_000 && asked.setting.objects == 1e6)
    #expect(asked.setting.ageSeconds == 90 && asked.setting.ratePerSecond == 1_000)
    #expect(try PlanQuestion("live bytes at pins=1k pin-every=10").setting.pins == 1_000)
    for (words, text) in [
      ("--resample x --gates 0", "--gates"), ("--resample x --blocks 3", "fewer than"),
      ("--resample x --gates 1k", "'x'"), ("--resample x --blocks 1k", "'x'"),
    ] {
      let error = #expect(throws: UsageError.self) {
        try CompareVerb.run(
          words.split(separator: " ").map(String.init), console: CollectedOutput().console(),
          interruption: { TimedInterruption() })
      }
      #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
  }

  @Test func onlyFlagsThatTheWorkloadTakesAreSuggested() throws {
    for (flag, words) in [
      ("--thread", "here it is --readers and --writers"), ("--writer", "did you mean '--writers'?"),
    ] {
      let error = #expect(throws: UsageError.self) {
        try RunVerb.perform(["readers-writer", flag, "4"], console: CollectedOutput().console())
      }
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
  }

  @Test func unitsAreWrittenAsTheyAreRead() throws {
    for text in ["1ns", "1500us", "20ms", "30s", "5m", "2h", "0s"] {
      let nanoseconds = try Units.nanoseconds(text, flag: "--x")
      #expect(Units.text(nanoseconds: nanoseconds) == text)
    }
    #expect(try Units.bytes("1.5KiB", flag: "--x") == 1_536)
    #expect(Units.text(ratePerSecond: 2_000) == "2000/s")
  }

  /// The command that a failure prints gives the same settings again.
  @Test func theCommandRepeatsTheRun() throws {
    let line =
      "--seed 9 --readers 3 --objects 70 --batch 4 --rate 12.5/s --arrivals poisson --pins 2"
      + " --pin-every 8 --read-keys hotspot:0.2:0.8 --invariants I2 --ops 100 --warmup 5ms"
      + " --value-size uniform:1B..9B --durability memory"
    let first = try settings(line)
    let words = first.command.split(separator: " ").dropFirst(3).joined(separator: " ")
    #expect(try settings(words).command == first.command)
    #expect(words.contains("--rate 12.5/s") && words.contains("--ops 100"))
  }

  @Test func editDistances() {
    #expect(editDistance("", "abc") == 3)
    #expect(editDistance("kitten", "sitting") == 3)
    #expect(editDistance("same", "same") == 0)
    #expect(nearestName("qqqq", in: ["readers", "writers"]) == nil)
    // A file's contents in the place of a word would be measured for minutes.
    let long = String(repeating: "x", count: 2_000)
    #expect(nearestName(long, in: [long + "x"]) == nil)
  }

  // MARK: - The command that repeats a run

  @Test(arguments: [
    (
      WorkloadKind.freezeCache,
      "--churn 0.0000004 --interval 20ms --quick --strict --pins 7"
    ),
    (.freezeCache, "--churn 0.333333333"),
    (.readersWriter, "--check-rate 1e-7 --read-keys hotspot:1e-6:0.5"),
    (.readersWriter, "--check-rate 0.1234567890123"),
    (
      .readersWriter,
      "--rate 1000/h --read-rate 0.1k/s --read-keys zipf:0.00001 --threshold read.count>5 "
        + "--threshold write.service_p50_ns<9000000000 --replicas 3 --duration 1234567891ns"
    ),
    (.readersWriter, "--invariants full --ops 10 --warmup-ops 3 --quick --interval 500ms"),
  ])
  func theCommandRepeatsExactlyThatRun(_ workload: WorkloadKind, _ flags: String) throws {
    let first = try settings(flags, workload)
    let words = first.command.replacing("'", with: "").split(separator: " ").dropFirst(3)
    let again = try settings(words.joined(separator: " "), workload)
    #expect(again.command == first.command)
    let records = try [first, again].map {
      try encodeJSON(SettingsRecord($0, path: "", output: ""))
    }
    #expect(records[0] == records[1])
    #expect(again.replicas == first.replicas)
  }
}
