// The folder that a failure leaves: what is needed to repeat it, and what it looked like.
internal import Foundation
internal import Platform
package import RaceHunt

/// One failure, as `bundle.json` has it.
package struct HuntBundle: Codable, Sendable {
  /// Of what this version writes.
  private static let schemaVersion = 1

  package var schemaVersion = Self.schemaVersion
  package var toolVersion = ResultSchema.toolVersion
  package var scenario: String
  package var kind: String
  package var reason: String
  /// Seed and turns; empty when it cannot be repeated.
  package var schedule: String
  package var strategy: String
  /// Of the hunt.
  package var seed: UInt64
  package var schedules: Int?
  /// The bug that was planted in the engine.
  package var plantedBug: String?

  package init(
    _ failure: RaceFailure, of program: HuntProgram, strategy: HuntStrategy, seed: UInt64
  ) {
    scenario = program.name
    kind = failure.kind.rawValue
    reason = failure.reason
    schedule = failure.schedule
    self.strategy = strategy.description
    self.seed = seed
    schedules = failure.schedules
    plantedBug = HuntRecord.bugOfEnvironment
  }

  /// Why a folder is no bundle.
  package struct Unusable: ErrorInWords {
    package let message: String
    package var words: String { message }
  }

  package static func read(_ folder: String) throws(Unusable) -> HuntBundle {
    let path = folder.hasSuffix(".json") ? folder : folder + "/bundle.json"
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Unusable(message: "'\(folder)' holds no bundle.json")
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let bundle: HuntBundle
    do { bundle = try decoder.decode(HuntBundle.self, from: data) } catch {
      throw Unusable(message: "'\(path)' is no bundle of a hunt: \(error.explanation)")
    }
    // What this one does not know of may be what makes the program fail.
    guard bundle.schemaVersion <= schemaVersion else {
      throw Unusable(
        message: "'\(path)' has schema version \(bundle.schemaVersion); this tool knows up to "
          + "\(schemaVersion): use a newer \(Tool.current.name)")
    }
    guard bundle.schemaVersion > 0 else {
      throw Unusable(
        message: "'\(path)' has schema version \(bundle.schemaVersion), which no hunt has written")
    }
    if !bundle.schedule.isEmpty, let mistake = mistake(inSchedule: bundle.schedule) {
      throw Unusable(message: "'\(path)' is no bundle of a hunt: \(mistake)")
    }
    return bundle
  }

  /// Writes it with the table of the schedule, and what the program has noted and kept.
  package func write(
    to folder: ResultsFolder, _ failure: RaceFailure, table: String
  ) throws {
    try folder.write(try encodeJSON(self), to: "bundle.json")
    try folder.write(table, to: "schedule.txt")
    if !failure.history.isEmpty {
      try folder.write("step\twho\twhat\n" + failure.history, to: "history.tsv")
    }
    if failure.attachments.isEmpty { return }
    try FileCalls.makeFolders(folder.path + "/" + Self.images)
    for (number, (name, bytes)) in failure.attachments.enumerated() {
      let name = name.replacing(" ", with: "-").replacing("/", with: "-")
      try folder.write(bytes, to: "\(Self.images)/\(number + 1)-\(name)")
    }
  }

  /// The folder of the files that the program has kept.
  static let images = "images"

  /// Where hunts keep the failures of programs without a known bug.
  package static let corpus = "realm-bench-results/hunt-corpus"

  /// Whether it belongs there: what can be repeated of an engine and a program that have no bug
  /// put there on purpose.
  package func isToBeKept(of program: HuntProgram) -> Bool {
    !program.hasBug && !schedule.isEmpty && plantedBug == nil
  }

  /// Adds it to the corpus, once.
  package func keep(in folder: String = Self.corpus) throws {
    try FileCalls.makeFolders(folder)
    let start = String(schedule.prefix(8)).replacing(":", with: "").replacing("/", with: "-")
    let name = "\(folder)/\(scenario.replacing("/", with: "-"))-\(seed)-\(start)"
    let text = try encodeJSON(self)
    var number = 1
    while true {
      let path = number == 1 ? "\(name).json" : "\(name)-\(number).json"
      do throws(SystemError) {
        return try FileCalls.writeNew(text, to: path)
      } catch {
        guard error.alreadyExists else { throw error }
        if textOfFile(path) == text { return }
        number += 1
      }
    }
  }
}
