// A file that a verb writes where the user says: a page, a table, a copy of what is printed. It
// replaces only what the verb itself has written: nobody's notes, plots or Realm files.
internal import Foundation
internal import Glibc
internal import Platform

/// Where one text goes.
struct OutputFile {
  /// What a file of the tool's own begins with.
  enum Kind {
    case page
    case comparison(ComparisonFormat?)
  }

  let path: String
  private let flag: String
  /// Of a folder's own links nothing is known: the file that a link leads to is written.
  private let target: String
  /// A pipe or device, which is written to as it is.
  private let isStream: Bool

  /// Looks at the place before anything is done that takes long.
  ///
  /// - Parameter replaces: whether an earlier file of the same kind may be replaced.
  init(_ path: String, flag: String, _ kind: Kind, replaces: Bool) throws(UsageError) {
    self.path = path
    self.flag = flag
    let found: EntryKind?
    do throws(SystemError) {
      found = try FileCalls.kind(path, followsLinks: true)
      if found == nil, try FileCalls.kind(path) != nil {
        throw SystemError(call: "stat", path: path, code: ENOENT)
      }
      if found == nil {
        let folder = Platform.folder(of: path)
        guard case .folder? = try FileCalls.kind(folder, followsLinks: true) else {
          throw SystemError(call: "open", path: folder, code: ENOENT)
        }
      }
    } catch {
      throw UsageError(
        error.code == ENOENT
          ? error.path == path
            ? "\(flag): '\(path)' is a link to nothing; remove it"
            : "\(flag): the folder '\(error.path)' does not exist; create it first"
          : "\(flag): '\(path)' cannot be used: \(error.reason)")
    }
    target = FileCalls.resolved(path) ?? path
    switch found {
    case nil: isStream = false
    case .other: isStream = true
    case .folder, .link: throw UsageError("\(flag): '\(path)' is a folder; give the path of a file")
    case .file(let bytes):
      isStream = false
      guard access(target, W_OK) == 0 else {
        throw UsageError(
          "\(flag): '\(path)' cannot be written: \(String(cString: strerror(errno)))")
      }
      if bytes == 0 { return }
      guard replaces else {
        throw UsageError("'\(path)' exists already; give another \(flag), or --overwrite")
      }
      guard kind.isBegun(by: Self.beginning(of: target)) else {
        throw UsageError(
          "\(flag): '\(path)' is not \(kind.words), so it is not replaced; give another path")
      }
    }
  }

  /// Whether one would take the place of the other.
  func isSame(as other: OutputFile) -> Bool {
    !isStream && !other.isStream && FileCalls.overlap(path, other.path)
  }

  /// The first bytes.
  private static func beginning(of path: String) -> String {
    guard let file = try? LinuxFileSystem().open(path, []),
      let bytes = try? file.bytes(at: 0, length: 4_096)
    else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Writes the file; what is there stays until the new one is complete.
  func write(_ text: String) throws(SystemError) {
    guard isStream else { return try writeFile(text) }
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    if descriptor < 0 { throw SystemError(call: "open", path: path, code: errno) }
    defer { close(descriptor) }
    try FileCalls.write(text, to: descriptor, path)
  }
}

extension OutputFile {
  private func writeFile(_ text: String) throws(SystemError) {
    do throws(SystemError) {
      try FileCalls.replace(target, by: text)
    } catch {
      // A file that is mounted by itself, or in a folder that others own, may still be written to.
      let isFolders = error.isPermission || error.code == EBUSY || error.code == EXDEV
      guard isFolders, try FileCalls.kind(target) != nil else { throw error }
      try FileCalls.overwrite(target, by: text)
    }
  }
}

extension OutputFile.Kind {
  fileprivate var words: String {
    switch self {
    case .page: "a page of 'realm-bench report'"
    case .comparison(nil): "a compare.csv of 'realm-bench compare'"
    case .comparison(let format?): "what 'realm-bench compare' writes as \(format.rawValue)"
    }
  }

  /// Whether a file that begins so was written as this kind, by this or an earlier version.
  fileprivate func isBegun(by text: String) -> Bool {
    switch self {
    case .page: ReportPage.isBegun(by: text)
    case .comparison(let format): ComparisonOutput.isBegun(by: text, as: format)
    }
  }
}
