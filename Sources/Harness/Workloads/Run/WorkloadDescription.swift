// What the tool knows of a workload before it runs one: name, texts, flags, defaults, what it
// measures and checks. Each workload's file begins with its description; `WorkloadKind.allCases`
// lists them all.

/// A workload as `run`, `list` and help know it.
package protocol WorkloadDescription: Sendable {
  /// As on the command line and in the result files.
  static var name: String { get }
  /// One line for `list`.
  static var summary: String { get }
  /// What help says before the flags.
  static var help: String { get }
  /// The flags of `RunFlags.load` that mean something to it.
  static var flags: Set<String> { get }
  /// Flags that only it has, in a program of a user's own; by default none.
  static var ownFlags: [OwnFlag] { get }
  /// Operations that a mix of it can have.
  static var mixed: [Operation] { get }
  /// Operations that `--rate` schedules.
  static var scheduled: Set<Operation> { get }
  /// Whether a table is filled before anything is measured; by default yes.
  static var loadsFirst: Bool { get }
  /// Whether a run goes on for as long as one likes, so that its figures should settle; by default
  /// yes.
  static var isSteady: Bool { get }
  /// Whether it ends with a phase in which the file gets short again; by default no.
  static var recovers: Bool { get }
  /// Whether `--pins` says how many frozen values its cache holds; by default no.
  static var pinsFillCache: Bool { get }
  /// Whether a plan may cut its measured phase into steps of their own rates and threads; by
  /// default no.
  static var takesSteps: Bool { get }
  /// Whether its file holds classes that background processes of the tool do not know; by default
  /// no.
  static var storesOwnClasses: Bool { get }
  /// Whether several processes can do it on one file, and be judged together; by default no.
  static var takesProcesses: Bool { get }
  /// What `--in-flight` counts.
  static var unitInFlight: String { get }
  /// What it checks; by default what every workload with readers and blocking writers can show.
  static var invariants: [Invariant] { get }
  /// What an engine has to be able to do beyond reads, writes and pins; by default nothing.
  static var needs: Set<EngineCapability> { get }
  /// What its transactions write; by default whole objects.
  static var rule: ContentModel.Rule { get }

  /// Sets what differs from the defaults of `RunSettings`.
  static func setDefaults(_ settings: inout RunSettings)
  /// Operations that a run has rows for.
  static func operations(_ settings: RunSettings) -> [Operation]
  /// How many threads do an operation.
  static func threads(of operation: Operation, _ settings: RunSettings) -> Int
  /// Whether allocations and instructions of an operation are counted; by default those of one
  /// thread.
  static func countsWork(of operation: Operation) -> Bool
  /// Threads and sizes in words.
  static func shape(_ settings: RunSettings) -> String
  /// What ends the measured phase after a number of operations; nil = by time.
  static func operationsOfPhase(_ settings: RunSettings) -> Int?
  /// Commits or references on their way at most, unless the flag says so.
  static func inFlight(_ settings: RunSettings) -> Int
  /// Refuses settings that contradict each other.
  static func check(_ settings: RunSettings) throws(UsageError)
  /// The engine on a new file; by default as the run makes it.
  static func openDriver<Driver: EngineDriver>(
    _ path: String, _ durability: DurabilityClass,
    otherwise make: (_ path: String, DurabilityClass) throws -> Driver
  ) throws -> Driver
  /// The workload on an engine, which can do what it needs.
  static func make<Driver: EngineDriver>(_ shared: RunShared<Driver>) -> any Workload<Driver>
}

extension WorkloadDescription {
  package static var ownFlags: [OwnFlag] { [] }
  package static var mixed: [Operation] { OperationMix.operations }
  package static var loadsFirst: Bool { true }
  package static var isSteady: Bool { true }
  package static var takesProcesses: Bool { false }
  package static var needs: Set<EngineCapability> { [] }
  package static var recovers: Bool { false }
  package static var pinsFillCache: Bool { false }
  package static var takesSteps: Bool { false }
  package static var storesOwnClasses: Bool { false }
  package static var unitInFlight: String { "commits of a queue" }
  package static var invariants: [Invariant] { Invariant.ofSnapshots }
  package static var rule: ContentModel.Rule { .rewrite }
  package static func setDefaults(_ settings: inout RunSettings) {}
  package static func operationsOfPhase(_ settings: RunSettings) -> Int? { settings.operations }
  package static func inFlight(_ settings: RunSettings) -> Int { 0 }
  package static func countsWork(of operation: Operation) -> Bool { operation.isOfOneThread }
  package static func check(_ settings: RunSettings) throws(UsageError) {}

  package static func openDriver<Driver: EngineDriver>(
    _ path: String, _ durability: DurabilityClass,
    otherwise make: (_ path: String, DurabilityClass) throws -> Driver
  ) throws -> Driver { try make(path, durability) }

  package static func threads(of operation: Operation, _ settings: RunSettings) -> Int {
    switch operation {
    case .migrate, .recover: 1
    case .burst, .request, .begin, .accept, .durable: settings.queues
    case .write, .reference: settings.writers
    case .notify: settings.observers
    default: settings.readers
    }
  }

  // MARK: - Parts of descriptions

  /// The shape of a workload of readers and writers over one table.
  static func readersAndWriters(_ settings: RunSettings, of things: String) -> String {
    "\(settings.readers) readers, \(settings.writers) writers, \(grouped(settings.objects)) "
      + "\(things), batch \(settings.batch)"
  }

  static func refuseNoWriter(_ settings: RunSettings) throws(UsageError) {
    if settings.writers == 0 { throw UsageError("--writers 0: nothing to run") }
  }

  /// For workloads that can do without readers or without writers.
  static func refuseNobody(_ settings: RunSettings) throws(UsageError) {
    guard settings.writers == 0 else { return }
    if settings.readers == 0 {
      throw UsageError("--readers 0 and --writers 0: nothing to run")
    }
    if settings.ratePerSecond != nil { throw UsageError("--rate needs a writer: --writers is 0") }
    if settings.pins > 0 || settings.pinIntervalNanoseconds != nil {
      throw UsageError("--pins needs a writer: --writers is 0")
    }
  }
}

/// Groups of flags that descriptions are made of.
package enum WorkloadFlags {
  /// Of every workload.
  package static let table: Set = ["objects", "value-size", "duration", "durability"]
  /// Of threads that read, and others that write in batches.
  package static let threads: Set = [
    "readers", "writers", "batch", "pins", "pin-every", "pin-interval",
  ]
  /// Of everything that goes on until its time or its operations are over.
  package static let load: Set = [
    "ops", "warmup", "warmup-ops", "rate", "arrivals", "refresh-every",
  ]
}

extension WorkloadDescription {
  typealias Flags = WorkloadFlags
}
