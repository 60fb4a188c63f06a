// run.json: everything that is needed to understand and repeat a run. Fields only grow.
internal import Foundation

/// The document as it is written.
package struct RunDocument: Codable, Sendable {
  package struct Verdict: Codable, Sendable {
    package var isValid: Bool
    package var reasons: [String]
    /// What does not make the figures wrong, but has to be known to read them.
    package var cautions: [String]?
  }

  package struct PhaseRecord: Codable, Sendable {
    package var name: String
    package var elapsedS: Double
    /// By the engine in this process; nil where it does not tell, and in runs of earlier versions.
    package var syncs: UInt64?
    package var writtenBytes: UInt64?
  }

  package struct ViolationRecord: Codable, Sendable {
    package var invariant: String
    package var sentence: String
    package var witness: [String]
    package var thread: String
  }

  package struct ThresholdRecord: Codable, Sendable {
    package var condition: String
    package var value: Double?
    package var isMet: Bool
  }

  /// What measuring itself costs.
  package struct OverheadRecord: Codable, Sendable {
    package var recordingNsPerOperation: Double
    package var checksPercent: Double?
    /// Time in which an open loop's schedule stood still for I10.
    package var pausedNs: UInt64
    package var generatorDelayP99Ns: UInt64?
    package var generatorDelayMaxNs: UInt64?
  }

  package var schemaVersion = ResultSchema.version
  package var toolVersion = ResultSchema.toolVersion
  package var runId: String
  package var workload: String
  package var engine: String
  package var seed: UInt64
  package var replica = 1
  package var startedAt: String
  /// complete, interrupted or failed.
  package var status: String
  package var verdict: Verdict
  package var command: String
  package var settings: SettingsRecord
  package var environment: EnvironmentRecord
  /// Nil in runs of versions that did not record it.
  package var disturbance: MachineDisturbance?
  package var phases: [PhaseRecord]
  package var overhead: OverheadRecord
  package var transactions: Int
  /// By operation of an open loop: how many that were due were not done; nil in runs of versions
  /// that gave their percentiles without them.
  package var leftOut: [String: UInt64]?
  /// Threads that did not end in time: what they had not handed over is missing.
  package var unended: [String]?
  /// Operations of the measured phase of which some are missing in all figures; nil where none is,
  /// and in runs of versions that did not tell.
  package var truncated: [String]?
  /// Whether they waited for the write lock, which others have kept.
  package var keptWaiting: Bool?
  /// Which process has kept it, where the engine tells.
  package var keeper: String?
  package var thresholds: [ThresholdRecord]
  package var violation: ViolationRecord?
  package var failure: String?
  package var realmFile: String?
  /// The files of the folder; nil while the run goes on, and in runs of versions without a list.
  package var files: [ListedFile]?

  /// Names the folder that the results are moved to.
  package mutating func move(from old: String, to new: String) {
    func moved(_ path: String) -> String {
      guard path != old else { return new }
      guard path.utf8.starts(with: (old + "/").utf8) else { return path }
      return new + Substring(path.utf8.dropFirst(old.utf8.count))
    }
    settings.path = moved(settings.path)
    settings.output = moved(settings.output)
    realmFile = realmFile.map(moved)
  }

  /// As a reason why a verdict is not valid.
  package static func failed(_ failure: String) -> String { "the run failed: \(failure)" }

  /// Marks a run as failed by what came after it.
  package mutating func fail(because failures: [String]) {
    status = RunStatus.failed.rawValue
    verdict.isValid = false
    verdict.reasons.insert(Self.failed(failures.joined(separator: "; ")), at: 0)
  }

  /// Sorted keys, snake_case, readable.
  package func json() throws -> String { try encodeJSON(self) }

  /// The same with the hash of that text in its list, where it has one.
  package func sealed() throws -> String {
    var document = self
    document.files = files?.map { file in
      file.name == "run.json" ? ListedFile(name: file.name, hash: ListedFile.ownHash) : file
    }
    return FileList.sealed(try document.json())
  }
}

extension RunDocument {
  /// Reads a document.
  package init(path: String) throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ResultsError("'\(path)' cannot be read")
    }
    self = try decoder.decode(RunDocument.self, from: data)
  }
}

/// JSON as all machine output of the tool has it; in one line where there is an object a line.
package func encodeJSON(_ value: some Encodable, inOneLine: Bool = false) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  if !inOneLine { encoder.outputFormatting.insert(.prettyPrinted) }
  encoder.keyEncodingStrategy = .convertToSnakeCase
  return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
}
