// `realm-bench run`: from flags to a results folder and an exit code.
package import Foundation
internal import Platform

/// The verb `run`.
package enum RunVerb {
  private static let workloads = ["readers-writer"]

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
      surroundings.console.printRaw(Help.run)
      return .success
    }
    try checkWorkload(flags.positional)
    let (settings, choices) = try RunFlags.settings(flags)
    let folder = ResultsFolder(
      workload: settings.workload, seed: settings.seed, output: settings.output,
      now: surroundings.now)
    let path = settings.path ?? folder.path + "/data.realm"
    if settings.isDryRun {
      surroundings.console.printRaw(
        try encodeJSON(
          DryRun(
            workload: settings.workload, engine: settings.engine, command: settings.command,
            settings: SettingsRecord(settings, path: path, output: folder.path))))
      return .success
    }
    if let obstacle = folder.obstacle(overwrites: settings.overwrites) {
      throw UsageError(obstacle)
    }
    try checkPath(settings)
    return try ReadersWriterJob(
      settings: settings, choices: choices, folder: folder, path: path, surroundings: surroundings
    ).run()
  }

  private struct DryRun: Codable {
    var workload: String
    var engine: String
    var command: String
    var settings: SettingsRecord
  }

  private static func checkWorkload(_ positional: [String]) throws(UsageError) {
    guard let workload = positional.first else {
      throw UsageError("run needs a workload: \(workloads.joined(separator: ", "))")
    }
    if workload.hasSuffix(".json") {
      throw UsageError("plan files are not in this version; name a workload and give flags")
    }
    guard workloads.contains(workload) else {
      let nearest = nearestName(workload, in: workloads).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "no workload '\(workload)' in this version (\(workloads.joined(separator: ", ")))\(nearest)"
      )
    }
    if positional.count > 1 {
      throw UsageError("run takes one workload, but also got '\(positional[1])'")
    }
  }

  private static func checkPath(_ settings: RunSettings) throws(UsageError) {
    guard let path = settings.path else { return }
    if FileManager.default.fileExists(atPath: path) {
      throw UsageError("--path: '\(path)' exists already; a run makes a new file, remove it first")
    }
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder), isFolder.boolValue
    else { throw UsageError("--path: the folder '\(parent)' does not exist; create it first") }
  }
}
