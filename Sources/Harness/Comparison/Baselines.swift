// Baselines that have a name: copies of results folders in results/baselines/NAME/, plain files
// that can be committed. Nothing that a comparison does not need is copied.
internal import Foundation
internal import Glibc
internal import Platform

/// Saves and finds baselines.
package enum Baselines {
  /// A name that nothing was saved under.
  package struct Missing: ErrorInWords, Sendable {
    package let message: String
    package var words: String { message }
  }

  private static let folder = "results/baselines"
  /// What is copied.
  static let files = ["run.json", "summary.csv", "growth.csv", "invariants.csv"]

  /// Why a name cannot be a folder's.
  package static func obstacle(_ name: String) -> String? {
    let isPlain = name.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0))
    }
    if name.isEmpty || name.hasPrefix(".") || name.hasPrefix("-") || !isPlain {
      return "'\(name)' is no name for a baseline: use letters, digits, '-', '_' and '.', with a "
        + "letter, a digit or '_' first"
    }
    if name.utf8.count > longestName {
      return "the name of a baseline has at most \(longestName) letters, and this one has "
        + "\(name.utf8.count)"
    }
    return nil
  }

  /// What file systems take as the name of a folder.
  private static let longestName = 255

  /// The folder of a saved name.
  package static func saved(_ name: String) throws(Missing) -> String {
    let path = "\(folder)/\(name)"
    if obstacle(name) == nil, isFolder(path) { return path }
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    let nearest = nearestName(name, in: names).map { "; did you mean '\($0)'?" } ?? ""
    throw Missing(message: "no baseline '\(name)' in \(folder)\(nearest)")
  }

  /// The folder of a path or of a saved name; a name that is both is refused.
  package static func resolve(_ text: String) throws -> String {
    guard isFolder(text) else {
      do throws(Missing) { return try saved(text) } catch {
        throw Missing(message: "no results folder '\(text)', and " + error.message)
      }
    }
    if let path = try? saved(text) {
      throw UsageError(
        "'\(text)' is a folder here, and a baseline: write './\(text)' or '\(path)'")
    }
    return text
  }

  /// Refuses a run that is still to be made, when it could not be compared with a saved baseline.
  package static func refuseOtherWork(
    _ settings: RunSettings, than name: String
  ) throws(UsageError) {
    do {
      try SamePlan.check(try MeasuredRun.all(in: try saved(name)), before: settings)
    } catch {
      let words = (error as? ResultsError)?.message ?? error.explanation
      throw UsageError("--baseline \(name): \(words)")
    }
  }

  /// Refuses a name under which nothing can be saved, without touching anything.
  package static func refuseObstacle(toSaving name: String) throws(UsageError) {
    let manager = FileManager.default
    var place = ""
    for part in folder.split(separator: "/").map(String.init) + [name] {
      let path = place.isEmpty ? part : place + "/" + part
      guard manager.fileExists(atPath: path) || isLink(path) else { break }
      guard isFolder(path) else {
        throw UsageError(
          "--save-baseline \(name): '\(path)' is no folder; move it away, or give another name")
      }
      place = path
    }
    let last = place.isEmpty ? "." : place
    guard manager.isWritableFile(atPath: last) else {
      throw UsageError("--save-baseline \(name): nothing can be written to '\(last)'")
    }
  }

  /// Of one that leads nowhere nothing else is to be seen.
  private static func isLink(_ path: String) -> Bool { (try? FileCalls.kind(path)) != nil }

  private static func isFolder(_ path: String) -> Bool {
    if case .folder? = try? FileCalls.kind(path, followsLinks: true) { return true }
    return false
  }

  /// Adds a run to a baseline; runs of one plan may be added as often as one likes.
  ///
  /// All of it or nothing: copies are made beside, and get their numbers when they are complete.
  /// - Returns: why `compare` will not take them without `--partial`, if so.
  /// - Throws: `ResultsError` for runs that did not come to their end, and when the system refuses.
  package static func save(_ results: String, as name: String) throws -> [String] {
    let runs = try MeasuredRun.all(in: results)
    for run in runs where run.document.status != RunStatus.complete.rawValue {
      throw ResultsError(
        "not saved as baseline '\(name)': the run in '\(run.folder)' is \(run.document.status)")
    }
    let target = "\(folder)/\(name)"
    var copies: [String] = []
    do {
      try FileCalls.makeFolders(target)
      for run in runs {
        let copy = try FileCalls.makeNewFolder("\(target)/\(KnownNames.unfinished)copy")
        copies.append(copy)
        for file in files where FileManager.default.fileExists(atPath: run.folder + "/" + file) {
          try FileManager.default.copyItem(
            atPath: run.folder + "/" + file, toPath: copy + "/" + file)
        }
      }
      for copy in copies { try number(copy, in: target) }
    } catch {
      // Best effort: what went wrong first is what is told.
      for copy in copies { try? FileManager.default.removeItem(atPath: copy) }
      throw ResultsError("not saved as baseline '\(name)': \(error.explanation)")
    }
    do throws(ResultsError) { try SamePlan.refuseUnreliable(runs) } catch {
      return ["saved as baseline '\(name)', which 'compare' refuses: \(error.message)"]
    }
    return []
  }

  /// No baseline has so many runs.
  private static let highestNumber = 1_000_000_000

  /// Gives a copy the next number that nobody has.
  private static func number(_ copy: String, in target: String) throws {
    // A folder of somebody else's may have any number: what is higher than ours could be does not
    // count.
    let numbers = try FileCalls.names(in: target).filter { $0.hasPrefix("replica-") }
      .compactMap { Int($0.dropFirst("replica-".count)) }
      .filter { (0..<highestNumber).contains($0) }
    var number = (numbers.max() ?? 0) + 1
    while true {
      do throws(SystemError) {
        // A folder takes the place of an empty one only: of two that want a number one gets it.
        return try FileCalls.rename(
          copy, to: target + "/replica-" + String(format: "%03d", number))
      } catch {
        guard error.isTaken else { throw error }
        number += 1
      }
    }
  }
}

extension SystemError {
  /// Something has the name already.
  fileprivate var isTaken: Bool { code == EEXIST || code == ENOTEMPTY }
}
