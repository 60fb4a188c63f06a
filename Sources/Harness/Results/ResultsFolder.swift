// The folder that a run leaves behind. An existing one is refused, so that no figures are lost.
package import Foundation

/// Where the files of one run go.
package struct ResultsFolder: Sendable {
  package let path: String
  package let runID: String

  /// The folder for a run that begins now, by default below `realm-bench-results`.
  package init(
    workload: String, seed: UInt64, output: String?, now: Date, shard: Shard? = nil
  ) {
    let part = shard.map { "-\($0.number)of\($0.count)" } ?? ""
    runID = "\(Self.stamp(now))-\(workload)-\(seed)\(part)"
    path = output ?? "realm-bench-results/\(runID)"
  }

  /// Where the parts of a history are while a run goes on.
  package var historyParts: String { path + "/history" }

  /// UTC to the second, in a form that sorts and needs no quoting.
  private static func stamp(_ date: Date) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0)!
    let parts = calendar.dateComponents(
      [.year, .month, .day, .hour, .minute, .second], from: date)
    return String(
      format: "%04d%02d%02dT%02d%02d%02dZ", parts.year!, parts.month!, parts.day!, parts.hour!,
      parts.minute!, parts.second!)
  }

  /// Why the folder cannot be used, without touching anything.
  package func obstacle(overwrites: Bool) -> String? {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return nil }
    if !isFolder.boolValue { return "'\(path)' is a file; --output needs a folder" }
    if overwrites {
      // Only what a run wrote is ever removed.
      let holdsRun = ["/run.json", "/replica-001/run.json", "/plan.csv"].contains {
        FileManager.default.fileExists(atPath: path + $0)
      }
      let isEmpty = (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty ?? false
      return holdsRun || isEmpty
        ? nil : "'\(path)' holds other things than a run; --overwrite does not remove it"
    }
    return "'\(path)' exists already; give another --output, or --overwrite to replace it"
  }

  /// Makes the folder, replacing the one of an earlier run.
  package func create(withHistograms: Bool = true) throws {
    if FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
    try FileManager.default.createDirectory(
      atPath: withHistograms ? path + "/histograms" : path, withIntermediateDirectories: true)
  }

  package func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
  }
}
