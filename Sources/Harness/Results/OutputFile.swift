// A file that a verb writes where the user says: a page, a table, a copy of what is printed. It
// replaces only what the verb itself has written: nobody's notes, plots or Realm files.
internal import Foundation
internal import Glibc
internal import Platform

/// Where one text goes.
struct OutputFile {
  /// What a file of the tool's own begins with.
  enum Kind {
    case page, picture
    case comparison(ComparisonFormat?)
  }

  /// What is written to.
  private enum Target {
    /// A file without links: the one that a link leads to is replaced, and the link stays.
    case file(String)
    /// One that was not there yet.
    case newFile(String)
    /// A pipe or device.
    case stream
    /// What the process has open already, such as its standard output.
    case descriptor(Int32)
  }

  let path: String
  private let target: Target
  private let flag: String
  private let kind: Kind
  private let replaces: Bool

  /// Looks at the place before anything is done that takes long.
  ///
  /// - Parameter replaces: whether an earlier file of the same kind may be replaced.
  init(_ path: String, flag: String, _ kind: Kind, replaces: Bool) throws(UsageError) {
    self.path = path
    self.flag = flag
    self.kind = kind
    self.replaces = replaces
    try NameLength.refuse(path, flag: flag, longestEnd: FileCalls.partial)
    if let descriptor = Self.descriptor(path) {
      target = .descriptor(descriptor)
      return
    }
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
        // Told before the work: afterwards it would be lost.
        if access(folder, W_OK) != 0 {
          throw SystemError(call: "access", path: folder, code: errno)
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
    let file = FileCalls.resolved(path) ?? path
    switch found {
    case nil: target = .newFile(file)
    case .other: target = .stream
    case .folder, .link: throw UsageError("\(flag): '\(path)' is a folder; give the path of a file")
    case .file(let bytes):
      target = .file(file)
      guard access(file, W_OK) == 0 else {
        throw UsageError(
          "\(flag): '\(path)' cannot be written: \(String(cString: strerror(errno)))")
      }
      guard replaces else {
        throw UsageError("'\(path)' exists already; give another \(flag), or --overwrite")
      }
      try refuseForeign(file, bytes)
    }
  }

  /// Refuses what the verb has not written itself.
  private func refuseForeign(_ file: String, _ bytes: UInt64) throws(UsageError) {
    guard bytes == 0 || kind.isBegun(by: Self.beginning(of: file)) else {
      throw UsageError(
        "\(flag): '\(path)' is not \(kind.words), so it is not replaced; give another path")
    }
  }

  /// The number in a name of what the process has open.
  ///
  /// Where that is a file, a new one in its place would leave what is printed to the old one lost.
  private static func descriptor(_ path: String) -> Int32? {
    if path == "/dev/stdout" { return STDOUT_FILENO }
    if path == "/dev/stderr" { return STDERR_FILENO }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      return Int32(path.dropFirst(folder.count))
    }
    return nil
  }

  /// The folder that it lies in; the working folder for what lies nowhere.
  var folder: String {
    switch target {
    case .file, .newFile: Platform.folder(of: path)
    case .stream, .descriptor: "."
    }
  }

  /// Whether one would take the place of the other.
  func isSame(as other: OutputFile) -> Bool {
    isFile && other.isFile && FileCalls.overlap(path, other.path)
  }

  private var isFile: Bool {
    switch target {
    case .file, .newFile: true
    case .stream, .descriptor: false
    }
  }

  /// The first bytes.
  private static func beginning(of path: String) -> String {
    guard let file = try? LinuxFileSystem().open(path, []),
      let bytes = try? file.bytes(at: 0, length: 4_096)
    else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Writes the file; what is there stays until the new one is complete.
  ///
  /// - Throws: `UsageError` where somebody else has made a file of this name meanwhile, which this
  ///   one may not replace; `SystemError` where it cannot be written.
  func write(_ text: String) throws {
    switch target {
    case .file(let file): try write(text, toFile: file)
    case .newFile(let file):
      do throws(SystemError) {
        try FileCalls.make(file, of: text)
      } catch {
        guard error.alreadyExists else { throw error }
        guard replaces, case .file(let bytes)? = try FileCalls.kind(file) else {
          throw UsageError(
            "'\(path)' has been made by another process meanwhile; give another \(flag)"
              + (replaces ? "" : ", or --overwrite"))
        }
        try refuseForeign(file, bytes)
        try write(text, toFile: file)
      }
    case .descriptor(let descriptor): try FileCalls.write(text, to: descriptor, path)
    case .stream:
      let descriptor = open(path, O_WRONLY | O_CLOEXEC)
      if descriptor < 0 { throw SystemError(call: "open", path: path, code: errno) }
      defer { close(descriptor) }
      try FileCalls.write(text, to: descriptor, path)
    }
  }

  private func write(_ text: String, toFile file: String) throws(SystemError) {
    do throws(SystemError) {
      try FileCalls.replace(file, by: text)
    } catch {
      // A file that is mounted by itself, or in a folder that others own, may still be written to.
      let isFolders = error.isPermission || error.code == EBUSY || error.code == EXDEV
      guard isFolders, try FileCalls.kind(file) != nil else { throw error }
      try FileCalls.overwrite(file, by: text)
    }
  }
}

extension OutputFile.Kind {
  fileprivate var words: String {
    switch self {
    case .page: "a page of 'realm-bench report'"
    case .picture: "a picture of 'realm-bench report'"
    case .comparison(nil): "a compare.csv of 'realm-bench compare'"
    case .comparison(let format?): "what 'realm-bench compare' writes as \(format.rawValue)"
    }
  }

  /// Whether a file that begins so was written as this kind, by this or an earlier version.
  fileprivate func isBegun(by text: String) -> Bool {
    switch self {
    case .page: ReportPage.isBegun(by: text)
    case .picture: LineChart.isBegun(by: text)
    case .comparison(let format): ComparisonOutput.isBegun(by: text, as: format)
    }
  }
}
