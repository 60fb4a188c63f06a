// What `hunt` and `replay` tell as JSON: made from the files that a hunt has left, so that both say
// the same.
internal import Foundation

/// The form in which a verb tells what has no table of its own.
package enum ToldForm: String, CaseIterable, Sendable {
  case text, json
}

/// A hunt that has ended.
struct HuntReport: Codable {
  /// A failure that was found, and how to repeat it.
  struct Failure: Codable {
    var scenario: String
    var kind: String
    var reason: String
    var strategy: String
    var seed: UInt64
    /// Seed and turns; empty when it cannot be repeated.
    var schedule: String
    /// Explored until it was found.
    var schedules: Int?
    var plantedBug: String?
    /// The steps of the schedule, as the text form shows them.
    var steps: String
    /// The command that repeats it; missing where nothing can.
    var replay: String?
  }

  var folder: String
  var exitCode: Int32
  /// The rows of hunt.csv, or of bugs.csv for the score.
  var rows: [[String: JSONCell]]
  var failures: [Failure]

  /// Reads the files of a folder that is going to be in `destination`, where its replay is then.
  init(_ path: String, destination: String, isScore: Bool, processes: Int, _ code: ExitCode) {
    folder = destination
    exitCode = code.rawValue
    rows = textOfFile(path + (isScore ? "/bugs.csv" : "/hunt.csv")).map(CSVTable.objects) ?? []
    let shards = processes == 1 ? [""] : (1...processes).map { "/" + Shard.folderName($0) }
    failures = shards.compactMap { shard in
      guard let bundle = try? HuntBundle.read(path + shard) else { return nil }
      return Failure(bundle, in: path + shard, destination: destination + shard)
    }
  }
}

extension HuntReport.Failure {
  fileprivate init(_ bundle: HuntBundle, in path: String, destination: String) {
    scenario = bundle.scenario
    kind = bundle.kind
    reason = bundle.reason
    strategy = bundle.strategy
    seed = bundle.seed
    schedule = bundle.schedule
    schedules = bundle.schedules
    plantedBug = bundle.plantedBug
    steps = textOfFile(path + "/schedule.txt") ?? ""
    replay =
      schedule.isEmpty
      ? nil : "\(Tool.current.invocation) replay \(LiteralPath.quoted(destination))"
  }
}

/// A failure that was repeated, or was to be.
struct ReplayReport: Codable, Sendable {
  enum Outcome: String, Codable {
    case failsAsBefore = "fails as before"
    case failsOtherwise = "fails in another way"
    case doesNotFail = "does not fail"
    case stopped
  }

  var bundle: String
  var scenario: String
  /// Why it failed when it was found.
  var reasonBefore: String
  var outcome = Outcome.doesNotFail
  /// Why it fails now; missing where it does not.
  var reason: String?
  var steps = ""
  /// Missing where a crash ends the process.
  var exitCode: Int32? = 0

  init(_ bundle: HuntBundle, in folder: String) {
    self.bundle = folder
    scenario = bundle.scenario
    reasonBefore = bundle.reason
  }
}
