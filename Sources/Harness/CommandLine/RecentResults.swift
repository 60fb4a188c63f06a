// Results folders that lie where runs put them, for whoever forgot to name one.
internal import Foundation

/// The newest results of this place.
enum RecentResults {
  /// Folders of runs below the usual one, the newest first.
  static func newest(_ count: Int) -> [String] {
    let place = ResultsPlace.usualFolder
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    // Their names begin with the time.
    return names.sorted(by: >).map { "\(place)/\($0)" }
      .filter { FileManager.default.fileExists(atPath: $0 + "/run.json") }
      .prefix(count).map(\.self)
  }

  /// How it would be for the newest folder; where there is none, how to make one.
  static func example(_ command: (_ folder: String) -> String) -> String {
    let name = Tool.current.invocation
    guard let folder = newest(1).first else {
      return "; make one first: \(name) run \(WorkloadKind.allCases[0].rawValue) --quick"
    }
    return "; for the newest one: \(name) " + command(LiteralPath.quoted(folder))
  }

  /// The same for two, of which some are given.
  static func compareExample(_ given: [String]) -> String {
    let name = Tool.current.invocation
    if given.count > 2 {
      return "; more of a side go after --baseline and --candidate"
    }
    let others = newest(3).filter { !given.contains($0) }
    let missing = 2 - given.count
    guard others.count >= missing else {
      return given.isEmpty
        ? "; make two first: \(name) run WORKLOAD --output A, and --output B"
        : "; make the other one first: \(name) run WORKLOAD --output B with the same flags"
    }
    // What is given is the baseline, the newest run the candidate.
    let folders = given + others.prefix(missing).reversed()
    return "; such as \(name) compare "
      + folders.map(LiteralPath.quoted).joined(separator: " ")
  }
}
