// What the threads of one run share, whatever the workload.
package import Platform

/// The part of the settings that the threads need.
package struct RunPlan: Sendable {
  package var readers = 4
  package var writers = 1
  package var observers = 0
  package var refreshEvery = 16
  /// From one actor to the next; nil = through a chain once.
  package var hops: Int?
  package var readKeys = KeyDistribution.uniform
  /// Threads and operations of the workload mixed.
  package var threads = 4
  package var mix = OperationMix.updateHeavy
  package var scanLength = 100
  package var pins = 0
  /// Transactions between two pins.
  package var pinEvery = 100
  /// Time between two pins; nil = by transactions.
  package var pinIntervalNanoseconds: UInt64?
  /// Frozen values in a cache.
  package var cacheSize = 1_000
  /// References between two transactions.
  package var writeEvery = 16
  /// Pins older than this are released; nil = only their number counts.
  package var pinAgeNanoseconds: UInt64?
  package var release = ReleaseOrder.oldest
  /// Queues to which Realms are confined.
  package var queues = 1
  /// Commits that are requested together.
  package var group = 64
  /// Asynchronous commits of a queue, or references, on their way at most.
  package var inFlight = 128
  /// The longest silence of what is on its way.
  package var patienceNanoseconds: UInt64 = 30_000_000_000
  package var cached = Set(CachedKind.allCases)
  /// Share of look-ups that replace what they find in the cache.
  package var churn = 0.01
  /// Forbidden uses that are tried at the end.
  package var attempts = 24
  /// Operations a second of all threads that follow the schedule; nil = closed loop.
  package var ratePerSecond: Double?
  /// Reads a second of all readers; nil = closed loop.
  package var readRatePerSecond: Double?
  package var arrivals = Arrivals.fixed
  package var invariants = Set(Invariant.allCases)
  /// Share of the reads whose content is checked in full.
  package var checkRate = CheckSampler.usualRate
  package var seed: UInt64 = 1
  package var durability = DurabilityClass.full
  /// Values of the flags that only this workload has, by name.
  package var own: [String: String] = [:]
  /// Steps of the measured phase.
  package var steps: [RunStep] = []
  /// Processes that work on the file.
  package var processes = 1
  /// Whether the first writer walks over the file; of several processes one does.
  package var walksSpace = true
  package var model: ContentModel

  package init(model: ContentModel) { self.model = model }

  package func checks(_ invariant: Invariant) -> Bool { invariants.contains(invariant) }

  /// Whether everything is checked as often as it can be, whatever that costs.
  package var checksFully: Bool { checkRate >= 1 }

  /// The part of one of `threads` threads in the open loop, if there is one; numbers begin at 1.
  package func openLoad(thread number: Int, of threads: Int) -> ThreadPace.OpenLoad? {
    ratePerSecond.map { openLoad($0, thread: number, of: threads) }
  }

  /// The same for a reader.
  package func openReads(thread number: Int) -> ThreadPace.OpenLoad? {
    readRatePerSecond.map { openLoad($0, thread: number, of: readers) }
  }

  private func openLoad(
    _ rate: Double, thread number: Int, of threads: Int
  ) -> ThreadPace.OpenLoad {
    ThreadPace.OpenLoad(
      ratePerSecond: rate / Double(threads), arrivals: arrivals,
      offset: Double(number - 1) / Double(threads))
  }
}

/// Which pin goes when there are too many.
package enum ReleaseOrder: String, CaseIterable, Sendable {
  case oldest
  case newest
  case random
}

/// What a cache of frozen values holds.
package enum CachedKind: String, CaseIterable, Sendable {
  case objects
  case lists
  case results

  /// As in `objects,lists`.
  package static func text(_ kinds: Set<CachedKind>) -> String {
    allCases.filter(kinds.contains).map(\.rawValue).joined(separator: ",")
  }
}

/// State that all threads of a run see.
package final class RunShared<Driver: EngineDriver>: Sendable {
  package let driver: Driver
  package let plan: RunPlan
  package let control: RunControl
  package let versions: VersionLog
  package let digests = Monitor(VersionDigestCheck())
  package let pins: PinRing<Driver.Session.Pin>
  /// What a walk over all live versions has found, until growth.csv has it.
  private let walkedBytes = Monitor<UInt64?>(nil)
  /// The file's length when the measured phase began; nil before that.
  private let bytesBefore = Monitor<UInt64?>(nil)

  package init(
    driver: Driver, plan: RunPlan, versions: VersionLog = VersionLog(),
    tellPins: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.versions = versions
    self.driver = driver
    self.plan = plan
    control = RunControl(steps: plan.steps)
    pins = PinRing(
      capacity: plan.pins, release: plan.release, ageNanoseconds: plan.pinAgeNanoseconds,
      seed: plan.seed, tell: tellPins)
  }

  package func note(walkedBytes bytes: UInt64) { walkedBytes.withLock { $0 = bytes } }

  package func note(fileBytesBefore bytes: UInt64) { bytesBefore.withLock { $0 = bytes } }

  package var fileBytesBefore: UInt64? { bytesBefore.withLock { $0 } }

  /// The result of a walk, for one row of growth.csv.
  package func takeWalkedBytes() -> UInt64? {
    walkedBytes.withLock { bytes in
      defer { bytes = nil }
      return bytes
    }
  }

  /// A generator of its own for each thread, the same in each run of a seed.
  package func random(thread: Int) -> RandomGenerator {
    RandomGenerator(seed: mix(plan.seed ^ mix(UInt64(thread) + 1)))
  }

  /// I3: all who see this version must see the same content of two objects that follow from it.
  package func checkDigest(
    version: UInt64, place: String, read: (Int, inout Row) -> Bool, row: inout Row
  ) -> Violation? {
    let spread = mix(version)
    var digest = spread
    for key in [spread % UInt64(plan.model.objects), spread >> 32 % UInt64(plan.model.objects)] {
      let isFound = read(Int(key), &row)
      digest = mix(digest ^ (isFound ? row.digest : 0))
    }
    return digests.withLock { [digest] in
      $0.observe(version: version, digest: digest, place: place)
    }
  }

  /// One version in 32 is compared, in full one in eight, the same ones by everybody.
  package func isDigestVersion(_ version: UInt64) -> Bool {
    mix(version) & (plan.checksFully ? 7 : 31) == 0
  }
}
