// What a plan file adds to the settings of a run: steps of the measured phase, background load in
// other processes, and faults. Made by PlanFile, written to run.json as it stands.

/// Operations a second from the begin to the end of a step.
package struct RateRamp: Codable, Equatable, Sendable {
  package var fromPerS: Double
  package var toPerS: Double

  package init(fromPerS: Double, toPerS: Double) {
    self.fromPerS = fromPerS
    self.toPerS = toPerS
  }

  /// The same for one of some threads.
  func share(of threads: Int) -> RateRamp {
    RateRamp(fromPerS: fromPerS / Double(threads), toPerS: toPerS / Double(threads))
  }
}

/// A stretch of the measured phase with a load and rows of its own.
package struct RunStep: Codable, Equatable, Sendable {
  package var name: String
  package var durationNs: UInt64?
  package var operations: Int?
  /// What `--rate` schedules; nil = closed loop.
  package var rate: RateRamp?
  /// Reads; nil = closed loop.
  package var readRate: RateRamp?
  /// How many of the threads work in this step; nil = all.
  package var readers: Int?
  package var writers: Int?

  package init(name: String) { self.name = name }

  /// How many of `count` threads of this kind work.
  func active(_ kind: ThreadPace.Member.Kind, of count: Int) -> Int {
    switch kind {
    case .reader: min(readers ?? count, count)
    case .writer: min(writers ?? count, count)
    case .any: count
    }
  }

  /// The schedule of all threads of this kind.
  func rate(_ kind: ThreadPace.Member.Kind) -> RateRamp? { kind == .reader ? readRate : rate }
}

/// Processes beside the run that use its file.
package struct BackgroundLoad: Codable, Equatable, Sendable {
  package enum Kind: String, Codable, CaseIterable, Sendable {
    /// Hold `count` versions, each for `age`.
    case pins
    /// Refreshes and reads, `count` objects each `every`.
    case reader
    /// Keeps `count` frozen objects and replaces one each `every`.
    case cache
    /// Observes all objects.
    case observer
    /// Writes a compacted copy of the file each `every`.
    case compaction

    /// Whether it needs the classes of the tool's workloads.
    package var readsObjects: Bool {
      switch self {
      case .reader, .cache, .observer: true
      case .pins, .compaction: false
      }
    }

    /// Whether `count` says something: what observes has one observer, a copy is one.
    package var usesCount: Bool {
      switch self {
      case .pins, .reader, .cache: true
      case .observer, .compaction: false
      }
    }

    /// Whether `every` says something: an observer is told when there is something to tell.
    package var usesTime: Bool { self != .observer }
  }

  package var name: String
  package var kind: Kind
  package var processes = 1
  package var count: Int
  package var everyNs: UInt64

  package init(_ kind: Kind, name: String? = nil) {
    self.kind = kind
    self.name = name ?? kind.rawValue
    count = kind == .reader ? 100 : kind == .cache ? 1_000 : 1
    everyNs = kind == .compaction ? 1_000_000_000 : kind == .pins ? 500_000_000 : 10_000_000
  }
}

/// Something that happens to a background process.
package struct PlannedFault: Codable, Equatable, Sendable {
  package enum Kind: String, Codable, CaseIterable, Sendable {
    /// SIGSTOP, and SIGCONT after `forNs`, if that is given.
    case stop
    case resume
    case kill
  }

  package var kind: Kind
  /// Since the begin of the first step.
  package var atNs: UInt64
  package var forNs: UInt64?
  /// The name of a background load: all of its processes.
  package var process: String

  package init(_ kind: Kind, process: String, atNs: UInt64) {
    self.kind = kind
    self.process = process
    self.atNs = atNs
  }
}

/// All of it, for run.json.
package struct RunScript: Codable, Equatable, Sendable {
  package var steps: [RunStep] = []
  package var background: [BackgroundLoad] = []
  package var faults: [PlannedFault] = []

  package init() {}
}
