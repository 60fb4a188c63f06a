// `realm-bench run`: from flags to a results folder and an exit code.
package import Foundation
internal import Platform

/// The verb `run`.
package enum RunVerb {
  private static let workloads = WorkloadKind.allCases.map(\.rawValue)

  /// What a run needs from outside: streams, signals, the time, and the engine by path.
  package struct Surroundings<Driver: EngineDriver>: Sendable {
    package var console: Console
    package var interruption: @Sendable () -> any Interruption
    package var now: Date
    package var makeDriver: @Sendable (_ path: String, DurabilityClass) throws -> Driver

    package init(
      console: Console, interruption: @escaping @Sendable () -> any Interruption,
      now: Date = Date(),
      makeDriver: @escaping @Sendable (_ path: String, DurabilityClass) throws -> Driver
    ) {
      self.console = console
      self.interruption = interruption
      self.now = now
      self.makeDriver = makeDriver
    }
  }

  package static func run<Driver: EngineDriver>(
    _ arguments: [String], _ surroundings: Surroundings<Driver>
  ) throws -> ExitCode {
    let flags = try FlagValues(arguments, known: RunFlags.known, refused: RunFlags.refused)
    if flags.has("help") {
      let workload = try flags.positional.isEmpty ? nil : workload(flags.positional)
      surroundings.console.printRaw(Help.run(workload ?? .readersWriter))
      return .success
    }
    let (settings, choices) = try RunFlags.settings(flags, for: workload(flags.positional))
    let folder = ResultsFolder(
      workload: settings.workload.rawValue, seed: settings.seed, output: settings.output,
      now: surroundings.now)
    let path = settings.path ?? folder.path + "/data.realm"
    if settings.isDryRun {
      surroundings.console.printRaw(
        try encodeJSON(
          DryRun(
            workload: settings.workload.rawValue, engine: settings.engine,
            command: settings.command,
            settings: SettingsRecord(settings, path: path, output: folder.path))))
      return .success
    }
    if let obstacle = folder.obstacle(overwrites: settings.overwrites) {
      throw UsageError(obstacle)
    }
    try checkPath(settings)
    return try WorkloadJob(
      settings: settings, choices: choices, folder: folder, path: path, surroundings: surroundings
    ).run()
  }

  private struct DryRun: Codable {
    var workload: String
    var engine: String
    var command: String
    var settings: SettingsRecord
  }

  private static func workload(_ positional: [String]) throws(UsageError) -> WorkloadKind {
    guard let name = positional.first else {
      throw UsageError("run needs a workload: \(workloads.joined(separator: ", "))")
    }
    if name.hasSuffix(".json") {
      throw UsageError("plan files are not in this version; name a workload and give flags")
    }
    guard let workload = WorkloadKind(rawValue: name) else {
      let nearest = nearestName(name, in: workloads).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "no workload '\(name)' in this version (\(workloads.joined(separator: ", ")))\(nearest)")
    }
    if positional.count > 1 {
      throw UsageError("run takes one workload, but also got '\(positional[1])'")
    }
    return workload
  }

  private static func checkPath(_ settings: RunSettings) throws(UsageError) {
    guard let path = settings.path else { return }
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
      throw UsageError(
        isFolder.boolValue
          ? "--path: '\(path)' is a folder; give the path of a file that the run makes"
          : "--path: '\(path)' exists already; a run makes a new file, remove it first")
    }
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder), isFolder.boolValue
    else { throw UsageError("--path: the folder '\(parent)' does not exist; create it first") }
  }
}
