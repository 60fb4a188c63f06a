// Baselines that have a name: copies of results folders in results/baselines/NAME/, plain files
// that can be committed. Nothing that a comparison does not need is copied.
internal import Foundation

/// Saves and finds baselines.
package enum Baselines {
  /// A name that nothing was saved under.
  package struct Missing: Error, Sendable {
    package let message: String
  }

  private static let folder = "results/baselines"
  private static let files = ["run.json", "summary.csv", "growth.csv", "invariants.csv"]

  /// Why a name cannot be a folder's.
  package static func obstacle(_ name: String) -> String? {
    let isPlain = name.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0))
    }
    if name.isEmpty || name.hasPrefix(".") || !isPlain {
      return "'\(name)' is no name for a baseline: use letters, digits, '-', '_' and '.'"
    }
    return nil
  }

  /// The folder of a path or of a saved name.
  package static func resolve(_ text: String) throws -> String {
    if FileManager.default.fileExists(atPath: text) { return text }
    let saved = "\(folder)/\(text)"
    if FileManager.default.fileExists(atPath: saved) { return saved }
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    let nearest = nearestName(text, in: names).map { "; did you mean '\($0)'?" } ?? ""
    throw Missing(
      message: "no results folder '\(text)', and no baseline of that name in \(folder)\(nearest)")
  }

  /// Adds a run to a baseline; runs of one plan may be added as often as one likes.
  package static func save(_ results: String, as name: String) throws {
    let runs = try MeasuredRun.all(in: results)
    let target = "\(folder)/\(name)"
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    var number = (try FileManager.default.contentsOfDirectory(atPath: target)).count
    for run in runs {
      number += 1
      let copy = target + "/replica-" + String(format: "%03d", number)
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
      for file in files where FileManager.default.fileExists(atPath: run.folder + "/" + file) {
        try FileManager.default.copyItem(atPath: run.folder + "/" + file, toPath: copy + "/" + file)
      }
    }
  }
}
