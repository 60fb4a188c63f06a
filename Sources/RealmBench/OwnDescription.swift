// What the tool knows of a workload of a user's own, made from what the workload says of itself.
internal import Harness
internal import Platform
internal import RealmSwift

/// The operations and checks of a workload as the tool has them.
enum OwnNames<W: Workload> {
  /// In their order.
  static var operations: [(operation: W.Operation, row: Harness.Operation)] {
    W.Operation.allCases.compactMap { operation in
      Operation.adding(operation.rawValue, commits: operation.writes).map { (operation, $0) }
    }
  }

  static var invariants: [W.Check: Invariant] {
    Dictionary(
      uniqueKeysWithValues: W.Check.allCases.compactMap { check in
        Invariant.adding(check.rawValue, summary: check.summary, place: "the workload \(W.name)")
          .map { (check, $0) }
      })
  }

  /// Refuses a workload whose results could not be read.
  static func refuseMisuse() throws(UsageError) {
    let place = "the workload \(W.name)"
    for operation in W.Operation.allCases {
      guard Tool.isName(operation.rawValue) else {
        throw UsageError(
          "\(place): '\(operation.rawValue)' cannot be an operation: write small letters, digits "
            + "and hyphens, with a letter first")
      }
      guard operation.share >= 0, operation.share <= 1_000_000 else {
        throw UsageError(
          "\(place): the share of '\(operation.rawValue)' is not between 0 and 1000000")
      }
      guard Operation.adding(operation.rawValue, commits: operation.writes) != nil else {
        throw UsageError(
          "\(place): '\(operation.rawValue)' is an operation of the tool or of another workload "
            + "that \(operation.writes ? "does not write" : "writes or is something else"); give "
            + "it another name")
      }
    }
    guard W.Operation.allCases.contains(where: { $0.share > 0 }) else {
      throw UsageError("\(place) has no operation with a share above 0: nothing to run")
    }
    for check in W.Check.allCases {
      guard Tool.isName(check.rawValue), !["all", "none", "full"].contains(check.rawValue) else {
        throw UsageError(
          "\(place): '\(check.rawValue)' cannot be a check: write small letters, digits and "
            + "hyphens, with a letter first, and not all, none or full")
      }
      guard
        Invariant.adding(
          check.rawValue, summary: check.summary, place: "the workload \(W.name)") != nil
      else {
        throw UsageError(
          "\(place): the check '\(check.rawValue)' is another workload's, and says something else "
            + "there")
      }
    }
    for flag in W.flags.compactMap({ ($0 as? any ToolFlag)?.ownFlag }) {
      // A default is read like any other value, where the workload asks for it.
      guard let standard = flag.standard, !standard.isEmpty else { continue }
      do throws(UsageError) { _ = try flag.canonical(standard) } catch {
        throw UsageError("\(place): the default of a flag is none of its values: \(error.message)")
      }
    }
    guard (1...1_024).contains(W.defaults.threads) else {
      throw UsageError("\(place): its default of threads is not between 1 and 1024")
    }
  }
}

/// What the tool knows of a workload before it runs.
enum OwnDescription<W: Workload>: WorkloadDescription {
  static var name: String { W.name }
  static var summary: String { W.summary }
  static var help: String { W.help }

  static var flags: Set<String> {
    var flags = WorkloadFlags.load.union(["threads", "duration", "durability"])
    if mixed.count > 1 { flags.insert("mix") }
    if W.defaults.objects != nil { flags.insert("objects") }
    return flags
  }

  static var ownFlags: [OwnFlag] { W.flags.compactMap { ($0 as? any ToolFlag)?.ownFlag } }
  static var mixed: [Harness.Operation] { OwnNames<W>.operations.map(\.row) }
  static var scheduled: Set<Harness.Operation> { Set(mixed) }
  static var takesSteps: Bool { true }
  static var storesOwnClasses: Bool { true }

  /// Beside its own, what can be seen of any classes.
  static var invariants: [Invariant] {
    let own = OwnNames<W>.invariants
    return [.monotonicVersions, .readYourWrites, .spaceAccounting]
      + W.Check.allCases.compactMap { own[$0] }
  }

  static func setDefaults(_ settings: inout RunSettings) {
    let defaults = W.defaults
    settings.threads = defaults.threads
    settings.objects = max(1, defaults.objects ?? 1)
    settings.durationNanoseconds = defaults.duration.wholeNanoseconds
    settings.warmupNanoseconds = defaults.warmup.wholeNanoseconds
    settings.refreshEvery = max(1, defaults.refreshEvery)
    settings.mix = OperationMix(
      OwnNames<W>.operations.map { ($0.row, $0.operation.share) })
  }

  static func operations(_ settings: RunSettings) -> [Harness.Operation] {
    settings.mix.shares.map(\.operation) + [.refresh]
  }

  static func threads(of operation: Harness.Operation, _ settings: RunSettings) -> Int {
    settings.threads
  }

  /// Whatever the tool's own operations of the same name are.
  static func countsWork(of operation: Harness.Operation) -> Bool { true }

  static func shape(_ settings: RunSettings) -> String {
    let objects = W.defaults.objects == nil ? "" : ", \(grouped(settings.objects)) objects"
    let own = ownFlags.compactMap { flag in
      settings.own[flag.definition.name].map {
        "--\(flag.definition.name)" + ($0.isEmpty ? "" : " \($0)")
      }
    }
    return "\(settings.threads) threads, \(settings.mix.text)\(objects)"
      + (own.isEmpty ? "" : ", " + own.joined(separator: " "))
  }

  static func check(_ settings: RunSettings) throws(UsageError) {
    guard settings.engine == RealmDriver.name else {
      throw UsageError(
        "--engine \(settings.engine): the workload \(name) uses RealmSwift, so it runs on "
          + "'\(RealmDriver.name)' only")
    }
  }

  static func openDriver<Driver: EngineDriver>(
    _ path: String, _ durability: DurabilityClass,
    otherwise make: (_ path: String, DurabilityClass) throws -> Driver
  ) throws -> Driver {
    let own = try RealmDriver(path: path, durability: durability, classes: W.objectTypes)
    return try own as? Driver ?? make(path, durability)
  }

  static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Harness.Workload<Driver> { OwnWorkload<W, Driver>(shared) }
}
