// The file that --path names: it has to be new, and of two runs that name it at once one gets it.
internal import Glibc
internal import Platform

/// The file of a run outside of its results folder.
struct RunFile {
  private let path: String

  /// Makes the file, empty, so that nobody else can.
  ///
  /// Where that is impossible for other reasons the engine tells why.
  init(claiming path: String, engine: String) throws(UsageError) {
    self.path = path
    let ends = KnownNames.beside(engine).sorted { $0.utf8.count < $1.utf8.count }
    try NameLength.refuse(path, flag: "--path", longestEnd: ends.last ?? "")
    if case .folder? = try? FileCalls.kind(path, followsLinks: true) {
      throw UsageError(
        "--path: '\(path)' is a folder; give the path of a file that the run makes")
    }
    // Files of the engine beside it: they would be changed, and removed with the run's own file.
    for end in KnownNames.beside(engine) where (try? FileCalls.kind(path + end)) != nil {
      throw Self.refusal(path + end)
    }
    do throws(SystemError) {
      try FileCalls.writeNew("", to: path)
    } catch {
      if error.alreadyExists { throw Self.refusal(path) }
      let folder = Platform.folder(of: path)
      guard case .folder? = try? FileCalls.kind(folder, followsLinks: true) else {
        throw UsageError("--path: the folder '\(folder)' does not exist; create it first")
      }
    }
  }

  private static func refusal(_ path: String) -> UsageError {
    UsageError(
      "--path: '\(path)' exists already, or another run has just made it; a run makes a new file: "
        + "remove it, or give another path")
  }

  /// Removes the file, if nothing was written to it.
  func giveUp() {
    guard case .file(bytes: 0)? = try? FileCalls.kind(path) else { return }
    try? FileCalls.remove(path)
  }
}
